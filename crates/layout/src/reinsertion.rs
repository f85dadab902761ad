//! Takes a node out together with all its edges and puts it back where they cross the fewest others.
//!
//! For each edge of the node the best way through the layers is found by dynamic programming over the gaps between items,
//! so a long edge moves as a whole. The old place is among the choices: taking the best never adds crossings, apart
//! from crossings of the node's edges with each other, which share an end and need not cross.

use super::crossing_reduction::{LayerOrder, OrderTieBreak};
use super::layered_graph::{AdjacencyLists, LayeredGraph};

mod crossing_sums;

use crossing_sums::{GapSums, GapWindow, LANES, LayerTransition};

/// Position of an item that is taken out.
const REMOVED: u32 = u32::MAX;

/// Reinserts nodes, keeping its working memory between calls.
#[derive(Debug)]
pub(super) struct NodeReinserter<'a> {
    proper: &'a LayeredGraph,
    /// The chains that start or end at each node.
    chains: AdjacencyLists,
    /// For items that are taken out: the gap they stood in.
    gap: Vec<u32>,
    searches: Vec<EdgePathSearch>,
    insertions: Vec<PendingInsertion>,
    merged: Vec<u32>,
    /// Counts what was done, about in nanoseconds, so that effort can be limited the same way on every machine.
    pub(super) work: u64,
}

/// The search for one edge.
#[derive(Debug, Default)]
struct EdgePathSearch {
    chain: u32,
    /// For every step from the far end: the least crossings up to each gap, and the prices from there to the next.
    steps: Vec<(GapSums, [GapSums; LANES])>,
}

/// An item to be seated in a gap of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PendingInsertion {
    layer: u32,
    gap: u32,
    /// Its neighbour on the side away from the node.
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

    /// The layers between which the edges of a node run.
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

    /// Reinserts one node. Of equally good places it takes the first, or the last with `OrderTieBreak::Turn`: to move where nothing
    /// is gained opens ways for others.
    pub(super) fn reinsert_node(&mut self, order: &mut LayerOrder, node: u32, ties: OrderTieBreak) {
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
            if total < totals[best] || (ties == OrderTieBreak::Turn && total == totals[best]) {
                best = at;
            }
        }
        self.insert_node(order, node, window.first + best as u32, ties);
    }

    /// The layers that hold the node or a dummy of its edges.
    fn touched_layers(&self, node: u32) -> std::ops::RangeInclusive<usize> {
        let home = self.proper.layer[node as usize] as usize;
        let reach = self.reached_layers(node);
        (reach.start + 1).min(home)..=reach.end.saturating_sub(1).max(home)
    }

    /// Removes the node and the dummies of its edges, noting the gaps they leave.
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

    /// Finds the best way of one edge to every gap of the node's window; returns their crossings.
    fn search_edge_path(&mut self, order: &LayerOrder, node: u32, index: usize) -> GapSums {
        if self.searches.len() <= index {
            self.searches.push(EdgePathSearch::default());
        }
        let way = &mut self.searches[index];
        way.chain = self.chains.neighbors(node)[index];
        let trail = ChainView::new(self.proper, &self.gap, order, way.chain, node);
        let mut sums = trail
            .transition_from(0)
            .crossings_from_item(order.position[trail.item_at(0) as usize] as usize);
        way.steps
            .resize(way.steps.len().max(trail.step_count()), ([0; LANES], [[0; LANES]; LANES]));
        for step in 1..trail.step_count() {
            let (kept, prices) = &mut way.steps[step];
            *kept = sums;
            sums = trail.transition_from(step).advance_sums(trail.window_at(step), kept, prices);
            self.work += 300 + 4 * trail.layer_at(step).len() as u64;
        }
        self.work += 100 + 4 * trail.layer_at(0).len() as u64;
        sums
    }

    /// Puts the node in a gap of its layer and its dummies in the gaps that lead there best.
    fn insert_node(&mut self, order: &mut LayerOrder, node: u32, gap: u32, ties: OrderTieBreak) {
        let mut guests = std::mem::take(&mut self.insertions);
        guests.clear();
        for way in &self.searches[..self.chains.neighbors(node).len()] {
            let trail = ChainView::new(self.proper, &self.gap, order, way.chain, node);
            let mut at = gap;
            for step in (1..trail.step_count()).rev() {
                let (sums, prices) = &way.steps[step];
                let (here, gap) = (trail.window_at(step), at - trail.window_at(step + 1).first);
                at = here.first
                    + crossing_sums::best_origin_gap(here, sums, prices, gap as usize, ties);
                let item = trail.item_at(step);
                guests.push(PendingInsertion {
                    layer: self.proper.layer[item as usize],
                    gap: at,
                    away: trail.item_at(step - 1),
                    item,
                });
            }
        }
        let home = self.proper.layer[node as usize];
        guests.push(PendingInsertion { layer: home, gap, away: node, item: node });
        guests.sort_unstable();
        // From the far ends towards the node: dummies in one gap stand in the order of their neighbours on the far side.
        let (first, last) = self.touched_layers(node).into_inner();
        for layer in (first as u32..home).chain((home..=last as u32).rev()) {
            let start = guests.partition_point(|guest| guest.layer < layer);
            let end = guests.partition_point(|guest| guest.layer <= layer);
            guests[start..end]
                .sort_unstable_by_key(|guest| (guest.gap, order.position[guest.away as usize]));
            self.merge_into_layer(order, layer as usize, &guests[start..end]);
        }
        self.insertions = guests;
    }

    /// Merges guests into a layer.
    fn merge_into_layer(
        &mut self,
        order: &mut LayerOrder,
        layer: usize,
        guests: &[PendingInsertion],
    ) {
        self.merged.clear();
        let mut from = 0;
        for guest in guests {
            self.merged.extend_from_slice(&order.layers[layer][from..guest.gap as usize]);
            self.merged.push(guest.item);
            from = guest.gap as usize;
        }
        self.merged.extend_from_slice(&order.layers[layer][from..]);
        std::mem::swap(&mut order.layers[layer], &mut self.merged);
        order.renumber_layer(layer);
    }
}

/// A chain seen from its far end towards the node that is taken out.
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

    /// From the layer of a step to the layer of the next.
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
