//! Wishes that need no open question: policy, comments, locks, edits by hand, and changes to a plan that is complete.

use std::sync::Arc;

use jiff::Timestamp;

use super::answer::{change_scope, record_change_requests};
use super::{DecisionBuilder, advance_draft};
use crate::SavedDecision;
use crate::controller::{CommandDecision, DecisionResult, DriverEffect};
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::gate::{self, GatePolicy};
use planwright_model::event::{AgentEvent, CommandRefusal, PlanningEvent};
use planwright_model::gate::GateSignals;
use planwright_model::{
    Actor, AdaptationLogEntry, Comment, NodeOrigin, PlanEdit, PlanState, PolicyOverride,
    ScoutGateMode, Stage, TaskId,
};
use planwright_plan::edit as edits;
use planwright_state::SessionState;

/// Changes how the person is talked to; works in every session, with and without a conversation.
pub(in super::super) fn set_policy(set: &PolicyOverride, save: bool, by: Actor) -> CommandDecision {
    let decision =
        CommandDecision::from_event(PlanningEvent::PolicySet { set: set.clone(), saved: save, by });
    if save {
        decision.with_effect(DriverEffect::SaveDecision(SavedDecision::Policy(set.clone())))
    } else {
        decision
    }
}

/// Says when something small skips ceremony; what the gate saw before is judged again by it.
pub(in super::super) fn set_gate(state: &SessionState, when: ScoutGateMode) -> CommandDecision {
    let standing = state.planning.gate.clone();
    let standing = standing.unwrap_or_else(|| {
        gate::decide_gate(&GatePolicy::default(), GateSignals::default(), gate::LOOPS, None)
    });
    let decision = gate::redecide_gate(&standing, when);
    CommandDecision::from_event(AgentEvent::Gated { decision: Box::new(decision) })
}

fn require_node(state: &SessionState, node: &TaskId) -> Result<(), CommandRefusal> {
    let known =
        state.planning.outline.as_deref().is_some_and(|outline| outline.find_node(node).is_some())
            || state.tasks.position(node).is_some();
    if known { Ok(()) } else { Err(CommandRefusal::UnknownTask { task: node.clone() }) }
}

pub(in super::super) fn comment_node(
    state: &SessionState,
    node: &TaskId,
    text: &str,
) -> DecisionResult {
    require_node(state, node)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandRefusal::OutOfRange { what: "a comment needs words".to_owned() });
    }
    let talk = &state.planning;
    Ok(CommandDecision::from_event(PlanningEvent::Commented {
        comment: Comment {
            id: talk.comments.last().map_or(1, |last| last.id + 1),
            node: node.clone(),
            text: text.to_owned(),
            version: talk.outline.as_deref().map_or(1, |outline| outline.version),
            outcome: None,
        },
    }))
}

pub(in super::super) fn lock_node(state: &SessionState, node: &TaskId, on: bool) -> DecisionResult {
    require_node(state, node)?;
    if state.planning.locked.contains(node) == on {
        let what = format!("{node} is {} already", if on { "locked" } else { "not locked" });
        return Err(CommandRefusal::OutOfRange { what });
    }
    Ok(CommandDecision::from_event(if on {
        PlanningEvent::NodeLocked { node: node.clone() }
    } else {
        PlanningEvent::NodeUnlocked { node: node.clone() }
    }))
}

/// Changes the plan by hand. The result is checked again and asked about again; no revision is counted.
pub(in super::super) fn edit_plan(
    state: &SessionState,
    edit: &PlanEdit,
    now: Timestamp,
) -> DecisionResult {
    let talk = &state.planning;
    let outline = talk.outline.as_deref().ok_or(CommandRefusal::NoPlan)?;
    let edited = edits::apply_edit(outline, talk.roadmap.as_deref(), edit, &talk.locked)
        .map_err(edit_refusal)?;
    let mut draft = DecisionBuilder::new(state, now);
    let entry = AdaptationLogEntry {
        id: format!("a{}", talk.adaptation_log.len() + 1),
        timestamp: now,
        node_ids: edited.node_ids.clone(),
        action: edited.action,
        reason: edited.reason.clone(),
        origin: NodeOrigin::UserFeedback,
        strategy_applied: None,
        portfolio_impact: None,
        from_version: outline.version,
        to_version: edited.outline.version,
    };
    draft.record(PlanningEvent::Adapted { entry });
    draft.record(PlanningEvent::Edited {
        edit: edit.clone(),
        outline: Arc::new(edited.outline),
        roadmap: edited.roadmap.map(Arc::new),
    });
    Ok(recheck_draft(draft))
}

fn edit_refusal(error: edits::EditError) -> CommandRefusal {
    match error {
        edits::EditError::Locked { node, .. } => CommandRefusal::Locked { node },
        edits::EditError::BreaksRule { rule, message } => {
            CommandRefusal::BreaksRule { rule, message }
        }
        other => CommandRefusal::OutOfRange { what: other.to_string() },
    }
}

/// Takes the last change of the draft back, by hand or by a change request, or makes it again.
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
        let what = "the next draft is being made; once it is here it can be taken back".to_owned();
        return Err(CommandRefusal::OutOfRange { what });
    }
    if possible.is_empty() {
        let what = if again { "nothing to make again" } else { "nothing to take back" };
        return Err(CommandRefusal::OutOfRange { what: what.to_owned() });
    }
    let mut draft = DecisionBuilder::new(state, now);
    draft.record(PlanningEvent::Undone { again });
    Ok(recheck_draft(draft))
}

/// Has the changed draft checked again, where the conversation waits for the person.
fn recheck_draft(mut draft: DecisionBuilder<'_>) -> CommandDecision {
    let waits = !draft.planning().place.state.is_working();
    if waits {
        advance_draft(&mut draft, ControllerOutcome::Edited, None);
    }
    CommandDecision { events: draft.events, effects: Vec::new() }
}

/// Re-enters planning for a plan that is complete or running; what is finished stays.
pub(in super::super) fn request_changes(
    state: &SessionState,
    text: &str,
    nodes: &[TaskId],
    stage: Option<Stage>,
    now: Timestamp,
) -> DecisionResult {
    if state.planning.place.state != PlanState::Complete || !state.planning.begun {
        let what = "changes are asked for in the open request".to_owned();
        return Err(CommandRefusal::OutOfRange { what });
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandRefusal::OutOfRange { what: "say what should be different".to_owned() });
    }
    let mut draft = DecisionBuilder::new(state, now);
    let finished: Vec<TaskId> = state
        .tasks
        .iter()
        .filter(|(id, row)| row.status.is_settled() && !state.planning.locked.contains(*id))
        .map(|(id, _)| id.clone())
        .collect();
    for node in finished {
        draft.record(PlanningEvent::NodeLocked { node });
    }
    super::catch_up::record_frozen_work(&mut draft);
    record_change_requests(&mut draft, text, nodes);
    let scope = change_scope(&draft, text, stage);
    advance_draft(&mut draft, ControllerOutcome::Revise, Some(scope));
    Ok(CommandDecision { events: draft.events, effects: Vec::new() })
}

/// Gives planning up.
pub(in super::super) fn abandon_planning(
    state: &SessionState,
    by: Actor,
    now: Timestamp,
) -> DecisionResult {
    if !state.planning.begun || state.planning.is_over() {
        return Err(CommandRefusal::NoPlan);
    }
    let mut draft = DecisionBuilder::new(state, now);
    if state.plan.current.is_some() {
        draft.record(planwright_model::event::PlanEvent::Abandoned { by });
    }
    advance_draft(&mut draft, ControllerOutcome::Cancel, None);
    Ok(CommandDecision { events: draft.events, effects: vec![DriverEffect::CancelStage] })
}
