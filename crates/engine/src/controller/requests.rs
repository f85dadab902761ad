//! Derives from the session what the requests of a run show. Their texts and choices are the model's.

use planwright_model::requests::{
    CallEvidence, CallInDoubt, InDoubtAction, OfflineOutlook, ReachedCap, TaskSpending,
    cap_request, in_doubt_request,
};
use planwright_model::{Request, RequestId, RunCap, RunKind};
use planwright_state::{CallInFlight, SessionState};

/// A limit is reached; the run is held. `next_call` says why a call was refused, where one was.
pub fn session_cap_request(
    id: RequestId,
    state: &SessionState,
    (cap, used, limit): (RunCap, u64, u64),
    next_call: Option<&str>,
) -> Request {
    let left = state.tasks.status_counts();
    let spending = state.tasks.iter().map(|(task, row)| TaskSpending {
        task: task.clone(),
        title: state.title_by_id(task).to_owned(),
        tokens: row.tokens,
        cost: row.cost,
        attempt: row.attempt,
    });
    let reached = ReachedCap {
        cap,
        used,
        limit,
        waiting: left.pending,
        running: left.running,
        done: left.done,
        spending: spending.collect(),
        offline: offline_outlook(state),
        next_call,
    };
    cap_request(id, &reached)
}

/// The open tasks of the plan, by whether they need a model.
fn offline_outlook(state: &SessionState) -> Option<OfflineOutlook> {
    let plan = &state.plan.current.as_ref()?.plan;
    let is_agent = |at: &usize| matches!(plan.tasks[*at].run, RunKind::Agent(_));
    let open = |at: &usize| !state.tasks.row(*at).status.is_settled();
    let (agents, others): (Vec<usize>, Vec<usize>) =
        (0..plan.tasks.len().min(state.tasks.len())).filter(open).partition(is_agent);
    Some(OfflineOutlook { agent_tasks: agents.len(), other_tasks: others.len() })
}

/// Whether a call without a known outcome took place. `evidence` is what is known about its process.
pub fn session_in_doubt_request(
    id: RequestId,
    state: &SessionState,
    task: usize,
    call: &CallInFlight,
    evidence: CallEvidence,
) -> Request {
    let node = state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
    let open = state.agents.get(state.tasks.id(task)).and_then(|own| own.open.as_ref());
    let action = match (node.map(|node| &node.run), open) {
        (Some(RunKind::Shell(command)), _) => InDoubtAction::Command(command),
        (_, Some(open)) => {
            InDoubtAction::ToolCall { tool: &open.planned.tool, args: &open.planned.args }
        }
        (_, None) => InDoubtAction::Command(&call.summary),
    };
    let doubt = CallInDoubt {
        call: &call.call,
        task: state.tasks.id(task),
        title: state.task_title(task),
        tool: &call.tool,
        by_agent: node.is_some_and(|node| matches!(node.run, RunKind::Agent(_))),
        action,
        evidence,
        output_lines: call.output_lines,
        last_line: &call.last_line,
        dependents: state.tasks.descendants(task).len(),
    };
    in_doubt_request(id, &doubt)
}
