//! Edits made by a person: outline and roadmap stay consistent, and no edit may break a rule that was satisfied.
//!
//! Links are maintained as a person would expect: a new or moved node is inserted into the chain of its siblings, and
//! the chain closes over a removed node. The caller turns the parts of [`EditedPlan`] into a log entry.

mod chain;
mod details;
mod done;
mod draft;
mod error;
mod file_edits;
mod insert;
mod parts;
mod proposed_days;
mod put_back;
mod task_order;
mod tree;

use std::collections::BTreeSet;

pub use error::EditError;
pub use file_edits::{FileEditError, edits_from_file};
pub use proposed_days::{MovedDay, move_proposed_days};
pub use put_back::{CombinedDraft, PutBackError, combine_drafts};

use crate::critical_path::critical_path;
use crate::grammar::{PlanArtifacts, validate_outline, validate_roadmap};
use draft::PlanEditDraft;
use planwright_model::{
    AdaptationAction, LinkKind, LinkOrigin, NodeDependency, NodeOrigin, PatternType, PlanEdit,
    PlanNode, PlanOutline, Roadmap, Severity, TaskId, Violation,
};

/// A plan after one or several edits, and the content of its log entries.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedPlan {
    pub outline: PlanOutline,
    pub roadmap: Option<Roadmap>,
    /// The kind of the first edit.
    pub action: AdaptationAction,
    /// Every node that was changed, added or removed, each once.
    pub node_ids: Vec<TaskId>,
    /// What was done, in words.
    pub reason: String,
    /// What each edit did.
    pub steps: Vec<EditStep>,
    /// What is locked afterwards.
    pub locked: BTreeSet<TaskId>,
    /// Remarks that were left, each with its node.
    pub comments: Vec<(TaskId, String)>,
}

/// What one edit did, for the log.
#[derive(Clone, Debug, PartialEq)]
pub struct EditStep {
    /// `None` for what is kept beside the plan: locks and comments.
    pub action: Option<AdaptationAction>,
    pub node_ids: Vec<TaskId>,
    pub reason: String,
}

/// What an edit of the plan did.
#[derive(Debug)]
struct EditSummary {
    action: AdaptationAction,
    node_ids: Vec<TaskId>,
    reason: String,
}

/// Applies one edit. A position of `u16::MAX` means after the work of the parent and before its milestone. The given
/// plan is never modified.
pub fn apply_edit(
    outline: &PlanOutline,
    roadmap: Option<&Roadmap>,
    edit: &PlanEdit,
    locked: &BTreeSet<TaskId>,
) -> Result<EditedPlan, EditError> {
    apply_edits(outline, roadmap, std::slice::from_ref(edit), locked)
}

/// Applies edits in their order, all of them or none. The rules are checked once, on the result, so that edits which
/// only together keep them are possible. The given plan is never modified.
pub fn apply_edits(
    outline: &PlanOutline,
    roadmap: Option<&Roadmap>,
    edits: &[PlanEdit],
    locked: &BTreeSet<TaskId>,
) -> Result<EditedPlan, EditError> {
    let edited = perform_edits(PlanEditDraft::new(outline, roadmap, locked), edits)?;
    if edits.iter().any(PlanEdit::changes_plan) {
        require_rules_kept((outline, roadmap), (&edited.outline, edited.roadmap.as_ref()))?;
    }
    Ok(edited)
}

/// Applies one edit to a draft that is still being made, whose rules are checked once it is whole. Links are drawn only
/// where an edit names them.
pub fn apply_draft_edit(
    outline: &PlanOutline,
    roadmap: Option<&Roadmap>,
    edit: &PlanEdit,
    locked: &BTreeSet<TaskId>,
) -> Result<EditedPlan, EditError> {
    let work = PlanEditDraft::new(outline, roadmap, locked).with_links_as_given();
    perform_edits(work, std::slice::from_ref(edit))
}

fn perform_edits(mut work: PlanEditDraft<'_>, edits: &[PlanEdit]) -> Result<EditedPlan, EditError> {
    let version = work.outline.version;
    let mut steps: Vec<EditStep> = Vec::new();
    for edit in edits {
        match perform_edit(&mut work, edit) {
            Ok(step) => steps.push(step),
            // Of several edits, one that changes nothing does not hold up the others.
            Err(EditError::NothingChanges) if edits.len() > 1 => {}
            Err(error) => return Err(error),
        }
    }
    if steps.is_empty() && !edits.is_empty() {
        return Err(EditError::NothingChanges);
    }
    let (mut outline_after, mut roadmap_after, locked, comments) = work.into_parts();
    if edits.iter().any(PlanEdit::changes_plan) {
        let changed: Vec<TaskId> = steps.iter().flat_map(|step| step.node_ids.clone()).collect();
        let separate = proposed_days::separate_changed_days;
        let mut moved = separate(&mut outline_after.nodes, &changed, &locked);
        if let Some(roadmap) = &mut roadmap_after {
            moved = separate(&mut roadmap.nodes, &changed, &locked);
        }
        steps.extend(moved.into_iter().map(|moved| EditStep {
            action: Some(AdaptationAction::Reschedule),
            reason: format!("\"{}\" starts {}", moved.title, moved.format_time()),
            node_ids: vec![moved.node],
        }));
        outline_after.version = version.saturating_add(1);
        if let Some(roadmap) = &mut roadmap_after {
            update_derived_fields(roadmap, &outline_after);
        }
    }
    let mut node_ids: Vec<TaskId> = Vec::new();
    for id in steps.iter().flat_map(|step| &step.node_ids) {
        if !node_ids.contains(id) {
            node_ids.push(id.clone());
        }
    }
    let reasons: Vec<&str> = steps.iter().map(|step| step.reason.as_str()).collect();
    let action = steps.iter().find_map(|step| step.action);
    Ok(EditedPlan {
        outline: outline_after,
        roadmap: roadmap_after,
        action: action.unwrap_or(AdaptationAction::Rename),
        node_ids,
        reason: reasons.join("; "),
        steps,
        locked,
        comments,
    })
}

/// Works out what follows from nodes and links.
fn update_derived_fields(roadmap: &mut Roadmap, outline: &PlanOutline) {
    let pattern = roadmap.effective_pattern().or_else(|| outline.pattern.clone());
    let pattern = pattern.map_or(PatternType::MilestoneProject, |spec| spec.pattern_type);
    roadmap.critical_path =
        critical_path(&roadmap.nodes, &roadmap.root_id, &roadmap.dependencies, pattern);
    roadmap.total_minutes = roadmap.node_tree().total_minutes(&roadmap.root_id);
}

/// Rejects a plan that breaks a rule which it did not break before.
fn require_rules_kept(
    (outline, roadmap): (&PlanOutline, Option<&Roadmap>),
    (outline_after, roadmap_after): (&PlanOutline, Option<&Roadmap>),
) -> Result<(), EditError> {
    let before = broken_rules(outline, roadmap);
    let known: BTreeSet<_> = before.iter().map(|found| (&found.rule, &found.node_ids)).collect();
    let after = broken_rules(outline_after, roadmap_after);
    match after.iter().find(|found| !known.contains(&(&found.rule, &found.node_ids))) {
        Some(new) => {
            let (rule, message) = (new.rule.clone(), new.message.clone());
            Err(EditError::BreaksRule { rule, message })
        }
        None => Ok(()),
    }
}

/// Returns the relevant broken rules, fatal ones first.
pub fn broken_rules(outline: &PlanOutline, roadmap: Option<&Roadmap>) -> Vec<Violation> {
    let mut plan = PlanArtifacts::new(outline.clone());
    plan.roadmap = roadmap.cloned();
    let mut found = validate_roadmap(&plan);
    if plan.roadmap.is_some() {
        found.extend(validate_outline(&plan));
    }
    found.retain(|violation| violation.severity != Severity::Warning);
    found.sort_by_key(|violation| violation.severity);
    found
}

fn perform_edit(work: &mut PlanEditDraft<'_>, edit: &PlanEdit) -> Result<EditStep, EditError> {
    for id in edit.affected_nodes() {
        work.find_node(id)?;
        work.require_unlocked(id)?;
    }
    if let Some(step) = perform_beside_plan(work, edit) {
        return step;
    }
    let EditSummary { action, node_ids, reason } = change_plan(work, edit)?;
    Ok(EditStep { action: Some(action), node_ids, reason })
}

fn change_plan(work: &mut PlanEditDraft<'_>, edit: &PlanEdit) -> Result<EditSummary, EditError> {
    match edit {
        PlanEdit::Rename { node, title } => rename_node(work, node, title),
        PlanEdit::SetDoneWhen { node, done_when } => set_done_when(work, node, done_when),
        PlanEdit::SetEstimate { node, minutes } => tree::set_estimate(work, node, *minutes),
        PlanEdit::SetDoer { node, doer, command, agent } => {
            tree::set_doer(work, node, *doer, (command.as_deref(), agent.as_deref()))
        }
        PlanEdit::Add { parent, title, minutes } => tree::add_node(work, parent, title, *minutes),
        PlanEdit::Insert { place, fields, group, needs, needed_by } => {
            let new = insert::NewNode { place, fields, group: *group, needs, needed_by };
            insert::insert_node(work, &new)
        }
        PlanEdit::Change { node, fields } => details::change_fields(work, node, fields),
        PlanEdit::Remove { node } => tree::remove_node(work, node),
        PlanEdit::Move { node, parent, position } => tree::move_node(work, node, parent, *position),
        PlanEdit::Split { node, into } => parts::split_node(work, node, into),
        PlanEdit::Merge { nodes, into } => parts::merge_nodes(work, nodes, into),
        PlanEdit::Link { from, to, kind, lag_minutes } => {
            add_link(work, from, to, (*kind, *lag_minutes))
        }
        PlanEdit::Unlink { from, to } => remove_link(work, from, to),
        PlanEdit::Assign { node, owner } => details::assign_owner(work, node, owner),
        PlanEdit::SetDate { node, field, date } => details::set_date(work, node, *field, *date),
        PlanEdit::ClearDates { node } => details::clear_dates(work, node),
        PlanEdit::SetDone { node, done } => done::set_done(work, node, *done),
        PlanEdit::Lock { .. } | PlanEdit::Unlock { .. } | PlanEdit::Comment { .. } => {
            Err(EditError::NothingChanges)
        }
    }
}

/// Performs an edit of what is kept beside the plan: locks and comments. `None` for every other edit.
fn perform_beside_plan(
    work: &mut PlanEditDraft<'_>,
    edit: &PlanEdit,
) -> Option<Result<EditStep, EditError>> {
    let (node, done) = match edit {
        PlanEdit::Lock { node } => (node, work.lock_node(node).map(|()| "locked")),
        PlanEdit::Unlock { node } => (node, work.unlock_node(node).map(|()| "unlocked")),
        PlanEdit::Comment { node, text } => {
            (node, work.comment_node(node, text).map(|()| "commented on"))
        }
        _ => return None,
    };
    Some(done.map(|what| EditStep {
        action: None,
        node_ids: vec![node.clone()],
        reason: format!("{what} \"{}\"", work.title(node)),
    }))
}

/// Returns a title in stored form: one line, within the limit.
fn clean_title(title: &str) -> Result<String, EditError> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    match title.chars().count() {
        0 => Err(EditError::EmptyTitle),
        count if count > PlanNode::MAX_TITLE_CHARS => Err(EditError::LongTitle { count }),
        _ => Ok(title),
    }
}

fn rename_node(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    title: &str,
) -> Result<EditSummary, EditError> {
    let title = clean_title(title)?;
    let old = work.find_node(id)?.title.clone();
    if old == title {
        return Err(EditError::NothingChanges);
    }
    let reason = format!("renamed \"{old}\" to \"{title}\"");
    work.update_node(id, |node| node.title.clone_from(&title));
    Ok(EditSummary { action: AdaptationAction::Rename, node_ids: vec![id.clone()], reason })
}

fn set_done_when(
    work: &mut PlanEditDraft<'_>,
    id: &TaskId,
    done_when: &str,
) -> Result<EditSummary, EditError> {
    let done_when = done_when.trim();
    let node = work.find_node(id)?;
    if node.done_when == done_when {
        return Err(EditError::NothingChanges);
    }
    let reason = match done_when {
        "" => format!("\"{}\" no longer says when it is done", node.title),
        done_when => format!("\"{}\" is done when: {done_when}", node.title),
    };
    work.update_node(id, |node| done_when.clone_into(&mut node.done_when));
    // The closed list of actions has no separate name for a new text on the same node.
    Ok(EditSummary { action: AdaptationAction::Rename, node_ids: vec![id.clone()], reason })
}

fn add_link(
    work: &mut PlanEditDraft<'_>,
    from: &TaskId,
    to: &TaskId,
    (kind, lag_minutes): (LinkKind, i32),
) -> Result<EditSummary, EditError> {
    work.find_node(from)?;
    let titles = (work.title(from), work.title(to));
    work.require_in_roadmap(from)?;
    work.require_in_roadmap(to)?;
    let links = work.links_mut()?;
    let wanted = NodeDependency {
        origin: LinkOrigin::UserFeedback,
        ..NodeDependency::new(from.clone(), to.clone(), kind).with_lag(lag_minutes)
    };
    let same = |old: &NodeDependency| old.from == *from && old.to == *to && old.kind == kind;
    let exists = links.iter().any(|old| {
        same(old) && old.lag_minutes == lag_minutes && old.lag_basis == wanted.lag_basis
    });
    if exists {
        return Err(EditError::NothingChanges);
    }
    links.retain(|old| !same(old));
    links.push(wanted);
    let reason = describe_link(&titles.0, &titles.1, kind);
    Ok(EditSummary {
        action: AdaptationAction::Relink,
        node_ids: vec![from.clone(), to.clone()],
        reason,
    })
}

/// Says in words how a task is tied to another.
fn describe_link(from: &str, to: &str, kind: LinkKind) -> String {
    match kind {
        LinkKind::FS => format!("\"{to}\" waits for \"{from}\""),
        LinkKind::SS => format!("\"{to}\" starts only when \"{from}\" has started"),
        LinkKind::FF => format!("\"{to}\" ends only when \"{from}\" has ended"),
        LinkKind::SF => format!("\"{to}\" ends only when \"{from}\" has started"),
    }
}

fn remove_link(
    work: &mut PlanEditDraft<'_>,
    from: &TaskId,
    to: &TaskId,
) -> Result<EditSummary, EditError> {
    work.find_node(from)?;
    let titles = (work.title(from), work.title(to));
    let links = work.links_mut()?;
    let count = links.len();
    links.retain(|link| link.from != *from || link.to != *to);
    if links.len() == count {
        return Err(EditError::NoLink { from: titles.0, to: titles.1 });
    }
    let reason = format!("\"{}\" no longer waits for \"{}\"", titles.1, titles.0);
    Ok(EditSummary {
        action: AdaptationAction::Relink,
        node_ids: vec![from.clone(), to.clone()],
        reason,
    })
}

/// Marks a node as edited by the person.
fn mark_user_origin(node: &mut PlanNode) {
    node.origin = NodeOrigin::UserFeedback;
}
