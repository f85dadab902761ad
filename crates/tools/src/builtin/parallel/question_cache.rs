//! Answers to earlier questions, and a shared run for identical questions asked at the same time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;

use planwright_model::{Digest, ToolResult};

/// How long an answer that used the network stays valid.
const NETWORK_LIFE: Duration = Duration::from_secs(15 * 60);

#[derive(Debug)]
struct CachedAnswer {
    result: ToolResult,
    until: Option<Instant>,
}

/// The answers of a session, by question, tools, state of the workspace and model.
#[derive(Debug, Default)]
pub(crate) struct QuestionCache(Mutex<BTreeMap<Digest, Arc<OnceCell<CachedAnswer>>>>);

/// The result of a run, and whether it used the network.
pub(super) struct QuestionRun {
    pub(super) result: ToolResult,
    pub(super) used_network: bool,
}

impl QuestionCache {
    /// Returns the cached answer, or that of a run in progress, or that of a new run, and whether it was reused.
    pub(super) async fn get_or_run(
        &self,
        key: Digest,
        run: impl Future<Output = QuestionRun>,
    ) -> (ToolResult, bool) {
        let cell = self.answer_cell(&key);
        let mine = AtomicBool::new(false);
        let kept = cell
            .get_or_init(|| async {
                mine.store(true, Ordering::Relaxed);
                let run = run.await;
                let until = run.used_network.then(|| Instant::now() + NETWORK_LIFE);
                CachedAnswer { result: run.result, until }
            })
            .await;
        if !kept.result.ok {
            // A failure is returned to those who waited for it; later callers try again.
            self.forget_failure(&key, &cell);
        }
        (kept.result.clone(), !mine.load(Ordering::Relaxed))
    }

    fn answer_cell(&self, key: &Digest) -> Arc<OnceCell<CachedAnswer>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = all.get(key).and_then(|cell| cell.get()).and_then(|kept| kept.until);
        if stale.is_some_and(|until| until <= Instant::now()) {
            all.remove(key);
        }
        Arc::clone(all.entry(key.clone()).or_default())
    }

    fn forget_failure(&self, key: &Digest, cell: &Arc<OnceCell<CachedAnswer>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(key).is_some_and(|known| Arc::ptr_eq(known, cell)) {
            all.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_from_the_network_is_valid_for_a_quarter_of_an_hour() {
        let questions = QuestionCache::default();
        let ask = |used_network: bool| {
            let run =
                async move { QuestionRun { result: ToolResult::success(json!({})), used_network } };
            questions.get_or_run(Digest::from_json(&json!(used_network)), run)
        };
        for network in [true, false] {
            assert!(!ask(network).await.1 && ask(network).await.1);
        }
        tokio::time::advance(NETWORK_LIFE.saturating_sub(Duration::from_secs(1))).await;
        assert!(ask(true).await.1);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!ask(true).await.1, "it is asked again");
        assert!(ask(false).await.1, "the workspace did not change");
    }
}
