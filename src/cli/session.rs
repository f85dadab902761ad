//! Showing or following a session that this process works on: what `run`, `resume` and the list have in common.

use std::io::IsTerminal;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use super::{Exit, Out, Problem, Shared};
use crate::app::{self, App};
use crate::engine::SessionHandle;
use crate::event::{CloseReason, Command};
use crate::headless::{self, Answers, Ending, Follower, Format, Lines};
use crate::model::{RequestKind, SessionId};
use crate::state::SessionState;
use crate::store::Store;
use crate::tui::{self, ExitReason, SessionView};

impl Lines for Out {
    fn line(&mut self, text: &str) -> std::io::Result<()> {
        Out::line(self, text)
    }
}

/// Runs async code for one command.
pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
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
pub(super) fn needs_screen(shared: &Shared) -> anyhow::Result<()> {
    if shared.headless || (std::io::stdout().is_terminal() && std::io::stdin().is_terminal()) {
        return Ok(());
    }
    Err(Problem::usage("this needs a terminal, and standard output or input is none")
        .remedy("add --headless to run without a screen")
        .into())
}

/// What a headless process is there for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Errand {
    pub(super) answers: Answers,
    /// A run that is over is to start again.
    pub(super) restarts: bool,
}

impl From<Answers> for Errand {
    fn from(answers: Answers) -> Self {
        Self { answers, restarts: false }
    }
}

/// Works on a session until it ends: on a screen, or printing lines.
pub(super) async fn attend(
    shared: &Shared,
    app: &App,
    store: &Store,
    handle: SessionHandle,
    errand: Errand,
) -> anyhow::Result<Exit> {
    let exit = if shared.headless {
        follow(shared, store, handle, errand).await
    } else {
        watch(app, store, handle).await
    };
    store.close();
    exit
}

async fn follow(
    shared: &Shared,
    store: &Store,
    handle: SessionHandle,
    errand: Errand,
) -> anyhow::Result<Exit> {
    let mut follower = Follower {
        history: app::history(store, &handle.id)?,
        head: handle.head.clone(),
        commands: handle.commands.clone(),
        answers: errand.answers,
        expects_start: errand.restarts,
        format: if shared.json { Format::Json } else { Format::Text },
        lines: Out::new(),
        state: SessionState::default(),
        time_zone: jiff::tz::TimeZone::system(),
    };
    // A resumed session prints what happens from here on, not its past.
    follower.state = SessionState::clone(&*follower.history.state_at(handle.begun)?);
    let ended = tokio::select! {
        ending = follower.follow() => Ok(ending?),
        signal = any_signal() => Err(signal?),
    };
    if let Err(signal) = ended {
        let why = CloseReason::Signal { signal: signal.to_owned() };
        let _ = handle.commands.send(Command::Close { why }).await;
    }
    let id = handle.id.clone();
    let head = handle.head.clone();
    let driver = handle.finished().await;
    let last = *head.borrow();
    follower.catch_up(last)?;
    driver?;
    let state = follower.state;
    match ended {
        Err(signal) => {
            parting(&id, &state);
            Ok(Exit::for_signal(signal))
        }
        Ok(Ending::NeedsPerson) => {
            needs_person(&id, &state);
            let only_caps = !state.requests.open.is_empty()
                && state
                    .requests
                    .open
                    .values()
                    .all(|open| matches!(open.request.kind, RequestKind::Cap { .. }));
            Ok(if only_caps { Exit::CapReached } else { Exit::NeedsPerson })
        }
        Ok(ending) => {
            parting(&id, &state);
            Ok(if ending == Ending::Success { Exit::Success } else { Exit::Failed })
        }
    }
}

/// The first signal that asks this process to end.
async fn any_signal() -> std::io::Result<&'static str> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
        _ = hang_up.recv() => "SIGHUP",
    })
}

#[expect(
    clippy::print_stderr,
    reason = "standard output is for the records, which a script may read"
)]
fn parting(id: &SessionId, state: &SessionState) {
    let counts = state.tasks.counts();
    eprintln!(
        "session {}: {}, {} of {} done. Replay it: planwright replay {}",
        id.short(),
        state.status().word(),
        counts.done,
        counts.total(),
        id.short()
    );
}

#[expect(
    clippy::print_stderr,
    reason = "standard output is for the records, which a script may read"
)]
fn needs_person(id: &SessionId, state: &SessionState) {
    eprintln!("session {} waits for you:", id.short());
    for line in headless::open_questions(state) {
        eprintln!("  {line}");
    }
    eprintln!("go on with: planwright resume {}", id.short());
}

async fn watch(app: &App, store: &Store, handle: SessionHandle) -> anyhow::Result<Exit> {
    let settings = app.ui_settings()?;
    let view = SessionView {
        id: handle.id.clone(),
        history: app::history(store, &handle.id)?,
        head: handle.head.clone(),
        commands: Some(handle.commands.clone()),
        start_at: None,
        note: None,
    };
    let shown = tui::run_session(view, &settings).await;
    let why = match &shown {
        Ok(tui::Exit { reason: ExitReason::Signal(signal), .. }) => {
            CloseReason::Signal { signal: (*signal).to_owned() }
        }
        Ok(tui::Exit { reason: ExitReason::TerminalGone, .. }) => {
            CloseReason::Signal { signal: "SIGHUP".to_owned() }
        }
        _ => CloseReason::Quit,
    };
    // Whatever happened to the screen, the session is closed in good order first.
    let _ = handle.commands.send(Command::Close { why: why.clone() }).await;
    let id = handle.id.clone();
    handle.finished().await?;
    let exit = shown?;
    if !exit.summary.is_empty() {
        Out::new().line(&exit.summary)?;
    }
    let mut history = app::history(store, &id)?;
    let head = history.head()?;
    let state = history.state_at(head)?;
    Ok(match why {
        CloseReason::Signal { signal } => Exit::for_signal(&signal),
        _ => outcome(&state),
    })
}

/// What a session that was left means for the exit code.
fn outcome(state: &SessionState) -> Exit {
    use crate::state::SessionStatus::{Abandoned, Failed};
    match state.status() {
        Failed | Abandoned => Exit::Failed,
        _ => Exit::Success,
    }
}
