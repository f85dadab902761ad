//! Aligns items into blocks and packs the blocks towards one side.

use super::super::ordering::Order;
use super::super::proper::{Neighbours, Proper};
use super::Weights;

/// One of the four ways to align and pack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Align with the layer before (true) or with the layer after.
    forward: bool,
    /// Prefer and pack towards low rows (true) or high rows.
    low: bool,
}

pub(super) const CORNERS: [Corner; 4] = [
    Corner { forward: true, low: true },
    Corner { forward: false, low: true },
    Corner { forward: true, low: false },
    Corner { forward: false, low: false },
];

/// Everything that aligning needs, prepared once for all corners.
#[derive(Debug)]
pub(super) struct Aligner<'a> {
    proper: &'a Proper,
    order: &'a Order,
    weights: &'a Weights,
    /// Pieces that cross a firm piece and so must not be aligned, by place in the lists of neighbours.
    barred_down: Vec<bool>,
    barred_up: Vec<bool>,
    /// Position, item and weight of the neighbours of the item at hand.
    sorted: Vec<(u32, u32, u8)>,
    choices: Vec<u32>,
}

impl<'a> Aligner<'a> {
    pub(super) fn new(proper: &'a Proper, order: &'a Order, weights: &'a Weights) -> Self {
        let mut barred_down = vec![false; proper.down.len()];
        let mut barred_up = vec![false; proper.up.len()];
        let place = |item: u32| order.position[item as usize];
        for (layer, items) in order.layers.iter().enumerate() {
            let firm = firm_pieces(proper, order, weights, items);
            for &item in items {
                for at in proper.down.span(item) {
                    barred_down[at] = crosses(&firm, (place(item), place(proper.down.at(at))));
                }
            }
            for &item in order.layers.get(layer + 1).into_iter().flatten() {
                for at in proper.up.span(item) {
                    barred_up[at] = crosses(&firm, (place(proper.up.at(at)), place(item)));
                }
            }
        }
        let (sorted, choices) = (Vec::new(), Vec::new());
        Self { proper, order, weights, barred_down, barred_up, sorted, choices }
    }

    /// Rows of all items: aligned with a middle neighbour where possible, packed as far as they go.
    pub(super) fn pack(&mut self, corner: Corner) -> Vec<i32> {
        let root = self.align(corner);
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
        let items = 0..proper.items() as u32;
        let members =
            Neighbours::new(proper.items(), items.clone().map(|item| (root[item as usize], item)));
        let mut waiting = vec![0_u32; proper.items()];
        for next in items.clone().filter_map(follow) {
            waiting[root[next as usize] as usize] += 1;
        }
        // A block's row is known once everything before its items is placed.
        let first = |&item: &u32| root[item as usize] == item && waiting[item as usize] == 0;
        let mut ready: Vec<u32> = items.filter(first).collect();
        let mut place = vec![0_i32; proper.items()];
        while let Some(block) = ready.pop() {
            for next in members.of(block).iter().filter_map(|&item| follow(item)) {
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

    /// The first item of each item's block.
    fn align(&mut self, corner: Corner) -> Vec<u32> {
        let mut root: Vec<u32> = (0..self.proper.items() as u32).collect();
        let mut taken = vec![false; self.proper.items()];
        let depth = self.order.layers.len();
        for step in 1..depth {
            let items = &self.order.layers[if corner.forward { step } else { depth - 1 - step }];
            let mut bound: Option<u32> = None;
            for index in 0..items.len() {
                let item = items[if corner.low { index } else { items.len() - 1 - index }];
                self.wishes(corner, item);
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

    /// Lists the neighbours an item may be aligned with, best first: firm pieces, then the middle ones.
    fn wishes(&mut self, corner: Corner, item: u32) {
        let (near, weight, barred) = if corner.forward {
            (&self.proper.up, &self.weights.up, &self.barred_up)
        } else {
            (&self.proper.down, &self.weights.down, &self.barred_down)
        };
        self.sorted.clear();
        self.choices.clear();
        for at in near.span(item) {
            // A barred piece keeps its place among the neighbours, as it counts for the middle, but not its item.
            let other = if barred[at] { u32::MAX } else { near.at(at) };
            self.sorted.push((self.order.position[near.at(at) as usize], other, weight[at]));
        }
        let Some(last) = self.sorted.len().checked_sub(1) else { return };
        self.sorted.sort_unstable();
        if !corner.low {
            self.sorted.reverse();
        }
        let firm = self.sorted.iter().filter(|entry| entry.2 >= Weights::FIRM);
        self.choices.extend(firm.map(|entry| entry.1));
        self.choices.extend([self.sorted[last / 2].1, self.sorted[last.div_ceil(2)].1]);
        self.choices.retain(|&other| other != u32::MAX);
    }
}

/// A set of firm pieces below one layer that do not cross each other, heaviest first chosen, as pairs of positions.
fn firm_pieces(
    proper: &Proper,
    order: &Order,
    weights: &Weights,
    items: &[u32],
) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for &item in items {
        for at in proper.down.span(item) {
            if weights.down[at] >= Weights::FIRM {
                let ends =
                    (order.position[item as usize], order.position[proper.down.at(at) as usize]);
                found.push((weights.down[at], ends));
            }
        }
    }
    found.sort_by_key(|&(weight, ends)| (std::cmp::Reverse(weight), ends));
    let mut kept: Vec<(u32, u32)> = Vec::new();
    for (_, ends) in found {
        if !crosses(&kept, ends) {
            let at = kept.partition_point(|&other| other < ends);
            kept.insert(at, ends);
        }
    }
    kept
}

/// Whether a piece crosses one of `kept`, which are sorted and do not cross each other.
fn crosses(kept: &[(u32, u32)], (upper, lower): (u32, u32)) -> bool {
    let before = kept.partition_point(|&(other, _)| other < upper);
    let after = kept.partition_point(|&(other, _)| other <= upper);
    before.checked_sub(1).is_some_and(|last| kept[last].1 > lower)
        || kept.get(after).is_some_and(|&(_, other)| other < lower)
}
