//! Splits a graph into connected components, so that components never cross, and stacks the finished components.

use super::crossing_reduction::LayerOrder;
use super::layered_graph::{LayeredGraph, UsableEdge};
use super::{EdgeRoute, GridPosition, LayerItem, Layout, LayoutGraph};

/// A connected component with the mapping back to the original graph.
#[derive(Debug)]
pub(super) struct GraphComponent {
    pub(super) proper: LayeredGraph,
    nodes: Vec<u32>,
    edges: Vec<u32>,
}

/// A component whose items have their order and their rows.
#[derive(Debug)]
pub(super) struct ArrangedComponent {
    pub(super) part: GraphComponent,
    pub(super) order: LayerOrder,
    pub(super) rows: Vec<u32>,
}

/// Splits a graph into connected components, in the order of their first nodes. Each component starts in layer 0.
pub(super) fn split_components(graph: &LayoutGraph, edges: &[UsableEdge]) -> Vec<GraphComponent> {
    let labels = label_components(graph.nodes as usize, edges);
    let count = labels.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members: Vec<(Vec<u32>, Vec<UsableEdge>)> = vec![Default::default(); count];
    let mut local = vec![0_u32; labels.len()];
    for (node, &label) in labels.iter().enumerate() {
        let nodes = &mut members[label as usize].0;
        local[node] = nodes.len() as u32;
        nodes.push(node as u32);
    }
    for edge in edges {
        let label = labels[edge.source as usize] as usize;
        let (source, target) = (local[edge.source as usize], local[edge.target as usize]);
        members[label].1.push(UsableEdge { source, target, ..*edge });
    }
    members.into_iter().map(|(nodes, edges)| GraphComponent::new(nodes, &edges)).collect()
}

impl GraphComponent {
    fn new(nodes: Vec<u32>, edges: &[UsableEdge]) -> Self {
        let links: Vec<(u32, u32)> = edges.iter().map(|edge| (edge.source, edge.target)).collect();
        let ranks = super::ranks::assign_ranks(nodes.len(), &links);
        let straight = edges.iter().map(|edge| edge.straight).collect();
        let proper = LayeredGraph::new(&ranks, &links, straight);
        Self { proper, nodes, edges: edges.iter().map(|edge| edge.edge).collect() }
    }
}

/// Numbers the connected components by their first node.
fn label_components(nodes: usize, edges: &[UsableEdge]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..nodes as u32).collect();
    for edge in edges {
        let (a, b) = (find_root(&mut parent, edge.source), find_root(&mut parent, edge.target));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut labels = vec![u32::MAX; nodes];
    let mut next = 0;
    for node in 0..nodes as u32 {
        let top = find_root(&mut parent, node) as usize;
        if labels[top] == u32::MAX {
            labels[top] = next;
            next += 1;
        }
        labels[node as usize] = labels[top];
    }
    labels
}

fn find_root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}

/// Stacks the components, each as high as the ones above it allow, and translates the result back to the input's
/// indices.
pub(super) fn stack_components(
    graph: &LayoutGraph,
    edges: &[UsableEdge],
    parts: Vec<ArrangedComponent>,
) -> Layout {
    let mut result = blank_layout(graph, edges);
    let mut floor: Vec<u32> = Vec::new();
    for ArrangedComponent { part, order, rows } in parts {
        let depth = order.layers.len();
        floor.resize(floor.len().max(depth), 0);
        result.layers.resize(result.layers.len().max(depth), Vec::new());
        let offset = (0..depth)
            .filter_map(|layer| {
                Some(floor[layer].saturating_sub(rows[*order.layers[layer].first()? as usize]))
            })
            .max()
            .unwrap_or(0);
        place_component(&mut result, &part, &order, |item| rows[item as usize] + offset);
        for (layer, items) in order.layers.iter().enumerate() {
            if let Some(&last) = items.last() {
                floor[layer] = rows[last as usize] + offset + 1;
            }
        }
        result.crossings += order.crossings;
    }
    result.rows = floor.into_iter().max().unwrap_or(0);
    result
}

/// Creates a layout without any positions.
pub(super) fn blank_layout(graph: &LayoutGraph, edges: &[UsableEdge]) -> Layout {
    let mut routes: Vec<EdgeRoute> = graph
        .edges
        .iter()
        .map(|&(source, target)| EdgeRoute { source, target, ..EdgeRoute::default() })
        .collect();
    for edge in edges {
        routes[edge.edge as usize].drawn = true;
    }
    Layout {
        nodes: vec![GridPosition::default(); graph.nodes as usize],
        edges: routes,
        ..Layout::default()
    }
}

fn place_component(
    result: &mut Layout,
    part: &GraphComponent,
    order: &LayerOrder,
    row: impl Fn(u32) -> u32,
) {
    let mut places = vec![GridPosition::default(); part.proper.item_count()];
    for (layer, items) in order.layers.iter().enumerate() {
        for &item in items {
            let order = result.layers[layer].len() as u32;
            places[item as usize] = GridPosition { layer: layer as u32, order, row: row(item) };
            // Dummies are filled in below, where their edge is known.
            result.layers[layer]
                .push(LayerItem::Node(part.nodes.get(item as usize).copied().unwrap_or(0)));
        }
    }
    for (item, &node) in part.nodes.iter().enumerate() {
        result.nodes[node as usize] = places[item];
    }
    for (chain, &edge) in part.proper.chains.iter().zip(&part.edges) {
        for &dummy in &chain[1..chain.len() - 1] {
            let at = places[dummy as usize];
            result.layers[at.layer as usize][at.order as usize] = LayerItem::Edge(edge);
            result.edges[edge as usize].dummies.push(at);
        }
    }
}
