//! How a task is run beside what it does: when, how often again, and what a failure means.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// On which end of what it depends on a task runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunCondition {
    /// All of it is done.
    #[default]
    Success,
    /// All of it has ended, and something failed.
    Failed,
    /// All of it has ended, whichever way.
    Always,
}

/// What a retry is for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RetryCause {
    /// It exited with another code than 0, or a check of it did.
    Exit,
    Timeout,
    Signal,
}

impl RetryCause {
    pub const ALL: [Self; 3] = [Self::Exit, Self::Timeout, Self::Signal];
}

/// How often and when a command is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRetryPolicy {
    /// How many attempts follow the first.
    pub max: u32,
    /// Seconds before the first of them.
    pub backoff: u64,
    /// By how much the wait grows from one to the next.
    pub factor: f64,
    /// The longest wait, in seconds.
    pub max_delay: u64,
    /// What it is tried again for.
    pub on: BTreeSet<RetryCause>,
}

impl TaskRetryPolicy {
    /// So many further attempts after 1 s, 2 s, 4 s and so on up to 5 minutes, whatever the reason.
    pub fn with_max(max: u32) -> Self {
        let on = RetryCause::ALL.into_iter().collect();
        Self { max, backoff: 1, factor: 2.0, max_delay: 300, on }
    }

    /// How long to wait after so many failed attempts; `None` when there is no further one.
    pub fn delay_ms(&self, cause: RetryCause, failed: u32) -> Option<u64> {
        if failed == 0 || failed > self.max || !self.on.contains(&cause) {
            return None;
        }
        let steps = i32::try_from(failed - 1).unwrap_or(i32::MAX);
        let millis = self.backoff as f64 * 1000.0 * self.factor.powi(steps);
        // Casting from a float saturates.
        Some((millis as u64).min(self.max_delay.saturating_mul(1000)))
    }
}

/// What a run tells somebody about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NotifyCause {
    /// The run ended.
    End,
    /// The run ended, and something failed.
    Failed,
    /// Somebody is asked something or has a task to do.
    Question,
}

impl NotifyCause {
    /// Its name in plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Failed => "failed",
            Self::Question => "question",
        }
    }
}

/// A command that is started when something happens to the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlanNotification {
    pub on: BTreeSet<NotifyCause>,
    /// A program and its arguments.
    pub command: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_by_its_factor_up_to_its_limit() {
        let policy = TaskRetryPolicy { max_delay: 3, ..TaskRetryPolicy::with_max(3) };
        let waits = (0..5).map(|failed| policy.delay_ms(RetryCause::Exit, failed));
        let expected = [None, Some(1000), Some(2000), Some(3000), None];
        assert_eq!(waits.collect::<Vec<_>>(), expected);
        let rare = TaskRetryPolicy { on: [RetryCause::Timeout].into(), ..policy };
        assert_eq!(rare.delay_ms(RetryCause::Exit, 1), None);
        assert_eq!(rare.delay_ms(RetryCause::Timeout, 1), Some(1000));
    }
}
