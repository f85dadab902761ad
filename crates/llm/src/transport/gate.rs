//! Limits the concurrent requests to a provider, and is its circuit breaker.

use std::sync::atomic::{AtomicBool, Ordering};
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
    /// The provider has answered in this process, so that a failure is an outage and not a wrong address.
    answered: AtomicBool,
    /// The provider asked not to be called before this time.
    held_until: Mutex<Option<Instant>>,
}

/// Longer holds are cut to this length, so that adding one to an `Instant` cannot overflow. Nobody waits a year.
const LONGEST_HOLD: Duration = Duration::from_secs(366 * 24 * 3600);

/// Calls are refused for this many milliseconds.
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
            answered: AtomicBool::new(false),
            held_until: Mutex::new(None),
        })
    }

    /// Keeps every model of this provider from calling it before the requested time has passed.
    pub(crate) fn hold_for(&self, wait: Duration) {
        let until = Instant::now() + wait.min(LONGEST_HOLD);
        let mut held = self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(held.map_or(until, |before| before.max(until)));
    }

    /// How much longer the provider asked not to be called.
    pub(crate) fn remaining_hold(&self) -> Option<Duration> {
        let held = *self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        let remaining = held?.saturating_duration_since(Instant::now());
        (!remaining.is_zero()).then_some(remaining)
    }

    /// Whether the provider has answered in this process.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    pub fn breaker_state(&self) -> BreakerState {
        let now = self.elapsed_millis();
        self.with_breaker(|breaker| breaker.state(now))
    }

    /// Waits for a free slot, then asks the breaker. Dropping the pass without an outcome leaves the breaker unchanged.
    pub(crate) async fn enter(self: &Arc<Self>) -> Result<ProviderGatePass, ProviderGateRefusal> {
        // The semaphore is never closed.
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

/// Permission to make one attempt.
#[derive(Debug)]
pub(crate) struct ProviderGatePass {
    gate: Arc<ProviderGate>,
    probe: bool,
    _permit: Option<OwnedSemaphorePermit>,
}

impl ProviderGatePass {
    /// Reports the outcome of the attempt to the breaker.
    pub(crate) fn record_outcome(mut self, outcome: BreakerOutcome) {
        self.probe = false;
        if outcome == BreakerOutcome::Success {
            self.gate.answered.store(true, Ordering::Relaxed);
        }
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
    async fn a_failing_provider_is_paused_then_probed_by_one_request() {
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
    async fn a_provider_is_not_called_for_as_long_as_it_asked() {
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
    async fn concurrent_requests_are_limited() {
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
