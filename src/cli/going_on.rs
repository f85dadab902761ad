//! Going on with a saved session. Its screen comes at once, from what the store holds; the lease, the engine and what an
//! interrupted run left behind follow while it is looked at, and wishes wait for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::session::{
    Errand, answering, attend, block_on, left, reason_of, take_up_shown, watch_all,
};
use super::{Exit, Shared};
use crate::app::desk::bookmarks;
use crate::app::{self, App, ReadyPlan, Taking};
use crate::headless::Answers;
use planwright_engine::{Line, SessionHandle};
use planwright_model::SessionId;
use planwright_model::event::Command;
use planwright_state::replay::History;
use planwright_state::{SessionState, TaskStatus};
use planwright_store::Store;
use planwright_store::replay_journal::JournalSource;
use planwright_tui::{self as tui, Bookmark, SessionView};

/// How long one waits without a word.
const SILENCE: Duration = Duration::from_millis(500);

/// What the person wants beside going on.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    /// To run somewhere else from now on.
    pub(super) workspace: Option<PathBuf>,
    /// Another plan for the rest.
    pub(super) revision: Option<ReadyPlan>,
    pub(super) retries_failed: bool,
    pub(super) answers: Answers,
}

/// Goes on with the session that the person named.
pub(super) fn go_on(
    shared: &Shared,
    app: &App,
    name: &str,
    wishes: Wishes,
) -> anyhow::Result<Exit> {
    // Looking first keeps a mistyped name from making a store.
    let Some(store) = app.read_store()? else { return Err(app::no_session(name)) };
    let id = app::find(&store, name)?;
    let glance = if shared.headless || shared.plain {
        drop(store);
        None
    } else {
        Glance::at(store, &id, wishes.workspace.as_deref())
    };
    block_on(async {
        let Some(glance) = glance else {
            let store = app.open_store()?;
            let (handle, errand) = begin(shared, app, &store, &id, wishes, None).await?;
            return attend(shared, app, &store, handle, errand).await;
        };
        Box::pin(at_once(shared, app, id, glance, wishes)).await
    })
}

/// What a screen needs of a session, read through one connection.
struct Glance {
    history: History,
    state: Arc<SessionState>,
    bookmarks: Vec<Bookmark>,
}

impl Glance {
    /// Reads a session that can be taken up as far as anyone can tell without doing it. `None` has it taken up first:
    /// what is wrong is then said without a screen that comes and goes.
    fn at(store: Store, id: &SessionId, workspace: Option<&Path>) -> Option<Self> {
        let info = store.session(id).ok()?;
        if store.holder(id).ok()?.is_some() || info.imported.is_some() || info.is_empty() {
            return None;
        }
        let bookmarks = bookmarks(&store, id).ok()?;
        let reader = store.into_reader().ok()?;
        let mut history = History::new(JournalSource::new(reader, id.clone()));
        let head = history.head().ok()?;
        let state = history.state_at(head).ok()?;
        let place = workspace.unwrap_or(Path::new(&state.session.workspace));
        place.is_dir().then_some(Self { history, state, bookmarks })
    }
}

/// Shows a session, and takes it up meanwhile.
async fn at_once(
    shared: &Shared,
    app: &App,
    id: SessionId,
    glance: Glance,
    mut wishes: Wishes,
) -> anyhow::Result<Exit> {
    let settings = app.watched_settings(shared)?;
    let Glance { history, state, bookmarks } = glance;
    let line = Line::new(state.seq);
    let view = SessionView {
        id: id.clone(),
        history,
        head: line.head(),
        bookmarks,
        desk: Some(app.desk()?),
        asks_fork: false,
        commands: Some(line.commands()),
        start_at: None,
        note: None,
    };
    let commands = line.commands();
    let answers = std::mem::take(&mut wishes.answers);
    let (own_shared, own_app) = (shared.clone(), app.clone());
    let taking = async move {
        let work = async move {
            let store = own_app.open_store()?;
            let shown = Some((state, line));
            let (handle, _) = begin(&own_shared, &own_app, &store, &id, wishes, shown).await?;
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
            // Whoever takes it up finds this first, and starts nothing.
            let _ = commands.try_send(Command::Close { why: reason_of(&shown) });
            drop(commands);
            let Some(taken) = unless_interrupted(taking).await else {
                return Ok(Exit::for_signal("SIGINT"));
            };
            let (store, handle) = taken?;
            (store, handle, shown)
        }
        // An error ends the screen with this function, before it is printed.
        taken = &mut taking => {
            let (store, handle) = taken?;
            drop(commands);
            let flags = answering(&store, &handle, answers)?;
            let shown = showing.await;
            drop(flags);
            (store, handle, shown)
        }
    };
    let (mut exit, made) = left(&store, handle, shown).await?;
    if let Some(made) = made {
        let (handle, _) = app.take_up(&store, &made, Taking::to_look()).await?;
        exit = watch_all(shared, app, &store, handle, Answers::default()).await?;
    }
    store.close();
    Ok(exit)
}

/// Waits for something that another process may hold up, and says so; `None` if the person has enough of it.
async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(work);
    let told = tokio::time::timeout(SILENCE, &mut work).await;
    if let Ok(done) = told {
        return Some(done);
    }
    super::tell("waiting for another process that writes to the store; Ctrl-C leaves");
    tokio::select! {
        done = work => Some(done),
        _ = tokio::signal::ctrl_c() => None,
    }
}

/// Takes a session up and passes on what the person wants of it.
async fn begin(
    shared: &Shared,
    app: &App,
    store: &Store,
    id: &SessionId,
    wishes: Wishes,
    shown: Option<(Arc<SessionState>, Line)>,
) -> anyhow::Result<(SessionHandle, Errand)> {
    let workspace = wishes.workspace.as_deref();
    let (handle, state) = take_up_shown(shared, app, store, id, workspace, shown).await?;
    let mut errand = Errand::from(wishes.answers);
    if let Some(ready) = wishes.revision {
        let _ = handle
            .commands
            .send(Command::Revise {
                plan: ready.plan.into(),
                facts: ready.facts.into(),
                normalization: ready.normalization,
            })
            .await;
        errand.replaces = Some(shared.yes);
    }
    if wishes.retries_failed {
        for (task, _) in state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Failed) {
            errand.restarts = true;
            let again = Command::RetryTask { task: task.clone(), with_dependents: false };
            let _ = handle.commands.send(again).await;
        }
    }
    Ok((handle, errand))
}
