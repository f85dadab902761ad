//! Taking up a session that another process left, in good order or not.

use std::collections::BTreeMap;

use super::controller::requests;
use crate::event::{
    ApprovalEvent, CallEvent, CallOutcome, Event, PauseCause, RepeatClass, RunEvent, SessionEvent,
    TaskEvent,
};
use crate::model::{CallId, Repeat, RequestId, RequestKind, RunKind, SessionId, TaskId};
use crate::state::agents::LeftOpen;
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
    let node = state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
    let is_agent = node.is_some_and(|node| matches!(node.run, RunKind::Agent {}));
    let free = if is_agent {
        agent_goes_on(state, task)
    } else {
        node.is_some_and(|node| node.repeat == Repeat::Safe)
            .then(|| (Vec::new(), "interrupted, safe to repeat"))
    };
    if let Some((mut events, why)) = free {
        if let Some(call) = &row.call {
            events.push(given_up(&call.call));
        }
        events.push(TaskEvent::Reset { task: id, why: why.to_owned() }.into());
        return events;
    }
    if already_asked(state, task) {
        return Vec::new();
    }
    let open = state.agents.get(&id).and_then(|progress| progress.open.as_ref());
    let call = row.call.clone().unwrap_or_else(|| CallInFlight {
        call: CallId { step: open.map_or(1, |open| open.number), ..attempt_call(state, task) },
        tool: open.map(|open| open.planned.tool.clone()).unwrap_or_default(),
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

/// An agent goes on at its step, unless the call it was at may have done something that nobody saw the end of.
fn agent_goes_on(state: &SessionState, task: usize) -> Option<(Vec<Event>, &'static str)> {
    const WHY: &str = "interrupted, goes on where it was";
    let id = state.tasks.id(task);
    let progress = state.agents.get(id);
    let Some((progress, open)) = progress.and_then(|own| Some((own, own.open.as_ref()?))) else {
        return Some((Vec::new(), WHY));
    };
    match open.left_open() {
        LeftOpen::Free => Some((Vec::new(), WHY)),
        LeftOpen::InDoubt => None,
        LeftOpen::Ended(result) => {
            let at = state.at.unwrap_or_default();
            let seen = open.observed(id, progress.attempt, &result, at);
            Some((vec![seen.into()], WHY))
        }
    }
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
        ([], None) if row.last_outcome == Some(CallOutcome::Cancelled) => {
            "it was ended half-way when its process left".to_owned()
        }
        ([], None) => "it was ended when its process left".to_owned(),
        ([], Some(CallInFlight { process: None, .. })) => "it may not have started".to_owned(),
        ([], Some(CallInFlight { process: Some((pid, _)), .. })) => {
            format!("process {pid} is gone")
        }
        ([pid], _) => format!("process {pid} was still there and was ended"),
        (several, _) => format!("{} processes were still there and were ended", several.len()),
    }
}
