//! A model behind HTTP: attempts, delays and adjustments until there is an answer or nothing left to try.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

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
            let total = self.connection.limits.total;
            // Dropping the attempt closes its connection, which frees the server.
            let result = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::cancelled(&self.info.provider)),
                result = tokio::time::timeout(total, asking) => match result {
                    Ok(result) => result,
                    Err(_) => Err(self.connection.faults.total_timeout(&self.connection.limits)),
                },
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
        let connection = &self.connection;
        let (mut failures, mut silences, mut adjustments) = (0, 0, 0);
        loop {
            let pass = connection.gate.enter().await.map_err(|refused| {
                let wait = std::time::Duration::from_millis(refused.retry_in_ms);
                connection.faults.open_breaker_error(wait)
            })?;
            // Checked after a slot became free: another call may have been told to wait in the meantime.
            if let Some(remaining) = connection.gate.remaining_hold() {
                drop(pass);
                if remaining > connection.retry.longest_retry_after {
                    return Err(connection.faults.rate_limit_error(remaining));
                }
                tokio::time::sleep(remaining).await;
                continue;
            }
            let received = AtomicUsize::new(0);
            let counting = |delta: AnswerDelta| {
                received.fetch_add(delta_size(&delta), Ordering::Relaxed);
                deltas(delta);
            };
            // Recorded first and undone when the provider reports its own figures, so that an interrupted or canceled
            // attempt is never free.
            let before = add_estimated_usage(spent, request, 0);
            let attempt = connection
                .attempt_request(&self.adapter, request, &self.info.model, &counting)
                .await;
            let broken = match attempt {
                Ok(generated) => {
                    pass.record_outcome(BreakerOutcome::Success);
                    self.adapter.note_success();
                    set_usage(spent, before);
                    return Ok(generated);
                }
                Err(broken) => broken,
            };
            set_usage(spent, before);
            if broken.status.is_none() && received.load(Ordering::Relaxed) > 0 {
                add_estimated_usage(spent, request, received.load(Ordering::Relaxed));
            }
            if adjustments < MOST_ADJUSTMENTS && self.adapter.adjust_to_failure(&broken, request) {
                // The server is healthy; it only needs a different form of request.
                drop(pass);
                adjustments += 1;
                deltas(AnswerDelta::Retrying {
                    attempt: failures,
                    wait: std::time::Duration::ZERO,
                    why: broken.error.message,
                });
                continue;
            }
            match breaker_outcome(&broken) {
                Some(outcome) => pass.record_outcome(outcome),
                None => drop(pass),
            }
            if let Some(requested_wait) = broken.error.retry_after {
                connection.gate.hold_for(requested_wait);
            }
            failures += 1;
            silences += u32::from(broken.silence);
            let may_retry = silences <= connection.retry.retries_after_silence;
            let wait = (broken.error.category == Category::Transient && may_retry)
                .then(|| {
                    connection.retry.retry_delay(
                        failures,
                        broken.error.retry_after,
                        random_jitter(),
                    )
                })
                .flatten();
            let Some(wait) = wait else {
                return Err(with_wait_time(broken.error, &connection.retry));
            };
            deltas(AnswerDelta::Retrying { attempt: failures, wait, why: broken.error.message });
            tokio::time::sleep(wait).await;
        }
    }
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
