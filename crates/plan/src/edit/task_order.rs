//! Which task comes before which by the links of a roadmap, so that an edit can keep all of it.

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::{LinkKind, NodeDependency, NodeTree, PlanNode, Roadmap, TaskId};

use super::EditError;
use super::draft::PlanEditDraft;

/// Who comes before whom, over any number of links and over the parts of phases.
#[derive(Debug)]
pub(super) struct TaskOrder {
    /// The leaves that come after a node, by its id.
    after: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// The leaves at or below a node.
    leaves: BTreeMap<TaskId, Vec<TaskId>>,
}

impl TaskOrder {
    pub(super) fn from_roadmap(roadmap: &Roadmap) -> Self {
        let tree = roadmap.node_tree();
        let leaves: BTreeMap<TaskId, Vec<TaskId>> = roadmap
            .nodes
            .iter()
            .map(|node| {
                let below = tree.leaves(&node.id);
                (node.id.clone(), below.into_iter().map(|leaf| leaf.id.clone()).collect())
            })
            .collect();
        let mut next: BTreeMap<&TaskId, Vec<&TaskId>> = BTreeMap::new();
        for link in roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS) {
            next.entry(&link.from).or_default().push(&link.to);
        }
        let after = roadmap.nodes.iter().map(|node| &node.id);
        let after = after.map(|id| (id.clone(), leaves_after(id, &tree, &next, &leaves))).collect();
        Self { after, leaves }
    }

    /// Whether all of one node comes before some of another.
    pub(super) fn precedes(&self, first: &TaskId, second: &TaskId) -> bool {
        let Some(after) = self.after.get(first) else { return false };
        self.leaves.get(second).is_some_and(|leaves| leaves.iter().any(|leaf| after.contains(leaf)))
    }

    /// All pairs of leaves of which the first comes before the second.
    fn pairs(&self) -> impl Iterator<Item = (&TaskId, &TaskId)> {
        let is_leaf = |id: &TaskId| {
            self.leaves.get(id).is_some_and(|below| below == std::slice::from_ref(id))
        };
        let leaves = self.after.iter().filter(move |(id, _)| is_leaf(id));
        leaves.flat_map(|(first, after)| after.iter().map(move |second| (first, second)))
    }
}

/// Follows the links of a node and of what holds it to every leaf behind them.
fn leaves_after(
    id: &TaskId,
    tree: &NodeTree<'_>,
    next: &BTreeMap<&TaskId, Vec<&TaskId>>,
    leaves: &BTreeMap<TaskId, Vec<TaskId>>,
) -> BTreeSet<TaskId> {
    let mut found: BTreeSet<TaskId> = BTreeSet::new();
    let mut seen: BTreeSet<TaskId> = BTreeSet::new();
    let mut open: Vec<TaskId> = vec![id.clone()];
    while let Some(node) = open.pop() {
        // What waits for a phase waits for each of its tasks.
        let mut holder = Some(node);
        while let Some(at) = holder {
            if !seen.insert(at.clone()) {
                break;
            }
            for to in next.get(&at).into_iter().flatten() {
                for leaf in leaves.get(*to).into_iter().flatten() {
                    if found.insert(leaf.clone()) {
                        open.push(leaf.clone());
                    }
                }
            }
            holder = tree.get(&at).and_then(|node| node.parent_id.clone());
        }
    }
    found.remove(id);
    found
}

/// What a move may change: the order of the moved node and of the siblings that it passes.
pub(super) struct MovedNode<'a> {
    pub(super) id: &'a TaskId,
    /// The siblings that it came after, in its lane; `None` if it leaves the lane.
    pub(super) came_after: Option<&'a [TaskId]>,
}

/// Keeps every order that a move is not about: what was implied over the links of the list gets links of its own. A
/// place that a link forbids is refused.
pub(super) fn keep_order(
    work: &mut PlanEditDraft<'_>,
    before: &TaskOrder,
    moved: &MovedNode<'_>,
) -> Result<(), EditError> {
    let Some(roadmap) = &work.roadmap else { return Ok(()) };
    let after = TaskOrder::from_roadmap(roadmap);
    require_place(work, roadmap, &after, moved)?;
    let dropped = dropped_pairs(roadmap, before, moved);
    let kept: BTreeSet<(&TaskId, &TaskId)> =
        before.pairs().filter(|pair| !dropped.contains(pair)).collect();
    if let Some((first, second)) = kept.iter().find(|(first, second)| after.precedes(second, first))
    {
        return Err(forbidden_place(work, first, second));
    }
    let missing = kept.iter().filter(|(first, second)| !after.precedes(first, second));
    let direct = missing.filter(|(first, second)| {
        let middle = before.after.get(*first).into_iter().flatten();
        let mut middle = middle.filter(|middle| middle != second);
        !middle.any(|middle| kept.contains(&(*first, middle)) && kept.contains(&(middle, *second)))
    });
    let links: Vec<NodeDependency> = direct
        .map(|(first, second)| NodeDependency::finish_to_start((*first).clone(), (*second).clone()))
        .collect();
    work.links_mut()?.extend(links);
    Ok(())
}

/// The list shows a row before what waits for it, never behind.
fn require_place(
    work: &PlanEditDraft<'_>,
    roadmap: &Roadmap,
    after: &TaskOrder,
    moved: &MovedNode<'_>,
) -> Result<(), EditError> {
    let lane = lane_of(roadmap, moved.id);
    let Some(at) = lane.iter().position(|id| id == moved.id) else { return Ok(()) };
    for earlier in &lane[..at] {
        if after.precedes(moved.id, earlier) {
            return Err(forbidden_place(work, moved.id, earlier));
        }
    }
    for later in &lane[at + 1..] {
        if after.precedes(later, moved.id) {
            return Err(forbidden_place(work, later, moved.id));
        }
    }
    Ok(())
}

/// The pairs whose order the move is about.
fn dropped_pairs<'a>(
    roadmap: &Roadmap,
    before: &'a TaskOrder,
    moved: &MovedNode<'_>,
) -> BTreeSet<(&'a TaskId, &'a TaskId)> {
    let own: BTreeSet<&TaskId> = before.leaves.get(moved.id).into_iter().flatten().collect();
    let Some(came_after) = moved.came_after else {
        let touches =
            |(first, second): &(&TaskId, &TaskId)| own.contains(first) || own.contains(second);
        return before.pairs().filter(touches).collect();
    };
    let lane = lane_of(roadmap, moved.id);
    let at = lane.iter().position(|id| id == moved.id).unwrap_or(0);
    let below = |ids: Vec<&TaskId>| -> BTreeSet<&'a TaskId> {
        ids.into_iter().flat_map(|id| before.leaves.get(id).into_iter().flatten()).collect()
    };
    let now_after = below(lane[at + 1..].iter().filter(|id| came_after.contains(id)).collect());
    let now_before = below(lane[..at].iter().filter(|id| !came_after.contains(id)).collect());
    let passed = |(first, second): &(&TaskId, &TaskId)| {
        own.contains(second) && now_after.contains(first)
            || own.contains(first) && now_before.contains(second)
    };
    before.pairs().filter(passed).collect()
}

/// The siblings of a node in its lane, with itself, in the order of the list.
pub(super) fn lane_of(roadmap: &Roadmap, id: &TaskId) -> Vec<TaskId> {
    let tree = roadmap.node_tree();
    let Some(node) = tree.get(id) else { return Vec::new() };
    let Some(parent) = &node.parent_id else { return Vec::new() };
    let in_lane = |other: &&PlanNode| other.stream == node.stream && other.recurrence.is_none();
    tree.children(parent).filter(in_lane).map(|other| other.id.clone()).collect()
}

fn forbidden_place(work: &PlanEditDraft<'_>, first: &TaskId, second: &TaskId) -> EditError {
    EditError::LinkForbids { first: work.title(first), second: work.title(second) }
}
