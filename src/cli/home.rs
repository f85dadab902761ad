//! `planwright` alone: the saved sessions, what is due today, and a box for a goal.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anyhow::Context;
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::session::{attend, block_on, needs_screen, take_up};
use super::{Exit, Shared};
use crate::app::desk::{bookmarks, comparison};
use crate::app::planning::{GoalWish, check_goal};
use crate::app::{self, App, Taking, today};
use crate::headless::Answers;
use planwright_model::{MicroDollars, Seq, SessionId};
use planwright_state::replay::{History, MemorySource};
use planwright_state::{SessionState, SessionStatus};
use planwright_store::exchange::bundled;
use planwright_store::replay_library::Search;
use planwright_store::replay_spending::{self as spending, Spending};
use planwright_store::{SessionInfo, Store, StoreError, WordQuery};
use planwright_text::units;
use planwright_tui::{
    self as tui, ExitReason, Found, HomeExit, HomeFeed, HomeView, HomeWish, ListItem, SessionView,
    UiSettings,
};

/// What the first start says about planning without a model.
pub const OFFLINE_HELP: [&str; 2] = [
    "The offline planner needs no key and no network; it plans from templates.",
    "For a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama, or write provider and model with  planwright config init.",
];

/// How many steps a search on the screen brings.
const HITS: usize = 200;

pub(super) fn home(shared: &Shared) -> anyhow::Result<Exit> {
    needs_screen(shared)?;
    if shared.plain {
        // Lines instead of a screen: what is due, what is saved, and how to go on.
        super::today::list_all(shared)?;
        super::sessions::list(shared, None)?;
        let next = "planwright --plain \"your goal\" plans; planwright --plain resume ID goes on";
        super::Out::new().line(next)?;
        return Ok(Exit::Success);
    }
    if shared.headless {
        return super::sessions::list(shared, None);
    }
    let app = Arc::new(App::settings_only(shared)?);
    app.check_screen(shared)?;
    block_on(async {
        let settings = app.watched_settings(shared)?;
        let (mut message, mut found, mut selected) = (None, None, None);
        loop {
            let view = HomeView {
                message: message.take(),
                found: found.take(),
                selected: selected.take(),
                ..view(&app)?
            };
            let mut next = tui::run_home(feed(&app, view), &settings).await?;
            // A screen that made a fork leads to it.
            loop {
                match opened(shared, &app, &settings, &next).await {
                    Ok(None | Some(Left::Back)) => break,
                    Ok(Some(Left::ForFork(made))) => next = HomeExit::Open(made),
                    Ok(Some(Left::End(exit))) => return Ok(exit),
                    Err(error) => {
                        message = Some(one_line(&error));
                        break;
                    }
                }
            }
            let done = match next {
                // Shown already, and left again.
                HomeExit::Open(id) | HomeExit::OpenAt(id, _) | HomeExit::Fork(id) => {
                    selected = Some(id);
                    Ok(None)
                }
                HomeExit::Search(words) => search(&app, words).map(|steps| {
                    found = Some(steps);
                    None
                }),
                HomeExit::Compare(a, b) => compared(&app, &settings, &a, &b).await,
                HomeExit::Plan(goal) => plan(shared, &app, goal).await,
                HomeExit::Demo => demo(&settings).await,
                HomeExit::Start(id) => start(shared, &app, &id).await,
                HomeExit::Quit | HomeExit::TerminalGone => Ok(Some(Exit::Success)),
                HomeExit::Signal(signal) => Ok(Some(Exit::for_signal(signal))),
            };
            match done {
                Ok(Some(exit)) => return Ok(exit),
                Ok(None) => {}
                // What went wrong is said where it was asked for.
                Err(error) => message = Some(one_line(&error)),
            }
        }
    })
}

/// How a session that was opened from here was left.
enum Left {
    /// Back to the list.
    Back,
    /// For the fork that was made there.
    ForFork(SessionId),
    /// For good.
    End(Exit),
}

impl Left {
    fn of(exit: tui::Exit) -> Self {
        match (exit.reason, exit.open) {
            (_, Some(made)) => Self::ForFork(made),
            (ExitReason::BackToList, None) => Self::Back,
            (ExitReason::Signal(signal), None) => Self::End(Exit::for_signal(signal)),
            (_, None) => Self::End(Exit::Success),
        }
    }
}

/// Only a signal ends the program from within a session: whatever became of that one, the list has others.
fn signalled(exit: Exit) -> Option<Exit> {
    matches!(exit, Exit::Signal(_)).then_some(exit)
}

/// Plans a goal and stays with it until the person leaves.
async fn plan(shared: &Shared, app: &App, goal: String) -> anyhow::Result<Option<Exit>> {
    check_goal(&goal)?;
    let store = app.open_store()?;
    let here = std::env::current_dir().context("finding the current directory")?;
    let wish = GoalWish { goal, ..GoalWish::default() };
    let handle = app.start_goal(&store, &wish, &here, true).await?;
    attend(shared, app, &store, handle, Answers::default().into()).await.map(signalled)
}

/// Opens a session and lets its run go on.
async fn start(shared: &Shared, app: &App, id: &SessionId) -> anyhow::Result<Option<Exit>> {
    let store = app.open_store()?;
    let handle = take_up(shared, app, &store, id, None).await?;
    attend(shared, app, &store, handle, Answers::default().into()).await.map(signalled)
}

fn search(app: &App, words: String) -> anyhow::Result<Found> {
    let store = app.open_store()?;
    let search = Search { words: WordQuery::of(&words), limit: HITS, ..Search::default() };
    Ok(Found { hits: search.run(&store.reader()?)?, words })
}

async fn compared(
    app: &App,
    settings: &UiSettings,
    a: &SessionId,
    b: &SessionId,
) -> anyhow::Result<Option<Exit>> {
    let view = comparison(&app.open_store()?, a, b)?;
    Ok(match tui::run_compare(view, app.desk()?, settings).await? {
        ExitReason::BackToList => None,
        ExitReason::Signal(signal) => Some(Exit::for_signal(signal)),
        _ => Some(Exit::Success),
    })
}

/// An error as one line of the screen.
fn one_line(error: &anyhow::Error) -> String {
    let text: Vec<String> = error.chain().map(ToString::to_string).collect();
    text.join(": ").replace('\n', " ")
}

/// Everything that is there to see.
fn view(app: &App) -> anyhow::Result<HomeView> {
    let drafter = app.drafter(&SessionState::default(), true);
    let mut view = HomeView { provider: provider(&drafter), ..HomeView::default() };
    view.provider_help = provider_help(&drafter);
    let Some(store) = app.read_store()? else { return Ok(view) };
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let open = today::open_sessions(&store)?;
    view.today = today::items(&open, now, &zone);
    view.next = today::next(&open, now, &zone);
    view.week = today::week(&open, now, &zone);
    view.items = store
        .list_sessions()?
        .into_iter()
        .filter(|info| !info.is_empty())
        .map(|info| {
            let state = open.iter().find(|(known, _)| known.id == info.id);
            item(info, state.map(|(_, state)| &**state), now)
        })
        .collect();
    if !drafter.is_offline() {
        let since = spending::day_start(now, &zone);
        let spent = Spending::since(since).total(&store.reader()?)?;
        let cap = MicroDollars::from_dollars(app.settings.models.daily_budget_usd.value);
        view.spent = Some((spent, cap));
    }
    Ok(view)
}

fn provider(drafter: &app::Drafter) -> String {
    if drafter.is_offline() {
        return "offline planner, no model in use".to_owned();
    }
    match &drafter.ask {
        Some(ask) => format!("offline planner; {} is set", ask.variable),
        None => drafter.name.clone(),
    }
}

/// What is in use and how to change it, once, for the first start.
fn provider_help(drafter: &app::Drafter) -> Vec<String> {
    if let Some(ask) = &drafter.ask {
        return vec![
            format!(
                "{} is set. Nothing was sent to {}; the first plan asks whether to use it.",
                ask.variable, ask.provider
            ),
            "Until you say yes the offline planner is in use.".to_owned(),
        ];
    }
    if !drafter.is_offline() {
        return vec![
            format!("{} drafts, because {}.", drafter.name, drafter.why),
            "To plan without a model: --provider offline.".to_owned(),
        ];
    }
    OFFLINE_HELP.map(str::to_owned).to_vec()
}

/// Opens the way for wishes: they are carried out one after the other, and what became of them is shown.
fn feed(app: &Arc<App>, first: HomeView) -> HomeFeed {
    let (sender, latest) = watch::channel(Arc::new(first));
    let (wishes, mut wanted) = mpsc::unbounded_channel();
    let app = Arc::clone(app);
    tokio::spawn(async move {
        // Sizes take a look at every event; nobody waits for them.
        let mut bytes = sizes(&app).unwrap_or_default();
        if !bytes.is_empty() {
            let mut view = HomeView::clone(&sender.borrow());
            measure(&mut view, &bytes);
            view.message = None;
            sender.send_replace(Arc::new(view));
        }
        while let Some(wish) = wanted.recv().await {
            let removes = matches!(wish, HomeWish::Remove(_));
            // A panic here must not end the task: nobody awaits it, and every later wish would wait for ever.
            let message = match AssertUnwindSafe(fulfil(&app, wish)).catch_unwind().await {
                Ok(Ok(message)) => message,
                Ok(Err(error)) => one_line(&error),
                Err(_) => {
                    "that failed with an internal error; nothing else was affected".to_owned()
                }
            };
            if removes {
                bytes = sizes(&app).unwrap_or(bytes);
            }
            let mut next = match view(&app) {
                Ok(view) => view,
                Err(_) => HomeView::clone(&sender.borrow()),
            };
            measure(&mut next, &bytes);
            next.message = Some(message);
            sender.send_replace(Arc::new(next));
        }
    });
    HomeFeed { wishes, latest }
}

type Sizes = std::collections::BTreeMap<SessionId, u64>;

fn sizes(app: &App) -> anyhow::Result<Sizes> {
    Ok(match app.read_store()? {
        Some(store) => store.session_bytes()?,
        None => Sizes::new(),
    })
}

fn measure(view: &mut HomeView, bytes: &Sizes) {
    for item in &mut view.items {
        item.bytes = bytes.get(&item.id).copied();
    }
}

async fn fulfil(app: &App, wish: HomeWish) -> anyhow::Result<String> {
    let store = app.open_store()?;
    let said = match wish {
        HomeWish::Remove(id) => {
            store.remove(&id)?;
            format!("session {} is removed", id.short())
        }
        HomeWish::Command { session, command } => {
            app.tell(&store, &session, command).await?;
            let summary = store.session(&session)?.summary;
            format!("{}: {} of {} done", summary.title, summary.done, summary.total)
        }
    };
    store.close();
    Ok(said)
}

fn item(info: SessionInfo, state: Option<&SessionState>, now: Timestamp) -> ListItem {
    let status = SessionStatus::from_word(&info.summary.status).unwrap_or(SessionStatus::Planning);
    ListItem {
        id: info.id,
        title: info.summary.title,
        status,
        done: info.summary.done,
        total: info.summary.total,
        cost: info.summary.cost,
        updated_at: info.updated_at,
        pattern: info.summary.pattern,
        bytes: None,
        fork_of: info.parent.map(|point| (point.session, point.seq)),
        detail: state.and_then(|state| detail(state, status, now)),
        facts: state.map(facts).unwrap_or_default(),
    }
}

/// The second line of a row: what is open in it.
fn detail(state: &SessionState, status: SessionStatus, now: Timestamp) -> Option<String> {
    if let Some(oldest) = state.requests.oldest() {
        let task = oldest.request.task.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
        let count = state.requests.open.len();
        let more = if count > 1 { format!(", {count} requests") } else { String::new() };
        let waits = match units::age(now.duration_since(oldest.asked_at).unsigned_abs()).as_str() {
            "now" => "just asked".to_owned(),
            age => format!("waits {age}"),
        };
        return Some(format!("{task}{}{more}, {waits}", oldest.request.question));
    }
    let revision = state.plan.current.as_ref().map_or(1, |current| current.revision);
    match status {
        SessionStatus::Held => {
            Some(format!("r{revision} is approved and not begun; Enter opens it, P runs it"))
        }
        SessionStatus::Interrupted => Some("interrupted; Enter opens it, P goes on".to_owned()),
        _ => None,
    }
}

/// What else there is to know about a session, a line each.
fn facts(state: &SessionState) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(current) = &state.plan.current {
        facts.push(format!("r{} {}", current.revision, current.hash.short()));
    }
    let counts = state.tasks.counts();
    let mut run = format!("{} {}/{}", state.status().word(), counts.done, counts.total());
    for (count, word) in [(counts.failed, "failed"), (counts.skipped, "skipped")] {
        if count > 0 {
            run = format!("{run}, {count} {word}");
        }
    }
    facts.push(run);
    if let Some(finish) =
        state.planning.schedule.as_deref().and_then(planwright_model::Schedule::finish)
    {
        let finish = finish.at.to_zoned(crate::config::time_zone());
        facts.push(format!("planned until {}", finish.strftime("%a %-d %B")));
    }
    facts
}

/// Opens what the person chose, if it is a session, and says how it was left and which fork was made there.
async fn opened(
    shared: &Shared,
    app: &App,
    settings: &UiSettings,
    chosen: &HomeExit,
) -> anyhow::Result<Option<Left>> {
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
) -> anyhow::Result<Left> {
    let store = app.open_store()?;
    let info = store.session(id)?;
    let status = SessionStatus::from_word(&info.summary.status);
    let over = matches!(status, Some(SessionStatus::Done | SessionStatus::Abandoned));
    // What was approved elsewhere counts for nothing here, so that an import can only be looked at and forked.
    if over || info.imported.is_some() {
        return look(app, &store, settings, id, Place::default()).await;
    }
    // Opening is looking: nothing starts before the person says so.
    match app.take_up(&store, id, Taking::to_look()).await {
        Ok((handle, _)) => {
            let exit = attend(shared, app, &store, handle, Answers::default().into()).await?;
            Ok(signalled(exit).map_or(Left::Back, Left::End))
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
) -> anyhow::Result<Left> {
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
    app::show(view, settings).await.map(Left::of)
}

/// The bundled run, from its start.
async fn demo(settings: &UiSettings) -> anyhow::Result<Option<Exit>> {
    let (id, records) = bundled::run()?;
    let head = records.last().map_or(Seq::START, |record| record.seq);
    let start_at = super::demo::opening(&records);
    let view = SessionView {
        id,
        history: History::new(MemorySource::new(records)),
        head: watch::channel(head).1,
        bookmarks: Vec::new(),
        desk: None,
        asks_fork: false,
        commands: None,
        start_at: Some(start_at),
        note: None,
    };
    super::demo::watch(view, settings).await.map(signalled)
}
