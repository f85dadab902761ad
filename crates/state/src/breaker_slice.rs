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

    /// Counts an outcome. Only what a tool itself reports as an error counts against it: the exit code of a person's own
    /// command says nothing about the shell.
    pub(super) fn apply(&mut self, tool: &str, outcome: &CallOutcome, at: Timestamp) {
        let counted = match outcome {
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
