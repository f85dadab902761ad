//! `planwright` alone: the saved sessions, what is due today, and a box for a goal.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anyhow::Context;
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::session::{block_on, require_screen, resume_session, show_or_follow};
use super::{CliExit, SharedArgs};
use crate::app::planning::{GoalRequest, check_goal};
use crate::app::session_actions::{compare_sessions, session_bookmarks};
use crate::app::{self, App, ResumeOptions, today};
use crate::diagnostics::leave_out_quotes;
use crate::headless::PresetAnswers;
use planwright_model::{MicroDollars, Seq, SessionId};
use planwright_state::replay::{History, MemorySource};
use planwright_state::{SessionState, SessionStatus};
use planwright_store::exchange::demo_run;
use planwright_store::spending::{self as spending, SpendingTotals};
use planwright_store::step_search::StepSearch;
use planwright_store::{SessionInfo, Store, StoreError, WordQuery};
use planwright_text::{dates, units};
use planwright_tui::{
    self as tui, ExitReason, HomeChannels, HomeExit, HomeRequest, HomeView, SearchResults,
    SessionListItem, SessionView, UiSettings,
};

/// What the first start says about planning without a model.
pub const OFFLINE_HELP: [&str; 2] = [
    "The offline planner needs no key and no network; it plans from templates.",
    "For a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama, or write provider and model with  planwright config init.",
];

/// How many requests of the screen may wait. Each comes from a key press and takes milliseconds to carry out; a key that is
/// held down repeats about thirty times a second, so this is two seconds of it while the store is busy.
const WAITING_REQUESTS: usize = 64;

/// How many steps a search on the screen brings.
const HITS: usize = 200;

pub(super) fn execute_home(shared: &SharedArgs) -> anyhow::Result<CliExit> {
    require_screen(shared)?;
    if shared.plain {
        // Lines instead of a screen: what is due, what is saved, and how to go on.
        super::today::print_due(shared)?;
        super::sessions::list_sessions(shared, None)?;
        let next = "planwright --plain \"your goal\" plans; planwright --plain resume ID goes on";
        super::StdoutWriter::new().write_line(next)?;
        return Ok(CliExit::Success);
    }
    if shared.headless {
        return super::sessions::list_sessions(shared, None);
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
                ..load_view(&app)?
            };
            let mut next = tui::run_home(start_feed(&app, view), &settings).await?;
            // A screen that made a fork leads to it.
            loop {
                match open_chosen(shared, &app, &settings, &next).await {
                    Ok(None | Some(SessionReturn::Back)) => break,
                    Ok(Some(SessionReturn::ForFork(made))) => next = HomeExit::Open(made),
                    Ok(Some(SessionReturn::End(exit))) => return Ok(exit),
                    Err(error) => {
                        message = Some(error_line(&error));
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
                HomeExit::Search(words) => search_steps(&app, words).map(|steps| {
                    found = Some(steps);
                    None
                }),
                HomeExit::Compare(a, b) => show_comparison(&app, &settings, &a, &b).await,
                HomeExit::Plan(goal) => plan_goal(shared, &app, goal).await,
                HomeExit::Demo => show_demo(&settings).await,
                HomeExit::Start(id) => resume_and_show(shared, &app, &id).await,
                HomeExit::Quit | HomeExit::TerminalGone => Ok(Some(CliExit::Success)),
                HomeExit::Signal(signal) => Ok(Some(CliExit::for_signal(signal))),
            };
            match done {
                Ok(Some(exit)) => return Ok(exit),
                Ok(None) => {}
                // What went wrong is said where it was asked for.
                Err(error) => message = Some(error_line(&error)),
            }
        }
    })
}

/// How a session that was opened from here was left.
enum SessionReturn {
    /// Back to the list.
    Back,
    /// For the fork that was made there.
    ForFork(SessionId),
    /// For good.
    End(CliExit),
}

impl SessionReturn {
    fn from_exit(exit: tui::SessionExit) -> Self {
        match (exit.reason, exit.open) {
            (_, Some(made)) => Self::ForFork(made),
            (ExitReason::BackToList, None) => Self::Back,
            (ExitReason::Signal(signal), None) => Self::End(CliExit::for_signal(signal)),
            (_, None) => Self::End(CliExit::Success),
        }
    }
}

/// Only a signal ends the program from within a session: whatever became of that one, the list has others.
fn signal_exit(exit: CliExit) -> Option<CliExit> {
    matches!(exit, CliExit::Signal(_)).then_some(exit)
}

/// Plans a goal and stays with it until the person leaves.
async fn plan_goal(
    shared: &SharedArgs,
    app: &App,
    goal: String,
) -> anyhow::Result<Option<CliExit>> {
    check_goal(&goal)?;
    let store = app.open_store()?;
    let here = std::env::current_dir().context("finding the current directory")?;
    let request = GoalRequest { goal, ..GoalRequest::default() };
    let handle = app.start_goal(&store, &request, &here, true).await?;
    show_or_follow(shared, app, &store, handle, PresetAnswers::default().into())
        .await
        .map(signal_exit)
}

/// Opens a session and lets its run go on.
async fn resume_and_show(
    shared: &SharedArgs,
    app: &App,
    id: &SessionId,
) -> anyhow::Result<Option<CliExit>> {
    let store = app.open_store()?;
    let handle = resume_session(shared, app, &store, id, None).await?;
    show_or_follow(shared, app, &store, handle, PresetAnswers::default().into())
        .await
        .map(signal_exit)
}

fn search_steps(app: &App, words: String) -> anyhow::Result<SearchResults> {
    let store = app.open_store()?;
    let search =
        StepSearch { words: WordQuery::parse(&words), limit: HITS, ..StepSearch::default() };
    Ok(SearchResults { hits: search.run(&store.reader()?)?, words })
}

async fn show_comparison(
    app: &App,
    settings: &UiSettings,
    a: &SessionId,
    b: &SessionId,
) -> anyhow::Result<Option<CliExit>> {
    let view = compare_sessions(&app.open_store()?, a, b)?;
    Ok(match tui::run_compare(view, app.session_actions()?, settings).await? {
        ExitReason::BackToList => None,
        ExitReason::Signal(signal) => Some(CliExit::for_signal(signal)),
        _ => Some(CliExit::Success),
    })
}

/// An error as one line of the screen.
fn error_line(error: &anyhow::Error) -> String {
    let text: Vec<String> = error.chain().map(ToString::to_string).collect();
    text.join(": ").replace('\n', " ")
}

/// Everything that is there to see.
fn load_view(app: &App) -> anyhow::Result<HomeView> {
    let drafter = app.select_models(&SessionState::default(), true);
    let mut view = HomeView { provider: provider_line(&drafter), ..HomeView::default() };
    view.provider_help = provider_help(&drafter);
    let Some(store) = app.read_store()? else { return Ok(view) };
    let (now, zone) = (Timestamp::now(), crate::config::time_zone());
    let open = today::open_sessions(&store)?;
    view.today = today::due_items(&open, now, &zone);
    view.next = today::next_due_item(&open, now, &zone);
    view.week = today::week_load(&open, now, &zone);
    view.items = store
        .list_sessions()?
        .into_iter()
        .filter(|info| !info.is_empty())
        .map(|info| {
            let state = open.iter().find(|(known, _)| known.id == info.id);
            list_item(info, state.map(|(_, state)| &**state), now)
        })
        .collect();
    if !drafter.is_offline() {
        let since = spending::day_start(now, &zone);
        let spent = SpendingTotals::starting_at(since).update_total(&store.reader()?)?;
        let cap = MicroDollars::from_dollars(app.settings.models.daily_budget_usd.value);
        view.spent = Some((spent, cap));
    }
    Ok(view)
}

fn provider_line(drafter: &app::SessionModels) -> String {
    if drafter.is_offline() {
        return "offline planner, no model in use".to_owned();
    }
    match &drafter.ask {
        Some(ask) => format!("offline planner; {} is set", ask.variable),
        None => drafter.name.clone(),
    }
}

/// What is in use and how to change it, once, for the first start.
fn provider_help(drafter: &app::SessionModels) -> Vec<String> {
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

/// Opens the way for requests: they are carried out one after the other, and what became of them is shown.
fn start_feed(app: &Arc<App>, first: HomeView) -> HomeChannels {
    let (sender, latest) = watch::channel(Arc::new(first));
    let (requests, mut received) = mpsc::channel(WAITING_REQUESTS);
    let app = Arc::clone(app);
    tokio::spawn(async move {
        // Sizes take a look at every event; nobody waits for them.
        let sizes = || {
            session_sizes(&app).inspect_err(|error| {
                tracing::debug!(error = %leave_out_quotes(&format!("{error:#}")), "sizes of sessions are unknown");
            })
        };
        let mut bytes = sizes().unwrap_or_default();
        if !bytes.is_empty() {
            let mut view = HomeView::clone(&sender.borrow());
            set_sizes(&mut view, &bytes);
            view.message = None;
            sender.send_replace(Arc::new(view));
        }
        while let Some(request) = received.recv().await {
            let removes = matches!(request, HomeRequest::Remove(_));
            // A panic here must not end the task: nobody awaits it, and every later request would wait for ever.
            let message =
                match AssertUnwindSafe(execute_request(&app, request)).catch_unwind().await {
                    Ok(Ok(message)) => message,
                    Ok(Err(error)) => error_line(&error),
                    Err(_) => {
                        "that failed with an internal error; nothing else was affected".to_owned()
                    }
                };
            if removes {
                bytes = sizes().unwrap_or(bytes);
            }
            let mut next = match load_view(&app) {
                Ok(view) => view,
                Err(error) => {
                    tracing::warn!(error = %leave_out_quotes(&format!("{error:#}")), "home cannot be read anew");
                    HomeView::clone(&sender.borrow())
                }
            };
            set_sizes(&mut next, &bytes);
            next.message = Some(message);
            sender.send_replace(Arc::new(next));
        }
    });
    HomeChannels { requests, latest }
}

type SessionSizes = std::collections::BTreeMap<SessionId, u64>;

fn session_sizes(app: &App) -> anyhow::Result<SessionSizes> {
    Ok(match app.read_store()? {
        Some(store) => store.session_bytes()?,
        None => SessionSizes::new(),
    })
}

fn set_sizes(view: &mut HomeView, bytes: &SessionSizes) {
    for item in &mut view.items {
        item.bytes = bytes.get(&item.id).copied();
    }
}

async fn execute_request(app: &App, request: HomeRequest) -> anyhow::Result<String> {
    let store = app.open_store()?;
    let said = match request {
        HomeRequest::Remove(id) => {
            store.remove_session(&id)?;
            format!("session {} is removed", id.short_id())
        }
        HomeRequest::Command { session, command } => {
            app.send_command(&store, &session, command).await?;
            let summary = store.session_info(&session)?.summary;
            format!("{}: {} of {} done", summary.title, summary.done, summary.total)
        }
    };
    store.close();
    Ok(said)
}

fn list_item(info: SessionInfo, state: Option<&SessionState>, now: Timestamp) -> SessionListItem {
    let status = SessionStatus::from_label(&info.summary.status).unwrap_or(SessionStatus::Planning);
    SessionListItem {
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
        detail: state.and_then(|state| item_detail(state, status, now)),
        facts: state.map(|state| session_facts(state, now)).unwrap_or_default(),
    }
}

/// The second line of a row: what is open in it.
fn item_detail(state: &SessionState, status: SessionStatus, now: Timestamp) -> Option<String> {
    if let Some(oldest) = state.requests.oldest_open() {
        let task = oldest.request.task.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
        let count = state.requests.open.len();
        let more = if count > 1 { format!(", {count} requests") } else { String::new() };
        let waits =
            match units::format_age(now.duration_since(oldest.asked_at).unsigned_abs()).as_str() {
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
fn session_facts(state: &SessionState, now: Timestamp) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(current) = &state.plan.current {
        facts.push(format!("r{} {}", current.revision, current.hash.short_hex()));
    }
    let counts = state.tasks.status_counts();
    let mut run = format!("{} {}/{}", state.status().label(), counts.done, counts.total());
    for (count, word) in [(counts.failed, "failed"), (counts.skipped, "skipped")] {
        if count > 0 {
            run = format!("{run}, {count} {word}");
        }
    }
    facts.push(run);
    if let Some(finish) =
        state.planning.schedule.as_deref().and_then(planwright_model::Schedule::finish_time)
    {
        let zone = crate::config::time_zone();
        let today = now.to_zoned(zone.clone()).date();
        let finish = finish.at.to_zoned(zone);
        facts.push(format!("planned until {}", dates::format_date(finish.date(), today)));
    }
    facts
}

/// Opens what the person chose, if it is a session, and says how it was left and which fork was made there.
async fn open_chosen(
    shared: &SharedArgs,
    app: &App,
    settings: &UiSettings,
    chosen: &HomeExit,
) -> anyhow::Result<Option<SessionReturn>> {
    let store = || app.open_store();
    Ok(Some(match chosen {
        HomeExit::Open(id) => open_by_state(shared, app, settings, id).await?,
        HomeExit::OpenAt(id, seq) => {
            let at = SessionViewOptions { start_at: Some(*seq), ..SessionViewOptions::default() };
            view_session(app, &store()?, settings, id, at).await?
        }
        HomeExit::Fork(id) => {
            let at = SessionViewOptions { asks_fork: true, ..SessionViewOptions::default() };
            view_session(app, &store()?, settings, id, at).await?
        }
        _ => return Ok(None),
    }))
}

/// Where and how a session is looked at.
#[derive(Default)]
struct SessionViewOptions {
    start_at: Option<Seq>,
    asks_fork: bool,
    note: Option<String>,
}

/// Opens a session the way its state asks for: a finished one in replay, another live, one that somebody else runs to watch.
async fn open_by_state(
    shared: &SharedArgs,
    app: &App,
    settings: &UiSettings,
    id: &SessionId,
) -> anyhow::Result<SessionReturn> {
    let store = app.open_store()?;
    let info = store.session_info(id)?;
    let status = SessionStatus::from_label(&info.summary.status);
    let over = matches!(status, Some(SessionStatus::Done | SessionStatus::Abandoned));
    // What was approved elsewhere counts for nothing here, so that an import can only be looked at and forked.
    if over || info.imported.is_some() {
        return view_session(app, &store, settings, id, SessionViewOptions::default()).await;
    }
    // Opening is looking: nothing starts before the person says so.
    match app.resume_session(&store, id, ResumeOptions::view_only()).await {
        Ok((handle, _)) => {
            let exit = show_or_follow(shared, app, &store, handle, PresetAnswers::default().into())
                .await?;
            Ok(signal_exit(exit).map_or(SessionReturn::Back, SessionReturn::End))
        }
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::Held { holder, .. }) => {
                let who = holder.as_ref().map_or_else(
                    || "another process".to_owned(),
                    |holder| format!("process {}", holder.pid),
                );
                let note = format!("{who} runs it, watching");
                let place =
                    SessionViewOptions { note: Some(note), ..SessionViewOptions::default() };
                view_session(app, &store, settings, id, place).await
            }
            _ => Err(error),
        },
    }
}

async fn view_session(
    app: &App,
    store: &Store,
    settings: &UiSettings,
    id: &SessionId,
    place: SessionViewOptions,
) -> anyhow::Result<SessionReturn> {
    let view = SessionView {
        id: id.clone(),
        history: app::session_history(store, id)?,
        head: app::follow_session(store, id)?,
        bookmarks: session_bookmarks(store, id)?,
        actions: Some(app.session_actions()?),
        asks_fork: place.asks_fork,
        commands: None,
        start_at: place.start_at,
        note: place.note,
    };
    app::show_session(view, settings).await.map(SessionReturn::from_exit)
}

/// The bundled run, from its start.
async fn show_demo(settings: &UiSettings) -> anyhow::Result<Option<CliExit>> {
    let (id, records) = demo_run::load_demo_run()?;
    let head = records.last().map_or(Seq::START, |record| record.seq);
    let start_at = super::demo::first_plan_seq(&records);
    let view = SessionView {
        id,
        history: History::new(MemorySource::new(records)),
        head: watch::channel(head).1,
        bookmarks: Vec::new(),
        actions: None,
        asks_fork: false,
        commands: None,
        start_at: Some(start_at),
        note: None,
    };
    super::demo::show_recorded_run(view, settings).await.map(signal_exit)
}
