//! Crossings of a line on its way through the layers, for all gaps of a window at once.
//!
//! Windows have a fixed number of gaps and sums have sixteen bits, so that each step is a handful of vector instructions.
//! Sums that do not fit stay at the limit; they are too bad to be chosen.

use super::super::crossing_reduction::OrderTieBreak;
use super::super::layered_graph::AdjacencyLists;
use super::REMOVED;

/// Gaps in a window: how far an item can go in one move. What has further to go arrives in several rounds.
pub(super) const LANES: usize = 32;

/// A number for each gap of a window.
pub(super) type GapSums = [i16; LANES];

/// What the prices change by when a piece's start passes a line that ends before the gap with the given index.
const PASSING_CHANGES: [GapSums; LANES + 1] = build_passing_changes();

const fn build_passing_changes() -> [GapSums; LANES + 1] {
    let mut table = [[-1; LANES]; LANES + 1];
    let mut ends = 0;
    while ends <= LANES {
        let mut gap = 0;
        while gap < ends {
            table[ends][gap] = 1;
            gap += 1;
        }
        ends += 1;
    }
    table
}

/// A range of gaps in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GapWindow {
    pub(super) first: u32,
    count: u32,
}

impl GapWindow {
    /// The gaps near `gap` in a layer of `width` items.
    pub(super) fn around_gap(gap: u32, width: usize) -> Self {
        let first = gap.saturating_sub(LANES as u32 / 2 - 1);
        Self { first, count: (width as u32 + 1 - first).min(LANES as u32) }
    }

    pub(super) fn len(self) -> usize {
        self.count as usize
    }

    /// How many of the window's gaps lie before an item.
    fn gaps_before(self, item: u32) -> usize {
        (item.saturating_add(1).saturating_sub(self.first) as usize).min(LANES)
    }
}

/// From one layer to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerTransition<'a> {
    /// The items of the layer that is left.
    pub(super) items: &'a [u32],
    /// Their neighbours in the layer that is entered.
    pub(super) near: &'a AdjacencyLists,
    pub(super) positions: &'a [u32],
    /// The gaps to reach.
    pub(super) to: GapWindow,
}

impl LayerTransition<'_> {
    /// The crossings of a piece from the item at `place` to every gap of the next window.
    pub(super) fn crossings_from_item(&self, place: usize) -> GapSums {
        self.gap_prices(&self.items[..place], &self.items[place + 1..])
    }

    /// One layer further: from the least crossings to each gap `here` to those to each gap of the next window. Keeps the
    /// prices from every gap for [`best_origin_gap`].
    pub(super) fn advance_sums(
        &self,
        here: GapWindow,
        sums: &GapSums,
        prices: &mut [GapSums; LANES],
    ) -> GapSums {
        let (before, after) = self.items.split_at(here.first as usize);
        let mut price = self.gap_prices(before, after);
        let mut next = [i16::MAX; LANES];
        for (gap, kept) in prices[..here.len()].iter_mut().enumerate() {
            *kept = price;
            relax_sums(&mut next, &price, sums[gap]);
            let Some(&item) = after.get(gap) else { break };
            for &end in self.near.neighbors(item) {
                let end = self.positions[end as usize];
                if end != REMOVED {
                    add_saturating(&mut price, &PASSING_CHANGES[self.to.gaps_before(end)]);
                }
            }
        }
        next
    }

    /// Prices from between two groups of items: pieces of those before are crossed if they end after the gap, pieces of
    /// those after if they end before it.
    fn gap_prices(&self, before: &[u32], after: &[u32]) -> GapSums {
        let mut counts = [0_i32; LANES + 1];
        let mut sum = 0;
        for &item in before {
            for &end in self.near.neighbors(item) {
                let end = self.positions[end as usize];
                if end != REMOVED {
                    sum += 1;
                    counts[self.to.gaps_before(end)] -= 1;
                }
            }
        }
        for &item in after {
            for &end in self.near.neighbors(item) {
                // What is out counts as beyond the window, where it does not matter.
                counts[self.to.gaps_before(self.positions[end as usize])] += 1;
            }
        }
        let mut price = [0; LANES];
        for (price, count) in price.iter_mut().zip(counts) {
            sum += count;
            *price = i16::try_from(sum).unwrap_or(i16::MAX);
        }
        price
    }
}

/// The gap, counted from the first of the window `here`, from which a gap of the next window is best reached.
pub(super) fn best_origin_gap(
    here: GapWindow,
    sums: &GapSums,
    prices: &[GapSums; LANES],
    gap: usize,
    ties: OrderTieBreak,
) -> u32 {
    let (mut best, mut least) = (0, i32::MAX);
    for (at, price) in prices[..here.len()].iter().enumerate() {
        let sum = i32::from(sums[at]) + i32::from(price[gap]);
        if sum < least || (sum == least && ties == OrderTieBreak::Turn) {
            (best, least) = (at as u32, sum);
        }
    }
    best
}

/// Lowers each of `least` to the price from a gap that was reached with `base` crossings.
#[inline]
fn relax_sums(least: &mut GapSums, price: &GapSums, base: i16) {
    for lane in 0..LANES {
        least[lane] = least[lane].min(price[lane].saturating_add(base));
    }
}

#[inline]
fn add_saturating(price: &mut GapSums, change: &GapSums) {
    for lane in 0..LANES {
        price[lane] = price[lane].saturating_add(change[lane]);
    }
}
