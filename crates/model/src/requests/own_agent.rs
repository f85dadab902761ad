//! What is asked about an agent of the person's own beside its calls: it says nothing, or its session is lost.

use super::new_request;
use super::task_limit::ending_choices;
use crate::request::RequestDetail;
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind, TaskNode};

/// Whether to go on waiting for an agent that has said nothing for a while.
pub fn agent_silent_request(
    id: RequestId,
    task: &TaskNode,
    agent: &str,
    silent_minutes: u64,
) -> Request {
    let kind = RequestKind::TaskCap { task: task.id.clone() };
    let why = format!("{agent} has said nothing for {silent_minutes} min. It may be stuck.");
    let mut asked = new_request(id, kind, format!("Keep waiting for {agent}?"), why);
    asked.details = vec![RequestDetail::new("Task", task.description.clone())];
    asked.choices =
        vec![Choice::new(ChoiceAction::GoOn, "keep waiting", "asks again after as long")];
    asked.choices.extend(ending_choices());
    asked.task = Some(task.id.clone());
    asked
}

/// Whether an agent that was interrupted begins a new session, because its own cannot be loaded.
pub fn session_lost_request(id: RequestId, task: &TaskNode, agent: &str, why: &str) -> Request {
    let kind = RequestKind::AgentQuestion { task: task.id.clone(), call: None };
    let reason = format!(
        "{agent} was interrupted and can't load its session ({why}). A call that it had made may have finished or not."
    );
    let mut asked =
        new_request(id, kind, format!("Let {agent} continue in a new session?"), reason);
    asked.details = vec![
        RequestDetail::new("Task", task.description.clone()),
        RequestDetail::new("Kept", "its copy of the workspace, with everything it changed so far"),
    ];
    asked.choices = vec![Choice::new(
        ChoiceAction::GoOn,
        "continue",
        "it is told the task again and looks at what is there; it may repeat a command",
    )];
    asked.choices.extend(ending_choices());
    asked.task = Some(task.id.clone());
    asked
}
