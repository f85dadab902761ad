//! The problem in the form that the inner loops need: leaves renumbered in link order, every link a plain distance
//! between starts, time divided by its greatest common divisor, resources that can never bind left out.

use super::cycle::shortest_cycle;
use super::problem::{LeafLink, LeafLinkKind, RcpspError, RcpspProblem};

/// The longest schedule the inner loops support, in units; sums of two such times still fit in an `i32`.
const MAX_UNITS: i64 = 1 << 29;

/// For every leaf a row of `(other leaf, distance)`, in one flat array.
#[derive(Clone, Debug, Default)]
pub(super) struct LeafAdjacency {
    offsets: Vec<u32>,
    items: Vec<(u32, i32)>,
}

impl LeafAdjacency {
    fn new(leaves: usize, mut arcs: Vec<(u32, u32, i32)>) -> Self {
        // Only the longest of parallel links binds.
        arcs.sort_unstable_by_key(|&(owner, other, distance)| (owner, other, -i64::from(distance)));
        arcs.dedup_by_key(|&mut (owner, other, _)| (owner, other));
        let mut offsets = vec![0; leaves + 1];
        for &(owner, _, _) in &arcs {
            offsets[owner as usize + 1] += 1;
        }
        for leaf in 0..leaves {
            offsets[leaf + 1] += offsets[leaf];
        }
        let items = arcs.into_iter().map(|(_, other, distance)| (other, distance)).collect();
        Self { offsets, items }
    }

    #[inline]
    pub(super) fn neighbors_of(&self, leaf: usize) -> &[(u32, i32)] {
        &self.items[self.offsets[leaf] as usize..self.offsets[leaf + 1] as usize]
    }
}

/// One direction of time: which leaves must precede which, and the earliest starts.
#[derive(Clone, Debug)]
pub(super) struct TimeDirection {
    /// `start >= start[other] + distance` for each `(other, distance)`.
    pub(super) before: LeafAdjacency,
    pub(super) release: Vec<i32>,
}

/// A problem that is known to have a schedule.
#[derive(Clone, Debug)]
pub(super) struct LeafNetwork {
    pub(super) leaves: usize,
    /// Minutes in one unit of time.
    pub(super) unit: u32,
    pub(super) durations: Vec<i32>,
    pub(super) forward: TimeDirection,
    /// Reversed time. Starts in it are distances of finishes from the end; releases do not apply.
    pub(super) mirror: TimeDirection,
    /// Units that each leaf needs of each binding resource.
    pub(super) demands: Vec<Vec<u32>>,
    pub(super) capacities: Vec<u32>,
    /// An upper bound on every generated schedule, forward or mirrored.
    pub(super) horizon: i32,
    /// Whether a successor may start or finish before its predecessor does.
    pub(super) overlapping: bool,
    /// Maps each leaf to its number in the problem.
    original: Vec<u32>,
}

impl LeafNetwork {
    pub(super) fn new(problem: &RcpspProblem) -> Result<Self, RcpspError> {
        problem.check_shape()?;
        let original = link_order(problem)?;
        let unit = time_unit(problem);
        let leaves = original.len();
        let mut rank = vec![0; leaves];
        for (place, &leaf) in original.iter().enumerate() {
            rank[leaf as usize] = place as u32;
        }
        let distances: Vec<LinkDistance> = problem
            .links
            .iter()
            .map(|link| LinkDistance::new(problem, link, &rank, unit))
            .collect();
        let horizon = compute_horizon(problem, &distances, unit)?;
        let scale = |minutes: u32| (minutes / unit) as i32;
        let released =
            |&leaf: &u32| problem.release.get(leaf as usize).map_or(0, |&minutes| scale(minutes));
        let forward = distances.iter().map(|d| (d.to, d.from, d.between_starts)).collect();
        let mirror = distances.iter().map(|d| (d.from, d.to, d.between_finishes)).collect();
        let (capacities, demands) = binding_resources(problem, &original);
        Ok(Self {
            leaves,
            unit,
            durations: original
                .iter()
                .map(|&leaf| scale(problem.durations[leaf as usize]))
                .collect(),
            forward: TimeDirection {
                before: LeafAdjacency::new(leaves, forward),
                release: original.iter().map(released).collect(),
            },
            mirror: TimeDirection {
                before: LeafAdjacency::new(leaves, mirror),
                release: vec![0; leaves],
            },
            demands,
            capacities,
            horizon,
            overlapping: distances.iter().any(|d| d.between_starts < 0 || d.between_finishes < 0),
            original,
        })
    }

    /// Converts starts to minutes, in the numbering of the problem.
    pub(super) fn to_minutes(&self, starts: &[i32]) -> Vec<u32> {
        let mut minutes = vec![0; self.leaves];
        for (&leaf, &start) in self.original.iter().zip(starts) {
            minutes[leaf as usize] = start as u32 * self.unit;
        }
        minutes
    }
}

/// A link as two equivalent distances, in units.
#[derive(Clone, Copy, Debug)]
struct LinkDistance {
    from: u32,
    to: u32,
    between_starts: i32,
    between_finishes: i32,
    /// How far the link may push its successor past the predecessor's finish.
    gap: i64,
}

impl LinkDistance {
    fn new(problem: &RcpspProblem, link: &LeafLink, rank: &[u32], unit: u32) -> Self {
        let length = |leaf: usize| i64::from(problem.durations[leaf] / unit);
        let (before, after) = (length(link.from), length(link.to));
        let lag = i64::from(link.lag) / i64::from(unit);
        let starts = lag
            + match link.kind {
                LeafLinkKind::Fs => before,
                LeafLinkKind::Ss => 0,
                LeafLinkKind::Ff => before - after,
                LeafLinkKind::Sf => -after,
            };
        // A distance beyond the longest schedule never binds from below and is rejected from above.
        let clamp = |distance: i64| distance.clamp(-MAX_UNITS, MAX_UNITS) as i32;
        Self {
            from: rank[link.from],
            to: rank[link.to],
            between_starts: clamp(starts),
            between_finishes: clamp(starts + after - before),
            gap: (starts - before).max(0),
        }
    }
}

/// Orders the leaves level by level, by number within a level. If there is no order, the error contains a shortest
/// cycle.
fn link_order(problem: &RcpspProblem) -> Result<Vec<u32>, RcpspError> {
    let leaves = problem.durations.len();
    let mut missing = vec![0u32; leaves];
    let mut successors = vec![Vec::new(); leaves];
    for link in &problem.links {
        missing[link.to] += 1;
        successors[link.from].push(link.to);
    }
    let mut order = Vec::with_capacity(leaves);
    let mut level: Vec<usize> = (0..leaves).filter(|&leaf| missing[leaf] == 0).collect();
    while !level.is_empty() {
        let mut next = Vec::new();
        for &leaf in &level {
            order.push(leaf as u32);
            for &successor in &successors[leaf] {
                missing[successor] -= 1;
                if missing[successor] == 0 {
                    next.push(successor);
                }
            }
        }
        next.sort_unstable();
        level = next;
    }
    if order.len() == leaves {
        return Ok(order);
    }
    let left = |leaf: usize| missing[leaf] > 0;
    let rest: Vec<_> = problem
        .links
        .iter()
        .filter(|l| left(l.from) && left(l.to))
        .map(|l| (l.from, l.to))
        .collect();
    Err(RcpspError::Cycle { leaves: shortest_cycle(leaves, &rest).unwrap_or_default() })
}

/// Returns the greatest length that divides every duration, lag and release, so that every start is a multiple of it.
fn time_unit(problem: &RcpspProblem) -> u32 {
    let lags = problem.links.iter().map(|link| link.lag.unsigned_abs());
    problem
        .durations
        .iter()
        .chain(&problem.release)
        .copied()
        .chain(lags)
        .fold(0, greatest_common_divisor)
        .max(1)
}

fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Places all leaves one after another from the last release, each after its longest gap.
fn compute_horizon(
    problem: &RcpspProblem,
    distances: &[LinkDistance],
    unit: u32,
) -> Result<i32, RcpspError> {
    let durations: u64 = problem.durations.iter().map(|&minutes| u64::from(minutes)).sum();
    let gaps: u64 = distances.iter().map(|d| d.gap.unsigned_abs() * u64::from(unit)).sum();
    let minutes = durations + gaps + u64::from(problem.release.iter().copied().max().unwrap_or(0));
    let units = minutes / u64::from(unit);
    if minutes > u64::from(u32::MAX) || units > MAX_UNITS.unsigned_abs() {
        return Err(RcpspError::TooLong { minutes });
    }
    Ok(units as i32)
}

/// Returns the capacities and demand rows of the resources that all leaves together could exceed.
fn binding_resources(problem: &RcpspProblem, original: &[u32]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut total = vec![0u64; problem.capacities.len()];
    let mut rows = vec![vec![0; problem.capacities.len()]; original.len()];
    for (row, &leaf) in rows.iter_mut().zip(original) {
        // A leaf of zero length uses no capacity at any minute.
        if problem.durations[leaf as usize] == 0 {
            continue;
        }
        for (resource, units) in problem.merged_demand(leaf as usize) {
            row[resource] = units as u32;
            total[resource] += units;
        }
    }
    let binding: Vec<usize> =
        (0..total.len()).filter(|&r| total[r] > u64::from(problem.capacities[r])).collect();
    let demands = rows.iter().map(|row| binding.iter().map(|&r| row[r]).collect()).collect();
    (binding.iter().map(|&r| problem.capacities[r]).collect(), demands)
}
