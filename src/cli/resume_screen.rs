//! Going on with a saved session. Its screen comes at once, from what the store holds; the lease, the engine and what an
//! interrupted run left behind follow while it is looked at, and requests wait for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::detached_runs::continue_detached;
use super::run_outputs::RunOutputs;
use super::session::{
    ResumeRequest, block_on, close_reason, close_session, is_detached, print_summary,
    resume_shown_session, show_or_follow, spawn_flag_answers,
};
use super::{CliExit, SharedArgs, screen_process};
use crate::app::session_actions::session_bookmarks;
use crate::app::{self, App, ReadyPlan, ResumeOptions};
use crate::headless::PresetAnswers;
use planwright_engine::{SessionChannel, SessionHandle};
use planwright_model::SessionId;
use planwright_model::event::Command;
use planwright_state::replay::History;
use planwright_state::{SessionState, TaskStatus};
use planwright_store::Store;
use planwright_store::journal_source::JournalSource;
use planwright_tui::{self as tui, EventBookmark, SessionView};

/// How long one waits without a word.
const QUIET_WAIT: Duration = Duration::from_millis(500);

/// What the person wants beside going on.
#[derive(Debug, Default)]
pub(super) struct ResumeChanges {
    /// To run somewhere else from now on.
    pub(super) workspace: Option<PathBuf>,
    /// Another plan for the rest.
    pub(super) revision: Option<ReadyPlan>,
    pub(super) retries_failed: bool,
    pub(super) answers: PresetAnswers,
}

/// Goes on with the session that the person named.
pub(super) fn resume_named_session(
    shared: &SharedArgs,
    app: &App,
    name: &str,
    requests: ResumeChanges,
) -> anyhow::Result<CliExit> {
    // Looking first keeps a mistyped name from making a store.
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(name)) };
    let id = app::find_session(&store, name)?;
    let snapshot = if shared.headless || shared.plain {
        drop(store);
        None
    } else {
        SessionSnapshot::read(store, &id, requests.workspace.as_deref())
    };
    block_on(async {
        let Some(snapshot) = snapshot else {
            let store = app.open_store()?;
            let (handle, request) =
                resume_with_changes(shared, app, &store, &id, requests, None).await?;
            return show_or_follow(shared, app, &store, handle, request).await;
        };
        Box::pin(show_then_attach(shared, app, id, snapshot, requests)).await
    })
}

/// What a screen needs of a session, read through one connection.
struct SessionSnapshot {
    history: History,
    state: Arc<SessionState>,
    bookmarks: Vec<EventBookmark>,
}

impl SessionSnapshot {
    /// Reads a session that can be taken up as far as anyone can tell without doing it. `None` has it taken up first:
    /// what is wrong is then said without a screen that comes and goes.
    fn read(store: Store, id: &SessionId, workspace: Option<&Path>) -> Option<Self> {
        let info = store.session_info(id).ok()?;
        if store.lease_holder(id).ok()?.is_some() || info.imported.is_some() || info.is_empty() {
            return None;
        }
        let bookmarks = session_bookmarks(&store, id).ok()?;
        let reader = store.into_reader().ok()?;
        let mut history = History::new(JournalSource::new(reader, id.clone()));
        let head = history.head_seq().ok()?;
        let state = history.state_at(head).ok()?;
        let place = workspace.unwrap_or(Path::new(&state.session.workspace));
        place.is_dir().then_some(Self { history, state, bookmarks })
    }
}

/// Shows a session, and takes it up meanwhile.
async fn show_then_attach(
    shared: &SharedArgs,
    app: &App,
    id: SessionId,
    snapshot: SessionSnapshot,
    mut requests: ResumeChanges,
) -> anyhow::Result<CliExit> {
    let settings = app.watched_settings(shared)?;
    let SessionSnapshot { history, state, bookmarks } = snapshot;
    let line = SessionChannel::new(state.seq);
    let view = SessionView {
        bookmarks,
        actions: Some(app.session_actions()?),
        commands: Some(line.commands()),
        detaches: screen_process::has_waiting_parent(),
        ..SessionView::new(id.clone(), history, line.head())
    };
    let commands = line.commands();
    let answers = std::mem::take(&mut requests.answers);
    let (own_shared, own_app) = (shared.clone(), app.clone());
    let taking = async move {
        let work = async move {
            let store = own_app.open_store()?;
            let shown = Some((state, line));
            let (handle, _) =
                resume_with_changes(&own_shared, &own_app, &store, &id, requests, shown).await?;
            anyhow::Ok((store, handle))
        };
        tokio::spawn(work).await.context("taking up the session")?
    };
    let showing = tui::run_session(view, &settings);
    tokio::pin!(showing, taking);
    let (store, handle, shown) = tokio::select! {
        // The screen is polled first, and that draws it: nothing that follows holds it up.
        biased;
        shown = &mut showing => {
            // Whoever takes it up finds this first, and starts nothing. Where it is gone already, nothing starts either.
            if !is_detached(&shown) {
                let _ = commands.try_send(Command::Close { why: close_reason(&shown) });
            }
            drop(commands);
            let Some(taken) = wait_or_interrupt(taking).await else {
                return Ok(CliExit::for_signal("SIGINT"));
            };
            let (store, handle) = taken?;
            (store, handle, shown)
        }
        // An error ends the screen with this function, before it is printed.
        taken = &mut taking => {
            let (store, handle) = taken?;
            drop(commands);
            let flags = spawn_flag_answers(&store, &handle, answers)?;
            let shown = showing.await;
            drop(flags);
            (store, handle, shown)
        }
    };
    if is_detached(&shown) {
        print_summary(&shown);
        return continue_detached(&store, handle, RunOutputs::default(), None).await;
    }
    let (exit, made) = close_session(&store, handle, shown).await?;
    if let Some(made) = made {
        let (handle, _) = app.resume_session(&store, &made, ResumeOptions::view_only()).await?;
        return show_or_follow(shared, app, &store, handle, ResumeRequest::default()).await;
    }
    store.close();
    Ok(exit)
}

/// Waits for something that another process may hold up, and says so; `None` if the person has enough of it.
async fn wait_or_interrupt<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(work);
    let told = tokio::time::timeout(QUIET_WAIT, &mut work).await;
    if let Ok(done) = told {
        return Some(done);
    }
    super::eprint_line("waiting for another process that writes to the store; Ctrl-C leaves");
    tokio::select! {
        done = work => Some(done),
        _ = tokio::signal::ctrl_c() => None,
    }
}

/// Takes a session up and passes on what the person wants of it.
async fn resume_with_changes(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    id: &SessionId,
    requests: ResumeChanges,
    shown: Option<(Arc<SessionState>, SessionChannel)>,
) -> anyhow::Result<(SessionHandle, ResumeRequest)> {
    let workspace = requests.workspace.as_deref();
    let (handle, state) = resume_shown_session(shared, app, store, id, workspace, shown).await?;
    let mut request = ResumeRequest::from(requests.answers);
    if let Some(ready) = requests.revision {
        let revise = Command::Revise {
            plan: ready.plan.into(),
            facts: ready.facts.into(),
            normalization: ready.normalization,
        };
        crate::session_commands::send_command(&handle.commands, revise).await;
        request.replaces = Some(shared.yes);
    }
    if requests.retries_failed {
        for (task, _) in state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Failed) {
            request.restarts = true;
            let again = Command::RetryTask { task: task.clone(), with_dependents: false };
            crate::session_commands::send_command(&handle.commands, again).await;
        }
    }
    Ok((handle, request))
}
