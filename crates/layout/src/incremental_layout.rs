//! Lays out a changed graph so that unchanged parts keep their positions.

use super::layered_graph::{UsableEdge, topological_rank, usable_edges};
use super::{GridPosition, Layout, LayoutGraph, complete_layout, components};
use std::collections::{BTreeMap, BTreeSet};

/// Lays out `graph` based on an earlier layout. `was[n]` is the previous index of node `n`, or `None` for a new node.
///
/// A kept node keeps its layer unless a dependency is now in that layer, and its row unless its layer changed; a kept
/// edge keeps its route if both its ends kept their layers. Everything else gets the free rows nearest to its
/// neighbors. The result has a few more crossings than a new [`layout_graph`](super::layout_graph).
pub fn relayout_graph(previous: &Layout, graph: &LayoutGraph, was: &[Option<u32>]) -> Layout {
    let usable = usable_edges(graph);
    let earlier = |node: u32| -> Option<GridPosition> {
        let old = was.get(node as usize).copied().flatten()?;
        previous.nodes.get(old as usize).copied()
    };
    let layers = assign_layers(graph.nodes, &usable, earlier);
    let mut field =
        PartialLayout { result: components::blank_layout(graph, &usable), taken: BTreeSet::new() };
    let mut open: Vec<u32> = Vec::new();
    for node in 0..graph.nodes {
        let layer = layers[node as usize];
        field.result.nodes[node as usize].layer = layer;
        match earlier(node).filter(|at| at.layer == layer) {
            Some(at) => field.place_node(node, at.row),
            None => open.push(node),
        }
    }
    let kept = field.keep_edge_routes(previous, &usable, was, &open);
    field.place_open_nodes(open, &usable);
    for edge in usable.iter().filter(|edge| !kept.contains(&edge.edge)) {
        field.route_edge(edge);
    }
    complete_layout(field.result)
}

/// Keeps earlier layers where possible; nodes move only to stay behind their dependencies.
fn assign_layers(
    nodes: u32,
    edges: &[UsableEdge],
    earlier: impl Fn(u32) -> Option<GridPosition>,
) -> Vec<u32> {
    let rank = topological_rank(nodes as usize, edges);
    let mut order: Vec<u32> = (0..nodes).collect();
    order.sort_unstable_by_key(|&node| rank[node as usize]);
    let mut into = vec![Vec::new(); nodes as usize];
    let mut before_first = vec![u32::MAX; nodes as usize];
    for edge in edges {
        into[edge.target as usize].push(edge.source);
        if let Some(at) = earlier(edge.target) {
            let slot = &mut before_first[edge.source as usize];
            *slot = (*slot).min(at.layer.saturating_sub(1));
        }
    }
    let mut layers = vec![0; nodes as usize];
    for node in order {
        let after = into[node as usize].iter().map(|&source| layers[source as usize] + 1).max();
        // A new node without dependencies is placed right before its first dependent.
        let wanted = match (earlier(node), after, before_first[node as usize]) {
            (Some(at), _, _) => at.layer,
            (None, None, first) if first != u32::MAX => first,
            _ => 0,
        };
        layers[node as usize] = wanted.max(after.unwrap_or(0));
    }
    layers
}

/// A layout under construction, with the occupied positions.
struct PartialLayout {
    result: Layout,
    taken: BTreeSet<(u32, u32)>,
}

impl PartialLayout {
    fn place_node(&mut self, node: u32, row: u32) {
        let place = &mut self.result.nodes[node as usize];
        place.row = row;
        self.taken.insert((place.layer, row));
    }

    /// Keeps the routes of edges whose ends stayed in their layers; returns those edges.
    fn keep_edge_routes(
        &mut self,
        previous: &Layout,
        usable: &[UsableEdge],
        was: &[Option<u32>],
        open: &[u32],
    ) -> BTreeSet<u32> {
        let old: BTreeMap<(u32, u32), &Vec<GridPosition>> = previous
            .edges
            .iter()
            .filter(|route| route.drawn)
            .map(|route| ((route.source, route.target), &route.dummies))
            .collect();
        let open: BTreeSet<u32> = open.iter().copied().collect();
        let mut kept = BTreeSet::new();
        for edge in usable
            .iter()
            .filter(|edge| !open.contains(&edge.source) && !open.contains(&edge.target))
        {
            let ends = (was[edge.source as usize], was[edge.target as usize]);
            let (Some(source), Some(target)) = ends else {
                continue;
            };
            if let Some(dummies) = old.get(&(source, target)) {
                kept.insert(edge.edge);
                let rows = dummies.iter().map(|at| (at.layer, at.row));
                self.place_dummies(edge.edge, rows);
            }
        }
        kept
    }

    fn place_dummies(&mut self, edge: u32, places: impl Iterator<Item = (u32, u32)>) {
        let dummies = &mut self.result.edges[edge as usize].dummies;
        for (layer, row) in places {
            dummies.push(GridPosition { layer, row, order: u32::MAX });
            self.taken.insert((layer, row));
        }
    }

    /// Places the open nodes in the free rows nearest to the middle of their neighbors.
    fn place_open_nodes(&mut self, open: Vec<u32>, usable: &[UsableEdge]) {
        let mut waiting: BTreeSet<u32> = open.iter().copied().collect();
        for node in open {
            let mut rows: Vec<u32> = usable
                .iter()
                .filter_map(|edge| match (edge.source == node, edge.target == node) {
                    (true, _) => Some(edge.target),
                    (_, true) => Some(edge.source),
                    _ => None,
                })
                .filter(|near| !waiting.contains(near))
                .map(|near| self.result.nodes[near as usize].row)
                .collect();
            rows.sort_unstable();
            let layer = self.result.nodes[node as usize].layer;
            let below = || {
                self.taken
                    .range((layer, 0)..=(layer, u32::MAX))
                    .next_back()
                    .map_or(0, |last| last.1 + 1)
            };
            let wanted = rows.get(rows.len() / 2).copied().unwrap_or_else(below);
            let row = nearest_free_row(wanted, |row| !self.taken.contains(&(layer, row)));
            self.place_node(node, row);
            waiting.remove(&node);
        }
    }

    /// Routes an edge along one row that is free in all layers it passes, as near to both ends as possible.
    fn route_edge(&mut self, edge: &UsableEdge) {
        let source = self.result.nodes[edge.source as usize];
        let target = self.result.nodes[edge.target as usize];
        let between = source.layer + 1..target.layer;
        if between.is_empty() {
            return;
        }
        let row = nearest_free_row(target.row, |row| {
            between.clone().all(|layer| !self.taken.contains(&(layer, row)))
        });
        let other = nearest_free_row(source.row, |row| {
            between.clone().all(|layer| !self.taken.contains(&(layer, row)))
        });
        let length = |row: u32| row.abs_diff(source.row) + row.abs_diff(target.row);
        let row = if length(other) < length(row) { other } else { row };
        self.place_dummies(edge.edge, between.map(|layer| (layer, row)));
    }
}

/// Returns the free row nearest to `wanted`, the upper one of two.
fn nearest_free_row(wanted: u32, free: impl Fn(u32) -> bool) -> u32 {
    (0..)
        .flat_map(|distance| [wanted.checked_sub(distance), wanted.checked_add(distance)])
        .flatten()
        .find(|&row| free(row))
        .expect("rows below the drawing are free")
}
