//! Taking up a session that another process left, in good order or not.

use super::controller::requests;
use crate::event::{
    ApprovalEvent, CallEvent, CallOutcome, Event, RepeatClass, RunEvent, SessionEvent, TaskEvent,
};
use crate::model::{CallId, Repeat, RequestId, RequestKind};
use crate::state::{CallInFlight, RunPhase, SessionState, TaskStatus};
use crate::tools::process;

/// How work goes on after a session was taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeUp {
    /// Only look after what is open; nothing new starts.
    Look,
    /// Go on with an interrupted run.
    GoOn,
}

/// What is to be said first when a session is taken up: that it was, what became of its interrupted attempts, and that
/// the run goes on. Processes that outlived the crash are ended here, before anything else happens.
pub fn first_events(state: &SessionState, take_up: TakeUp, jobs: u32, program: &str) -> Vec<Event> {
    let mut events: Vec<Event> =
        vec![SessionEvent::Opened { program: program.to_owned(), pid: std::process::id() }.into()];
    let was_running =
        matches!(state.run.phase, RunPhase::Running | RunPhase::Paused | RunPhase::Interrupted);
    if !was_running {
        return events;
    }
    let mut next_request = state.requests.next_id();
    for task in 0..state.tasks.len() {
        if state.tasks.row(task).status == TaskStatus::Running {
            events.extend(interrupted(state, task, &mut next_request));
        }
    }
    if take_up == TakeUp::GoOn
        && state.may_run()
        && let Some(current) = &state.plan.current
    {
        events.push(RunEvent::Started { hash: current.hash.clone(), jobs }.into());
    }
    events
}

/// What becomes of an attempt that was running when its process left.
fn interrupted(state: &SessionState, task: usize, next_request: &mut RequestId) -> Vec<Event> {
    let row = state.tasks.row(task);
    let id = state.tasks.id(task).clone();
    let evidence = match &row.call {
        Some(call) => leftover(call),
        None => "it was ended when its process left".to_owned(),
    };
    let repeat_is_safe = state
        .plan
        .current
        .as_ref()
        .and_then(|current| current.plan.tasks.get(task))
        .is_some_and(|node| node.repeat == Repeat::Safe);
    if repeat_is_safe {
        let mut events = Vec::new();
        if let Some(call) = &row.call {
            events.push(given_up(&call.call));
        }
        events.push(
            TaskEvent::Reset { task: id, why: "interrupted, safe to repeat".to_owned() }.into(),
        );
        return events;
    }
    if already_asked(state, task) {
        return Vec::new();
    }
    let call = row.call.clone().unwrap_or_else(|| CallInFlight {
        call: CallId { task: id, attempt: row.attempt, step: 1 },
        tool: String::new(),
        summary: "".into(),
        intended_at: row.started_at.unwrap_or_default(),
        repeat: RepeatClass::Unsafe,
        process: None,
        output_lines: 0,
        last_line: "".into(),
    });
    let request = requests::in_doubt(*next_request, state, task, &call, &evidence);
    *next_request = RequestId(next_request.0 + 1);
    vec![ApprovalEvent::Asked { request: request.into() }.into()]
}

fn already_asked(state: &SessionState, task: usize) -> bool {
    let id = state.tasks.id(task);
    state
        .requests
        .open
        .values()
        .any(|open| matches!(&open.request.kind, RequestKind::InDoubt { call } if call.task == *id))
}

fn given_up(call: &CallId) -> Event {
    CallEvent::closed(call.clone(), CallOutcome::GivenUp).into()
}

/// Ends a process that outlived the crash and says what was found.
fn leftover(call: &CallInFlight) -> String {
    match call.process {
        Some((pid, ticks)) if process::end_leftover(pid, ticks) => {
            format!("process {pid} was still there and was ended")
        }
        Some((pid, _)) => format!("process {pid} is gone"),
        None => "it may not have started".to_owned(),
    }
}
