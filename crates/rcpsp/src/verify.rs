//! An independent check of a schedule against its problem; shares no code with the search.

use super::problem::{LeafLink, LeafLinkKind, RcpspProblem};
use std::fmt;

/// The first rule that a schedule breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RcpspViolation {
    /// The number of starts differs from the number of leaves.
    Shape { expected: usize, found: usize },
    /// A leaf starts before its earliest start.
    Release { leaf: usize, start: u32, release: u32 },
    /// A link is violated by this many minutes.
    Link { index: usize, link: LeafLink, short_by: i64 },
    /// More of a resource is in use at a minute than its capacity.
    Capacity { resource: usize, at: u64, used: u64, capacity: u32 },
}

impl fmt::Display for RcpspViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { expected, found } => write!(f, "{found} starts for {expected} leaves"),
            Self::Release { leaf, start, release } => {
                write!(f, "leaf {leaf} starts at {start}, before {release}")
            }
            Self::Link { index, link, short_by } => {
                write!(
                    f,
                    "link {index} from {} to {} is short by {short_by} minutes",
                    link.from, link.to
                )
            }
            Self::Capacity { resource, at, used, capacity } => {
                write!(f, "resource {resource} has {used} of {capacity} in use at minute {at}")
            }
        }
    }
}

impl std::error::Error for RcpspViolation {}

/// Checks every release, link and capacity.
///
/// The problem must be one that [`super::solve_rcpsp`] accepts; indices out of range are treated as absent.
pub fn verify_starts(problem: &RcpspProblem, starts: &[u32]) -> Result<(), RcpspViolation> {
    let leaves = problem.durations.len();
    if starts.len() != leaves {
        return Err(RcpspViolation::Shape { expected: leaves, found: starts.len() });
    }
    for (leaf, (&start, &release)) in starts.iter().zip(&problem.release).enumerate() {
        if start < release {
            return Err(RcpspViolation::Release { leaf, start, release });
        }
    }
    for (index, &link) in problem.links.iter().enumerate() {
        let short_by = link_shortage(problem, starts, link);
        if short_by > 0 {
            return Err(RcpspViolation::Link { index, link, short_by });
        }
    }
    (0..problem.capacities.len()).try_for_each(|resource| check_capacity(problem, starts, resource))
}

fn link_shortage(problem: &RcpspProblem, starts: &[u32], link: LeafLink) -> i64 {
    let start = |leaf: usize| i64::from(starts[leaf]);
    let finish = |leaf: usize| start(leaf) + i64::from(problem.durations[leaf]);
    let (before, after) = match link.kind {
        LeafLinkKind::Fs => (finish(link.from), start(link.to)),
        LeafLinkKind::Ss => (start(link.from), start(link.to)),
        LeafLinkKind::Ff => (finish(link.from), finish(link.to)),
        LeafLinkKind::Sf => (start(link.from), finish(link.to)),
    };
    before + i64::from(link.lag) - after
}

fn check_capacity(
    problem: &RcpspProblem,
    starts: &[u32],
    resource: usize,
) -> Result<(), RcpspViolation> {
    let mut changes: Vec<(u64, i64)> = Vec::new();
    for (leaf, demand) in problem.demands.iter().enumerate() {
        let units: i64 =
            demand.iter().filter(|(r, _)| *r == resource).map(|&(_, units)| i64::from(units)).sum();
        if units > 0 && problem.durations[leaf] > 0 {
            let start = u64::from(starts[leaf]);
            changes.push((start, units));
            changes.push((start + u64::from(problem.durations[leaf]), -units));
        }
    }
    // Releases sort before requests at the same minute: blocks are half-open.
    changes.sort_unstable();
    let capacity = problem.capacities[resource];
    let mut used = 0;
    for (at, change) in changes {
        used += change;
        if used > i64::from(capacity) {
            return Err(RcpspViolation::Capacity {
                resource,
                at,
                used: used.unsigned_abs(),
                capacity,
            });
        }
    }
    Ok(())
}
