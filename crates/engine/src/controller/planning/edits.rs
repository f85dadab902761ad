//! Changes of a plan by operations: edits, locks, comments, changes put back, and their undoing.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{DecisionBuilder, advance_draft};
use crate::controller::{CommandDecision, DecisionResult};
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::event::{CommandRefusal, PlanningEvent, RevisedDraft};
use planwright_model::{
    Actor, AdaptationAction, AdaptationLogEntry, Comment, NodeOrigin, Plan, PlanEdit, PlanOutline,
    PlanState, Roadmap, TaskId,
};
use planwright_plan::diff::{DraftView, diff_drafts};
use planwright_plan::edit::{self, EditError, EditedPlan, PutBackError};
use planwright_state::{DraftSnapshot, PlanningSlice, SessionState};

/// Changes the plan by operations, all of them or none. The result is checked again and asked about again; no revision
/// is counted. Locks and comments change nothing that would have to be asked about.
pub(in super::super) fn edit_plan(
    state: &SessionState,
    edits: &[PlanEdit],
    now: Timestamp,
) -> DecisionResult {
    let talk = &state.planning;
    let outline = talk.outline.as_deref().ok_or(CommandRefusal::NoPlan)?;
    if edits.is_empty() {
        return Err(refuse("no change was named"));
    }
    if edits.iter().any(PlanEdit::changes_plan) && talk.is_working() {
        return Err(refuse("the next draft is being made; edit it once it is here"));
    }
    let edited = edit::apply_edits(outline, talk.roadmap.as_deref(), edits, &talk.locked)
        .map_err(edit_refusal)?;
    // The empty step that a plan of own steps begins with goes once there is a real one.
    let empty = crate::planner::empty_steps(&edited.outline);
    if !empty.is_empty() {
        let mut edits = edits.to_vec();
        edits.extend(empty.into_iter().map(|node| PlanEdit::Remove { node }));
        return edit_plan(state, &edits, now);
    }
    let changes_plan = edits.iter().any(PlanEdit::changes_plan);
    let all_changes = changes_plan.then(|| edit_all_changes(talk, edits)).flatten();
    let what = edited.reason.clone();
    let mut draft = DecisionBuilder::new(state, now);
    record_steps(&mut draft, &edited, (outline.version, edited.outline.version), now);
    draft.record(PlanningEvent::Revised {
        edits: edits.to_vec(),
        what: what.clone(),
        draft: changes_plan.then(|| revised_draft(edited.outline, edited.roadmap)),
        all_changes,
    });
    super::facts::record_edits(&mut draft, edits, &what);
    if changes_plan {
        return Ok(recheck_draft(draft));
    }
    Ok(draft.into_decision())
}

/// A draft that waits for approval and was edited as a file: the same changes as operations, so that outline, dates and
/// history follow. `None` where there is no such draft.
pub(in super::super) fn edit_as_file(
    state: &SessionState,
    plan: &Plan,
    now: Timestamp,
) -> Option<DecisionResult> {
    let talk = &state.planning;
    let open = talk.begun && talk.place.state != PlanState::Complete;
    let roadmap = talk.roadmap.as_deref().filter(|_| open)?;
    let current = state.plan.current.as_deref()?;
    Some(match edit::edits_from_file(&current.plan, plan, roadmap) {
        Ok(edits) if edits.is_empty() => Err(refuse("the plan is the same as before")),
        Ok(edits) => edit_plan(state, &edits, now),
        Err(error) => Err(refuse(error.to_string())),
    })
}

fn revised_draft(outline: PlanOutline, roadmap: Option<Roadmap>) -> RevisedDraft {
    RevisedDraft { outline: Arc::new(outline), roadmap: roadmap.map(Arc::new) }
}

/// Where changes are put back, the same operations on the draft with all of them. None if they mean nothing there: then
/// what is put back stays so.
fn edit_all_changes(talk: &PlanningSlice, edits: &[PlanEdit]) -> Option<RevisedDraft> {
    let all = talk.all_changes.as_deref()?;
    let touched = edits.iter().flat_map(PlanEdit::named_nodes);
    if touched.into_iter().any(|node| talk.put_back.contains(node)) {
        return None;
    }
    let outline = all.outline.as_deref()?;
    let edited = edit::apply_edits(outline, all.roadmap.as_deref(), edits, &talk.locked).ok()?;
    Some(revised_draft(edited.outline, edited.roadmap))
}

/// Logs what each edit did to the plan.
fn record_steps(
    draft: &mut DecisionBuilder<'_>,
    edited: &EditedPlan,
    (from_version, to_version): (u32, u32),
    now: Timestamp,
) {
    for step in &edited.steps {
        let Some(action) = step.action else { continue };
        let entry = log_entry(
            draft.planning(),
            (action, step.node_ids.clone(), step.reason.clone()),
            (from_version, to_version),
            now,
        );
        draft.record(PlanningEvent::Adapted { entry });
    }
}

fn log_entry(
    talk: &PlanningSlice,
    (action, node_ids, reason): (AdaptationAction, Vec<TaskId>, String),
    (from_version, to_version): (u32, u32),
    now: Timestamp,
) -> AdaptationLogEntry {
    AdaptationLogEntry {
        id: format!("a{}", talk.adaptation_log.len() + 1),
        timestamp: now,
        node_ids,
        action,
        reason,
        origin: NodeOrigin::UserFeedback,
        strategy_applied: None,
        portfolio_impact: None,
        from_version,
        to_version,
    }
}

pub(in super::super) fn comment_node(
    state: &SessionState,
    node: &TaskId,
    text: &str,
    now: Timestamp,
) -> DecisionResult {
    if is_drafted_node(state, node) {
        let edit = PlanEdit::Comment { node: node.clone(), text: text.to_owned() };
        return edit_plan(state, &[edit], now);
    }
    require_task(state, node)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(refuse("a comment needs words"));
    }
    let id = state.planning.comments.last().map_or(1, |last| last.id + 1);
    let (node, text) = (node.clone(), text.to_owned());
    let comment = Comment { id, node, text, version: 1, outcome: None };
    Ok(CommandDecision::from_event(PlanningEvent::Commented { comment }))
}

pub(in super::super) fn lock_node(
    state: &SessionState,
    node: &TaskId,
    on: bool,
    now: Timestamp,
) -> DecisionResult {
    if state.planning.locked.contains(node) == on {
        let what = format!("{node} is {} already", if on { "locked" } else { "not locked" });
        return Err(refuse(what));
    }
    let node = node.clone();
    if is_drafted_node(state, &node) {
        let edit = if on { PlanEdit::Lock { node } } else { PlanEdit::Unlock { node } };
        return edit_plan(state, &[edit], now);
    }
    require_task(state, &node)?;
    Ok(CommandDecision::from_event(if on {
        PlanningEvent::NodeLocked { node }
    } else {
        PlanningEvent::NodeUnlocked { node }
    }))
}

fn is_drafted_node(state: &SessionState, node: &TaskId) -> bool {
    let talk = &state.planning;
    talk.outline.as_deref().is_some_and(|outline| outline.find_node(node).is_some())
        || talk.roadmap.as_deref().is_some_and(|roadmap| roadmap.find_node(node).is_some())
}

/// A plan that was read from a file has tasks and no draft.
fn require_task(state: &SessionState, node: &TaskId) -> Result<(), CommandRefusal> {
    match state.tasks.position(node) {
        Some(_) => Ok(()),
        None => Err(CommandRefusal::UnknownTask { task: node.clone() }),
    }
}

/// Puts one change of the draft back to what it was in the draft before, or takes it again; the rest is dated again.
pub(in super::super) fn put_back_change(
    state: &SessionState,
    node: &TaskId,
    again: bool,
    now: Timestamp,
) -> DecisionResult {
    let talk = &state.planning;
    if talk.is_working() {
        return Err(refuse("the next draft is being made; its changes can be put back then"));
    }
    let combined = combine_changes(talk, node, again).map_err(|error| match error {
        PutBackError::Refused(error) => edit_refusal(error),
        other => refuse(other.to_string()),
    })?;
    let title = find_title(talk, node);
    let what = if again {
        format!("took the change of \"{title}\" again")
    } else {
        format!("put the change of \"{title}\" back")
    };
    let versions = (talk.outline.as_deref().map_or(1, |now| now.version), combined.outline.version);
    let mut draft = DecisionBuilder::new(state, now);
    let changed = changed_nodes(talk, &combined);
    let entry = log_entry(talk, (AdaptationAction::Rename, changed, what.clone()), versions, now);
    draft.record(PlanningEvent::Adapted { entry });
    draft.record(PlanningEvent::ChangePutBack {
        node: node.clone(),
        again,
        put_back: combined.put_back,
        what,
        draft: revised_draft(combined.outline, combined.roadmap),
    });
    Ok(recheck_draft(draft))
}

/// The nodes that are not the same after a change was put back, for the log.
fn changed_nodes(talk: &PlanningSlice, combined: &edit::CombinedDraft) -> Vec<TaskId> {
    let Some(now) = talk.draft_view() else { return Vec::new() };
    let after = DraftView {
        outline: &combined.outline,
        roadmap: combined.roadmap.as_ref(),
        schedule: None,
    };
    let diff = diff_drafts(&DraftView { schedule: None, ..now }, &after);
    diff.own_changes().map(|row| row.node.clone()).collect()
}

fn combine_changes(
    talk: &PlanningSlice,
    node: &TaskId,
    again: bool,
) -> Result<edit::CombinedDraft, PutBackError> {
    let before = talk.compared.as_deref().and_then(DraftSnapshot::view);
    let before = before.ok_or(PutBackError::NothingBefore)?;
    let all = match &talk.all_changes {
        Some(all) => all.view(),
        None => talk.draft_view(),
    };
    let all = all.ok_or(PutBackError::NothingBefore)?;
    let title = || find_title(talk, node);
    let mut put_back: BTreeSet<TaskId> = talk.put_back.clone();
    if again {
        if !put_back.remove(node) {
            return Err(PutBackError::NotPutBack { title: title() });
        }
    } else {
        let diff = diff_drafts(
            &DraftView { schedule: None, ..before },
            &DraftView { schedule: None, ..all },
        );
        let now = DraftView { schedule: talk.schedule.as_deref(), ..all };
        let is_moved = before.first_day(node) != now.first_day(node);
        let changed = is_moved || diff.own_changes().any(|row| row.node == *node);
        if !changed || !put_back.insert(node.clone()) {
            return Err(PutBackError::NotChanged { title: title() });
        }
    }
    Ok(edit::combine_drafts(&before, &all, &put_back, again)?)
}

/// The title of a node now, or in the draft before.
fn find_title(talk: &PlanningSlice, node: &TaskId) -> String {
    let of = |view: Option<DraftView<'_>>| {
        let view = view?;
        let roadmap = view.roadmap.and_then(|roadmap| roadmap.find_node(node));
        roadmap.or_else(|| view.outline.find_node(node)).map(|node| node.title.clone())
    };
    of(talk.draft_view())
        .or_else(|| of(talk.compared.as_deref().and_then(DraftSnapshot::view)))
        .unwrap_or_else(|| node.to_string())
}

fn refuse(what: impl Into<String>) -> CommandRefusal {
    CommandRefusal::OutOfRange { what: what.into() }
}

fn edit_refusal(error: EditError) -> CommandRefusal {
    match error {
        EditError::Locked { node, .. } => CommandRefusal::Locked { node },
        EditError::BreaksRule { rule, message } => CommandRefusal::BreaksRule { rule, message },
        other => refuse(other.to_string()),
    }
}

/// Undoes the last change of the draft, by hand or by a change request, or redoes it.
pub(in super::super) fn undo_change(
    state: &SessionState,
    again: bool,
    now: Timestamp,
) -> DecisionResult {
    let talk = &state.planning;
    if !again && super::discard::is_discarded(state) {
        return super::discard::restore_plan(state, Actor::Person, now);
    }
    if let Some(undo) = talk.catch_up.as_ref().filter(|undo| !again && undo.applied) {
        return Ok(super::catch_up::undo_catch_up(state, undo, now));
    }
    let possible = if again { &talk.redo } else { &talk.undo };
    if talk.is_working() {
        return Err(refuse("the next draft is being made; once it is here it can be undone"));
    }
    if possible.is_empty() {
        return Err(refuse(if again { "nothing to redo" } else { "nothing to undo" }));
    }
    let changes_plan = talk.undo_changes_plan(again);
    let what = possible.last().map(|undone| undone.what.clone()).unwrap_or_default();
    let mut draft = DecisionBuilder::new(state, now);
    draft.record(PlanningEvent::Undone { again });
    super::facts::record_undo(&mut draft, &what, again);
    if changes_plan {
        return Ok(recheck_draft(draft));
    }
    Ok(draft.into_decision())
}

/// Has the changed draft checked again, where the conversation waits for the person.
pub(super) fn recheck_draft(mut draft: DecisionBuilder<'_>) -> CommandDecision {
    let waits = !draft.planning().place.state.is_working();
    if waits {
        advance_draft(&mut draft, ControllerOutcome::Edited, None);
    }
    draft.into_decision()
}
