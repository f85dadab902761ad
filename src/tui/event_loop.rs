//! The loop of a screen: input, new records, time and signals become messages, messages become frames.
//!
//! It sleeps until one of them comes; an idle screen never wakes up.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt as _;
use ratatui::buffer::Buffer;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::frame_limiter::FrameLimiter;
use super::session::{Flow, Message, Screen};
use super::terminal::TerminalGuard;
use super::{ExitReason, TuiError};
use crate::model::Seq;
use crate::replay::SourceError;

/// How many inputs are taken in before a frame is drawn.
const BURST: usize = 256;

/// What the loop runs.
pub(crate) trait App {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError>;
    fn draw(&mut self, buf: &mut Buffer) -> Result<(), SourceError>;
    /// How long after the last tick the next one is wanted; `None` for never.
    fn wake(&mut self) -> Option<Duration>;
    fn take_bell(&mut self) -> bool {
        false
    }
}

impl App for Screen {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError> {
        Screen::update(self, message)
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), SourceError> {
        Screen::draw(self, buf)
    }

    fn wake(&mut self) -> Option<Duration> {
        if self.is_behind() {
            return Some(Duration::ZERO);
        }
        self.until_next().or_else(|| self.is_ticking().then_some(Duration::from_secs(1)))
    }

    fn take_bell(&mut self) -> bool {
        Screen::take_bell(self)
    }
}

/// Runs a screen until it ends.
pub(crate) async fn run(
    app: &mut impl App,
    head: Option<watch::Receiver<Seq>>,
) -> Result<ExitReason, TuiError> {
    let mut signals = Signals::new()?;
    let mut guard = TerminalGuard::enter()?;
    let mut events = EventStream::new();
    let mut looping = Loop { limiter: FrameLimiter::default(), last_tick: Instant::now(), head };
    looping.limiter.request();
    loop {
        if let Some(reason) = looping.frame(app, &mut guard)? {
            return Ok(reason);
        }
        let message = match looping.next(app, &mut events, &mut signals).await {
            Next::Message(message) => message,
            Next::Exit(reason) => return Ok(reason),
            Next::Suspend => {
                guard.suspend()?;
                looping.limiter.request();
                continue;
            }
            Next::Resumed => {
                guard.clear()?;
                looping.limiter.request();
                continue;
            }
            Next::Nothing => continue,
        };
        let mut flow = app.update(message)?;
        for _ in 0..BURST {
            if let Some(reason) = looping.follow(flow, &mut guard)? {
                return Ok(reason);
            }
            match waiting_input() {
                Ok(Some(event)) => flow = app.update(Message::Input(event))?,
                Ok(None) => break,
                Err(_) => return Ok(ExitReason::TerminalGone),
            }
        }
    }
}

/// Input that is already there. The stream must not be asked for it: polled outside of the task that waits on it, it
/// would wake nobody when the next key comes.
fn waiting_input() -> io::Result<Option<Event>> {
    if crossterm::event::poll(Duration::ZERO)? {
        return crossterm::event::read().map(Some);
    }
    Ok(None)
}

enum Next {
    Message(Message),
    Exit(ExitReason),
    Suspend,
    Resumed,
    Nothing,
}

struct Loop {
    limiter: FrameLimiter,
    last_tick: Instant,
    head: Option<watch::Receiver<Seq>>,
}

impl Loop {
    /// Draws if a frame is due. A terminal that is gone ends the screen, not the program.
    fn frame(
        &mut self,
        app: &mut impl App,
        guard: &mut TerminalGuard,
    ) -> Result<Option<ExitReason>, TuiError> {
        if app.take_bell() {
            guard.ring()?;
        }
        if !self.limiter.take(Instant::now()) {
            return Ok(None);
        }
        let mut drawn = Ok(());
        let shown = guard.draw(|buf| drawn = app.draw(buf));
        drawn?;
        match shown {
            Err(error) if is_gone(&error) => Ok(Some(ExitReason::TerminalGone)),
            Err(error) => Err(error.into()),
            Ok(()) => Ok(None),
        }
    }

    /// Does what a message led to.
    fn follow(
        &mut self,
        flow: Flow,
        guard: &mut TerminalGuard,
    ) -> Result<Option<ExitReason>, TuiError> {
        match flow {
            Flow::Idle => return Ok(None),
            Flow::Draw => {}
            Flow::Redraw => guard.clear()?,
            Flow::Suspend => guard.suspend()?,
            Flow::Exit(reason) => return Ok(Some(reason)),
        }
        self.limiter.request();
        Ok(None)
    }

    /// Waits for whatever comes first. Input goes before records, so that a busy run never holds up a key.
    async fn next(
        &mut self,
        app: &mut impl App,
        events: &mut EventStream,
        signals: &mut Signals,
    ) -> Next {
        let tick = app.wake().map(|wait| self.last_tick + wait);
        let deadline = [tick, self.limiter.due(Instant::now())].into_iter().flatten().min();
        tokio::select! {
            biased;
            next = signals.next() => next,
            event = events.next() => match event {
                Some(Ok(event)) => Next::Message(Message::Input(event)),
                Some(Err(_)) | None => Next::Exit(ExitReason::TerminalGone),
            },
            () = sleep_until(deadline) => {
                let now = Instant::now();
                if tick.is_none_or(|tick| tick > now) {
                    return Next::Nothing;
                }
                self.last_tick = now;
                Next::Message(Message::Tick)
            }
            head = changed(&mut self.head) => {
                if let Some(seq) = head {
                    return Next::Message(Message::Head(seq));
                }
                self.head = None;
                Next::Nothing
            },
        }
    }
}

/// The next number of the last record; `None` once nobody writes any more.
async fn changed(head: &mut Option<watch::Receiver<Seq>>) -> Option<Seq> {
    match head {
        Some(head) => head.changed().await.ok().map(|()| *head.borrow_and_update()),
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// Whether an error means that nobody is on the other side any more.
fn is_gone(error: &io::Error) -> bool {
    let gone = [rustix::io::Errno::IO, rustix::io::Errno::PIPE, rustix::io::Errno::NXIO];
    gone.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// The signals a screen cares about.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    stop: Signal,
    resume: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let kind = |signal: rustix::process::Signal| SignalKind::from_raw(signal.as_raw());
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(kind(rustix::process::Signal::TSTP))?,
            resume: signal(kind(rustix::process::Signal::CONT))?,
        })
    }

    async fn next(&mut self) -> Next {
        tokio::select! {
            _ = self.terminate.recv() => Next::Exit(ExitReason::Signal("SIGTERM")),
            _ = self.hang_up.recv() => Next::Exit(ExitReason::Signal("SIGHUP")),
            _ = self.interrupt.recv() => Next::Exit(ExitReason::Signal("SIGINT")),
            _ = self.stop.recv() => Next::Suspend,
            _ = self.resume.recv() => Next::Resumed,
        }
    }
}
