//! What the person decides about the results that several agents brought for one task.

use jiff::Timestamp;

use super::change_review::fail_discarded;
use super::{CommandDecision, DecisionResult, DriverEffect, task_reset_event};
use planwright_model::event::{AgentEvent, CommandRefusal, DiscardCause, Event, WorktreeEvent};
use planwright_model::requests::parse_numbered_words;
use planwright_model::{Actor, Answer, ChoiceAction, TaskId};
use planwright_state::{SessionState, TaskStatus, TaskWorktree, WorktreePhase};

/// What picking a result records, and whose copies are given up by it.
pub(crate) struct PickedCandidate {
    pub(crate) events: Vec<Event>,
    pub(crate) given_up: Vec<TaskId>,
}

/// Whether the copy of a try holds changes that can be taken.
pub(crate) fn can_be_picked(copy: &TaskWorktree) -> bool {
    copy.phase == WorktreePhase::Proposed
        && copy.proposal.as_ref().is_some_and(|proposal| !proposal.files.is_empty())
}

/// The task continues as the try that was picked, and its changes are applied. The other tries are given up.
pub(crate) fn pick_events(
    state: &SessionState,
    task: &TaskId,
    candidate: &TaskId,
    by: Option<Actor>,
) -> PickedCandidate {
    let attempt = state.tasks.get(task).map_or(1, |row| row.attempt);
    let node = state
        .plan
        .current
        .as_ref()
        .and_then(|current| current.plan.tasks.iter().find(|node| node.id == *candidate));
    let picked = AgentEvent::CandidatePicked {
        task: task.clone(),
        attempt,
        candidate: candidate.clone(),
        agent: node.and_then(|node| node.run.own_agent()).unwrap_or_default().to_owned(),
        by,
    };
    let given_up: Vec<TaskId> =
        kept_copies(state, task).into_iter().filter(|other| other != candidate).collect();
    let mut events: Vec<Event> = vec![picked.into()];
    events.extend(given_up.iter().map(|other| {
        let (task, cause) = (other.clone(), DiscardCause::NotPicked);
        Event::from(WorktreeEvent::Discarded { task, cause })
    }));
    events.push(WorktreeEvent::ApplyRequested { task: task.clone(), by }.into());
    PickedCandidate { events, given_up }
}

/// The tries at a task whose copies are still there.
fn kept_copies(state: &SessionState, task: &TaskId) -> Vec<TaskId> {
    let ids = state.candidates(task).map(|at| state.tasks.id(at).clone());
    let given_up = [WorktreePhase::Open, WorktreePhase::Proposed];
    ids.filter(|id| state.worktrees.get(id).is_some_and(|copy| given_up.contains(&copy.phase)))
        .collect()
}

/// One result is applied, an agent is asked for changes, or all results are given up.
pub(super) fn answer_choice(
    state: &SessionState,
    answered: CommandDecision,
    answer: &Answer,
    task: &TaskId,
    by: Actor,
    now: Timestamp,
) -> Option<DecisionResult> {
    Some(match answer.action {
        ChoiceAction::PickOption(number) => {
            find_result(state, task, number.into()).map(|candidate| {
                let picked = pick_events(state, task, &candidate, Some(by));
                let mut decision = answered;
                decision.events.extend(picked.events);
                let remove = |id| DriverEffect::RemoveWorktree(id);
                decision.effects.extend(picked.given_up.into_iter().map(remove));
                decision.with_effect(DriverEffect::ContinueReview(task.clone()))
            })
        }
        ChoiceAction::RequestChanges => request_changes(state, answered, answer, task, by),
        ChoiceAction::DiscardChanges => {
            let mut decision = answered;
            for candidate in kept_copies(state, task) {
                let (task, cause) = (candidate.clone(), DiscardCause::Person);
                decision = decision
                    .with_event(WorktreeEvent::Discarded { task, cause })
                    .with_effect(DriverEffect::RemoveWorktree(candidate));
            }
            fail_discarded(state, decision, task, now)
        }
        _ => return None,
    })
}

/// The agent of one result continues in its copy. The question is put again when it is done.
fn request_changes(
    state: &SessionState,
    answered: CommandDecision,
    answer: &Answer,
    task: &TaskId,
    by: Actor,
) -> DecisionResult {
    let words = answer.text.as_deref().unwrap_or_default();
    let Some((number, words)) = parse_numbered_words(words) else {
        let what = "begin with the number of the result, such as \"2: keep the old name\"";
        return Err(CommandRefusal::OutOfRange { what: what.to_owned() });
    };
    let candidate = find_result(state, task, number)?;
    let (id, text) = (candidate.clone(), words.to_owned());
    Ok(answered
        .with_event(WorktreeEvent::ChangesRequested { task: id, text, by, merge: false })
        .with_event(task_reset_event(&candidate, "changes requested"))
        .with_effect(DriverEffect::ContinueReview(task.clone())))
}

/// The try behind a number, counted from 1, if it has a result.
fn find_result(
    state: &SessionState,
    task: &TaskId,
    number: usize,
) -> Result<TaskId, CommandRefusal> {
    let candidate = number.checked_sub(1).and_then(|at| state.candidates(task).nth(at));
    let has_result = |at: &usize| {
        state.tasks.row(*at).status == TaskStatus::Done
            && state.worktrees.get(state.tasks.id(*at)).is_some_and(can_be_picked)
    };
    let found = candidate.filter(has_result).map(|at| state.tasks.id(at).clone());
    found.ok_or_else(|| {
        let what = format!("there is no result {number} to take");
        CommandRefusal::OutOfRange { what }
    })
}
