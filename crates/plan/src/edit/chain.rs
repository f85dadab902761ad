//! The chain of siblings: an added node is inserted into it, and the gap of a removed node is closed.

use planwright_model::{
    LinkKind, LinkOrigin, NodeDependency, NodeTree, PatternType, PlanNode, Roadmap, TaskId,
};

use super::draft::PlanEditDraft;
use super::task_order::lane_of;

/// Returns whether a link follows from the order of the plan rather than from the person's input.
fn is_drafted(link: &NodeDependency) -> bool {
    link.origin != LinkOrigin::UserFeedback
}

fn is_chain_link(link: &NodeDependency) -> bool {
    is_drafted(link) && link.kind == LinkKind::FS
}

/// Closes the gap of a node that is about to be removed, and drops every link to it or its descendants.
pub(super) fn remove_from_chain(work: &mut PlanEditDraft<'_>, id: &TaskId) {
    let Some(roadmap) = &mut work.roadmap else { return };
    let gone: Vec<TaskId> =
        roadmap.node_tree().subtree(id).into_iter().map(|node| node.id.clone()).collect();
    bridge_neighbors(roadmap, id, |_, _| true);
    roadmap.dependencies.retain(|link| !gone.contains(&link.from) && !gone.contains(&link.to));
}

/// Detaches a node from the chain of its siblings: only what follows from the order of the list goes, which are drafted
/// links to the rows right beside it. Every other link stays.
pub(super) fn detach_from_chain(work: &mut PlanEditDraft<'_>, id: &TaskId) {
    if !work.joins_chains {
        return;
    }
    let Some(roadmap) = &mut work.roadmap else { return };
    let lane = lane_of(roadmap, id);
    let Some(at) = lane.iter().position(|other| other == id) else { return };
    let beside: Vec<TaskId> = [at.checked_sub(1), Some(at + 1)]
        .into_iter()
        .flatten()
        .filter_map(|at| lane.get(at).cloned())
        .collect();
    let own = |link: &NodeDependency, other: &TaskId| is_chain_link(link) && beside.contains(other);
    bridge_neighbors(roadmap, id, own);
    roadmap.dependencies.retain(|link| {
        !(link.from == *id && own(link, &link.to) || link.to == *id && own(link, &link.from))
    });
}

/// Links the successors of the node to its predecessors.
fn bridge_neighbors(
    roadmap: &mut Roadmap,
    id: &TaskId,
    counts: impl Fn(&NodeDependency, &TaskId) -> bool,
) {
    let plain = |link: &&NodeDependency| link.kind == LinkKind::FS;
    let links = &roadmap.dependencies;
    let before: Vec<&NodeDependency> = links
        .iter()
        .filter(plain)
        .filter(|link| link.to == *id && counts(link, &link.from))
        .collect();
    let after: Vec<&NodeDependency> =
        links.iter().filter(|link| link.from == *id && counts(link, &link.to)).collect();
    let tree = roadmap.node_tree();
    let mut bridges: Vec<NodeDependency> = Vec::new();
    for (first, second) in
        before.iter().flat_map(|first| after.iter().map(move |second| (first, second)))
    {
        let related = first.from == second.to
            || tree.is_ancestor(&first.from, &second.to)
            || tree.is_ancestor(&second.to, &first.from);
        let linked = |list: &[NodeDependency]| {
            list.iter().any(|link| link.from == first.from && link.to == second.to)
        };
        // A lag relative to the start of a removed node is meaningless for its predecessors.
        if second.kind == LinkKind::FS && !related && !linked(links) && !linked(&bridges) {
            bridges.push(NodeDependency { from: first.from.clone(), ..(*second).clone() });
        }
    }
    roadmap.dependencies.extend(bridges);
}

/// Inserts a node into the chain of its lane, if the lane is a chain.
pub(super) fn insert_into_chain(work: &mut PlanEditDraft<'_>, id: &TaskId) {
    if !work.joins_chains {
        return;
    }
    let root = work.outline.root_id.clone();
    let Some(roadmap) = &mut work.roadmap else { return };
    let tree = roadmap.node_tree();
    let Some(node) = tree.get(id).filter(|node| node.recurrence.is_none()) else { return };
    let Some(parent) = node.parent_id.clone() else { return };
    let lane: Vec<&PlanNode> = tree
        .children(&parent)
        .filter(|sibling| sibling.stream == node.stream && sibling.recurrence.is_none())
        .collect();
    let Some(place) = lane.iter().position(|sibling| sibling.id == *id) else { return };
    let before = place.checked_sub(1).map(|place| lane[place].clone());
    let after = lane.get(place + 1).map(|node| (*node).clone());
    let rest: Vec<&TaskId> =
        lane.iter().map(|node| &node.id).filter(|other| *other != id).collect();
    let parallel = parent == root
        && roadmap
            .effective_pattern()
            .is_some_and(|spec| spec.pattern_type == PatternType::StrategicTransformation);
    let Some(like) = lane_link_template(roadmap, &rest).filter(|_| !parallel) else { return };
    let ends: Vec<&TaskId> = before.iter().chain(&after).map(|node| &node.id).collect();
    let between = |link: &NodeDependency| is_chain_link(link) && ends == [&link.from, &link.to];
    // The milestone at the end keeps its own link: a rule requires it.
    if !after.as_ref().is_some_and(|node| node.milestone) {
        roadmap.dependencies.retain(|link| !between(link));
    }
    let link_between = |from: &TaskId, to: &TaskId| NodeDependency {
        from: from.clone(),
        to: to.clone(),
        ..like.clone()
    };
    let wanted = before
        .iter()
        .map(|before| link_between(&before.id, id))
        .chain(after.iter().map(|after| link_between(id, &after.id)));
    for link in wanted.collect::<Vec<_>>() {
        let exists = |old: &NodeDependency| old.from == link.from && old.to == link.to;
        if !roadmap.dependencies.iter().any(exists) && !would_close_loop(roadmap, &link) {
            roadmap.dependencies.push(link);
        }
    }
}

/// Returns how the nodes of a lane follow each other, based on its last pair. `None` if they do not; a single node gets
/// a plain link.
fn lane_link_template(roadmap: &Roadmap, lane: &[&TaskId]) -> Option<NodeDependency> {
    let first = lane.first()?;
    if lane.len() == 1 {
        return Some(NodeDependency::finish_to_start((*first).clone(), (*first).clone()));
    }
    let linked = |pair: &[&TaskId]| {
        let found = |link: &&NodeDependency| {
            is_chain_link(link) && link.from == *pair[0] && link.to == *pair[1]
        };
        roadmap.dependencies.iter().find(found).cloned()
    };
    lane.windows(2).rev().find_map(linked)
}

/// Returns whether the opposite direction already exists, so that a link would close a cycle.
fn would_close_loop(roadmap: &Roadmap, link: &NodeDependency) -> bool {
    let tree: NodeTree<'_> = roadmap.node_tree();
    let within = |id: &TaskId, top: &TaskId| id == top || tree.is_ancestor(top, id);
    roadmap
        .dependencies
        .iter()
        .any(|old| within(&old.from, &link.to) && within(&old.to, &link.from))
}
