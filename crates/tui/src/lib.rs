//! The terminal screens: a session live or in replay, and the list of saved sessions.
//!
//! A screen is a fold over records plus a `UiState` that is never journaled. It reads records through a
//! [`History`], learns of new ones by a watched number, and acts by sending a [`Command`]; it knows nothing of who
//! carries commands out. Everything that comes from a record is cleaned before it is drawn.

mod action_situation;
mod clock;
mod compare;
mod composer;
mod event_loop;
mod external_programs;
mod frame_cast;
mod frame_keys;
mod frame_limiter;
mod frame_picture;
mod glyphs;
mod home;
mod keymap;
mod overlays;
mod pane_context;
mod panes;
mod plain;
pub mod plan_text;
mod policy_dials;
mod preview;
mod row_editor;
mod screen_areas;
mod session;
mod session_actions;
mod settings_store;
mod terminal;
mod terminal_input;
mod terminal_loans;
#[cfg(test)]
mod tests;
mod theme;
mod ui_state;
mod widgets;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

pub use frame_cast::{RecordedFrame, frame_cast};
pub use frame_picture::{frame_animation, frame_picture, frame_text};
pub use keymap::{KeyError, check_keys, default_keys};
pub use overlays::ViewFormat;
pub use plain::run_plain;
pub use preview::{HomePreview, SessionPreview};
pub use session::SILENCE;
pub use session_actions::{
    ComparableSession, CompareView, EventBookmark, SessionActions, SessionExport,
};
pub use settings_store::{SettingItem, SettingsStore};
pub use terminal::reset_terminal;
pub use terminal_loans::{LentTerminal, borrow_terminal};
pub use theme::{ColorDepth, Palette, Theme, ThemeError, ThemeRole};
pub use widgets::short_plan_name;

use planwright_model::event::Command;
use planwright_model::{MicroDollars, RequestId, Seq, SessionId, TaskId};
use planwright_state::replay::SearchHit;
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::{DueTask, SessionState, SessionStatus};

/// One session to look at.
#[derive(Debug)]
pub struct SessionView {
    pub id: SessionId,
    pub history: History,
    /// The number of the last committed record; changes whenever there are more.
    pub head: watch::Receiver<Seq>,
    /// Where requests go. `None` for a replay, and for watching what another process runs.
    pub commands: Option<mpsc::Sender<Command>>,
    /// Opens scrubbed back to this event. `None` opens what is live at the latest, a saved run at its first landmark.
    pub start_at: Option<Seq>,
    /// Whether a saved run plays as soon as it is open.
    pub plays: bool,
    /// Events that the person marked.
    pub bookmarks: Vec<EventBookmark>,
    /// Who answers requests that are not for the session itself. `None` for a file, which nothing can be kept beside.
    pub actions: Option<Arc<dyn SessionActions>>,
    /// Opens with the question whether to fork here.
    pub asks_fork: bool,
    /// What is selected when it opens, where the person chose it from a list. `None` leaves it to the session.
    pub target: Option<SessionTarget>,
    /// Says why a session without `commands` is live all the same, such as "runs in another terminal". A session with
    /// neither `commands` nor a note is a saved run and is shown as a replay; one whose `head` is closed becomes one.
    pub note: Option<String>,
    /// Whether the run can go on in this process once its screen is closed.
    pub detaches: bool,
    /// When the process that works on the session last gave a sign of life, where that is another one.
    pub sign_of_life: Option<watch::Receiver<Option<Timestamp>>>,
}

impl SessionView {
    /// A saved run, opened at its first landmark; whoever shows more of it changes what differs.
    pub fn new(id: SessionId, history: History, head: watch::Receiver<Seq>) -> Self {
        Self {
            id,
            history,
            head,
            commands: None,
            start_at: None,
            plays: false,
            bookmarks: Vec::new(),
            actions: None,
            asks_fork: false,
            target: None,
            note: None,
            detaches: false,
            sign_of_life: None,
        }
    }
}

/// Something in a session that a person chose before they opened it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    Task(TaskId),
    Request(RequestId),
}

/// What the screens need to know about the person's terminal and taste.
#[derive(Clone, Debug)]
pub struct UiSettings {
    pub theme: Theme,
    pub keys: KeyOverrides,
    /// Draws with plain ASCII where box drawing is not safe.
    pub ascii: bool,
    /// Sessions are opened from the home screen, and leaving one leads back there.
    pub opened_from_home: bool,
    /// Nothing moves by itself more often than needed: clocks and playback are drawn seldom.
    pub reduced_motion: bool,
    pub color: ColorDepth,
    /// What a session may cost before it asks.
    pub session_budget: MicroDollars,
    /// The clock. Screens read no other.
    pub now: fn() -> Timestamp,
    pub time_zone: jiff::tz::TimeZone,
    /// Theme and keys as they are changed while a screen is open.
    pub changes: Option<watch::Receiver<Arc<UiAppearance>>>,
    /// Who keeps the settings. `None` where there is no config file.
    pub store: Option<Arc<dyn SettingsStore>>,
}

/// What can be changed while a screen is open, or why a change cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct UiAppearance {
    pub theme: Theme,
    pub keys: KeyOverrides,
    pub ascii: bool,
    pub reduced_motion: bool,
    /// Said instead of changing anything.
    pub problem: Option<String>,
}

/// Keys that replace the default ones: action name to key text, as the config has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyOverrides(pub BTreeMap<String, String>);

/// How a session screen ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionExit {
    pub reason: ExitReason,
    /// A session that was made here and is to be opened next.
    pub open: Option<SessionId>,
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
    /// The person left the run to itself: it goes on without a screen.
    Detached,
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
    Source(#[from] RecordSourceError),
    #[error("the keys of the config cannot be used")]
    Keys(#[from] KeyError),
}

/// A row of the session list.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionListItem {
    pub id: SessionId,
    pub title: String,
    pub status: SessionStatus,
    pub done: u32,
    pub total: u32,
    pub cost: MicroDollars,
    pub updated_at: Timestamp,
    /// The pattern of its plan; empty if it came from a file.
    pub pattern: String,
    /// The session it was forked from, and after which event.
    pub fork_of: Option<(SessionId, Seq)>,
}

/// Something that is due today, and the plan it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodayItem {
    pub session: SessionId,
    pub plan: String,
    pub due: DueTask,
}

/// A session with something to do or to ask, as it stands now.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSession {
    pub id: SessionId,
    pub state: Arc<SessionState>,
    /// What the output of failed tasks says about them, as far as it was looked into.
    pub failures: BTreeMap<TaskId, TaskFailureOutput>,
}

/// What a failed task printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFailureOutput {
    /// Why it failed, in a few words; empty where the output does not say it.
    pub cause: String,
    /// Its last lines.
    pub tail: Vec<String>,
}

/// What the home screen shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HomeView {
    pub items: Vec<SessionListItem>,
    /// Those of them that have something to do or to ask.
    pub open: Vec<OpenSession>,
    /// Goals of before, the newest first.
    pub goals: Vec<String>,
    /// A plan file in the current folder, for the first start.
    pub plan_file: Option<String>,
    /// Who drafts.
    pub provider: String,
    /// Who drafts and how to change it, in sentences, for the first start.
    pub provider_help: Vec<String>,
    /// When the person has time for their own plans, as the config file has it.
    pub own_hours: Option<String>,
    /// What was spent today and what may be.
    pub spent: Option<(MicroDollars, MicroDollars)>,
    /// One line for the person, such as what became of their last request.
    pub message: Option<String>,
    /// Steps that were looked for.
    pub found: Option<SearchResults>,
    /// The session that was left last; the cursor stands on it.
    pub selected: Option<SessionId>,
}

/// What a search over all sessions brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    pub words: String,
    pub hits: Vec<SearchHit>,
}

/// What the home screen requests for and stays open meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum HomeRequest {
    /// Something about a task of a session.
    Command { session: SessionId, command: Command },
    /// The person confirmed that a session is to be removed.
    Remove(SessionId),
    /// A file that others can read is to be written of a session.
    Export { session: SessionId, export: SessionExport },
}

/// Where the home screen sends its requests, and where it hears what became of them.
#[derive(Debug)]
pub struct HomeChannels {
    pub requests: mpsc::Sender<HomeRequest>,
    pub latest: watch::Receiver<Arc<HomeView>>,
}

/// How the home screen ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HomeExit {
    Open(SessionId),
    /// Open a session with something of it selected.
    OpenTarget(SessionId, SessionTarget),
    /// Open a session at a step that was found.
    OpenAt(SessionId, Seq),
    /// Ask whether to fork a session at its latest event.
    Fork(SessionId),
    /// Look at two sessions side by side.
    Compare(SessionId, SessionId),
    /// Find the steps that hold these words, in all sessions.
    Search(String),
    /// Plan this goal.
    Plan(String),
    /// Open a plan file.
    RunFile(String),
    /// Watch the bundled run.
    Demo,
    Quit,
    Signal(&'static str),
    TerminalGone,
}

/// Shows a session until the person leaves it.
pub async fn run_session(
    view: SessionView,
    settings: &UiSettings,
) -> Result<SessionExit, TuiError> {
    let head = view.head.clone();
    let mut screen = session::SessionScreen::open(view, settings)?;
    screen.defer_layout();
    let reason = event_loop::run_screen(&mut screen, Some(head), settings.changes.clone()).await?;
    Ok(SessionExit {
        reason,
        open: screen.created_fork.take(),
        summary: screen.exit_summary(reason),
    })
}

/// Shows two sessions side by side until the person leaves them.
pub async fn run_compare(
    view: CompareView,
    actions: Arc<dyn SessionActions>,
    settings: &UiSettings,
) -> Result<ExitReason, TuiError> {
    let mut screen = compare::CompareScreen::new(view, Some(actions), settings)?;
    event_loop::run_screen(&mut screen, None, settings.changes.clone()).await
}

/// Shows the home screen until the person wants something else.
pub async fn run_home(feed: HomeChannels, settings: &UiSettings) -> Result<HomeExit, TuiError> {
    let (tell, news) = watch::channel(Seq::START);
    let mut latest = feed.latest.clone();
    latest.mark_unchanged();
    tokio::spawn(async move {
        while latest.changed().await.is_ok() {
            tell.send_modify(|seq| *seq = seq.next());
        }
    });
    let mut home = home::HomeScreen::new(feed, settings)?;
    let reason = event_loop::run_screen(&mut home, Some(news), settings.changes.clone()).await?;
    Ok(match (home.chosen, reason) {
        (Some(exit), _) => exit,
        (None, ExitReason::Signal(name)) => HomeExit::Signal(name),
        (None, ExitReason::TerminalGone) => HomeExit::TerminalGone,
        (None, _) => HomeExit::Quit,
    })
}
