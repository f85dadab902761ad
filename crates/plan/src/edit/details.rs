//! Edits of what a node says besides its title: fields, owner, dates.

use std::collections::BTreeSet;

use jiff::civil::Date;
use planwright_model::{
    AdaptationAction, DateField, NodeDates, NodeFields, NodeOrigin, PlanDate, PlanNode, RunKind,
    TaskId, other_person,
};

use super::draft::PlanEditDraft;
use super::{EditError, EditSummary, clean_title, tree};
use crate::diff::format_plan_date;

/// The longest name of an owner, in characters.
const MAX_OWNER_CHARS: usize = 60;

/// Gives fields of a node other values; all of them are checked before any is changed.
pub(super) fn change_fields(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    fields: &NodeFields,
) -> Result<EditSummary, EditError> {
    if fields.is_for_new_node() {
        return Err(EditError::OnlyForNewNodes);
    }
    let before = work.find_node(id)?.clone();
    let title = fields.title.as_deref().map(clean_title).transpose()?;
    let mut node_ids = vec![id.clone()];
    if let Some(minutes) = fields.minutes.filter(|minutes| *minutes != work.minutes_of(id)) {
        node_ids.extend(tree::set_estimate(work, id, minutes)?.node_ids);
    }
    if let Some(owner) = fields.owner.as_deref().filter(|owner| *owner != before.owner) {
        node_ids.extend(assign_owner(work, id, owner)?.node_ids);
    }
    require_work(work, &before, fields)?;
    let wanted = |node: &PlanNode| {
        let mut node = node.clone();
        node.title = title.clone().unwrap_or(node.title);
        set_words(&mut node, fields);
        node
    };
    let changed = wanted(&before);
    require_possible_dates(changed.dates())?;
    if changed != before {
        work.update_node(id, |node| *node = wanted(node));
    }
    if changed == before && node_ids.len() == 1 {
        return Err(EditError::NothingChanges);
    }
    node_ids.sort();
    node_ids.dedup();
    let reason = if before.title == changed.title {
        format!("changed \"{}\"", changed.title)
    } else {
        format!("renamed \"{}\" to \"{}\"", before.title, changed.title)
    };
    Ok(EditSummary { action: AdaptationAction::Rename, node_ids, reason })
}

/// Refuses a way to run and fixed dates on what holds other nodes or marks a point.
fn require_work(
    work: &PlanEditDraft<'_>,
    node: &PlanNode,
    fields: &NodeFields,
) -> Result<(), EditError> {
    let title = || node.title.clone();
    let group = node.node_type.is_container() || !work.tree().is_leaf(&node.id);
    let fixed = fields.fixed_start.or(fields.fixed_end).is_some();
    if group && (fields.run.is_some() || fixed) {
        return Err(EditError::Container { title: title() });
    }
    if tree::is_point(node) && fields.run.is_some() {
        return Err(EditError::Milestone { title: title() });
    }
    require_command(fields)
}

/// Refuses a command without words.
pub(super) fn require_command(fields: &NodeFields) -> Result<(), EditError> {
    match &fields.run {
        Some(RunKind::Shell(command)) if command.trim().is_empty() => Err(EditError::NoCommand),
        _ => Ok(()),
    }
}

pub(super) fn require_possible_dates(dates: NodeDates) -> Result<(), EditError> {
    match dates.contradiction() {
        Some((first, second)) => {
            Err(EditError::DatesContradict { first: first.words(), second: second.words() })
        }
        None => Ok(()),
    }
}

/// Sets the fields that no other node depends on.
pub(super) fn set_words(node: &mut PlanNode, fields: &NodeFields) {
    let texts = [
        (&mut node.description, &fields.description),
        (&mut node.done_when, &fields.done_when),
        (&mut node.why, &fields.why),
        (&mut node.task_type, &fields.task_type),
    ];
    for (own, wanted) in texts {
        if let Some(wanted) = wanted {
            wanted.trim().clone_into(own);
        }
    }
    let lists = [
        (&mut node.risks, &fields.risks),
        (&mut node.assumptions, &fields.assumptions),
        (&mut node.evidence, &fields.evidence),
        (&mut node.tags, &fields.tags),
    ];
    for (own, wanted) in lists {
        if let Some(wanted) = wanted {
            own.clone_from(wanted);
        }
    }
    if let Some(criteria) = &fields.exit_criteria {
        node.exit_criteria.clone_from(criteria);
    }
    if let Some(cost) = &fields.cost {
        node.cost = Some(cost.clone()).filter(|cost| cost.hundredths > 0);
    }
    node.optional = fields.optional.unwrap_or(node.optional);
    node.role = fields.role.unwrap_or(node.role);
    node.milestone = fields.milestone.unwrap_or(node.milestone);
    node.intensity = fields.intensity.unwrap_or(node.intensity).clamp(1, 5);
    node.in_one_piece = fields.in_one_piece.unwrap_or(node.in_one_piece);
    if fields.recurrence.is_some() {
        node.recurrence.clone_from(&fields.recurrence);
    }
    if fields.run.is_some() {
        node.run.clone_from(&fields.run);
    }
    let mut dates = node.dates();
    for (field, date) in fields.dates().stated() {
        dates.set(field, Some(date));
    }
    node.set_dates(dates);
}

/// Gives a task, or every task of a group, to somebody.
pub(super) fn assign_owner(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    owner: &str,
) -> Result<EditSummary, EditError> {
    let owner = clean_owner(owner)?;
    let node = work.find_node(id)?;
    let title = node.title.clone();
    if tree::is_point(node) {
        return Err(EditError::Milestone { title });
    }
    let leaves = work.tree().leaves(id);
    let leaves = leaves.into_iter().filter(|leaf| !tree::is_point(leaf));
    let differs = |leaf: &&PlanNode| leaf.owner != owner || !is_done_by_person(leaf);
    let changed: Vec<TaskId> = leaves.filter(differs).map(|leaf| leaf.id.clone()).collect();
    if changed.is_empty() {
        return Err(EditError::NothingChanges);
    }
    for leaf in &changed {
        work.require_unlocked(leaf)?;
    }
    for leaf in &changed {
        work.update_node(leaf, |node| {
            node.owner.clone_from(&owner);
            // Whoever was named does it; the command or the agent no longer does.
            if !is_done_by_person(node) {
                node.run = Some(RunKind::Human {});
            }
        });
    }
    let who = if owner.is_empty() { "you" } else { owner.as_str() };
    let reason = format!("\"{title}\" is done by {who}");
    // The closed list of actions has no separate name for a new owner of the same task.
    Ok(EditSummary { action: AdaptationAction::Rename, node_ids: changed, reason })
}

fn is_done_by_person(node: &PlanNode) -> bool {
    matches!(node.run, None | Some(RunKind::Human {}))
}

/// Returns a name in stored form; the person's own work names nobody.
pub(super) fn clean_owner(owner: &str) -> Result<String, EditError> {
    let owner = owner.split_whitespace().collect::<Vec<_>>().join(" ");
    match owner.chars().count() {
        count if count > MAX_OWNER_CHARS => Err(EditError::LongOwner { most: MAX_OWNER_CHARS }),
        _ => Ok(other_person(&owner).unwrap_or_default().to_owned()),
    }
}

/// Sets one date by hand, or clears it.
pub(super) fn set_date(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    field: DateField,
    date: Option<PlanDate>,
) -> Result<EditSummary, EditError> {
    let node = work.find_node(id)?;
    let (title, mut dates) = (node.title.clone(), node.dates());
    let is_planned = node.origin != NodeOrigin::UserFeedback;
    let fixes = matches!(field, DateField::FixedStart | DateField::FixedEnd);
    if fixes && date.is_some() && (node.node_type.is_container() || !work.tree().is_leaf(id)) {
        return Err(EditError::Container { title });
    }
    dates.set(field, date);
    if let Some(date) = date.filter(|_| field != DateField::NotBefore) {
        if is_planned {
            dates.not_before = dates.not_before.filter(|first| first.day <= date.day);
        }
        release_earlier_limits(work, id, date.day);
    }
    let reason = match date {
        Some(date) => {
            let near = work.outline.plan_context.constraints.start;
            format!("\"{title}\": {} {}", field.words(), format_plan_date(date, near))
        }
        None => format!("\"{title}\": no date for \"{}\" any more", field.words()),
    };
    set_dates(work, id, dates, reason)
}

/// A day that a person sets for a node counts for more than when the planner would have begun: what the node is part
/// of and what has to come before it may begin earlier. Dates on nodes that the person edited stay.
fn release_earlier_limits(work: &mut PlanEditDraft<'_>, id: &TaskId, day: Date) {
    let mut before: BTreeSet<TaskId> = BTreeSet::new();
    let mut open = vec![id.clone()];
    while let Some(id) = open.pop() {
        let tree = work.tree();
        let parts = tree.subtree(&id).into_iter().chain(tree.ancestors(&id));
        let near: Vec<TaskId> = parts.map(|node| node.id.clone()).collect();
        let links = work.roadmap.iter().flat_map(|roadmap| &roadmap.dependencies);
        let needed = links.filter(|link| near.contains(&link.to)).map(|link| link.from.clone());
        open.extend(needed.filter(|from| !before.contains(from)));
        before.extend(near);
    }
    work.update_node_lists(|nodes| {
        for node in nodes.iter_mut().filter(|node| before.contains(&node.id)) {
            let is_planned = node.origin != NodeOrigin::UserFeedback;
            if is_planned && node.not_before.is_some_and(|first| first.day > day) {
                node.not_before = None;
            }
        }
    });
}

/// Clears every date that was set by hand.
pub(super) fn clear_dates(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
) -> Result<EditSummary, EditError> {
    let reason = format!("\"{}\" has no dates set by hand any more", work.title(id));
    set_dates(work, id, NodeDates::default(), reason)
}

fn set_dates(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    dates: NodeDates,
    reason: String,
) -> Result<EditSummary, EditError> {
    if work.find_node(id)?.dates() == dates {
        return Err(EditError::NothingChanges);
    }
    require_possible_dates(dates)?;
    work.update_node(id, |node| node.set_dates(dates));
    Ok(EditSummary { action: AdaptationAction::Reschedule, node_ids: vec![id.clone()], reason })
}
