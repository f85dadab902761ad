//! What the person types, and whether the terminal is still there.
//!
//! Crossterm's reader takes the end of the input for "nothing yet" and never returns once the terminal hung up. So only
//! a thread of its own asks it, and only while the terminal is there; another thread waits for the hang-up alone.
//!
//! Its default source waits for edges, and a resize that comes with a key takes the edge of the key away: the key is
//! there but not read before the next one. Hence the feature `use-dev-tty`, whose source asks what is there now.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

/// How many inputs may wait to be taken in.
const MAX_QUEUED_EVENTS: usize = 1_024;
/// How long the reader rests after there was something to read and it was not for this process.
const FOREIGN_INPUT_DELAY: Duration = Duration::from_millis(50);
/// How long crossterm may look for input that is there: given no time at all, it does not look.
const INPUT_POLL_TIMEOUT: Duration = Duration::from_millis(20);

/// How long a reader is waited for that is not wanted any more.
const READER_SHUTDOWN_MS: u32 = 200;

/// What comes from the terminal.
#[derive(Debug)]
pub(crate) enum TerminalEvent {
    Event(Event),
    /// Nobody is on the other side any more.
    Gone,
}

/// What was typed and read, and is for the next screen: the one before had made up its mind to leave.
static AHEAD: Mutex<Vec<Event>> = Mutex::new(Vec::new());

fn lock_typeahead() -> MutexGuard<'static, Vec<Event>> {
    AHEAD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the terminal until it is dropped.
#[derive(Debug)]
pub(crate) struct TerminalInput {
    tty: Arc<OwnedFd>,
    typed: mpsc::Receiver<TerminalEvent>,
    /// The threads end when this is closed.
    stop: Option<PipeWriter>,
    reader: Option<JoinHandle<()>>,
}

/// The reader may be at a key just now: it is waited for, so that the key goes to whoever reads next.
impl Drop for TerminalInput {
    fn drop(&mut self) {
        drop(self.stop.take());
        let Some(reader) = self.reader.take() else { return };
        // With the terminal gone it may never come back.
        for _ in 0..READER_SHUTDOWN_MS {
            let over = reader.is_finished();
            while let Ok(typed) = self.typed.try_recv() {
                if let TerminalEvent::Event(event) = typed {
                    lock_typeahead().push(event);
                }
            }
            if over {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl TerminalInput {
    pub(crate) fn open() -> io::Result<Self> {
        let tty = Arc::new(open_terminal()?);
        let (stopped, stop) = io::pipe()?;
        let (sender, typed) = mpsc::channel(MAX_QUEUED_EVENTS);
        let reader = InputThread {
            tty: Arc::clone(&tty),
            stopped: stopped.try_clone()?,
            sender: sender.clone(),
        };
        for event in lock_typeahead().drain(..) {
            // The channel is new and has room for what can be typed ahead; more than that is dropped.
            let _ = sender.try_send(TerminalEvent::Event(event));
        }
        let watcher = InputThread { tty: Arc::clone(&tty), stopped, sender };
        let reader = spawn_thread("terminal-input", move || reader.run_reader())?;
        spawn_thread("terminal-watch", move || watcher.watch_hangup())?;
        Ok(Self { tty, typed, stop: Some(stop), reader: Some(reader) })
    }

    /// The next input. Can be dropped and asked again without a loss.
    pub(crate) async fn next_event(&mut self) -> TerminalEvent {
        self.typed.recv().await.unwrap_or(TerminalEvent::Gone)
    }

    /// Input that is already there.
    pub(crate) fn pending_event(&mut self) -> Option<TerminalEvent> {
        match self.typed.try_recv() {
            Ok(typed) => Some(typed),
            Err(mpsc::error::TryRecvError::Empty) => None,
            Err(mpsc::error::TryRecvError::Disconnected) => Some(TerminalEvent::Gone),
        }
    }

    /// Whether an error of the terminal means that nobody is there any more.
    pub(crate) fn is_terminal_lost(&self, error: &io::Error) -> bool {
        is_terminal_gone(error) || has_hung_up(&*self.tty)
    }
}

/// The terminal that crossterm reads: the standard input, or the controlling terminal if that is something else.
fn open_terminal() -> io::Result<OwnedFd> {
    let input = io::stdin();
    if rustix::termios::isatty(&input) {
        return input.as_fd().try_clone_to_owned();
    }
    Ok(File::options().read(true).write(true).open("/dev/tty")?.into())
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// What both threads have.
struct InputThread {
    tty: Arc<OwnedFd>,
    stopped: PipeReader,
    sender: mpsc::Sender<TerminalEvent>,
}

impl InputThread {
    fn run_reader(self) {
        loop {
            let seen = poll_terminal(&*self.tty, &self.stopped, PollFlags::IN);
            let read = match seen {
                PollOutcome::Input if is_foreground(&*self.tty) => self.forward_events(),
                PollOutcome::Input => Ok(0),
                PollOutcome::Gone => break,
                PollOutcome::Stopped => return,
            };
            match read {
                // Someone else's input, or a part of a key: it must not keep this thread busy.
                Ok(0) => std::thread::sleep(FOREIGN_INPUT_DELAY),
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%error, "the terminal cannot be read any more");
                    break;
                }
            }
        }
        // Here and below: whoever does not listen any more has left the screen already.
        let _ = self.sender.blocking_send(TerminalEvent::Gone);
    }

    /// Passes on all that can be read now, and says how much that was.
    fn forward_events(&self) -> io::Result<usize> {
        let mut count = 0;
        while crossterm::event::poll(INPUT_POLL_TIMEOUT)? {
            let event = TerminalEvent::Event(crossterm::event::read()?);
            self.sender
                .blocking_send(event)
                .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            count += 1;
        }
        Ok(count)
    }

    fn watch_hangup(self) {
        if poll_terminal(&*self.tty, &self.stopped, PollFlags::empty()) == PollOutcome::Gone {
            let _ = self.sender.blocking_send(TerminalEvent::Gone);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PollOutcome {
    Input,
    Gone,
    Stopped,
}

/// Sleeps until the terminal has one of the flags, hangs up, or is not wanted any more.
fn poll_terminal(tty: &impl AsFd, stopped: &impl AsFd, flags: PollFlags) -> PollOutcome {
    loop {
        let mut fds =
            [PollFd::new(tty, flags), PollFd::new(stopped, PollFlags::IN | PollFlags::HUP)];
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => {
                tracing::debug!(%error, "the terminal cannot be polled any more");
                return PollOutcome::Gone;
            }
        }
        if !fds[1].revents().is_empty() {
            return PollOutcome::Stopped;
        }
        if fds[0].revents().intersects(ENDED) {
            return PollOutcome::Gone;
        }
        if !fds[0].revents().is_empty() {
            return PollOutcome::Input;
        }
    }
}

const ENDED: PollFlags = PollFlags::HUP.union(PollFlags::ERR).union(PollFlags::NVAL);

fn has_hung_up(tty: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(tty, PollFlags::empty())];
    let now = rustix::event::Timespec::default();
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().intersects(ENDED)
}

/// Whether what is typed is meant for this process. Where nobody can tell, it is.
fn is_foreground(tty: &impl AsFd) -> bool {
    rustix::termios::tcgetpgrp(tty).map_or(true, |group| group == rustix::process::getpgrp())
}

/// Whether an error means that nobody is on the other side any more.
pub(super) fn is_terminal_gone(error: &io::Error) -> bool {
    let gone = [Errno::IO, Errno::PIPE, Errno::NXIO, Errno::NOTTY, Errno::BADF];
    error.kind() == io::ErrorKind::UnexpectedEof
        || gone.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Instant;

    use portable_pty::{MasterPty, PtySize, native_pty_system};
    use rustix::fs::{Mode, OFlags};

    use super::*;

    fn pair() -> (Box<dyn MasterPty + Send>, OwnedFd) {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let name = pair.master.tty_name().unwrap();
        let tty = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        (pair.master, tty)
    }

    #[test]
    fn a_terminal_that_goes_away_is_noticed_at_once() {
        let (master, tty) = pair();
        let (stopped, _stop) = io::pipe().unwrap();
        assert!(!has_hung_up(&tty));
        let start = Instant::now();
        let closing = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(master);
        });
        assert_eq!(poll_terminal(&tty, &stopped, PollFlags::empty()), PollOutcome::Gone);
        assert_eq!(poll_terminal(&tty, &stopped, PollFlags::IN), PollOutcome::Gone);
        assert!(has_hung_up(&tty));
        assert!(start.elapsed() < Duration::from_secs(1));
        closing.join().unwrap();
    }

    #[test]
    fn input_wakes_the_reader_and_not_the_one_that_watches() {
        let (master, tty) = pair();
        let (stopped, stop) = io::pipe().unwrap();
        master.take_writer().unwrap().write_all(b"a\n").unwrap();
        assert_eq!(poll_terminal(&tty, &stopped, PollFlags::IN), PollOutcome::Input);
        let watching =
            std::thread::spawn(move || poll_terminal(&tty, &stopped, PollFlags::empty()));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!watching.is_finished());
        drop(stop);
        assert_eq!(watching.join().unwrap(), PollOutcome::Stopped);
    }

    #[test]
    fn errors_of_a_dead_terminal_are_told_from_others() {
        for errno in [Errno::IO, Errno::NOTTY, Errno::BADF, Errno::PIPE, Errno::NXIO] {
            assert!(is_terminal_gone(&errno.into()), "{errno}");
        }
        assert!(is_terminal_gone(&io::ErrorKind::UnexpectedEof.into()));
        assert!(!is_terminal_gone(&Errno::NOSPC.into()));
        assert!(!is_terminal_gone(&Errno::INTR.into()));
    }
}
