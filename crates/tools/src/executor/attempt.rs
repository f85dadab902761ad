//! One attempt at a task: what is to be done, what is reported meanwhile, and how it ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use planwright_model::event::{CallOutcome, OutputStream, SpoolRange, Usage};
use planwright_model::{CallId, Plan, SessionId, TaskNode, TaskResults};

/// A task of a plan, shared instead of copied: plans are large and tasks start often.
#[derive(Clone, Debug)]
pub struct TaskRef {
    plan: Arc<Plan>,
    position: usize,
}

impl TaskRef {
    /// The task at a position, if the plan has it.
    pub fn new(plan: &Arc<Plan>, position: usize) -> Option<Self> {
        let exists = position < plan.tasks.len();
        exists.then(|| Self { plan: Arc::clone(plan), position })
    }
}

impl TaskRef {
    /// The plan that it is a task of.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl std::ops::Deref for TaskRef {
    type Target = TaskNode;

    fn deref(&self) -> &TaskNode {
        &self.plan.tasks[self.position]
    }
}

/// What is to be done for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptWork {
    /// The task itself.
    Task,
    /// A command that tells by its success whether an exit criterion is met.
    CheckCommand(String),
    /// Whether a file exists, seen from the workspace.
    CheckFile(String),
}

/// One attempt at a task, or a check after it.
#[derive(Clone, Debug)]
pub struct TaskAttempt {
    pub session: SessionId,
    pub call: CallId,
    pub task: TaskRef,
    pub work: AttemptWork,
    pub workspace: PathBuf,
    /// Whether a command is kept to the workspace and sees only harmless variables: a model wrote it, it came from
    /// elsewhere, or the plan asks for it.
    pub confined: bool,
    /// Variables whose values came from other tasks.
    pub variables: Vec<(String, String)>,
}

impl TaskAttempt {
    /// What marks the processes of this attempt among all others.
    pub fn process_mark(&self) -> String {
        format!("{}/{}", self.session, self.call)
    }
}

/// Something that happens during an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEvent {
    /// A process was started for it.
    Spawned { pid: u32, started_ticks: u64 },
    /// It printed something.
    Output { stream: OutputStream, text: String },
    /// It left something behind, or an earlier attempt did that need not be repeated: `reused` says which.
    Results { results: TaskResults, reused: Option<String> },
    /// A service is ready for those that need it.
    Ready,
    /// It printed more than the journal is to hold. The text stands in its spool as well.
    Spooled { stream: OutputStream, range: SpoolRange, text: String },
}

/// How an attempt ended, and what it used.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptOutcome {
    pub outcome: CallOutcome,
    pub elapsed: Duration,
    /// How many bytes were printed, kept or not.
    pub output_bytes: u64,
    /// How many of them were not kept.
    pub dropped_bytes: u64,
    pub usage: Usage,
}

impl AttemptOutcome {
    /// The end of an attempt that printed nothing and took no time worth counting.
    pub fn without_output(outcome: CallOutcome) -> Self {
        Self {
            outcome,
            elapsed: Duration::ZERO,
            output_bytes: 0,
            dropped_bytes: 0,
            usage: Usage::default(),
        }
    }

    /// The end of an attempt that never began.
    pub fn could_not_start(message: impl Into<String>) -> Self {
        Self::without_output(CallOutcome::CouldNotStart { message: message.into() })
    }
}

/// What arrives at the other end of an [`AttemptEventSink`].
#[derive(Clone, Debug, PartialEq)]
pub enum AttemptReport {
    Event(AttemptEvent),
    /// The last report.
    Ended(AttemptOutcome),
}

/// An event came after the end of its attempt, and was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the attempt has ended")]
pub struct AttemptHasEnded;

/// Where the events of one attempt go, in order. Once the attempt has ended it takes no more, whoever still holds it.
#[derive(Clone, Debug)]
pub struct AttemptEventSink {
    call: CallId,
    sender: mpsc::Sender<(CallId, AttemptReport)>,
    ended: Arc<AtomicBool>,
}

impl AttemptEventSink {
    pub fn new(call: CallId, sender: mpsc::Sender<(CallId, AttemptReport)>) -> Self {
        Self { call, sender, ended: Arc::default() }
    }

    /// Reports an event. Waits for capacity, so that a chatty task is slowed down and never buffered without bound.
    pub async fn send(&self, event: AttemptEvent) -> Result<(), AttemptHasEnded> {
        if self.ended.load(Ordering::Acquire) {
            tracing::warn!(call = %self.call, "an event after the end of its attempt was refused");
            return Err(AttemptHasEnded);
        }
        let report = (self.call.clone(), AttemptReport::Event(event));
        self.sender.send(report).await.map_err(|_| AttemptHasEnded)
    }

    /// Reports the end, after which nothing is taken any more. For whoever started the attempt, not for its executor.
    pub async fn finish(self, outcome: AttemptOutcome) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            // The receiver is only gone when the entire session is, and then nothing is lost.
            let _ = self.sender.send((self.call.clone(), AttemptReport::Ended(outcome))).await;
        }
    }
}
