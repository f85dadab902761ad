//! What an answer to a request leads to.

use jiff::Timestamp;

use super::{
    CommandDecision, DecisionResult, DriverEffect, candidates, change_review, desk, planning,
    run_started_event, skip_decision, task_reset_event,
};
use crate::{SavedDecision, caps};
use planwright_model::event::{
    AgentEvent, ApprovalEvent, CallEvent, CallOutcome, CloseReason, CommandRefusal, Event,
    PlanEvent, PlanningEvent, RunEvent, TaskEvent,
};
use planwright_model::{
    Actor, Answer, CallId, ChoiceAction, Digest, PlanDrafter, RequestId, RequestKind, RunCap,
    SkipReason,
};
use planwright_state::agent_progress::unseen_success;
use planwright_state::{AgentProgress, RunPhase, SessionState, TaskStatus};

pub(super) fn answer_request(
    state: &SessionState,
    id: RequestId,
    answer: &Answer,
    by: Actor,
    jobs: u32,
    now: Timestamp,
) -> DecisionResult {
    let open = state.requests.open.get(&id).ok_or(CommandRefusal::NotPending { id })?;
    if open.request.available_choice(answer.action).is_none() {
        return Err(CommandRefusal::NotOffered { id });
    }
    if let Err(message) = open.request.parse_typed_rule(answer) {
        return Err(CommandRefusal::BreaksRule { rule: "permission".to_owned(), message });
    }
    // Stopping leaves the question open, so that a later process asks it again.
    if answer.action == ChoiceAction::Stop {
        return Ok(
            CommandDecision::default().with_effect(DriverEffect::Close(CloseReason::NeedsPerson))
        );
    }
    if let Some(decided) =
        planning::answer_planning_request(state, &open.request, answer, by, jobs, now)
    {
        return decided;
    }
    let answered =
        CommandDecision::from_event(ApprovalEvent::Answered { id, answer: answer.clone(), by });
    match &open.request.kind {
        RequestKind::FinalPlan { hash, .. } if state.desk.is_ticket() => {
            Some(desk::answer_submitted_plan(state, answered, answer, (id, hash), by, jobs))
        }
        RequestKind::DeskQuestion { .. } | RequestKind::DeskPermission { .. } => {
            Some(desk::answer_inquiry(answered, answer, id, by))
        }
        RequestKind::FinalPlan { hash, .. } => {
            answer_final_plan(state, answered, answer, hash, by, jobs)
        }
        RequestKind::InDoubt { call } => {
            answer_in_doubt(state, answered, answer.action, call, by, now)
        }
        RequestKind::Cap { cap, .. } => answer_cap(state, answered, answer, *cap, now),
        RequestKind::Consent { provider } => answer_consent(answered, answer.action, provider),
        // Questions of agents: the agent that asked acts on the answer.
        RequestKind::Permission { call, .. } => {
            answer_permission(state, answered, answer.action, call)
        }
        RequestKind::ChangeReview { task, .. } => {
            change_review::answer_review(state, answered, answer, task, by, now)
        }
        RequestKind::CandidateChoice { task, .. } => {
            candidates::answer_choice(state, answered, answer, task, by, now)
        }
        RequestKind::AppliedCheck { task, .. } => {
            change_review::answer_applied_check(state, answered, answer, task, by)
        }
        RequestKind::AgentQuestion { .. } | RequestKind::PartlyDone { .. }
            if lacks_words(answer) =>
        {
            Some(Err(CommandRefusal::OutOfRange { what: "say it in words".to_owned() }))
        }
        RequestKind::TaskCap { .. }
        | RequestKind::AgentQuestion { .. }
        | RequestKind::PartlyDone { .. } => Some(Ok(answered)),
        _ => None,
    }
    .ok_or(CommandRefusal::NotOffered { id })?
}

/// Whether an answer that consists of words has none.
fn lacks_words(answer: &Answer) -> bool {
    matches!(answer.action, ChoiceAction::Reply | ChoiceAction::RequestChanges)
        && answer.text.as_deref().unwrap_or_default().trim().is_empty()
}

/// A command of the plan may be skipped instead; everything else is the asking agent's to act on.
fn answer_permission(
    state: &SessionState,
    mut answered: CommandDecision,
    action: ChoiceAction,
    call: &CallId,
) -> Option<DecisionResult> {
    if matches!(action, ChoiceAction::SkipAlone | ChoiceAction::SkipWithDependents) {
        let task = state.tasks.position(&call.task)?;
        let skips = skip_decision(state, task, action == ChoiceAction::SkipWithDependents);
        answered.events.extend(skips.events);
    }
    Some(Ok(answered))
}

fn answer_final_plan(
    state: &SessionState,
    answered: CommandDecision,
    answer: &Answer,
    hash: &Digest,
    by: Actor,
    jobs: u32,
) -> Option<DecisionResult> {
    let approved = PlanEvent::Approved { hash: hash.clone(), by };
    Some(match answer.action {
        ChoiceAction::ApproveAndRun => {
            // The run is decided on a state in which the approval already holds.
            let mut after = state.clone();
            after.plan.record_approval(hash, by, state.at.unwrap_or_default());
            run_started_event(&after, jobs).map(|run| {
                let mut decision = answered.with_event(approved);
                decision.events.extend(failed_task_resets(state));
                decision.with_event(run)
            })
        }
        ChoiceAction::ApproveAndStop => Ok(answered.with_event(approved)),
        ChoiceAction::ApproveFromTask => {
            let mut after = state.clone();
            after.plan.record_approval(hash, by, state.at.unwrap_or_default());
            planning::start_at_task(&after, answer).and_then(|skipped| {
                let run = run_started_event(&after, jobs)?;
                let mut decision = answered.with_event(approved).with_event(run);
                decision.events.extend(skipped);
                Ok(decision)
            })
        }
        ChoiceAction::Abandon => Ok(answered.with_event(PlanEvent::Abandoned { by })),
        _ => return None,
    })
}

/// A plan that is approved again after a run runs what failed in it again, and what was skipped because of that.
fn failed_task_resets(state: &SessionState) -> Vec<Event> {
    let runs_again = |status: TaskStatus| match status {
        TaskStatus::Failed => true,
        TaskStatus::Skipped(reason) => reason != SkipReason::ByPerson,
        _ => false,
    };
    let rows = state.tasks.iter().filter(|(_, row)| runs_again(row.status));
    rows.map(|(id, _)| task_reset_event(id, "approved again with the changed plan")).collect()
}

/// Whether a provider's key may be used, now and later.
fn answer_consent(
    answered: CommandDecision,
    action: ChoiceAction,
    provider: &str,
) -> Option<DecisionResult> {
    let keep = |yes| {
        DriverEffect::SaveDecision(SavedDecision::Consent { provider: provider.to_owned(), yes })
    };
    Some(Ok(match action {
        ChoiceAction::UseProvider => answered
            .with_event(PlanningEvent::DrafterSet { drafter: PlanDrafter::from(provider) })
            .with_effect(keep(true)),
        ChoiceAction::UseProviderOnce => {
            answered.with_event(PlanningEvent::DrafterSet { drafter: PlanDrafter::from(provider) })
        }
        ChoiceAction::OfflineThisTime => answered,
        ChoiceAction::NeverUse => answered.with_effect(keep(false)),
        _ => return None,
    }))
}

fn answer_cap(
    state: &SessionState,
    answered: CommandDecision,
    answer: &Answer,
    cap: RunCap,
    now: Timestamp,
) -> Option<DecisionResult> {
    let used = caps::cap_usage(state, cap, now);
    let chosen = answer.amount.filter(|amount| *amount > used && cap.has_chosen_amount());
    let amount = chosen.unwrap_or_else(|| cap.raised_limit(used));
    let mut answered = answered;
    let event = match answer.action {
        ChoiceAction::RaiseOnce => RunEvent::CapRaised { cap, to: Some(amount) },
        ChoiceAction::RaiseForGood => {
            let saved = SavedDecision::Limit { cap, to: amount };
            answered = answered.with_effect(DriverEffect::SaveDecision(saved));
            RunEvent::CapRaised { cap, to: Some(amount) }
        }
        ChoiceAction::RaiseForSession => RunEvent::CapRaised { cap, to: None },
        ChoiceAction::GoOffline => RunEvent::OfflineSet { on: true },
        _ => return None,
    };
    let raised = answered.with_event(event);
    Some(Ok(if state.run.phase == RunPhase::Paused {
        raised.with_event(RunEvent::Continued)
    } else {
        raised
    }))
}

/// Tells an agent of the person's own that what it was at is done: it makes its calls itself and would repeat this one.
fn finished_call_message(own: &AgentProgress, call: &CallId, by: Actor) -> AgentEvent {
    let planned = own.under_way.get(&call.step).or(own.under_way.values().next_back());
    let what = planned.map(|planned| {
        let command = planned.args.get("command").and_then(serde_json::Value::as_str);
        format!(": {}", command.unwrap_or(&planned.tool))
    });
    let text = format!(
        "The call that you were at before the interruption has finished. Do not repeat it{}",
        what.unwrap_or_default()
    );
    let number = own.messages.last().map_or(0, |message| message.number) + 1;
    AgentEvent::MessageSent { task: call.task.clone(), number, text, by, interrupt: false }
}

fn answer_in_doubt(
    state: &SessionState,
    answered: CommandDecision,
    action: ChoiceAction,
    call: &CallId,
    by: Actor,
    now: Timestamp,
) -> Option<DecisionResult> {
    let Some(task) = state.tasks.position(&call.task) else {
        return Some(Err(CommandRefusal::UnknownTask { task: call.task.clone() }));
    };
    let row = state.tasks.row(task);
    // A call that was cancelled when its process left has its outcome; only one without an outcome gets one now.
    let close = |decision: CommandDecision, outcome| {
        if row.call.is_some() {
            decision.with_event(CallEvent::concluded_without_output(call.clone(), outcome))
        } else {
            decision
        }
    };
    let progress = state.agents.get(&call.task);
    let at_a_call = progress.and_then(|own| Some((own, own.open.as_ref()?)));
    let own_agent = progress.filter(|progress| progress.is_own_agent());
    Some(Ok(match action {
        ChoiceAction::Happened if own_agent.is_some() => {
            let told = own_agent.map(|own| finished_call_message(own, call, by));
            let mut decision = close(answered, CallOutcome::SaidToHaveHappened)
                .with_event(task_reset_event(&call.task, "the call took place"));
            decision.events.extend(told.map(Into::into));
            decision
        }
        // Only the call took place; what the agent makes of it is still to come.
        ChoiceAction::Happened if at_a_call.is_some() => {
            let closed = close(answered, CallOutcome::SaidToHaveHappened);
            let seen = at_a_call.map(|(own, open)| {
                let result = unseen_success("the person says that it took place");
                open.observation_event(&call.task, own.attempt, &result, now)
            });
            let mut decision =
                closed.with_event(task_reset_event(&call.task, "the call took place"));
            decision.events.extend(seen.map(Into::into));
            decision
        }
        ChoiceAction::Happened => {
            close(answered, CallOutcome::SaidToHaveHappened).with_event(TaskEvent::Completed {
                task: call.task.clone(),
                attempt: row.attempt,
                elapsed_ms: 0,
                by: Some(by),
                note: None,
            })
        }
        ChoiceAction::KeepWaiting => {
            answered.with_effect(DriverEffect::AwaitLeftovers(call.clone()))
        }
        ChoiceAction::RunAgain => close(answered, CallOutcome::GivenUp)
            .with_event(task_reset_event(&call.task, "in doubt, to be run again"))
            .with_effect(DriverEffect::EndLeftovers(call.clone())),
        ChoiceAction::SkipAlone | ChoiceAction::SkipWithDependents => {
            let mut decision = close(answered, CallOutcome::GivenUp)
                .with_effect(DriverEffect::EndLeftovers(call.clone()));
            let skips = skip_decision(state, task, action == ChoiceAction::SkipWithDependents);
            decision.events.extend(skips.events);
            decision
        }
        _ => return None,
    }))
}
