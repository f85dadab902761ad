//! Gives each item a row so that long edges and preferred edges run straight (after Brandes and Köpf).
//!
//! Items are aligned with a middle neighbour into blocks, blocks are packed, and blocks then slide to where their
//! edges want them. This is done from all four corners, and once
//! from rows without gaps, and the straightest result is kept.

use super::crossing_reduction::LayerOrder;
use super::layered_graph::LayeredGraph;

mod block_alignment;
mod block_sliding;

/// Passes to compare candidates by.
const COMPARISON_PASSES: usize = 1;

/// Passes for the candidate that was chosen.
const FINAL_PASSES: usize = 6;

/// Rows for every item, starting at 0.
pub(super) fn assign_rows(proper: &LayeredGraph, order: &LayerOrder) -> Vec<u32> {
    let weights = StraightnessWeights::new(proper);
    let mut aligner = block_alignment::BlockAligner::new(proper, order, &weights);
    let packed = block_alignment::CORNERS.map(|corner| aligner.pack_blocks(corner));
    let plain = order.position.iter().map(|&at| at.cast_signed()).collect();
    let mut best: Option<(u64, Vec<i32>)> = None;
    for mut rows in packed.into_iter().chain([plain]) {
        block_sliding::slide_blocks(proper, order, &weights, &mut rows, COMPARISON_PASSES);
        let cost = block_sliding::rows_cost(proper, &weights, &rows);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, rows));
        }
    }
    let mut rows = best.map(|(_, rows)| rows).unwrap_or_default();
    block_sliding::slide_blocks(proper, order, &weights, &mut rows, FINAL_PASSES);
    let first = rows.iter().min().copied().unwrap_or(0);
    rows.into_iter().map(|row| (row - first) as u32).collect()
}

/// How much each piece wants to be straight.
#[derive(Debug)]
pub(super) struct StraightnessWeights {
    /// Parallel to the down lists of the graph.
    down: Vec<u8>,
    /// Parallel to the up lists of the graph.
    up: Vec<u8>,
}

impl StraightnessWeights {
    /// From here on a piece counts as a line that others must not bend.
    const FIRM: u8 = 6;
    /// For edges that ask to be straight.
    const STRAIGHT: u8 = 12;

    fn new(proper: &LayeredGraph) -> Self {
        let items = 0..proper.item_count() as u32;
        let mut next_down: Vec<usize> =
            items.clone().map(|item| proper.down.neighbor_range(item).start).collect();
        let mut next_up: Vec<usize> =
            items.map(|item| proper.up.neighbor_range(item).start).collect();
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
