//! A small seeded generator, so that the same seed gives the same schedule on every machine.

/// `SplitMix64`: one word of state, passes the usual tests, a few instructions per number.
#[derive(Clone, Debug)]
pub(super) struct SplitMixRng(u64);

impl SplitMixRng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..bound`, or 0 if the bound is 0.
    pub(super) fn draw_below(&mut self, bound: usize) -> usize {
        // Multiply-shift avoids a division; its bias is far below what a search could notice.
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}
