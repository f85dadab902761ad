//! What becomes of a call of an agent whose outcome is not known (trust 3.6).
//!
//! What changes nothing is made again, a write is told by what is on disk, and everything else is the person's to
//! decide. An agent goes on from the very call, so that nothing it did before is done again.

use serde_json::{Map, Value, json};

use super::resume::Leftovers;
use crate::event::{AgentEvent, CallEvent, CallOutcome, Event, RepeatClass, TaskEvent};
use crate::model::{ReActStep, RunKind, StepAction, ToolResult};
use crate::state::SessionState;
use crate::tools::Verification;

/// What can be said about an interrupted attempt without asking anybody.
pub(super) enum Verdict {
    /// The events by which it goes on.
    Known(Vec<Event>),
    /// The person decides.
    Ask,
}

pub(super) fn is_agent(state: &SessionState, task: usize) -> bool {
    let plan = state.plan.current.as_ref();
    plan.and_then(|current| current.plan.tasks.get(task))
        .is_some_and(|node| matches!(node.run, RunKind::Agent {}))
}

/// What becomes of an agent's attempt that was under way when its process left.
pub(super) fn of_agent(state: &SessionState, task: usize, leftovers: &Leftovers) -> Verdict {
    let row = state.tasks.row(task);
    let id = state.tasks.id(task);
    let Some(call) = row.doubtful_call() else {
        return Verdict::Known(vec![reset(state, task, "interrupted between calls")]);
    };
    let found = leftovers.on_disk.get(id).copied().unwrap_or(Verification::Unknown);
    match (call.repeat, &call.file, found) {
        (RepeatClass::Safe, _, _) => {
            Verdict::Known(again(state, task, "interrupted in a call that is safe to repeat"))
        }
        (_, Some(_), Verification::NotYet) => {
            Verdict::Known(again(state, task, "interrupted before its write took place"))
        }
        (_, Some(change), Verification::Happened) => {
            let words = format!("{} holds what was to be written", change.path);
            let data = json!({ "path": change.path, "verified": true });
            let why = "interrupted after its write took place";
            Verdict::Known(took_place(state, task, CallOutcome::Verified, &words, data, why))
        }
        _ => Verdict::Ask,
    }
}

/// The call is made again by the agent, which knows what it was about to do.
fn again(state: &SessionState, task: usize, why: &str) -> Vec<Event> {
    let mut events = closed(state, task, CallOutcome::GivenUp);
    events.push(reset(state, task, why));
    events
}

/// The call took place: the agent reads that as its result and goes on.
pub(super) fn took_place(
    state: &SessionState,
    task: usize,
    outcome: CallOutcome,
    words: &str,
    data: Value,
    why: &str,
) -> Vec<Event> {
    let mut events = closed(state, task, outcome);
    events.extend(observed(state, task, words, data));
    events.push(reset(state, task, why));
    events
}

fn closed(state: &SessionState, task: usize, outcome: CallOutcome) -> Vec<Event> {
    let open = state.tasks.row(task).call.as_ref();
    open.map(|open| CallEvent::closed(open.call.clone(), outcome).into()).into_iter().collect()
}

fn reset(state: &SessionState, task: usize, why: &str) -> Event {
    TaskEvent::Reset { task: state.tasks.id(task).clone(), why: why.to_owned() }.into()
}

fn observed(state: &SessionState, task: usize, words: &str, data: Value) -> Option<Event> {
    let id = state.tasks.id(task);
    let progress = state.agents.get(id)?;
    let open = progress.open.as_ref()?;
    let metadata = Map::from_iter([
        ("call".to_owned(), json!(open.number)),
        ("step".to_owned(), json!(open.planned.step)),
        ("ok".to_owned(), json!(true)),
    ]);
    let step = ReActStep {
        timestamp: state.at.unwrap_or_default(),
        task_id: id.clone(),
        action: StepAction::Observation,
        content: words.to_owned(),
        tool_used: Some(open.planned.tool.clone()),
        tool_input: None,
        tool_output: serde_json::to_value(ToolResult::success(data)).ok(),
        confidence_score: None,
        metadata,
    };
    let (task, attempt) = (id.clone(), progress.attempt);
    Some(AgentEvent::Observed { task, attempt, step: Box::new(step) }.into())
}
