//! Places a task graph on a grid: every node gets a layer and a row, every edge a row in each layer it passes.
//!
//! The layout is layered (Sugiyama): ranks, dummies for long edges, crossing reduction, straight rows. It is a pure
//! function of its input and independent of box sizes and characters; [`crate::drawing`] turns the grid into cells.
//! Rows are abstract: two items of one layer never share a row, and equal rows in two layers form one straight line.

mod components;
mod crossing_reduction;
mod crossings;
pub mod drawing;
mod incremental_layout;
mod layered_graph;
mod ranks;
mod reinsertion;
mod row_assignment;
mod row_saving;
mod sweeping;
#[cfg(test)]
mod tests;
mod transposing;

pub use incremental_layout::relayout_graph;

/// A directed graph to lay out. The node order is the caller's own order and decides ties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutGraph {
    nodes: u32,
    edges: Vec<(u32, u32)>,
    straight: Vec<bool>,
}

impl LayoutGraph {
    /// Makes a graph of `nodes` nodes. Edges go from a dependency to its dependent.
    ///
    /// Self loops, edges to unknown nodes and edges that would close a cycle are kept but not laid out.
    pub fn new(nodes: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let edges: Vec<_> = edges.into_iter().collect();
        let straight = vec![false; edges.len()];
        Self { nodes, edges, straight }
    }

    /// Gives these edges, by index, priority for being straight: usually the critical path.
    pub fn prefer_straight(mut self, edges: impl IntoIterator<Item = u32>) -> Self {
        for edge in edges {
            if let Some(slot) = self.straight.get_mut(edge as usize) {
                *slot = true;
            }
        }
        self
    }

    /// Number of nodes.
    pub fn node_count(&self) -> u32 {
        self.nodes
    }

    /// The edges as given.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }
}

/// The element at one position of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LayerItem {
    /// A node of the graph.
    Node(u32),
    /// An edge, by index, that passes through the layer.
    Edge(u32),
}

/// A position on the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GridPosition {
    /// Distance from the left (or the top, when drawn downwards).
    pub layer: u32,
    /// Position among the items of the layer.
    pub order: u32,
    /// Grid row; unique within the layer and increasing with `order`.
    pub row: u32,
}

/// The route of one edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeRoute {
    /// The node where the edge starts.
    pub source: u32,
    /// The node where the edge ends; always in a later layer when `drawn`.
    pub target: u32,
    /// False for edges that cannot be laid out: self loops, unknown nodes, cycles, and repeats of another edge.
    pub drawn: bool,
    /// One position for each layer strictly between source and target.
    pub dummies: Vec<GridPosition>,
}

/// A finished layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The items of each layer, from the top.
    pub layers: Vec<Vec<LayerItem>>,
    /// One position per node.
    pub nodes: Vec<GridPosition>,
    /// One route per edge, in input order.
    pub edges: Vec<EdgeRoute>,
    /// Pairs of edge pieces between adjacent layers whose ends are in strictly opposite order.
    pub crossings: u64,
    /// Number of grid rows in use.
    pub rows: u32,
}

impl Layout {
    /// Returns the position of an item in `layer`, if it is there.
    pub fn item_position(&self, item: LayerItem, layer: u32) -> Option<GridPosition> {
        match item {
            LayerItem::Node(node) => self.nodes.get(node as usize).copied(),
            LayerItem::Edge(edge) => {
                let route = self.edges.get(edge as usize)?;
                let first = self.nodes.get(route.source as usize)?.layer + 1;
                route.dummies.get(layer.checked_sub(first)? as usize).copied()
            }
        }
    }
}

/// Computes a new layout of a graph.
pub fn layout_graph(graph: &LayoutGraph) -> Layout {
    let usable = layered_graph::usable_edges(graph);
    let parts = components::split_components(graph, &usable)
        .into_iter()
        .map(|part| {
            let mut order = crossing_reduction::minimize_crossings(&part.proper);
            order.restore_input_direction(&part.proper);
            let rows = row_assignment::assign_rows(&part.proper, &order);
            let (order, rows) = row_saving::save_rows(&part.proper, order, rows);
            components::ArrangedComponent { part, order, rows }
        })
        .collect();
    components::stack_components(graph, &usable, parts)
}

/// Fills in order, layers, rows and crossings of a layout whose nodes and dummies have their layers and rows.
fn complete_layout(mut result: Layout) -> Layout {
    let mut layers: Vec<Vec<(u32, LayerItem)>> = Vec::new();
    let mut put = |at: &GridPosition, item: LayerItem| {
        let layer = at.layer as usize;
        layers.resize(layers.len().max(layer + 1), Vec::new());
        layers[layer].push((at.row, item));
    };
    result.nodes.iter().enumerate().for_each(|(node, at)| put(at, LayerItem::Node(node as u32)));
    for (edge, route) in result.edges.iter().enumerate() {
        route.dummies.iter().for_each(|at| put(at, LayerItem::Edge(edge as u32)));
    }
    for items in &mut layers {
        items.sort_unstable_by_key(|entry| entry.0);
        for (order, &(row, item)) in items.iter().enumerate() {
            result.rows = result.rows.max(row + 1);
            let place = match item {
                LayerItem::Node(node) => &mut result.nodes[node as usize],
                LayerItem::Edge(edge) => {
                    let dummies = &mut result.edges[edge as usize].dummies;
                    dummies
                        .iter_mut()
                        .find(|at| at.order == u32::MAX)
                        .expect("a dummy was counted for each layer")
                }
            };
            place.order = order as u32;
        }
    }
    result.layers =
        layers.into_iter().map(|items| items.into_iter().map(|(_, item)| item).collect()).collect();
    result.crossings = crossings::count_layout_crossings(&result);
    result
}
