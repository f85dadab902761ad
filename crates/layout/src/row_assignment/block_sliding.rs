//! Slides blocks of aligned items to the row preferred by their edges, as far as their neighbors leave room.

use super::super::crossing_reduction::LayerOrder;
use super::super::layered_graph::LayeredGraph;
use super::StraightnessWeights;

/// A bend costs as much as this many rows of height.
const BEND_COST: u64 = 4;

/// Returns the cost of a set of rows: weighted bends and vertical distance, plus a little for height.
pub(super) fn rows_cost(proper: &LayeredGraph, weights: &StraightnessWeights, rows: &[i32]) -> u64 {
    let mut total = 0;
    for item in 0..proper.item_count() as u32 {
        for at in proper.down.neighbor_range(item) {
            total += piece_cost(
                weights.down[at],
                rows[item as usize],
                rows[proper.down.neighbor_at(at) as usize],
            );
        }
    }
    let (low, high) = (rows.iter().min(), rows.iter().max());
    total + 2 * u64::from(low.zip(high).map_or(0, |(low, high)| high.abs_diff(*low)))
}

fn piece_cost(weight: u8, from: i32, to: i32) -> u64 {
    let distance = u64::from(from.abs_diff(to));
    u64::from(weight) * (distance + if distance == 0 { 0 } else { BEND_COST })
}

/// Slides blocks, in at most `passes` passes over all of them; stops when nothing improves.
pub(super) fn slide_blocks(
    proper: &LayeredGraph,
    order: &LayerOrder,
    weights: &StraightnessWeights,
    rows: &mut [i32],
    passes: usize,
) {
    let mut runs = StraightBlocks::default();
    let mut slider = BlockSlider { proper, order, weights, links: Vec::new() };
    for pass in 0..passes {
        runs.find_blocks(proper, rows);
        let mut moved = false;
        for index in 0..runs.starts.len() {
            let index = if pass % 2 == 0 { index } else { runs.starts.len() - 1 - index };
            moved |= slider.slide_block(rows, runs.block_items(index));
        }
        if !moved {
            break;
        }
    }
}

/// Groups of items connected by straight pieces.
#[derive(Debug, Default)]
struct StraightBlocks {
    items: Vec<u32>,
    /// Row, first and last index in `items`, by row from the top.
    starts: Vec<(i32, u32, u32)>,
    seen: Vec<bool>,
}

impl StraightBlocks {
    fn find_blocks(&mut self, proper: &LayeredGraph, rows: &[i32]) {
        self.items.clear();
        self.starts.clear();
        self.seen.clear();
        self.seen.resize(proper.item_count(), false);
        for first in 0..proper.item_count() as u32 {
            if std::mem::replace(&mut self.seen[first as usize], true) {
                continue;
            }
            let start = self.items.len();
            self.items.push(first);
            let mut next = start;
            while let Some(&item) = self.items.get(next) {
                next += 1;
                for &near in proper.up.neighbors(item).iter().chain(proper.down.neighbors(item)) {
                    let level = rows[near as usize] == rows[item as usize];
                    if level && !std::mem::replace(&mut self.seen[near as usize], true) {
                        self.items.push(near);
                    }
                }
            }
            self.starts.push((rows[first as usize], start as u32, next as u32));
        }
        self.starts.sort_unstable();
    }

    fn block_items(&self, index: usize) -> &[u32] {
        let (_, first, last) = self.starts[index];
        &self.items[first as usize..last as usize]
    }
}

struct BlockSlider<'a> {
    proper: &'a LayeredGraph,
    order: &'a LayerOrder,
    weights: &'a StraightnessWeights,
    links: Vec<(u8, i32)>,
}

impl BlockSlider<'_> {
    /// Moves one block to its best free row; returns whether it moved.
    fn slide_block(&mut self, rows: &mut [i32], block: &[u32]) -> bool {
        const CANDIDATES: usize = 12;
        let Self { proper, weights, links, .. } = self;
        let current = rows[block[0] as usize];
        links.clear();
        for &item in block {
            let up = proper
                .up
                .neighbor_range(item)
                .map(|at| (weights.up[at], rows[proper.up.neighbor_at(at) as usize]));
            let down = proper
                .down
                .neighbor_range(item)
                .map(|at| (weights.down[at], rows[proper.down.neighbor_at(at) as usize]));
            links.extend(up.chain(down).filter(|link| link.1 != current));
        }
        if links.is_empty() {
            return false;
        }
        let (low, high) = free_row_range(self.proper, self.order, rows, block);
        let cost_at = |row: i32| {
            self.links.iter().map(|&(weight, other)| piece_cost(weight, row, other)).sum::<u64>()
        };
        let mut best = (cost_at(current), current);
        for &(_, row) in self.links.iter().take(CANDIDATES) {
            let row = row.clamp(low, high);
            if row != current && row != best.1 {
                let cost = cost_at(row);
                if cost < best.0 {
                    best = (cost, row);
                }
            }
        }
        for &item in block {
            rows[item as usize] = best.1;
        }
        best.1 != current
    }
}

/// Returns the rows a block can move to without displacing another item.
fn free_row_range(
    proper: &LayeredGraph,
    order: &LayerOrder,
    rows: &[i32],
    block: &[u32],
) -> (i32, i32) {
    const FAR: i32 = 1 << 20;
    let (mut low, mut high) = (-FAR, FAR);
    for &item in block {
        let items = &order.layers[proper.layer[item as usize] as usize];
        let at = order.position[item as usize] as usize;
        if let Some(&before) = at.checked_sub(1).and_then(|at| items.get(at)) {
            low = low.max(rows[before as usize] + 1);
        }
        if let Some(&after) = items.get(at + 1) {
            high = high.min(rows[after as usize] - 1);
        }
    }
    (low, high)
}
