//! Slides blocks of aligned items to the row their edges want, as far as their neighbours leave room.

use super::super::ordering::Order;
use super::super::proper::Proper;
use super::Weights;

/// A bend costs as much as this many rows of height.
const BEND: u64 = 4;

/// What a set of rows costs: bends and vertical distance, by weight, and a little for height.
pub(super) fn cost(proper: &Proper, weights: &Weights, rows: &[i32]) -> u64 {
    let mut total = 0;
    for item in 0..proper.items() as u32 {
        for at in proper.down.span(item) {
            total +=
                piece(weights.down[at], rows[item as usize], rows[proper.down.at(at) as usize]);
        }
    }
    let (low, high) = (rows.iter().min(), rows.iter().max());
    total + 2 * u64::from(low.zip(high).map_or(0, |(low, high)| high.abs_diff(*low)))
}

fn piece(weight: u8, from: i32, to: i32) -> u64 {
    let distance = u64::from(from.abs_diff(to));
    u64::from(weight) * (distance + if distance == 0 { 0 } else { BEND })
}

/// Slides until nothing improves.
pub(super) fn settle(proper: &Proper, order: &Order, weights: &Weights, rows: &mut [i32]) {
    const PASSES: usize = 6;
    for pass in 0..PASSES {
        let mut blocks = straight_runs(proper, rows);
        if pass % 2 == 1 {
            blocks.reverse();
        }
        let mut moved = false;
        for block in &blocks {
            moved |= slide(proper, order, weights, rows, block);
        }
        if !moved {
            break;
        }
    }
}

/// Groups of items that straight pieces hold together, by row from the top.
fn straight_runs(proper: &Proper, rows: &[i32]) -> Vec<Vec<u32>> {
    let mut seen = vec![false; proper.items()];
    let mut runs = Vec::new();
    for first in 0..proper.items() as u32 {
        if std::mem::replace(&mut seen[first as usize], true) {
            continue;
        }
        let mut run = vec![first];
        let mut next = 0;
        while next < run.len() {
            let item = run[next];
            next += 1;
            for &near in proper.up.of(item).iter().chain(proper.down.of(item)) {
                if rows[near as usize] == rows[item as usize]
                    && !std::mem::replace(&mut seen[near as usize], true)
                {
                    run.push(near);
                }
            }
        }
        runs.push(run);
    }
    runs.sort_by_key(|run| rows[run[0] as usize]);
    runs
}

/// Moves one block to its best free row; returns whether it moved.
fn slide(
    proper: &Proper,
    order: &Order,
    weights: &Weights,
    rows: &mut [i32],
    block: &[u32],
) -> bool {
    const CANDIDATES: usize = 12;
    let here = rows[block[0] as usize];
    let (low, high) = room(proper, order, rows, block);
    let mut candidates = Vec::new();
    let mut links = Vec::new();
    for &item in block {
        let up = proper.up.span(item).map(|at| (weights.up[at], proper.up.at(at)));
        let down = proper.down.span(item).map(|at| (weights.down[at], proper.down.at(at)));
        for (weight, near) in up.chain(down) {
            let row = rows[near as usize];
            if row != here {
                links.push((weight, row));
                let row = row.clamp(low, high);
                if candidates.len() < CANDIDATES && !candidates.contains(&row) {
                    candidates.push(row);
                }
            }
        }
    }
    let price =
        |row: i32| links.iter().map(|&(weight, other)| piece(weight, row, other)).sum::<u64>();
    let Some(&best) = candidates.iter().min_by_key(|&&row| (price(row), row)) else {
        return false;
    };
    if price(best) >= price(here) {
        return false;
    }
    for &item in block {
        rows[item as usize] = best;
    }
    true
}

/// The rows a block can take without pushing another item.
fn room(proper: &Proper, order: &Order, rows: &[i32], block: &[u32]) -> (i32, i32) {
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
