//! What keeps a task that could start from starting.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::TaskId;

/// What a task waits for although everything it depends on is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", content = "hold", rename_all = "snake_case")]
pub enum TaskHold {
    /// A moment that has not come yet.
    Until { at: Timestamp, cause: StartTimeCause },
    /// Units of a resource that others use.
    Resource {
        name: String,
        capacity: u32,
        used: u32,
        /// Some of the tasks that use it, in the plan's order.
        users: Vec<TaskId>,
    },
}

/// Why a task starts at a certain moment and not before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
pub enum StartTimeCause {
    /// So much time has to pass after the end of another task.
    LagAfterEnd {
        task: TaskId,
    },
    /// So much time has to pass after the start of another task.
    LagAfterStart {
        task: TaskId,
    },
    NotBefore,
    FixedStart,
    ScheduledTime,
}
