//! Lists of leaves ordered by time, fast enough to be rebuilt for every generated schedule.

use super::network::TimeDirection;

/// The largest key range, as a multiple of the number of leaves, for which a counting sort is used.
const COUNTED_SPREAD: usize = 8;

/// Which of two leaves with the same key comes first: always the one that preserves link order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TieBreak {
    SmallerFirst,
    LargerFirst,
}

/// Sorts leaves by keys, reusing its own memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LeafSorter {
    counts: Vec<u32>,
    pairs: Vec<(i32, u32)>,
}

impl LeafSorter {
    /// Fills `order` with the leaves by decreasing key. Keys lie in `0..=highest`.
    pub(super) fn sort_falling(
        &mut self,
        keys: &[i32],
        highest: i32,
        tie_break: TieBreak,
        order: &mut [u32],
    ) {
        if highest as usize <= COUNTED_SPREAD * keys.len() + 64 {
            self.sort_by_counting(keys, highest, tie_break, order);
        } else {
            self.sort_by_comparing(keys, tie_break, order);
        }
    }

    fn sort_by_counting(
        &mut self,
        keys: &[i32],
        highest: i32,
        tie_break: TieBreak,
        order: &mut [u32],
    ) {
        self.counts.clear();
        self.counts.resize(highest as usize + 2, 0);
        for &key in keys {
            self.counts[(highest - key) as usize + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut self.counts {
            sum += *count;
            *count = sum;
        }
        let mut put = |leaf: usize| {
            let next = &mut self.counts[(highest - keys[leaf]) as usize];
            order[*next as usize] = leaf as u32;
            *next += 1;
        };
        match tie_break {
            TieBreak::SmallerFirst => (0..keys.len()).for_each(&mut put),
            TieBreak::LargerFirst => (0..keys.len()).rev().for_each(&mut put),
        }
    }

    fn sort_by_comparing(&mut self, keys: &[i32], tie_break: TieBreak, order: &mut [u32]) {
        let mask = if tie_break == TieBreak::SmallerFirst { 0 } else { u32::MAX };
        self.pairs.clear();
        self.pairs.extend(keys.iter().enumerate().map(|(leaf, &key)| (-key, leaf as u32 ^ mask)));
        self.pairs.sort_unstable();
        for (slot, &(_, leaf)) in order.iter_mut().zip(&self.pairs) {
            *slot = leaf ^ mask;
        }
    }
}

/// Lowers keys so that no leaf has a higher one than a leaf that must precede it in the list.
///
/// Needed only if a link lets a successor start or finish first.
pub(super) fn respect_links(side: &TimeDirection, tie_break: TieBreak, keys: &mut [i32]) {
    let mut lower = |leaf: usize| {
        for &(other, _) in side.before.neighbors_of(leaf) {
            keys[leaf] = keys[leaf].min(keys[other as usize]);
        }
    };
    match tie_break {
        TieBreak::SmallerFirst => (0..side.release.len()).for_each(&mut lower),
        TieBreak::LargerFirst => (0..side.release.len()).rev().for_each(&mut lower),
    }
}

#[cfg(test)]
mod tests {
    use super::{LeafSorter, TieBreak};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_and_comparison_sort_agree(keys in proptest::collection::vec(0..40i32, 0..60), larger in any::<bool>()) {
            let tie_break = if larger { TieBreak::LargerFirst } else { TieBreak::SmallerFirst };
            let (mut counted, mut compared) = (vec![0; keys.len()], vec![0; keys.len()]);
            let mut sorter = LeafSorter::default();
            sorter.sort_by_counting(&keys, 40, tie_break, &mut counted);
            sorter.sort_by_comparing(&keys, tie_break, &mut compared);
            prop_assert_eq!(counted, compared);
        }
    }
}
