//! Free capacity over time, in two equivalent representations: [`PackedProfile`] stores every unit of time,
//! [`StepProfile`] only the times at which something changes. Both return the earliest feasible start, so schedules do
//! not depend on the choice.
//!
//! [`StepProfile`]: super::step_profile::StepProfile

use super::network::LeafNetwork;

/// Resources that share one word of a packed profile.
const LANES: usize = 4;
/// One bit above each 15-bit lane; it survives a subtraction exactly when the lane had enough capacity.
const GUARDS: u64 = 0x8000_8000_8000_8000;
const MAX_CAPACITY: u32 = 0x7fff;
/// Beyond these sizes scanning every unit costs more than maintaining a list of changes.
const MAX_PACKED_HORIZON: i32 = 1 << 16;
const MAX_MEAN_DURATION: i64 = 48;

/// Free capacity in which leaves are placed one after another.
pub(super) trait CapacityProfile {
    /// Frees everything.
    fn clear(&mut self);

    /// Reserves the earliest feasible block at or after `earliest` for a leaf and returns its start.
    fn place_leaf(&mut self, leaf: usize, earliest: i32) -> i32;
}

/// Every unit of time as `WORDS` words of four lanes, so that one subtraction compares four resources.
#[derive(Clone, Debug)]
pub(super) struct PackedProfile<const WORDS: usize> {
    free: Vec<[u64; WORDS]>,
    full: [u64; WORDS],
    /// Units before this one may be reserved; the rest is unchanged since the last `clear`.
    touched: usize,
    needs: Vec<([u64; WORDS], u32)>,
}

impl<const WORDS: usize> PackedProfile<WORDS> {
    /// Returns whether a network fits into this many words at a reasonable cost.
    pub(super) fn is_efficient_for(network: &LeafNetwork) -> bool {
        let total: i64 = network.durations.iter().map(|&units| i64::from(units)).sum();
        Self::can_represent(network) && total <= MAX_MEAN_DURATION * network.leaves as i64
    }

    /// Returns whether a network fits into this many words at all.
    pub(super) fn can_represent(network: &LeafNetwork) -> bool {
        network.capacities.len() <= LANES * WORDS
            && network.capacities.iter().all(|&capacity| capacity <= MAX_CAPACITY)
            && network.horizon <= MAX_PACKED_HORIZON
    }

    pub(super) fn new(network: &LeafNetwork) -> Self {
        let full = pack_lanes(&network.capacities).map(|word| word | GUARDS);
        let needs = network
            .demands
            .iter()
            .zip(&network.durations)
            .map(|(row, &units)| (pack_lanes(row), units as u32));
        Self {
            free: vec![full; network.horizon as usize + 1],
            full,
            touched: 0,
            needs: needs.collect(),
        }
    }
}

fn pack_lanes<const WORDS: usize>(row: &[u32]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (lane, &units) in row.iter().enumerate() {
        words[lane / LANES] |= u64::from(units) << (16 * (lane % LANES));
    }
    words
}

#[inline]
fn has_capacity<const WORDS: usize>(free: &[u64; WORDS], need: &[u64; WORDS]) -> bool {
    (0..WORDS).all(|word| (free[word] - need[word]) & GUARDS == GUARDS)
}

impl<const WORDS: usize> CapacityProfile for PackedProfile<WORDS> {
    #[inline]
    fn clear(&mut self) {
        self.free[..self.touched].fill(self.full);
        self.touched = 0;
    }

    #[inline]
    fn place_leaf(&mut self, leaf: usize, earliest: i32) -> i32 {
        let (need, length) = self.needs[leaf];
        let length = length as usize;
        let mut start = earliest as usize;
        let mut end = start + length;
        // Scanning from the far end, a conflict rules out every start up to it, and the units after it are known to
        // fit.
        let mut unknown = start;
        while let Some(clash) =
            self.free[unknown..end].iter().rposition(|free| !has_capacity(free, &need))
        {
            start = unknown + clash + 1;
            unknown = end;
            end = start + length;
        }
        for free in &mut self.free[start..end] {
            for word in 0..WORDS {
                free[word] -= need[word];
            }
        }
        self.touched = self.touched.max(end);
        start as i32
    }
}
