//! `planwright` alone: the saved sessions, to open one.

use super::session::{attend, block_on, needs_screen};
use anyhow::Context;

use super::{Exit, Shared};
use crate::app::planning::{GoalWish, check_goal};
use crate::app::{self, App};
use crate::engine::resume::TakeUp;
use crate::headless::Answers;
use crate::model::SessionId;
use crate::state::{SessionState, SessionStatus};
use crate::store::{SessionInfo, Store, StoreError};
use crate::tui::{self, ExitReason, HomeExit, HomeView, ListItem, SessionView, UiSettings};

pub(super) fn home(shared: &Shared) -> anyhow::Result<Exit> {
    needs_screen(shared)?;
    if shared.headless {
        return super::sessions::list(shared, None);
    }
    let app = App::settings_only(shared)?;
    let settings = app.ui_settings()?;
    let mut message = None;
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
            let view = HomeView { items, provider, message: message.take(), ..HomeView::default() };
            match tui::run_home(view, &settings).await? {
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
                HomeExit::Open(id) => match open(shared, &app, &settings, &id).await? {
                    ExitReason::BackToList => {}
                    ExitReason::Signal(signal) => return Ok(Exit::for_signal(signal)),
                    _ => return Ok(Exit::Success),
                },
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

/// Opens a session the way its state asks for: a finished one in replay, another live, one that somebody else runs to watch.
async fn open(
    shared: &Shared,
    app: &App,
    settings: &UiSettings,
    id: &SessionId,
) -> anyhow::Result<ExitReason> {
    let store = app.open_store()?;
    let status = SessionStatus::from_word(&store.session(id)?.summary.status);
    if matches!(status, Some(SessionStatus::Done | SessionStatus::Abandoned)) {
        return look(&store, settings, id, None).await;
    }
    // Opening is looking: nothing starts before the person says so.
    match app.take_up(&store, id, TakeUp::Look, None, true).await {
        Ok(handle) => {
            attend(shared, app, &store, handle, Answers::default().into()).await?;
            Ok(ExitReason::BackToList)
        }
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::Held { holder, .. }) => {
                let who = holder.as_ref().map_or_else(
                    || "another process".to_owned(),
                    |holder| format!("process {}", holder.pid),
                );
                let note = format!("{who} runs it, watching");
                look(&store, settings, id, Some(note)).await
            }
            _ => Err(error),
        },
    }
}

async fn look(
    store: &Store,
    settings: &UiSettings,
    id: &SessionId,
    note: Option<String>,
) -> anyhow::Result<ExitReason> {
    let view = SessionView {
        id: id.clone(),
        history: app::history(store, id)?,
        head: app::follow(store, id)?,
        bookmarks: Vec::new(),
        commands: None,
        start_at: None,
        note,
    };
    Ok(app::show(view, settings).await?.reason)
}
