//! How often, and how fast, one attempt at a task may ask models.
//!
//! A model that cannot do what it is asked for answers at once and for ever. Answers that could not be used are followed
//! by a growing pause, and after a few of them in a row the attempt is over.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::TASK_CAP;
use planwright_llm::{ModelError, ModelInfo};
use planwright_model::Category;

/// After so many answers in a row that could not be used nothing better is expected.
pub(super) const MOST_UNUSABLE: u32 = 5;
/// The pause after the first answer that could not be used; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The requests of one attempt.
#[derive(Debug)]
pub(super) struct RequestPace {
    /// `agent_max_requests_per_task`.
    most_requests: u32,
    requests: AtomicU32,
    /// Answers in a row that could not be used.
    unusable: AtomicU32,
}

impl RequestPace {
    pub(super) fn new(most_requests: u32) -> Self {
        Self { most_requests, requests: AtomicU32::new(0), unusable: AtomicU32::new(0) }
    }

    /// Waits until the next question may be asked, or says why there is none any more.
    pub(super) async fn admit(&self, model: &ModelInfo) -> Result<(), ModelError> {
        let unusable = self.unusable.load(Ordering::Relaxed);
        if unusable >= MOST_UNUSABLE {
            return Err(unusable_answers_error(model));
        }
        if self.requests.load(Ordering::Relaxed) >= self.most_requests {
            let what = format!(
                "it has made its {} requests to models (agent_max_requests_per_task)",
                self.most_requests
            );
            let next = "let it continue, raise the setting, or make the task smaller";
            return Err(ModelError::new(
                &model.provider,
                TASK_CAP,
                Category::Critical,
                format!("stopped at a limit: {what}"),
                next,
            ));
        }
        // Whoever answers by rule or from a recording is not relieved by a pause.
        if unusable > 0 && !model.host.is_empty() {
            tokio::time::sleep(pause_after(unusable)).await;
        }
        Ok(())
    }

    /// Counts requests that were made.
    pub(super) fn count_requests(&self, made: u32) {
        self.requests.fetch_add(made, Ordering::Relaxed);
    }

    /// The last answer led nowhere.
    pub(super) fn note_unusable(&self) {
        self.unusable.fetch_add(1, Ordering::Relaxed);
    }

    /// The last answer led somewhere.
    pub(super) fn note_usable(&self) {
        self.unusable.store(0, Ordering::Relaxed);
    }
}

fn pause_after(unusable: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << unusable.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}

fn unusable_answers_error(model: &ModelInfo) -> ModelError {
    let what = format!(
        "{} ({}) gave {MOST_UNUSABLE} answers in a row that could not be used",
        model.model, model.provider
    );
    let next = "use a model that can call tools, or set another protocol (tools, json or text)";
    ModelError::new(&model.provider, "unusable_answers", Category::Critical, what, next)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    fn model(host: &str) -> ModelInfo {
        ModelInfo {
            provider: "acme".into(),
            model: "m".into(),
            host: host.into(),
            local: false,
            context_window: None,
            capability: None,
            facts: planwright_llm::ModelFacts::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unusable_answers_are_followed_by_growing_pauses_and_end_the_attempt() {
        let (pace, model) = (RequestPace::new(100), model("api.acme.test"));
        let mut waits = Vec::new();
        let error = loop {
            let begun = Instant::now();
            match pace.admit(&model).await {
                Ok(()) => waits.push(begun.elapsed().as_millis()),
                Err(error) => break error,
            }
            pace.count_requests(1);
            pace.note_unusable();
        };
        assert_eq!(waits, [0, 250, 500, 1000, 2000]);
        assert_eq!((error.code.as_str(), error.category), ("unusable_answers", Category::Critical));
        pace.note_usable();
        assert!(pace.admit(&model).await.is_ok(), "only those in a row count");
    }

    #[tokio::test]
    async fn requests_of_a_task_are_bounded() {
        let (pace, model) = (RequestPace::new(3), model(""));
        pace.count_requests(2);
        assert!(pace.admit(&model).await.is_ok());
        pace.count_requests(1);
        let error = pace.admit(&model).await.unwrap_err();
        assert_eq!(error.code, TASK_CAP);
        assert!(error.message.contains("agent_max_requests_per_task"), "{}", error.message);
    }
}
