//! The terminal while a screen has it, and the promise that it is given back: on return, on error, on panic.

use std::io::{self, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::ThreadId;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use rustix::process::{Pid, Signal};

/// Whether a screen has the terminal right now.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// The thread that draws, and what other threads had to say in panic while it did.
static SHARED: Mutex<(Option<ThreadId>, Vec<String>)> = Mutex::new((None, Vec::new()));
static HOOK: Once = Once::new();

/// Holds the terminal. Dropping it gives the terminal back.
pub(crate) struct TerminalGuard {
    /// There until it is dropped.
    terminal: Option<Terminal<CrosstermBackend<FrameBytes>>>,
}

/// What is on its way to the terminal. A frame goes there in one piece, however often its parts are flushed: every piece
/// wakes whoever shows it.
#[derive(Debug, Default)]
struct FrameBytes {
    bytes: Vec<u8>,
}

impl FrameBytes {
    /// What [`BeginSynchronizedUpdate`] and [`EndSynchronizedUpdate`] write, before and after a frame.
    const BEGIN: &[u8] = b"\x1b[?2026h";
    const END: &[u8] = b"\x1b[?2026l";

    fn is_incomplete(&self) -> bool {
        self.bytes.starts_with(Self::BEGIN) && !self.bytes.ends_with(Self::END)
    }
}

impl Write for FrameBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_incomplete() {
            return Ok(());
        }
        let mut out = stdout().lock();
        let written = out.write_all(&self.bytes);
        // After an error nobody knows what arrived; whoever draws again draws all of it.
        self.bytes.clear();
        written.and_then(|()| out.flush())
    }
}

impl TerminalGuard {
    /// Takes the terminal. If a step fails, the steps before it are undone.
    pub(crate) fn enter() -> io::Result<Self> {
        HOOK.call_once(install_panic_hook);
        acquire_terminal()?;
        match Terminal::new(CrosstermBackend::new(FrameBytes::default())) {
            Ok(terminal) => Ok(Self { terminal: Some(terminal) }),
            Err(error) => {
                restore_terminal();
                Err(error)
            }
        }
    }

    fn terminal(&mut self) -> io::Result<&mut Terminal<CrosstermBackend<FrameBytes>>> {
        self.terminal.as_mut().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Draws one frame; only changed cells are written, and in one go where the terminal can.
    pub(crate) fn draw(&mut self, paint: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        mark_drawing_thread();
        let terminal = self.terminal()?;
        queue!(terminal.backend_mut(), BeginSynchronizedUpdate)?;
        terminal.draw(|frame| paint(frame.buffer_mut()))?;
        execute!(terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Forgets what is on the screen, so that the next frame draws all of it.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let terminal = self.terminal()?;
        let size = terminal.size()?;
        // `Terminal::clear` would ask the terminal where its cursor is and wait for the answer.
        terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Writes bytes of our own that are no part of a frame.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let out = self.terminal()?.backend_mut();
        out.write_all(bytes)?;
        io::Write::flush(out)
    }

    /// Gives the terminal to another program.
    #[expect(clippy::unused_self, reason = "only who holds the terminal may give it away")]
    pub(crate) fn release(&mut self) {
        restore_terminal();
    }

    /// Takes the terminal again; the next frame draws all of it.
    pub(crate) fn reacquire(&mut self) -> io::Result<()> {
        acquire_terminal()?;
        self.clear()
    }

    /// Gives the terminal back, stops this job, and takes the terminal again once it goes on.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        restore_terminal();
        let stopped = rustix::process::kill_current_process_group(Signal::STOP);
        acquire_terminal()?;
        self.clear()?;
        stopped.map_err(io::Error::from)
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        if let Some(mut terminal) = self.terminal.take()
            && terminal.show_cursor().is_err()
        {
            // Its own drop would print the error, and panic if the standard error is gone as well.
            std::mem::forget(terminal);
        }
        restore_terminal();
    }
}

/// Whether a shell with job control started this process, so that someone can let it go on after it was stopped. The shell
/// is the first ancestor outside of this process group: the one that waits for this screen is inside of it.
pub(crate) fn is_shell_job() -> bool {
    let group = |pid| rustix::process::getpgid(pid).ok();
    let session = |pid| rustix::process::getsid(pid).ok();
    let own = (group(None), session(None));
    let ancestors = std::iter::successors(rustix::process::getppid(), |pid| parent_of(*pid));
    let mut outside = ancestors.skip_while(|pid| group(Some(*pid)) == own.0);
    let shell = outside.next();
    shell.is_some_and(|shell| is_job_of(own, (group(Some(shell)), session(Some(shell)))))
}

/// The parent of another process, where the system tells.
fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name may contain spaces and parentheses, so fields are counted after the last one.
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
}

/// Whether a process is a job of its parent, by the process group and session of both: a group of its own, in the
/// session of the parent.
fn is_job_of(own: (Option<Pid>, Option<Pid>), parent: (Option<Pid>, Option<Pid>)) -> bool {
    own.0.is_some() && own.0 != own.1 && own.0 != parent.0 && own.1 == parent.1
}

fn acquire_terminal() -> io::Result<()> {
    enable_raw_mode()?;
    ACTIVE.store(true, Ordering::SeqCst);
    let taken = execute!(
        stdout(),
        EnterAlternateScreen,
        EnableMouseCapture,
        EnableBracketedPaste,
        EnableFocusChange,
        Hide
    );
    if taken.is_err() {
        restore_terminal();
    }
    taken
}

/// Writes what gives a terminal back that a screen of another process had when it was killed.
pub fn reset_terminal(out: &mut impl Write) -> io::Result<()> {
    execute!(
        out,
        EndSynchronizedUpdate,
        DisableFocusChange,
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        Show
    )
}

/// Gives the terminal back. Harmless if nobody has it; an error here could not be shown anywhere.
fn restore_terminal() {
    if !ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    // Here and below: where the terminal is gone nothing is left to restore.
    let _ = reset_terminal(&mut stdout());
    let _ = disable_raw_mode();
    let kept = std::mem::take(&mut SHARED.lock().unwrap_or_else(PoisonError::into_inner).1);
    for message in kept {
        let _ = writeln!(io::stderr(), "{message}");
    }
}

fn mark_drawing_thread() {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.0 = Some(std::thread::current().id());
}

/// A panic of the screen gives the terminal back before its message is printed. One of another thread, whose task may
/// fail alone, must not write over the screen: its message waits.
fn install_panic_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if ACTIVE.load(Ordering::SeqCst) {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.0.is_some_and(|drawing| drawing != std::thread::current().id()) {
                let place = info.location().map(ToString::to_string);
                tracing::error!(place, "panic in another thread than that of the screen");
                shared.1.push(planwright_text::clean_text(&info.to_string()).into_owned());
                return;
            }
            drop(shared);
            restore_terminal();
        }
        before(info);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_held_until_its_end_and_nothing_else_is() {
        let mut out = FrameBytes::default();
        queue!(out, Hide).unwrap();
        assert!(!out.is_incomplete());
        out.bytes.clear();
        queue!(out, BeginSynchronizedUpdate, Hide).unwrap();
        out.flush().unwrap();
        assert!(out.is_incomplete() && !out.bytes.is_empty());
        queue!(out, EndSynchronizedUpdate).unwrap();
        assert!(!out.is_incomplete());
    }

    #[test]
    fn only_a_job_of_a_shell_can_be_suspended() {
        let pid = |raw| Pid::from_raw(raw);
        // An interactive shell 10 puts each job into a group of its own.
        assert!(is_job_of((pid(20), pid(10)), (pid(10), pid(10))));
        // `sh -c` leaves it in its own group.
        assert!(!is_job_of((pid(20), pid(10)), (pid(20), pid(10))));
        // The terminal started it: it leads the session, or is in the group of the one that does.
        assert!(!is_job_of((pid(20), pid(20)), (pid(5), pid(5))));
        assert!(!is_job_of((pid(10), pid(10)), (pid(10), pid(10))));
        // Its parent is gone, or in another session.
        assert!(!is_job_of((pid(20), pid(10)), (pid(1), pid(1))));
        assert!(!is_job_of((pid(20), pid(10)), (None, None)));
    }
}
