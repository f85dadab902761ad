//! The driver: one task that owns the order of a session's events.
//!
//! Everything arrives as a message, is handled by plain synchronous code, and leaves as one batch to the journal. The
//! next message is handled while the batch is being written; what the batch asks for starts when it is durable.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

mod agents;
mod planning;

use super::caps;
use super::controller::{self, Effect};
use super::coordinator;
use super::coordinator::adapt::{Pressure, load_per_core, next_jobs};
use super::coordinator::queue::ReadyQueue;
use super::port::{Inlet, PortMessage};
use super::{Durability, EngineOptions, Job, TaskRef, summary};
use crate::event::{
    ApprovalEvent, CallEvent, CallOutcome, CloseReason, Command, Event, PauseCause, PlanEvent,
    Record, RepeatClass, RiskClass, RunEvent, SessionEvent, TaskEvent,
};
use crate::model::{
    Answer, CallId, Category, Digest, Failure, Repeat, Request, RequestId, RunKind, Seq,
    SkipReason, TaskNode,
};
use crate::replay::CHECKPOINT_INTERVAL;
use crate::state::{Checkpoint, RunPhase, SessionState};
use crate::store::{Ack, Batch, Journal, Row, SideWrite, StoreError};
use crate::text::Redactor;
use crate::tools::process::{CallReport, Reports};

/// How many reports of running calls may wait; a chatty command is slowed down, never buffered without bound.
const REPORTS: usize = 256;
/// How many messages are handled before what they led to is written, so that a flood still reaches the journal.
const TURN: usize = 128;

/// How often the number of tasks at once is looked at when it adapts.
const ADAPT_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

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
enum Start {
    Job(Box<Job>),
    Effect(Effect),
    Stage,
    /// Tells an agent that what it handed in is durable.
    Durable(oneshot::Sender<()>),
    /// Gives an agent the person's answer.
    Reply(oneshot::Sender<Answer>, Box<Answer>),
}

/// A batch on its way to the disk.
struct Unacknowledged {
    ack: Ack,
    head: Seq,
    starts: Vec<Start>,
}

pub(super) struct Driver {
    journal: Journal,
    state: SessionState,
    options: EngineOptions,
    inbox: mpsc::Receiver<Command>,
    published: watch::Sender<Seq>,
    reports_in: mpsc::Sender<(CallId, CallReport)>,
    reports: mpsc::Receiver<(CallId, CallReport)>,
    workers: JoinSet<()>,
    worker_calls: HashMap<tokio::task::Id, CallId>,
    /// Calls that were started or are about to be, with the way to end them.
    running: HashMap<CallId, CancellationToken>,
    queue: ReadyQueue,
    /// Ready tasks of the person's. They take no permit, so that a full house does not hold them back.
    handovers: Vec<usize>,
    /// Tasks that wait for the time of their next attempt.
    timers: BinaryHeap<Reverse<(Timestamp, usize)>>,
    outbox: Vec<Record>,
    starts: Vec<Start>,
    /// Calls that may start before their intent is durable, because repeating them is safe.
    early: Vec<Job>,
    unacknowledged: VecDeque<Unacknowledged>,
    since_checkpoint: u64,
    /// Calls that a rate limit refused since the last look.
    rate_limited: u32,
    closing: Option<CloseReason>,
    stage: Option<planning::StageInFlight>,
    stages: u64,
    stage_in: mpsc::Sender<(u64, planning::StageReport)>,
    stage_out: mpsc::Receiver<(u64, planning::StageReport)>,
    /// What agents hand in; never anything where no agent works.
    port: mpsc::UnboundedReceiver<PortMessage>,
    /// Questions of agents, and who waits for the answer.
    asked: HashMap<RequestId, oneshot::Sender<Answer>>,
    /// Answers to questions of agents from before this process, until the agent asks again.
    answered: Vec<(Arc<Request>, Answer)>,
    /// What is to be kept beside the journal with the next batch.
    beside: Vec<SideWrite>,
    /// The last event that went to the journal, durable or not.
    sent: Seq,
}

impl Driver {
    pub(super) fn new(
        journal: Journal,
        state: SessionState,
        options: EngineOptions,
        inbox: mpsc::Receiver<Command>,
        published: watch::Sender<Seq>,
    ) -> Self {
        let (reports_in, reports) = mpsc::channel(REPORTS);
        let (stage_in, stage_out) = mpsc::channel(REPORTS);
        let port = options.inlet.as_ref().and_then(Inlet::take);
        let port = port.unwrap_or_else(|| mpsc::unbounded_channel().1);
        let sent = state.seq;
        let mut driver = Self {
            journal,
            state,
            options,
            inbox,
            published,
            reports_in,
            reports,
            workers: JoinSet::new(),
            worker_calls: HashMap::new(),
            running: HashMap::new(),
            queue: ReadyQueue::default(),
            handovers: Vec::new(),
            timers: BinaryHeap::new(),
            outbox: Vec::new(),
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
            port,
            asked: HashMap::new(),
            answered: Vec::new(),
            beside: Vec::new(),
            sent,
        };
        driver.rebuild_queue();
        driver
    }

    /// Works until the session is closed. A panic in here ends the run, and the journal says why.
    pub(super) async fn run(mut self, first: Vec<Event>) -> Result<(), EngineError> {
        let worked = AssertUnwindSafe(self.work(first)).catch_unwind().await;
        self.options.runner.close().await;
        match worked {
            Ok(ended) => ended,
            Err(panic) => {
                let message = panic_words(&*panic);
                self.last_words(&message).await?;
                Err(EngineError::Crashed { message })
            }
        }
    }

    /// Writes what ended a run that panicked. What was decided and not yet sent to the journal never happened.
    async fn last_words(&mut self, message: &str) -> Result<(), EngineError> {
        let at = self.state.at.unwrap_or_default();
        let why = format!("the coordinator panicked: {message}");
        let events: [Event; 2] = [
            SessionEvent::AnomalyNoted { what: why.clone() }.into(),
            RunEvent::Interrupted { why }.into(),
        ];
        let mut seq = self.sent;
        let rows = events.into_iter().map(|event| {
            seq = seq.next();
            row(&Record::new(seq, at, event))
        });
        let batch = Batch::of(rows.collect::<Result<Vec<_>, _>>()?);
        let head = self.journal.append(batch).await?.await?;
        self.published.send_replace(head);
        Ok(())
    }

    async fn work(&mut self, first: Vec<Event>) -> Result<(), EngineError> {
        for event in first {
            self.say(event);
        }
        loop {
            self.carry_on();
            self.flush().await?;
            if self.is_done() {
                return Ok(());
            }
            if !self.has_last_words() {
                self.wait().await?;
            }
        }
    }

    /// Waits for one message and handles it together with whatever else is already there.
    async fn wait(&mut self) -> Result<(), EngineError> {
        let next_timer = self.timers.peek().map(|Reverse((at, _))| *at);
        let pause = next_timer.map(|at| until(at, (self.options.clock)()));
        let patience = self.patience();
        tokio::select! {
            biased;
            result = acknowledgement(&mut self.unacknowledged) => {
                self.on_commit(result)?;
                self.drain_commits()?;
            }
            Some((call, report)) = self.reports.recv() => {
                self.on_report(&call, report);
                self.gather().await;
            }
            Some(message) = self.port.recv() => {
                self.on_port(message);
                self.drain_port();
            }
            Some((stage, report)) = self.stage_out.recv() => self.on_stage(stage, report),
            Some(ended) = self.workers.join_next_with_id() => self.on_worker_ends(ended),
            command = self.inbox.recv(), if self.closing.is_none() => match command {
                Some(command) => self.on_command(&command),
                None => self.close(CloseReason::Quit),
            },
            () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => self.on_timer(),
            () = tokio::time::sleep(patience.unwrap_or_default()), if patience.is_some() => self.on_silence(),
            () = tokio::time::sleep(ADAPT_EVERY), if self.options.adapt_jobs && !self.running.is_empty() => self.adapt(),
        }
        Ok(())
    }

    /// Handles what has been reported already. Where several calls run, the others get a moment to report as well: one
    /// batch for many costs less than many batches.
    async fn gather(&mut self) {
        self.drain_reports();
        if self.running.len() > 1 {
            tokio::task::yield_now().await;
            self.drain_reports();
        }
        if let Some(ended) = self.workers.try_join_next_with_id() {
            self.on_worker_ends(ended);
        }
    }

    /// One write to the disk acknowledges many batches at once.
    fn drain_commits(&mut self) -> Result<(), EngineError> {
        while let Some(result) = acknowledgement(&mut self.unacknowledged).now_or_never() {
            self.on_commit(result)?;
        }
        Ok(())
    }

    /// Handles a worker's end and those of all others that have ended, each after its last report.
    fn on_worker_ends(&mut self, first: Result<(tokio::task::Id, ()), JoinError>) {
        let mut next = Some(first);
        while let Some(ended) = next {
            self.drain_reports();
            self.on_worker_end(ended);
            next = self.workers.try_join_next_with_id();
        }
    }

    fn drain_reports(&mut self) {
        for _ in 0..TURN {
            match self.reports.try_recv() {
                Ok((call, report)) => self.on_report(&call, report),
                Err(_) => return,
            }
        }
    }

    /// Records a fact: numbers it, folds it, and queues it for the journal.
    fn say(&mut self, event: impl Into<Event>) {
        let now = (self.options.clock)();
        // A clock that was set back must not turn the journal's time round.
        let at = self.state.at.map_or(now, |last| now.max(last));
        let record = Record::new(self.state.seq.next(), at, event);
        self.state.apply(&record);
        match &record.event {
            Event::Plan(PlanEvent::Proposed { .. }) => self.rebuild_queue(),
            Event::Task(event) => self.on_task_changed(event),
            _ => {}
        }
        self.outbox.push(record);
    }

    fn rebuild_queue(&mut self) {
        let Some(current) = &self.state.plan.current else { return };
        self.queue = ReadyQueue::new(&current.plan, &current.facts, self.options.features);
        for task in 0..self.state.tasks.len() {
            self.enqueue(task);
        }
    }

    /// Keeps the ready queue true after a task changed: only the task and its direct dependents can be affected.
    fn on_task_changed(&mut self, event: &TaskEvent) {
        let Some(task) = self.state.tasks.position(event.task()) else { return };
        self.enqueue(task);
        for nth in 0.. {
            let Some(dependent) = self.state.tasks.nth_dependent(task, nth) else { break };
            self.enqueue(dependent);
        }
    }

    fn enqueue(&mut self, task: usize) {
        if !self.state.tasks.is_ready(task) {
            return;
        }
        match self.state.tasks.row(task).not_before {
            Some(at) if at > (self.options.clock)() => self.timers.push(Reverse((at, task))),
            _ if self.is_human(task) => self.handovers.push(task),
            _ => self.queue.push(task),
        }
    }

    fn on_timer(&mut self) {
        let now = (self.options.clock)();
        while let Some(Reverse((at, task))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            if self.state.tasks.is_ready(task) {
                self.queue.push(task);
            }
        }
    }

    fn on_command(&mut self, command: &Command) {
        let command = &redacted(command, &self.options.redactor);
        let decision =
            controller::decide(&self.state, command, self.options.jobs, (self.options.clock)());
        if let Command::SetJobs { jobs } = command
            && (1..=controller::MAX_JOBS).contains(jobs)
        {
            self.options.jobs = *jobs;
        }
        for event in decision.events {
            if let Event::Approval(ApprovalEvent::Answered { id, answer, .. }) = &event {
                self.answer_agent(*id, answer);
            }
            self.follow_books(&event);
            let completed = match &event {
                Event::Task(TaskEvent::Completed { task, .. }) => self.state.tasks.position(task),
                _ => None,
            };
            self.say(event);
            if let Some(task) = completed {
                self.revive_dependents(task);
            }
        }
        self.starts.extend(decision.effects.into_iter().map(Start::Effect));
    }

    fn on_report(&mut self, call: &CallId, report: CallReport) {
        if !self.running.contains_key(call) {
            let what = format!("a report about {call}, which is already settled, was refused");
            self.say(SessionEvent::AnomalyNoted { what });
            return;
        }
        let call = call.clone();
        match report {
            CallReport::Spawned { pid, started_ticks } => {
                self.say(CallEvent::Spawned { call, pid, started_ticks });
            }
            CallReport::Output { .. } if !self.options.features.react_tracing => {}
            CallReport::Output { stream, text } => {
                self.say(CallEvent::Output { call, stream, text });
            }
            CallReport::Ended { outcome, elapsed, output_bytes, dropped_bytes, usage } => {
                if matches!(&outcome, CallOutcome::Errored { failure } if failure.code == "rate_limited")
                {
                    self.rate_limited += 1;
                }
                let elapsed_ms = elapsed.as_millis() as u64;
                let concluded = CallEvent::Concluded {
                    call: call.clone(),
                    outcome: outcome.clone(),
                    elapsed_ms,
                    output_bytes,
                    dropped_bytes,
                    usage,
                };
                // An agent's attempt is no call of its own; its calls were journaled one by one.
                if call.step > 0 {
                    self.say(concluded);
                }
                self.running.remove(&call);
                self.withdraw_asks_of(&call);
                self.settle(&call, coordinator::verdict(&outcome), &outcome, elapsed_ms);
            }
        }
    }

    /// A worker that ended without a last report has panicked; that fails its task and nothing else.
    fn on_worker_end(&mut self, ended: Result<(tokio::task::Id, ()), JoinError>) {
        let (id, message) = match ended {
            Ok((id, ())) => (id, "the task ended without saying how".to_owned()),
            Err(error) => (error.id(), panic_message(error)),
        };
        let Some(call) = self.worker_calls.remove(&id) else { return };
        if self.running.remove(&call).is_none() {
            return;
        }
        let outcome = CallOutcome::CouldNotStart { message: message.clone() };
        self.say(CallEvent::closed(call.clone(), outcome.clone()));
        let failure = Failure::new("internal_error", Category::Critical, message);
        self.settle(&call, Err(failure), &outcome, 0);
    }

    /// Ends a task's attempt after its call ended.
    fn settle(
        &mut self,
        call: &CallId,
        verdict: Result<(), Failure>,
        outcome: &CallOutcome,
        elapsed_ms: u64,
    ) {
        // Ended because this process is leaving: whether to run it again is for the next one to find out.
        if self.closing.is_some() && *outcome == CallOutcome::Cancelled {
            return;
        }
        let Some(task) = self.state.tasks.position(&call.task) else { return };
        let attempt = call.attempt;
        match verdict {
            Ok(()) => {
                self.say(TaskEvent::Completed {
                    task: call.task.clone(),
                    attempt,
                    elapsed_ms,
                    by: None,
                    note: None,
                });
                self.revive_dependents(task);
            }
            Err(failure) if failure.code == "cap_reached" => self.hold_for_money(call, &failure),
            Err(failure) => {
                let retry_in_ms = coordinator::retry_delay_ms(failure.category, attempt);
                let gone = retry_in_ms.is_none();
                self.say(TaskEvent::Failed {
                    task: call.task.clone(),
                    attempt,
                    elapsed_ms,
                    failure,
                    retry_in_ms,
                });
                if gone {
                    self.after_failure(task);
                }
            }
        }
    }

    fn revive_dependents(&mut self, task: usize) {
        for revived in coordinator::revived_by(&self.state.tasks, task) {
            let task = self.state.tasks.id(revived).clone();
            self.say(TaskEvent::Reset { task, why: "what it needs is done now".to_owned() });
        }
    }

    fn after_failure(&mut self, task: usize) {
        for event in coordinator::skips_after_failure(&self.state, task) {
            self.say(event);
        }
        let failure = self.state.tasks.row(task).failure.clone();
        // Who knows what the rest of the run would do with hooks and settings that nobody looked at.
        let tampered = failure.is_some_and(|failure| failure.code == "protected_changed");
        if tampered || self.node(task).is_some_and(TaskNode::aborts_on_failure) {
            for event in coordinator::skips_of_pending(&self.state, SkipReason::Aborted) {
                self.say(event);
            }
            self.running.values().for_each(CancellationToken::cancel);
        }
    }

    fn is_human(&self, task: usize) -> bool {
        self.node(task).is_some_and(|node| matches!(node.run, RunKind::Human {}))
    }

    fn node(&self, task: usize) -> Option<&TaskNode> {
        self.state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task))
    }

    /// Starts what may start, and ends the run when nothing is left.
    fn carry_on(&mut self) {
        if self.closing.is_some() {
            self.say_goodbye();
            return;
        }
        self.carry_on_planning();
        if self.state.run.phase != RunPhase::Running || !self.state.may_run() || self.hold_at_cap()
        {
            return;
        }
        while let Some(task) = self.handovers.pop() {
            self.begin_if_ready(task);
        }
        let permits =
            if self.options.features.task_graphs { self.options.jobs as usize } else { 1 };
        while self.running.len() < permits {
            let Some(task) = self.queue.pop() else { break };
            self.begin_if_ready(task);
        }
        if self.nothing_left() {
            for event in coordinator::skips_of_pending(&self.state, SkipReason::Deadlock) {
                self.say(event);
            }
            let elapsed = self.state.at.map_or(0, |now| self.state.run.worked_ms(now));
            let finished = coordinator::finish(&self.state, elapsed);
            self.say(finished);
        }
    }

    fn nothing_left(&self) -> bool {
        let counts = self.state.tasks.counts();
        self.running.is_empty()
            && self.queue.is_empty()
            && self.timers.is_empty()
            && counts.yours == 0
            && counts.running == 0
            && self.state.requests.open.is_empty()
    }

    /// Holds the run and asks when a limit is reached.
    fn hold_at_cap(&mut self) -> bool {
        let now = (self.options.clock)();
        let Some((cap, used, limit)) = caps::reached(&self.state, &self.options.caps, now) else {
            return false;
        };
        let request =
            controller::requests::cap(self.state.requests.next_id(), &self.state, cap, used, limit);
        self.say(RunEvent::Paused(PauseCause::Cap { cap }));
        self.say(ApprovalEvent::Asked { request: Arc::new(request) });
        true
    }

    /// Looks at load, breakers and rate limits, and changes how many tasks may run at once.
    fn adapt(&mut self) {
        let now = (self.options.clock)();
        let pressure = Pressure {
            load_per_core: load_per_core(),
            open_breakers: self.state.breakers.not_closed(now).count() as u32,
            rate_limited: std::mem::take(&mut self.rate_limited),
            waiting: self.queue.len() as u32,
        };
        let from = self.options.jobs;
        if self.state.run.phase == RunPhase::Running
            && let Some((to, why)) = next_jobs(from, pressure)
        {
            self.options.jobs = to;
            self.say(RunEvent::JobsChanged { from, to, why });
        }
    }

    /// Starts a task that may start. One whose tool is refused waits until the tool is tried again.
    fn begin_if_ready(&mut self, task: usize) {
        if !self.state.tasks.is_ready(task) {
            return;
        }
        let now = (self.options.clock)();
        let refused_ms = match self.node(task) {
            Some(node) => self.state.breakers.open_for_ms(self.options.runner.tool(node).0, now),
            None => 0,
        };
        if refused_ms > 0 && !self.is_human(task) {
            let again = now.saturating_add(SignedDuration::from_millis(refused_ms as i64));
            self.timers.push(Reverse((again.unwrap_or(now), task)));
        } else {
            self.begin(task);
        }
    }

    fn begin(&mut self, task: usize) {
        let current = self.state.plan.current.as_ref();
        let Some(node) = current.and_then(|current| TaskRef::new(current, task)) else { return };
        let attempt = self.state.tasks.row(task).attempt + 1;
        let depth =
            self.state.plan.current.as_ref().and_then(|now| now.facts.depth.get(task)).copied();
        let started = TaskEvent::Started {
            task: node.id.clone(),
            attempt,
            depth: depth.unwrap_or(0),
            affinity_delta: coordinator::affinity_delta(&node, self.options.runner.tool(&node).0),
        };
        match &node.run {
            RunKind::Human {} => self.say(TaskEvent::HandedOver { task: node.id.clone() }),
            RunKind::Agent {} if self.options.runner.does_agents() => {
                self.say(started);
                self.begin_agent(task, &node, attempt);
            }
            RunKind::Agent {} => {
                self.say(started);
                let failure = Failure::new(
                    "no_model",
                    Category::Critical,
                    "no model is set up to do agent tasks",
                );
                self.say(TaskEvent::Failed {
                    task: node.id.clone(),
                    attempt,
                    elapsed_ms: 0,
                    failure,
                    retry_in_ms: None,
                });
                self.after_failure(task);
            }
            RunKind::Shell(command) => {
                self.say(started);
                let call = CallId { task: node.id.clone(), attempt, step: 1 };
                let intent = self.intent(&call, &node, command);
                self.say(intent);
                self.running.insert(call.clone(), CancellationToken::new());
                let workspace = PathBuf::from(&self.state.session.workspace);
                let safe =
                    node.repeat == Repeat::Safe && self.options.durability == Durability::Grouped;
                let session = self.journal.session().clone();
                let job = Job { session, call, task: node, workspace, brief: None };
                if safe {
                    self.early.push(job);
                } else {
                    self.starts.push(Start::Job(Box::new(job)));
                }
            }
        }
    }

    fn intent(&self, call: &CallId, node: &TaskNode, command: &str) -> CallEvent {
        let (tool, version) = self.options.runner.tool(node);
        let input = serde_json::json!({ "command": command });
        CallEvent::Intended {
            call: call.clone(),
            tool: tool.to_owned(),
            version: version.to_owned(),
            input_hash: Digest::of_json(&input),
            input,
            class: RiskClass::Execute,
            repeat: match node.repeat {
                Repeat::Safe => RepeatClass::Safe,
                Repeat::Ask => RepeatClass::Unsafe,
            },
            file: None,
        }
    }

    /// Sends what was said in this turn to the journal as one batch.
    async fn flush(&mut self) -> Result<(), EngineError> {
        let starts = std::mem::take(&mut self.starts);
        if self.outbox.is_empty() {
            // Nothing to wait for but what is already under way.
            match self.unacknowledged.back_mut() {
                Some(last) => last.starts.extend(starts),
                None => starts.into_iter().for_each(|start| self.start(start)),
            }
            return Ok(());
        }
        if let Some(inlet) = &self.options.inlet {
            inlet.publish(&self.state);
        }
        let records = std::mem::take(&mut self.outbox);
        self.since_checkpoint += records.len() as u64;
        let checkpoint = if self.since_checkpoint >= self.checkpoint_interval() {
            self.since_checkpoint = 0;
            Some(Checkpoint::of(&self.state).encode()?)
        } else {
            None
        };
        let rows = records.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        let summary = Some(summary(&self.state));
        let side = std::mem::take(&mut self.beside);
        let batch = Batch { rows, summary, checkpoint, side };
        let ack = self.journal.append(batch).await?;
        self.sent = self.state.seq;
        self.unacknowledged.push_back(Unacknowledged { ack, head: self.state.seq, starts });
        for job in std::mem::take(&mut self.early) {
            self.start_job(job);
        }
        Ok(())
    }

    /// A fold is as large as its plan, so a larger plan is folded less often: storing costs one task's row an event at
    /// most, and a seek folds about as much as it decodes.
    fn checkpoint_interval(&self) -> u64 {
        CHECKPOINT_INTERVAL.max(self.state.tasks.len() as u64)
    }

    fn on_commit(&mut self, result: Result<Seq, StoreError>) -> Result<(), EngineError> {
        let batch = self.unacknowledged.pop_front();
        result?;
        if let Some(batch) = batch {
            self.published.send_replace(batch.head);
            batch.starts.into_iter().for_each(|start| self.start(start));
        }
        Ok(())
    }

    fn start(&mut self, start: Start) {
        match start {
            Start::Job(job) => self.start_job(*job),
            Start::Effect(Effect::Cancel(call)) => {
                self.cancel_attempt(&call);
            }
            Start::Effect(Effect::Close(why)) => self.close(why),
            Start::Effect(Effect::Keep(kept)) => (self.options.keep)(&kept),
            Start::Effect(Effect::CancelStage) => self.cancel_stage(),
            Start::Stage => self.start_stage(),
            Start::Durable(done) => {
                let _ = done.send(());
            }
            Start::Reply(sender, answer) => {
                let _ = sender.send(*answer);
            }
        }
    }

    fn start_job(&mut self, job: Job) {
        let Some(cancel) = self.running.get(&job.call).cloned() else { return };
        let call = job.call.clone();
        let reports = Reports::new(call.clone(), self.reports_in.clone());
        let worker = self.workers.spawn(self.options.runner.run(job, cancel, reports));
        self.worker_calls.insert(worker.id(), call);
    }

    fn close(&mut self, why: CloseReason) {
        if self.closing.is_none() {
            self.closing = Some(why);
            self.running.values().for_each(CancellationToken::cancel);
            self.cancel_stage();
        }
    }

    /// Whether the session is to be closed and nothing stands in the way any more.
    fn has_last_words(&self) -> bool {
        self.closing.is_some() && self.running.is_empty() && self.state.session.closed.is_none()
    }

    fn say_goodbye(&mut self) {
        if !self.has_last_words() {
            return;
        }
        let Some(why) = self.closing.clone() else { return };
        if why == CloseReason::NeedsPerson {
            self.note_no_response();
        }
        // A run that the person paused stays paused.
        if self.state.run.phase == RunPhase::Running {
            let words = match &why {
                CloseReason::Quit => "you quit".to_owned(),
                CloseReason::Finished => "nothing more to do here".to_owned(),
                CloseReason::NeedsPerson => "it waits for you".to_owned(),
                CloseReason::Signal { signal } => signal.clone(),
            };
            self.say(RunEvent::Interrupted { why: words });
        }
        self.say(SessionEvent::Closed(why));
    }

    fn is_done(&self) -> bool {
        self.closing.is_some()
            && self.running.is_empty()
            && self.outbox.is_empty()
            && self.unacknowledged.is_empty()
            && self.state.session.closed.is_some()
    }
}

/// What the person typed, as it may be kept.
fn redacted(command: &Command, redactor: &Redactor) -> Command {
    let mut command = command.clone();
    let text = match &mut command {
        Command::Answer { answer, .. } => &mut answer.text,
        Command::CompleteTask { note, .. } => note,
        _ => return command,
    };
    if let Some(text) = text {
        *text = redactor.redact(text).into_owned();
    }
    command
}

/// The outcome of the oldest batch; never resolves while there is none.
async fn acknowledgement(unacknowledged: &mut VecDeque<Unacknowledged>) -> Result<Seq, StoreError> {
    match unacknowledged.front_mut() {
        Some(oldest) => (&mut oldest.ack).await,
        None => std::future::pending().await,
    }
}

fn row(record: &Record) -> Result<Row, serde_json::Error> {
    Ok(Row {
        seq: record.seq,
        at: record.at,
        kind: record.event.kind(),
        task: record.event.task().map(ToString::to_string),
        payload: record.event.encode()?,
    })
}

fn until(at: Timestamp, now: Timestamp) -> std::time::Duration {
    at.duration_since(now).max(SignedDuration::ZERO).unsigned_abs()
}

fn panic_message(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "the task was aborted".to_owned() };
    format!("the task panicked: {}", panic_words(&*panic))
}

fn panic_words(panic: &(dyn Any + Send)) -> String {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    words.unwrap_or_else(|| "no message".to_owned())
}
