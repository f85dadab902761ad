//! Why something did not work, as plain data that can be journaled, drawn and replayed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How an error is treated: whether it is retried, and how much it counts for the breaker.
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
pub enum Category {
    /// Not retried.
    Critical,
    /// Retried once, with something changed.
    Recoverable,
    /// Retried with back-off.
    Transient,
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Critical => "critical",
            Self::Recoverable => "recoverable",
            Self::Transient => "transient",
        })
    }
}

/// A failure of a task or a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExecutionFailure {
    /// A wire name such as `exit_status`, `timeout` or `criteria_unmet`.
    pub code: String,
    pub category: Category,
    pub message: String,
    /// How long whoever failed asked not to be called again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl ExecutionFailure {
    pub fn new(code: &str, category: Category, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), category, message: message.into(), retry_after_ms: None }
    }
}

/// Why a task was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A task it depends on failed.
    DependencyFailed,
    /// A task it depends on was skipped together with its dependents.
    DependencySkipped,
    /// The person skipped it; dependents treat it as met.
    ByPerson,
    /// Nothing was ready, running or waiting any more.
    Deadlock,
    /// A task with `abort_on_failure` failed, or the run was stopped.
    Aborted,
    /// It runs only after a failure, and nothing failed; dependents treat it as met.
    NotNeeded,
    /// Its condition is false.
    ConditionFalse,
    /// Another program's agent, which carries out the plan, left it out; dependents treat it as met.
    ByAgent,
}

impl SkipReason {
    /// The reason in words, where the task that caused it is not at hand.
    pub fn describe(self) -> &'static str {
        match self {
            Self::DependencyFailed => "because a task it needs failed",
            Self::DependencySkipped => "because a task it needs was skipped",
            Self::ByPerson => "by you",
            Self::Deadlock => "because nothing it waits for can finish",
            Self::Aborted => "because the run was stopped",
            Self::NotNeeded => "because nothing failed before it",
            Self::ConditionFalse => "because its condition is false",
            Self::ByAgent => "by the agent",
        }
    }

    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DependencyFailed => "dependency_failed",
            Self::DependencySkipped => "dependency_skipped",
            Self::ByPerson => "by_person",
            Self::Deadlock => "deadlock",
            Self::Aborted => "aborted",
            Self::NotNeeded => "not_needed",
            Self::ConditionFalse => "condition_false",
            Self::ByAgent => "by_agent",
        }
    }
}
