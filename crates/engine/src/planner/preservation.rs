//! What a new draft must keep from the one before it: locked nodes, and what the person changed by hand.

use std::collections::BTreeSet;

use planwright_model::{
    LinkKind, LinkOrigin, NodeDependency, NodeOrigin, NodeTree, PlanNode, PlanOutline, Roadmap,
    TaskId,
};

/// Locked nodes that a draft changed or left out.
pub(super) fn broken_locks(
    before: &PlanOutline,
    after: &PlanOutline,
    locked: &BTreeSet<TaskId>,
) -> Vec<TaskId> {
    let differs = |id: &&TaskId| match (before.find_node(id), after.find_node(id)) {
        (Some(old), Some(new)) => old != new,
        (Some(_), None) => true,
        (None, _) => false,
    };
    locked.iter().filter(differs).cloned().collect()
}

/// Puts locked nodes back as they were, under their parent where it still is, else under the goal.
pub(super) fn restore_locked_nodes(
    before: &PlanOutline,
    after: &mut PlanOutline,
    locked: &BTreeSet<TaskId>,
) {
    for id in locked {
        let Some(old) = before.find_node(id).cloned() else { continue };
        if let Some(node) = after.nodes.iter_mut().find(|node| node.id == *id) {
            *node = old;
        } else {
            let mut kept = old;
            let known = kept
                .parent_id
                .as_ref()
                .and_then(|parent| after.find_node(parent))
                .map(|parent| (parent.id.clone(), parent.level));
            let (parent, level) = known.unwrap_or_else(|| {
                let root = after.find_node(&after.root_id).map_or(1, |root| root.level);
                (after.root_id.clone(), root)
            });
            let siblings = NodeTree::new(&after.nodes);
            let last = siblings
                .children(&parent)
                .filter(|node| node.stream == kept.stream)
                .map(|node| node.position + 1)
                .max();
            kept.position = last.unwrap_or(0);
            kept.parent_id = Some(parent);
            kept.level = level + 1;
            after.nodes.push(kept);
        }
    }
}

/// Puts locked nodes of a roadmap back as they were, with the links between what is there: a lock holds for estimates
/// and for who does it as well.
pub(super) fn restore_locked_roadmap(
    before: Option<&Roadmap>,
    after: &mut Roadmap,
    locked: &BTreeSet<TaskId>,
) {
    let Some(before) = before else { return };
    for old in before.nodes.iter().filter(|node| locked.contains(&node.id)) {
        if let Some(node) = after.nodes.iter_mut().find(|node| node.id == old.id) {
            *node = old.clone();
            continue;
        }
        let known = |id: &TaskId| after.nodes.iter().any(|node| node.id == *id);
        if !old.parent_id.as_ref().is_some_and(known) {
            continue;
        }
        let links = before.dependencies.iter().filter(|link| {
            link.from == old.id && known(&link.to) || link.to == old.id && known(&link.from)
        });
        let links: Vec<_> = links.cloned().collect();
        after.dependencies.extend(links);
        after.nodes.push(old.clone());
    }
}

/// Carries over into a rebuilt roadmap what the person decided: estimates, who does a leaf, and links of their own.
pub(super) fn carry_over_decisions(
    outline: &PlanOutline,
    before: Option<&Roadmap>,
    after: &mut Roadmap,
) {
    let by_person = |node: &&planwright_model::PlanNode| node.origin == NodeOrigin::UserFeedback;
    let earlier = before.map(|roadmap| roadmap.nodes.as_slice()).unwrap_or_default();
    for old in outline.nodes.iter().chain(earlier).filter(by_person) {
        let Some(node) = after.nodes.iter_mut().find(|node| node.id == old.id) else { continue };
        if old.estimate_minutes.is_some() {
            node.estimate_minutes = old.estimate_minutes;
        }
        node.run.clone_from(&old.run);
        node.origin = NodeOrigin::UserFeedback;
    }
    let present: BTreeSet<TaskId> = after.nodes.iter().map(|node| node.id.clone()).collect();
    let own = before.into_iter().flat_map(|roadmap| &roadmap.dependencies).filter(|link| {
        link.origin == LinkOrigin::UserFeedback
            && present.contains(&link.from)
            && present.contains(&link.to)
    });
    for link in own {
        after.dependencies.retain(|known| (&known.from, &known.to) != (&link.from, &link.to));
        after.dependencies.push(link.clone());
    }
}

/// Makes another version out of the present roadmap: what both have stays as it is, with every link that the person or
/// an edit gave it. Only what the version adds or leaves out differs, and rows of the person are never left out.
/// `false` if the roadmap is not of this outline, so that nothing can be taken over from it.
pub(super) fn carry_over_version(
    outline: &PlanOutline,
    before: &Roadmap,
    after: &mut Roadmap,
    locked: &BTreeSet<TaskId>,
) -> bool {
    let known = |id: &TaskId| before.find_node(id).is_some();
    if outline.nodes.iter().any(|node| !known(&node.id) && !node.optional) {
        return false;
    }
    let new: Vec<PlanNode> = after.nodes.iter().filter(|node| !known(&node.id)).cloned().collect();
    let stays = |node: &PlanNode| {
        after.find_node(&node.id).is_some()
            || node.origin == NodeOrigin::UserFeedback
            || locked.contains(&node.id)
    };
    let (kept, gone): (Vec<&PlanNode>, Vec<&PlanNode>) =
        before.nodes.iter().partition(|node| stays(node));
    let mut links = before.dependencies.clone();
    for node in gone {
        links = bridge_over(links, &node.id);
    }
    let added = |id: &TaskId| new.iter().any(|node| node.id == *id);
    let drafted = after.dependencies.iter().filter(|link| added(&link.from) || added(&link.to));
    links.extend(drafted.cloned());
    after.nodes = kept.into_iter().cloned().chain(new.iter().cloned()).collect();
    links.retain(|link| {
        after.find_node(&link.from).is_some() && after.find_node(&link.to).is_some()
    });
    after.dependencies = links;
    true
}

/// The links without those of a node: what waited for it waits for what it waited for.
fn bridge_over(links: Vec<NodeDependency>, gone: &TaskId) -> Vec<NodeDependency> {
    let (own, mut rest): (Vec<_>, Vec<_>) =
        links.into_iter().partition(|link| link.from == *gone || link.to == *gone);
    let plain = |link: &&NodeDependency| link.kind == LinkKind::FS;
    for first in own.iter().filter(plain).filter(|link| link.to == *gone) {
        for second in own.iter().filter(plain).filter(|link| link.from == *gone) {
            let linked = |link: &NodeDependency| link.from == first.from && link.to == second.to;
            if first.from != second.to && !rest.iter().any(linked) {
                rest.push(NodeDependency { from: first.from.clone(), ..second.clone() });
            }
        }
    }
    rest
}
