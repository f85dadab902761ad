//! Gives each item a row so that long edges and preferred edges run straight (after Brandes and Köpf).
//!
//! Items are aligned with a middle neighbour into blocks, blocks are packed, and blocks then slide to where their
//! edges want them. This is done from all four corners, and once
//! from rows without gaps, and the straightest result is kept.

use super::ordering::Order;
use super::proper::Proper;

mod blocks;
mod slide;

/// Passes to compare candidates by.
const GLANCE: usize = 1;

/// Passes for the candidate that was chosen.
const THOROUGH: usize = 6;

/// Rows for every item, starting at 0.
pub(super) fn assign(proper: &Proper, order: &Order) -> Vec<u32> {
    let weights = Weights::new(proper);
    let mut aligner = blocks::Aligner::new(proper, order, &weights);
    let packed = blocks::CORNERS.map(|corner| aligner.pack(corner));
    let plain = order.position.iter().map(|&at| at.cast_signed()).collect();
    let mut best: Option<(u64, Vec<i32>)> = None;
    for mut rows in packed.into_iter().chain([plain]) {
        slide::settle(proper, order, &weights, &mut rows, GLANCE);
        let cost = slide::cost(proper, &weights, &rows);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, rows));
        }
    }
    let mut rows = best.map(|(_, rows)| rows).unwrap_or_default();
    slide::settle(proper, order, &weights, &mut rows, THOROUGH);
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
    /// For edges that ask to be straight.
    const STRAIGHT: u8 = 12;

    fn new(proper: &Proper) -> Self {
        let items = 0..proper.items() as u32;
        let mut next_down: Vec<usize> =
            items.clone().map(|item| proper.down.span(item).start).collect();
        let mut next_up: Vec<usize> = items.map(|item| proper.up.span(item).start).collect();
        let mut weights = Self { down: vec![1; proper.down.len()], up: vec![1; proper.up.len()] };
        // The lists of neighbours were filled in the order of the chains, so the same walk meets them in turn.
        for (chain, &straight) in proper.chains.iter().zip(&proper.straight) {
            for pair in chain.windows(2) {
                let dummies = pair.iter().filter(|&&item| proper.is_dummy(item)).count();
                let weight = if straight { Self::STRAIGHT } else { [3, 2, Self::FIRM][dummies] };
                let (down, up) = (&mut next_down[pair[0] as usize], &mut next_up[pair[1] as usize]);
                weights.down[*down] = weight;
                weights.up[*up] = weight;
                *down += 1;
                *up += 1;
            }
        }
        weights
    }
}
