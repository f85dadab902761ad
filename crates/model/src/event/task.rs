//! Facts about single tasks.

use serde::{Deserialize, Serialize};

use crate::{Actor, ExecutionFailure, SkipReason, TaskHold, TaskId, TaskResults};

/// Facts about a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskEvent {
    /// An attempt began.
    Started {
        task: TaskId,
        attempt: u32,
        depth: u32,
        /// Best affinity minus the affinity of the tool in use.
        #[serde(default, skip_serializing_if = "crate::task::is_default")]
        affinity_delta: f64,
    },
    /// The task could start, and something keeps it from doing so yet.
    Held {
        task: TaskId,
        hold: TaskHold,
    },
    /// The work of the attempt is done; the task ends once what its end is tied to has come about.
    AwaitingClose {
        task: TaskId,
        attempt: u32,
        elapsed_ms: u64,
    },
    /// The attempt left something behind: values for other tasks, files that are kept.
    ResultsKept {
        task: TaskId,
        attempt: u32,
        results: TaskResults,
        /// The earlier attempt that it is up to date with, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reused: Option<String>,
    },
    /// A service is ready for those that need it.
    Ready {
        task: TaskId,
        attempt: u32,
    },
    /// A task for the person became due.
    HandedOver {
        task: TaskId,
    },
    /// The task is done.
    Completed {
        task: TaskId,
        attempt: u32,
        elapsed_ms: u64,
        /// Set when the person did it or said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The attempt failed. With a retry to come the task goes back to waiting, else it has failed for good.
    Failed {
        task: TaskId,
        attempt: u32,
        elapsed_ms: u64,
        failure: ExecutionFailure,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_in_ms: Option<u64>,
    },
    Skipped {
        task: TaskId,
        reason: SkipReason,
    },
    /// One occurrence of a repeating task was done, or left out.
    OccurrenceSettled {
        task: TaskId,
        occurrence: u32,
        done: bool,
        by: Actor,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// What was said to be done or left out is open again; of a repeating task, one occurrence.
    Reopened {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        occurrence: Option<u32>,
        by: Actor,
    },
    /// Somebody wrote a note that is kept with the task.
    Noted {
        task: TaskId,
        text: String,
        by: Actor,
    },
    /// The task goes back to waiting, because the person asked for it or an interrupted attempt may be repeated.
    Reset {
        task: TaskId,
        why: String,
    },
}

impl TaskEvent {
    /// The end of an attempt that did what it should.
    pub fn completed(task: TaskId, attempt: u32, elapsed_ms: u64) -> Self {
        Self::Completed { task, attempt, elapsed_ms, by: None, note: None }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Started { .. } => "task.started",
            Self::Held { .. } => "task.held",
            Self::AwaitingClose { .. } => "task.awaiting_close",
            Self::ResultsKept { .. } => "task.results_kept",
            Self::Ready { .. } => "task.ready",
            Self::HandedOver { .. } => "task.handed_over",
            Self::Completed { .. } => "task.completed",
            Self::Failed { .. } => "task.failed",
            Self::Skipped { .. } => "task.skipped",
            Self::OccurrenceSettled { .. } => "task.occurrence_settled",
            Self::Reopened { .. } => "task.reopened",
            Self::Noted { .. } => "task.noted",
            Self::Reset { .. } => "task.reset",
        }
    }
}

impl TaskEvent {
    pub fn task_id(&self) -> &TaskId {
        match self {
            Self::Started { task, .. }
            | Self::Held { task, .. }
            | Self::AwaitingClose { task, .. }
            | Self::ResultsKept { task, .. }
            | Self::Ready { task, .. }
            | Self::HandedOver { task }
            | Self::Completed { task, .. }
            | Self::Failed { task, .. }
            | Self::Skipped { task, .. }
            | Self::OccurrenceSettled { task, .. }
            | Self::Reopened { task, .. }
            | Self::Noted { task, .. }
            | Self::Reset { task, .. } => task,
        }
    }
}
