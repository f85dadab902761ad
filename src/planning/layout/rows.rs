//! Gives each item a row so that long edges and preferred edges run straight (after Brandes and Köpf).
//!
//! Items are aligned with a middle neighbour into blocks, blocks are packed, and blocks then slide to where their
//! edges want them. This is done from all four corners, and once
//! from rows without gaps, and the straightest result is kept.

use super::ordering::Order;
use super::proper::Proper;

mod blocks;
mod slide;

/// Rows for every item, starting at 0.
pub(super) fn assign(proper: &Proper, order: &Order) -> Vec<u32> {
    let weights = Weights::new(proper);
    let marked = blocks::conflicts(proper, order, &weights);
    let mut best: Option<(u64, Vec<i32>)> = None;
    let packed =
        blocks::CORNERS.map(|corner| blocks::pack(proper, order, &weights, &marked, corner));
    let plain = order.position.iter().map(|&at| at.cast_signed()).collect();
    for mut rows in packed.into_iter().chain([plain]) {
        slide::settle(proper, order, &weights, &mut rows);
        let cost = slide::cost(proper, &weights, &rows);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, rows));
        }
    }
    let rows = best.map(|(_, rows)| rows).unwrap_or_default();
    let first = rows.iter().min().copied().unwrap_or(0);
    rows.into_iter().map(|row| (row - first) as u32).collect()
}

/// How much each piece wants to be straight.
#[derive(Debug)]
pub(super) struct Weights {
    /// Parallel to the down lists of the graph.
    down: Vec<u8>,
    /// Parallel to the up lists of the graph.
    up: Vec<u8>,
}

impl Weights {
    /// From here on a piece counts as a line that others must not bend.
    const FIRM: u8 = 6;

    fn new(proper: &Proper) -> Self {
        let mut weights = Self { down: vec![1; proper.down.len()], up: vec![1; proper.up.len()] };
        for (chain, &straight) in proper.chains.iter().zip(&proper.straight) {
            for pair in chain.windows(2) {
                let dummies = pair.iter().filter(|&&item| proper.is_dummy(item)).count();
                let weight = if straight { 12 } else { [3, 2, Self::FIRM][dummies] };
                set(&mut weights.down, &proper.down, pair[0], pair[1], weight);
                set(&mut weights.up, &proper.up, pair[1], pair[0], weight);
            }
        }
        weights
    }
}

fn set(weights: &mut [u8], neighbours: &super::proper::Neighbours, from: u32, to: u32, weight: u8) {
    for at in neighbours.span(from) {
        if neighbours.at(at) == to {
            weights[at] = weight;
        }
    }
}
