//! Whether an agent that used up its iterations continues.

use super::new_request;
use crate::request::RequestDetail;
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind, TaskNode};

/// What the person is asked when a task has used up its iterations.
pub fn task_limit_request(id: RequestId, task: &TaskNode, why: &str) -> Request {
    let kind = RequestKind::TaskCap { task: task.id.clone() };
    let mut asked = new_request(id, kind, format!("Let {} go on?", task.id), why);
    asked.details = vec![RequestDetail::new("task", task.description.clone())];
    asked.choices = vec![
        Choice::new(ChoiceAction::GoOn, "go on", "as many iterations again, then it asks again"),
        Choice::new(
            ChoiceAction::HandToMe,
            "hand it to me",
            "it becomes yours; what was done so far stays",
        ),
        Choice::new(
            ChoiceAction::StopTask,
            "let it fail",
            "dependents are skipped; retry it later",
        ),
    ];
    asked.task = Some(task.id.clone());
    asked
}
