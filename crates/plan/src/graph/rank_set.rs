//! A priority queue over small distinct numbers.

use std::cmp::Ordering;

/// A set of ranks below a fixed bound that returns its smallest member.
///
/// A tree of 64-bit words, three levels for 100,000 ranks. The lowest nonempty word is cached, so that taking one
/// member after the other mostly touches no memory.
#[derive(Clone, Debug)]
pub struct RankSet {
    /// The cached word and its index. All words of the tree before it are empty.
    word: u64,
    at: usize,
    /// `levels[0]` has one bit per rank; a bit of a higher level means that the word below is not zero.
    levels: Vec<Vec<u64>>,
}

impl RankSet {
    /// Creates an empty set for ranks below `bound`.
    pub fn new(bound: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = bound.div_ceil(64).max(1);
        levels.push(vec![0; words]);
        while words > 1 {
            words = words.div_ceil(64);
            levels.push(vec![0; words]);
        }
        Self { word: 0, at: 0, levels }
    }

    #[inline]
    pub fn insert(&mut self, rank: u32) {
        let (at, bit) = (rank as usize / 64, 1 << (rank % 64));
        match at.cmp(&self.at) {
            Ordering::Greater => self.add_to_tree(at, bit),
            Ordering::Equal => self.word |= bit,
            Ordering::Less => {
                if self.word != 0 {
                    self.add_to_tree(self.at, self.word);
                }
                (self.at, self.word) = (at, bit);
            }
        }
    }

    #[inline]
    fn add_to_tree(&mut self, mut at: usize, mut bits: u64) {
        for level in &mut self.levels {
            level[at] |= bits;
            bits = 1 << (at % 64);
            at /= 64;
        }
    }

    /// Moves the lowest word of the tree into the cache.
    fn refill_word(&mut self) {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            if level[at] == 0 {
                return;
            }
            at = at * 64 + level[at].trailing_zeros() as usize;
        }
        // The lowest level gave the rank itself.
        let at = at / 64;
        (self.at, self.word) = (at, std::mem::take(&mut self.levels[0][at]));
        self.clear_upper_bits(at);
    }

    pub fn remove(&mut self, rank: u32) {
        let (at, bit) = (rank as usize / 64, 1 << (rank % 64));
        if at == self.at {
            self.word &= !bit;
        } else {
            self.levels[0][at] &= !bit;
            if self.levels[0][at] == 0 {
                self.clear_upper_bits(at);
            }
        }
    }

    /// Clears the bits of the upper levels for a word that has become empty.
    fn clear_upper_bits(&mut self, mut at: usize) {
        for level in &mut self.levels[1..] {
            let word = &mut level[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// Returns the smallest rank.
    pub fn first(&mut self) -> Option<u32> {
        if self.word == 0 {
            self.refill_word();
        }
        (self.word != 0).then(|| (self.at * 64) as u32 + self.word.trailing_zeros())
    }

    /// Removes and returns the smallest rank.
    #[inline]
    pub fn pop_first(&mut self) -> Option<u32> {
        let rank = self.first()?;
        self.word &= self.word - 1;
        Some(rank)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_sorted_set(steps in prop::collection::vec((0u32..9000, 0..4), 0..400)) {
            let (mut ranks, mut twin) = (RankSet::new(9000), BTreeSet::new());
            for (rank, step) in steps {
                match step {
                    0 => { ranks.remove(rank); twin.remove(&rank); }
                    1 => prop_assert_eq!(ranks.pop_first(), twin.pop_first()),
                    2 => { ranks.insert(rank % 200); twin.insert(rank % 200); }
                    _ => { ranks.insert(rank); twin.insert(rank); }
                }
                prop_assert_eq!(ranks.first(), twin.first().copied());
            }
        }
    }
}
