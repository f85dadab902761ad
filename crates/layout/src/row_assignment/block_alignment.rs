//! Aligns items into blocks and packs the blocks toward one side.

use super::super::crossing_reduction::LayerOrder;
use super::super::layered_graph::{AdjacencyLists, LayeredGraph};
use super::StraightnessWeights;

/// One of the four combinations of aligning and packing.
#[derive(Clone, Copy, Debug)]
pub(super) struct AlignmentCorner {
    /// Align with the layer before (true) or with the layer after.
    forward: bool,
    /// Prefer and pack toward low rows (true) or high rows.
    low: bool,
}

pub(super) const CORNERS: [AlignmentCorner; 4] = [
    AlignmentCorner { forward: true, low: true },
    AlignmentCorner { forward: false, low: true },
    AlignmentCorner { forward: true, low: false },
    AlignmentCorner { forward: false, low: false },
];

/// The data for aligning, prepared once for all corners.
#[derive(Debug)]
pub(super) struct BlockAligner<'a> {
    proper: &'a LayeredGraph,
    order: &'a LayerOrder,
    weights: &'a StraightnessWeights,
    /// Pieces that cross a firm piece and so must not be aligned, by index in the lists of neighbors.
    barred_down: Vec<bool>,
    barred_up: Vec<bool>,
    /// Position, item and weight of the neighbors of the current item.
    sorted: Vec<(u32, u32, u8)>,
    choices: Vec<u32>,
}

impl<'a> BlockAligner<'a> {
    pub(super) fn new(
        proper: &'a LayeredGraph,
        order: &'a LayerOrder,
        weights: &'a StraightnessWeights,
    ) -> Self {
        let mut barred_down = vec![false; proper.down.len()];
        let mut barred_up = vec![false; proper.up.len()];
        let place = |item: u32| order.position[item as usize];
        for (layer, items) in order.layers.iter().enumerate() {
            let firm = firm_pieces(proper, order, weights, items);
            for &item in items {
                for at in proper.down.neighbor_range(item) {
                    barred_down[at] =
                        crosses_any(&firm, (place(item), place(proper.down.neighbor_at(at))));
                }
            }
            for &item in order.layers.get(layer + 1).into_iter().flatten() {
                for at in proper.up.neighbor_range(item) {
                    barred_up[at] =
                        crosses_any(&firm, (place(proper.up.neighbor_at(at)), place(item)));
                }
            }
        }
        let (sorted, choices) = (Vec::new(), Vec::new());
        Self { proper, order, weights, barred_down, barred_up, sorted, choices }
    }

    /// Returns the rows of all items: aligned with a middle neighbor where possible, packed as tightly as possible.
    pub(super) fn pack_blocks(&mut self, corner: AlignmentCorner) -> Vec<i32> {
        let root = self.align_blocks(corner);
        let Self { proper, order, .. } = self;
        let follow = |item: u32| -> Option<u32> {
            let items = &order.layers[proper.layer[item as usize] as usize];
            let at = order.position[item as usize] as usize;
            if corner.low {
                items.get(at + 1).copied()
            } else {
                items.get(at.checked_sub(1)?).copied()
            }
        };
        let items = 0..proper.item_count() as u32;
        let members = AdjacencyLists::new(
            proper.item_count(),
            items.clone().map(|item| (root[item as usize], item)),
        );
        let mut waiting = vec![0_u32; proper.item_count()];
        for next in items.clone().filter_map(follow) {
            waiting[root[next as usize] as usize] += 1;
        }
        // A block's row is known once everything before its items is placed.
        let first = |&item: &u32| root[item as usize] == item && waiting[item as usize] == 0;
        let mut ready: Vec<u32> = items.filter(first).collect();
        let mut place = vec![0_i32; proper.item_count()];
        while let Some(block) = ready.pop() {
            for next in members.neighbors(block).iter().filter_map(|&item| follow(item)) {
                let next = root[next as usize];
                place[next as usize] = place[next as usize].max(place[block as usize] + 1);
                waiting[next as usize] -= 1;
                if waiting[next as usize] == 0 {
                    ready.push(next);
                }
            }
        }
        let sign = if corner.low { 1 } else { -1 };
        root.iter().map(|&block| sign * place[block as usize]).collect()
    }

    /// Returns the first item of each item's block.
    fn align_blocks(&mut self, corner: AlignmentCorner) -> Vec<u32> {
        let mut root: Vec<u32> = (0..self.proper.item_count() as u32).collect();
        let mut taken = vec![false; self.proper.item_count()];
        let depth = self.order.layers.len();
        for step in 1..depth {
            let items = &self.order.layers[if corner.forward { step } else { depth - 1 - step }];
            let mut bound: Option<u32> = None;
            for index in 0..items.len() {
                let item = items[if corner.low { index } else { items.len() - 1 - index }];
                self.list_alignment_choices(corner, item);
                let free = self.choices.iter().find(|&&near| {
                    let at = self.order.position[near as usize];
                    let beyond =
                        bound.is_none_or(|bound| if corner.low { at > bound } else { at < bound });
                    beyond && !taken[near as usize]
                });
                if let Some(&near) = free {
                    taken[near as usize] = true;
                    root[item as usize] = root[near as usize];
                    bound = Some(self.order.position[near as usize]);
                }
            }
        }
        root
    }

    /// Lists the neighbors an item may be aligned with, best first: firm pieces, then the middle ones.
    fn list_alignment_choices(&mut self, corner: AlignmentCorner, item: u32) {
        let (near, weight, barred) = if corner.forward {
            (&self.proper.up, &self.weights.up, &self.barred_up)
        } else {
            (&self.proper.down, &self.weights.down, &self.barred_down)
        };
        self.sorted.clear();
        self.choices.clear();
        for at in near.neighbor_range(item) {
            // A barred piece keeps its position among the neighbors, as it affects the middle, but not its item.
            let other = if barred[at] { u32::MAX } else { near.neighbor_at(at) };
            self.sorted.push((
                self.order.position[near.neighbor_at(at) as usize],
                other,
                weight[at],
            ));
        }
        let Some(last) = self.sorted.len().checked_sub(1) else { return };
        self.sorted.sort_unstable();
        if !corner.low {
            self.sorted.reverse();
        }
        let firm = self.sorted.iter().filter(|entry| entry.2 >= StraightnessWeights::FIRM);
        self.choices.extend(firm.map(|entry| entry.1));
        self.choices.extend([self.sorted[last / 2].1, self.sorted[last.div_ceil(2)].1]);
        self.choices.retain(|&other| other != u32::MAX);
    }
}

/// Returns a set of firm pieces below one layer that do not cross each other, chosen by decreasing weight, as pairs of
/// positions.
fn firm_pieces(
    proper: &LayeredGraph,
    order: &LayerOrder,
    weights: &StraightnessWeights,
    items: &[u32],
) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for &item in items {
        for at in proper.down.neighbor_range(item) {
            if weights.down[at] >= StraightnessWeights::FIRM {
                let ends = (
                    order.position[item as usize],
                    order.position[proper.down.neighbor_at(at) as usize],
                );
                found.push((weights.down[at], ends));
            }
        }
    }
    found.sort_by_key(|&(weight, ends)| (std::cmp::Reverse(weight), ends));
    let mut kept: Vec<(u32, u32)> = Vec::new();
    for (_, ends) in found {
        if !crosses_any(&kept, ends) {
            let at = kept.partition_point(|&other| other < ends);
            kept.insert(at, ends);
        }
    }
    kept
}

/// Returns whether a piece crosses one of `kept`, which are sorted and do not cross each other.
fn crosses_any(kept: &[(u32, u32)], (upper, lower): (u32, u32)) -> bool {
    let before = kept.partition_point(|&(other, _)| other < upper);
    let after = kept.partition_point(|&(other, _)| other <= upper);
    before.checked_sub(1).is_some_and(|last| kept[last].1 > lower)
        || kept.get(after).is_some_and(|&(_, other)| other < lower)
}
