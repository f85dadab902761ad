//! The circuit breaker of a tool: a pure function of what happened and when.
//!
//! Closed, errors add to a count and successes take from it. At the threshold it opens and calls are refused. After
//! the cool-down one probe may pass; it closes the breaker or opens it again.

use serde::{Deserialize, Serialize};

use crate::Category;

/// A moment, in milliseconds of any clock that does not run backwards.
pub type Millis = u64;

/// When a breaker opens and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BreakerSettings {
    /// `breaker_threshold`, in whole errors.
    pub threshold: u32,
    /// `breaker_cooldown_sec`, in milliseconds.
    pub cooldown_ms: u64,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { threshold: 3, cooldown_ms: 30_000 }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BreakerOutcome {
    Success,
    Error(Category),
}

/// Whether calls may pass.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    #[default]
    Closed,
    Open,
    /// One probe may pass.
    HalfOpen,
}

/// The answer to "may this call start?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BreakerAdmission {
    Allowed,
    /// It may start, and its outcome decides whether the breaker closes.
    Probe,
    /// Refused as `breaker_open`, which is not an error of the tool.
    Refused {
        retry_in_ms: u64,
    },
}

/// The breaker of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CircuitBreaker {
    pub settings: BreakerSettings,
    /// Half errors, so that the count stays a whole number.
    halves: u32,
    opened_at: Option<Millis>,
    /// Whether the probe of the half-open state is under way.
    probing: bool,
}

impl CircuitBreaker {
    pub fn new(settings: BreakerSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    pub fn state(&self, now: Millis) -> BreakerState {
        match self.opened_at {
            None => BreakerState::Closed,
            Some(opened) if now.saturating_sub(opened) >= self.settings.cooldown_ms => {
                BreakerState::HalfOpen
            }
            Some(_) => BreakerState::Open,
        }
    }

    /// Errors counted so far: critical and recoverable 1, transient one half.
    pub fn error_count(&self) -> f64 {
        f64::from(self.halves) / 2.0
    }

    /// How long calls are still refused.
    pub fn remaining_open_ms(&self, now: Millis) -> u64 {
        let opened = self.opened_at.map(|at| at.saturating_add(self.settings.cooldown_ms));
        opened.map_or(0, |until| until.saturating_sub(now))
    }

    /// Asks whether a call may start, and takes the probe if it is the one.
    pub fn admit_call(&mut self, now: Millis) -> BreakerAdmission {
        match self.state(now) {
            BreakerState::Closed => BreakerAdmission::Allowed,
            BreakerState::HalfOpen if !self.probing => {
                self.probing = true;
                BreakerAdmission::Probe
            }
            _ => BreakerAdmission::Refused { retry_in_ms: self.remaining_open_ms(now) },
        }
    }

    /// Counts how a call ended. In the open state this is a call from before; it changes nothing.
    pub fn record_outcome(&mut self, outcome: BreakerOutcome, now: Millis) {
        match (self.state(now), outcome) {
            (BreakerState::Closed, BreakerOutcome::Success) => {
                self.halves = self.halves.saturating_sub(2);
            }
            (BreakerState::Closed, BreakerOutcome::Error(category)) => {
                self.halves = self.halves.saturating_add(half_error_weight(category));
                if self.halves >= self.settings.threshold.saturating_mul(2) {
                    self.opened_at = Some(now);
                    self.probing = false;
                }
            }
            (BreakerState::HalfOpen, BreakerOutcome::Success) => {
                *self = Self::new(self.settings);
            }
            (BreakerState::HalfOpen, BreakerOutcome::Error(_)) => {
                self.opened_at = Some(now);
                self.probing = false;
            }
            (BreakerState::Open, _) => {}
        }
    }

    /// Gives back a probe that was never started, for example because its task was cancelled.
    pub fn release_probe(&mut self) {
        self.probing = false;
    }
}

fn half_error_weight(category: Category) -> u32 {
    match category {
        Category::Critical | Category::Recoverable => 2,
        Category::Transient => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CRITICAL: BreakerOutcome = BreakerOutcome::Error(Category::Critical);
    const RECOVERABLE: BreakerOutcome = BreakerOutcome::Error(Category::Recoverable);
    const TRANSIENT: BreakerOutcome = BreakerOutcome::Error(Category::Transient);

    fn after(outcomes: &[BreakerOutcome]) -> CircuitBreaker {
        let mut breaker = CircuitBreaker::default();
        for outcome in outcomes {
            breaker.record_outcome(*outcome, 0);
        }
        breaker
    }

    #[test]
    fn example_12_breaker_opens_refuses_probes_and_closes() {
        let mut breaker = after(&[TRANSIENT; 6]);
        assert_eq!(breaker.state(0), BreakerState::Open);
        assert_eq!(breaker.admit_call(29_900), BreakerAdmission::Refused { retry_in_ms: 100 });
        assert_eq!(breaker.state(30_000), BreakerState::HalfOpen);
        assert_eq!(breaker.admit_call(30_000), BreakerAdmission::Probe);
        breaker.record_outcome(TRANSIENT, 30_000);
        assert_eq!(breaker.state(30_000), BreakerState::Open);
        assert_eq!(breaker.state(60_000), BreakerState::HalfOpen);
        assert_eq!(breaker.admit_call(60_000), BreakerAdmission::Probe);
        breaker.record_outcome(BreakerOutcome::Success, 60_000);
        assert_eq!(breaker.state(60_000), BreakerState::Closed);
        assert!(breaker.error_count().abs() < f64::EPSILON);
    }

    #[test]
    fn three_critical_errors_open_it_at_the_third() {
        assert_eq!(after(&[CRITICAL; 2]).state(0), BreakerState::Closed);
        assert_eq!(after(&[CRITICAL; 3]).state(0), BreakerState::Open);
        let mixed = [CRITICAL, RECOVERABLE, TRANSIENT, TRANSIENT];
        assert_eq!(after(&mixed).state(0), BreakerState::Open);
    }

    #[test]
    fn a_success_takes_one_off_and_never_goes_below_zero() {
        let breaker =
            after(&[BreakerOutcome::Success, CRITICAL, CRITICAL, BreakerOutcome::Success]);
        assert!((breaker.error_count() - 1.0).abs() < f64::EPSILON);
        assert!(after(&[TRANSIENT, BreakerOutcome::Success]).error_count().abs() < f64::EPSILON);
    }

    #[test]
    fn only_one_probe_passes_at_a_time() {
        let mut breaker = after(&[CRITICAL; 3]);
        assert_eq!(breaker.admit_call(30_000), BreakerAdmission::Probe);
        assert_eq!(breaker.admit_call(30_001), BreakerAdmission::Refused { retry_in_ms: 0 });
        breaker.release_probe();
        assert_eq!(breaker.admit_call(30_002), BreakerAdmission::Probe);
    }

    #[test]
    fn a_call_from_before_it_opened_changes_nothing() {
        let mut breaker = after(&[CRITICAL; 3]);
        let before = breaker.clone();
        breaker.record_outcome(BreakerOutcome::Success, 10);
        breaker.record_outcome(CRITICAL, 20);
        assert_eq!(breaker, before);
    }

    fn outcome() -> impl Strategy<Value = BreakerOutcome> {
        prop::sample::select(vec![BreakerOutcome::Success, CRITICAL, RECOVERABLE, TRANSIENT])
    }

    proptest! {
        #[test]
        fn equal_events_and_clock_give_equal_trajectories(
            steps in prop::collection::vec((outcome(), 0u64..20_000), 0..60),
        ) {
            let trajectory = || {
                let (mut breaker, mut now) = (CircuitBreaker::default(), 0);
                let run = steps.iter().map(|(outcome, wait)| {
                    now += wait;
                    let admission = breaker.admit_call(now);
                    if !matches!(admission, BreakerAdmission::Refused { .. }) {
                        breaker.record_outcome(*outcome, now);
                    }
                    (admission, breaker.clone(), breaker.state(now))
                });
                run.collect::<Vec<_>>()
            };
            prop_assert_eq!(trajectory(), trajectory());
            for (_, breaker, state) in trajectory() {
                prop_assert!(state != BreakerState::Closed || breaker.error_count() < 3.0);
            }
        }
    }
}
