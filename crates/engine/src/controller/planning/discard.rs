//! Discarding a plan, and opening it again. Nothing of it is lost: the session keeps the draft and its history.

use std::sync::Arc;

use jiff::Timestamp;

use super::{DecisionBuilder, enter_state, requests};
use crate::controller::DecisionResult;
use planwright_model::event::{ApprovalEvent, CommandRefusal, PlanEvent, PlanningEvent};
use planwright_model::requests::final_plan_request;
use planwright_model::{Actor, ApprovalTarget, PlanState};
use planwright_state::SessionState;

/// Whether the plan was discarded and can be restored.
pub(super) fn is_discarded(state: &SessionState) -> bool {
    let planning = &state.planning;
    if planning.begun {
        return planning.place.state == PlanState::Aborted && planning.discarded.is_some();
    }
    state.plan.abandoned
}

/// Opens a discarded plan again where it stood, with its question.
pub(in super::super) fn restore_plan(
    state: &SessionState,
    by: Actor,
    now: Timestamp,
) -> DecisionResult {
    if !is_discarded(state) {
        let what = "the plan was not discarded".to_owned();
        return Err(CommandRefusal::OutOfRange { what });
    }
    let mut draft = DecisionBuilder::new(state, now);
    if state.plan.abandoned {
        draft.record(PlanEvent::Restored { by });
    }
    if !state.planning.begun {
        ask_about_file(&mut draft);
        return Ok(draft.into_decision());
    }
    draft.record(PlanningEvent::Restored { by });
    let place = draft.planning().place;
    let current = draft.state().plan.current.clone();
    match current.filter(|_| place.target == Some(ApprovalTarget::Final)) {
        Some(revision) => {
            let id = draft.state().requests.next_id();
            let (request, words) =
                requests::planning_final_request(id, draft.planning(), &revision, now);
            draft.tell_person(words);
            draft.record(ApprovalEvent::Asked { request: Arc::new(request) });
        }
        None => enter_state(&mut draft),
    }
    Ok(draft.into_decision())
}

/// A plan of a file has no conversation; its request is put again.
fn ask_about_file(draft: &mut DecisionBuilder<'_>) {
    let Some(current) = draft.state().plan.current.clone() else { return };
    let state = draft.state();
    let request = if state.desk.is_ticket() {
        crate::controller::desk::ask_about_submission(state, &current)
    } else {
        final_plan_request(state.requests.next_id(), &current.as_proposed_plan())
    };
    draft.record(ApprovalEvent::Asked { request: Arc::new(request) });
}
