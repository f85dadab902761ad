//! Showing or following a session that this process works on: what `run`, `resume` and the list have in common.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::AbortOnDropHandle;

use super::descriptors::check_open_files;
use super::detached_runs::{DetachedRuns, continue_detached};
use super::run_outputs::RunOutputs;
use super::screen_process;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::options::ProgressArg;
use crate::app::session_actions::session_bookmarks;
use crate::app::{self, App, ResumeOptions};
use crate::headless::readable_lines::ReadableLines;
use crate::headless::run_reports::ReportArgs;
use crate::headless::{
    self, HeadlessEnding, HeadlessFormat, LineSink, PresetAnswers, SessionFollower,
};
use planwright_engine::resume::ResumeMode;
use planwright_engine::{SessionChannel, SessionHandle};
use planwright_model::event::{CloseReason, Command};
use planwright_model::{Actor, ChoiceAction, RequestKind, SessionId, TaskId};
use planwright_state::replay::History;
use planwright_state::{RunPhase, SessionState, SessionStatus, SkipRoots, TaskRow, TaskStatus};
use planwright_store::{Store, StoreError};
use planwright_tui::{self as tui, ExitReason, SessionTarget, SessionView, TuiError, UiSettings};

/// Lines on standard output, with a bar below them on a terminal.
#[derive(Debug, Default)]
struct TerminalLines {
    out: StdoutWriter,
    bar: bool,
    /// No bar is shown.
    without_bar: bool,
    /// Lines are for people: on a terminal they are broken between words.
    readable: bool,
    /// Where the further lines begin of one that was broken.
    hanging: usize,
}

impl TerminalLines {
    /// Takes the bar away, so that what follows stands in its place.
    fn clear_bar(&mut self) -> std::io::Result<()> {
        if std::mem::take(&mut self.bar) { self.out.clear_line() } else { Ok(()) }
    }
}

impl LineSink for TerminalLines {
    fn write_line(&mut self, text: &str) -> std::io::Result<()> {
        self.clear_bar()?;
        if self.readable {
            self.out.write_hanging(text, self.hanging)
        } else {
            self.out.write_line(text)
        }
    }

    fn set_hanging(&mut self, column: usize) {
        self.hanging = column;
    }

    fn show_bar(&mut self, text: &str) -> std::io::Result<()> {
        self.clear_bar()?;
        if text.is_empty() || self.without_bar {
            return Ok(());
        }
        let width = crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width));
        self.bar = true;
        self.out.write_text(&planwright_text::truncate_end(text, width.saturating_sub(1)))
    }

    fn write_notice(&mut self, text: &str) {
        // If standard output is closed there is no bar, and the notice goes to standard error.
        let _ = self.clear_bar();
        super::eprint_line(text);
    }
}

/// Runs async code for one command.
pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    check_open_files()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let result = runtime.block_on(work);
    // A reader that blocks on something outside must not hold up the exit.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    result
}

/// Refuses in one line when a screen is wanted and there is none.
pub(super) fn require_screen(shared: &SharedArgs) -> anyhow::Result<()> {
    if shared.headless
        || shared.plain
        || (std::io::stdout().is_terminal() && std::io::stdin().is_terminal())
    {
        return Ok(());
    }
    Err(CliProblem::usage("this needs a terminal, and standard input or output is not one")
        .with_remedy("add --headless to run without a screen")
        .into())
}

/// What a headless process is there for.
#[derive(Clone, Debug, Default)]
pub(super) struct ResumeRequest {
    pub(super) answers: PresetAnswers,
    /// A run that is over is to start again.
    pub(super) restarts: bool,
    /// Another plan was handed in; and whether approving it starts the run again.
    pub(super) replaces: Option<bool>,
    /// What a screen opens with.
    pub(super) target: Option<SessionTarget>,
    /// Leaving the screen leads back to the home screen.
    pub(super) opened_from_home: bool,
    /// Lines only, without a bar below them.
    pub(super) without_bar: bool,
    /// Questions are waited with until somebody answers them from elsewhere.
    pub(super) waits_for_answers: bool,
    /// What is written about the run when it has ended.
    pub(super) reports: ReportArgs,
    /// Who keeps runs that go on without their screen while this process shows others. Nobody: this process leaves its
    /// terminal with the run.
    pub(super) detached: Option<DetachedRuns>,
}

impl ResumeRequest {
    /// For a session opened from the home screen: leaving it leads back there, and a run that is left goes on in this
    /// process while others are shown.
    pub(super) fn from_home(runs: &DetachedRuns) -> Self {
        Self { opened_from_home: true, detached: Some(runs.clone()), ..Self::default() }
    }
}

impl From<PresetAnswers> for ResumeRequest {
    fn from(answers: PresetAnswers) -> Self {
        Self { answers, ..Self::default() }
    }
}

/// Finds a saved session and opens the store to write to it.
pub(super) fn open_session(app: &App, name: &str) -> anyhow::Result<(Store, SessionId)> {
    // Looking first keeps a mistyped name from making a store.
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(name)) };
    let id = app::find_session(&store, name)?;
    drop(store);
    Ok((app.open_store()?, id))
}

/// Takes up a session to go on with it: an interrupted run goes on, a plan that was approved and kept is run.
pub(super) async fn resume_session(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    id: &SessionId,
    workspace: Option<&Path>,
) -> anyhow::Result<SessionHandle> {
    Ok(resume_shown_session(shared, app, store, id, workspace, None).await?.0)
}

/// The same for a session that a screen may show already; says what its state was.
pub(super) async fn resume_shown_session(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    id: &SessionId,
    workspace: Option<&Path>,
    shown: Option<(Arc<SessionState>, SessionChannel)>,
) -> anyhow::Result<(SessionHandle, Arc<SessionState>)> {
    let taking = ResumeOptions {
        mode: ResumeMode::Continue,
        workspace,
        interactive: !shared.headless,
        shown,
    };
    let (handle, state) = app
        .resume_session(store, id, taking)
        .await
        .map_err(|error| held_session_error(error, id))?;
    if shared.headless && !shared.json {
        let place = workspace
            .map_or_else(|| state.session.workspace.clone(), |path| path.display().to_string());
        super::eprint_line(&format!(
            "session {} continues in {}",
            id.short_id(),
            planwright_text::clean_line(&place)
        ));
    }
    if state.is_runnable() && state.run.phase == RunPhase::Idle {
        crate::session_commands::send_command(&handle.commands, Command::Run { by: Actor::Person })
            .await;
    }
    Ok((handle, state))
}

/// A session that another process works on can still be watched.
fn held_session_error(error: anyhow::Error, id: &SessionId) -> anyhow::Error {
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::Held { .. }) => CliProblem::failed(error.to_string())
            .with_remedy(format!("follow and control it with: planwright attach {}", id.short_id()))
            .into(),
        _ => error,
    }
}

/// Works on a session until it ends: on a screen, or printing lines.
pub(super) async fn show_or_follow(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    handle: SessionHandle,
    request: ResumeRequest,
) -> anyhow::Result<CliExit> {
    let id = handle.id.clone();
    let outputs = RunOutputs::start(store, &handle, request.reports.clone())?;
    let exit = if shared.headless {
        follow_headless(shared, store, handle, request).await
    } else {
        let detached = request.detached.clone();
        match show_with_forks(shared, app, store, handle, request).await {
            Ok(ScreenEnd::Closed(exit)) => Ok(exit),
            Ok(ScreenEnd::Detached(handle)) => {
                return continue_detached(store, handle, outputs, detached).await;
            }
            Err(error) => Err(error),
        }
    };
    if exit.is_ok() {
        outputs.finish(store, &id).await?;
    }
    store.close();
    exit
}

pub(super) async fn follow_headless(
    shared: &SharedArgs,
    store: &Store,
    handle: SessionHandle,
    request: ResumeRequest,
) -> anyhow::Result<CliExit> {
    if shared.background {
        super::detach::announce_session(&handle.id)?;
        let request = ResumeRequest { waits_for_answers: true, ..request };
        return Ok(follow_to_end(store, handle, request, HeadlessFormat::Quiet).await?.2);
    }
    let format = headless_format(shared);
    let without_bar = shared.progress == Some(ProgressArg::Plain);
    let request = ResumeRequest { without_bar, ..request };
    let (id, state, exit) = follow_to_end(store, handle, request, format).await?;
    if !shared.quiet || exit != CliExit::Success {
        report_ending(store, &id, &state, exit, shared.json);
    }
    Ok(exit)
}

/// What is printed of a run without a screen.
fn headless_format(shared: &SharedArgs) -> HeadlessFormat {
    let is_short = std::io::stdout().is_terminal() && shared.verbose == 0;
    match shared.progress {
        _ if shared.json => HeadlessFormat::Json,
        _ if shared.quiet => HeadlessFormat::Quiet,
        Some(ProgressArg::None) => HeadlessFormat::Quiet,
        Some(ProgressArg::Plain) => HeadlessFormat::Progress,
        None if is_short => HeadlessFormat::Progress,
        Some(ProgressArg::Lines) | None => HeadlessFormat::Text,
    }
}

/// Says how a session without a screen ended: what waits for the person, or where it stands.
pub(super) fn report_ending(
    store: &Store,
    id: &SessionId,
    state: &SessionState,
    exit: CliExit,
    json: bool,
) {
    let failed = headless::model_failure(state).is_some();
    // What went wrong comes before what only waits.
    for line in failure_lines(store, id, state) {
        super::eprint_line(&line);
    }
    let waits = !state.requests.open.is_empty() || state.tasks.is_only_person_left();
    match exit {
        CliExit::NeedsPerson | CliExit::CapReached => report_waiting(id, state, json),
        CliExit::Failed if failed => report_waiting(id, state, json),
        CliExit::Failed if waits => {
            report_status(id, state);
            report_waiting(id, state, json);
        }
        _ => report_status(id, state),
    }
}

/// Follows a session to its end without a word; the caller prints what came of it.
pub(super) async fn follow_quietly(
    store: &Store,
    handle: SessionHandle,
    request: ResumeRequest,
) -> anyhow::Result<(SessionId, SessionState, CliExit)> {
    follow_to_end(store, handle, request, HeadlessFormat::Quiet).await
}

async fn follow_to_end(
    store: &Store,
    handle: SessionHandle,
    request: ResumeRequest,
    format: HeadlessFormat,
) -> anyhow::Result<(SessionId, SessionState, CliExit)> {
    let mut answers = request.answers;
    for (id, action) in &handle.left_answers {
        answers.answered.insert(*id);
        // A plan that is kept and not run leaves nothing to wait for.
        answers.keeps_plans |= *action == ChoiceAction::ApproveAndStop;
    }
    let mut follower = SessionFollower {
        session: handle.id.clone(),
        history: app::session_history(store, &handle.id)?,
        head: handle.head.clone(),
        commands: handle.commands.clone(),
        answers,
        expects_start: request.restarts,
        expects_plan: request.replaces,
        waits_for_answers: request.waits_for_answers,
        format,
        lines: TerminalLines {
            readable: format != HeadlessFormat::Json,
            without_bar: request.without_bar,
            ..TerminalLines::default()
        },
        state: SessionState::default(),
        time_zone: crate::config::time_zone(),
        readable: ReadableLines::new(crate::config::time_zone()),
        plans: crate::headless::PlanPrinting::default(),
        progress: headless::progress::HeadlessProgress::default(),
    };
    // A resumed session prints what happens from here on, not its past.
    follower.state = SessionState::clone(&*follower.history.state_at(handle.begun)?);
    follower.readable.fit_plan(&follower.state);
    follower.lines.set_hanging(follower.readable.body_column());
    // A run that was left goes on before it can be said what it waits for.
    let left = matches!(
        follower.state.run.phase,
        RunPhase::Running | RunPhase::Paused | RunPhase::Interrupted
    );
    follower.expects_start |= left && follower.state.is_runnable();
    let ended = tokio::select! {
        ending = follower.follow() => Ok(ending),
        signal = wait_for_signal(!request.waits_for_answers) => Err(signal?),
    };
    // Whatever went wrong with the output, the session is closed in good order first.
    let why = match &ended {
        Err(signal) => Some(CloseReason::Signal { signal: (*signal).to_owned() }),
        Ok(Err(_)) => Some(CloseReason::Quit),
        Ok(Ok(_)) => None,
    };
    if let Some(why) = why {
        crate::session_commands::send_command(&handle.commands, Command::Close { why }).await;
    }
    let id = handle.id.clone();
    let head = handle.head.clone();
    let driver = handle.wait_until_closed().await;
    let ended = match ended {
        Ok(ending) => Ok(ending?),
        Err(signal) => Err(signal),
    };
    let last = *head.borrow();
    follower.catch_up(last)?;
    follower.lines.show_bar("")?;
    driver?;
    let state = follower.state;
    let exit = match ended {
        Err(signal) => CliExit::for_signal(signal),
        // What was asked for cannot be had, or something failed; that goes before what only waits.
        Ok(HeadlessEnding::NeedsPerson)
            if headless::model_failure(&state).is_some() || state.tasks.has_failures() =>
        {
            CliExit::Failed
        }
        Ok(HeadlessEnding::NeedsPerson) if has_only_caps(&state) => CliExit::CapReached,
        Ok(HeadlessEnding::NeedsPerson) => CliExit::NeedsPerson,
        Ok(HeadlessEnding::Success) => CliExit::Success,
        Ok(_) if state.status() == SessionStatus::Done => CliExit::Success,
        Ok(HeadlessEnding::Closed) if !state.requests.open.is_empty() => session_exit(&state),
        Ok(_) => CliExit::Failed,
    };
    Ok((id, state, exit))
}

fn has_only_caps(state: &SessionState) -> bool {
    let is_cap = |kind: &RequestKind| {
        matches!(kind, RequestKind::Cap { .. } | RequestKind::PlanningCap { .. })
    };
    !state.requests.open.is_empty()
        && state.requests.open.values().all(|open| is_cap(&open.request.kind))
}

/// What waits for the person: as an object for scripts, and in words beside it.
pub(super) fn report_waiting(id: &SessionId, state: &SessionState, json: bool) {
    if state.requests.open.is_empty() && !state.tasks.is_only_person_left() {
        return;
    }
    if json {
        match serde_json::to_string(&headless::waiting_line(id, state)) {
            // The session is closed and saved; that nobody reads this changes nothing about it.
            Ok(line) => drop(StdoutWriter::new().write_line(&line)),
            Err(error) => tracing::error!(%error, "what is waited for cannot be written"),
        }
    }
    report_needs_person(id, state);
}

/// The first signal that asks this process to end. A run in the background does not depend on a terminal.
async fn wait_for_signal(needs_terminal: bool) -> std::io::Result<&'static str> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // Whoever starts this with `nohup` wants it to outlive the terminal.
    let outlives_terminal = !needs_terminal || is_hang_up_ignored();
    let mut hang_up = if outlives_terminal { None } else { Some(signal(SignalKind::hangup())?) };
    let hung_up = async {
        match &mut hang_up {
            Some(signal) => signal.recv().await,
            None => std::future::pending().await,
        }
    };
    let mut quit = signal(SignalKind::quit())?;
    Ok(tokio::select! {
        _ = quit.recv() => "SIGQUIT",
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
        _ = hung_up => "SIGHUP",
    })
}

/// Whether this process was started with SIGHUP ignored. Where the system does not tell, it was not.
pub(super) fn is_hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 != 0)
}

/// Says where a session stands and how to go on, for people; standard output is for what was asked for.
pub(super) fn report_status(id: &SessionId, state: &SessionState) {
    let (counts, status) = (state.tasks.work_counts(), state.status());
    super::eprint_line(&format!(
        "session {}: {}, {} of {} done",
        id.short_id(),
        status.label(),
        counts.done,
        counts.total(),
    ));
    for step in status.next_commands(id.short_id()).lines() {
        super::eprint_line(&format!("  {step}"));
    }
}

/// How many tasks that failed are named at the end; `sessions show` has them all.
const FAILURES_SHOWN: usize = 5;
/// How many of the last lines of each are shown.
const TAIL_SHOWN: usize = 15;

/// A line for each task that failed: why, as its output says it, and how many were skipped because of it.
fn failure_lines(store: &Store, id: &SessionId, state: &SessionState) -> Vec<String> {
    let failed: Vec<(&TaskId, &TaskRow)> =
        state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Failed).collect();
    let skips = SkipRoots::from_tasks(&state.tasks);
    // What a task recorded about itself says less, and is there without the store.
    let causes = app::home::read_failures(store, id, state).unwrap_or_default();
    let line = |(id, row): &(&TaskId, &TaskRow)| {
        let recorded = row.failure.as_ref().map_or("", |failure| failure.message.as_str());
        let printed = causes.get(*id).map(|found| found.cause.as_str());
        let cause = printed.filter(|cause| !cause.is_empty()).unwrap_or(recorded);
        let skipped =
            state.tasks.position(id).map_or(0, |task| skips.skipped_because_of(task).len());
        let skipped = match skipped {
            0 => String::new(),
            count => {
                let tasks = planwright_text::units::format_counted(count, "task");
                format!("; {tasks} skipped because of it")
            }
        };
        let is_tolerated = state.tasks.position(id).is_some_and(|it| state.tasks.is_tolerated(it));
        let allowed = if is_tolerated { ", as the plan allows" } else { "" };
        let text = format!("{} failed{allowed}: {cause}{skipped}", state.title_by_id(id));
        planwright_text::clean_line(&text).into_owned()
    };
    let mut lines = Vec::new();
    for failure in failed.iter().take(FAILURES_SHOWN) {
        lines.push(line(failure));
        let tail: Vec<&str> = failure.1.output_tail.lines().collect();
        let last = &tail[tail.len().saturating_sub(TAIL_SHOWN)..];
        lines.extend(last.iter().map(|line| format!("  {}", planwright_text::clean_line(line))));
    }
    if let Some(more) = failed.len().checked_sub(FAILURES_SHOWN).filter(|more| *more > 0) {
        lines.push(format!("… and {more} more failed: planwright sessions show {}", id.short_id()));
    }
    lines
}

fn report_needs_person(id: &SessionId, state: &SessionState) {
    super::eprint_line(&format!("session {} waits for you:", id.short_id()));
    for line in headless::open_questions(id, state) {
        super::eprint_line(&format!("  {line}"));
    }
    super::eprint_line(&format!("resume it with: planwright resume {}", id.short_id()));
}

/// How a screen was left.
pub(super) enum ScreenEnd {
    /// The session is closed.
    Closed(CliExit),
    /// The run goes on.
    Detached(SessionHandle),
}

/// Shows a session, and after it the fork that was made on its screen, if one was.
pub(super) async fn show_with_forks(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    mut handle: SessionHandle,
    mut request: ResumeRequest,
) -> anyhow::Result<ScreenEnd> {
    let opened_from_home = request.opened_from_home;
    loop {
        let shown = show_screen(shared, app, store, &handle, std::mem::take(&mut request)).await?;
        request.opened_from_home = opened_from_home;
        if is_detached(&shown) {
            print_summary(&shown);
            return Ok(ScreenEnd::Detached(handle));
        }
        let (exit, made) = close_session(store, handle, shown).await?;
        let Some(made) = made else { return Ok(ScreenEnd::Closed(exit)) };
        handle = app.resume_session(store, &made, ResumeOptions::view_only()).await?.0;
    }
}

/// Shows a screen until it is left.
async fn show_screen(
    shared: &SharedArgs,
    app: &App,
    store: &Store,
    handle: &SessionHandle,
    request: ResumeRequest,
) -> anyhow::Result<Result<tui::SessionExit, TuiError>> {
    let settings =
        UiSettings { opened_from_home: request.opened_from_home, ..app.watched_settings(shared)? };
    let _flags = spawn_flag_answers(store, handle, request.answers)?;
    let mut history = app::session_history(store, &handle.id)?;
    // Lines can be typed by a program.
    if shared.plain && history.state_at(*handle.head.borrow())?.desk.is_ticket() {
        super::guard::refuse_desk_agent(app)?;
    }
    let view = SessionView {
        bookmarks: session_bookmarks(store, &handle.id)?,
        actions: Some(app.session_actions()?),
        target: request.target,
        commands: Some(handle.commands.clone()),
        detaches: screen_process::has_waiting_parent(),
        ..SessionView::new(handle.id.clone(), history, handle.head.clone())
    };
    Ok(if shared.plain {
        tui::run_plain(view, settings.time_zone.clone()).await
    } else {
        tui::run_session(view, &settings).await
    })
}

/// Whether the person left the run to itself.
pub(super) fn is_detached(shown: &Result<tui::SessionExit, TuiError>) -> bool {
    matches!(shown, Ok(tui::SessionExit { reason: ExitReason::Detached, .. }))
}

/// What stays in the shell of a screen that was left.
pub(super) fn print_summary(shown: &Result<tui::SessionExit, TuiError>) {
    if let Ok(exit) = shown
        && !exit.summary.is_empty()
    {
        // With the terminal gone there is nobody to read it.
        let _ = StdoutWriter::new().write_lines(&exit.summary);
    }
}

/// Why a session is closed whose screen ended so.
pub(super) fn close_reason(shown: &Result<tui::SessionExit, TuiError>) -> CloseReason {
    match shown {
        Ok(tui::SessionExit { reason: ExitReason::Signal(signal), .. }) => {
            CloseReason::Signal { signal: (*signal).to_owned() }
        }
        Ok(tui::SessionExit { reason: ExitReason::TerminalGone, .. }) => {
            CloseReason::Signal { signal: "SIGHUP".to_owned() }
        }
        _ => CloseReason::Quit,
    }
}

/// Closes a session whose screen was left, and says what that means for the exit code and which fork was made.
pub(super) async fn close_session(
    store: &Store,
    handle: SessionHandle,
    shown: Result<tui::SessionExit, TuiError>,
) -> anyhow::Result<(CliExit, Option<SessionId>)> {
    let why = close_reason(&shown);
    // Whatever happened to the screen, the session is closed in good order first.
    crate::session_commands::send_command(&handle.commands, Command::Close { why: why.clone() })
        .await;
    let id = handle.id.clone();
    handle.wait_until_closed().await?;
    print_summary(&shown);
    let exit = shown?;
    let mut history = app::session_history(store, &id)?;
    let head = history.head_seq()?;
    let state = history.state_at(head)?;
    let code = match why {
        CloseReason::Signal { signal } => CliExit::for_signal(&signal),
        _ => session_exit(&state),
    };
    Ok((code, exit.open))
}

/// Gives the answers of the flags while it is kept. There is nothing to keep where no flag stands for an answer.
pub(super) fn spawn_flag_answers(
    store: &Store,
    handle: &SessionHandle,
    answers: PresetAnswers,
) -> anyhow::Result<Option<AbortOnDropHandle<()>>> {
    if answers.is_empty() {
        return Ok(None);
    }
    let history = app::session_history(store, &handle.id)?;
    let task = tokio::spawn(answer_by_flags(history, handle, answers));
    Ok(Some(AbortOnDropHandle::new(task)))
}

/// Gives the answers that flags of the command line stand for, also when there is a screen.
fn answer_by_flags(
    mut history: History,
    handle: &SessionHandle,
    answers: PresetAnswers,
) -> impl Future<Output = ()> + use<> {
    let (mut head, commands) = (handle.head.clone(), handle.commands.clone().downgrade());
    let mut given = BTreeSet::new();
    async move {
        loop {
            let seen = *head.borrow_and_update();
            let state = match history.state_at(seen) {
                Ok(state) => state,
                Err(error) => {
                    tracing::error!(%error, "answers given beforehand are not given any more");
                    return;
                }
            };
            for open in state.requests.open.values() {
                if let Some(answer) = answers.answer_to(&open.request, &state)
                    && given.insert(open.request.id)
                    && let Some(commands) = commands.upgrade()
                {
                    let id = open.request.id;
                    let command = Command::Answer { id, answer, by: Actor::Flag };
                    crate::session_commands::send_command(&commands, command).await;
                }
            }
            if head.changed().await.is_err() {
                return;
            }
        }
    }
}

/// What a session that was left means for the exit code: the same as without a screen.
pub(super) fn session_exit(state: &SessionState) -> CliExit {
    match state.status() {
        SessionStatus::Abandoned | SessionStatus::Failed | SessionStatus::Dismissed => {
            CliExit::Failed
        }
        SessionStatus::NeedsYou
            if headless::model_failure(state).is_some() || state.tasks.has_failures() =>
        {
            CliExit::Failed
        }
        SessionStatus::NeedsYou if has_only_caps(state) => CliExit::CapReached,
        SessionStatus::NeedsYou => CliExit::NeedsPerson,
        SessionStatus::Done | SessionStatus::Held => CliExit::Success,
        _ if state.tasks.has_failures() => CliExit::Failed,
        SessionStatus::Yours => CliExit::NeedsPerson,
        // Left in the middle of its work, which goes on another time.
        _ => CliExit::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::requests::samples::requests_where;
    use planwright_model::{Request, RequestId};
    use planwright_state::OpenRequest;
    use planwright_store::exchange::demo_run;

    /// The bundled run up to where a condition holds.
    fn until(condition: impl Fn(&SessionState) -> bool) -> SessionState {
        let (_, records) = demo_run::load_demo_run().unwrap();
        let mut state = SessionState::default();
        for record in &records {
            state.apply(record);
            if condition(&state) {
                return state;
            }
        }
        panic!("the bundled run never gets there");
    }

    fn with(mut state: SessionState, number: u32, request: &Request) -> SessionState {
        let id = RequestId(number);
        let request = Request { id, ..request.clone() };
        let open = OpenRequest { request: request.into(), asked_at: jiff::Timestamp::UNIX_EPOCH };
        state.requests.open.insert(id, open);
        state
    }

    #[test]
    fn a_session_that_was_left_says_by_the_exit_code_how_it_stands() {
        let done = until(|state| state.status() == SessionStatus::Done);
        assert_eq!(session_exit(&done), CliExit::Success);
        let asks = until(|state| !state.requests.open.is_empty());
        assert_eq!(session_exit(&asks), CliExit::NeedsPerson);
        let failed = until(|state| state.tasks.status_counts().failed > 0);
        assert_eq!(session_exit(&failed), CliExit::Failed);
        let running = until(|state| state.status() == SessionStatus::Running);
        assert_eq!(session_exit(&running), CliExit::Interrupted);
        let cap = requests_where(|kind| matches!(kind, RequestKind::Cap { .. })).remove(0);
        let capped = with(running, 7, &cap);
        assert_eq!(session_exit(&capped), CliExit::CapReached);
        // A question goes before a limit, as it does without a screen.
        let both = with(capped, 8, &asks.requests.oldest_open().unwrap().request);
        assert_eq!(session_exit(&both), CliExit::NeedsPerson);
    }
}
