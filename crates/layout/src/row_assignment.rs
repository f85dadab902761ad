//! Assigns each item a row so that long edges and preferred edges are straight (based on Brandes and Köpf 2002).
//!
//! Items are aligned with a middle neighbor into blocks, blocks are packed, and blocks then slide to the rows preferred
//! by their edges. This is done from all four corners, and once from rows without gaps, and the straightest result is
//! kept.

use super::crossing_reduction::LayerOrder;
use super::layered_graph::LayeredGraph;

mod block_alignment;
mod block_sliding;

/// Sliding passes before candidates are compared.
const COMPARISON_PASSES: usize = 1;

/// Sliding passes for the chosen candidate.
const FINAL_PASSES: usize = 6;

/// Returns a row for every item, starting at 0.
pub(super) fn assign_rows(proper: &LayeredGraph, order: &LayerOrder) -> Vec<u32> {
    let weights = StraightnessWeights::new(proper);
    let mut aligner = block_alignment::BlockAligner::new(proper, order, &weights);
    // Each corner favors one side. The candidates are compared after one sliding pass, and only the best is refined
    // further.
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

/// How important it is that each piece is straight.
#[derive(Debug)]
pub(super) struct StraightnessWeights {
    /// Parallel to the down lists of the graph.
    down: Vec<u8>,
    /// Parallel to the up lists of the graph.
    up: Vec<u8>,
}

impl StraightnessWeights {
    /// From this weight on a piece is a line that others must not bend.
    const FIRM: u8 = 6;
    /// The weight of edges that should be straight.
    const STRAIGHT: u8 = 12;

    fn new(proper: &LayeredGraph) -> Self {
        let items = 0..proper.item_count() as u32;
        let mut next_down: Vec<usize> =
            items.clone().map(|item| proper.down.neighbor_range(item).start).collect();
        let mut next_up: Vec<usize> =
            items.map(|item| proper.up.neighbor_range(item).start).collect();
        let mut weights = Self { down: vec![1; proper.down.len()], up: vec![1; proper.up.len()] };
        // The lists of neighbors were filled in the order of the chains, so the same traversal visits them in order.
        for (chain, &straight) in proper.chains.iter().zip(&proper.straight) {
            for pair in chain.windows(2) {
                // Pieces between two dummies are the inner segments of Brandes and Köpf: a long edge should bend only
                // at its ends.
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
