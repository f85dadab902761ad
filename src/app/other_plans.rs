//! The person's other plans in the store: what time they take now, and commands to them.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use futures_util::future::BoxFuture;

use super::App;
use planwright_engine::OtherPlans;
use planwright_model::SessionId;
use planwright_model::event::Command;
use planwright_schedule::OtherBlock;
use planwright_store::Store;

/// All plans of a store but one.
struct StoredOtherPlans {
    app: App,
    store: Store,
    own: SessionId,
    sending: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for StoredOtherPlans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredOtherPlans").field("own", &self.own).finish_non_exhaustive()
    }
}

impl App {
    /// The other plans beside a session.
    pub(crate) fn other_plans(&self, store: &Store, own: &SessionId) -> Arc<dyn OtherPlans> {
        Arc::new(StoredOtherPlans {
            app: self.clone(),
            store: store.clone(),
            own: own.clone(),
            sending: Mutex::new(Vec::new()),
        })
    }
}

impl OtherPlans for StoredOtherPlans {
    fn current_blocks(&self) -> Option<Vec<OtherBlock>> {
        let found = super::planning::other_plan_blocks(&self.store, &self.own);
        found.inspect_err(|error| tracing::warn!(%error, "other plans cannot be read")).ok()
    }

    fn send(&self, session: &SessionId, command: Command) {
        let (app, store, session) = (self.app.clone(), self.store.clone(), session.clone());
        // The other plan may be held by a process that takes its time; a thread waits for it, not the driver.
        let sending = std::thread::spawn(move || send_command(&app, &store, &session, command));
        self.sending.lock().unwrap_or_else(PoisonError::into_inner).push(sending);
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let sending =
            std::mem::take(&mut *self.sending.lock().unwrap_or_else(PoisonError::into_inner));
        Box::pin(async move {
            let waiting = tokio::task::spawn_blocking(move || {
                for thread in sending {
                    if thread.join().is_err() {
                        tracing::error!("a command to another plan was lost");
                    }
                }
            });
            if let Err(error) = waiting.await {
                tracing::error!(%error, "commands to other plans are not waited for");
            }
        })
    }
}

fn send_command(app: &App, store: &Store, session: &SessionId, command: Command) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let sent = runtime
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(app.send_command(store, session, command)));
    if let Err(error) = sent {
        tracing::warn!(%session, %error, "another plan did not take a command");
    }
}
