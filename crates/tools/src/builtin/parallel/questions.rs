//! Answers to questions that were asked before, and one run for questions that are asked at the same time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;

use planwright_model::{Digest, ToolResult};

/// How long an answer that used the network is good for.
const NETWORK_LIFE: Duration = Duration::from_secs(15 * 60);

#[derive(Debug)]
struct Kept {
    result: ToolResult,
    until: Option<Instant>,
}

/// The answers of a session, by question, tools, state of the workspace and model.
#[derive(Debug, Default)]
pub(crate) struct Questions(Mutex<BTreeMap<Digest, Arc<OnceCell<Kept>>>>);

/// What a run gives back: its result, and whether it used the network.
pub(super) struct Run {
    pub(super) result: ToolResult,
    pub(super) used_network: bool,
}

impl Questions {
    /// The answer from before, or that of a run that is under way, or that of a new run. Says whether it was not new.
    pub(super) async fn answer(
        &self,
        key: Digest,
        run: impl Future<Output = Run>,
    ) -> (ToolResult, bool) {
        let cell = self.cell(&key);
        let mine = AtomicBool::new(false);
        let kept = cell
            .get_or_init(|| async {
                mine.store(true, Ordering::Relaxed);
                let run = run.await;
                let until = run.used_network.then(|| Instant::now() + NETWORK_LIFE);
                Kept { result: run.result, until }
            })
            .await;
        if !kept.result.ok {
            // A failure is told to those who waited for it, and tried again by others.
            self.forget(&key, &cell);
        }
        (kept.result.clone(), !mine.load(Ordering::Relaxed))
    }

    fn cell(&self, key: &Digest) -> Arc<OnceCell<Kept>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = all.get(key).and_then(|cell| cell.get()).and_then(|kept| kept.until);
        if stale.is_some_and(|until| until <= Instant::now()) {
            all.remove(key);
        }
        Arc::clone(all.entry(key.clone()).or_default())
    }

    fn forget(&self, key: &Digest, cell: &Arc<OnceCell<Kept>>) {
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
    async fn an_answer_from_the_network_is_good_for_a_quarter_of_an_hour() {
        let questions = Questions::default();
        let ask = |used_network: bool| {
            let run = async move { Run { result: ToolResult::success(json!({})), used_network } };
            questions.answer(Digest::of_json(&json!(used_network)), run)
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
