//! Whether an agent that used up its iterations continues.

use super::new_request;
use crate::request::RequestDetail;
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind, TaskNode};

/// What the person is asked when a task has used up its iterations.
pub fn task_limit_request(id: RequestId, task: &TaskNode, why: &str) -> Request {
    let kind = RequestKind::TaskCap { task: task.id.clone() };
    let mut asked = new_request(id, kind, "Let the agent continue?", why);
    asked.details = vec![RequestDetail::new("Task", task.description.clone())];
    asked.choices = vec![Choice::new(
        ChoiceAction::GoOn,
        "continue",
        "as many steps again, then it asks again",
    )];
    asked.choices.extend(ending_choices());
    asked.task = Some(task.id.clone());
    asked
}

/// The ways to end a task that its agent cannot end.
pub(super) fn ending_choices() -> [Choice; 2] {
    [
        Choice::new(
            ChoiceAction::HandToMe,
            "give it to me",
            "it becomes your task; what was done so far stays",
        ),
        Choice::new(
            ChoiceAction::StopTask,
            "let it fail",
            "what needs it is skipped; you can retry it later",
        ),
    ]
}
