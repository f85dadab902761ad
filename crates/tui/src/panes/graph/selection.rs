//! Moving the selection: along edges the way they go, inside a layer across.

use super::cache::GraphCache;
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

/// The task one step away from the selected one; without a selection the first task of the first layer.
pub(crate) fn neighbor_task(
    cache: &GraphCache,
    state: &SessionState,
    selected: Option<&TaskId>,
    step: GraphDirection,
) -> Option<TaskId> {
    let layout = &cache.revision_layout()?.layout;
    // Where edges go down, up and down go along them.
    let step = match (cache.flow, step) {
        (FlowDirection::Right, step) => step,
        (FlowDirection::Down, GraphDirection::Left) => GraphDirection::Up,
        (FlowDirection::Down, GraphDirection::Right) => GraphDirection::Down,
        (FlowDirection::Down, GraphDirection::Up) => GraphDirection::Left,
        (FlowDirection::Down, GraphDirection::Down) => GraphDirection::Right,
    };
    let node = match selected.and_then(|id| state.tasks.position(id)) {
        Some(task) => neighbor_index(layout, state, task, step)?,
        None => layout.layers.first()?.iter().copied().find_map(item_node)? as usize,
    };
    (node < state.tasks.len()).then(|| state.tasks.id(node).clone())
}

fn neighbor_index(
    layout: &Layout,
    state: &SessionState,
    task: usize,
    step: GraphDirection,
) -> Option<usize> {
    let place = layout.nodes.get(task)?;
    match step {
        GraphDirection::Left => nearest_row(layout, place.row, state.tasks.dependencies(task)),
        GraphDirection::Right => nearest_row(layout, place.row, state.tasks.dependents(task)),
        GraphDirection::Up | GraphDirection::Down => {
            let nodes: Vec<u32> = layout
                .layers
                .get(place.layer as usize)?
                .iter()
                .copied()
                .filter_map(item_node)
                .collect();
            let at = nodes.iter().position(|node| *node as usize == task)?;
            let next = if step == GraphDirection::Up { at.checked_sub(1)? } else { at + 1 };
            nodes.get(next).map(|node| *node as usize)
        }
    }
}

/// The task whose row is nearest; the upper one of two.
fn nearest_row(layout: &Layout, row: u32, tasks: impl Iterator<Item = usize>) -> Option<usize> {
    tasks
        .filter_map(|task| Some((layout.nodes.get(task)?, task)))
        .min_by_key(|(place, task)| (place.row.abs_diff(row), place.row, *task))
        .map(|(_, task)| task)
}

fn item_node(item: LayerItem) -> Option<u32> {
    match item {
        LayerItem::Node(node) => Some(node),
        LayerItem::Edge(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;

    fn walk(from: &str, steps: &[GraphDirection]) -> Vec<String> {
        let state = Fixture::release().approved().state();
        let mut cache = GraphCache::default();
        cache.update_layout(state.plan.current.as_deref());
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
        cache.update_layout(state.plan.current.as_deref());
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
        cache.update_layout(state.plan.current.as_deref());
        assert!(neighbor_task(&cache, &state, None, GraphDirection::Right).is_some());
    }
}
