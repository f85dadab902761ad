//! Adding a node at a place, with its fields and its links.

use planwright_model::{
    AdaptationAction, LinkKind, LinkOrigin, NodeDependency, NodeFields, NodeOrigin, NodePlace,
    NodeType, PatternType, PlanNode, TaskId,
};

use super::draft::PlanEditDraft;
use super::{EditError, EditSummary, chain, clean_title, details, tree};

/// What is inserted.
pub(super) struct NewNode<'a> {
    pub(super) place: &'a NodePlace,
    pub(super) fields: &'a NodeFields,
    pub(super) group: bool,
    pub(super) needs: &'a [TaskId],
    pub(super) needed_by: &'a [TaskId],
}

pub(super) fn insert_node(
    work: &mut PlanEditDraft<'_>,
    new: &NewNode<'_>,
) -> Result<EditSummary, EditError> {
    let title = clean_title(new.fields.title.as_deref().unwrap_or_default())?;
    let place = place_before_end(work, new, &title)?;
    let new = &NewNode { place: &place, ..*new };
    let (parent, position) = find_place(work, new.place)?;
    let node = build_node(work, new, &parent, &title)?;
    for other in new.needs.iter().chain(new.needed_by) {
        work.find_node(other)?;
    }
    new.needed_by.iter().try_for_each(|other| work.require_unlocked(other))?;
    let id = node.id.clone();
    work.update_node_lists(|nodes| {
        if nodes.iter().any(|node| node.id == parent.id) {
            let beside = |node: &&PlanNode| node.id == *new.place.node();
            let stream = match (&new.fields.stream, new.place, nodes.iter().find(beside)) {
                (Some(stream), ..) => stream.clone(),
                (None, NodePlace::Before(_) | NodePlace::After(_), Some(beside)) => {
                    beside.stream.clone()
                }
                _ => tree::child_stream(nodes, &parent.id),
            };
            let node = PlanNode { stream, ..node.clone() };
            match position {
                Some(position) => tree::insert_at(nodes, node, position),
                None => tree::insert_last(nodes, node),
            }
            tree::clear_own_work(nodes, &parent.id);
        }
    });
    link_node(work, &id, new)?;
    let beside = work.title(new.place.node());
    let reason = match new.place {
        NodePlace::Before(_) => format!("added \"{title}\" before \"{beside}\""),
        NodePlace::After(_) => format!("added \"{title}\" after \"{beside}\""),
        NodePlace::Under(_) => format!("added \"{title}\" to \"{beside}\""),
    };
    Ok(EditSummary { action: AdaptationAction::Add, node_ids: vec![id], reason })
}

/// A project ends with its last milestone. What is put behind that one becomes the last step before it, unless it waits
/// for the end.
fn place_before_end(
    work: &PlanEditDraft<'_>,
    new: &NewNode<'_>,
    title: &str,
) -> Result<NodePlace, EditError> {
    let NodePlace::After(named) = new.place else { return Ok(new.place.clone()) };
    let end = work.find_node(named)?;
    if new.fields.milestone == Some(true) || !ends_project(work, end) {
        return Ok(new.place.clone());
    }
    if new.needs.contains(named) {
        return Err(EditError::AfterEnd { title: title.to_owned(), end: end.title.clone() });
    }
    let tree = work.tree();
    let phases = tree.children(&work.outline.root_id).filter(|node| is_phase(node));
    Ok(match phases.last().filter(|_| !new.group) {
        Some(phase) => NodePlace::Under(phase.id.clone()),
        None => NodePlace::Before(named.clone()),
    })
}

fn is_phase(node: &PlanNode) -> bool {
    node.node_type == NodeType::Phase
}

fn ends_project(work: &PlanEditDraft<'_>, node: &PlanNode) -> bool {
    let project = work.outline.pattern.as_ref().is_some_and(|spec| {
        spec.pattern_type == PatternType::MilestoneProject && !spec.is_own_steps()
    });
    let tree = work.tree();
    let last = tree.children(&work.outline.root_id).last();
    project && node.milestone && last.is_some_and(|last| last.id == node.id)
}

/// Returns the parent of the new node, and its place in the lane of the node it is named by.
fn find_place(
    work: &PlanEditDraft<'_>,
    place: &NodePlace,
) -> Result<(PlanNode, Option<usize>), EditError> {
    let named = work.find_node(place.node())?.clone();
    let (parent, position) = match place {
        NodePlace::Under(_) => (named, None),
        NodePlace::Before(_) | NodePlace::After(_) => {
            let parent = named.parent_id.clone().ok_or(EditError::Root)?;
            let lane = work.tree();
            let mut lane = lane.children(&parent).filter(|node| node.stream == named.stream);
            let at = lane.position(|node| node.id == named.id).unwrap_or(usize::MAX);
            let offset = usize::from(matches!(place, NodePlace::After(_)));
            (work.find_node(&parent)?.clone(), Some(at.saturating_add(offset)))
        }
    };
    work.require_parts_editable(&parent.id)?;
    Ok((parent, position))
}

fn build_node(
    work: &PlanEditDraft<'_>,
    new: &NewNode<'_>,
    parent: &PlanNode,
    title: &str,
) -> Result<PlanNode, EditError> {
    let node_type = new_node_type(new, parent)?;
    let point = new.fields.milestone == Some(true);
    if new.fields.minutes == Some(0) && !point {
        return Err(EditError::TooFewMinutes { minutes: 0, tasks: 1 });
    }
    let mut node = PlanNode::new_child(parent, new_node_id(work, new, parent)?, node_type, title);
    node.origin = NodeOrigin::UserFeedback;
    node.intensity = parent.intensity;
    if !node_type.is_container() && !point {
        let usual = work.roadmap.is_some().then(|| tree::usual_minutes(&work.tree(), &parent.id));
        node.estimate_minutes = new.fields.minutes.or(parent.estimate_minutes).or(usual);
        node.run.clone_from(&parent.run);
        if let Some(owner) = &new.fields.owner {
            node.owner = details::clean_owner(owner)?;
        }
    }
    let holds_others = node_type.is_container();
    if holds_others && (new.fields.run.is_some() || !new.fields.dates().is_empty()) {
        return Err(EditError::Container { title: title.to_owned() });
    }
    details::require_command(new.fields)?;
    details::set_words(&mut node, new.fields);
    details::require_possible_dates(node.dates())?;
    Ok(node)
}

/// Returns what the new node is: the kind that is named, if its place can hold it, or what fits there.
fn new_node_type(new: &NewNode<'_>, parent: &PlanNode) -> Result<NodeType, EditError> {
    if let Some(kind) = new.fields.node_type {
        return if parent.node_type.can_contain(kind) {
            Ok(kind)
        } else {
            Err(EditError::WrongKind { child: kind.as_str(), title: parent.title.clone() })
        };
    }
    if !new.group {
        return tree::child_type(parent);
    }
    [NodeType::Phase, NodeType::SubGoal]
        .into_iter()
        .find(|kind| parent.node_type.can_contain(*kind))
        .ok_or_else(|| EditError::HoldsNothing { title: parent.title.clone() })
}

fn new_node_id(
    work: &PlanEditDraft<'_>,
    new: &NewNode<'_>,
    parent: &PlanNode,
) -> Result<TaskId, EditError> {
    match &new.fields.id {
        Some(id) if work.find_node(id).is_ok() => Err(EditError::TakenId { id: id.clone() }),
        Some(id) => Ok(id.clone()),
        None => Ok(tree::fresh_id(work, parent)),
    }
}

/// Draws the links that were asked for; without any, the node joins the chain of its lane.
fn link_node(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    new: &NewNode<'_>,
) -> Result<(), EditError> {
    if new.needs.is_empty() && new.needed_by.is_empty() {
        chain::insert_into_chain(work, id);
        return Ok(());
    }
    let before = new.needs.iter().map(|from| (from.clone(), id.clone()));
    let after = new.needed_by.iter().map(|to| (id.clone(), to.clone()));
    let links: Vec<_> = before
        .chain(after)
        .map(|(from, to)| NodeDependency {
            origin: LinkOrigin::UserFeedback,
            ..NodeDependency::new(from, to, LinkKind::FS)
        })
        .collect();
    work.links_mut()?.extend(links);
    Ok(())
}
