//! The loop of a screen: input, new records, time and signals become messages, messages become frames.
//!
//! It sleeps until one of them comes; an idle screen never wakes up.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use ratatui::buffer::Buffer;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::external_programs::{self, ProgramEnd};
use super::frame_limiter::{FRAME, FrameLimiter};
use super::session::{ExternalAction, ExternalOutcome, ScreenEffect, ScreenMessage, SessionScreen};
use super::terminal::{TerminalGuard, is_shell_job};
use super::terminal_input::{TerminalEvent, TerminalInput, is_terminal_gone};
use super::terminal_loans::{TerminalDesk, TerminalRequest, new_loan};
use super::{ExitReason, KeyError, TuiError, UiAppearance};
use planwright_model::Seq;
use planwright_state::replay::RecordSourceError;

/// How many inputs are taken in before a frame is drawn.
const BURST: usize = 256;

/// What the loop runs.
pub(crate) trait InteractiveScreen {
    fn update(&mut self, message: ScreenMessage) -> Result<ScreenEffect, RecordSourceError>;
    fn draw(&mut self, buf: &mut Buffer) -> Result<(), RecordSourceError>;
    /// How long after the last tick the next one is wanted; `None` for never.
    fn tick_delay(&mut self) -> Option<Duration>;
    /// What the terminal or another program is to do.
    fn take_external_action(&mut self) -> Option<ExternalAction> {
        None
    }
    /// Shows the person one line.
    fn show_notice(&mut self, line: &str);
    /// Takes on a theme and keys that were changed in the config.
    fn apply_appearance(&mut self, look: &UiAppearance) -> Result<(), KeyError>;
}

const NO_JOB_CONTROL: &str = "no shell with job control started this, it cannot be suspended";

impl InteractiveScreen for SessionScreen {
    fn update(&mut self, message: ScreenMessage) -> Result<ScreenEffect, RecordSourceError> {
        SessionScreen::update(self, message)
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), RecordSourceError> {
        SessionScreen::draw(self, buf)
    }

    fn tick_delay(&mut self) -> Option<Duration> {
        if self.has_deferred_layout()
            || self.is_behind()
            || self.is_filtering()
            || self.is_searching()
        {
            return Some(Duration::ZERO);
        }
        let next = self
            .time_until_next()
            .or_else(|| self.is_reading_files().then_some(Duration::ZERO))
            .or_else(|| self.is_ticking().then_some(self.tick_interval()));
        [next, self.message_time_left()].into_iter().flatten().min()
    }

    fn take_external_action(&mut self) -> Option<ExternalAction> {
        SessionScreen::next_external_action(self)
    }

    fn show_notice(&mut self, line: &str) {
        self.ui.message = Some(line.to_owned());
    }

    fn apply_appearance(&mut self, look: &UiAppearance) -> Result<(), KeyError> {
        SessionScreen::apply_appearance(self, look)
    }
}

/// Runs a screen until it ends.
pub(crate) async fn run_screen(
    app: &mut impl InteractiveScreen,
    head: Option<watch::Receiver<Seq>>,
    looks: Option<watch::Receiver<Arc<UiAppearance>>>,
) -> Result<ExitReason, TuiError> {
    let mut signals = ProcessSignals::new()?;
    let guard = TerminalGuard::enter()?;
    let mut looping = EventLoop {
        guard,
        desk: TerminalDesk::open(),
        // Nobody types before there is something to see, and two threads are not started before it.
        input: None,
        limiter: FrameLimiter::default(),
        last_tick: Instant::now(),
        head,
        next_records: None,
        appearance_changes: looks,
    };
    looping.limiter.request_frame();
    if let Some(reason) = looping.draw_frame(app)? {
        return Ok(reason);
    }
    if let Some(reason) = looping.start_input()? {
        return Ok(reason);
    }
    loop {
        if let Some(reason) = looping.run_external_actions(app, &mut signals).await? {
            return Ok(reason);
        }
        if let Some(reason) = looping.draw_frame(app)? {
            return Ok(reason);
        }
        let next = looping.next_event(app, &mut signals).await;
        let mut typed = match next {
            LoopEvent::Message(ScreenMessage::Input(_)) => true,
            LoopEvent::Message(ScreenMessage::Head(_)) => looping.is_response_to_input(),
            _ => false,
        };
        let mut flow = match next {
            LoopEvent::Message(message) => app.update(message)?,
            LoopEvent::Exit(reason) => return Ok(reason),
            LoopEvent::Suspend => ScreenEffect::Suspend,
            LoopEvent::Resumed => ScreenEffect::Redraw,
            LoopEvent::Resized => ScreenEffect::Draw,
            LoopEvent::Restyled(look) => handle_appearance_change(app, &look),
            LoopEvent::Asked(request) => {
                if let Some(reason) = looping.lend_terminal(request, &mut signals).await? {
                    return Ok(reason);
                }
                ScreenEffect::Draw
            }
            LoopEvent::Nothing => continue,
        };
        for _ in 0..BURST {
            if let Some(reason) = looping.apply_flow(flow, typed, app)? {
                return Ok(reason);
            }
            flow = match looping.pending_event() {
                Some(TerminalEvent::Event(event)) => {
                    typed = true;
                    app.update(ScreenMessage::Input(event))?
                }
                Some(TerminalEvent::Gone) => return Ok(ExitReason::TerminalGone),
                None => break,
            };
        }
    }
}

enum LoopEvent {
    Message(ScreenMessage),
    Exit(ExitReason),
    Suspend,
    Resumed,
    Resized,
    Restyled(Arc<UiAppearance>),
    /// A command of the run wants the terminal.
    Asked(TerminalRequest),
    Nothing,
}

/// Says in one line what became of a change in the config.
fn handle_appearance_change(app: &mut impl InteractiveScreen, look: &UiAppearance) -> ScreenEffect {
    let said = match &look.problem {
        Some(trouble) => trouble.clone(),
        None => match app.apply_appearance(look) {
            Ok(()) => "theme and keys are read again from the config".to_owned(),
            Err(error) => error.to_string(),
        },
    };
    app.show_notice(&said);
    ScreenEffect::Redraw
}

struct EventLoop {
    /// Goes before the guard does: nobody reads a terminal that was given back.
    /// There but while another program has the terminal.
    input: Option<TerminalInput>,
    guard: TerminalGuard,
    desk: TerminalDesk,
    limiter: FrameLimiter,
    last_tick: Instant,
    head: Option<watch::Receiver<Seq>>,
    /// New records are read once a frame, not once a commit, however many there are; `None` after the person did something,
    /// whose answer should not wait.
    next_records: Option<Instant>,
    appearance_changes: Option<watch::Receiver<Arc<UiAppearance>>>,
}

impl EventLoop {
    /// Whether the records that came are the first since the person did something.
    fn is_response_to_input(&mut self) -> bool {
        self.next_records.replace(Instant::now() + FRAME).is_none()
    }

    /// Lets the terminal or another program do what the screen asks for.
    async fn run_external_actions(
        &mut self,
        app: &mut impl InteractiveScreen,
        signals: &mut ProcessSignals,
    ) -> Result<Option<ExitReason>, TuiError> {
        while let Some(what) = app.take_external_action() {
            let done = match &what {
                ExternalAction::Copy { text } => {
                    self.guard.write(&external_programs::clipboard_sequence(text))
                }
                ExternalAction::Notify { text } => {
                    self.guard.write(&external_programs::notification_sequence(text))
                }
                ExternalAction::Edit { .. } | ExternalAction::Page { .. } => {
                    // Nobody but the program reads the terminal meanwhile.
                    self.input = None;
                    self.guard.release();
                    let returned = match run_program(what, signals).await {
                        Ok(returned) => returned,
                        Err(reason) => return Ok(Some(reason)),
                    };
                    if let Some(reason) = self.start_input()? {
                        return Ok(Some(reason));
                    }
                    let taken = self.guard.reacquire();
                    app.update(ScreenMessage::Returned(returned))?;
                    self.limiter.request_frame();
                    taken
                }
            };
            if let Some(reason) = self.check_terminal(done)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Steps aside while a command has the terminal.
    async fn lend_terminal(
        &mut self,
        request: TerminalRequest,
        signals: &mut ProcessSignals,
    ) -> Result<Option<ExitReason>, TuiError> {
        self.input = None;
        self.guard.release();
        let title = planwright_text::clean_line(&request.title);
        // A terminal that cannot be written to is noticed when it is taken back.
        let _ = writeln!(io::stdout(), "{title} has the terminal until it ends.");
        let (lent, mut returned) = new_loan();
        if request.granted.send(lent).is_ok() {
            loop {
                tokio::select! {
                    // Its end is dropped, never used.
                    _ = &mut returned => break,
                    signal = signals.next_signal() => {
                        // Keys that make signals belong to the command.
                        if let LoopEvent::Exit(reason @ ExitReason::Signal("SIGTERM" | "SIGHUP")) =
                            signal
                        {
                            return Ok(Some(reason));
                        }
                    }
                }
            }
        }
        if let Some(reason) = self.start_input()? {
            return Ok(Some(reason));
        }
        let taken = self.guard.reacquire();
        self.limiter.request_frame();
        self.check_terminal(taken)
    }

    /// Reads the terminal from now on.
    fn start_input(&mut self) -> Result<Option<ExitReason>, TuiError> {
        let opened = TerminalInput::open().map(|input| self.input = Some(input));
        self.check_terminal(opened)
    }

    /// Draws if a frame is due.
    fn draw_frame(
        &mut self,
        app: &mut impl InteractiveScreen,
    ) -> Result<Option<ExitReason>, TuiError> {
        if !self.limiter.take_frame(Instant::now()) {
            return Ok(None);
        }
        let mut drawn = Ok(());
        let shown = self.guard.draw(|buf| drawn = app.draw(buf));
        drawn?;
        self.check_terminal(shown)
    }

    /// Does what a message led to.
    fn apply_flow(
        &mut self,
        flow: ScreenEffect,
        typed: bool,
        app: &mut impl InteractiveScreen,
    ) -> Result<Option<ExitReason>, TuiError> {
        let done = match flow {
            ScreenEffect::Idle => return Ok(None),
            ScreenEffect::Draw | ScreenEffect::DrawAtOnce => Ok(()),
            ScreenEffect::Redraw => self.guard.clear(),
            ScreenEffect::Suspend if is_shell_job() => self.guard.suspend(),
            ScreenEffect::Suspend => {
                app.show_notice(NO_JOB_CONTROL);
                Ok(())
            }
            ScreenEffect::Exit(reason) => return Ok(Some(reason)),
        };
        if typed || flow == ScreenEffect::DrawAtOnce {
            self.limiter.request_immediate_frame();
        } else {
            self.limiter.request_frame();
        }
        self.check_terminal(done)
    }

    /// A terminal that is gone ends the screen in good order; any other error of it is one.
    fn check_terminal(&self, result: io::Result<()>) -> Result<Option<ExitReason>, TuiError> {
        match result {
            Ok(()) => Ok(None),
            Err(error) if self.is_terminal_lost(&error) => Ok(Some(ExitReason::TerminalGone)),
            Err(error) => Err(error.into()),
        }
    }

    fn is_terminal_lost(&self, error: &io::Error) -> bool {
        self.input
            .as_ref()
            .map_or_else(|| is_terminal_gone(error), |input| input.is_terminal_lost(error))
    }

    /// Input that is already there.
    fn pending_event(&mut self) -> Option<TerminalEvent> {
        let typed = self.input.as_mut().and_then(TerminalInput::pending_event);
        if typed.is_some() {
            self.next_records = None;
        }
        typed
    }

    /// Waits for whatever comes first. Input goes before records, so that a busy run never holds up a key.
    async fn next_event(
        &mut self,
        app: &mut impl InteractiveScreen,
        signals: &mut ProcessSignals,
    ) -> LoopEvent {
        let tick = app.tick_delay().map(|wait| self.last_tick + wait);
        let deadline =
            [tick, self.limiter.next_frame_at(Instant::now())].into_iter().flatten().min();
        tokio::select! {
            biased;
            next = signals.next_signal() => next,
            typed = next_terminal_event(&mut self.input) => match typed {
                TerminalEvent::Event(event) => {
                    self.next_records = None;
                    LoopEvent::Message(ScreenMessage::Input(event))
                }
                TerminalEvent::Gone => LoopEvent::Exit(ExitReason::TerminalGone),
            },
            () = sleep_until(deadline) => {
                let now = Instant::now();
                if tick.is_none_or(|tick| tick > now) {
                    return LoopEvent::Nothing;
                }
                self.last_tick = now;
                LoopEvent::Message(ScreenMessage::Tick)
            }
            head = head_changed(&mut self.head, self.next_records) => {
                if let Some(seq) = head {
                    return LoopEvent::Message(ScreenMessage::Head(seq));
                }
                self.head = None;
                LoopEvent::Message(ScreenMessage::Over)
            },
            request = self.desk.next_request() => LoopEvent::Asked(request),
            look = appearance_changed(&mut self.appearance_changes) => {
                if let Some(look) = look {
                    return LoopEvent::Restyled(look);
                }
                self.appearance_changes = None;
                LoopEvent::Nothing
            },
        }
    }
}

/// Runs an editor or a pager. A signal to end that comes meanwhile ends it as well, and then this program; keys that
/// make signals belong to the program that has the terminal.
async fn run_program(
    what: ExternalAction,
    signals: &mut ProcessSignals,
) -> Result<ExternalOutcome, ExitReason> {
    let cancel = CancellationToken::new();
    let running = external_programs::run_external_action(what, &cancel);
    tokio::pin!(running);
    let mut ending = None;
    let end = loop {
        tokio::select! {
            biased;
            end = &mut running => break end,
            signal = signals.next_signal(), if ending.is_none() => match signal {
                LoopEvent::Exit(ExitReason::Signal(name @ ("SIGTERM" | "SIGHUP"))) => {
                    ending = Some(name);
                    cancel.cancel();
                }
                // The program stopped itself; this one stops with it, so that the shell gets the terminal.
                LoopEvent::Suspend if is_shell_job() => {
                    let own = rustix::process::getpid();
                    // Nothing forbids a process to stop itself.
                    let _ = rustix::process::kill_process(own, rustix::process::Signal::STOP);
                }
                _ => {}
            },
        }
    };
    // What came in the same moment as the end: a key of the program's, or a signal for this one.
    while let Some(signal) = signals.next_signal().now_or_never() {
        if let LoopEvent::Exit(ExitReason::Signal(name @ ("SIGTERM" | "SIGHUP"))) = signal {
            ending = Some(name);
        }
    }
    match (end, ending) {
        (ProgramEnd::Returned(returned), None) => Ok(returned),
        // The person left the editor in the same moment; what they wrote is not used any more.
        (ProgramEnd::Returned(_), Some(name)) => Err(ExitReason::Signal(name)),
        (ProgramEnd::Ended { kept }, name) => {
            let name = name.unwrap_or("SIGTERM");
            if let Some(path) = kept {
                let path = planwright_text::clean_line(&path.to_string_lossy()).into_owned();
                // The terminal is given back already; where it is gone nobody can read this.
                let _ = writeln!(
                    io::stderr(),
                    "{name} ended your editor; what it had saved is in {path}"
                );
            }
            Err(ExitReason::Signal(name))
        }
    }
}

async fn next_terminal_event(input: &mut Option<TerminalInput>) -> TerminalEvent {
    match input {
        Some(input) => input.next_event().await,
        None => std::future::pending().await,
    }
}

/// The next number of the last record, not before a given time; `None` once nobody writes any more.
async fn head_changed(
    head: &mut Option<watch::Receiver<Seq>>,
    not_before: Option<Instant>,
) -> Option<Seq> {
    match head {
        Some(head) => {
            if let Some(at) = not_before {
                tokio::time::sleep_until(at.into()).await;
            }
            head.changed().await.ok().map(|()| *head.borrow_and_update())
        }
        None => std::future::pending().await,
    }
}

/// The next look; `None` once nobody watches the config any more.
async fn appearance_changed(
    looks: &mut Option<watch::Receiver<Arc<UiAppearance>>>,
) -> Option<Arc<UiAppearance>> {
    match looks {
        Some(looks) => looks.changed().await.ok().map(|()| Arc::clone(&looks.borrow_and_update())),
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// The signals a screen cares about.
struct ProcessSignals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    stop: Signal,
    resume: Signal,
    resize: Signal,
}

impl ProcessSignals {
    fn new() -> io::Result<Self> {
        let kind = |signal: rustix::process::Signal| SignalKind::from_raw(signal.as_raw());
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            stop: signal(kind(rustix::process::Signal::TSTP))?,
            resume: signal(kind(rustix::process::Signal::CONT))?,
            resize: signal(SignalKind::window_change())?,
        })
    }

    /// A closed terminal sends the signal to go on together with the one that it hung up: the latter counts.
    async fn next_signal(&mut self) -> LoopEvent {
        tokio::select! {
            biased;
            _ = self.hang_up.recv() => LoopEvent::Exit(ExitReason::Signal("SIGHUP")),
            _ = self.terminate.recv() => LoopEvent::Exit(ExitReason::Signal("SIGTERM")),
            _ = self.interrupt.recv() => LoopEvent::Exit(ExitReason::Signal("SIGINT")),
            _ = self.quit.recv() => LoopEvent::Exit(ExitReason::Signal("SIGQUIT")),
            _ = self.stop.recv() => LoopEvent::Suspend,
            _ = self.resume.recv() => LoopEvent::Resumed,
            _ = self.resize.recv() => LoopEvent::Resized,
        }
    }
}
