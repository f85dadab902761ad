//! Sweeps over the layers: each layer is sorted by the previous one, back and forth, and adjacent items are exchanged.

use super::crossing_reduction::{LayerOrder, OrderTieBreak};
use super::crossings::CrossingCounter;
use super::layered_graph::{AdjacencyLists, LayeredGraph};
use super::transposing::NeighborTransposer;

/// The direction of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SweepDirection {
    Down,
    Up,
}

/// Performs sweeps, reusing its working memory between calls.
#[derive(Debug)]
pub(super) struct LayerSweeper<'a> {
    proper: &'a LayeredGraph,
    transposer: NeighborTransposer<'a>,
    keyed: Vec<(f32, u32)>,
    /// Counts the work done, so that effort can be limited the same way on every machine.
    pub(super) work: u64,
}

impl<'a> LayerSweeper<'a> {
    pub(super) fn new(proper: &'a LayeredGraph) -> Self {
        Self { proper, transposer: NeighborTransposer::new(proper), keyed: Vec::new(), work: 0 }
    }

    /// Sweeps back and forth until it no longer helps, at most `rounds` times; leaves the best order found.
    pub(super) fn sweep_until_stable(
        &mut self,
        order: &mut LayerOrder,
        rounds: u32,
        counter: &mut CrossingCounter,
    ) {
        const PATIENCE: u32 = 4;
        order.count_crossings(self.proper, counter);
        let mut best = order.clone();
        let mut idle = 0;
        for round in 0..rounds {
            let tie_break = if round % 4 < 2 { OrderTieBreak::Keep } else { OrderTieBreak::Turn };
            self.sweep_layers(
                order,
                if round % 2 == 0 { SweepDirection::Down } else { SweepDirection::Up },
                tie_break,
            );
            order.count_crossings(self.proper, counter);
            self.work += self.transposer.transpose_layers(order, tie_break.opposite());
            idle += 1;
            if order.crossings < best.crossings {
                best.clone_from(order);
                idle = 0;
            }
            if best.crossings == 0 || idle > PATIENCE {
                break;
            }
        }
        *order = best;
    }

    /// One sweep over all layers.
    pub(super) fn sweep_layers(
        &mut self,
        order: &mut LayerOrder,
        sweep: SweepDirection,
        tie_break: OrderTieBreak,
    ) {
        let depth = order.layers.len();
        self.work += 50 * self.proper.item_count() as u64;
        match sweep {
            SweepDirection::Down => {
                (1..depth)
                    .for_each(|layer| self.sort_layer(order, layer, &self.proper.up, tie_break));
            }
            SweepDirection::Up => (0..depth - 1)
                .rev()
                .for_each(|layer| self.sort_layer(order, layer, &self.proper.down, tie_break)),
        }
    }

    /// Sorts one layer by the mean position of the neighbors; items without neighbors keep their positions.
    fn sort_layer(
        &mut self,
        order: &mut LayerOrder,
        layer: usize,
        neighbors: &AdjacencyLists,
        tie_break: OrderTieBreak,
    ) {
        self.keyed.clear();
        let items = &mut order.layers[layer];
        for &item in items.iter() {
            let near = neighbors.neighbors(item);
            if !near.is_empty() {
                let sum: u32 = near.iter().map(|&near| order.position[near as usize]).sum();
                self.keyed.push((sum as f32 / near.len() as f32, item));
            }
        }
        if tie_break == OrderTieBreak::Turn {
            self.keyed.reverse();
        }
        self.keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sorted = self.keyed.iter().map(|&(_, item)| item);
        for slot in items.iter_mut() {
            if !neighbors.neighbors(*slot).is_empty() {
                *slot = sorted.next().expect("one key for each item with neighbors");
            }
        }
        order.renumber_layer(layer);
    }
}
