//! Commands that have the person's terminal while they run. They run on a terminal of their own, so that what they print
//! can be recorded on its way to the one that the person looks at.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use futures_util::future::BoxFuture;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::recorder::OutputRecorder;
use super::{
    DRAIN_TIMEOUT, FLUSH_DELAY, GRACE, GroupGuard, ProcessSpec, exit_outcome, group, program_words,
    send_event, sleep_until_flush, start_ticks,
};
use crate::executor::{AttemptEvent, AttemptEventSink, AttemptOutcome};
use planwright_model::event::{CallOutcome, OutputStream, Usage};

/// How long the thread that reads keys waits for one before it looks whether it is still needed.
const KEY_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Whoever shows the run, and steps aside when a command needs the terminal.
pub trait TerminalLender: Send + Sync + std::fmt::Debug {
    /// Waits until the terminal is free for a command. `Err` says why there is none.
    fn borrow_terminal(&self, title: &str) -> BoxFuture<'_, Result<TerminalLoan, String>>;
}

/// The terminal, given back when this is dropped.
pub struct TerminalLoan {
    _held: Box<dyn Send>,
}

impl TerminalLoan {
    /// Holds what tells the lender by its drop that the terminal is free again.
    pub fn new(held: impl Send + 'static) -> Self {
        Self { _held: Box::new(held) }
    }
}

impl std::fmt::Debug for TerminalLoan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalLoan").finish_non_exhaustive()
    }
}

/// Runs a command to its end while it has the terminal. Never fails: an error is an outcome.
pub(crate) async fn run_on_terminal(
    spec: ProcessSpec,
    title: &str,
    lender: &dyn TerminalLender,
    cancel: CancellationToken,
    events: AttemptEventSink,
) -> AttemptOutcome {
    let loan = tokio::select! {
        loan = lender.borrow_terminal(title) => loan,
        () = cancel.cancelled() => return AttemptOutcome::without_output(CallOutcome::Cancelled),
    };
    let loan = match loan {
        Ok(loan) => loan,
        Err(why) => return AttemptOutcome::could_not_start(why),
    };
    let begun = Instant::now();
    let mut output = OutputRecorder::new(&spec, &events, begun);
    let outcome = match start_session(&spec) {
        Ok(session) => session.supervise(&spec, &cancel, &events, &mut output).await,
        Err(error) => CallOutcome::CouldNotStart { message: format!("the terminal: {error}") },
    };
    drop(loan);
    let (output_bytes, dropped_bytes) = output.finish().await;
    let elapsed = begun.elapsed();
    AttemptOutcome { outcome, elapsed, output_bytes, dropped_bytes, usage: Usage::default() }
}

/// The person's terminal while keys go through untouched. Dropping it puts the settings back.
struct RawTerminal {
    tty: File,
    before: Termios,
}

impl RawTerminal {
    fn open() -> io::Result<Self> {
        let tty = File::options().read(true).write(true).open("/dev/tty")?;
        let before = tcgetattr(&tty)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&tty, OptionalActions::Now, &raw)?;
        Ok(Self { tty, before })
    }

    fn size(&self) -> io::Result<PtySize> {
        let size = tcgetwinsize(&self.tty)?;
        Ok(PtySize {
            rows: size.ws_row,
            cols: size.ws_col,
            pixel_width: size.ws_xpixel,
            pixel_height: size.ws_ypixel,
        })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Err(error) = tcsetattr(&self.tty, OptionalActions::Now, &self.before) {
            tracing::warn!(%error, "the settings of the terminal cannot be put back");
        }
    }
}

/// A command on a terminal of its own, and the threads that carry bytes between it and the person's.
struct TerminalSession {
    child: std::process::Child,
    pieces: mpsc::Receiver<Vec<u8>>,
    is_over: Arc<AtomicBool>,
    keys: JoinHandle<()>,
}

fn start_session(spec: &ProcessSpec) -> io::Result<TerminalSession> {
    let terminal = RawTerminal::open()?;
    let size = terminal.size()?;
    let pair = native_pty_system().openpty(size).map_err(io::Error::other)?;
    let child: Box<dyn portable_pty::Child> =
        pair.slave.spawn_command(build_command(spec)).map_err(io::Error::other)?;
    let child = child.downcast::<std::process::Child>();
    let child = *child.map_err(|_| io::Error::other("the command has no process"))?;
    drop(pair.slave);
    let reader = pair.master.try_clone_reader().map_err(io::Error::other)?;
    let screen = terminal.tty.try_clone()?;
    let (sender, pieces) = mpsc::channel(16);
    // It ends with the last process that has the command's terminal.
    std::thread::spawn(move || carry_output(reader, screen, &sender));
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let keys = std::thread::spawn(move || {
        if let Err(error) = carry_keys(&terminal, &*pair.master, size, &over) {
            tracing::warn!(%error, "keys do not reach the command any more");
        }
    });
    Ok(TerminalSession { child, pieces, is_over, keys })
}

fn build_command(spec: &ProcessSpec) -> CommandBuilder {
    let mut words = program_words(spec).into_iter();
    let mut command = CommandBuilder::new(words.next().unwrap_or_default());
    command.args(words);
    command.cwd(&spec.directory);
    spec.without.iter().for_each(|name| command.env_remove(name));
    spec.with.iter().for_each(|(name, value)| command.env(name, value));
    command
}

/// What the command prints goes to the person first, and then to whoever records it.
fn carry_output(
    mut reader: Box<dyn io::Read + Send>,
    mut screen: File,
    pieces: &mpsc::Sender<Vec<u8>>,
) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        // A person who cannot see it any more has closed the terminal; what was printed is recorded all the same.
        let _ = screen.write_all(&buffer[..read]);
        if pieces.blocking_send(buffer[..read].to_vec()).is_err() {
            return;
        }
    }
}

/// Keys go to the command, and so does a change of the size.
fn carry_keys(
    terminal: &RawTerminal,
    master: &dyn MasterPty,
    mut size: PtySize,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let mut writer = master.take_writer().map_err(io::Error::other)?;
    let mut buffer = [0; 4096];
    while !is_over.load(Ordering::Acquire) {
        let mut waiting = [PollFd::new(&terminal.tty, PollFlags::IN)];
        match poll(&mut waiting, Some(&KEY_WAIT)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => match (&terminal.tty).read(&mut buffer)? {
                0 => return Ok(()),
                read => writer.write_all(&buffer[..read])?,
            },
            Err(error) => return Err(error.into()),
        }
        let now = terminal.size()?;
        if now != size {
            size = now;
            master.resize(now).map_err(io::Error::other)?;
        }
    }
    Ok(())
}

impl TerminalSession {
    async fn supervise(
        self,
        spec: &ProcessSpec,
        cancel: &CancellationToken,
        events: &AttemptEventSink,
        output: &mut OutputRecorder<'_>,
    ) -> CallOutcome {
        let Self { mut child, mut pieces, is_over, keys } = self;
        let pid = child.id();
        // Ends what the command left on its terminal, even if nobody waits for it any more.
        let guard = GroupGuard(pid);
        let started_ticks = start_ticks(pid).unwrap_or_default();
        send_event(events, AttemptEvent::Spawned { pid, started_ticks }).await;
        let mut waiting = tokio::task::spawn_blocking(move || child.wait());
        let deadline = tokio::time::sleep(spec.time_limit);
        tokio::pin!(deadline);
        let (mut flush_at, mut is_open) = (None, true);
        let mut stopped: Option<CallOutcome> = None;
        let status = loop {
            tokio::select! {
                biased;
                status = &mut waiting => break status,
                () = cancel.cancelled(), if stopped.is_none() => {
                    stopped = Some(CallOutcome::Cancelled);
                    tokio::spawn(group::end_group(pid, spec.stop, GRACE));
                }
                () = &mut deadline, if stopped.is_none() => {
                    let limit_seconds = spec.time_limit.as_secs();
                    stopped = Some(CallOutcome::TimedOut { limit_seconds });
                    tokio::spawn(group::end_group(pid, spec.stop, GRACE));
                }
                piece = pieces.recv(), if is_open => match piece {
                    Some(bytes) => {
                        output.push(OutputStream::Stdout, &bytes);
                        flush_at.get_or_insert_with(|| tokio::time::Instant::now() + FLUSH_DELAY);
                    }
                    None => is_open = false,
                },
                () = sleep_until_flush(flush_at), if flush_at.is_some() => {
                    output.flush().await;
                    flush_at = None;
                }
            }
        };
        drop(guard);
        let end = tokio::time::Instant::now() + DRAIN_TIMEOUT;
        while let Ok(Some(bytes)) = tokio::time::timeout_at(end, pieces.recv()).await {
            output.push(OutputStream::Stdout, &bytes);
        }
        is_over.store(true, Ordering::Release);
        // The terminal is the screen's again only once nobody else reads it.
        if tokio::task::spawn_blocking(move || keys.join()).await.is_err() {
            tracing::error!("the thread that carries keys cannot be waited for");
        }
        let status = status.unwrap_or_else(|error| Err(io::Error::other(error)));
        stopped.unwrap_or_else(|| exit_outcome(status))
    }
}
