//! What the person decides about the changes that a task made in its own copy.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::{CommandDecision, DecisionResult, DriverEffect, find_task, task_reset_event};
use crate::coordinator;
use planwright_model::event::{
    AgentEvent, CommandRefusal, DiscardCause, Event, Record, TaskEvent, WorktreeEvent,
};
use planwright_model::{Actor, Answer, Category, ChoiceAction, ExecutionFailure, TaskId};
use planwright_state::{SessionState, WorkspaceCheck, WorktreePhase};

/// What the agent reads when it is to merge.
const MERGE_WORDS: &str = "merge your changes with what changed in the workspace meanwhile; files with conflict markers are yours to resolve, and both sides' work must stay";

/// The changes are applied, sent back, or given up.
pub(super) fn answer_review(
    state: &SessionState,
    answered: CommandDecision,
    answer: &Answer,
    task: &TaskId,
    by: Actor,
    now: Timestamp,
) -> Option<DecisionResult> {
    let (id, words) = (task.clone(), answer.text.as_deref().unwrap_or_default().trim());
    Some(match answer.action {
        ChoiceAction::ApplyChanges | ChoiceAction::TryAgain => Ok(answered
            .with_event(WorktreeEvent::ApplyRequested { task: id.clone(), by: Some(by) })
            .with_effect(DriverEffect::ContinueReview(id))),
        ChoiceAction::RequestChanges if words.is_empty() => {
            Err(CommandRefusal::OutOfRange { what: "say what should be different".to_owned() })
        }
        ChoiceAction::RequestChanges | ChoiceAction::MergeChanges => {
            let merge = answer.action == ChoiceAction::MergeChanges;
            let text = if merge { MERGE_WORDS } else { words }.to_owned();
            Ok(answered
                .with_event(WorktreeEvent::ChangesRequested { task: id, text, by, merge })
                .with_event(task_reset_event(task, "changes requested")))
        }
        ChoiceAction::DiscardChanges => {
            let mut answered = answered;
            if !words.is_empty() {
                answered = answered.with_event(next_message(state, task, words, by));
            }
            discard_changes(state, answered, task, now)
        }
        _ => return None,
    })
}

/// What the person says to whoever does the task next.
fn next_message(state: &SessionState, task: &TaskId, words: &str, by: Actor) -> AgentEvent {
    let last = state.agents.get(task).and_then(|progress| progress.messages.last());
    let number = last.map_or(0, |message| message.number) + 1;
    let (task, text) = (task.clone(), words.to_owned());
    AgentEvent::MessageSent { task, number, text, by, interrupt: false }
}

/// Applied changes with which checks fail go back to the agent, stay all the same, or are undone.
pub(super) fn answer_applied_check(
    state: &SessionState,
    answered: CommandDecision,
    answer: &Answer,
    task: &TaskId,
    by: Actor,
) -> Option<DecisionResult> {
    let words = answer.text.as_deref().unwrap_or_default().trim();
    let undo = |answered: CommandDecision, retry: Option<String>| {
        answered
            .with_event(WorktreeEvent::UndoRequested { task: task.clone(), by, retry })
            .with_effect(DriverEffect::UndoChanges(task.clone()))
    };
    Some(match answer.action {
        ChoiceAction::RequestChanges if words.is_empty() => {
            Err(CommandRefusal::OutOfRange { what: "say how to fix it".to_owned() })
        }
        ChoiceAction::TryAgain | ChoiceAction::RequestChanges => {
            let retry = failure_words(state, task);
            let mut answered = answered;
            if !words.is_empty() {
                answered = answered.with_event(next_message(state, task, words, by));
            }
            Ok(undo(answered, Some(retry)))
        }
        ChoiceAction::AcceptPart => Ok(answered
            .with_event(WorktreeEvent::CheckAccepted { task: task.clone(), by })
            .with_effect(DriverEffect::ContinueReview(task.clone()))),
        ChoiceAction::UndoChanges => Ok(undo(answered, None)),
        _ => return None,
    })
}

/// What the agent reads about the checks that fail in the workspace.
fn failure_words(state: &SessionState, task: &TaskId) -> String {
    let check = state.worktrees.get(task).map(|copy| &copy.check);
    let mut text = "your changes were applied, and with what else changed in the workspace meanwhile these checks fail".to_owned();
    if let Some(WorkspaceCheck::Failed(failures)) = check {
        for failure in failures {
            let _ = write!(text, "\n{} ({})\n{}", failure.check, failure.outcome, failure.output);
        }
    }
    text.push_str(
        "\nYour changes are only in your copy again, merged with the workspace as it is now",
    );
    text
}

/// The copy is deleted and the task fails, with what needs it.
fn discard_changes(
    state: &SessionState,
    answered: CommandDecision,
    id: &TaskId,
    now: Timestamp,
) -> DecisionResult {
    let discarded = WorktreeEvent::Discarded { task: id.clone(), cause: DiscardCause::Person };
    let answered = answered.with_event(discarded);
    let decision = fail_discarded(state, answered, id, now)?;
    Ok(decision.with_effect(DriverEffect::RemoveWorktree(id.clone())))
}

/// A task fails because its changes were discarded, with what needs it.
pub(super) fn fail_discarded(
    state: &SessionState,
    answered: CommandDecision,
    id: &TaskId,
    now: Timestamp,
) -> DecisionResult {
    let task = find_task(state, id)?;
    let message = "its changes were discarded";
    let failed: Event = TaskEvent::Failed {
        task: id.clone(),
        attempt: state.tasks.row(task).attempt,
        elapsed_ms: state.worktrees.get(id).map_or(0, |copy| copy.elapsed_ms),
        failure: ExecutionFailure::new("changes_discarded", Category::Critical, message),
        retry_in_ms: None,
    }
    .into();
    // What needs the task is decided on a state in which it has failed.
    let mut after = state.clone();
    after.apply(&Record::new(state.seq.next(), now, failed.clone()));
    let mut decision = answered.with_event(failed);
    decision.events.extend(coordinator::skips_after_failure(&after, task));
    Ok(decision)
}

/// Restores what the files of a task were before its changes were applied.
pub(super) fn undo_changes(state: &SessionState, id: &TaskId, by: Actor) -> DecisionResult {
    find_task(state, id)?;
    let refuse =
        |words: &str| Err(CommandRefusal::TaskState { task: id.clone(), state: words.to_owned() });
    match state.worktrees.get(id).map(|copy| copy.phase) {
        Some(WorktreePhase::Applied) => {}
        Some(WorktreePhase::Undoing | WorktreePhase::Undone) => return refuse("already undone"),
        Some(WorktreePhase::Discarded) => return refuse("without changes"),
        Some(_) => return refuse("not applied yet"),
        None => return refuse("without changes of its own"),
    }
    let event = WorktreeEvent::UndoRequested { task: id.clone(), by, retry: None };
    Ok(CommandDecision::from_event(event).with_effect(DriverEffect::UndoChanges(id.clone())))
}
