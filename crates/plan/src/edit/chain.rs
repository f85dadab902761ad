//! The chain of siblings: a node that comes takes its place in it, and it closes over a node that goes.

use planwright_model::{
    LinkKind, LinkOrigin, NodeDependency, NodeTree, PatternType, PlanNode, Roadmap, TaskId,
};

use super::draft::PlanEditDraft;

/// Whether a link follows from the order of the plan and not from the person's word.
fn is_drafted(link: &NodeDependency) -> bool {
    link.origin != LinkOrigin::UserFeedback
}

fn is_chain_link(link: &NodeDependency) -> bool {
    is_drafted(link) && link.kind == LinkKind::FS
}

/// Closes the chain over a node that is about to be removed, and drops every link to it or to what is below it.
pub(super) fn remove_from_chain(work: &mut PlanEditDraft<'_>, id: &TaskId) {
    let Some(roadmap) = &mut work.roadmap else { return };
    let gone: Vec<TaskId> =
        roadmap.node_tree().subtree(id).into_iter().map(|node| node.id.clone()).collect();
    bridge_neighbors(roadmap, id, |_, _| true);
    roadmap.dependencies.retain(|link| !gone.contains(&link.from) && !gone.contains(&link.to));
}

/// Takes a node out of the chain of its siblings; links that the person drew stay.
pub(super) fn detach_from_chain(work: &mut PlanEditDraft<'_>, id: &TaskId) {
    let Some(roadmap) = &mut work.roadmap else { return };
    let tree = roadmap.node_tree();
    let Some(parent) = tree.get(id).and_then(|node| node.parent_id.clone()) else { return };
    let siblings: Vec<TaskId> = tree.children(&parent).map(|node| node.id.clone()).collect();
    let own = |link: &NodeDependency, other: &TaskId| is_drafted(link) && siblings.contains(other);
    bridge_neighbors(roadmap, id, own);
    roadmap.dependencies.retain(|link| {
        !(link.from == *id && own(link, &link.to) || link.to == *id && own(link, &link.from))
    });
}

/// What waited for the node waits for what the node waited for.
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
        let tied = |list: &[NodeDependency]| {
            list.iter().any(|link| link.from == first.from && link.to == second.to)
        };
        // A lag onto the start of what is gone means nothing to what came before it.
        if second.kind == LinkKind::FS && !related && !tied(links) && !tied(&bridges) {
            bridges.push(NodeDependency { from: first.from.clone(), ..(*second).clone() });
        }
    }
    roadmap.dependencies.extend(bridges);
}

/// Gives a node its place in the chain of its lane, if its lane is one.
pub(super) fn insert_into_chain(work: &mut PlanEditDraft<'_>, id: &TaskId) {
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
    // The milestone at the end keeps its own link: a rule asks for it.
    if !after.as_ref().is_some_and(|node| node.milestone) {
        roadmap.dependencies.retain(|link| !between(link));
    }
    let tie = |from: &TaskId, to: &TaskId| NodeDependency {
        from: from.clone(),
        to: to.clone(),
        ..like.clone()
    };
    let wanted = before
        .iter()
        .map(|before| tie(&before.id, id))
        .chain(after.iter().map(|after| tie(id, &after.id)));
    for link in wanted.collect::<Vec<_>>() {
        let there = |old: &NodeDependency| old.from == link.from && old.to == link.to;
        if !roadmap.dependencies.iter().any(there) && !would_close_loop(roadmap, &link) {
            roadmap.dependencies.push(link);
        }
    }
}

/// How the nodes of a lane follow each other: as its last pair does. None if they do not; one alone is followed plainly.
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

/// Whether the other direction already holds, so that a link would only close a loop.
fn would_close_loop(roadmap: &Roadmap, link: &NodeDependency) -> bool {
    let tree: NodeTree<'_> = roadmap.node_tree();
    let within = |id: &TaskId, top: &TaskId| id == top || tree.is_ancestor(top, id);
    roadmap
        .dependencies
        .iter()
        .any(|old| within(&old.from, &link.to) && within(&old.to, &link.from))
}
