//! Lower bounds on the makespan: link paths, resource work, and refutation of shorter makespans.

use super::network::LeafNetwork;
use super::priority_rules::{compute_heads, compute_tails};
use super::refute::BoundRefuter;

/// Above this many leaves the pairwise parts cost more than they contribute.
const MAX_PAIRWISE: usize = 400;

/// Returns the maximum of the longest path and, for every resource, the work that must fit between a head and a tail.
pub(super) fn basic_bound(network: &LeafNetwork) -> i32 {
    let (heads, tails) = (compute_heads(network), compute_tails(network));
    let path = heads.iter().zip(&tails).map(|(head, tail)| head + tail).max().unwrap_or(0);
    let work =
        (0..network.capacities.len()).map(|resource| work_bound(network, resource, &heads, &tails));
    work.max().unwrap_or(0).max(path)
}

/// Leaves that start at or after a head and leave at least a tail after them need the time between for their work.
fn work_bound(network: &LeafNetwork, resource: usize, heads: &[i32], tails: &[i32]) -> i32 {
    let mut items: Vec<(i64, i64, i64)> = Vec::new();
    for leaf in 0..network.leaves {
        let units = i64::from(network.demands[leaf][resource]);
        let length = i64::from(network.durations[leaf]);
        if units > 0 {
            items.push((i64::from(tails[leaf]) - length, i64::from(heads[leaf]), units * length));
        }
    }
    items.sort_unstable_by(|a, b| b.cmp(a));
    let mut thresholds: Vec<i64> = items.iter().map(|&(_, head, _)| head).collect();
    thresholds.sort_unstable();
    thresholds.dedup();
    if network.leaves > MAX_PAIRWISE {
        thresholds.truncate(1);
    }
    let capacity = i64::from(network.capacities[resource]);
    let mut bound = 0;
    for from in thresholds {
        let mut work = 0;
        for &(rest, _, amount) in items.iter().filter(|&&(_, head, _)| head >= from) {
            work += amount;
            bound = bound.max(from + (work + capacity - 1) / capacity + rest);
        }
    }
    bound as i32
}

/// Raises a bound by refuting makespans below `reached`, the length of a known schedule.
pub(super) fn raise_by_refutation(network: &LeafNetwork, bound: i32, reached: i32) -> i32 {
    if bound >= reached || network.leaves > MAX_PAIRWISE {
        return bound.min(reached);
    }
    let mut refuter = BoundRefuter::new(network);
    // This one test is enough for most easy projects.
    if refuter.refutes_end(reached - 1) {
        return reached;
    }
    let (mut low, mut high) = (bound, reached - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if refuter.refutes_end(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Raises a bound by shaving, from below in growing strides, within a limit of trials. Also returns the trials used.
pub(super) fn raise_by_shaving(
    network: &LeafNetwork,
    bound: i32,
    reached: i32,
    trials: u64,
) -> (i32, u64) {
    if network.leaves > MAX_PAIRWISE {
        return (bound, 0);
    }
    let mut refuter = BoundRefuter::new(network);
    let (mut low, mut stride, mut left) = (bound, 1, trials);
    while low < reached && left > 0 {
        let end = (low - 1 + stride).min(reached - 1);
        if refuter.refutes_by_shaving(end, &mut left) {
            low = end + 1;
            stride *= 2;
        } else if stride == 1 {
            break;
        } else {
            stride = 1.max(stride / 4);
        }
    }
    (low, trials - left)
}
