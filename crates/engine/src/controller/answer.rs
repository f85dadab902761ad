//! What an answer to a request leads to.

use jiff::Timestamp;

use super::{Decided, Decision, Effect, planning, reset, skipping, started};
use crate::{Keep, caps};
use planwright_model::event::{
    ApprovalEvent, CallEvent, CallOutcome, CloseReason, PlanEvent, PlanningEvent, Refusal,
    RunEvent, TaskEvent,
};
use planwright_model::{Actor, Answer, CallId, Cap, ChoiceAction, Digest, RequestId, RequestKind};
use planwright_state::agents::unseen;
use planwright_state::{RunPhase, SessionState};

pub(super) fn answer(
    state: &SessionState,
    id: RequestId,
    answer: &Answer,
    by: Actor,
    jobs: u32,
    now: Timestamp,
) -> Decided {
    let open = state.requests.open.get(&id).ok_or(Refusal::NotPending { id })?;
    if open.request.choice(answer.action).is_none() {
        return Err(Refusal::NotOffered { id });
    }
    // Stopping leaves the question open, so that a later process asks it again.
    if answer.action == ChoiceAction::Stop {
        return Ok(Decision::default().then(Effect::Close(CloseReason::NeedsPerson)));
    }
    if let Some(decided) = planning::answer(state, &open.request, answer, by, jobs, now) {
        return decided;
    }
    let answered = Decision::of(ApprovalEvent::Answered { id, answer: answer.clone(), by });
    match &open.request.kind {
        RequestKind::FinalPlan { hash, .. } => {
            final_plan(state, answered, answer.action, hash, by, jobs)
        }
        RequestKind::InDoubt { call } => in_doubt(state, answered, answer.action, call, by, now),
        RequestKind::Cap { cap, .. } => raise(state, answered, answer.action, *cap, now),
        RequestKind::Consent { provider } => consent(answered, answer.action, provider),
        // Questions of agents: the agent that asked acts on the answer.
        RequestKind::Permission { call, .. } => permission(state, answered, answer.action, call),
        RequestKind::TaskCap { .. } => Some(Ok(answered)),
        _ => None,
    }
    .ok_or(Refusal::NotOffered { id })?
}

/// A command of the plan may be skipped instead; everything else is the asking agent's to act on.
fn permission(
    state: &SessionState,
    mut answered: Decision,
    action: ChoiceAction,
    call: &CallId,
) -> Option<Decided> {
    if matches!(action, ChoiceAction::SkipAlone | ChoiceAction::SkipWithDependents) {
        let task = state.tasks.position(&call.task)?;
        let skips = skipping(state, task, action == ChoiceAction::SkipWithDependents);
        answered.events.extend(skips.events);
    }
    Some(Ok(answered))
}

fn final_plan(
    state: &SessionState,
    answered: Decision,
    action: ChoiceAction,
    hash: &Digest,
    by: Actor,
    jobs: u32,
) -> Option<Decided> {
    let approved = PlanEvent::Approved { hash: hash.clone(), by };
    Some(match action {
        ChoiceAction::ApproveAndRun => {
            // The run is decided on a state in which the approval already holds.
            let mut after = state.clone();
            after.plan.approve(hash, by, state.at.unwrap_or_default());
            started(&after, jobs).map(|run| answered.and(approved).and(run))
        }
        ChoiceAction::ApproveAndStop => Ok(answered.and(approved)),
        ChoiceAction::Abandon => Ok(answered.and(PlanEvent::Abandoned { by })),
        _ => return None,
    })
}

/// Whether a provider's key may be used, now and later.
fn consent(answered: Decision, action: ChoiceAction, provider: &str) -> Option<Decided> {
    let keep = |yes| Effect::Keep(Keep::Consent { provider: provider.to_owned(), yes });
    Some(Ok(match action {
        ChoiceAction::UseProvider => answered
            .and(PlanningEvent::DrafterSet { drafter: provider.to_owned() })
            .then(keep(true)),
        ChoiceAction::OfflineThisTime => answered,
        ChoiceAction::NeverUse => answered.then(keep(false)),
        _ => return None,
    }))
}

fn raise(
    state: &SessionState,
    answered: Decision,
    action: ChoiceAction,
    cap: Cap,
    now: Timestamp,
) -> Option<Decided> {
    let event = match action {
        ChoiceAction::RaiseOnce => {
            let to = Some(caps::raised_once(cap, caps::used(state, cap, now)));
            RunEvent::CapRaised { cap, to }
        }
        ChoiceAction::RaiseForSession => RunEvent::CapRaised { cap, to: None },
        ChoiceAction::GoOffline => RunEvent::OfflineSet { on: true },
        _ => return None,
    };
    let raised = answered.and(event);
    Some(Ok(if state.run.phase == RunPhase::Paused {
        raised.and(RunEvent::Continued)
    } else {
        raised
    }))
}

fn in_doubt(
    state: &SessionState,
    answered: Decision,
    action: ChoiceAction,
    call: &CallId,
    by: Actor,
    now: Timestamp,
) -> Option<Decided> {
    let Some(task) = state.tasks.position(&call.task) else {
        return Some(Err(Refusal::UnknownTask { task: call.task.clone() }));
    };
    let row = state.tasks.row(task);
    // A call that was cancelled when its process left has its outcome; only one without an outcome gets one now.
    let close = |decision: Decision, outcome| {
        if row.call.is_some() {
            decision.and(CallEvent::closed(call.clone(), outcome))
        } else {
            decision
        }
    };
    let at_a_call = state.agents.get(&call.task).and_then(|own| Some((own, own.open.as_ref()?)));
    Some(Ok(match action {
        // Only the call took place; what the agent makes of it is still to come.
        ChoiceAction::Happened if at_a_call.is_some() => {
            let closed = close(answered, CallOutcome::SaidToHaveHappened);
            let seen = at_a_call.map(|(own, open)| {
                let result = unseen("the person says that it took place");
                open.observed(&call.task, own.attempt, &result, now)
            });
            let mut decision = closed.and(reset(&call.task, "the call took place"));
            decision.events.extend(seen.map(Into::into));
            decision
        }
        ChoiceAction::Happened => {
            close(answered, CallOutcome::SaidToHaveHappened).and(TaskEvent::Completed {
                task: call.task.clone(),
                attempt: row.attempt,
                elapsed_ms: 0,
                by: Some(by),
                note: None,
            })
        }
        ChoiceAction::RunAgain => close(answered, CallOutcome::GivenUp)
            .and(reset(&call.task, "in doubt, to be run again")),
        ChoiceAction::SkipAlone | ChoiceAction::SkipWithDependents => {
            let mut decision = close(answered, CallOutcome::GivenUp);
            let skips = skipping(state, task, action == ChoiceAction::SkipWithDependents);
            decision.events.extend(skips.events);
            decision
        }
        _ => return None,
    }))
}
