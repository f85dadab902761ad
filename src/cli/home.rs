//! `planwright` alone: the saved sessions, to open one.

use std::sync::Arc;

use anyhow::Context;

use super::session::{attend, block_on, needs_screen};
use super::{Exit, Shared};
use crate::app::desk::{bookmarks, comparison};
use crate::app::planning::{GoalWish, check_goal};
use crate::app::{self, App};
use crate::engine::resume::TakeUp;
use crate::headless::Answers;
use crate::model::{Seq, SessionId};
use crate::replay::library::Search;
use crate::state::{SessionState, SessionStatus};
use crate::store::{SessionInfo, Store, StoreError, WordQuery};
use crate::tui::{self, ExitReason, Found, HomeExit, HomeView, ListItem, SessionView, UiSettings};

/// How many steps a search on the screen brings.
const HITS: usize = 200;

pub(super) fn home(shared: &Shared) -> anyhow::Result<Exit> {
    needs_screen(shared)?;
    if shared.headless {
        return super::sessions::list(shared, None);
    }
    let app = App::settings_only(shared)?;
    let settings = app.ui_settings()?;
    let desk = app.desk()?;
    let (mut message, mut found) = (None, None);
    block_on(async {
        loop {
            let items = match app.read_store()? {
                Some(store) => store.list_sessions()?.into_iter().map(item).collect(),
                None => Vec::new(),
            };
            let drafter = app.drafter(&SessionState::default(), true);
            let provider = if drafter.is_offline() {
                "offline planner, no model in use; `planwright doctor` says how to set one up"
                    .to_owned()
            } else {
                format!("{}: {}", drafter.name, drafter.why)
            };
            let view = HomeView {
                items,
                provider,
                message: message.take(),
                found: found.take(),
                ..HomeView::default()
            };
            let mut next = tui::run_home(view, &settings).await?;
            // A screen that made a fork leads to it.
            while let Some((left, made)) = opened(shared, &app, &settings, &next).await? {
                next = match (left, made) {
                    (_, Some(made)) => HomeExit::Open(made),
                    (ExitReason::BackToList, None) => break,
                    (ExitReason::Signal(signal), None) => return Ok(Exit::for_signal(signal)),
                    _ => return Ok(Exit::Success),
                };
            }
            match next {
                // Shown already, and left again.
                HomeExit::Open(_) | HomeExit::OpenAt(..) | HomeExit::Fork(_) => {}
                HomeExit::Search(words) => {
                    let store = app.open_store()?;
                    let search =
                        Search { words: WordQuery::of(&words), limit: HITS, ..Search::default() };
                    found = Some(Found { hits: search.run(&store.reader()?)?, words });
                }
                HomeExit::Compare(a, b) => {
                    let store = app.open_store()?;
                    match comparison(&store, &a, &b) {
                        Ok(view) => {
                            let left = tui::run_compare(view, Arc::clone(&desk), &settings).await?;
                            match left {
                                ExitReason::BackToList => {}
                                ExitReason::Signal(signal) => return Ok(Exit::for_signal(signal)),
                                _ => return Ok(Exit::Success),
                            }
                        }
                        Err(error) => message = Some(error.to_string()),
                    }
                }
                HomeExit::Plan(goal) => {
                    if let Err(problem) = check_goal(&goal) {
                        message = Some(problem.to_string());
                        continue;
                    }
                    let store = app.open_store()?;
                    let here = std::env::current_dir().context("finding the current directory")?;
                    let wish = GoalWish { goal, ..GoalWish::default() };
                    let handle = app.start_goal(&store, &wish, &here, true).await?;
                    attend(shared, &app, &store, handle, Answers::default().into()).await?;
                }
                HomeExit::Remove(id) => {
                    let store = app.open_store()?;
                    message = Some(match store.remove(&id) {
                        Ok(_) => format!("session {} is removed", id.short()),
                        Err(error) => error.to_string(),
                    });
                }
                HomeExit::Quit | HomeExit::TerminalGone => return Ok(Exit::Success),
                HomeExit::Signal(signal) => return Ok(Exit::for_signal(signal)),
            }
        }
    })
}

fn item(info: SessionInfo) -> ListItem {
    ListItem {
        id: info.id,
        title: info.summary.title,
        status: SessionStatus::from_word(&info.summary.status).unwrap_or(SessionStatus::Planning),
        done: info.summary.done,
        total: info.summary.total,
        cost: info.summary.cost,
        updated_at: info.updated_at,
        pattern: info.summary.pattern,
        bytes: None,
        fork_of: info.parent.map(|point| (point.session, point.seq)),
        detail: match info.summary.open_requests {
            0 => None,
            1 => Some("1 request waits for you".to_owned()),
            count => Some(format!("{count} requests wait for you")),
        },
    }
}

/// Opens what the person chose, if it is a session, and says how it was left and which fork was made there.
async fn opened(
    shared: &Shared,
    app: &App,
    settings: &UiSettings,
    chosen: &HomeExit,
) -> anyhow::Result<Option<(ExitReason, Option<SessionId>)>> {
    let store = || app.open_store();
    Ok(Some(match chosen {
        HomeExit::Open(id) => open(shared, app, settings, id).await?,
        HomeExit::OpenAt(id, seq) => {
            let at = Place { start_at: Some(*seq), ..Place::default() };
            look(app, &store()?, settings, id, at).await?
        }
        HomeExit::Fork(id) => {
            let at = Place { asks_fork: true, ..Place::default() };
            look(app, &store()?, settings, id, at).await?
        }
        _ => return Ok(None),
    }))
}

/// Where and how a session is looked at.
#[derive(Default)]
struct Place {
    start_at: Option<Seq>,
    asks_fork: bool,
    note: Option<String>,
}

/// Opens a session the way its state asks for: a finished one in replay, another live, one that somebody else runs to watch.
async fn open(
    shared: &Shared,
    app: &App,
    settings: &UiSettings,
    id: &SessionId,
) -> anyhow::Result<(ExitReason, Option<SessionId>)> {
    let store = app.open_store()?;
    let info = store.session(id)?;
    let status = SessionStatus::from_word(&info.summary.status);
    let over = matches!(status, Some(SessionStatus::Done | SessionStatus::Abandoned));
    // What was approved elsewhere counts for nothing here, so that an import can only be looked at and forked.
    if over || info.imported.is_some() {
        return look(app, &store, settings, id, Place::default()).await;
    }
    // Opening is looking: nothing starts before the person says so.
    match app.take_up(&store, id, TakeUp::Look, None, true).await {
        Ok(handle) => {
            attend(shared, app, &store, handle, Answers::default().into()).await?;
            Ok((ExitReason::BackToList, None))
        }
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::Held { holder, .. }) => {
                let who = holder.as_ref().map_or_else(
                    || "another process".to_owned(),
                    |holder| format!("process {}", holder.pid),
                );
                let note = format!("{who} runs it, watching");
                let place = Place { note: Some(note), ..Place::default() };
                look(app, &store, settings, id, place).await
            }
            _ => Err(error),
        },
    }
}

async fn look(
    app: &App,
    store: &Store,
    settings: &UiSettings,
    id: &SessionId,
    place: Place,
) -> anyhow::Result<(ExitReason, Option<SessionId>)> {
    let view = SessionView {
        id: id.clone(),
        history: app::history(store, id)?,
        head: app::follow(store, id)?,
        bookmarks: bookmarks(store, id)?,
        desk: Some(app.desk()?),
        asks_fork: place.asks_fork,
        commands: None,
        start_at: place.start_at,
        note: place.note,
    };
    let exit = app::show(view, settings).await?;
    Ok((exit.reason, exit.open))
}
