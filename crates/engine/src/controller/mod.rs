//! What a command means now. Pure: the driver journals the events and only then starts the effects.

mod answer;
pub(crate) mod candidates;
mod change_review;
pub mod desk;
pub mod planning;
pub mod requests;
mod task_settlement;

use std::sync::Arc;

use jiff::Timestamp;

use crate::{SavedDecision, coordinator};
use planwright_model::event::{
    AgentEvent, ApprovalEvent, CloseReason, Command, CommandRefusal, Event, PauseCause, PlanEvent,
    RunEvent, TaskEvent,
};
use planwright_model::requests::{final_plan_request, widening_detail};
use planwright_model::{
    Actor, CallId, GraphFacts, NormalizationChange, Plan, RequestKind, RunKind, SessionId,
    SkipReason, TaskId, TaskNode,
};
use planwright_plan::diff::{ApprovalWidening, assess_widening};
use planwright_state::{PlanRevision, RunPhase, SessionState, TaskStatus};

/// The most tasks that may run at once.
pub const MAX_JOBS: u32 = 64;

/// Work for the driver, once the events before it are durable.
#[derive(Clone, Debug, PartialEq)]
pub enum DriverEffect {
    /// End a running call.
    Cancel(CallId),
    /// End the processes of a call that outlived an earlier process of Planwright.
    EndLeftovers(CallId),
    /// Wait until they have ended by themselves.
    AwaitLeftovers(CallId),
    /// Let go of the session in good order.
    Close(CloseReason),
    /// Keep a decision for later sessions.
    SaveDecision(SavedDecision),
    /// End the stage of planning that is under way.
    CancelStage,
    /// Find ideas beside the plan.
    Brainstorm,
    /// Have another plan of the person's decide on a command.
    CommandOtherPlan(SessionId, Box<Command>),
    /// Take the next step with the changes of a task.
    ContinueReview(TaskId),
    /// Delete the copy of a task.
    RemoveWorktree(TaskId),
    /// Restore the files that a task changed.
    UndoChanges(TaskId),
}

/// What a command leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandDecision {
    pub events: Vec<Event>,
    pub effects: Vec<DriverEffect>,
}

impl CommandDecision {
    fn from_event(event: impl Into<Event>) -> Self {
        Self { events: vec![event.into()], effects: Vec::new() }
    }

    fn with_event(mut self, event: impl Into<Event>) -> Self {
        self.events.push(event.into());
        self
    }

    fn with_effect(mut self, effect: DriverEffect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// Decides on a command at a moment. `jobs` is how many tasks this process may run at once.
pub fn decide_command(
    state: &SessionState,
    command: &Command,
    jobs: u32,
    now: Timestamp,
) -> CommandDecision {
    let decided = match command {
        Command::Answer { id, answer, by } => {
            answer::answer_request(state, *id, answer, *by, jobs, now)
        }
        Command::Run { .. } => start_run(state, jobs),
        Command::Revise { plan, facts, normalization } => {
            match planning::edit_as_file(state, plan, now) {
                Some(decided) => decided,
                None => revise_plan(state, plan, facts, normalization),
            }
        }
        Command::Pause => pause_run(state),
        Command::Continue => continue_run(state),
        Command::CompleteTask { task, note, by } => {
            task_settlement::complete_task(state, task, note.as_ref(), *by, jobs, now)
        }
        Command::MarkTask { task, occurrence, done, note, by } => {
            let what =
                task_settlement::TaskSettlement { occurrence: *occurrence, done: *done, by: *by };
            task_settlement::settle_task(state, task, what, note.as_ref(), jobs, now)
        }
        Command::ReopenTask { task, occurrence, by } => {
            task_settlement::reopen_task(state, task, *occurrence, *by, jobs)
        }
        Command::NoteTask { task, text, by } => task_settlement::note_task(state, task, text, *by),
        Command::MessageTask { task, text, by, interrupt } => {
            message_task(state, task, text, (*by, *interrupt))
        }
        Command::UndoChanges { task, by } => change_review::undo_changes(state, task, *by),
        Command::MoveBlock { block, to } => planning::move_block(state, block, *to, now),
        Command::ShiftBlocks { shifts, other_plan, moved_there, busy, .. } => {
            let moved_there = *moved_there;
            let request = planning::ShiftRequest { shifts, other_plan, moved_there, busy };
            planning::shift_blocks(state, request, now)
        }
        Command::CatchUp { way, left_out, busy, by } => {
            planning::catch_up(state, *way, (left_out, busy), *by, jobs, now)
        }
        Command::RestorePlan { by } => planning::restore_plan(state, *by, now),
        Command::RetryTask { task, with_dependents } => {
            retry_task(state, task, *with_dependents, jobs)
        }
        Command::DismissRun { on } => dismiss_run(state, *on),
        Command::SkipTask { task, with_dependents } => {
            skip_task(state, task, *with_dependents, jobs)
        }
        Command::CancelTask { task } => cancel_task(state, task),
        Command::SetJobs { jobs } => set_jobs(state, *jobs),
        Command::AdaptJobs => Ok(CommandDecision::from_event(RunEvent::JobsChanged {
            from: state.run.jobs,
            to: state.run.jobs,
            why: "set by you: from now on by the load of this machine".to_owned(),
        })),
        Command::SetPolicy { set, save, by } => Ok(planning::set_policy(set, *save, *by)),
        Command::SetGate { when } => Ok(planning::set_gate(state, *when)),
        Command::Comment { node, text } => planning::comment_node(state, node, text, now),
        Command::Lock { node, on } => planning::lock_node(state, node, *on, now),
        Command::Edit { edits } => planning::edit_plan(state, edits, now),
        Command::PutBackChange { node } => planning::put_back_change(state, node, false, now),
        Command::KeepChange { node } => planning::put_back_change(state, node, true, now),
        Command::Undo => planning::undo_change(state, false, now),
        Command::Redo => planning::undo_change(state, true, now),
        Command::RequestChanges { text, nodes, stage } => {
            planning::request_changes(state, text, nodes, *stage, now)
        }
        Command::CorrectFact { id, text, by } => planning::correct_fact(state, *id, text, *by, now),
        Command::WithdrawFact { id, by } => planning::withdraw_fact(state, *id, *by, now),
        Command::AbandonPlan { by } => planning::abandon_planning(state, *by, now),
        Command::CommentLine { line, text } => desk::comment_line(state, *line, text),
        Command::SubmitRevision { revision } => desk::submit_revision(state, revision, now),
        Command::ReportProgress { report } => desk::report_progress(state, report),
        Command::AskPerson { inquiry } => desk::ask_person(state, inquiry),
        Command::WithdrawInquiry { request, why } => desk::withdraw_inquiry(state, *request, why),
        Command::ReadDecision { revision } => desk::read_decision(state, *revision),
        Command::Close { why } => {
            Ok(CommandDecision::default().with_effect(DriverEffect::Close(why.clone())))
        }
    };
    decided.unwrap_or_else(|why| {
        CommandDecision::from_event(ApprovalEvent::Refused {
            command: command.name().to_owned(),
            why,
        })
    })
}

type DecisionResult = Result<CommandDecision, CommandRefusal>;

fn run_state_refusal(state: &SessionState) -> CommandRefusal {
    let word = match state.run.phase {
        RunPhase::Idle => "not started",
        RunPhase::Running => "already going on",
        RunPhase::Paused => "paused",
        RunPhase::Interrupted => "interrupted",
        RunPhase::Finished { .. } => "over",
    };
    CommandRefusal::RunState { state: word.to_owned() }
}

/// The event that begins or resumes work on the approved plan.
fn run_started_event(state: &SessionState, jobs: u32) -> Result<RunEvent, CommandRefusal> {
    let current = state.plan.current.as_ref().ok_or(CommandRefusal::NoPlan)?;
    if !state.is_runnable() {
        return Err(CommandRefusal::NotApproved);
    }
    Ok(RunEvent::Started { hash: current.hash.clone(), jobs })
}

/// Whether a plan has another task of this name than the current one, or none.
fn changes_task(state: &SessionState, plan: &Plan, id: &TaskId) -> bool {
    let Some(current) = &state.plan.current else { return false };
    let own = |task: &&TaskNode| task.id == *id;
    let before = current.plan.tasks.iter().find(own);
    before.is_some() && before != plan.tasks.iter().find(own)
}

/// A new revision, which asks for approval again. What is done or under way stays in it as it was.
fn revise_plan(
    state: &SessionState,
    plan: &Arc<Plan>,
    facts: &Arc<GraphFacts>,
    normalization: &[NormalizationChange],
) -> DecisionResult {
    let hash =
        plan.digest().map_err(|error| CommandRefusal::OutOfRange { what: error.to_string() })?;
    if let Some(current) = &state.plan.current {
        if current.hash == hash {
            return Err(CommandRefusal::OutOfRange {
                what: "the plan is the same as before".to_owned(),
            });
        }
        for (node, (id, row)) in current.plan.tasks.iter().zip(state.tasks.iter()) {
            let begun = matches!(row.status, TaskStatus::Done | TaskStatus::Running);
            if begun && !plan.tasks.iter().any(|task| task == node) {
                let state = format!("{} and must stay in the plan as it is", row.status.label());
                return Err(CommandRefusal::TaskState { task: id.clone(), state });
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
    let mut request = if state.desk.is_ticket() {
        desk::ask_about_submission(state, &revision)
    } else {
        final_plan_request(state.requests.next_id(), &revision.as_proposed_plan())
    };
    let mut carried = None;
    if let Some(approved) = state.plan.current.as_ref().filter(|_| state.is_runnable()) {
        match assess_widening(&approved.plan, plan) {
            ApprovalWidening::Narrower { why } => {
                let (from_hash, to_hash) = (approved.hash.clone(), revision.hash.clone());
                carried = Some(PlanEvent::ApprovalCarried { from_hash, to_hash, why });
            }
            ApprovalWidening::Wider { why } => {
                request.details.push(widening_detail(approved.revision, &why));
            }
        }
    }
    let mut decision = CommandDecision::default();
    for open in state.requests.open.values() {
        let replaced = match &open.request.kind {
            RequestKind::FinalPlan { .. } => true,
            RequestKind::Permission { call, .. } => changes_task(state, plan, &call.task),
            _ => false,
        };
        if replaced {
            let why = format!("draft {} replaces it", revision.revision);
            decision = decision.with_event(ApprovalEvent::Withdrawn { id: open.request.id, why });
        }
    }
    let decision = decision.with_event(PlanEvent::Proposed {
        revision: revision.revision,
        hash: revision.hash,
        plan: revision.plan,
        facts: revision.facts,
        normalization: revision.normalization,
    });
    Ok(match carried {
        Some(carried) => decision.with_event(carried),
        None => decision.with_event(ApprovalEvent::Asked { request: Arc::new(request) }),
    })
}

fn start_run(state: &SessionState, jobs: u32) -> DecisionResult {
    match state.run.phase {
        RunPhase::Idle | RunPhase::Interrupted => {
            let started = run_started_event(state, jobs)?;
            let resets = desk::takeover_resets(state);
            let decision = CommandDecision { events: resets, effects: Vec::new() };
            Ok(decision.with_event(started))
        }
        _ => Err(run_state_refusal(state)),
    }
}

fn pause_run(state: &SessionState) -> DecisionResult {
    match state.run.phase {
        RunPhase::Running => Ok(CommandDecision::from_event(RunEvent::Paused(PauseCause::Person))),
        _ => Err(run_state_refusal(state)),
    }
}

/// Puts a failed run aside, or takes that back. Only what has ended can be put aside.
fn dismiss_run(state: &SessionState, on: bool) -> DecisionResult {
    let failed = state.run.phase == RunPhase::Finished { success: false };
    if !failed || state.run.dismissed == on {
        return Err(CommandRefusal::RunState { state: state.status().label().to_owned() });
    }
    Ok(CommandDecision::from_event(RunEvent::Dismissed { on }))
}

fn continue_run(state: &SessionState) -> DecisionResult {
    match state.run.phase {
        RunPhase::Paused => Ok(CommandDecision::from_event(RunEvent::Continued)),
        _ => Err(run_state_refusal(state)),
    }
}

fn find_task(state: &SessionState, task: &TaskId) -> Result<usize, CommandRefusal> {
    state.tasks.position(task).ok_or_else(|| CommandRefusal::UnknownTask { task: task.clone() })
}

fn task_state_refusal(state: &SessionState, task: usize) -> CommandRefusal {
    CommandRefusal::TaskState {
        task: state.tasks.id(task).clone(),
        state: state.tasks.row(task).status.label().to_owned(),
    }
}

/// Puts a finished run back to work when a task of it is to run again.
fn reopen_run(state: &SessionState, mut decision: CommandDecision, jobs: u32) -> DecisionResult {
    if matches!(state.run.phase, RunPhase::Finished { .. } | RunPhase::Interrupted) {
        decision.events.push(run_started_event(state, jobs)?.into());
    }
    Ok(decision)
}

fn retry_task(
    state: &SessionState,
    id: &TaskId,
    with_dependents: bool,
    jobs: u32,
) -> DecisionResult {
    let task = find_task(state, id)?;
    let status = state.tasks.row(task).status;
    let again = match status {
        TaskStatus::Failed | TaskStatus::Skipped(_) => true,
        TaskStatus::Done => with_dependents,
        _ => false,
    };
    if !again {
        return Err(task_state_refusal(state, task));
    }
    let mut decision = CommandDecision::from_event(task_reset_event(id, "retried by you"));
    // Nothing was picked: all agents try again.
    if state.agents.picked(id).is_none() {
        let tries = state.candidates(id).filter(|at| state.tasks.row(*at).status.is_settled());
        let reset = |at| task_reset_event(state.tasks.id(at), &format!("retried with {id}"));
        decision.events.extend(tries.map(reset));
    }
    if with_dependents {
        for descendant in state.tasks.descendants(task) {
            if state.tasks.row(descendant).status.is_settled() {
                let event =
                    task_reset_event(state.tasks.id(descendant), &format!("retried with {id}"));
                decision.events.push(event);
            }
        }
    }
    reopen_run(state, decision, jobs)
}

fn task_reset_event(task: &TaskId, why: &str) -> Event {
    TaskEvent::Reset { task: task.clone(), why: why.to_owned() }.into()
}

fn skip_task(
    state: &SessionState,
    id: &TaskId,
    with_dependents: bool,
    jobs: u32,
) -> DecisionResult {
    let task = find_task(state, id)?;
    match state.tasks.row(task).status {
        TaskStatus::Pending | TaskStatus::Failed | TaskStatus::Yours => {
            reopen_run(state, skip_decision(state, task, with_dependents), jobs)
        }
        _ => Err(task_state_refusal(state, task)),
    }
}

/// Skips a task by the person's change request: alone, so that dependents go on without it, or with them.
fn skip_decision(state: &SessionState, task: usize, with_dependents: bool) -> CommandDecision {
    let id = state.tasks.id(task);
    let mut decision = CommandDecision::from_event(TaskEvent::Skipped {
        task: id.clone(),
        reason: SkipReason::ByPerson,
    });
    if with_dependents {
        for descendant in state.tasks.descendants(task) {
            if state.tasks.row(descendant).status == TaskStatus::Pending {
                let task = state.tasks.id(descendant).clone();
                decision = decision
                    .with_event(TaskEvent::Skipped { task, reason: SkipReason::DependencySkipped });
            }
        }
    } else {
        for revived in coordinator::revivable_dependents(&state.tasks, task) {
            decision.events.push(task_reset_event(
                state.tasks.id(revived),
                &format!("continues without {id}"),
            ));
        }
    }
    decision
}

fn cancel_task(state: &SessionState, id: &TaskId) -> DecisionResult {
    let task = find_task(state, id)?;
    let row = state.tasks.row(task);
    if state.is_in_review(task) {
        let state = if state.awaits_pick(task) {
            "waiting for the results of its agents, one of which you pick"
        } else {
            "done; its changes wait for you to apply or discard them"
        };
        let (task, state) = (id.clone(), state.to_owned());
        return Err(CommandRefusal::TaskState { task, state });
    }
    let call = match &row.call {
        Some(call) => call.call.clone(),
        // An agent is at work between its calls too, such as when it waits for its model.
        None if row.status == TaskStatus::Running && is_agent_task(state, task) => {
            CallId { task: id.clone(), attempt: row.attempt, step: 0 }
        }
        None => return Err(task_state_refusal(state, task)),
    };
    Ok(CommandDecision::default().with_effect(DriverEffect::Cancel(call)))
}

/// Writes to the agent of a task: one at work reads it before its next turn, another when it starts.
fn message_task(
    state: &SessionState,
    id: &TaskId,
    text: &str,
    (by, interrupt): (Actor, bool),
) -> DecisionResult {
    let task = find_task(state, id)?;
    let over = matches!(state.tasks.row(task).status, TaskStatus::Done | TaskStatus::Yours);
    if over || !is_agent_task(state, task) {
        return Err(task_state_refusal(state, task));
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandRefusal::OutOfRange { what: "the message is empty".to_owned() });
    }
    let last = state.agents.get(id).and_then(|progress| progress.messages.last());
    let number = last.map_or(0, |message| message.number) + 1;
    // The built-in agent reads messages before each of its turns, which are short.
    let own = state.agents.get(id).is_some_and(planwright_state::AgentProgress::is_own_agent);
    let (task, text, interrupt) = (id.clone(), text.to_owned(), interrupt && own);
    Ok(CommandDecision::from_event(AgentEvent::MessageSent { task, number, text, by, interrupt }))
}

fn is_agent_task(state: &SessionState, task: usize) -> bool {
    let node = state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
    node.is_some_and(|node| matches!(node.run, RunKind::Agent(_)))
}

fn set_jobs(state: &SessionState, jobs: u32) -> DecisionResult {
    if !(1..=MAX_JOBS).contains(&jobs) {
        return Err(CommandRefusal::OutOfRange {
            what: format!("jobs must be 1 to {MAX_JOBS}, not {jobs}"),
        });
    }
    Ok(CommandDecision::from_event(RunEvent::JobsChanged {
        from: state.run.jobs,
        to: jobs,
        why: "set by you".to_owned(),
    }))
}

#[cfg(test)]
mod tests;
