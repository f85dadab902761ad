//! The breaker of every tool: a fold over how calls ended and when.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::ExecutionLimits;
use planwright_model::breaker::{self, BreakerSettings, BreakerState, CircuitBreaker};
use planwright_model::event::CallOutcome;

/// Breakers by tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakerSlice {
    by_tool: BTreeMap<String, CircuitBreaker>,
    #[serde(default)]
    settings: BreakerSettings,
    /// What the journal says of breakers that are not closed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    announced: BTreeMap<String, BreakerState>,
}

impl BreakerSlice {
    /// Takes over threshold and cool-down, for breakers that exist as well.
    pub(super) fn set_limits(&mut self, limits: &ExecutionLimits) {
        self.settings = BreakerSettings {
            threshold: limits.breaker_threshold,
            cooldown_ms: limits.breaker_cooldown_sec.saturating_mul(1_000),
        };
        for breaker in self.by_tool.values_mut() {
            breaker.settings = self.settings;
        }
    }

    /// Takes note of what was said about a breaker.
    pub(super) fn note_announcement(&mut self, tool: &str, state: BreakerState) {
        match state {
            BreakerState::Closed => self.announced.remove(tool),
            _ => self.announced.insert(tool.to_owned(), state),
        };
    }

    /// Breakers whose state is not what the journal last said of them, with what they are now.
    pub fn unannounced_changes(&self, now: Timestamp) -> Vec<(String, BreakerState)> {
        let announced = |tool: &str| self.announced.get(tool).copied().unwrap_or_default();
        self.by_tool
            .keys()
            .map(|tool| (tool.clone(), self.breaker_state(tool, now)))
            .filter(|(tool, state)| announced(tool) != *state)
            .collect()
    }

    /// Counts an outcome. Only errors of the tool itself count against it: neither the exit code of a person's own command
    /// nor a red test says anything about what ran it. A call that was let through to try a tool and ended with an error of
    /// the work shows that the tool answers again.
    pub(super) fn apply(&mut self, tool: &str, outcome: &CallOutcome, at: Timestamp) {
        let counted = match outcome {
            CallOutcome::Errored { failure } if failure.is_error_of_work() => {
                let told_nothing = matches!(failure.code.as_str(), "cancelled" | "not_journaled");
                if told_nothing || self.breaker_state(tool, at) != BreakerState::HalfOpen {
                    return;
                }
                breaker::BreakerOutcome::Success
            }
            CallOutcome::Errored { failure } => breaker::BreakerOutcome::Error(failure.category),
            CallOutcome::Exited { code: 0 } => breaker::BreakerOutcome::Success,
            _ => return,
        };
        if counted == breaker::BreakerOutcome::Success && !self.by_tool.contains_key(tool) {
            return;
        }
        let settings = self.settings;
        self.by_tool
            .entry(tool.to_owned())
            .or_insert_with(|| CircuitBreaker::new(settings))
            .record_outcome(counted, epoch_millis(at));
    }

    /// Whether calls of a tool may pass.
    pub fn breaker_state(&self, tool: &str, now: Timestamp) -> BreakerState {
        self.by_tool
            .get(tool)
            .map_or(BreakerState::Closed, |breaker| breaker.state(epoch_millis(now)))
    }

    /// How long calls of a tool are still refused, in milliseconds.
    pub fn open_for_ms(&self, tool: &str, now: Timestamp) -> u64 {
        self.by_tool.get(tool).map_or(0, |breaker| breaker.remaining_open_ms(epoch_millis(now)))
    }

    /// Tools whose calls are refused, in the order of their names.
    pub fn refusing_tools(&self, now: Timestamp) -> impl Iterator<Item = &str> {
        self.unclosed_breakers(now)
            .filter(|(_, state)| *state == BreakerState::Open)
            .map(|(tool, _)| tool)
    }

    /// Tools whose breaker is not closed, with its state.
    pub fn unclosed_breakers(&self, now: Timestamp) -> impl Iterator<Item = (&str, BreakerState)> {
        self.by_tool
            .iter()
            .map(move |(tool, breaker)| (tool.as_str(), breaker.state(epoch_millis(now))))
            .filter(|(_, state)| *state != BreakerState::Closed)
    }
}

fn epoch_millis(at: Timestamp) -> u64 {
    at.as_millisecond().try_into().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::{Category, ExecutionFailure};

    fn failed(code: &str) -> CallOutcome {
        CallOutcome::Errored { failure: ExecutionFailure::new(code, Category::Recoverable, "no") }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn errors_of_the_work_never_open_a_breaker() {
        let mut breakers = BreakerSlice::default();
        for code in ["tests_failed", "not_found", "outside_workspace", "exit_status", "no_match"] {
            for _ in 0..9 {
                breakers.apply("test.run", &failed(code), at(1));
            }
        }
        assert_eq!(breakers.breaker_state("test.run", at(1)), BreakerState::Closed);
        for _ in 0..3 {
            breakers.apply("test.run", &failed("io_error"), at(1));
        }
        assert_eq!(breakers.breaker_state("test.run", at(1)), BreakerState::Open);
    }

    #[test]
    fn a_red_test_after_the_pause_closes_the_breaker() {
        let mut breakers = BreakerSlice::default();
        for _ in 0..3 {
            breakers.apply("test.run", &failed("io_error"), at(1));
        }
        breakers.apply("test.run", &failed("cancelled"), at(40));
        assert_eq!(breakers.breaker_state("test.run", at(40)), BreakerState::HalfOpen);
        breakers.apply("test.run", &failed("tests_failed"), at(41));
        assert_eq!(breakers.breaker_state("test.run", at(41)), BreakerState::Closed);
    }

    #[test]
    fn every_change_is_due_for_announcement_once() {
        let mut breakers = BreakerSlice::default();
        assert!(breakers.unannounced_changes(at(1)).is_empty());
        for _ in 0..3 {
            breakers.apply("web.search", &failed("http_error"), at(1));
        }
        let open = [("web.search".to_owned(), BreakerState::Open)];
        assert_eq!(breakers.unannounced_changes(at(1)), open);
        breakers.note_announcement("web.search", BreakerState::Open);
        assert!(breakers.unannounced_changes(at(2)).is_empty());
        assert_eq!(breakers.unannounced_changes(at(31))[0].1, BreakerState::HalfOpen);
        breakers.apply("web.search", &CallOutcome::Exited { code: 0 }, at(31));
        assert_eq!(breakers.unannounced_changes(at(31))[0].1, BreakerState::Closed);
        breakers.note_announcement("web.search", BreakerState::Closed);
        assert!(breakers.unannounced_changes(at(99)).is_empty());
    }
}
