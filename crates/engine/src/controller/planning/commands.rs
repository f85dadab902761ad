//! Commands that need no open question: policy, and changes to a plan that is complete.

use jiff::Timestamp;

use super::answer::{change_scope, record_change_requests};
use super::{DecisionBuilder, advance_draft};
use crate::SavedDecision;
use crate::controller::{CommandDecision, DecisionResult, DriverEffect};
use planwright_drafting::change_requests::is_undo_request;
use planwright_drafting::controller::ControllerOutcome;
use planwright_drafting::gate::{self, GatePolicy};
use planwright_model::event::{AgentEvent, CommandRefusal, PlanningEvent};
use planwright_model::gate::GateSignals;
use planwright_model::{Actor, PlanState, PolicyOverride, ScoutGateMode, Stage, TaskId};
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
    if is_undo_request(text) {
        return super::edits::undo_change(state, false, now);
    }
    let mut draft = DecisionBuilder::new(state, now);
    keep_finished_work(&mut draft);
    record_change_requests(&mut draft, text, nodes);
    let scope = change_scope(&draft, text, stage);
    advance_draft(&mut draft, ControllerOutcome::Revise, Some(scope));
    Ok(CommandDecision { events: draft.events, effects: Vec::new() })
}

/// Locks what is done or skipped, so that a plan that is made again leaves it as it is.
pub(super) fn keep_finished_work(draft: &mut DecisionBuilder<'_>) {
    let state = draft.state();
    let finished: Vec<TaskId> = state
        .tasks
        .iter()
        .filter(|(id, row)| row.status.is_settled() && !state.planning.locked.contains(*id))
        .map(|(id, _)| id.clone())
        .collect();
    for node in finished {
        draft.record(PlanningEvent::NodeLocked { node });
    }
    super::catch_up::record_frozen_work(draft);
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
