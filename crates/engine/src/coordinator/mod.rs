//! What follows when a task ends: pure rules over the state, which the driver turns into events.

pub mod adapt;
pub(crate) mod criteria;
pub(crate) mod queue;
pub(crate) mod resources;
pub(crate) mod values;

use planwright_model::event::{CallOutcome, Event, RunCounts, RunEvent, TaskEvent};
use planwright_model::{
    Category, ExecutionFailure, RetryCause, RunCondition, SkipReason, TaskNode,
};
use planwright_state::{SessionState, TaskStatus, TaskTable};

/// The longest wait before a retry.
const MAX_BACKOFF_MS: u64 = 8_000;
const FIRST_BACKOFF_MS: u64 = 500;

/// What an outcome means for the task.
pub fn judge_outcome(outcome: &CallOutcome) -> Result<(), ExecutionFailure> {
    let (code, message) = match outcome {
        CallOutcome::Exited { code: 0 }
        | CallOutcome::SaidToHaveHappened
        | CallOutcome::Verified => return Ok(()),
        CallOutcome::Errored { failure } => return Err(failure.clone()),
        CallOutcome::Exited { code } => ("exit_status", format!("exit {code}")),
        CallOutcome::Signalled { signal } => ("signal", format!("ended by signal {signal}")),
        CallOutcome::TimedOut { limit_seconds } => {
            let limit = std::time::Duration::from_secs(*limit_seconds);
            let limit = planwright_text::units::format_elapsed(limit);
            ("timeout", format!("stopped at its limit of {limit}"))
        }
        CallOutcome::Cancelled => ("cancelled", "cancelled".to_owned()),
        CallOutcome::CouldNotStart { message } => ("could_not_start", message.clone()),
        CallOutcome::GivenUp => ("given_up", "its outcome is not known".to_owned()),
    };
    Err(ExecutionFailure::new(code, Category::Critical, message))
}

/// How long to wait before the next attempt; `None` when there is none. `failed` counts the attempts that failed. Never
/// less than whoever failed asked for.
pub fn retry_delay_ms(failure: &ExecutionFailure, failed: u32) -> Option<u64> {
    let own = match failure.category {
        Category::Transient if failed <= 2 => {
            (FIRST_BACKOFF_MS << failed.saturating_sub(1).min(8)).min(MAX_BACKOFF_MS)
        }
        Category::Recoverable if failed <= 1 => 0,
        _ => return None,
    };
    Some(own.max(failure.retry_after_ms.unwrap_or(0)))
}

/// The same for a task: a command that states its retries has those.
pub fn next_attempt_delay_ms(
    task: &TaskNode,
    failure: &ExecutionFailure,
    failed: u32,
) -> Option<u64> {
    if failure.code == criteria::OUTDATED {
        return Some(0);
    }
    let Some(policy) = &task.retries else { return retry_delay_ms(failure, failed) };
    let cause = match failure.code.as_str() {
        "exit_status" | "criteria_unmet" | "criteria_failed" | "results_missing" => {
            RetryCause::Exit
        }
        "timeout" => RetryCause::Timeout,
        "signal" => RetryCause::Signal,
        _ => return retry_delay_ms(failure, failed),
    };
    policy.delay_ms(cause, failed)
}

/// By how much the best affinity of a task exceeds that of the tool in use; 0 where nothing is said about tools.
pub fn affinity_delta(task: &TaskNode, tool: &str) -> f64 {
    task.affinity_gap(tool)
}

/// Skips of everything that waits for a task that failed for good.
pub fn skips_after_failure(state: &SessionState, task: usize) -> Vec<Event> {
    state
        .tasks
        .blocked_descendants(task)
        .into_iter()
        .filter(|descendant| state.tasks.row(*descendant).status == TaskStatus::Pending)
        .map(|descendant| skipped_event(&state.tasks, descendant, SkipReason::DependencyFailed))
        .collect()
}

/// Skips of everything that has not started.
pub fn skips_of_pending(state: &SessionState, reason: SkipReason) -> Vec<Event> {
    (0..state.tasks.len())
        .filter(|task| state.tasks.row(*task).status == TaskStatus::Pending)
        // What cleans up runs also when the rest is given up.
        .filter(|task| {
            reason != SkipReason::Aborted
                || state.tasks.run_condition(*task) == RunCondition::Success
        })
        .map(|task| skipped_event(&state.tasks, task, reason))
        .collect()
}

fn skipped_event(tasks: &TaskTable, task: usize, reason: SkipReason) -> Event {
    TaskEvent::Skipped { task: tasks.id(task).clone(), reason }.into()
}

/// Descendants that were skipped because of a task and may run now that it is met: those whose dependencies all have a
/// chance again, found from the task outwards.
pub fn revivable_dependents(tasks: &TaskTable, task: usize) -> Vec<usize> {
    let mut revived = Vec::new();
    let mut frontier = vec![task];
    while let Some(next) = frontier.pop() {
        for dependent in tasks.dependents(next) {
            let was_held_back = matches!(
                tasks.row(dependent).status,
                TaskStatus::Skipped(SkipReason::DependencyFailed | SkipReason::DependencySkipped)
            );
            let has_a_chance = tasks.dependencies(dependent).all(|on| {
                on == task || revived.contains(&on) || !is_dead_end(tasks.row(on).status)
            });
            if was_held_back && has_a_chance && !revived.contains(&dependent) {
                revived.push(dependent);
                frontier.push(dependent);
            }
        }
    }
    revived.sort_unstable();
    revived
}

fn is_dead_end(status: TaskStatus) -> bool {
    status.is_settled() && !status.is_met()
}

/// The end of a run: how many tasks ended how, and whether all of them completed.
pub fn run_finished_event(state: &SessionState, elapsed_ms: u64) -> RunEvent {
    let counts = state.tasks.status_counts();
    RunEvent::Finished {
        success: state.tasks.is_successful(),
        counts: RunCounts {
            completed: counts.done,
            failed: counts.failed,
            skipped: counts.skipped,
        },
        elapsed_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_tool_of_a_command_is_not_behind_itself() {
        let mut task = TaskNode::new("a", "a");
        assert!(affinity_delta(&task, "shell").abs() < 1e-9);
        task.tool_affinity = [("shell.run".to_owned(), 0.9), ("test.run".to_owned(), 0.5)].into();
        assert!(affinity_delta(&task, "shell").abs() < 1e-9);
        assert!((affinity_delta(&task, "test.run") - 0.4).abs() < 1e-9);
    }

    #[test]
    fn only_exit_code_zero_is_success() {
        assert!(judge_outcome(&CallOutcome::Exited { code: 0 }).is_ok());
        for outcome in [
            CallOutcome::Exited { code: 1 },
            CallOutcome::Signalled { signal: 9 },
            CallOutcome::TimedOut { limit_seconds: 1 },
            CallOutcome::Cancelled,
            CallOutcome::CouldNotStart { message: "no".into() },
            CallOutcome::GivenUp,
        ] {
            assert!(judge_outcome(&outcome).is_err(), "{outcome:?}");
        }
    }

    #[test]
    fn retries_follow_the_category() {
        let failure = |category| ExecutionFailure::new("x", category, "");
        let delays = |category| {
            (1..5).map(|failed| retry_delay_ms(&failure(category), failed)).collect::<Vec<_>>()
        };
        assert_eq!(delays(Category::Transient), [Some(500), Some(1000), None, None]);
        assert_eq!(delays(Category::Recoverable), [Some(0), None, None, None]);
        assert_eq!(delays(Category::Critical), [None; 4]);
    }

    #[test]
    fn a_retry_never_comes_before_the_time_that_was_asked_for() {
        let mut failure = ExecutionFailure::new("rate_limited", Category::Transient, "");
        failure.retry_after_ms = Some(120_000);
        assert_eq!(retry_delay_ms(&failure, 1), Some(120_000));
        failure.retry_after_ms = Some(1);
        assert_eq!(retry_delay_ms(&failure, 1), Some(500));
        assert_eq!(retry_delay_ms(&failure, 3), None);
    }
}
