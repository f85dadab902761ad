//! Properties of the layout over many small graphs.

use super::{GridPosition, LayerItem, Layout, LayoutGraph, layout_graph};
use crate::relayout_graph;
use proptest::prelude::*;

/// Any graph: self loops, repeats and cycles included.
fn any_graph() -> impl Strategy<Value = LayoutGraph> {
    (1_u32..40).prop_flat_map(|nodes| {
        prop::collection::vec((0..nodes, 0..nodes), 0..80)
            .prop_map(move |edges| LayoutGraph::new(nodes, edges))
    })
}

/// A graph without cycles, mostly connected.
fn dag() -> impl Strategy<Value = LayoutGraph> {
    (2_u32..40).prop_flat_map(|nodes| {
        let edge = (0..nodes - 1).prop_flat_map(move |source| (Just(source), source + 1..nodes));
        prop::collection::vec(edge, 0..90).prop_map(move |edges| LayoutGraph::new(nodes, edges))
    })
}

/// Returns the pieces between each layer and the next, by order.
fn pieces(layout: &Layout) -> Vec<Vec<(u32, u32)>> {
    let mut pieces = vec![Vec::new(); layout.layers.len()];
    for route in layout.edges.iter().filter(|route| route.drawn) {
        let mut from = layout.nodes[route.source as usize];
        for to in route.dummies.iter().copied().chain([layout.nodes[route.target as usize]]) {
            assert_eq!(to.layer, from.layer + 1, "a route takes every layer in turn");
            pieces[from.layer as usize].push((from.order, to.order));
            from = to;
        }
    }
    pieces
}

fn naive_crossings(layout: &Layout) -> u64 {
    let mut count = 0;
    for pieces in pieces(layout) {
        for (index, a) in pieces.iter().enumerate() {
            let opposite = |b: &&(u32, u32)| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1);
            count += pieces[index + 1..].iter().filter(opposite).count() as u64;
        }
    }
    count
}

/// Checks that layers, nodes and routes are consistent.
fn check(graph: &LayoutGraph, layout: &Layout) {
    assert_eq!(layout.nodes.len(), graph.node_count() as usize);
    assert_eq!(layout.edges.len(), graph.edges().len());
    let mut items = 0;
    for (layer, order) in layout.layers.iter().enumerate() {
        let places: Vec<GridPosition> = order
            .iter()
            .map(|&item| layout.item_position(item, layer as u32).expect("an item has a place"))
            .collect();
        for (at, place) in places.iter().enumerate() {
            assert_eq!((place.layer, place.order), (layer as u32, at as u32));
            assert!(place.row < layout.rows);
        }
        assert!(
            places.windows(2).all(|pair| pair[0].row < pair[1].row),
            "rows grow with the order"
        );
        items += order.iter().filter(|item| matches!(item, LayerItem::Node(_))).count();
    }
    assert_eq!(items, graph.node_count() as usize);
    for route in layout.edges.iter().filter(|route| route.drawn) {
        assert!(
            layout.nodes[route.source as usize].layer < layout.nodes[route.target as usize].layer
        );
    }
    assert_eq!(layout.crossings, naive_crossings(layout));
}

proptest! {
    // Each case lays out an entire graph, which is slow without optimization.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_graph_gets_a_consistent_layout(graph in any_graph()) {
        check(&graph, &layout_graph(&graph));
    }

    #[test]
    fn the_same_graph_gives_the_same_layout(graph in dag()) {
        prop_assert_eq!(layout_graph(&graph), layout_graph(&graph));
    }

    #[test]
    fn every_edge_of_an_acyclic_graph_is_drawn_once(graph in dag()) {
        let result = layout_graph(&graph);
        let distinct: std::collections::BTreeSet<_> = graph.edges().iter().collect();
        prop_assert_eq!(result.edges.iter().filter(|route| route.drawn).count(), distinct.len());
    }

    #[test]
    fn adding_a_leaf_moves_nothing(graph in dag(), under in any::<prop::sample::Index>()) {
        let before = layout_graph(&graph);
        let source = under.index(graph.node_count() as usize) as u32;
        let edges = graph.edges().iter().copied().chain([(source, graph.node_count())]);
        let larger = LayoutGraph::new(graph.node_count() + 1, edges);
        let was: Vec<Option<u32>> = (0..graph.node_count()).map(Some).chain([None]).collect();
        let after = relayout_graph(&before, &larger, &was);
        check(&larger, &after);
        for node in 0..graph.node_count() as usize {
            prop_assert_eq!((before.nodes[node].layer, before.nodes[node].row), (after.nodes[node].layer, after.nodes[node].row));
        }
    }

    #[test]
    fn adding_a_node_in_between_moves_only_its_descendants(graph in dag(), edge in any::<prop::sample::Index>()) {
        prop_assume!(!graph.edges().is_empty());
        let before = layout_graph(&graph);
        let (source, target) = graph.edges()[edge.index(graph.edges().len())];
        let edges = graph.edges().iter().copied().chain([(source, graph.node_count()), (graph.node_count(), target)]);
        let larger = LayoutGraph::new(graph.node_count() + 1, edges);
        let was: Vec<Option<u32>> = (0..graph.node_count()).map(Some).chain([None]).collect();
        let after = relayout_graph(&before, &larger, &was);
        check(&larger, &after);
        let follows = descendants(&graph, target);
        for node in (0..graph.node_count() as usize).filter(|&node| !follows[node]) {
            prop_assert_eq!((before.nodes[node].layer, before.nodes[node].row), (after.nodes[node].layer, after.nodes[node].row));
        }
    }

    #[test]
    fn removing_a_node_moves_nothing(graph in dag(), gone in any::<prop::sample::Index>()) {
        let before = layout_graph(&graph);
        let gone = gone.index(graph.node_count() as usize) as u32;
        let new = |node: u32| node - u32::from(node > gone);
        let edges = graph.edges().iter().filter(|e| e.0 != gone && e.1 != gone).map(|e| (new(e.0), new(e.1)));
        let smaller = LayoutGraph::new(graph.node_count() - 1, edges);
        let was: Vec<Option<u32>> = (0..graph.node_count()).filter(|&node| node != gone).map(Some).collect();
        let after = relayout_graph(&before, &smaller, &was);
        check(&smaller, &after);
        for (node, old) in was.iter().flatten().enumerate() {
            let old = before.nodes[*old as usize];
            prop_assert_eq!((old.layer, old.row), (after.nodes[node].layer, after.nodes[node].row));
        }
    }
}

/// A node and its transitive dependents.
fn descendants(graph: &LayoutGraph, from: u32) -> Vec<bool> {
    let mut found = vec![false; graph.node_count() as usize];
    found[from as usize] = true;
    // Edges of the generator go up, so one pass over sorted edges is enough.
    let mut edges = graph.edges().to_vec();
    edges.sort_unstable();
    for (source, target) in edges {
        if found[source as usize] {
            found[target as usize] = true;
        }
    }
    found
}

#[test]
fn extreme_graphs_are_laid_out() {
    let chain = LayoutGraph::new(1_000, (0..999).map(|node| (node, node + 1)));
    let dense = LayoutGraph::new(24, (0..24).flat_map(|a| (a + 1..24).map(move |b| (a, b))));
    let repeated = LayoutGraph::new(2, [(0, 1), (0, 1), (0, 1)]);
    let ring = LayoutGraph::new(3, [(0, 1), (1, 2), (2, 0), (1, 1), (0, 9)]);
    for graph in [
        LayoutGraph::default(),
        LayoutGraph::new(1, []),
        LayoutGraph::new(300, []),
        chain,
        dense,
        repeated,
        ring,
    ] {
        check(&graph, &layout_graph(&graph));
    }
}

#[test]
fn a_chain_is_one_straight_row() {
    let result = layout_graph(&LayoutGraph::new(50, (0..49).map(|node| (node, node + 1))));
    assert_eq!((result.rows, result.layers.len(), result.crossings), (1, 50, 0));
}

#[test]
fn a_late_dependency_is_placed_right_before_its_dependent() {
    let result = layout_graph(&LayoutGraph::new(5, [(0, 1), (1, 2), (2, 3), (4, 3)]));
    assert_eq!(result.nodes[4].layer, 2);
}

#[test]
fn disconnected_components_do_not_cross() {
    let edges = [(0, 2), (2, 4), (1, 3), (3, 5), (0, 4), (1, 5)];
    assert_eq!(layout_graph(&LayoutGraph::new(6, edges)).crossings, 0);
}

#[test]
fn relayout_of_the_same_graph_changes_nothing() {
    let graph =
        LayoutGraph::new(7, [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4), (5, 4), (6, 4)]);
    let before = layout_graph(&graph);
    let was: Vec<Option<u32>> = (0..7).map(Some).collect();
    assert_eq!(relayout_graph(&before, &graph, &was), before);
}
