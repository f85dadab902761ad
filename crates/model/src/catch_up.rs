//! Catching up with a plan that is late: the ways to do it, and what the plan has to say about its tasks.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::TaskId;

/// A task, or one time of a task that repeats.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct TaskOccurrence {
    pub task: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u32>,
}

impl TaskOccurrence {
    pub fn new(task: TaskId, occurrence: Option<u32>) -> Self {
        Self { task, occurrence }
    }
}

/// What happens to late tasks.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CatchUpWay {
    /// They move to the next free time; only what depends on them moves along.
    MoveLate,
    /// They are skipped, everything else stays.
    SkipLate,
    /// Everything that is not done moves by the same number of days.
    PushBack,
    /// Everything that is not done is planned again from now on.
    Replan,
}

impl CatchUpWay {
    pub const ALL: [Self; 4] = [Self::MoveLate, Self::SkipLate, Self::PushBack, Self::Replan];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::MoveLate => "move",
            Self::SkipLate => "skip",
            Self::PushBack => "push",
            Self::Replan => "replan",
        }
    }
}

/// What is done, and what is late, at one moment of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenWork {
    /// Tasks that are done or skipped as a whole.
    pub settled_tasks: BTreeSet<TaskId>,
    /// Times of repeating tasks that are done or skipped.
    pub settled_times: BTreeSet<TaskOccurrence>,
    /// Tasks whose time is over and that are neither done nor skipped.
    pub late: BTreeSet<TaskOccurrence>,
}

impl OpenWork {
    /// Whether a task, or this time of it, is done or skipped.
    pub fn is_settled(&self, task: &TaskId, occurrence: Option<u32>) -> bool {
        self.settled_tasks.contains(task)
            || self.settled_times.contains(&TaskOccurrence::new(task.clone(), occurrence))
    }

    /// Whether a task, or this time of it, is late.
    pub fn is_late(&self, task: &TaskId, occurrence: Option<u32>) -> bool {
        self.late.contains(&TaskOccurrence::new(task.clone(), occurrence))
    }
}
