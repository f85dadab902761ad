//! Edits of the tree: estimates, assignees, adding, removing and moving nodes.

use std::collections::BTreeMap;

use crate::sizing::{EFFORT_UNIT_MINUTES, WeightedPart, apportion_units};
use planwright_model::{
    AdaptationAction, AgentRun, NodeOrigin, NodeTree, NodeType, PlanNode, Role, RunKind,
    TaskAssignee, TaskId, agent_title,
};
use planwright_text::units::format_planned;

use super::draft::PlanEditDraft;
use super::task_order::{self, MovedNode, TaskOrder};
use super::{EditError, EditSummary, chain, clean_title};

/// The assumed duration of a task if nothing determines it.
const DEFAULT_MINUTES: u32 = 60;

/// Returns whether a node marks a point in time instead of taking time.
pub(super) fn is_point(node: &PlanNode) -> bool {
    node.milestone || node.role == Role::Gate
}

/// A leaf gets the minutes as given; the tasks of a container share them in the previous proportions.
pub(super) fn set_estimate(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    minutes: u32,
) -> Result<EditSummary, EditError> {
    let node = work.find_node(id)?;
    let title = node.title.clone();
    if is_point(node) {
        return Err(EditError::Milestone { title });
    }
    let tree = work.tree();
    let before = tree.total_minutes(id);
    let leaves: Vec<(TaskId, u32)> = tree
        .leaves(id)
        .into_iter()
        .filter(|leaf| !is_point(leaf))
        .map(|leaf| (leaf.id.clone(), leaf.work_minutes()))
        .collect();
    if (minutes as usize) < leaves.len().max(1) {
        return Err(EditError::TooFewMinutes { minutes, tasks: leaves.len().max(1) });
    }
    let shares: BTreeMap<TaskId, u32> = share_minutes(minutes, &leaves);
    for leaf in shares.keys() {
        work.require_unlocked(leaf)?;
    }
    if before == minutes && shares.iter().all(|(id, minutes)| tree.total_minutes(id) == *minutes) {
        return Err(EditError::NothingChanges);
    }
    for (leaf, minutes) in &shares {
        work.update_node(leaf, |node| node.estimate_minutes = Some(*minutes));
    }
    let reason = format!(
        "\"{title}\" takes {} instead of {}",
        format_planned(minutes.into()),
        format_planned(before.into())
    );
    let node_ids = shares.into_keys().collect();
    Ok(EditSummary { action: AdaptationAction::ReEstimate, node_ids, reason })
}

/// Distributes quarter hours if there are enough, or else minutes.
pub(super) fn share_minutes(minutes: u32, leaves: &[(TaskId, u32)]) -> BTreeMap<TaskId, u32> {
    let quarters = minutes.is_multiple_of(EFFORT_UNIT_MINUTES)
        && (minutes / EFFORT_UNIT_MINUTES) as usize >= leaves.len();
    let unit = if quarters && leaves.len() > 1 { EFFORT_UNIT_MINUTES } else { 1 };
    let untold = leaves.iter().all(|(_, minutes)| *minutes == 0);
    let parts: Vec<WeightedPart> = leaves
        .iter()
        .map(|(_, minutes)| WeightedPart { weight: if untold { 1 } else { *minutes }, floor: 1 })
        .collect();
    let shares = apportion_units(minutes / unit, &parts);
    leaves.iter().zip(shares).map(|((id, _), share)| (id.clone(), share * unit)).collect()
}

pub(super) fn set_doer(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    doer: TaskAssignee,
    (command, agent): (Option<&str>, Option<&str>),
) -> Result<EditSummary, EditError> {
    let node = work.find_node(id)?;
    let title = node.title.clone();
    if is_point(node) {
        return Err(EditError::Milestone { title });
    }
    if !work.tree().is_leaf(id) || node.node_type.is_container() {
        return Err(EditError::Container { title });
    }
    let (run, who) = match doer {
        TaskAssignee::Human => (RunKind::Human {}, "you".to_owned()),
        TaskAssignee::Agent => match agent {
            Some(name) => {
                (RunKind::Agent(AgentRun::with_agent(name)), agent_title(name).to_owned())
            }
            None => (RunKind::agent(), "the agent".to_owned()),
        },
        TaskAssignee::Shell => {
            let command = command.filter(|command| !command.trim().is_empty());
            let command = command.ok_or(EditError::NoCommand)?;
            (RunKind::Shell(command.to_owned()), format!("the command {command}"))
        }
    };
    if node.run.clone().unwrap_or(RunKind::Human {}) == run {
        return Err(EditError::NothingChanges);
    }
    work.update_node(id, |node| node.run = Some(run.clone()));
    let reason = format!("\"{title}\" is done by {who}");
    // The closed list of actions has no separate name for a new assignee of the same task.
    Ok(EditSummary { action: AdaptationAction::Rename, node_ids: vec![id.clone()], reason })
}

pub(super) fn add_node(
    work: &mut PlanEditDraft<'_>,
    parent: &TaskId,
    title: &str,
    minutes: Option<u32>,
) -> Result<EditSummary, EditError> {
    let title = clean_title(title)?;
    let above = work.find_node(parent)?.clone();
    let node_type = child_type(&above)?;
    work.require_parts_editable(parent)?;
    if minutes == Some(0) {
        return Err(EditError::TooFewMinutes { minutes: 0, tasks: 1 });
    }
    let mut node = PlanNode::new_child(&above, fresh_id(work, &above), node_type, title.clone());
    node.origin = NodeOrigin::UserFeedback;
    node.intensity = above.intensity;
    let usual = work.roadmap.is_some().then(|| usual_minutes(&work.tree(), parent));
    node.estimate_minutes = minutes.or(above.estimate_minutes).or(usual);
    node.run.clone_from(&above.run);
    let id = node.id.clone();
    work.update_node_lists(|nodes| {
        if nodes.iter().any(|node| node.id == *parent) {
            let stream = child_stream(nodes, parent);
            insert_last(nodes, PlanNode { stream, ..node.clone() });
            clear_own_work(nodes, parent);
        }
    });
    chain::insert_into_chain(work, &id);
    let reason = format!("added \"{title}\" to \"{}\"", above.title);
    Ok(EditSummary { action: AdaptationAction::Add, node_ids: vec![id], reason })
}

/// Returns what a new task below a node is.
pub(super) fn child_type(above: &PlanNode) -> Result<NodeType, EditError> {
    Ok(match above.node_type {
        NodeType::Goal | NodeType::Phase | NodeType::Cycle | NodeType::SubGoal => NodeType::Task,
        NodeType::Task if !is_point(above) => NodeType::SubTask,
        NodeType::SubTask => NodeType::MicroGoal,
        _ => return Err(EditError::HoldsNothing { title: above.title.clone() }),
    })
}

/// Returns who does a leaf, where nobody named means the person.
pub(super) fn doer_of(node: &PlanNode) -> (RunKind, &str) {
    (node.run.clone().unwrap_or(RunKind::Human {}), node.other_owner().unwrap_or_default())
}

/// Returns the place of a node in its lane, counted from 0.
pub(super) fn place_in_lane(nodes: &[PlanNode], node: &PlanNode) -> usize {
    let tree = NodeTree::new(nodes);
    let parent = node.parent_id.as_ref();
    let lane = parent.into_iter().flat_map(|parent| tree.children(parent));
    let mut lane = lane.filter(|other| other.stream == node.stream);
    lane.position(|other| other.id == node.id).unwrap_or(usize::MAX - 1)
}

/// Returns an id that no earlier version can contain: it includes the number of the version that introduces it.
pub(super) fn fresh_id(work: &PlanEditDraft<'_>, parent: &PlanNode) -> TaskId {
    let version = work.outline.version.saturating_add(1);
    let base = if work.is_root(&parent.id) {
        format!("n{version}")
    } else {
        format!("{}.n{version}", parent.id)
    };
    let taken = |id: &str| work.find_node(&TaskId::from(id)).is_ok();
    let mut id = base.clone();
    let mut count = 1;
    while taken(&id) {
        count += 1;
        id = format!("{base}-{count}");
    }
    id.into()
}

/// Returns the median of the siblings.
pub(super) fn usual_minutes(tree: &NodeTree<'_>, parent: &TaskId) -> u32 {
    let siblings = tree.children(parent).filter(|node| tree.is_leaf(&node.id) && !is_point(node));
    let mut minutes: Vec<u32> = siblings.filter_map(|node| node.estimate_minutes).collect();
    minutes.sort_unstable();
    minutes.get(minutes.len() / 2).copied().unwrap_or(DEFAULT_MINUTES)
}

/// A node with children has no estimate and no assignee of its own.
pub(super) fn clear_own_work(nodes: &mut [PlanNode], id: &TaskId) {
    for node in nodes.iter_mut().filter(|node| node.id == *id) {
        node.estimate_minutes = None;
        node.run = None;
    }
}

/// Returns the stream that a new child of `parent` belongs to.
pub(super) fn child_stream(nodes: &[PlanNode], parent: &TaskId) -> String {
    let tree = NodeTree::new(nodes);
    let work = tree.children(parent).filter(|node| !is_point(node) && node.recurrence.is_none());
    let last = work.last().or_else(|| tree.children(parent).last());
    last.map_or_else(
        || planwright_model::outline::MAIN_STREAM.to_owned(),
        |node| node.stream.clone(),
    )
}

/// Inserts a node after the work of its parent, and before the milestone that ends it.
pub(super) fn insert_last(nodes: &mut Vec<PlanNode>, node: PlanNode) {
    let Some(parent) = node.parent_id.clone() else { return };
    let place = lane_siblings(nodes, &parent, &node.stream, &node.id)
        .iter()
        .rposition(|id| nodes.iter().any(|node| node.id == *id && !is_point(node)))
        .map_or(usize::MAX, |place| place + 1);
    insert_at(nodes, node, place);
}

fn lane_siblings(
    nodes: &[PlanNode],
    parent: &TaskId,
    stream: &str,
    without: &TaskId,
) -> Vec<TaskId> {
    let tree = NodeTree::new(nodes);
    let siblings = tree.children(parent).filter(|node| node.stream == stream);
    siblings.filter(|node| node.id != *without).map(|node| node.id.clone()).collect()
}

/// Inserts a node at a position of its lane, counted from 0; the others keep their order.
pub(super) fn insert_at(nodes: &mut Vec<PlanNode>, node: PlanNode, place: usize) {
    let Some(parent) = node.parent_id.clone() else { return };
    let mut order = lane_siblings(nodes, &parent, &node.stream, &node.id);
    order.insert(place.min(order.len()), node.id.clone());
    match nodes.iter_mut().find(|old| old.id == node.id) {
        Some(old) => *old = node,
        None => nodes.push(node),
    }
    for (position, id) in order.iter().enumerate() {
        let position = u16::try_from(position).unwrap_or(u16::MAX);
        nodes.iter_mut().filter(|node| node.id == *id).for_each(|node| node.position = position);
    }
}

pub(super) fn remove_node(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
) -> Result<EditSummary, EditError> {
    if work.is_root(id) {
        return Err(EditError::Root);
    }
    work.require_unlocked_below(id)?;
    let parent = work.find_node(id)?.parent_id.clone();
    parent.iter().try_for_each(|parent| work.require_parts_editable(parent))?;
    let title = work.title(id);
    chain::remove_from_chain(work, id);
    let mut gone: Vec<TaskId> = Vec::new();
    work.update_node_lists(|nodes| {
        let tree = NodeTree::new(nodes);
        let below: Vec<TaskId> = tree.subtree(id).into_iter().map(|node| node.id.clone()).collect();
        let minutes = tree.total_minutes(id);
        let parent = tree.get(id).and_then(|node| node.parent_id.clone());
        nodes.retain(|node| !below.contains(&node.id));
        // A task that loses its last part becomes a leaf again and keeps the time.
        if let Some(parent) = parent.filter(|parent| NodeTree::new(nodes).is_leaf(parent)) {
            let is_parent =
                |node: &&mut PlanNode| node.id == parent && !node.node_type.is_container();
            for node in nodes.iter_mut().filter(is_parent) {
                node.estimate_minutes = Some(minutes).filter(|minutes| *minutes > 0);
            }
        }
        gone.extend(below.into_iter().filter(|id| !gone.contains(id)).collect::<Vec<_>>());
    });
    let reason = match gone.len() {
        0 | 1 => format!("removed \"{title}\""),
        count => format!("removed \"{title}\" and the {} below it", count - 1),
    };
    Ok(EditSummary { action: AdaptationAction::Remove, node_ids: gone, reason })
}

pub(super) fn move_node(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    parent: &TaskId,
    position: u16,
) -> Result<EditSummary, EditError> {
    if work.is_root(id) {
        return Err(EditError::Root);
    }
    let above = work.find_node(parent)?.clone();
    let node = work.find_node(id)?.clone();
    if parent == id || work.tree().is_ancestor(id, parent) {
        return Err(EditError::BelowItself { title: node.title });
    }
    work.require_unlocked_below(id)?;
    work.require_parts_editable(parent)?;
    node.parent_id.iter().try_for_each(|parent| work.require_parts_editable(parent))?;
    let before = work.nodes().to_vec();
    let order = work.roadmap.as_ref().map(TaskOrder::from_roadmap);
    let came_after = rows_before(work, id).filter(|_| node.parent_id.as_ref() == Some(parent));
    chain::detach_from_chain(work, id);
    work.update_node_lists(|nodes| move_under_parent(nodes, id, &above, position));
    if before == work.nodes() {
        return Err(EditError::NothingChanges);
    }
    work.update_node(id, |_| {});
    chain::insert_into_chain(work, id);
    if let Some(order) = order.filter(|_| work.joins_chains) {
        let moved = MovedNode { id, came_after: came_after.as_deref() };
        task_order::keep_order(work, &order, &moved)?;
    }
    let reason = if node.parent_id.as_ref() == Some(parent) {
        describe_place(work, &node)
    } else {
        format!("moved \"{}\" to \"{}\"", node.title, above.title)
    };
    Ok(EditSummary { action: AdaptationAction::Move, node_ids: vec![id.clone()], reason })
}

/// The rows of its lane that stand before a node.
fn rows_before(work: &PlanEditDraft<'_>, id: &TaskId) -> Option<Vec<TaskId>> {
    let mut lane = task_order::lane_of(work.roadmap.as_ref()?, id);
    let at = lane.iter().position(|other| other == id)?;
    lane.truncate(at);
    Some(lane)
}

/// Says where a row is now by the row beside it.
fn describe_place(work: &PlanEditDraft<'_>, node: &PlanNode) -> String {
    let tree = work.tree();
    let parent = node.parent_id.as_ref().into_iter();
    let lane: Vec<&PlanNode> = parent
        .flat_map(|parent| tree.children(parent))
        .filter(|other| other.stream == node.stream)
        .collect();
    let at = lane.iter().position(|other| other.id == node.id).unwrap_or(0);
    match (lane.get(at + 1), at.checked_sub(1).and_then(|before| lane.get(before))) {
        (Some(next), _) => format!("moved \"{}\" before \"{}\"", node.title, next.title),
        (None, Some(last)) => format!("moved \"{}\" after \"{}\"", node.title, last.title),
        (None, None) => format!("moved \"{}\"", node.title),
    }
}

fn move_under_parent(nodes: &mut Vec<PlanNode>, id: &TaskId, parent: &PlanNode, position: u16) {
    let Some(mut node) = nodes.iter().find(|node| node.id == *id).cloned() else { return };
    if !nodes.iter().any(|node| node.id == parent.id) {
        return;
    }
    if node.parent_id.as_ref() != Some(&parent.id) {
        node.stream = child_stream(nodes, &parent.id);
        node.parent_id = Some(parent.id.clone());
        clear_own_work(nodes, &parent.id);
    }
    node.node_type = match (parent.node_type, node.node_type) {
        (NodeType::Task, NodeType::Task) => NodeType::SubTask,
        (above, NodeType::SubTask) if above.is_container() => NodeType::Task,
        (_, own) => own,
    };
    if position == u16::MAX {
        insert_last(nodes, node);
    } else {
        insert_at(nodes, node, position.into());
    }
    recompute_levels(nodes, id, parent.level);
}

/// Recomputes levels from the parents.
fn recompute_levels(nodes: &mut [PlanNode], id: &TaskId, above: u8) {
    let own = NodeTree::new(nodes).get(id).map_or(0, |node| node.level);
    let below: Vec<TaskId> =
        NodeTree::new(nodes).subtree(id).into_iter().map(|node| node.id.clone()).collect();
    let wanted = above.saturating_add(1);
    for node in nodes.iter_mut().filter(|node| below.contains(&node.id)) {
        node.level = node.level.saturating_add(wanted).saturating_sub(own);
    }
}
