//! Moving the selection: along edges the way they go, inside a layer across.

use super::cache::GraphCache;
use planwright_layout::drawing::Flow;
use planwright_layout::{Item, Layout};
use planwright_model::TaskId;
use planwright_state::SessionState;

/// One step of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Left,
    Right,
    Up,
    Down,
}

/// The task one step away from the selected one; without a selection the first task of the first layer.
pub(crate) fn moved(
    cache: &GraphCache,
    state: &SessionState,
    selected: Option<&TaskId>,
    step: Step,
) -> Option<TaskId> {
    let layout = &cache.placed()?.layout;
    // Where edges go down, up and down go along them.
    let step = match (cache.flow, step) {
        (Flow::Right, step) => step,
        (Flow::Down, Step::Left) => Step::Up,
        (Flow::Down, Step::Right) => Step::Down,
        (Flow::Down, Step::Up) => Step::Left,
        (Flow::Down, Step::Down) => Step::Right,
    };
    let node = match selected.and_then(|id| state.tasks.position(id)) {
        Some(task) => target(layout, state, task, step)?,
        None => layout.layers.first()?.iter().copied().find_map(node_of)? as usize,
    };
    (node < state.tasks.len()).then(|| state.tasks.id(node).clone())
}

fn target(layout: &Layout, state: &SessionState, task: usize, step: Step) -> Option<usize> {
    let place = layout.nodes.get(task)?;
    match step {
        Step::Left => nearest(layout, place.row, state.tasks.dependencies(task)),
        Step::Right => nearest(layout, place.row, state.tasks.dependents(task)),
        Step::Up | Step::Down => {
            let nodes: Vec<u32> = layout
                .layers
                .get(place.layer as usize)?
                .iter()
                .copied()
                .filter_map(node_of)
                .collect();
            let at = nodes.iter().position(|node| *node as usize == task)?;
            let next = if step == Step::Up { at.checked_sub(1)? } else { at + 1 };
            nodes.get(next).map(|node| *node as usize)
        }
    }
}

/// The task whose row is nearest; the upper one of two.
fn nearest(layout: &Layout, row: u32, tasks: impl Iterator<Item = usize>) -> Option<usize> {
    tasks
        .filter_map(|task| Some((layout.nodes.get(task)?, task)))
        .min_by_key(|(place, task)| (place.row.abs_diff(row), place.row, *task))
        .map(|(_, task)| task)
}

fn node_of(item: Item) -> Option<u32> {
    match item {
        Item::Node(node) => Some(node),
        Item::Edge(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;

    fn walk(from: &str, steps: &[Step]) -> Vec<String> {
        let state = Fixture::release().approved().state();
        let mut cache = GraphCache::default();
        cache.place(state.plan.current.as_deref());
        let mut at = TaskId::from(from);
        let mut seen = Vec::new();
        for step in steps {
            if let Some(next) = moved(&cache, &state, Some(&at), *step) {
                at = next;
            }
            seen.push(at.to_string());
        }
        seen
    }

    #[test]
    fn left_and_right_go_along_edges() {
        use Step::{Left, Right};
        assert_eq!(
            walk("audit", &[Right, Right, Right, Right]),
            ["api", "port", "tests", "publish"]
        );
        assert_eq!(walk("corpus", &[Left, Left, Left]), ["fuzz", "bench", "bench"]);
    }

    #[test]
    fn up_and_down_stay_in_the_layer_and_stop_at_its_ends() {
        let layer = walk("api", &[Step::Up, Step::Up, Step::Down, Step::Down, Step::Down]);
        assert!(layer.iter().all(|id| ["api", "bench"].contains(&id.as_str())), "{layer:?}");
        assert!(layer.contains(&"bench".to_owned()));
    }

    #[test]
    fn where_edges_go_down_the_keys_turn_with_them() {
        let state = Fixture::release().approved().state();
        let mut cache = GraphCache::default();
        cache.flow = Flow::Down;
        cache.place(state.plan.current.as_deref());
        let from = TaskId::from("audit");
        let step = |from: &TaskId, step| moved(&cache, &state, Some(from), step);
        assert_eq!(step(&from, Step::Down), Some("api".into()));
        assert_eq!(step(&"api".into(), Step::Up), Some(from.clone()));
        let beside = [Step::Left, Step::Right].map(|way| step(&"api".into(), way));
        assert!(beside.contains(&Some("bench".into())), "{beside:?}");
    }

    #[test]
    fn the_first_move_selects_a_first_task() {
        let state = Fixture::release().approved().state();
        let mut cache = GraphCache::default();
        assert_eq!(moved(&cache, &state, None, Step::Right), None);
        cache.place(state.plan.current.as_deref());
        assert!(moved(&cache, &state, None, Step::Right).is_some());
    }
}
