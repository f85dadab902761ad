//! Input and output of the scheduler: plain data without calendars or names.

use std::fmt;

/// Which ends of two leaves a link connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeafLinkKind {
    /// The successor starts after the predecessor finishes.
    Fs,
    /// The successor starts after the predecessor starts.
    Ss,
    /// The successor finishes after the predecessor finishes.
    Ff,
    /// The successor finishes after the predecessor starts.
    Sf,
}

/// A minimum distance between two leaves. A negative lag is a lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeafLink {
    pub from: usize,
    pub to: usize,
    pub kind: LeafLinkKind,
    pub lag: i32,
}

/// Leaves `0..durations.len()`, each one uninterrupted block, in minutes from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RcpspProblem {
    pub durations: Vec<u32>,
    pub links: Vec<LeafLink>,
    /// Units of each resource that may be in use at any minute.
    pub capacities: Vec<u32>,
    /// The `(resource, units)` of each leaf; empty if no leaf needs any. Repeated resources are added up.
    pub demands: Vec<Vec<(usize, u32)>>,
    /// The earliest start of each leaf; empty if all may start at 0.
    pub release: Vec<u32>,
}

/// How long to search. Effort is a number of generated schedules, so that the same input gives the same result on every
/// machine (work on the bound is charged as the schedules it costs). The first three schedules (one rule, one
/// forward-backward pass) are always generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchEffort {
    pub iterations: u64,
    pub seed: u64,
}

/// A feasible schedule with a bound that no schedule can beat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RcpspSolution {
    pub starts: Vec<u32>,
    pub makespan: u32,
    pub lower_bound: u32,
    pub iterations_used: u64,
}

impl RcpspSolution {
    /// Returns whether the bound proves that no shorter schedule exists.
    pub fn is_optimal(&self) -> bool {
        self.makespan == self.lower_bound
    }
}

/// Why a problem has no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RcpspError {
    /// `demands` or `release` is neither empty nor has one entry per leaf.
    Shape { field: &'static str, expected: usize, found: usize },
    /// A link refers to a leaf that does not exist.
    UnknownLeaf { link: usize, leaf: usize },
    /// A demand refers to a resource that does not exist.
    UnknownResource { leaf: usize, resource: usize },
    /// The links form a cycle; the leaves of a shortest one, in link order.
    Cycle { leaves: Vec<usize> },
    /// A single leaf needs more than the capacity.
    DemandOverCapacity { leaf: usize, resource: usize, demand: u64, capacity: u32 },
    /// All leaves one after another would exceed the range of the minute count.
    TooLong { minutes: u64 },
}

impl fmt::Display for RcpspError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { field, expected, found } => {
                write!(f, "{field} has {found} entries for {expected} leaves")
            }
            Self::UnknownLeaf { link, leaf } => {
                write!(f, "link {link} names leaf {leaf}, which does not exist")
            }
            Self::UnknownResource { leaf, resource } => {
                write!(f, "leaf {leaf} names resource {resource}, which does not exist")
            }
            Self::Cycle { leaves } => {
                let path: Vec<String> =
                    leaves.iter().chain(leaves.first()).map(ToString::to_string).collect();
                write!(f, "links form a cycle: {}", path.join(" -> "))
            }
            Self::DemandOverCapacity { leaf, resource, demand, capacity } => {
                write!(f, "leaf {leaf} needs {demand} of resource {resource}, which has {capacity}")
            }
            Self::TooLong { minutes } => {
                write!(f, "the leaves add up to {minutes} minutes, more than a schedule can hold")
            }
        }
    }
}

impl std::error::Error for RcpspError {}

impl RcpspProblem {
    /// Returns the total demand of a leaf on each of its resources, merged and without zeros.
    pub(super) fn merged_demand(&self, leaf: usize) -> Vec<(usize, u64)> {
        let mut merged: Vec<(usize, u64)> = Vec::new();
        for &(resource, units) in self.demands.get(leaf).map_or(&[][..], Vec::as_slice) {
            match merged.iter_mut().find(|(other, _)| *other == resource) {
                Some((_, sum)) => *sum += u64::from(units),
                None => merged.push((resource, u64::from(units))),
            }
        }
        merged.retain(|&(_, units)| units > 0);
        merged
    }

    /// Checks everything that does not depend on the order: lengths, indices, demands.
    pub(super) fn check_shape(&self) -> Result<(), RcpspError> {
        let leaves = self.durations.len();
        for (field, found) in [("demands", self.demands.len()), ("release", self.release.len())] {
            if found != 0 && found != leaves {
                return Err(RcpspError::Shape { field, expected: leaves, found });
            }
        }
        for (link, ends) in self.links.iter().enumerate() {
            if let Some(leaf) = [ends.from, ends.to].into_iter().find(|&leaf| leaf >= leaves) {
                return Err(RcpspError::UnknownLeaf { link, leaf });
            }
        }
        (0..leaves).try_for_each(|leaf| self.check_demand(leaf))
    }

    fn check_demand(&self, leaf: usize) -> Result<(), RcpspError> {
        for (resource, demand) in self.merged_demand(leaf) {
            let Some(&capacity) = self.capacities.get(resource) else {
                return Err(RcpspError::UnknownResource { leaf, resource });
            };
            if demand > u64::from(capacity) {
                return Err(RcpspError::DemandOverCapacity { leaf, resource, demand, capacity });
            }
        }
        Ok(())
    }
}
