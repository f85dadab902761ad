//! Free capacity over time. Two representations with one meaning: [`PackedProfile`] keeps every unit of time, [`StepProfile`] only
//! the moments at which something changes. Both give the earliest feasible start, so schedules do not depend on which.
//!
//! [`StepProfile`]: super::steps::Steps

use super::network::LeafNetwork;

/// Resources that share one word of a packed profile.
const LANES: usize = 4;
/// One bit above each 15-bit lane; it survives a subtraction exactly when the lane held enough.
const GUARDS: u64 = 0x8000_8000_8000_8000;
const MAX_CAPACITY: u32 = 0x7fff;
/// Past these sizes walking every unit costs more than keeping a list of changes.
const MAX_PACKED_HORIZON: i32 = 1 << 16;
const MAX_MEAN_DURATION: i64 = 48;

/// Free capacity from which leaves are taken one after another.
pub(super) trait CapacityProfile {
    /// Frees everything.
    fn clear(&mut self);

    /// Takes the earliest feasible block at or after `earliest` for a leaf and returns its start.
    fn place_leaf(&mut self, leaf: usize, earliest: i32) -> i32;
}

/// Every unit of time as `WORDS` words of four lanes, so that four resources are compared by one subtraction.
#[derive(Clone, Debug)]
pub(super) struct PackedProfile<const WORDS: usize> {
    free: Vec<[u64; WORDS]>,
    full: [u64; WORDS],
    /// Units before this one may be taken; the rest is untouched since the last clearing.
    touched: usize,
    needs: Vec<([u64; WORDS], u32)>,
}

impl<const WORDS: usize> PackedProfile<WORDS> {
    /// Whether a network fits this many words at a sensible cost.
    pub(super) fn is_efficient_for(network: &LeafNetwork) -> bool {
        let total: i64 = network.durations.iter().map(|&units| i64::from(units)).sum();
        Self::can_represent(network) && total <= MAX_MEAN_DURATION * network.leaves as i64
    }

    /// Whether a network fits this many words at all.
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
        // Looking from the far end, a clash rules out every start up to it, and what lies beyond it is known to fit.
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
