//! A model behind HTTP: attempts, waits and adjustments until there is an answer or nothing more to try.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::fault::with_wait;
use super::{Adapter, Broken, Connection};
use crate::cost::tokens;
use crate::{
    Delta, DeltaSink, GenerateRequest, Generated, LanguageModel, ModelError, ModelInfo, Usage,
};
use planwright_model::Category;
use planwright_model::breaker::CallOutcome;

/// How often one request may be asked differently before its refusal counts.
const MOST_ADJUSTMENTS: u32 = 5;

/// A model of one provider.
#[derive(Debug)]
pub(crate) struct HttpModel<A> {
    pub(crate) info: ModelInfo,
    pub(crate) adapter: A,
    pub(crate) connection: Connection,
}

impl<A: Adapter> LanguageModel for HttpModel<A> {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Generated, ModelError>> {
        Box::pin(async move {
            let spent = Mutex::new(Usage::default());
            let asking = self.ask(request, deltas, &spent);
            let total = self.connection.limits.total;
            // Dropping the attempt closes its connection, which frees the server.
            let result = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::cancelled(&self.info.provider)),
                result = tokio::time::timeout(total, asking) => match result {
                    Ok(result) => result,
                    Err(_) => Err(self.connection.faults.total(&self.connection.limits)),
                },
            };
            let spent = *spent.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(generated) => Ok(Generated { spent_on_retries: spent, ..generated }),
                Err(error) => Err(ModelError { usage: spent, ..error }),
            }
        })
    }
}

impl<A: Adapter> HttpModel<A> {
    async fn ask(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        spent: &Mutex<Usage>,
    ) -> Result<Generated, ModelError> {
        let connection = &self.connection;
        let (mut failures, mut silences, mut adjustments) = (0, 0, 0);
        loop {
            let pass = connection.gate.enter().await.map_err(|refused| {
                let wait = std::time::Duration::from_millis(refused.retry_in_ms);
                connection.faults.breaker_open(wait)
            })?;
            // Asked after a place was free: another call may have been told to wait meanwhile.
            if let Some(left) = connection.gate.held_for() {
                drop(pass);
                if left > connection.retry.longest_retry_after {
                    return Err(connection.faults.held(left));
                }
                tokio::time::sleep(left).await;
                continue;
            }
            let received = AtomicUsize::new(0);
            let counting = |delta: Delta| {
                received.fetch_add(size(&delta), Ordering::Relaxed);
                deltas(delta);
            };
            // Booked first and taken back when the provider reports its own figures, so that an attempt that is
            // cut off or cancelled is never free.
            let before = book(spent, request, 0);
            let attempt =
                connection.attempt(&self.adapter, request, &self.info.model, &counting).await;
            let broken = match attempt {
                Ok(generated) => {
                    pass.conclude(CallOutcome::Success);
                    self.adapter.succeeded();
                    set(spent, before);
                    return Ok(generated);
                }
                Err(broken) => broken,
            };
            set(spent, before);
            if broken.status.is_none() && received.load(Ordering::Relaxed) > 0 {
                book(spent, request, received.load(Ordering::Relaxed));
            }
            if adjustments < MOST_ADJUSTMENTS && self.adapter.adjust(&broken, request) {
                // The server is well; it only wants to be asked in another way.
                drop(pass);
                adjustments += 1;
                deltas(Delta::Retrying {
                    attempt: failures,
                    wait: std::time::Duration::ZERO,
                    why: broken.error.message,
                });
                continue;
            }
            match outcome(&broken) {
                Some(outcome) => pass.conclude(outcome),
                None => drop(pass),
            }
            if let Some(asked) = broken.error.retry_after {
                connection.gate.hold_for(asked);
            }
            failures += 1;
            silences += u32::from(broken.silence);
            let patient = silences <= connection.retry.retries_after_silence;
            let wait = (broken.error.category == Category::Transient && patient)
                .then(|| connection.retry.wait(failures, broken.error.retry_after, jitter()))
                .flatten();
            let Some(wait) = wait else {
                return Err(with_wait(broken.error, &connection.retry));
            };
            deltas(Delta::Retrying { attempt: failures, wait, why: broken.error.message });
            tokio::time::sleep(wait).await;
        }
    }
}

/// Adds what an attempt is likely to have cost; gives what had been spent before.
fn book(spent: &Mutex<Usage>, request: &GenerateRequest, received: usize) -> Usage {
    let mut spent = spent.lock().unwrap_or_else(PoisonError::into_inner);
    let before = *spent;
    let output = tokens::of_bytes(received);
    *spent = before.plus(Usage::of(tokens::of_request(request), output));
    before
}

fn set(spent: &Mutex<Usage>, usage: Usage) {
    *spent.lock().unwrap_or_else(PoisonError::into_inner) = usage;
}

fn size(delta: &Delta) -> usize {
    match delta {
        Delta::Text { text } | Delta::Thinking { text } => text.len(),
        Delta::Call { name, arguments, .. } => name.len() + arguments.len(),
        Delta::Retrying { .. } => 0,
    }
}

/// What the breaker hears. A request that was wrong in itself says nothing about the provider's health.
fn outcome(broken: &Broken) -> Option<CallOutcome> {
    match broken.error.code.as_str() {
        "bad_request" | "context_length_exceeded" | "too_large" => None,
        _ => Some(CallOutcome::Error(broken.error.category)),
    }
}

/// A random fraction. Identifiers of version 7 end in random bits, which saves a dependency.
fn jitter() -> f64 {
    let bits = uuid::Uuid::now_v7().as_u128() as u32;
    f64::from(bits) / f64::from(u32::MAX)
}
