//! A priority queue over small distinct numbers.

/// A set of ranks below a fixed bound that gives back its smallest member. A tree of 64-bit words: both operations
/// touch one word a level, and 100,000 ranks need three levels.
#[derive(Clone, Debug)]
pub struct RankSet {
    /// `levels[0]` holds one bit a rank; a bit of a higher level says that the word below is not zero.
    levels: Vec<Vec<u64>>,
}

impl RankSet {
    /// An empty set for ranks below `bound`.
    pub fn new(bound: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = bound.div_ceil(64).max(1);
        levels.push(vec![0; words]);
        while words > 1 {
            words = words.div_ceil(64);
            levels.push(vec![0; words]);
        }
        Self { levels }
    }

    #[inline]
    pub fn insert(&mut self, rank: u32) {
        let mut at = rank as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            if !was_empty {
                return;
            }
            at /= 64;
        }
    }

    #[inline]
    pub fn remove(&mut self, rank: u32) {
        let mut at = rank as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The smallest rank.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let word = level[at];
            if word == 0 {
                return None;
            }
            at = at * 64 + word.trailing_zeros() as usize;
        }
        Some(at as u32)
    }

    /// Takes out the smallest rank.
    #[inline]
    pub fn pop_first(&mut self) -> Option<u32> {
        let rank = self.first()?;
        self.remove(rank);
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
        fn it_behaves_as_a_sorted_set(steps in prop::collection::vec((0u32..9000, 0..3), 0..400)) {
            let (mut ranks, mut twin) = (RankSet::new(9000), BTreeSet::new());
            for (rank, step) in steps {
                match step {
                    0 => { ranks.remove(rank); twin.remove(&rank); }
                    1 => prop_assert_eq!(ranks.pop_first(), twin.pop_first()),
                    _ => { ranks.insert(rank); twin.insert(rank); }
                }
                prop_assert_eq!(ranks.first(), twin.first().copied());
            }
        }
    }
}
