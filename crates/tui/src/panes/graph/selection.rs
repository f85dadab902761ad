//! Moving the selection: along edges the way they go, inside a layer across.

use super::cache::{GraphCache, RevisionLayout};
use planwright_layout::drawing::FlowDirection;
use planwright_layout::{LayerItem, Layout};
use planwright_model::TaskId;
use planwright_state::SessionState;

/// One step of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphDirection {
    Left,
    Right,
    Up,
    Down,
}

/// The task or folded group one step away from the selected one; without a selection the first box of the first layer.
pub(crate) fn neighbor_task(
    cache: &GraphCache,
    state: &SessionState,
    selected: Option<&TaskId>,
    step: GraphDirection,
) -> Option<TaskId> {
    let placed = cache.revision_layout()?;
    // Where edges go down, up and down go along them.
    let step = match (cache.flow, step) {
        (FlowDirection::Right, step) => step,
        (FlowDirection::Down, GraphDirection::Left) => GraphDirection::Up,
        (FlowDirection::Down, GraphDirection::Right) => GraphDirection::Down,
        (FlowDirection::Down, GraphDirection::Up) => GraphDirection::Left,
        (FlowDirection::Down, GraphDirection::Down) => GraphDirection::Right,
    };
    let selected = selected.and_then(|id| cache.node_of(id, state.tasks.position(id)));
    let node = match selected {
        Some(node) => neighbor_node(placed, node, step)?,
        None => placed.layout.layers.first()?.iter().copied().find_map(item_node)?,
    };
    cache.node_id(node).cloned()
}

fn neighbor_node(placed: &RevisionLayout, node: u32, step: GraphDirection) -> Option<u32> {
    let layout = &placed.layout;
    let place = layout.nodes.get(node as usize)?;
    let edges = placed.edges.iter();
    match step {
        GraphDirection::Left => {
            let before = edges.filter(|(_, to)| *to == node).map(|(from, _)| *from);
            nearest_row(layout, place.row, before)
        }
        GraphDirection::Right => {
            let after = edges.filter(|(from, _)| *from == node).map(|(_, to)| *to);
            nearest_row(layout, place.row, after)
        }
        GraphDirection::Up | GraphDirection::Down => {
            let layer = layout.layers.get(place.layer as usize)?.iter().copied();
            let nodes: Vec<u32> = layer.filter_map(item_node).collect();
            let at = nodes.iter().position(|other| *other == node)?;
            let next = if step == GraphDirection::Up { at.checked_sub(1)? } else { at + 1 };
            nodes.get(next).copied()
        }
    }
}

/// The box whose row is nearest; the upper one of two.
fn nearest_row(layout: &Layout, row: u32, nodes: impl Iterator<Item = u32>) -> Option<u32> {
    nodes
        .filter_map(|node| Some((layout.nodes.get(node as usize)?, node)))
        .min_by_key(|(place, node)| (place.row.abs_diff(row), place.row, *node))
        .map(|(_, node)| node)
}

fn item_node(item: LayerItem) -> Option<u32> {
    match item {
        LayerItem::Node(node) => Some(node),
        LayerItem::Edge(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::cache::{FoldRequest, GroupFolding};
    use super::super::groups::TaskGroups;
    use super::*;
    use crate::tests::fixture::Fixture;

    fn lay_out(cache: &mut GraphCache, state: &SessionState) {
        let (groups, none) = (TaskGroups::default(), HashSet::new());
        let folds = FoldRequest {
            groups: &groups,
            folding: GroupFolding::default(),
            folded: &none,
            opened: &none,
        };
        cache.update_layout(state.plan.current.as_deref(), folds);
    }

    fn walk(from: &str, steps: &[GraphDirection]) -> Vec<String> {
        let state = Fixture::release().approved().state();
        let mut cache = GraphCache::default();
        lay_out(&mut cache, &state);
        let mut at = TaskId::from(from);
        let mut seen = Vec::new();
        for step in steps {
            if let Some(next) = neighbor_task(&cache, &state, Some(&at), *step) {
                at = next;
            }
            seen.push(at.to_string());
        }
        seen
    }

    #[test]
    fn left_and_right_go_along_edges() {
        use GraphDirection::{Left, Right};
        assert_eq!(
            walk("audit", &[Right, Right, Right, Right]),
            ["api", "port", "tests", "publish"]
        );
        assert_eq!(walk("corpus", &[Left, Left, Left]), ["fuzz", "bench", "bench"]);
    }

    #[test]
    fn up_and_down_stay_in_the_layer_and_stop_at_its_ends() {
        let layer = walk(
            "api",
            &[
                GraphDirection::Up,
                GraphDirection::Up,
                GraphDirection::Down,
                GraphDirection::Down,
                GraphDirection::Down,
            ],
        );
        assert!(layer.iter().all(|id| ["api", "fuzz"].contains(&id.as_str())), "{layer:?}");
        assert!(layer.contains(&"fuzz".to_owned()));
    }

    #[test]
    fn where_edges_go_down_the_keys_turn_with_them() {
        let state = Fixture::release().approved().state();
        let mut cache = GraphCache::default();
        cache.flow = FlowDirection::Down;
        lay_out(&mut cache, &state);
        let from = TaskId::from("audit");
        let step = |from: &TaskId, step| neighbor_task(&cache, &state, Some(from), step);
        assert_eq!(step(&from, GraphDirection::Down), Some("api".into()));
        assert_eq!(step(&"api".into(), GraphDirection::Up), Some(from.clone()));
        let beside =
            [GraphDirection::Left, GraphDirection::Right].map(|way| step(&"api".into(), way));
        assert!(beside.contains(&Some("fuzz".into())), "{beside:?}");
    }

    #[test]
    fn the_first_move_selects_a_first_task() {
        let state = Fixture::release().approved().state();
        let mut cache = GraphCache::default();
        assert_eq!(neighbor_task(&cache, &state, None, GraphDirection::Right), None);
        lay_out(&mut cache, &state);
        assert!(neighbor_task(&cache, &state, None, GraphDirection::Right).is_some());
    }
}
