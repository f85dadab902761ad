//! Aligns items into blocks and packs the blocks towards one side.

use super::super::ordering::Order;
use super::super::proper::Proper;
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

/// Marks the pieces, by place in the down lists, that cross a firm piece and so must not be aligned.
pub(super) fn conflicts(proper: &Proper, order: &Order, weights: &Weights) -> Vec<bool> {
    let mut marked = vec![false; proper.down.len()];
    for items in &order.layers {
        let firm = firm_pieces(proper, order, weights, items);
        for &item in items {
            for at in proper.down.span(item) {
                let ends =
                    (order.position[item as usize], order.position[proper.down.at(at) as usize]);
                marked[at] = crosses(&firm, ends);
            }
        }
    }
    marked
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

/// Rows of all items: aligned with a middle neighbour where possible, packed as far as they go.
pub(super) fn pack(
    proper: &Proper,
    order: &Order,
    weights: &Weights,
    marked: &[bool],
    corner: Corner,
) -> Vec<i32> {
    let root = align(proper, order, weights, marked, corner);
    let mut rows = vec![i32::MIN; proper.items()];
    // Items are visited from the packed side; a block's row is known once all its items were pushed far enough, which
    // takes several rounds when blocks lean on each other, hence a worklist in dependency order.
    let follow = |item: u32| -> Option<u32> {
        let items = &order.layers[proper.layer[item as usize] as usize];
        let at = order.position[item as usize] as usize;
        if corner.low { items.get(at + 1).copied() } else { items.get(at.checked_sub(1)?).copied() }
    };
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); proper.items()];
    let mut waiting = vec![0_u32; proper.items()];
    for item in 0..proper.items() as u32 {
        members[root[item as usize] as usize].push(item);
        if let Some(next) = follow(item) {
            waiting[root[next as usize] as usize] += 1;
        }
    }
    let mut ready: Vec<u32> = (0..proper.items() as u32)
        .filter(|&item| root[item as usize] == item && waiting[item as usize] == 0)
        .collect();
    let mut place = vec![0_i32; proper.items()];
    while let Some(block) = ready.pop() {
        for &item in &members[block as usize] {
            rows[item as usize] = place[block as usize];
            let Some(next) = follow(item) else { continue };
            let next = root[next as usize] as usize;
            place[next] = place[next].max(place[block as usize] + 1);
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(next as u32);
            }
        }
    }
    if !corner.low {
        for row in &mut rows {
            *row = -*row;
        }
    }
    rows
}

/// The first item of each item's block.
fn align(
    proper: &Proper,
    order: &Order,
    weights: &Weights,
    marked: &[bool],
    corner: Corner,
) -> Vec<u32> {
    let mut root: Vec<u32> = (0..proper.items() as u32).collect();
    let mut taken = vec![false; proper.items()];
    let depth = order.layers.len();
    let mut choices = Vec::new();
    for step in 1..depth {
        let layer = if corner.forward { step } else { depth - 1 - step };
        let items = &order.layers[layer];
        let mut bound: Option<u32> = None;
        for index in 0..items.len() {
            let item = items[if corner.low { index } else { items.len() - 1 - index }];
            wishes(proper, order, weights, marked, corner, item, &mut choices);
            let free = choices.iter().find(|&&near| {
                let at = order.position[near as usize];
                let beyond =
                    bound.is_none_or(|bound| if corner.low { at > bound } else { at < bound });
                beyond && !taken[near as usize]
            });
            if let Some(&near) = free {
                taken[near as usize] = true;
                root[item as usize] = root[near as usize];
                bound = Some(order.position[near as usize]);
            }
        }
    }
    root
}

/// The neighbours an item may be aligned with, best first: a firm piece, then the middle ones.
fn wishes(
    proper: &Proper,
    order: &Order,
    weights: &Weights,
    marked: &[bool],
    corner: Corner,
    item: u32,
    choices: &mut Vec<u32>,
) {
    let (near, weight) =
        if corner.forward { (&proper.up, &weights.up) } else { (&proper.down, &weights.down) };
    let mut sorted: Vec<(u32, u32, u8)> = near
        .span(item)
        .map(|at| (order.position[near.at(at) as usize], near.at(at), weight[at]))
        .collect();
    sorted.sort_unstable();
    if !corner.low {
        sorted.reverse();
    }
    choices.clear();
    let Some(last) = sorted.len().checked_sub(1) else {
        return;
    };
    let firm = sorted.iter().filter(|entry| entry.2 >= Weights::FIRM);
    choices.extend(firm.map(|entry| entry.1));
    choices.extend([sorted[last / 2].1, sorted[last.div_ceil(2)].1]);
    choices.retain(|&other| {
        let (upper, lower) = if corner.forward { (other, item) } else { (item, other) };
        proper.down.span(upper).all(|at| proper.down.at(at) != lower || !marked[at])
    });
}
