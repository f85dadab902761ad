//! Runs that go on without their screen, in the process that showed it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

use super::run_outputs::RunOutputs;
use super::session::{ResumeRequest, follow_quietly};
use super::{CliExit, screen_process};
use planwright_engine::SessionHandle;
use planwright_store::Store;

/// The runs that this process works on while its screen shows something else.
#[derive(Clone, Debug, Default)]
pub(super) struct DetachedRuns {
    runs: Arc<Mutex<JoinSet<()>>>,
}

impl DetachedRuns {
    /// Keeps a run going until its end.
    fn keep(&self, store: Store, handle: SessionHandle, outputs: RunOutputs) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.spawn(async move {
            if let Err(error) = follow_detached(&store, handle, outputs).await {
                tracing::error!(error = format!("{error:#}"), "a run in the background ended");
            }
        });
    }

    /// Whether a run is still going on.
    pub(super) fn are_running(&self) -> bool {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        while runs.try_join_next().is_some() {}
        !runs.is_empty()
    }

    /// Waits for the end of all of them, without a terminal.
    pub(super) async fn finish_without_terminal(&self) -> anyhow::Result<()> {
        screen_process::leave_terminal()?;
        let mut runs = {
            let mut kept = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *kept)
        };
        while runs.join_next().await.is_some() {}
        Ok(())
    }
}

/// Goes on with a run whose screen was left: beside the next screen of this process, or without a terminal.
pub(super) async fn continue_detached(
    store: &Store,
    handle: SessionHandle,
    outputs: RunOutputs,
    kept_by: Option<DetachedRuns>,
) -> anyhow::Result<CliExit> {
    if let Some(runs) = kept_by {
        runs.keep(store.clone(), handle, outputs);
        return Ok(CliExit::Success);
    }
    screen_process::leave_terminal()?;
    follow_detached(store, handle, outputs).await
}

/// Works on a run until it ends; what it asks is answered from elsewhere.
async fn follow_detached(
    store: &Store,
    handle: SessionHandle,
    outputs: RunOutputs,
) -> anyhow::Result<CliExit> {
    let request = ResumeRequest { waits_for_answers: true, ..ResumeRequest::default() };
    let (id, _, exit) = follow_quietly(store, handle, request).await?;
    outputs.finish(store, &id).await?;
    store.close();
    Ok(exit)
}
