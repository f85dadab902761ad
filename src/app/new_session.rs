//! Building a session: its settings in its workspace, what the engine gets, and its first events. Those and the session
//! itself are written in one transaction, so that none is ever without events.

use std::path::Path;

use super::{App, SessionModels};
use crate::console::CliProblem;
use crate::console::PROGRAM;
use planwright_engine::{self as engine, EngineOptions, SessionHandle};
use planwright_model::SessionId;
use planwright_model::event::{Event, FORMAT, SessionEvent};
use planwright_state::SessionState;
use planwright_store::{NewSession, SessionInfo, Store};

/// A session that is about to begin or to be resumed. Everything that can fail for lack of a key or a model comes before
/// [`SessionBuilder::create`], so that nothing is left behind by it.
pub(super) struct SessionBuilder<'a> {
    /// The settings with those of the project in the workspace.
    pub app: App,
    pub id: SessionId,
    pub options: EngineOptions,
    pub store: &'a Store,
    pub(super) workspace: &'a Path,
}

impl<'a> SessionBuilder<'a> {
    pub(super) fn new(
        app: &App,
        store: &'a Store,
        id: SessionId,
        workspace: &'a Path,
    ) -> anyhow::Result<Self> {
        let app = app.in_workspace(workspace, Some(store))?;
        let mut options = app.engine_options();
        options.save_decision = app.decision_saver(store);
        Ok(Self { app, id, options, store, workspace })
    }

    /// Adds what tasks of agents need.
    pub(super) async fn equip(&mut self, models: &SessionModels) -> anyhow::Result<()> {
        let Self { app, id, options, store, workspace } = self;
        models.equip_session(app, store, id, workspace, options).await
    }

    /// The events that every new session begins with.
    pub(super) fn created_events(
        &self,
        title: String,
        goal: Option<String>,
        plan_file: Option<String>,
    ) -> Vec<Event> {
        let created = SessionEvent::Created {
            format: FORMAT,
            program: PROGRAM.to_owned(),
            title,
            goal,
            workspace: self.workspace.to_string_lossy().into_owned(),
            plan_file,
        };
        let opened = SessionEvent::Opened { program: PROGRAM.to_owned(), pid: std::process::id() };
        vec![created.into(), opened.into()]
    }

    /// Makes the session of its first events and starts working on it.
    pub(super) fn create(self, first: Vec<Event>) -> anyhow::Result<SessionHandle> {
        let Self { id, options, store, .. } = self;
        let created_at = (options.clock)();
        let (state, batch) = engine::first_batch(&id, SessionState::default(), first, created_at)?;
        let summary = batch.summary.clone().unwrap_or_default();
        let new = NewSession { id, created_at, format: FORMAT, parent: None, summary };
        let journal = store.begin_session(new, batch)?;
        let mut handle = engine::start_new_session(journal, state, options);
        super::inbox::forward_answers(store, &mut handle);
        Ok(handle)
    }
}

/// An id that no other session has. Ids sort by the time they were made.
pub(super) fn new_session_id() -> SessionId {
    SessionId::from_uuid(uuid::Uuid::now_v7())
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
