//! Removes a node together with all its edges and reinserts it where they cross the fewest other edges.
//!
//! For each edge of the node the best path through the layers is found by dynamic programming over the gaps between
//! items, so a long edge moves as one. The old position is among the choices: taking the best never adds crossings,
//! apart from crossings of the node's edges with each other, which share an end and need not cross.

use super::crossing_reduction::{LayerOrder, OrderTieBreak};
use super::layered_graph::{AdjacencyLists, LayeredGraph};

mod crossing_sums;

use crossing_sums::{GapSums, GapWindow, LANES, LayerTransition};

/// Position of a removed item.
const REMOVED: u32 = u32::MAX;

/// Reinserts nodes, reusing its working memory between calls.
#[derive(Debug)]
pub(super) struct NodeReinserter<'a> {
    proper: &'a LayeredGraph,
    /// The chains that start or end at each node.
    chains: AdjacencyLists,
    /// For removed items: the gap they were in.
    gap: Vec<u32>,
    searches: Vec<EdgePathSearch>,
    insertions: Vec<PendingInsertion>,
    merged: Vec<u32>,
    /// Counts the work done, roughly in nanoseconds, so that effort can be limited the same search on every machine.
    pub(super) work: u64,
}

/// The search for one edge.
#[derive(Debug, Default)]
struct EdgePathSearch {
    chain: u32,
    /// For every step from the far end: the minimum crossings up to each gap, and the costs from there to the next.
    steps: Vec<(GapSums, [GapSums; LANES])>,
}

/// An item to be inserted into a gap of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PendingInsertion {
    layer: u32,
    gap: u32,
    /// Its neighbor on the side away from the node.
    away: u32,
    item: u32,
}

impl<'a> NodeReinserter<'a> {
    pub(super) fn new(proper: &'a LayeredGraph) -> Self {
        let ends = |(index, chain): (usize, &Vec<u32>)| {
            [(chain[0], index as u32), (chain[chain.len() - 1], index as u32)]
        };
        let pairs = proper.chains.iter().enumerate().flat_map(ends);
        Self {
            proper,
            chains: AdjacencyLists::new(proper.real, pairs),
            gap: vec![0; proper.item_count()],
            searches: Vec::new(),
            insertions: Vec::new(),
            merged: Vec::new(),
            work: 0,
        }
    }

    /// Returns the layers between which the edges of a node run.
    pub(super) fn reached_layers(&self, node: u32) -> std::ops::Range<usize> {
        let home = self.proper.layer[node as usize] as usize;
        let (mut first, mut last) = (home, home);
        for &chain in self.chains.neighbors(node) {
            let items = &self.proper.chains[chain as usize];
            first = first.min(self.proper.layer[items[0] as usize] as usize);
            last = last.max(self.proper.layer[items[items.len() - 1] as usize] as usize);
        }
        first..last
    }

    /// Reinserts one node. Of equally good positions it takes the first, or the last with `OrderTieBreak::Turn`: a move
    /// without gain may enable others.
    pub(super) fn reinsert_node(
        &mut self,
        order: &mut LayerOrder,
        node: u32,
        tie_break: OrderTieBreak,
    ) {
        let home = self.proper.layer[node as usize] as usize;
        self.remove_node(order, node);
        let window = GapWindow::around_gap(self.gap[node as usize], order.layers[home].len());
        let mut totals = [0_i32; LANES];
        for index in 0..self.chains.neighbors(node).len() {
            let sums = self.search_edge_path(order, node, index);
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total += i32::from(sum);
            }
        }
        let mut best = 0;
        for (at, &total) in totals[..window.len()].iter().enumerate() {
            if total < totals[best] || (tie_break == OrderTieBreak::Turn && total == totals[best]) {
                best = at;
            }
        }
        self.insert_node(order, node, window.first + best as u32, tie_break);
    }

    /// Returns the layers that contain the node or a dummy of its edges.
    fn touched_layers(&self, node: u32) -> std::ops::RangeInclusive<usize> {
        let home = self.proper.layer[node as usize] as usize;
        let reach = self.reached_layers(node);
        (reach.start + 1).min(home)..=reach.end.saturating_sub(1).max(home)
    }

    /// Removes the node and the dummies of its edges, recording the gaps they leave.
    fn remove_node(&mut self, order: &mut LayerOrder, node: u32) {
        order.position[node as usize] = REMOVED;
        for &chain in self.chains.neighbors(node) {
            let chain = &self.proper.chains[chain as usize];
            for &dummy in &chain[1..chain.len() - 1] {
                order.position[dummy as usize] = REMOVED;
            }
        }
        let touched = self.touched_layers(node);
        let LayerOrder { layers, position, .. } = order;
        for items in &mut layers[touched] {
            let mut stay = 0;
            items.retain(|&item| {
                let stays = position[item as usize] != REMOVED;
                let place =
                    if stays { &mut position[item as usize] } else { &mut self.gap[item as usize] };
                *place = stay;
                stay += u32::from(stays);
                stays
            });
        }
    }

    /// Finds the best path of one edge to every gap of the node's window; returns their crossings.
    fn search_edge_path(&mut self, order: &LayerOrder, node: u32, index: usize) -> GapSums {
        if self.searches.len() <= index {
            self.searches.push(EdgePathSearch::default());
        }
        let search = &mut self.searches[index];
        search.chain = self.chains.neighbors(node)[index];
        let chain = ChainView::new(self.proper, &self.gap, order, search.chain, node);
        let mut sums = chain
            .transition_from(0)
            .crossings_from_item(order.position[chain.item_at(0) as usize] as usize);
        search
            .steps
            .resize(search.steps.len().max(chain.step_count()), ([0; LANES], [[0; LANES]; LANES]));
        for step in 1..chain.step_count() {
            let (kept, costs) = &mut search.steps[step];
            *kept = sums;
            sums = chain.transition_from(step).advance_sums(chain.window_at(step), kept, costs);
            self.work += 300 + 4 * chain.layer_at(step).len() as u64;
        }
        self.work += 100 + 4 * chain.layer_at(0).len() as u64;
        sums
    }

    /// Inserts the node into a gap of its layer and its dummies into the gaps that lead there best.
    fn insert_node(
        &mut self,
        order: &mut LayerOrder,
        node: u32,
        gap: u32,
        tie_break: OrderTieBreak,
    ) {
        let mut pending = std::mem::take(&mut self.insertions);
        pending.clear();
        for search in &self.searches[..self.chains.neighbors(node).len()] {
            let chain = ChainView::new(self.proper, &self.gap, order, search.chain, node);
            let mut at = gap;
            for step in (1..chain.step_count()).rev() {
                let (sums, costs) = &search.steps[step];
                let (window, gap) = (chain.window_at(step), at - chain.window_at(step + 1).first);
                at = window.first
                    + crossing_sums::best_origin_gap(window, sums, costs, gap as usize, tie_break);
                let item = chain.item_at(step);
                pending.push(PendingInsertion {
                    layer: self.proper.layer[item as usize],
                    gap: at,
                    away: chain.item_at(step - 1),
                    item,
                });
            }
        }
        let home = self.proper.layer[node as usize];
        pending.push(PendingInsertion { layer: home, gap, away: node, item: node });
        pending.sort_unstable();
        // From the far ends toward the node: dummies in one gap follow the order of their neighbors on the far side.
        let (first, last) = self.touched_layers(node).into_inner();
        for layer in (first as u32..home).chain((home..=last as u32).rev()) {
            let start = pending.partition_point(|insertion| insertion.layer < layer);
            let end = pending.partition_point(|insertion| insertion.layer <= layer);
            pending[start..end].sort_unstable_by_key(|insertion| {
                (insertion.gap, order.position[insertion.away as usize])
            });
            self.merge_into_layer(order, layer as usize, &pending[start..end]);
        }
        self.insertions = pending;
    }

    /// Merges the pending insertions into a layer.
    fn merge_into_layer(
        &mut self,
        order: &mut LayerOrder,
        layer: usize,
        pending: &[PendingInsertion],
    ) {
        self.merged.clear();
        let mut from = 0;
        for insertion in pending {
            self.merged.extend_from_slice(&order.layers[layer][from..insertion.gap as usize]);
            self.merged.push(insertion.item);
            from = insertion.gap as usize;
        }
        self.merged.extend_from_slice(&order.layers[layer][from..]);
        std::mem::swap(&mut order.layers[layer], &mut self.merged);
        order.renumber_layer(layer);
    }
}

/// A chain seen from its far end toward the removed node.
struct ChainView<'a> {
    proper: &'a LayeredGraph,
    gap: &'a [u32],
    order: &'a LayerOrder,
    items: &'a [u32],
    ends_here: bool,
}

impl<'a> ChainView<'a> {
    fn new(
        proper: &'a LayeredGraph,
        gap: &'a [u32],
        order: &'a LayerOrder,
        chain: u32,
        node: u32,
    ) -> Self {
        let items = proper.chains[chain as usize].as_slice();
        Self { proper, gap, order, items, ends_here: items[items.len() - 1] == node }
    }

    fn step_count(&self) -> usize {
        self.items.len() - 1
    }

    fn item_at(&self, step: usize) -> u32 {
        if self.ends_here { self.items[step] } else { self.items[self.items.len() - 1 - step] }
    }

    fn layer_at(&self, step: usize) -> &'a [u32] {
        &self.order.layers[self.proper.layer[self.item_at(step) as usize] as usize]
    }

    fn window_at(&self, step: usize) -> GapWindow {
        GapWindow::around_gap(self.gap[self.item_at(step) as usize], self.layer_at(step).len())
    }

    /// Returns the transition from the layer of a step to the layer of the next.
    fn transition_from(&self, step: usize) -> LayerTransition<'a> {
        let near = if self.ends_here { &self.proper.down } else { &self.proper.up };
        LayerTransition {
            items: self.layer_at(step),
            near,
            positions: &self.order.position,
            to: self.window_at(step + 1),
        }
    }
}
