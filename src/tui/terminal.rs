//! The terminal while a screen has it, and the promise that it is given back: on return, on error, on panic.

use std::io::{self, Stdout, Write as _, stdout};
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

/// Whether a screen has the terminal right now.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// The thread that draws, and what other threads had to say in panic while it did.
static SHARED: Mutex<(Option<ThreadId>, Vec<String>)> = Mutex::new((None, Vec::new()));
static HOOK: Once = Once::new();

/// Holds the terminal. Dropping it gives the terminal back.
pub(crate) struct TerminalGuard {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl TerminalGuard {
    /// Takes the terminal. If a step fails, the steps before it are undone.
    pub(crate) fn enter() -> io::Result<Self> {
        HOOK.call_once(install_hook);
        take()?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws one frame; only changed cells are written, and in one go where the terminal can.
    pub(crate) fn draw(&mut self, paint: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        mark_drawing_thread();
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| paint(frame.buffer_mut()))?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Forgets what is on the screen, so that the next frame draws all of it.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    pub(crate) fn ring(&mut self) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        out.write_all(b"\x07")?;
        io::Write::flush(out)
    }

    /// Gives the terminal back, stops this process, and takes the terminal again once it goes on.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        restore();
        let stopped =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        take()?;
        self.clear()?;
        stopped.map_err(io::Error::from)
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
    }
}

fn take() -> io::Result<()> {
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
        restore();
    }
    taken
}

/// Gives the terminal back. Harmless if nobody has it; an error here could not be shown anywhere.
fn restore() {
    if !ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(
        stdout(),
        EndSynchronizedUpdate,
        DisableFocusChange,
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        Show
    );
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
fn install_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if ACTIVE.load(Ordering::SeqCst) {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.0.is_some_and(|drawing| drawing != std::thread::current().id()) {
                shared.1.push(crate::text::clean(&info.to_string()).into_owned());
                return;
            }
            drop(shared);
            restore();
        }
        before(info);
    }));
}
