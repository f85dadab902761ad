//! Making a session: its first events and the session itself are one transaction, so that none is ever without events.

use crate::console::CliProblem;
use planwright_engine::{self as engine, EngineOptions, SessionHandle};
use planwright_model::SessionId;
use planwright_model::event::{Event, FORMAT};
use planwright_state::SessionState;
use planwright_store::{NewSession, SessionInfo, Store};

/// Makes a session of its first events and starts working on it. Everything that can fail for lack of a key or a model
/// comes before, so that nothing is left behind by it.
pub(super) fn create_session(
    store: &Store,
    id: SessionId,
    first: Vec<Event>,
    options: EngineOptions,
) -> anyhow::Result<SessionHandle> {
    let created_at = (options.clock)();
    let (state, batch) = engine::first_batch(&id, SessionState::default(), first, created_at)?;
    let summary = batch.summary.clone().unwrap_or_default();
    let new = NewSession { id, created_at, format: FORMAT, parent: None, summary };
    let journal = store.begin_session(new, batch)?;
    let handle = engine::start_new_session(journal, state, options);
    super::inbox::forward_answers(store, &handle);
    Ok(handle)
}

/// Refuses a session without events, which there is nothing to resume in.
pub(super) fn require_events(info: &SessionInfo) -> anyhow::Result<()> {
    if !info.is_empty() {
        return Ok(());
    }
    let id = info.id.short_id();
    Err(CliProblem::failed(format!(
        "session {id} is empty: the process that made it ended before its first event was written"
    ))
    .with_remedy(format!("planwright sessions rm {id} removes it"))
    .into())
}
