//! What becomes of changes that were applied to the workspace and with which exit criteria are not met there.

use super::change_review::describe_dependents;
use super::new_request;
use crate::request::RequestDetail;
use crate::task_changes::{ApplyConflict, FailedCheck};
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind, TaskNode};

/// What is known about checks that fail after the changes of a task were applied.
#[derive(Clone, Debug)]
pub struct AppliedCheckReview<'a> {
    pub task: &'a TaskNode,
    pub attempt: u32,
    pub failures: &'a [FailedCheck],
    /// The figures of the applied files: `3 files, +96 -141`.
    pub changes: String,
    /// Titles of tasks whose changes were applied after the copy of this one was made.
    pub meanwhile: &'a [String],
    /// Files that kept the changes from being undone.
    pub conflicts: &'a [ApplyConflict],
    /// Titles of the tasks that start once the task is done.
    pub dependents: &'a [String],
}

/// Asks what becomes of the applied changes.
pub fn applied_check_request(id: RequestId, review: &AppliedCheckReview<'_>) -> Request {
    let task = review.task;
    let kind = RequestKind::AppliedCheck { task: task.id.clone(), attempt: review.attempt };
    let why = "The checks passed in the agent's own copy, but your workspace had changed meanwhile. The changes are applied, and the task is not done.";
    let mut asked = new_request(id, kind, "The checks fail after applying. What next?", why);
    asked.verbatim = review.failures.iter().map(quoted_failure).collect();
    asked.details = check_details(review);
    asked.choices = check_choices();
    asked.task = Some(task.id.clone());
    asked
}

fn quoted_failure(failure: &FailedCheck) -> RequestDetail {
    let label = format!("{} ({})", failure.check, failure.outcome);
    RequestDetail::new(&label, failure.output.clone())
}

fn check_details(review: &AppliedCheckReview<'_>) -> Vec<RequestDetail> {
    let mut details = vec![
        RequestDetail::new("Task", review.task.description.clone()),
        RequestDetail::new("Applied", review.changes.clone()),
    ];
    details.extend(review.failures.iter().map(|failure| {
        let whose = if failure.task == review.task.id {
            String::new()
        } else {
            format!(", a criterion of {}", failure.task)
        };
        RequestDetail::new("Fails", format!("{}: {}{whose}", failure.check, failure.outcome))
    }));
    if !review.meanwhile.is_empty() {
        details.push(RequestDetail::new("Meanwhile", review.meanwhile.join(", ")));
    }
    details.extend(review.conflicts.iter().map(|conflict| {
        RequestDetail::new("Not undone", format!("{}: {}", conflict.path, conflict.why))
    }));
    details.push(RequestDetail::new("Then", describe_dependents(review.dependents)));
    details
}

fn check_choices() -> Vec<Choice> {
    vec![
        Choice::new(
            ChoiceAction::TryAgain,
            "let the agent fix it",
            "its files are restored; it continues in its copy and reads what failed",
        ),
        Choice::new(
            ChoiceAction::RequestChanges,
            "say how to fix it",
            "the same, and the agent reads your words as well",
        ),
        Choice::new(
            ChoiceAction::AcceptPart,
            "accept anyway",
            "the changes stay and the task is done, although its checks fail",
        ),
        Choice::new(
            ChoiceAction::UndoChanges,
            "undo the changes",
            "its files are restored and the task fails; what needs it is skipped",
        ),
    ]
}
