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

    /// Whether the work or its caller is at fault and not the tool, which did what it was there for: a red test, a missing
    /// file, a wrong path, an exit code. Such an error neither counts for a breaker nor lowers what is known of a tool.
    pub fn is_error_of_work(&self) -> bool {
        is_error_of_work(&self.code)
    }
}

/// Errors that tell nothing about the health of a tool.
const ERRORS_OF_WORK: [&str; 26] = [
    "bad_args",
    "breaker_open",
    "cancelled",
    "changed_meanwhile",
    "cycle",
    "denied",
    "exit_status",
    "missing_prerequisite",
    "needs_person",
    "no_match",
    "not_a_file",
    "not_allowed_here",
    "not_configured",
    "not_found",
    "not_journaled",
    "not_text",
    "outside_workspace",
    "private_address",
    "protected_changed",
    "refused",
    "same_args",
    "secret_in_arguments",
    "stopped",
    "tests_failed",
    "too_large",
    "unknown_tool",
];

/// The same by the code of an error.
pub fn is_error_of_work(code: &str) -> bool {
    ERRORS_OF_WORK.binary_search(&code).is_ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_work_are_found_and_those_of_tools_are_not() {
        assert!(ERRORS_OF_WORK.is_sorted());
        for code in ["tests_failed", "not_found", "outside_workspace", "exit_status", "bad_args"] {
            assert!(is_error_of_work(code), "{code}");
        }
        for code in ["http_error", "timeout", "io_error", "server_unavailable", "internal_error"] {
            assert!(!is_error_of_work(code), "{code}");
        }
    }
}
