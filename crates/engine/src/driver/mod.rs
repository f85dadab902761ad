//! The driver: one task that owns the order of a session's events.
//!
//! Everything arrives as a message, is handled by plain synchronous code, and leaves as one batch to the journal. The
//! next message is handled while the batch is being written; what the batch asks for starts when it is durable.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

mod agents;
mod applied_checks;
mod calls;
mod candidates;
mod checks;
mod closing;
mod commit;
pub(super) mod default_agent;
mod holds;
mod leftovers;
mod overlaps;
mod permission;
mod planning;
mod ready;
mod results;
mod services;
mod task_brief;
mod worktrees;

pub(super) use commit::journal_row;
use commit::next_acknowledgement;

use super::agent_port::{AgentPortMessage, AgentPortReceiver};
use super::controller::{self, DriverEffect};
use super::coordinator;
use super::coordinator::queue::ReadyQueue;
use super::coordinator::resources::ResourceLedger;
use super::plan_rows::changed_plan_row;
use super::{EngineOptions, LeftCommand, RunNotice};
use crate::worktree_runner::WorktreeAction;
use planwright_model::event::{
    ApprovalEvent, CallEvent, CloseReason, Command, Event, PlanEvent, PlanningEvent, Record,
    RunEvent, TaskEvent,
};
use planwright_model::request::RequestDetail;
use planwright_model::{
    Answer, CallId, NotifyCause, Request, RequestId, Seq, SkipReason, TaskId, TaskResults,
};
use planwright_state::{RunPhase, SessionState, TaskWorktree};
use planwright_store::{AppendAck, Journal, SideWrite, StoreError};
use planwright_text::Redactor;
use planwright_tools::machine_pools::PoolLease;
use planwright_tools::{AttemptReport, TaskAttempt};

/// How many reports of running calls may wait; a chatty command is slowed down, never buffered without bound.
const REPORTS: usize = 256;
/// How many messages are handled before what they led to is written, so that a flood still reaches the journal.
const TURN: usize = 128;

/// How often the number of tasks at once is looked at when it adapts.
const ADAPT_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// How soon output may follow output to the journal. Nobody waits for it, a screen draws less often, and commands that
/// write without a pause would otherwise keep the disk and a processor busy with single lines.
const OUTPUT_EVERY: std::time::Duration = std::time::Duration::from_millis(20);

/// Why a session could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("could not write to the journal")]
    Store(#[from] StoreError),
    #[error("could not encode an event")]
    Encode(#[from] serde_json::Error),
    #[error("the engine stopped unexpectedly: {message}")]
    Crashed { message: String },
}

/// What the driver starts once a batch is durable.
enum DeferredAction {
    /// Something with the copy of a task.
    Worktree(CallId, WorktreeAction, Box<TaskWorktree>),
    Attempt(Box<TaskAttempt>),
    Effect(DriverEffect),
    Stage,
    /// Tells somebody what happened to the run.
    Notify(Box<RunNotice>),
    /// Tells an agent that what it handed in is durable.
    Durable(oneshot::Sender<()>),
    /// Gives an agent the person's answer.
    Reply(oneshot::Sender<Answer>, Box<Answer>),
}

/// A batch on its way to the disk.
struct UnacknowledgedBatch {
    ack: AppendAck,
    head: Seq,
    starts: Vec<DeferredAction>,
}

pub(super) struct Driver {
    journal: Journal,
    state: SessionState,
    options: EngineOptions,
    inbox: mpsc::Receiver<Command>,
    /// Commands from the inbox of the session.
    letters: mpsc::Receiver<LeftCommand>,
    published: watch::Sender<Seq>,
    /// The last durable event, until it is published.
    durable: Option<Seq>,
    reports_in: mpsc::Sender<(CallId, AttemptReport)>,
    reports: mpsc::Receiver<(CallId, AttemptReport)>,
    workers: JoinSet<()>,
    worker_calls: HashMap<tokio::task::Id, CallId>,
    /// Calls that were started or are about to be, with the way to end them.
    running: HashMap<CallId, CancellationToken>,
    queue: ReadyQueue,
    /// Tools whose breaker was open when the queue was ranked.
    refused: Vec<String>,
    /// Ready tasks of the person's. They take no permit, so that a full house does not hold them back.
    handovers: Vec<usize>,
    /// Tasks of agents that wait while the run is offline.
    held: Vec<usize>,
    /// What the tasks of the plan share, and who waits for it.
    resources: ResourceLedger,
    /// Tasks whose work is done and whose end may have become possible.
    closable: Vec<usize>,
    /// Tasks whose command succeeded and whose checks nobody is at.
    unchecked: Vec<usize>,
    /// What commands printed that exit criteria look into.
    captured: HashMap<TaskId, String>,
    /// Tasks whose command was left out as up to date.
    up_to_date: HashSet<TaskId>,
    /// What attempts at work left behind, until they end.
    results: HashMap<CallId, (TaskResults, Option<String>)>,
    /// Units of pools of the machine that tasks have.
    leases: HashMap<usize, Vec<PoolLease>>,
    /// Services of the plan.
    services: Vec<usize>,
    /// Services that are being ended because nobody needs them any more.
    stopping: HashSet<CallId>,
    /// Calls that are being ended because a task failed, and that task.
    aborted: HashMap<CallId, TaskId>,
    /// Tasks that wait for the time of their next attempt, of their start or of their end.
    timers: BinaryHeap<Reverse<(Timestamp, usize)>>,
    outbox: Vec<Record>,
    /// Whether the outbox holds more than output.
    urgent: bool,
    /// When a batch last went to the journal.
    flushed: Option<Instant>,
    starts: Vec<DeferredAction>,
    /// Calls that may start before their intent is durable, because repeating them is safe.
    early: Vec<TaskAttempt>,
    unacknowledged: VecDeque<UnacknowledgedBatch>,
    since_checkpoint: u64,
    /// Calls that a rate limit refused since the last look.
    rate_limited: u32,
    closing: Option<CloseReason>,
    stage: Option<planning::StageInFlight>,
    stages: u64,
    stage_in: mpsc::Sender<(u64, planning::StageUpdate)>,
    stage_out: mpsc::Receiver<(u64, planning::StageUpdate)>,
    /// What agents hand in; never anything where no agent works.
    agent_messages: mpsc::UnboundedReceiver<AgentPortMessage>,
    /// Questions of agents, and who waits for the answer.
    asked: HashMap<RequestId, oneshot::Sender<Answer>>,
    /// Answers to questions that another process left open and whose agent has not come back to them yet.
    answered_early: Vec<(Arc<Request>, Answer)>,
    /// Calls in doubt that the person wants made again, by task and number.
    run_again: Vec<(TaskId, u32)>,
    /// Calls of an earlier process whose commands are still running, until they have ended.
    awaited: JoinSet<CallId>,
    /// The same calls, whose output is still read.
    leftover_calls: HashMap<CallId, leftovers::LeftoverEnd>,
    /// The lines of changes that were looked at and that nobody was asked about yet.
    reviews: HashMap<TaskId, Vec<RequestDetail>>,
    /// Tasks whose changes this process is applying.
    applying: HashSet<TaskId>,
    /// Tasks whose changes are to be applied once the workspace is free.
    waiting_applies: VecDeque<TaskId>,
    /// The checks of applied changes that are under way.
    applied_checks: HashMap<TaskId, applied_checks::AppliedCheckRun>,
    /// Tasks that wait for the end of their tries, to pick one of the results.
    picks: BTreeSet<TaskId>,
    /// How many jobs with copies were started.
    worktree_jobs: u32,
    /// Calls after which their task goes no further.
    silent_calls: HashSet<CallId>,
    /// What is to be kept beside the journal with the next batch.
    side_writes: Vec<SideWrite>,
    /// The last event that went to the journal, durable or not.
    sent: Seq,
}

impl Driver {
    pub(super) fn new(
        journal: Journal,
        state: SessionState,
        options: EngineOptions,
        (inbox, letters): (mpsc::Receiver<Command>, mpsc::Receiver<LeftCommand>),
        published: watch::Sender<Seq>,
    ) -> Self {
        let (reports_in, reports) = mpsc::channel(REPORTS);
        let (stage_in, stage_out) = mpsc::channel(REPORTS);
        let port = options.agent_receiver.as_ref().and_then(AgentPortReceiver::take_receiver);
        let port = port.unwrap_or_else(|| mpsc::unbounded_channel().1);
        let sent = state.seq;
        let mut driver = Self {
            journal,
            state,
            options,
            inbox,
            letters,
            published,
            durable: None,
            reports_in,
            reports,
            workers: JoinSet::new(),
            worker_calls: HashMap::new(),
            running: HashMap::new(),
            queue: ReadyQueue::default(),
            refused: Vec::new(),
            handovers: Vec::new(),
            held: Vec::new(),
            resources: ResourceLedger::default(),
            closable: Vec::new(),
            unchecked: Vec::new(),
            captured: HashMap::new(),
            up_to_date: HashSet::new(),
            results: HashMap::new(),
            leases: HashMap::new(),
            services: Vec::new(),
            stopping: HashSet::new(),
            aborted: HashMap::new(),
            timers: BinaryHeap::new(),
            outbox: Vec::new(),
            urgent: false,
            flushed: None,
            starts: Vec::new(),
            early: Vec::new(),
            unacknowledged: VecDeque::new(),
            since_checkpoint: 0,
            rate_limited: 0,
            closing: None,
            stage: None,
            stages: 0,
            stage_in,
            stage_out,
            agent_messages: port,
            asked: HashMap::new(),
            answered_early: Vec::new(),
            run_again: Vec::new(),
            awaited: JoinSet::new(),
            leftover_calls: HashMap::new(),
            reviews: HashMap::new(),
            applying: HashSet::new(),
            waiting_applies: VecDeque::new(),
            applied_checks: HashMap::new(),
            picks: BTreeSet::new(),
            worktree_jobs: 0,
            silent_calls: HashSet::new(),
            side_writes: Vec::new(),
            sent,
        };
        driver.rebuild_queue();
        driver
    }

    /// Works until the session is closed. A panic in here ends the run, and the journal says why.
    pub(super) async fn run(mut self, first: Vec<Event>) -> Result<(), EngineError> {
        let worked = AssertUnwindSafe(self.run_loop(first)).catch_unwind().await;
        self.publish_head();
        self.options.executor.close().await;
        if let Some(others) = &self.options.other_plans {
            others.close().await;
        }
        match worked {
            Ok(ended) => {
                let error = ended.as_ref().err().map(tracing::field::display);
                tracing::info!(session = %self.journal.session(), error, "session ended");
                ended
            }
            Err(panic) => {
                let message = panic_text(&*panic);
                // If they cannot be kept either, the panic is still the reason.
                if let Err(error) = self.record_crash(&message).await {
                    tracing::error!(%error, "the crash cannot be recorded");
                }
                Err(EngineError::Crashed { message })
            }
        }
    }

    async fn run_loop(&mut self, first: Vec<Event>) -> Result<(), EngineError> {
        for event in first {
            self.record(event);
        }
        self.rebuild_holds();
        self.complete_answered_tasks();
        self.resume_undos();
        if let Some(receiver) = &self.options.agent_receiver {
            receiver.publish_view(&self.state);
        }
        // Whoever left before there was a driver has nothing started.
        match self.inbox.try_recv() {
            Ok(Command::Close { why }) => self.close(why),
            Ok(command) => self.on_command(&command),
            // Nothing waits yet, or nobody is there any more, which the loop finds out.
            Err(_) => {}
        }
        loop {
            self.advance_run();
            let durable = self.flush().await?;
            if self.is_done() {
                return Ok(());
            }
            if !durable && !self.is_ready_to_close() {
                self.wait_for_message().await?;
            }
        }
    }

    /// Waits for one message and handles it together with whatever else is already there.
    async fn wait_for_message(&mut self) -> Result<(), EngineError> {
        let next_timer = self.timers.peek().map(|Reverse((at, _))| *at);
        let pause = next_timer.map(|at| duration_until(at, (self.options.clock)()));
        let patience = self.model_timeout();
        let adapt = (self.options.adapt_jobs && !self.running.is_empty()).then_some(ADAPT_EVERY);
        let cap = self.wall_time_left();
        let linger = self.batch_delay().filter(|_| !self.outbox.is_empty());
        tokio::select! {
            biased;
            result = next_acknowledgement(&mut self.unacknowledged) => {
                self.on_commit(result)?;
                self.drain_commits()?;
            }
            Some((call, report)) = self.reports.recv() => {
                self.on_report(&call, report);
                self.drain_ready_reports().await;
            }
            Some(message) = self.agent_messages.recv() => {
                self.on_agent_message(message);
                self.drain_agent_messages();
            }
            Some((stage, report)) = self.stage_out.recv() => self.on_stage_report(stage, report),
            Some(ended) = self.workers.join_next_with_id() => self.on_worker_ends(ended),
            Some(Ok(call)) = self.awaited.join_next() => self.settle_leftover(&call),
            command = self.inbox.recv(), if self.closing.is_none() => match command {
                Some(command) => self.on_command(&command),
                None => self.close(CloseReason::Quit),
            },
            Some(letter) = self.letters.recv(), if self.closing.is_none() => self.on_letter(&letter),
            () = sleep_or_pend(pause) => self.on_timer(),
            () = sleep_or_pend(patience) => self.on_model_timeout(),
            () = sleep_or_pend(adapt) => self.adapt_jobs(),
            // The limit is looked at after this.
            () = sleep_or_pend(cap) => {}
            // The outbox is sent after this.
            () = sleep_or_pend(linger) => {}
            // What the last commit started may have something to say at once; only then is there time to publish.
            () = tokio::task::yield_now(), if self.durable.is_some() => self.publish_head(),
        }
        Ok(())
    }

    /// Handles what has been reported already. Where several calls run, the others get a moment to report as well: one
    /// batch for many costs less than many batches.
    async fn drain_ready_reports(&mut self) {
        self.drain_reports();
        if self.running.len() > 1 {
            tokio::task::yield_now().await;
            self.drain_reports();
        }
        if let Some(ended) = self.workers.try_join_next_with_id() {
            self.on_worker_ends(ended);
        }
    }

    /// Records a fact: numbers it, folds it, and queues it for the journal.
    fn record(&mut self, event: impl Into<Event>) {
        let now = (self.options.clock)();
        // A clock that was set back must not turn the journal's time round.
        let at = self.state.at.map_or(now, |last| now.max(last));
        let record = Record::new(self.state.seq.next(), at, event);
        tracing::debug!(
            seq = record.seq.0,
            kind = %record.event.kind(),
            task = record.event.task_id().map(tracing::field::display),
            "event"
        );
        self.state.apply(&record);
        match &record.event {
            Event::Plan(PlanEvent::Proposed { .. }) => self.rebuild_queue(),
            Event::Task(event) => {
                if let TaskEvent::HandedOver { task } = event {
                    self.queue_notice(NotifyCause::Question, &format!("{task} is yours to do"));
                }
                self.on_task_changed(event);
            }
            Event::Run(RunEvent::Finished { success, .. }) => self.queue_end_notices(*success),
            Event::Approval(ApprovalEvent::Asked { request }) => {
                self.queue_notice(NotifyCause::Question, &request.question);
            }
            Event::Planning(event) => self.on_planning_event(event),
            _ => {}
        }
        if let Some(plan) = changed_plan_row(&record.event, &self.state.planning) {
            let session = self.journal.session().clone();
            self.side_writes.push(SideWrite::Plan { session, plan: Box::new(plan) });
        }
        // That a process started may wait as well: whoever finds the command after a crash finds it by its mark.
        self.urgent |= !matches!(
            record.event,
            Event::Call(
                CallEvent::Output { .. } | CallEvent::Spooled { .. } | CallEvent::Spawned { .. }
            )
        );
        self.outbox.push(record);
    }

    /// Acts on what somebody left. Its removal is committed with what became of it, or not at all.
    fn on_letter(&mut self, letter: &LeftCommand) {
        self.on_command(&letter.command);
        self.side_writes.push(SideWrite::RemoveLetter(letter.key));
        self.urgent = true;
    }

    fn on_command(&mut self, command: &Command) {
        tracing::debug!(command = command.name(), "command");
        let command = &redact_command(command, &self.options.redactor);
        if self.is_approval_overtaken(command) {
            return;
        }
        let decision = controller::decide_command(
            &self.state,
            command,
            self.options.jobs,
            (self.options.clock)(),
        );
        match command {
            Command::SetJobs { jobs } if (1..=controller::MAX_JOBS).contains(jobs) => {
                (self.options.jobs, self.options.adapt_jobs) = (*jobs, false);
            }
            Command::AdaptJobs => self.options.adapt_jobs = true,
            _ => {}
        }
        for event in decision.events {
            let mut settled = None;
            if let Event::Approval(ApprovalEvent::Answered { id, answer, .. }) = &event {
                settled = self.asked_command(*id);
                self.answer_agent(*id, answer);
            }
            let policy = matches!(&event, Event::Planning(PlanningEvent::PolicySet { .. }));
            if let Event::Task(TaskEvent::Skipped { task, .. }) = &event {
                settled = Some(task.clone()).filter(|task| self.is_shell_task(task));
            }
            self.sync_ledger(&event);
            let completed = match &event {
                Event::Task(TaskEvent::Completed { task, .. }) => self.state.tasks.position(task),
                _ => None,
            };
            self.record(event);
            if let Some(task) = completed {
                self.revive_dependents(task);
            }
            if let Some(task) = settled {
                self.recheck_permission(&task);
            }
            if policy {
                self.recheck_policy();
            }
        }
        self.starts.extend(decision.effects.into_iter().map(DeferredAction::Effect));
    }

    /// Starts what may start, and ends the run when nothing is left.
    fn advance_run(&mut self) {
        if self.closing.is_some() {
            self.record_close();
            return;
        }
        self.queue_stage();
        self.close_finished_tasks();
        if self.state.run.phase != RunPhase::Running
            || !self.state.is_runnable()
            || self.pause_at_cap()
        {
            return;
        }
        self.resume_checks();
        self.resume_picks();
        while let Some(task) = self.handovers.pop() {
            self.start_if_ready(task);
        }
        self.announce_breakers();
        self.sync_breakers();
        let permits =
            if self.options.features.task_graphs { self.options.jobs as usize } else { 1 };
        while self.running.len() < permits + self.waiting_attempts() + self.serving_count() {
            let Some(task) = self.queue.pop() else { break };
            self.start_if_ready(task);
        }
        // What started or ended just now may let others end, and those let others start.
        if !self.closable.is_empty() {
            return self.advance_run();
        }
        self.prune_timers();
        if self.resume_online() {
            return self.advance_run();
        }
        if self.is_run_over() {
            for event in coordinator::skips_of_pending(&self.state, SkipReason::Deadlock) {
                self.record(event);
            }
            self.close_finished_tasks();
            if self.state.tasks.awaiting_close_count() > 0 {
                return;
            }
            let elapsed = self.state.at.map_or(0, |now| self.state.run.worked_ms(now));
            let finished = coordinator::run_finished_event(&self.state, elapsed);
            self.record(finished);
        }
    }
}

/// What the person typed, as it may be kept.
fn redact_command(command: &Command, redactor: &Redactor) -> Command {
    let mut command = command.clone();
    let text = match &mut command {
        Command::Answer { answer, .. } => &mut answer.text,
        Command::CompleteTask { note, .. } | Command::MarkTask { note, .. } => note,
        Command::NoteTask { text, .. }
        | Command::MessageTask { text, .. }
        | Command::CommentLine { text, .. } => {
            *text = redactor.redact(text).into_owned();
            return command;
        }
        _ => return command,
    };
    if let Some(text) = text {
        *text = redactor.redact(text).into_owned();
    }
    command
}

/// Never ends without a time. Only then is a timer made: there are none in most turns.
async fn sleep_or_pend(time: Option<std::time::Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

fn duration_until(at: Timestamp, now: Timestamp) -> std::time::Duration {
    at.duration_since(now).max(SignedDuration::ZERO).unsigned_abs()
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    words.unwrap_or_else(|| "no message".to_owned())
}
