//! Schedule generation: turns an order of leaves, or priorities, into starts.

use super::network::{LeafNetwork, TimeDirection};
use super::profile::CapacityProfile;
use super::rng::SplitMixRng;

/// How to choose among the eligible leaves.
#[derive(Clone, Copy, Debug)]
pub(super) enum LeafChoice {
    /// The smallest priority, then the smallest number.
    Best,
    /// The best of this many random samples.
    Drawn(usize),
}

/// Serial generation: places the leaves in list order, each as early as links and capacity allow. Returns the makespan.
///
/// The list must contain every leaf after all of its predecessors in this direction.
#[inline]
pub(super) fn generate_serial<P: CapacityProfile>(
    network: &LeafNetwork,
    side: &TimeDirection,
    order: &[u32],
    profile: &mut P,
    starts: &mut [i32],
) -> i32 {
    profile.clear();
    let mut makespan = 0;
    for &leaf in order {
        let leaf = leaf as usize;
        let mut earliest = side.release[leaf];
        for &(other, distance) in side.before.neighbors_of(leaf) {
            earliest = earliest.max(starts[other as usize] + distance);
        }
        let start = profile.place_leaf(leaf, earliest);
        starts[leaf] = start;
        makespan = makespan.max(start + network.durations[leaf]);
    }
    makespan
}

/// Returns the index in `among` of the chosen leaf.
fn choose_leaf(
    among: &[u32],
    priorities: &[i64],
    choice: LeafChoice,
    rng: &mut SplitMixRng,
) -> usize {
    let key = |&place: &usize| (priorities[among[place] as usize], among[place]);
    match choice {
        LeafChoice::Best => (0..among.len()).min_by_key(key).unwrap_or(0),
        LeafChoice::Drawn(draws) => {
            (0..draws.max(1)).map(|_| rng.draw_below(among.len())).min_by_key(key).unwrap_or(0)
        }
    }
}

/// The leaves whose predecessors are all listed.
struct ReadyFrontier<'a> {
    network: &'a LeafNetwork,
    missing: Vec<u32>,
    ready: Vec<u32>,
}

impl<'a> ReadyFrontier<'a> {
    fn new(network: &'a LeafNetwork) -> Self {
        let missing: Vec<u32> = (0..network.leaves)
            .map(|leaf| network.forward.before.neighbors_of(leaf).len() as u32)
            .collect();
        let ready =
            (0..network.leaves as u32).filter(|&leaf| missing[leaf as usize] == 0).collect();
        Self { network, missing, ready }
    }

    /// Makes the successors of a listed leaf eligible.
    fn release_successors(&mut self, leaf: u32) {
        for &(successor, _) in self.network.mirror.before.neighbors_of(leaf as usize) {
            self.missing[successor as usize] -= 1;
            if self.missing[successor as usize] == 0 {
                self.ready.push(successor);
            }
        }
    }
}

/// Builds an order for serial generation by repeatedly choosing one of the leaves whose predecessors are listed.
pub(super) fn list_order(
    network: &LeafNetwork,
    priorities: &[i64],
    choice: LeafChoice,
    rng: &mut SplitMixRng,
    order: &mut Vec<u32>,
) {
    let mut frontier = ReadyFrontier::new(network);
    order.clear();
    while !frontier.ready.is_empty() {
        let chosen = choose_leaf(&frontier.ready, priorities, choice, rng);
        let leaf = frontier.ready.swap_remove(chosen);
        order.push(leaf);
        frontier.release_successors(leaf);
    }
}

/// Parallel generation: steps through time and starts the leaves that fit now, in order of priority.
///
/// Returns only the order of starts: serial generation turns it into a schedule without unused gaps.
pub(super) fn parallel_order(
    network: &LeafNetwork,
    priorities: &[i64],
    choice: LeafChoice,
    rng: &mut SplitMixRng,
    order: &mut Vec<u32>,
) {
    let mut frontier = ReadyFrontier::new(network);
    let mut earliest = network.forward.release.clone();
    let mut free = network.capacities.clone();
    let mut running: Vec<(i32, u32)> = Vec::new();
    let mut fitting = Vec::new();
    let mut now = 0;
    order.clear();
    while !frontier.ready.is_empty() {
        fitting.clear();
        let startable = |&leaf: &u32| {
            let fits =
                network.demands[leaf as usize].iter().zip(&free).all(|(need, free)| need <= free);
            fits && earliest[leaf as usize] <= now
        };
        fitting.extend(frontier.ready.iter().copied().filter(startable));
        if fitting.is_empty() {
            let waiting =
                frontier.ready.iter().map(|&leaf| earliest[leaf as usize]).filter(|&at| at > now);
            let Some(next) = running.iter().map(|&(end, _)| end).chain(waiting).min() else {
                break;
            };
            now = next;
            running.retain(|&(end, leaf)| {
                end > now || !return_capacity(&mut free, &network.demands[leaf as usize])
            });
            continue;
        }
        let leaf = fitting[choose_leaf(&fitting, priorities, choice, rng)];
        frontier.ready.retain(|&other| other != leaf);
        order.push(leaf);
        if network.durations[leaf as usize] > 0 {
            free.iter_mut()
                .zip(&network.demands[leaf as usize])
                .for_each(|(free, need)| *free -= need);
            running.push((now + network.durations[leaf as usize], leaf));
        }
        for &(successor, _) in network.mirror.before.neighbors_of(leaf as usize) {
            let row = network.forward.before.neighbors_of(successor as usize);
            for &(_, distance) in row.iter().filter(|(other, _)| *other == leaf) {
                earliest[successor as usize] = earliest[successor as usize].max(now + distance);
            }
        }
        frontier.release_successors(leaf);
    }
}

/// Returns the capacity of a finished leaf. The result is always `true`, so that the caller can remove the leaf.
fn return_capacity(free: &mut [u32], held: &[u32]) -> bool {
    free.iter_mut().zip(held).for_each(|(free, held)| *free += held);
    true
}
