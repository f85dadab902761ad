//! Priority rules for choosing the next leaf. Smaller values come first.

use super::network::LeafNetwork;

/// Above this many leaves the exact successor count would need too much memory.
const MAX_COUNTED: usize = 8192;

/// Returns for each leaf the minimum time from its start to the end of the project, by links alone.
pub(super) fn compute_tails(network: &LeafNetwork) -> Vec<i32> {
    let mut tails = network.durations.clone();
    for leaf in (0..network.leaves).rev() {
        for &(before, distance) in network.forward.before.neighbors_of(leaf) {
            tails[before as usize] = tails[before as usize].max(distance + tails[leaf]);
        }
    }
    tails
}

/// Returns for each leaf its earliest start by links and releases alone.
pub(super) fn compute_heads(network: &LeafNetwork) -> Vec<i32> {
    let mut heads = network.forward.release.clone();
    for leaf in 0..network.leaves {
        for &(before, distance) in network.forward.before.neighbors_of(leaf) {
            heads[leaf] = heads[leaf].max(heads[before as usize] + distance);
        }
    }
    heads
}

/// Earliest latest finish first; ties go to the leaf with more direct successors.
pub(super) fn latest_finish(network: &LeafNetwork) -> Vec<i64> {
    let tails = compute_tails(network);
    let key = |leaf: usize| {
        let successors = network.mirror.before.neighbors_of(leaf).len() as i64;
        (i64::from(network.durations[leaf]) - i64::from(tails[leaf])) * (network.leaves as i64 + 1)
            - successors
    };
    (0..network.leaves).map(key).collect()
}

/// Longest remaining path first, which is the same as earliest latest start first.
pub(super) fn longest_remaining_path(network: &LeafNetwork) -> Vec<i64> {
    compute_tails(network).into_iter().map(|tail| -i64::from(tail)).collect()
}

/// Most total successors first.
pub(super) fn most_total_successors(network: &LeafNetwork) -> Vec<i64> {
    let leaves = network.leaves;
    if leaves > MAX_COUNTED {
        return (0..leaves)
            .map(|leaf| -(network.mirror.before.neighbors_of(leaf).len() as i64))
            .collect();
    }
    let words = leaves.div_ceil(64);
    let mut reach = vec![0u64; leaves * words];
    for leaf in (0..leaves).rev() {
        let (own, later) = reach.split_at_mut((leaf + 1) * words);
        let own = &mut own[leaf * words..];
        for &(successor, _) in network.mirror.before.neighbors_of(leaf) {
            let successor = successor as usize;
            own[successor / 64] |= 1 << (successor % 64);
            let row = &later[(successor - leaf - 1) * words..][..words];
            own.iter_mut().zip(row).for_each(|(mine, theirs)| *mine |= theirs);
        }
    }
    reach
        .chunks(words.max(1))
        .map(|row| -row.iter().map(|word| i64::from(word.count_ones())).sum::<i64>())
        .collect()
}

/// Most dependent work first: the leaf's own use of scarce resources and that of its direct successors.
pub(super) fn greatest_resource_work(network: &LeafNetwork) -> Vec<i64> {
    let work = |leaf: usize| -> i64 {
        let row = network.demands[leaf].iter().zip(&network.capacities);
        let share: i64 = row
            .map(|(&units, &capacity)| i64::from(units) * 1024 / i64::from(capacity.max(1)))
            .sum();
        share * i64::from(network.durations[leaf])
    };
    let behind = |leaf: usize| {
        network.mirror.before.neighbors_of(leaf).iter().map(|&(s, _)| work(s as usize)).sum::<i64>()
    };
    (0..network.leaves).map(|leaf| -(work(leaf) + behind(leaf))).collect()
}
