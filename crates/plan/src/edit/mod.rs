//! Edits made by a person: outline and roadmap stay consistent, and no edit may break a rule that was satisfied.
//!
//! Links are maintained as a person would expect: a new or moved node is inserted into the chain of its siblings, and
//! the chain closes over a removed node. The caller turns the parts of [`EditedPlan`] into a log entry.

mod chain;
mod draft;
mod error;
mod tree;

use std::collections::BTreeSet;

pub use error::EditError;

use crate::critical_path::critical_path;
use crate::grammar::{PlanArtifacts, validate_outline, validate_roadmap};
use draft::PlanEditDraft;
use planwright_model::{
    AdaptationAction, LinkKind, LinkOrigin, NodeDependency, NodeOrigin, PatternType, PlanEdit,
    PlanNode, PlanOutline, Roadmap, Severity, TaskId, Violation,
};

/// A plan after an edit, and the content of its log entry.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedPlan {
    pub outline: PlanOutline,
    pub roadmap: Option<Roadmap>,
    pub action: AdaptationAction,
    pub node_ids: Vec<TaskId>,
    pub reason: String,
}

/// What an edit did, for the log.
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
    let mut work = PlanEditDraft::new(outline, roadmap, locked);
    let summary = perform_edit(&mut work, edit)?;
    let (mut outline_after, mut roadmap_after) = work.into_parts();
    outline_after.version = outline.version.saturating_add(1);
    if let Some(roadmap) = &mut roadmap_after {
        let pattern = roadmap.effective_pattern().or_else(|| outline.pattern.clone());
        let pattern = pattern.map_or(PatternType::MilestoneProject, |spec| spec.pattern_type);
        roadmap.critical_path =
            critical_path(&roadmap.nodes, &roadmap.root_id, &roadmap.dependencies, pattern);
        roadmap.total_minutes = roadmap.node_tree().total_minutes(&roadmap.root_id);
    }
    let before = broken_rules(outline, roadmap);
    let known: BTreeSet<_> = before.iter().map(|found| (&found.rule, &found.node_ids)).collect();
    let after = broken_rules(&outline_after, roadmap_after.as_ref());
    if let Some(new) = after.iter().find(|found| !known.contains(&(&found.rule, &found.node_ids))) {
        let (rule, message) = (new.rule.clone(), new.message.clone());
        return Err(EditError::BreaksRule { rule, message });
    }
    let EditSummary { action, node_ids, reason } = summary;
    Ok(EditedPlan { outline: outline_after, roadmap: roadmap_after, action, node_ids, reason })
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

fn perform_edit(work: &mut PlanEditDraft<'_>, edit: &PlanEdit) -> Result<EditSummary, EditError> {
    for id in edit.affected_nodes() {
        work.find_node(id)?;
        work.require_unlocked(id)?;
    }
    match edit {
        PlanEdit::Rename { node, title } => rename_node(work, node, title),
        PlanEdit::SetDoneWhen { node, done_when } => set_done_when(work, node, done_when),
        PlanEdit::SetEstimate { node, minutes } => tree::set_estimate(work, node, *minutes),
        PlanEdit::SetDoer { node, doer, command } => {
            tree::set_doer(work, node, *doer, command.as_deref())
        }
        PlanEdit::Add { parent, title, minutes } => tree::add_node(work, parent, title, *minutes),
        PlanEdit::Remove { node } => tree::remove_node(work, node),
        PlanEdit::Move { node, parent, position } => tree::move_node(work, node, parent, *position),
        PlanEdit::Link { from, to, kind, lag_minutes } => {
            add_link(work, from, to, (*kind, *lag_minutes))
        }
        PlanEdit::Unlink { from, to } => remove_link(work, from, to),
    }
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
    let reason = format!("\"{}\" waits for \"{}\" ({kind:?})", titles.1, titles.0);
    Ok(EditSummary {
        action: AdaptationAction::Relink,
        node_ids: vec![from.clone(), to.clone()],
        reason,
    })
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
