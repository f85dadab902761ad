//! What a command means now. Pure: the driver journals the events and only then starts the effects.

mod answer;
pub mod planning;
pub mod requests;
mod settle;

use std::sync::Arc;

use jiff::Timestamp;

use crate::{Keep, coordinator};
use planwright_model::event::{
    ApprovalEvent, CloseReason, Command, Event, PauseCause, PlanEvent, Refusal, RunEvent, TaskEvent,
};
use planwright_model::request::Detail;
use planwright_model::{
    CallId, GraphFacts, Normalization, Plan, RequestKind, RunKind, SkipReason, TaskId, TaskNode,
};
use planwright_plan::diff::{Widening, widening};
use planwright_state::{PlanRevision, RunPhase, SessionState, TaskStatus};

/// The most tasks that may run at once.
pub const MAX_JOBS: u32 = 64;

/// Work for the driver, once the events before it are durable.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// End a running call.
    Cancel(CallId),
    /// Let go of the session in good order.
    Close(CloseReason),
    /// Keep a decision for later sessions.
    Keep(Keep),
    /// End the stage of planning that is under way.
    CancelStage,
    /// Find ideas beside the plan.
    Brainstorm,
}

/// What a command leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
}

impl Decision {
    fn of(event: impl Into<Event>) -> Self {
        Self { events: vec![event.into()], effects: Vec::new() }
    }

    fn and(mut self, event: impl Into<Event>) -> Self {
        self.events.push(event.into());
        self
    }

    fn then(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// Decides on a command at a moment. `jobs` is how many tasks this process may run at once.
pub fn decide(state: &SessionState, command: &Command, jobs: u32, now: Timestamp) -> Decision {
    let decided = match command {
        Command::Answer { id, answer, by } => answer::answer(state, *id, answer, *by, jobs, now),
        Command::Run { .. } => run(state, jobs),
        Command::Revise { plan, facts, normalization } => revise(state, plan, facts, normalization),
        Command::Pause => pause(state),
        Command::Continue => go_on(state),
        Command::CompleteTask { task, note, by } => {
            settle::complete(state, task, note.as_ref(), *by, jobs, now)
        }
        Command::Settle { task, occurrence, done, note, by } => {
            let what = settle::Settling { occurrence: *occurrence, done: *done, by: *by };
            settle::settle(state, task, what, note.as_ref(), jobs, now)
        }
        Command::MoveBlock { block, to } => planning::move_block(state, block, *to, now),
        Command::RetryTask { task, with_dependents } => retry(state, task, *with_dependents, jobs),
        Command::SkipTask { task, with_dependents } => skip(state, task, *with_dependents, jobs),
        Command::CancelTask { task } => cancel(state, task),
        Command::SetJobs { jobs } => set_jobs(state, *jobs),
        Command::SetPolicy { set, save, by } => Ok(planning::set_policy(set, *save, *by)),
        Command::SetGate { when } => Ok(planning::set_gate(state, *when)),
        Command::Comment { node, text } => planning::comment(state, node, text),
        Command::Lock { node, on } => planning::lock(state, node, *on),
        Command::Edit { edit } => planning::edit(state, edit, now),
        Command::Undo => planning::undo(state, false, now),
        Command::Redo => planning::undo(state, true, now),
        Command::RequestChanges { text, nodes, stage } => {
            planning::request_changes(state, text, nodes, *stage, now)
        }
        Command::AbandonPlan { by } => planning::abandon(state, *by, now),
        Command::Close { why } => Ok(Decision::default().then(Effect::Close(why.clone()))),
    };
    decided.unwrap_or_else(|why| {
        Decision::of(ApprovalEvent::Refused { command: command.name().to_owned(), why })
    })
}

type Decided = Result<Decision, Refusal>;

fn run_state(state: &SessionState) -> Refusal {
    let word = match state.run.phase {
        RunPhase::Idle => "not started",
        RunPhase::Running => "already going on",
        RunPhase::Paused => "paused",
        RunPhase::Interrupted => "interrupted",
        RunPhase::Finished { .. } => "over",
    };
    Refusal::RunState { state: word.to_owned() }
}

/// The event that begins or resumes work on the approved plan.
fn started(state: &SessionState, jobs: u32) -> Result<RunEvent, Refusal> {
    let current = state.plan.current.as_ref().ok_or(Refusal::NoPlan)?;
    if !state.may_run() {
        return Err(Refusal::NotApproved);
    }
    Ok(RunEvent::Started { hash: current.hash.clone(), jobs })
}

/// Whether a plan has another task of this name than the current one, or none.
fn changes(state: &SessionState, plan: &Plan, id: &TaskId) -> bool {
    let Some(current) = &state.plan.current else { return false };
    let own = |task: &&TaskNode| task.id == *id;
    let before = current.plan.tasks.iter().find(own);
    before.is_some() && before != plan.tasks.iter().find(own)
}

/// A new revision, which asks for approval again. What is done or under way stays in it as it was.
fn revise(
    state: &SessionState,
    plan: &Arc<Plan>,
    facts: &Arc<GraphFacts>,
    normalization: &[Normalization],
) -> Decided {
    let hash = plan.digest().map_err(|error| Refusal::OutOfRange { what: error.to_string() })?;
    if let Some(current) = &state.plan.current {
        if current.hash == hash {
            return Err(Refusal::OutOfRange { what: "the plan is the same as before".to_owned() });
        }
        for (node, (id, row)) in current.plan.tasks.iter().zip(state.tasks.iter()) {
            let begun = matches!(row.status, TaskStatus::Done | TaskStatus::Running);
            if begun && !plan.tasks.iter().any(|task| task == node) {
                let state = format!("{} and must stay in the plan as it is", row.status.word());
                return Err(Refusal::TaskState { task: id.clone(), state });
            }
        }
    }
    let revision = PlanRevision {
        revision: state.plan.revisions.last().map_or(1, |last| last.revision + 1),
        hash,
        plan: Arc::clone(plan),
        facts: Arc::clone(facts),
        normalization: normalization.to_vec(),
    };
    let mut request = requests::final_plan(state.requests.next_id(), &revision);
    let mut carried = None;
    if let Some(approved) = state.plan.current.as_ref().filter(|_| state.may_run()) {
        match widening(&approved.plan, plan) {
            Widening::Narrower { why } => {
                let (from_hash, to_hash) = (approved.hash.clone(), revision.hash.clone());
                carried = Some(PlanEvent::ApprovalCarried { from_hash, to_hash, why });
            }
            Widening::Wider { why } => {
                let name = format!("wider than r{}", approved.revision);
                request.details.push(Detail::new(&name, why.join("; ")));
            }
        }
    }
    let mut decision = Decision::default();
    for open in state.requests.open.values() {
        let replaced = match &open.request.kind {
            RequestKind::FinalPlan { .. } => true,
            RequestKind::Permission { call, .. } => changes(state, plan, &call.task),
            _ => false,
        };
        if replaced {
            let why = format!("r{} takes its place", revision.revision);
            decision = decision.and(ApprovalEvent::Withdrawn { id: open.request.id, why });
        }
    }
    let decision = decision.and(PlanEvent::Proposed {
        revision: revision.revision,
        hash: revision.hash,
        plan: revision.plan,
        facts: revision.facts,
        normalization: revision.normalization,
    });
    Ok(match carried {
        Some(carried) => decision.and(carried),
        None => decision.and(ApprovalEvent::Asked { request: Arc::new(request) }),
    })
}

fn run(state: &SessionState, jobs: u32) -> Decided {
    match state.run.phase {
        RunPhase::Idle | RunPhase::Interrupted => Ok(Decision::of(started(state, jobs)?)),
        _ => Err(run_state(state)),
    }
}

fn pause(state: &SessionState) -> Decided {
    match state.run.phase {
        RunPhase::Running => Ok(Decision::of(RunEvent::Paused(PauseCause::Person))),
        _ => Err(run_state(state)),
    }
}

fn go_on(state: &SessionState) -> Decided {
    match state.run.phase {
        RunPhase::Paused => Ok(Decision::of(RunEvent::Continued)),
        _ => Err(run_state(state)),
    }
}

fn find(state: &SessionState, task: &TaskId) -> Result<usize, Refusal> {
    state.tasks.position(task).ok_or_else(|| Refusal::UnknownTask { task: task.clone() })
}

fn task_state(state: &SessionState, task: usize) -> Refusal {
    Refusal::TaskState {
        task: state.tasks.id(task).clone(),
        state: state.tasks.row(task).status.word().to_owned(),
    }
}

/// Puts a finished run back to work when a task of it is to run again.
fn reopen(state: &SessionState, mut decision: Decision, jobs: u32) -> Decided {
    if matches!(state.run.phase, RunPhase::Finished { .. } | RunPhase::Interrupted) {
        decision.events.push(started(state, jobs)?.into());
    }
    Ok(decision)
}

fn retry(state: &SessionState, id: &TaskId, with_dependents: bool, jobs: u32) -> Decided {
    let task = find(state, id)?;
    let status = state.tasks.row(task).status;
    let again = match status {
        TaskStatus::Failed | TaskStatus::Skipped(_) => true,
        TaskStatus::Done => with_dependents,
        _ => false,
    };
    if !again {
        return Err(task_state(state, task));
    }
    let mut decision = Decision::of(reset(id, "retried by you"));
    if with_dependents {
        for descendant in state.tasks.descendants(task) {
            if state.tasks.row(descendant).status.is_settled() {
                let event = reset(state.tasks.id(descendant), &format!("retried with {id}"));
                decision.events.push(event);
            }
        }
    }
    reopen(state, decision, jobs)
}

fn reset(task: &TaskId, why: &str) -> Event {
    TaskEvent::Reset { task: task.clone(), why: why.to_owned() }.into()
}

fn skip(state: &SessionState, id: &TaskId, with_dependents: bool, jobs: u32) -> Decided {
    let task = find(state, id)?;
    match state.tasks.row(task).status {
        TaskStatus::Pending | TaskStatus::Failed | TaskStatus::Yours => {
            reopen(state, skipping(state, task, with_dependents), jobs)
        }
        _ => Err(task_state(state, task)),
    }
}

/// Skips a task by the person's wish: alone, so that dependents go on without it, or with them.
fn skipping(state: &SessionState, task: usize, with_dependents: bool) -> Decision {
    let id = state.tasks.id(task);
    let mut decision =
        Decision::of(TaskEvent::Skipped { task: id.clone(), reason: SkipReason::ByPerson });
    if with_dependents {
        for descendant in state.tasks.descendants(task) {
            if state.tasks.row(descendant).status == TaskStatus::Pending {
                let task = state.tasks.id(descendant).clone();
                decision = decision
                    .and(TaskEvent::Skipped { task, reason: SkipReason::DependencySkipped });
            }
        }
    } else {
        for revived in coordinator::revived_by(&state.tasks, task) {
            decision.events.push(reset(state.tasks.id(revived), &format!("goes on without {id}")));
        }
    }
    decision
}

fn cancel(state: &SessionState, id: &TaskId) -> Decided {
    let task = find(state, id)?;
    let row = state.tasks.row(task);
    let call = match &row.call {
        Some(call) => call.call.clone(),
        // An agent is at work between its calls too, such as when it waits for its model.
        None if row.status == TaskStatus::Running && is_agents(state, task) => {
            CallId { task: id.clone(), attempt: row.attempt, step: 0 }
        }
        None => return Err(task_state(state, task)),
    };
    Ok(Decision::default().then(Effect::Cancel(call)))
}

fn is_agents(state: &SessionState, task: usize) -> bool {
    let node = state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
    node.is_some_and(|node| matches!(node.run, RunKind::Agent {}))
}

fn set_jobs(state: &SessionState, jobs: u32) -> Decided {
    if !(1..=MAX_JOBS).contains(&jobs) {
        return Err(Refusal::OutOfRange {
            what: format!("jobs must be 1 to {MAX_JOBS}, not {jobs}"),
        });
    }
    Ok(Decision::of(RunEvent::JobsChanged {
        from: state.run.jobs,
        to: jobs,
        why: "set by you".to_owned(),
    }))
}

#[cfg(test)]
mod tests;
