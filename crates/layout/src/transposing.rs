//! Exchanges adjacent items in a layer while that removes crossings.

use super::crossing_reduction::{LayerOrder, OrderTieBreak};
use super::layered_graph::{AdjacencyLists, LayeredGraph};

/// Exchanges adjacent items, reusing its working memory between calls.
#[derive(Debug)]
pub(super) struct NeighborTransposer<'a> {
    proper: &'a LayeredGraph,
    up: Vec<u32>,
    down: Vec<u32>,
    /// Layers in which an exchange may help.
    stale: Vec<bool>,
    /// The work of the current call.
    work: u64,
}

impl<'a> NeighborTransposer<'a> {
    pub(super) fn new(proper: &'a LayeredGraph) -> Self {
        let (up, down) = (vec![0; proper.up.len()], vec![0; proper.down.len()]);
        Self { proper, up, down, stale: Vec::new(), work: 0 }
    }

    /// Exchanges adjacent items while that helps and returns the work done; `order` must have been counted. With
    /// `OrderTieBreak::Turn` it also makes exchanges that change nothing, which lets crossings move along a layer until
    /// two of them cancel out.
    pub(super) fn transpose_layers(
        &mut self,
        order: &mut LayerOrder,
        tie_break: OrderTieBreak,
    ) -> u64 {
        // Later passes gain little, and the next sweep would undo much of it.
        const PASSES: usize = 6;
        self.work = 0;
        self.stale.clear();
        self.stale.resize(order.layers.len(), false);
        for (layer, _) in order.between.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.stale[layer] = true;
            self.stale[layer + 1] = true;
        }
        for _ in 0..PASSES {
            let mut saved = 0;
            for layer in 0..order.layers.len() {
                if std::mem::replace(&mut self.stale[layer], false) {
                    saved += self.transpose_layer(order, layer, tie_break);
                }
            }
            order.crossings -= u64::from(saved);
            if saved == 0 {
                break;
            }
        }
        self.work
    }

    /// Runs one pass over a layer; returns the number of crossings removed.
    fn transpose_layer(
        &mut self,
        order: &mut LayerOrder,
        layer: usize,
        tie_break: OrderTieBreak,
    ) -> u32 {
        fill_sorted_ends(&self.proper.up, &mut self.up, order, layer);
        fill_sorted_ends(&self.proper.down, &mut self.down, order, layer);
        self.work += 50 * order.layers[layer].len() as u64;
        let (mut saved, mut changed) = (0, false);
        for at in 1..order.layers[layer].len() {
            let (first, second) = (order.layers[layer][at - 1], order.layers[layer][at]);
            let (now, then) = self.pair_crossings(first, second);
            if then < now || (tie_break == OrderTieBreak::Turn && now > 0 && then == now) {
                order.layers[layer].swap(at - 1, at);
                order.position[first as usize] = at as u32;
                order.position[second as usize] = at as u32 - 1;
                saved += now - then;
                changed = true;
            }
        }
        if changed {
            self.stale[layer] |= saved > 0;
            for near in [layer.wrapping_sub(1), layer + 1] {
                if let Some(stale) = self.stale.get_mut(near) {
                    *stale = true;
                }
            }
        }
        saved
    }

    /// Returns the crossings of two items in their current order, and after an exchange.
    fn pair_crossings(&self, first: u32, second: u32) -> (u32, u32) {
        let (up, down) = (&self.proper.up, &self.proper.down);
        let above = count_ordered_pairs(
            &self.up[up.neighbor_range(first)],
            &self.up[up.neighbor_range(second)],
        );
        let below = count_ordered_pairs(
            &self.down[down.neighbor_range(first)],
            &self.down[down.neighbor_range(second)],
        );
        (above.0 + below.0, above.1 + below.1)
    }
}

/// Fills `ends` with the sorted positions of each item's neighbors.
fn fill_sorted_ends(
    neighbors: &AdjacencyLists,
    ends: &mut [u32],
    order: &LayerOrder,
    layer: usize,
) {
    for &item in &order.layers[layer] {
        let span = &mut ends[neighbors.neighbor_range(item)];
        for (slot, &near) in span.iter_mut().zip(neighbors.neighbors(item)) {
            *slot = order.position[near as usize];
        }
        // Most items have one or two neighbors.
        match span {
            [] | [_] => {}
            [a, b] => (*a, *b) = ((*a).min(*b), (*a).max(*b)),
            _ => span.sort_unstable(),
        }
    }
}

/// Counts the pairs of ends with the first greater, and with the first smaller. Both lists are sorted.
fn count_ordered_pairs(first: &[u32], second: &[u32]) -> (u32, u32) {
    match (first, second) {
        ([], _) | (_, []) => return (0, 0),
        ([a], [b]) => return (u32::from(a > b), u32::from(a < b)),
        _ => {}
    }
    let (mut below, mut through, mut greater, mut smaller) = (0, 0, 0, 0);
    for &end in first {
        while below < second.len() && second[below] < end {
            below += 1;
        }
        while through < second.len() && second[through] <= end {
            through += 1;
        }
        greater += below as u32;
        smaller += (second.len() - through) as u32;
    }
    (greater, smaller)
}
