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

use super::frame_limiter::{FRAME, FrameLimiter};
use super::input::{Input, Typed, is_gone};
use super::outside::{self, ProgramEnd};
use super::session::{Flow, Message, Outside, Returned, Screen};
use super::terminal::{TerminalGuard, is_job};
use super::{ExitReason, KeyError, Look, TuiError};
use planwright_model::Seq;
use planwright_state::replay::SourceError;

/// How many inputs are taken in before a frame is drawn.
const BURST: usize = 256;

/// What the loop runs.
pub(crate) trait App {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError>;
    fn draw(&mut self, buf: &mut Buffer) -> Result<(), SourceError>;
    /// How long after the last tick the next one is wanted; `None` for never.
    fn wake(&mut self) -> Option<Duration>;
    /// What the terminal or another program is to do.
    fn take_outside(&mut self) -> Option<Outside> {
        None
    }
    /// Shows the person one line.
    fn notify(&mut self, line: &str);
    /// Takes on a theme and keys that were changed in the config.
    fn restyle(&mut self, look: &Look) -> Result<(), KeyError>;
}

const NO_JOB_CONTROL: &str = "no shell with job control started this, it cannot be suspended";

impl App for Screen {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError> {
        Screen::update(self, message)
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), SourceError> {
        Screen::draw(self, buf)
    }

    fn wake(&mut self) -> Option<Duration> {
        if self.is_unfinished() || self.is_behind() || self.is_filtering() || self.is_searching() {
            return Some(Duration::ZERO);
        }
        self.until_next().or_else(|| self.is_ticking().then_some(self.tick_every()))
    }

    fn take_outside(&mut self) -> Option<Outside> {
        Screen::take_outside(self)
    }

    fn notify(&mut self, line: &str) {
        self.ui.message = Some(line.to_owned());
    }

    fn restyle(&mut self, look: &Look) -> Result<(), KeyError> {
        Screen::restyle(self, look)
    }
}

/// Runs a screen until it ends.
pub(crate) async fn run(
    app: &mut impl App,
    head: Option<watch::Receiver<Seq>>,
    looks: Option<watch::Receiver<Arc<Look>>>,
) -> Result<ExitReason, TuiError> {
    let mut signals = Signals::new()?;
    let guard = TerminalGuard::enter()?;
    let mut looping = Loop {
        guard,
        // Nobody types before there is something to see, and two threads are not started before it.
        input: None,
        limiter: FrameLimiter::default(),
        last_tick: Instant::now(),
        head,
        next_records: None,
        looks,
    };
    looping.limiter.request();
    if let Some(reason) = looping.frame(app)? {
        return Ok(reason);
    }
    if let Some(reason) = looping.listen()? {
        return Ok(reason);
    }
    loop {
        if let Some(reason) = looping.outside(app, &mut signals).await? {
            return Ok(reason);
        }
        if let Some(reason) = looping.frame(app)? {
            return Ok(reason);
        }
        let next = looping.next(app, &mut signals).await;
        let mut typed = match next {
            Next::Message(Message::Input(_)) => true,
            Next::Message(Message::Head(_)) => looping.is_answer(),
            _ => false,
        };
        let mut flow = match next {
            Next::Message(message) => app.update(message)?,
            Next::Exit(reason) => return Ok(reason),
            Next::Suspend => Flow::Suspend,
            Next::Resumed => Flow::Redraw,
            Next::Resized => Flow::Draw,
            Next::Restyled(look) => restyle(app, &look),
            Next::Nothing => continue,
        };
        for _ in 0..BURST {
            if let Some(reason) = looping.follow(flow, typed, app)? {
                return Ok(reason);
            }
            flow = match looping.waiting() {
                Some(Typed::Event(event)) => {
                    typed = true;
                    app.update(Message::Input(event))?
                }
                Some(Typed::Gone) => return Ok(ExitReason::TerminalGone),
                None => break,
            };
        }
    }
}

enum Next {
    Message(Message),
    Exit(ExitReason),
    Suspend,
    Resumed,
    Resized,
    Restyled(Arc<Look>),
    Nothing,
}

/// Says in one line what became of a change in the config.
fn restyle(app: &mut impl App, look: &Look) -> Flow {
    let said = match &look.trouble {
        Some(trouble) => trouble.clone(),
        None => match app.restyle(look) {
            Ok(()) => "theme and keys are read again from the config".to_owned(),
            Err(error) => error.to_string(),
        },
    };
    app.notify(&said);
    Flow::Redraw
}

struct Loop {
    /// Goes before the guard does: nobody reads a terminal that was given back.
    /// There but while another program has the terminal.
    input: Option<Input>,
    guard: TerminalGuard,
    limiter: FrameLimiter,
    last_tick: Instant,
    head: Option<watch::Receiver<Seq>>,
    /// New records are read once a frame, not once a commit, however many there are; `None` after the person did something,
    /// whose answer should not wait.
    next_records: Option<Instant>,
    looks: Option<watch::Receiver<Arc<Look>>>,
}

impl Loop {
    /// Whether the records that came are the first since the person did something.
    fn is_answer(&mut self) -> bool {
        self.next_records.replace(Instant::now() + FRAME).is_none()
    }

    /// Lets the terminal or another program do what the screen asks for.
    async fn outside(
        &mut self,
        app: &mut impl App,
        signals: &mut Signals,
    ) -> Result<Option<ExitReason>, TuiError> {
        while let Some(what) = app.take_outside() {
            let done = match &what {
                Outside::Copy { text } => self.guard.write(&outside::clipboard(text)),
                Outside::Notify { text } => self.guard.write(&outside::notice(text)),
                Outside::Edit { .. } | Outside::Page { .. } => {
                    // Nobody but the program reads the terminal meanwhile.
                    self.input = None;
                    self.guard.give_back();
                    let returned = match run_program(what, signals).await {
                        Ok(returned) => returned,
                        Err(reason) => return Ok(Some(reason)),
                    };
                    if let Some(reason) = self.listen()? {
                        return Ok(Some(reason));
                    }
                    let taken = self.guard.take_again();
                    app.update(Message::Returned(returned))?;
                    self.limiter.request();
                    taken
                }
            };
            if let Some(reason) = self.survived(done)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Reads the terminal from now on.
    fn listen(&mut self) -> Result<Option<ExitReason>, TuiError> {
        let opened = Input::open().map(|input| self.input = Some(input));
        self.survived(opened)
    }

    /// Draws if a frame is due.
    fn frame(&mut self, app: &mut impl App) -> Result<Option<ExitReason>, TuiError> {
        if !self.limiter.take(Instant::now()) {
            return Ok(None);
        }
        let mut drawn = Ok(());
        let shown = self.guard.draw(|buf| drawn = app.draw(buf));
        drawn?;
        self.survived(shown)
    }

    /// Does what a message led to.
    fn follow(
        &mut self,
        flow: Flow,
        typed: bool,
        app: &mut impl App,
    ) -> Result<Option<ExitReason>, TuiError> {
        let done = match flow {
            Flow::Idle => return Ok(None),
            Flow::Draw | Flow::DrawAtOnce => Ok(()),
            Flow::Redraw => self.guard.clear(),
            Flow::Suspend if is_job() => self.guard.suspend(),
            Flow::Suspend => {
                app.notify(NO_JOB_CONTROL);
                Ok(())
            }
            Flow::Exit(reason) => return Ok(Some(reason)),
        };
        if typed || flow == Flow::DrawAtOnce {
            self.limiter.request_at_once();
        } else {
            self.limiter.request();
        }
        self.survived(done)
    }

    /// A terminal that is gone ends the screen in good order; any other error of it is one.
    fn survived(&self, result: io::Result<()>) -> Result<Option<ExitReason>, TuiError> {
        match result {
            Ok(()) => Ok(None),
            Err(error) if self.is_lost(&error) => Ok(Some(ExitReason::TerminalGone)),
            Err(error) => Err(error.into()),
        }
    }

    fn is_lost(&self, error: &io::Error) -> bool {
        self.input.as_ref().map_or_else(|| is_gone(error), |input| input.is_lost(error))
    }

    /// Input that is already there.
    fn waiting(&mut self) -> Option<Typed> {
        let typed = self.input.as_mut().and_then(Input::waiting);
        if typed.is_some() {
            self.next_records = None;
        }
        typed
    }

    /// Waits for whatever comes first. Input goes before records, so that a busy run never holds up a key.
    async fn next(&mut self, app: &mut impl App, signals: &mut Signals) -> Next {
        let tick = app.wake().map(|wait| self.last_tick + wait);
        let deadline = [tick, self.limiter.due(Instant::now())].into_iter().flatten().min();
        tokio::select! {
            biased;
            next = signals.next() => next,
            typed = typed(&mut self.input) => match typed {
                Typed::Event(event) => {
                    self.next_records = None;
                    Next::Message(Message::Input(event))
                }
                Typed::Gone => Next::Exit(ExitReason::TerminalGone),
            },
            () = sleep_until(deadline) => {
                let now = Instant::now();
                if tick.is_none_or(|tick| tick > now) {
                    return Next::Nothing;
                }
                self.last_tick = now;
                Next::Message(Message::Tick)
            }
            head = changed(&mut self.head, self.next_records) => {
                if let Some(seq) = head {
                    return Next::Message(Message::Head(seq));
                }
                self.head = None;
                Next::Message(Message::Over)
            },
            look = changed_look(&mut self.looks) => {
                if let Some(look) = look {
                    return Next::Restyled(look);
                }
                self.looks = None;
                Next::Nothing
            },
        }
    }
}

/// Runs an editor or a pager. A signal to end that comes meanwhile ends it as well, and then this program; keys that
/// make signals belong to the program that has the terminal.
async fn run_program(what: Outside, signals: &mut Signals) -> Result<Returned, ExitReason> {
    let cancel = CancellationToken::new();
    let running = outside::run(what, &cancel);
    tokio::pin!(running);
    let mut ending = None;
    let end = loop {
        tokio::select! {
            biased;
            end = &mut running => break end,
            signal = signals.next(), if ending.is_none() => match signal {
                Next::Exit(ExitReason::Signal(name @ ("SIGTERM" | "SIGHUP"))) => {
                    ending = Some(name);
                    cancel.cancel();
                }
                // The program stopped itself; this one stops with it, so that the shell gets the terminal.
                Next::Suspend if is_job() => {
                    let own = rustix::process::getpid();
                    let _ = rustix::process::kill_process(own, rustix::process::Signal::STOP);
                }
                _ => {}
            },
        }
    };
    // What came in the same moment as the end: a key of the program's, or a signal for this one.
    while let Some(signal) = signals.next().now_or_never() {
        if let Next::Exit(ExitReason::Signal(name @ ("SIGTERM" | "SIGHUP"))) = signal {
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

async fn typed(input: &mut Option<Input>) -> Typed {
    match input {
        Some(input) => input.next().await,
        None => std::future::pending().await,
    }
}

/// The next number of the last record, not before a given time; `None` once nobody writes any more.
async fn changed(
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
async fn changed_look(looks: &mut Option<watch::Receiver<Arc<Look>>>) -> Option<Arc<Look>> {
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
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    stop: Signal,
    resume: Signal,
    resize: Signal,
}

impl Signals {
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
    async fn next(&mut self) -> Next {
        tokio::select! {
            biased;
            _ = self.hang_up.recv() => Next::Exit(ExitReason::Signal("SIGHUP")),
            _ = self.terminate.recv() => Next::Exit(ExitReason::Signal("SIGTERM")),
            _ = self.interrupt.recv() => Next::Exit(ExitReason::Signal("SIGINT")),
            _ = self.quit.recv() => Next::Exit(ExitReason::Signal("SIGQUIT")),
            _ = self.stop.recv() => Next::Suspend,
            _ = self.resume.recv() => Next::Resumed,
            _ = self.resize.recv() => Next::Resized,
        }
    }
}
