//! Priority rules: the order in which items compete for time.

use std::cmp::Reverse;

use super::network::ItemNetwork;
use super::passes::NetworkTiming;

/// Above this many items, only direct successors are counted.
const COUNT_ALL_BELOW: usize = 2_000;

/// The criterion that determines the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PriorityRule {
    /// Latest finish, then more successors, then the order of the nodes.
    LatestFinish,
    /// Most successors, direct or transitive.
    MostSuccessors,
    /// The longest remaining chain.
    LongestRemaining,
}

impl PriorityRule {
    pub(super) const ALL: [Self; 3] =
        [Self::LatestFinish, Self::MostSuccessors, Self::LongestRemaining];

    /// Returns the rank of each item; the lowest comes first.
    pub(super) fn item_ranks(self, network: &ItemNetwork, timing: &NetworkTiming) -> Vec<u32> {
        let direct = |item: usize| network.successors[item].len();
        match self {
            Self::LatestFinish => {
                rank_by_key(network, |item| (timing.latest[item].finish, Reverse(direct(item))))
            }
            Self::MostSuccessors => {
                let all = count_successors(network, timing);
                rank_by_key(network, |item| (Reverse(all[item]), timing.latest[item].finish))
            }
            Self::LongestRemaining => {
                let tail = remaining_minutes(network, timing);
                rank_by_key(network, |item| (Reverse(tail[item]), Reverse(direct(item))))
            }
        }
    }
}

/// Ranks items by a key; items with equal keys keep the order of the nodes.
pub(super) fn rank_by_key<K: Ord>(network: &ItemNetwork, key: impl Fn(usize) -> K) -> Vec<u32> {
    let mut order: Vec<usize> = (0..network.items.len()).collect();
    order.sort_by_cached_key(|&item| key(item));
    ranks_in_order(&order)
}

/// Returns the rank of each item in an order.
pub(super) fn ranks_in_order(order: &[usize]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, &item) in order.iter().enumerate() {
        ranks[item] = rank as u32;
    }
    ranks
}

fn count_successors(network: &ItemNetwork, timing: &NetworkTiming) -> Vec<usize> {
    let count = network.items.len();
    if count > COUNT_ALL_BELOW {
        return network.successors.iter().map(Vec::len).collect();
    }
    let words = count.div_ceil(64);
    let mut reach = vec![vec![0u64; words]; count];
    for &item in timing.order.iter().rev() {
        let mut own = std::mem::take(&mut reach[item]);
        for &to in &network.successors[item] {
            own[to / 64] |= 1 << (to % 64);
            own.iter_mut().zip(&reach[to]).for_each(|(word, more)| *word |= more);
        }
        reach[item] = own;
    }
    reach.iter().map(|bits| bits.iter().map(|word| word.count_ones() as usize).sum()).collect()
}

fn remaining_minutes(network: &ItemNetwork, timing: &NetworkTiming) -> Vec<u64> {
    let mut tail = vec![0; network.items.len()];
    for &item in timing.order.iter().rev() {
        let after = network.successors[item].iter().map(|&to| tail[to]).max().unwrap_or(0);
        tail[item] = after + u64::from(network.items[item].open_minutes());
    }
    tail
}
