//! The terminal screens: a session live or in replay, and the list of saved sessions.
//!
//! A screen is a fold over records plus a `UiState` that is never journaled. It reads records through a
//! [`History`], learns of new ones by a watched number, and acts by sending a [`Command`]; it knows nothing of who
//! carries commands out. Everything that comes from a record is cleaned before it is drawn.

mod areas;
mod clock;
mod context;
mod event_loop;
mod frame_limiter;
mod glyphs;
mod input;
mod keymap;
mod list;
mod overlays;
mod panes;
mod session;
mod terminal;
#[cfg(test)]
mod tests;
mod theme;
mod ui_state;
mod widgets;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

pub use keymap::{KeyError, check_keys};
pub use theme::{ColorDepth, Palette, Role, Theme, ThemeError};

use crate::event::Command;
use crate::model::{MicroDollars, Seq, SessionId};
use crate::replay::{History, SourceError};
use crate::state::SessionStatus;

/// One session to look at.
#[derive(Debug)]
pub struct SessionView {
    pub id: SessionId,
    pub history: History,
    /// The number of the last committed record; changes whenever there are more.
    pub head: watch::Receiver<Seq>,
    /// Where wishes go. `None` for a replay, and for watching what another process runs.
    pub commands: Option<mpsc::Sender<Command>>,
    /// Opens scrubbed back to this event. `None` opens at the latest.
    pub start_at: Option<Seq>,
    /// Says why a session without `commands` is live all the same, such as "process 123 runs it, watching". A session
    /// with neither `commands` nor a note is a saved run and is shown as a replay.
    pub note: Option<String>,
}

/// What the screens need to know about the person's terminal and taste.
#[derive(Clone, Debug)]
pub struct UiSettings {
    pub theme: Theme,
    pub keys: KeyOverrides,
    /// Draws with plain ASCII where box drawing is not safe.
    pub ascii: bool,
    pub color: ColorDepth,
    /// The clock. Screens read no other.
    pub now: fn() -> Timestamp,
    pub time_zone: jiff::tz::TimeZone,
}

/// Keys that replace the default ones: action name to key text, as the config has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyOverrides(pub std::collections::BTreeMap<String, String>);

/// How a session screen ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    pub reason: ExitReason,
    /// Lines for the scrollback, already clean. Empty if nothing is worth keeping.
    pub summary: String,
}

/// Why a session screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// The person left this session and nothing was running: back to the list if there was one, else quit.
    BackToList,
    /// The person asked to leave the program and nothing was running.
    Quit,
    /// The person confirmed leaving while work runs: interrupt the run so that it can be resumed.
    QuitWhileRunning,
    /// A signal asked the process to end, such as `SIGTERM`.
    Signal(&'static str),
    /// The terminal went away.
    TerminalGone,
}

/// Why a screen could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error("could not use the terminal")]
    Terminal(#[from] std::io::Error),
    #[error("could not read the session")]
    Source(#[from] SourceError),
    #[error("the keys of the config cannot be used")]
    Keys(#[from] KeyError),
}

/// A row of the session list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListItem {
    pub id: SessionId,
    pub title: String,
    pub status: SessionStatus,
    pub done: u32,
    pub total: u32,
    pub cost: MicroDollars,
    pub updated_at: Timestamp,
    /// A second line, such as the question that is open.
    pub detail: Option<String>,
}

/// How the session list ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListExit {
    Open(SessionId),
    Quit,
    Signal(&'static str),
    TerminalGone,
}

/// Shows a session until the person leaves it.
pub async fn run_session(view: SessionView, settings: &UiSettings) -> Result<Exit, TuiError> {
    let head = view.head.clone();
    let mut screen = session::Screen::open(view, settings)?;
    let reason = event_loop::run(&mut screen, Some(head)).await?;
    Ok(Exit { reason, summary: screen.summary(reason) })
}

/// Shows the saved sessions until one is chosen.
pub async fn run_list(items: Vec<ListItem>, settings: &UiSettings) -> Result<ListExit, TuiError> {
    let mut list = list::List::new(items, settings)?;
    let reason = event_loop::run(&mut list, None).await?;
    Ok(match (list.chosen, reason) {
        (Some(id), _) => ListExit::Open(id),
        (None, ExitReason::Signal(name)) => ListExit::Signal(name),
        (None, ExitReason::TerminalGone) => ListExit::TerminalGone,
        (None, _) => ListExit::Quit,
    })
}
