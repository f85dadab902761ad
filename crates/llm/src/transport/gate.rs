//! How many requests a provider gets at once, and its circuit breaker.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use planwright_model::breaker::{
    BreakerAdmission, BreakerOutcome, BreakerSettings, BreakerState, CircuitBreaker, Millis,
};

/// The gate of one provider, shared by all its models in this process.
#[derive(Debug)]
pub struct ProviderGate {
    slots: Arc<Semaphore>,
    breaker: Mutex<CircuitBreaker>,
    began: Instant,
    /// The provider asked not to be called before this moment.
    held_until: Mutex<Option<Instant>>,
}

/// The longest time for which a request not to call is kept; what is asked for beyond it makes no difference.
const LONGEST_HOLD: Duration = Duration::from_secs(366 * 24 * 3600);

/// Calls are refused for so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProviderGateRefusal {
    pub(crate) retry_in_ms: u64,
}

impl ProviderGate {
    pub fn new(at_once: usize, breaker: BreakerSettings) -> Arc<Self> {
        Arc::new(Self {
            slots: Arc::new(Semaphore::new(at_once.max(1))),
            breaker: Mutex::new(CircuitBreaker::new(breaker)),
            began: Instant::now(),
            held_until: Mutex::new(None),
        })
    }

    /// Keeps every model of this provider from calling it again before the time that it asked for.
    pub(crate) fn hold_for(&self, wait: Duration) {
        let until = Instant::now() + wait.min(LONGEST_HOLD);
        let mut held = self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(held.map_or(until, |before| before.max(until)));
    }

    /// How long the provider still asked not to be called.
    pub(crate) fn remaining_hold(&self) -> Option<Duration> {
        let held = *self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        let left = held?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub fn breaker_state(&self) -> BreakerState {
        let now = self.elapsed_millis();
        self.with_breaker(|breaker| breaker.state(now))
    }

    /// Waits for a place, then asks the breaker. Dropping the pass without a verdict counts as if it never was.
    pub(crate) async fn enter(self: &Arc<Self>) -> Result<ProviderGatePass, ProviderGateRefusal> {
        let permit = Arc::clone(&self.slots).acquire_owned().await.ok();
        let now = self.elapsed_millis();
        match self.with_breaker(|breaker| breaker.admit_call(now)) {
            BreakerAdmission::Refused { retry_in_ms } => Err(ProviderGateRefusal { retry_in_ms }),
            admission => Ok(ProviderGatePass {
                gate: Arc::clone(self),
                probe: admission == BreakerAdmission::Probe,
                _permit: permit,
            }),
        }
    }

    fn elapsed_millis(&self) -> Millis {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn with_breaker<T>(&self, work: impl FnOnce(&mut CircuitBreaker) -> T) -> T {
        work(&mut self.breaker.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The right to make one attempt.
#[derive(Debug)]
pub(crate) struct ProviderGatePass {
    gate: Arc<ProviderGate>,
    probe: bool,
    _permit: Option<OwnedSemaphorePermit>,
}

impl ProviderGatePass {
    /// Tells the breaker how the attempt ended.
    pub(crate) fn record_outcome(mut self, outcome: BreakerOutcome) {
        self.probe = false;
        let now = self.gate.elapsed_millis();
        self.gate.with_breaker(|breaker| breaker.record_outcome(outcome, now));
    }
}

impl Drop for ProviderGatePass {
    fn drop(&mut self) {
        if self.probe {
            self.gate.with_breaker(CircuitBreaker::release_probe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::Category;

    #[tokio::test(start_paused = true)]
    async fn a_failing_provider_is_left_alone_then_probed_by_one() {
        let gate = ProviderGate::new(4, BreakerSettings::default());
        for _ in 0..3 {
            gate.enter().await.unwrap().record_outcome(BreakerOutcome::Error(Category::Critical));
        }
        assert_eq!(gate.enter().await.unwrap_err(), ProviderGateRefusal { retry_in_ms: 30_000 });
        tokio::time::advance(Duration::from_secs(30)).await;
        let probe = gate.enter().await.unwrap();
        assert!(gate.enter().await.is_err(), "one probe at a time");
        drop(probe);
        let probe = gate.enter().await.expect("a probe that was cancelled is given back");
        probe.record_outcome(BreakerOutcome::Success);
        assert_eq!(gate.breaker_state(), BreakerState::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_is_held_for_as_long_as_it_asked_for() {
        let gate = ProviderGate::new(4, BreakerSettings::default());
        assert_eq!(gate.remaining_hold(), None);
        gate.hold_for(Duration::from_secs(90));
        gate.hold_for(Duration::from_secs(5));
        assert_eq!(gate.remaining_hold(), Some(Duration::from_secs(90)), "the later time counts");
        tokio::time::advance(Duration::from_secs(91)).await;
        assert_eq!(gate.remaining_hold(), None);
        gate.hold_for(Duration::MAX);
        assert!(gate.remaining_hold() > Some(Duration::from_secs(3600)));
    }

    #[tokio::test]
    async fn only_so_many_are_let_in_at_once() {
        let gate = ProviderGate::new(1, BreakerSettings::default());
        let first = gate.enter().await.unwrap();
        let second = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { gate.enter().await.is_ok() }
        });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        first.record_outcome(BreakerOutcome::Success);
        assert!(second.await.unwrap());
    }
}
