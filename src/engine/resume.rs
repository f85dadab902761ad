//! Taking up a session that another process left, in good order or not.

use std::collections::BTreeMap;

use super::controller::requests;
use crate::event::{
    ApprovalEvent, CallEvent, CallOutcome, Event, PauseCause, RepeatClass, RunEvent, SessionEvent,
    TaskEvent,
};
use crate::model::{CallId, Repeat, RequestId, RequestKind, SessionId, TaskId};
use crate::state::{CallInFlight, RunPhase, SessionState, TaskRow, TaskStatus};
use crate::tools::process;

/// How work goes on after a session was taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeUp {
    /// Only look after what is open; nothing new starts.
    Look,
    /// Go on with an interrupted run.
    GoOn,
}

/// Ends the processes of attempts that outlived the run that started them. Comes before anything else on taking up.
pub fn end_leftovers(session: &SessionId, state: &SessionState) -> Leftovers {
    let mut leftovers = Leftovers::new();
    for task in 0..state.tasks.len() {
        let row = state.tasks.row(task);
        if row.status == TaskStatus::Running {
            let call = attempt_call(state, task);
            leftovers
                .insert(call.task.clone(), process::end_leftovers(&format!("{session}/{call}")));
        }
    }
    leftovers
}

/// The processes that were found and ended, by task.
pub type Leftovers = BTreeMap<TaskId, Vec<u32>>;

fn attempt_call(state: &SessionState, task: usize) -> CallId {
    let row = state.tasks.row(task);
    match &row.call {
        Some(open) => open.call.clone(),
        None => CallId { task: state.tasks.id(task).clone(), attempt: row.attempt, step: 1 },
    }
}

/// What is to be said first when a session is taken up: that it was, what became of its interrupted attempts, and that
/// the run goes on.
pub fn first_events(
    state: &SessionState,
    leftovers: &Leftovers,
    take_up: TakeUp,
    jobs: u32,
    program: &str,
) -> Vec<Event> {
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
            events.extend(interrupted(state, leftovers, task, &mut next_request));
        }
    }
    if take_up == TakeUp::GoOn
        && state.may_run()
        && let Some(current) = &state.plan.current
    {
        events.push(RunEvent::Started { hash: current.hash.clone(), jobs }.into());
        // A limit that was asked about still holds until it is raised.
        let cap = state.requests.open.values().find_map(|open| match open.request.kind {
            RequestKind::Cap { cap } => Some(cap),
            _ => None,
        });
        events.extend(cap.map(|cap| RunEvent::Paused(PauseCause::Cap { cap }).into()));
    }
    events
}

/// What becomes of an attempt that was running when its process left.
fn interrupted(
    state: &SessionState,
    leftovers: &Leftovers,
    task: usize,
    next_request: &mut RequestId,
) -> Vec<Event> {
    let row = state.tasks.row(task);
    let id = state.tasks.id(task).clone();
    let evidence = evidence(row, leftovers.get(&id).map_or(&[], Vec::as_slice));
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
        call: attempt_call(state, task),
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

/// What is known about the processes of an attempt.
fn evidence(row: &TaskRow, ended: &[u32]) -> String {
    match (ended, &row.call) {
        ([], None) => "it was ended when its process left".to_owned(),
        ([], Some(CallInFlight { process: None, .. })) => "it may not have started".to_owned(),
        ([], Some(CallInFlight { process: Some((pid, _)), .. })) => {
            format!("process {pid} is gone")
        }
        ([pid], _) => format!("process {pid} was still there and was ended"),
        (several, _) => format!("{} processes were still there and were ended", several.len()),
    }
}
