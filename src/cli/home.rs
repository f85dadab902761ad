//! `planwright` alone: the saved sessions, what is due today, and a box for a goal.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use futures_util::FutureExt;
use tokio::sync::{mpsc, watch};

use super::attach::run_attached_screen;
use super::detached_runs::DetachedRuns;
use super::session::{ResumeRequest, block_on, require_screen, show_or_follow};
use super::{CliExit, SharedArgs};
use crate::app::home::HomeLoader;
use crate::app::planning::{GoalSubmission, check_goal};
use crate::app::session_actions::{compare_sessions, session_bookmarks};
use crate::app::{self, App, ResumeOptions};
use crate::diagnostics::leave_out_quotes;
use planwright_model::event::Command;
use planwright_model::{Seq, SessionId};
use planwright_state::SessionStatus;
use planwright_state::replay::{History, MemorySource};
use planwright_store::exchange::demo_run;
use planwright_store::step_search::StepSearch;
use planwright_store::{Store, StoreError, WordQuery};
use planwright_tui::{
    self as tui, ExitReason, HomeChannels, HomeExit, HomeRequest, HomeView, SearchResults,
    SessionTarget, SessionView, UiSettings,
};

/// How many requests of the screen may wait. Each comes from a key press and takes milliseconds to carry out; a key that is
/// held down repeats about thirty times a second, so this is two seconds of it while the store is busy.
const WAITING_REQUESTS: usize = 64;

/// How many steps a search on the screen brings.
const HITS: usize = 200;

/// How often it is looked whether another process wrote something. A look costs microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How often it is looked whether a calendar file changed. It is read again if it did, and every hour.
const CALENDAR_INTERVAL: Duration = Duration::from_secs(60);

/// What home was read with; kept while sessions are open, so that coming back costs what changed.
type SharedLoader = Arc<Mutex<HomeLoader>>;

pub(super) fn execute_home(shared: &SharedArgs) -> anyhow::Result<CliExit> {
    require_screen(shared)?;
    if shared.plain {
        // Lines instead of a screen: what is due, what is saved, and how to go on.
        super::today::print_due(shared)?;
        super::sessions::list_sessions(shared, None)?;
        let next = "planwright --plain \"your goal\" plans; planwright --plain resume ID continues";
        super::StdoutWriter::new().write_line(next)?;
        return Ok(CliExit::Success);
    }
    if shared.headless {
        return super::sessions::list_sessions(shared, None);
    }
    let app = Arc::new(App::settings_only(shared)?);
    app.check_screen(shared)?;
    block_on(async {
        let settings = UiSettings { opened_from_home: true, ..app.watched_settings(shared)? };
        let (mut message, mut found, mut selected) = (calendar_problem(&app), None, None);
        let loader = SharedLoader::default();
        let runs = DetachedRuns::default();
        let exit = 'home: loop {
            let view = HomeView {
                message: message.take(),
                found: found.take(),
                selected: selected.take(),
                ..loader.lock().unwrap_or_else(PoisonError::into_inner).load_view(&app)?
            };
            let mut next = tui::run_home(start_feed(&app, &loader, view), &settings).await?;
            // A screen that made a fork leads to it.
            loop {
                match open_chosen(shared, &app, &settings, &next, &runs).await {
                    Ok(None | Some(SessionReturn::Back)) => break,
                    Ok(Some(SessionReturn::ForFork(made))) => next = HomeExit::Open(made),
                    Ok(Some(SessionReturn::End(exit))) => break 'home exit,
                    Err(error) => {
                        message = Some(error_line(&error));
                        break;
                    }
                }
            }
            let done = match next {
                // Shown already, and left again.
                HomeExit::Open(id)
                | HomeExit::OpenTarget(id, _)
                | HomeExit::OpenAt(id, _)
                | HomeExit::Fork(id) => {
                    selected = Some(id);
                    Ok(None)
                }
                HomeExit::Search(words) => search_steps(&app, words).map(|steps| {
                    found = Some(steps);
                    None
                }),
                HomeExit::Compare(a, b) => show_comparison(&app, &settings, &a, &b).await,
                HomeExit::Plan(goal) => plan_goal(shared, &app, goal, &runs).await,
                HomeExit::Demo => show_demo(&settings).await,
                HomeExit::RunFile(path) => {
                    open_plan_file(shared, &app, Path::new(&path), &runs).await
                }
                HomeExit::Quit | HomeExit::TerminalGone => Ok(Some(CliExit::Success)),
                HomeExit::Signal(signal) => Ok(Some(CliExit::for_signal(signal))),
            };
            match done {
                Ok(Some(exit)) => break exit,
                Ok(None) => {}
                // What went wrong is said where it was asked for.
                Err(error) => message = Some(error_line(&error)),
            }
        };
        if runs.are_running() {
            runs.finish_without_terminal().await?;
        }
        Ok(exit)
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
    runs: &DetachedRuns,
) -> anyhow::Result<Option<CliExit>> {
    check_goal(&goal)?;
    let store = app.open_store()?;
    let here = std::env::current_dir().context("finding the current directory")?;
    let request = GoalSubmission { goal, ..GoalSubmission::default() };
    let handle = app.start_goal(&store, &request, &here, true).await?;
    show_or_follow(shared, app, &store, handle, ResumeRequest::from_home(runs))
        .await
        .map(signal_exit)
}

/// Opens a plan file as a session that asks before it runs.
async fn open_plan_file(
    shared: &SharedArgs,
    app: &App,
    path: &Path,
    runs: &DetachedRuns,
) -> anyhow::Result<Option<CliExit>> {
    let ready = super::run::runnable_plan(app, path, false)?;
    let store = app.open_store()?;
    let here = super::run::current_workspace()?;
    let policy = planwright_model::PolicyOverride::default();
    let handle = app.start_plan(&store, ready, &here, &policy, true).await?;
    show_or_follow(shared, app, &store, handle, ResumeRequest::from_home(runs))
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

/// Reads calendar files that changed, as they are in the settings now; says why one cannot be used.
fn calendar_problem(app: &App) -> Option<String> {
    app.calendar_files(None).refresh().err().map(|problem| problem.to_string())
}

/// Opens the way for requests: they are carried out one after the other, and what became of them is shown, as is what
/// other processes write meanwhile.
fn start_feed(app: &Arc<App>, loader: &SharedLoader, first: HomeView) -> HomeChannels {
    let (sender, latest) = watch::channel(Arc::new(first));
    let (requests, mut received) = mpsc::channel(WAITING_REQUESTS);
    let (app, loader) = (Arc::clone(app), Arc::clone(loader));
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut calendars = tokio::time::interval(CALENDAR_INTERVAL);
        calendars.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut told = calendar_problem(&app);
        loop {
            let message = tokio::select! {
                request = received.recv() => match request {
                    Some(request) => Some(run_request(&app, &loader, request).await),
                    None => return,
                },
                _ = ticks.tick() => None,
                _ = calendars.tick() => {
                    let problem = calendar_problem(&app);
                    let news = problem.clone().filter(|_| problem != told);
                    told = problem;
                    news
                }
            };
            if sender.is_closed() {
                return;
            }
            if let Some(mut view) = reload_view(&app, &loader, message.is_some()).await {
                view.message = message;
                sender.send_replace(Arc::new(view));
            } else if message.is_some() {
                let view = HomeView { message, ..HomeView::clone(&sender.borrow()) };
                sender.send_replace(Arc::new(view));
            }
        }
    });
    HomeChannels { requests, latest }
}

/// What there is to see now, if something changed or `always`. Reading may take a while, so that it has its own thread.
async fn reload_view(app: &Arc<App>, loader: &SharedLoader, always: bool) -> Option<HomeView> {
    let (app, loader) = (Arc::clone(app), Arc::clone(loader));
    let read = tokio::task::spawn_blocking(move || {
        let mut loader = loader.lock().unwrap_or_else(PoisonError::into_inner);
        if !loader.has_changed(&app)? && !always {
            return Ok(None);
        }
        loader.load_view(&app).map(Some)
    });
    match read.await.map_err(anyhow::Error::from).and_then(|view| view) {
        Ok(view) => view,
        Err(error) => {
            tracing::warn!(error = %leave_out_quotes(&format!("{error:#}")), "home cannot be read anew");
            None
        }
    }
}

/// Carries a request out and says what became of it.
async fn run_request(app: &Arc<App>, loader: &SharedLoader, request: HomeRequest) -> String {
    // A panic here must not end the task: nobody awaits it, and every later request would wait for ever.
    match AssertUnwindSafe(execute_request(app, loader, request)).catch_unwind().await {
        Ok(Ok(message)) => message,
        Ok(Err(error)) => error_line(&error),
        Err(_) => "That failed with an internal error. Nothing else was affected.".to_owned(),
    }
}

async fn execute_request(
    app: &App,
    loader: &SharedLoader,
    request: HomeRequest,
) -> anyhow::Result<String> {
    let store = app.open_store()?;
    let said = match request {
        HomeRequest::Remove(id) => {
            let title = store.session_info(&id)?.summary.title;
            store.remove_session(&id)?;
            loader.lock().unwrap_or_else(PoisonError::into_inner).forget_session(&id);
            format!("Removed: {}", planwright_text::clean_line(&title))
        }
        HomeRequest::Export { session, export } => {
            let written = app.session_actions()?.export_session(&session, export);
            written.map_err(anyhow::Error::msg)?
        }
        HomeRequest::Command { session, command } => {
            let what = describe_command(&command, |task| {
                let loader = loader.lock().unwrap_or_else(PoisonError::into_inner);
                loader.task_title(&session, task)
            });
            app.send_command(&store, &session, command).await?;
            let summary = store.session_info(&session)?.summary;
            let title = planwright_text::clean_line(&summary.title);
            let title = planwright_tui::short_plan_name(&title);
            let title = planwright_text::truncate_end(&title, TITLE_IN_LINE);
            format!("{what}. {} of {} done in {title}.", summary.done, summary.total)
        }
    };
    store.close();
    Ok(said)
}

/// The widest title in that line: what became of it has to fit beside it.
const TITLE_IN_LINE: usize = 30;

/// What a command did, for the line at the bottom.
fn describe_command(
    command: &Command,
    title_of: impl Fn(&planwright_model::TaskId) -> Option<String>,
) -> String {
    let named = |word: &str, task| match title_of(task) {
        Some(title) => {
            format!("{word}: {}", planwright_text::truncate_end(&title, TITLE_IN_LINE))
        }
        None => word.to_owned(),
    };
    match command {
        Command::MarkTask { task, done: true, .. } => named("Done", task),
        Command::MarkTask { task, .. } => named("Skipped", task),
        Command::ReopenTask { task, .. } => named("Open again", task),
        Command::NoteTask { task, .. } => named("Note kept", task),
        Command::MoveBlock { .. } => "Moved".to_owned(),
        Command::CatchUp { .. } => "Caught up, u undoes it".to_owned(),
        Command::DismissRun { on: true } => "Dismissed, u undoes it".to_owned(),
        Command::DismissRun { on: false } => "Back among the failed runs".to_owned(),
        Command::Undo => "Undone".to_owned(),
        _ => "Saved".to_owned(),
    }
}

/// Opens what the person chose, if it is a session, and says how it was left and which fork was made there.
async fn open_chosen(
    shared: &SharedArgs,
    app: &App,
    settings: &UiSettings,
    chosen: &HomeExit,
    runs: &DetachedRuns,
) -> anyhow::Result<Option<SessionReturn>> {
    let store = || app.open_store();
    Ok(Some(match chosen {
        HomeExit::Open(id) => open_by_state(shared, app, settings, (id, None), runs).await?,
        HomeExit::OpenTarget(id, target) => {
            open_by_state(shared, app, settings, (id, Some(target.clone())), runs).await?
        }
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
    target: Option<SessionTarget>,
}

/// Opens a session the way its state asks for: a finished one in replay, another live, one that another process runs attached.
async fn open_by_state(
    shared: &SharedArgs,
    app: &App,
    settings: &UiSettings,
    (id, target): (&SessionId, Option<SessionTarget>),
    runs: &DetachedRuns,
) -> anyhow::Result<SessionReturn> {
    let store = app.open_store()?;
    let info = store.session_info(id)?;
    let status = SessionStatus::from_label(&info.summary.status);
    let over = status == Some(SessionStatus::Done);
    // What was approved elsewhere counts for nothing here, so that an import can only be looked at and forked.
    if over || info.imported.is_some() {
        let start_at = Some(info.head);
        let end = SessionViewOptions { start_at, target, ..SessionViewOptions::default() };
        return view_session(app, &store, settings, id, end).await;
    }
    // Opening is looking: nothing starts before the person says so.
    match app.resume_session(&store, id, ResumeOptions::view_only()).await {
        Ok((handle, _)) => {
            let request = ResumeRequest { target, ..ResumeRequest::from_home(runs) };
            let exit = show_or_follow(shared, app, &store, handle, request).await?;
            Ok(signal_exit(exit).map_or(SessionReturn::Back, SessionReturn::End))
        }
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::Held { holder: Some(holder), .. }) => {
                let place = (id, holder);
                let shown = run_attached_screen(shared, app, &store, place, settings, target);
                shown.await.map(SessionReturn::from_exit)
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
    let (history, followed) = (app::session_history(store, id)?, app::follow_session(store, id)?);
    let view = SessionView {
        bookmarks: session_bookmarks(store, id)?,
        actions: Some(app.session_actions()?),
        asks_fork: place.asks_fork,
        target: place.target,
        start_at: place.start_at,
        ..SessionView::new(id.clone(), history, followed.head)
    };
    app::show_session(view, settings).await.map(SessionReturn::from_exit)
}

/// The bundled run, from its start.
async fn show_demo(settings: &UiSettings) -> anyhow::Result<Option<CliExit>> {
    let (id, records) = demo_run::load_demo_run()?;
    let head = records.last().map_or(Seq::START, |record| record.seq);
    let start_at = super::demo::first_plan_seq(&records);
    let history = History::new(MemorySource::new(records));
    let view = SessionView {
        start_at: Some(start_at),
        plays: true,
        ..SessionView::new(id, history, watch::channel(head).1)
    };
    super::demo::show_recorded_run(view, settings).await.map(signal_exit)
}
