//! A model behind HTTP: attempts, delays and adjustments until there is an answer or nothing left to try.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::gate::ProviderGatePass;
use super::provider_errors::with_wait_time;
use super::{FailedAttempt, ProviderAdapter, ProviderConnection};
use crate::cost::tokens;
use crate::{
    AnswerDelta, DeltaSink, GenerateRequest, GeneratedAnswer, LanguageModel, ModelError, ModelInfo,
    TokenUsage,
};
use planwright_model::Category;
use planwright_model::breaker::BreakerOutcome;

/// How often one request may be rephrased before its refusal is final.
const MOST_ADJUSTMENTS: u32 = 5;

/// A model of one provider.
#[derive(Debug)]
pub(crate) struct HttpModel<A> {
    pub(crate) info: ModelInfo,
    pub(crate) adapter: A,
    pub(crate) connection: ProviderConnection,
}

impl<A: ProviderAdapter> LanguageModel for HttpModel<A> {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            let spent = Mutex::new(TokenUsage::default());
            let asking = self.ask_with_retries(request, deltas, &spent);
            // Dropping the attempt closes its connection, which frees the server.
            let result = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::cancelled(&self.info.provider)),
                result = asking => result,
            };
            let spent = *spent.lock().unwrap_or_else(PoisonError::into_inner);
            self.log_call(&result);
            match result {
                Ok(generated) => Ok(GeneratedAnswer { spent_on_retries: spent, ..generated }),
                Err(error) => Err(ModelError { usage: spent, ..error }),
            }
        })
    }
}

impl<A: ProviderAdapter> HttpModel<A> {
    /// Logs how a call ended: names, numbers and codes, nothing that was asked or answered.
    fn log_call(&self, result: &Result<GeneratedAnswer, ModelError>) {
        let (provider, model) = (&self.info.provider, &self.info.model);
        match result {
            Ok(answer) => tracing::debug!(
                provider,
                model,
                text_bytes = answer.text.len(),
                calls = answer.tool_calls.len(),
                "the model answered"
            ),
            Err(error) => {
                tracing::warn!(provider, model, code = %error.code, "the model did not answer");
            }
        }
    }

    async fn ask_with_retries(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        spent: &Mutex<TokenUsage>,
    ) -> Result<GeneratedAnswer, ModelError> {
        let mut retries = RetryCount::default();
        loop {
            let broken = match self.enter_gate(deltas).await {
                Err(refused) => refused,
                Ok(pass) => match self.attempt_once(request, deltas, spent).await {
                    Ok(generated) => {
                        pass.record_outcome(BreakerOutcome::Success);
                        self.adapter.note_success();
                        return Ok(generated);
                    }
                    Err(broken) => {
                        let adjusts = retries.adjustments < MOST_ADJUSTMENTS
                            && self.adapter.adjust_to_failure(&broken, request);
                        if adjusts {
                            // The server is healthy; it only needs a different form of request.
                            drop(pass);
                            retries.adjustments += 1;
                            deltas(AnswerDelta::Retrying {
                                attempt: retries.failures,
                                wait: Duration::ZERO,
                                why: broken.error.message,
                            });
                            continue;
                        }
                        match breaker_outcome(&broken) {
                            Some(outcome) => pass.record_outcome(outcome),
                            None => drop(pass),
                        }
                        if let Some(requested_wait) = broken.error.retry_after {
                            self.connection.gate.hold_for(requested_wait);
                        }
                        broken
                    }
                },
            };
            let Some(wait) = self.next_wait(&broken, &mut retries) else {
                return Err(with_wait_time(broken.error, &self.connection.retry));
            };
            let why = broken.error.message;
            deltas(AnswerDelta::Retrying { attempt: retries.failures, wait, why });
            tokio::time::sleep(wait).await;
        }
    }

    /// Waits for a slot, and for as long as the provider asked not to be called.
    async fn enter_gate(&self, deltas: DeltaSink<'_>) -> Result<ProviderGatePass, FailedAttempt> {
        let connection = &self.connection;
        loop {
            let pass = connection.gate.enter().await.map_err(|refused| {
                let wait = Duration::from_millis(refused.retry_in_ms);
                FailedAttempt::from(connection.faults.open_breaker_error(wait))
            })?;
            // Checked after a slot became free: another call may have been told to wait in the meantime.
            let Some(remaining) = connection.gate.remaining_hold() else { return Ok(pass) };
            drop(pass);
            let asked_to_wait = connection.faults.rate_limit_error(remaining);
            if remaining > connection.retry.longest_retry_after {
                return Err(asked_to_wait.into());
            }
            let why = asked_to_wait.message;
            deltas(AnswerDelta::Retrying { attempt: 0, wait: remaining, why });
            tokio::time::sleep(remaining).await;
        }
    }

    /// One attempt, with its likely cost recorded if it is interrupted.
    async fn attempt_once(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        spent: &Mutex<TokenUsage>,
    ) -> Result<GeneratedAnswer, FailedAttempt> {
        let received = AtomicUsize::new(0);
        let counting = |delta: AnswerDelta| {
            received.fetch_add(delta_size(&delta), Ordering::Relaxed);
            deltas(delta);
        };
        // Recorded first and undone when the provider reports its own figures, so that an interrupted or canceled
        // attempt is never free.
        let before = add_estimated_usage(spent, request, 0);
        let model = &self.info.model;
        let attempt = self.connection.attempt_request(&self.adapter, request, model, &counting);
        let result = attempt.await;
        set_usage(spent, before);
        if let Err(broken) = &result
            && broken.status.is_none()
            && received.load(Ordering::Relaxed) > 0
        {
            add_estimated_usage(spent, request, received.load(Ordering::Relaxed));
        }
        result
    }

    /// How long to wait before the next attempt; `None` if there is none.
    fn next_wait(&self, broken: &FailedAttempt, retries: &mut RetryCount) -> Option<Duration> {
        retries.failures += 1;
        if broken.error.category != Category::Transient || broken.timed_out {
            return None;
        }
        let now = Instant::now();
        let began = *retries.began.get_or_insert(now);
        let waited_for = is_waited_for(broken, self.connection.gate.has_answered(), retries.outage);
        retries.outage |= waited_for;
        if broken.error.code == "breaker_open" && !waited_for {
            return None;
        }
        let outage = waited_for.then(|| now.duration_since(began));
        let requested = broken.error.retry_after;
        self.connection.retry.retry_delay(retries.failures, outage, requested, random_jitter())
    }
}

/// How often one request was tried.
#[derive(Debug, Default)]
struct RetryCount {
    failures: u32,
    adjustments: u32,
    /// When the first attempt failed.
    began: Option<Instant>,
    /// An outage is being waited for.
    outage: bool,
}

/// Whether a failure is waited for longer than for a few retries. A provider that has never answered may simply not be
/// there; that is for the person to know soon, unless it said itself that it is busy.
fn is_waited_for(broken: &FailedAttempt, has_answered: bool, outage: bool) -> bool {
    match broken.error.code.as_str() {
        "overloaded" | "rate_limited" => true,
        // Our own pause after many failures is part of the outage that caused it.
        "breaker_open" => has_answered || outage,
        _ => is_outage(broken) && has_answered,
    }
}

/// Whether a failure is one of the provider or the network that passes by itself, rather than of one answer.
fn is_outage(broken: &FailedAttempt) -> bool {
    const OUTAGES: [&str; 4] = ["unreachable", "timeout_connect", "dropped", "server_error"];
    OUTAGES.contains(&broken.error.code.as_str())
}

/// Adds the likely cost of an attempt; returns what was spent before.
fn add_estimated_usage(
    spent: &Mutex<TokenUsage>,
    request: &GenerateRequest,
    received: usize,
) -> TokenUsage {
    let mut spent = spent.lock().unwrap_or_else(PoisonError::into_inner);
    let before = *spent;
    let output = tokens::estimate_byte_tokens(received);
    *spent = before.plus(TokenUsage::from_counts(tokens::estimate_request_tokens(request), output));
    before
}

fn set_usage(spent: &Mutex<TokenUsage>, usage: TokenUsage) {
    *spent.lock().unwrap_or_else(PoisonError::into_inner) = usage;
}

fn delta_size(delta: &AnswerDelta) -> usize {
    match delta {
        AnswerDelta::Text { text } | AnswerDelta::Thinking { text } => text.len(),
        AnswerDelta::Call { name, arguments, .. } => name.len() + arguments.len(),
        AnswerDelta::Retrying { .. } => 0,
    }
}

/// What is reported to the breaker. An invalid request gives no information about the provider's health.
fn breaker_outcome(broken: &FailedAttempt) -> Option<BreakerOutcome> {
    match broken.error.code.as_str() {
        "bad_request" | "context_length_exceeded" | "too_large" => None,
        _ => Some(BreakerOutcome::Error(broken.error.category)),
    }
}

/// A random fraction. UUIDs of version 7 end in random bits, which saves a dependency.
fn random_jitter() -> f64 {
    let bits = uuid::Uuid::now_v7().as_u128() as u32;
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_after_many_failures_is_part_of_the_outage_that_is_waited_for() {
        let failed = |code: &str| {
            FailedAttempt::from(ModelError::new("mock", code, Category::Transient, "busy", "wait"))
        };
        let waited =
            |code: &str, has_answered, outage| is_waited_for(&failed(code), has_answered, outage);
        assert!(waited("overloaded", false, false) && waited("breaker_open", false, true));
        assert!(waited("breaker_open", true, false) && waited("server_error", true, false));
        assert!(!waited("breaker_open", false, false) && !waited("server_error", false, true));
        assert!(!waited("invalid_output", true, true));
    }
}
