//! Crossings of a line on its path through the layers, for all gaps of a window at once.
//!
//! Windows have a fixed number of gaps and sums have sixteen bits, so that each step takes a handful of vector
//! instructions. Sums that do not fit saturate at the limit; they are too high to be chosen.

use super::super::crossing_reduction::OrderTieBreak;
use super::super::layered_graph::AdjacencyLists;
use super::REMOVED;

/// Gaps in a window: how far an item can move at once. Longer moves take several rounds.
pub(super) const LANES: usize = 32;

/// A number for each gap of a window.
pub(super) type GapSums = [i16; LANES];

/// How the costs change when a piece's start passes a line that ends before the gap with the given index.
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
    /// Returns the gaps near `gap` in a layer of `width` items.
    pub(super) fn around_gap(gap: u32, width: usize) -> Self {
        let first = gap.saturating_sub(LANES as u32 / 2 - 1);
        Self { first, count: (width as u32 + 1 - first).min(LANES as u32) }
    }

    pub(super) fn len(self) -> usize {
        self.count as usize
    }

    /// Returns how many of the window's gaps lie before an item.
    fn gaps_before(self, item: u32) -> usize {
        (item.saturating_add(1).saturating_sub(self.first) as usize).min(LANES)
    }
}

/// The transition from one layer to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerTransition<'a> {
    /// The items of the layer being left.
    pub(super) items: &'a [u32],
    /// Their neighbors in the layer being entered.
    pub(super) near: &'a AdjacencyLists,
    pub(super) positions: &'a [u32],
    /// The gaps to reach.
    pub(super) to: GapWindow,
}

impl LayerTransition<'_> {
    /// Returns the crossings of a piece from the item at `place` to every gap of the next window.
    pub(super) fn crossings_from_item(&self, place: usize) -> GapSums {
        self.gap_costs(&self.items[..place], &self.items[place + 1..])
    }

    /// Advances by one layer: from the minimum crossings to each gap `window` to those to each gap of the next window.
    /// Keeps the costs from every gap for [`best_origin_gap`].
    pub(super) fn advance_sums(
        &self,
        window: GapWindow,
        sums: &GapSums,
        costs: &mut [GapSums; LANES],
    ) -> GapSums {
        let (before, after) = self.items.split_at(window.first as usize);
        let mut cost = self.gap_costs(before, after);
        let mut next = [i16::MAX; LANES];
        for (gap, kept) in costs[..window.len()].iter_mut().enumerate() {
            *kept = cost;
            relax_sums(&mut next, &cost, sums[gap]);
            let Some(&item) = after.get(gap) else { break };
            for &end in self.near.neighbors(item) {
                let end = self.positions[end as usize];
                if end != REMOVED {
                    add_saturating(&mut cost, &PASSING_CHANGES[self.to.gaps_before(end)]);
                }
            }
        }
        next
    }

    /// Returns the costs from between two groups of items: pieces of the items before are crossed if they end after the
    /// gap, pieces of the items after if they end before it.
    fn gap_costs(&self, before: &[u32], after: &[u32]) -> GapSums {
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
                // Removed items are treated as beyond the window, where they have no effect.
                counts[self.to.gaps_before(self.positions[end as usize])] += 1;
            }
        }
        let mut cost = [0; LANES];
        for (cost, count) in cost.iter_mut().zip(counts) {
            sum += count;
            *cost = i16::try_from(sum).unwrap_or(i16::MAX);
        }
        cost
    }
}

/// Returns the gap, counted from the first of the window `window`, from which a gap of the next window is best reached.
pub(super) fn best_origin_gap(
    window: GapWindow,
    sums: &GapSums,
    costs: &[GapSums; LANES],
    gap: usize,
    tie_break: OrderTieBreak,
) -> u32 {
    let (mut best, mut least) = (0, i32::MAX);
    for (at, cost) in costs[..window.len()].iter().enumerate() {
        let sum = i32::from(sums[at]) + i32::from(cost[gap]);
        if sum < least || (sum == least && tie_break == OrderTieBreak::Turn) {
            (best, least) = (at as u32, sum);
        }
    }
    best
}

/// Lowers each of `least` to the cost from a gap that was reached with `base` crossings.
#[inline]
fn relax_sums(least: &mut GapSums, cost: &GapSums, base: i16) {
    for lane in 0..LANES {
        least[lane] = least[lane].min(cost[lane].saturating_add(base));
    }
}

#[inline]
fn add_saturating(cost: &mut GapSums, change: &GapSums) {
    for lane in 0..LANES {
        cost[lane] = cost[lane].saturating_add(change[lane]);
    }
}
