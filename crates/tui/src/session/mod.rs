//! The session screen: the fold of what is journaled, what the person looks at, and how keys change that.
//!
//! One synchronous [`Screen::update`] takes every message; drawing reads what it left. Nothing here waits.

mod answer;
mod commands;
mod compose;
mod draw;
mod edit;
mod keys;
mod mouse;
mod outside;
mod palette;
mod playback;
mod pull;
mod search;
mod time;
mod undo;
mod views;
mod wishes;

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;
use tokio::sync::mpsc;

use super::areas::{Areas, SizeClass};
use super::compare::Compare;
use super::context::Mode;
use super::keymap::{KeyError, Keymap, Place};
use super::overlays::Overlay;
use super::panes::approval::{self, CardCache};
use super::panes::graph::GraphCache;
use super::panes::plan::{PlanCache, View};
use super::panes::scrub::Marks;
use super::panes::trace::TraceCache;
use super::theme::{ColorDepth, Palette};
use super::ui_state::{Focus, UiState};
use super::{Desk, ExitReason, Look, SessionView, TuiError, UiSettings};
use planwright_model::event::Command;
use planwright_model::{MicroDollars, Plan, RequestId, Seq, SessionId};
use planwright_state::replay::{History, SourceError};
use planwright_state::timeline::Timeline;
use planwright_state::{RunPhase, SessionState, SessionStatus};

pub(crate) use outside::{Back, Outside, Returned};

/// What reaches a screen.
#[derive(Debug)]
pub(crate) enum Message {
    /// A program that had the terminal for a while has ended.
    Returned(Returned),
    /// A key, the mouse, a paste, a resize, a change of focus.
    Input(crossterm::event::Event),
    /// There are records up to here.
    Head(Seq),
    /// Nobody writes any more.
    Over,
    /// Time passed.
    Tick,
}

/// What a message leads to, beside a changed screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Nothing that a frame would show changed.
    Idle,
    Draw,
    /// The person waits for it: the frame is not held back.
    DrawAtOnce,
    /// Everything has to be drawn anew.
    Redraw,
    Suspend,
    Exit(ExitReason),
}

/// The session screen.
pub(crate) struct Screen {
    id: SessionId,
    history: History,
    commands: Option<mpsc::Sender<Command>>,
    note: Option<String>,
    /// The fold up to the last record.
    latest: SessionState,
    /// The fold up to the cursor, while the past is looked at.
    shown: Option<Arc<SessionState>>,
    timeline: Timeline,
    /// The last record there is.
    head: Seq,
    pub(crate) ui: UiState,
    palette: Palette,
    color: ColorDepth,
    keymap: Keymap,
    ascii: bool,
    reduced_motion: bool,
    session_budget: MicroDollars,
    clock: fn() -> Timestamp,
    time_zone: TimeZone,
    graph: GraphCache,
    plan: PlanCache,
    trace: TraceCache,
    card: CardCache,
    marks: Marks,
    areas: Areas,
    size: Rect,
    /// The revision before the current one, for the difference on its card.
    previous: Option<(Seq, u32, Arc<Plan>)>,
    /// The newest request that the person was led to.
    asked: Option<RequestId>,
    window_has_focus: bool,
    /// What the terminal or another program is to do next.
    outside: VecDeque<Outside>,
    desk: Option<Arc<dyn Desk>>,
    settings: UiSettings,
    /// Two runs side by side, over everything else.
    compare: Option<Box<Compare>>,
    /// A fork that was made here and is to be opened next.
    pub(crate) made: Option<SessionId>,
}

impl Screen {
    /// Takes on another theme and other keys; nothing changes if the keys cannot be used.
    pub(crate) fn restyle(&mut self, look: &Look) -> Result<(), KeyError> {
        self.keymap = Keymap::new(&look.keys)?;
        self.palette = look.theme.palette(self.color);
        self.ascii = look.ascii;
        self.reduced_motion = look.reduced_motion;
        Ok(())
    }

    /// Opens a session: live at its latest event, a saved run where `start_at` says.
    pub(crate) fn open(view: SessionView, settings: &UiSettings) -> Result<Self, TuiError> {
        let SessionView { id, mut history, commands, start_at, bookmarks, note, .. } = view;
        let head = history.head()?;
        let latest = SessionState::clone(&*history.state_at(head)?);
        let timeline = history.timeline()?;
        let saved = commands.is_none() && note.is_none();
        let mut screen = Self {
            id,
            history,
            commands,
            note,
            latest,
            shown: None,
            timeline,
            head,
            ui: UiState {
                bookmarks: bookmarks.into_iter().map(|mark| (mark.seq, mark.note)).collect(),
                ..UiState::default()
            },
            palette: settings.theme.palette(settings.color),
            color: settings.color,
            keymap: Keymap::new(&settings.keys)?,
            ascii: settings.ascii,
            reduced_motion: settings.reduced_motion,
            session_budget: settings.session_budget,
            clock: settings.now,
            time_zone: settings.time_zone.clone(),
            graph: GraphCache::default(),
            plan: PlanCache::default(),
            trace: TraceCache::default(),
            card: CardCache::default(),
            marks: Marks::default(),
            areas: Areas::default(),
            size: Rect::default(),
            previous: None,
            asked: None,
            window_has_focus: true,
            outside: VecDeque::new(),
            desk: view.desk,
            settings: settings.clone(),
            compare: None,
            made: None,
        };
        if let Some(seq) = start_at.or(saved.then_some(head)) {
            screen.seek(seq)?;
        }
        screen.lead_to_request();
        screen.follow();
        if view.asks_fork {
            screen.open_fork();
        }
        Ok(screen)
    }

    /// The state at the moment that is shown.
    pub(crate) fn state(&self) -> &SessionState {
        self.shown.as_deref().unwrap_or(&self.latest)
    }

    /// Whether this is a saved run, in which nothing can happen any more.
    fn is_saved(&self) -> bool {
        self.commands.is_none() && self.note.is_none()
    }

    pub(crate) fn mode(&self) -> Mode {
        match (&self.shown, self.is_saved()) {
            (_, true) => Mode::Saved,
            (Some(_), false) => Mode::ScrubbedBack,
            (None, false) if self.latest.run.phase == RunPhase::Paused => Mode::Paused,
            (None, false) => Mode::Live,
        }
    }

    /// Whether an elapsed time on the screen grows.
    pub(crate) fn is_ticking(&self) -> bool {
        self.shown.is_none() && !self.is_saved() && self.latest.run.is_active()
    }

    /// The moment that is shown: the clock while something runs, else the time of the last event.
    fn moment(&self) -> Timestamp {
        if self.is_ticking() {
            return (self.clock)();
        }
        self.state().at.unwrap_or_else(self.clock)
    }

    /// A session that this process carried on and that was stopped has nothing left to be done on its screen.
    fn is_over(&mut self) -> Result<Flow, SourceError> {
        while self.is_behind() {
            self.pull(self.head)?;
        }
        let stopped = self.commands.is_some() && self.latest.session.closed.is_some();
        Ok(if stopped { Flow::Exit(ExitReason::Quit) } else { Flow::Idle })
    }

    /// Whether something was left for the next frame.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.graph.waits()
    }

    /// Leaves what takes long for the second frame.
    pub(crate) fn open_quickly(&mut self) {
        let revision = self.shown.as_deref().unwrap_or(&self.latest).plan.current.as_ref();
        self.graph.put_off(revision);
    }

    /// Takes one message.
    pub(crate) fn update(&mut self, message: Message) -> Result<Flow, SourceError> {
        // A key means what it does on the whole screen.
        if matches!(message, Message::Input(_)) && self.graph.catch_up() {
            self.prepare(SizeClass::of(self.size))?;
        }
        match message {
            Message::Tick if self.graph.catch_up() => Ok(Flow::DrawAtOnce),
            Message::Input(event) if self.compare.is_some() => self.compare_input(event),
            Message::Input(event) => self.on_input(event),
            Message::Head(seq) => self.pull(seq),
            Message::Over => self.is_over(),
            Message::Tick => self.tick(),
            Message::Returned(returned) => Ok(self.returned(returned)),
        }
    }

    /// What stays in the scrollback; nothing if there is none any more.
    pub(crate) fn summary(&self, reason: ExitReason) -> String {
        if matches!(reason, ExitReason::TerminalGone | ExitReason::Signal("SIGHUP")) {
            return String::new();
        }
        // Leaving interrupts what this process carries on.
        let carries_on = self.commands.is_some() && self.latest.run.is_active();
        let asked = !self.latest.requests.open.is_empty();
        let status = if carries_on && !asked && !self.latest.tasks.only_people_left() {
            SessionStatus::Interrupted
        } else {
            self.latest.status()
        };
        let counts = self.latest.tasks.counts();
        let id = self.id.short();
        let title = planwright_text::clean_line(&self.latest.session.title);
        let text = format!(
            "Session {id}, {title}: {}, {} of {} done, cost {}.",
            status.word(),
            counts.done,
            counts.total(),
            self.latest.totals.cost,
        );
        if self.is_saved() {
            return text;
        }
        // Whoever only watched can only watch again.
        let next = if self.commands.is_some() { status } else { SessionStatus::Done };
        format!("{text}\n{}", next.next_step(id))
    }
}

/// The places whose keys mean something, the most special first.
pub(crate) fn places(ui: &UiState, state: &SessionState, mode: Mode) -> Vec<Place> {
    let mut places = Vec::with_capacity(4);
    match ui.focus {
        Focus::Approval if approval::current(state, ui).is_some() => places.push(Place::Card),
        Focus::Graph | Focus::Running => {
            if ui.focus == Focus::Graph && ui.view.kind == View::Table {
                places.push(Place::Table);
            }
            places.push(Place::Graph);
        }
        Focus::Trace => places.push(Place::Trace),
        Focus::Approval if approval::failed(state, ui).is_some() => places.push(Place::Failed),
        Focus::Approval => {}
    }
    if mode.is_past() {
        // In the past nothing can be answered, so that its own keys go first.
        places.insert(0, Place::Replay);
    } else if places.contains(&Place::Card) || places.contains(&Place::Failed) {
        places.push(Place::OpenCard);
    }
    places.push(Place::Screen);
    places
}

#[cfg(test)]
impl Screen {
    pub(crate) fn use_ascii(&mut self) {
        self.ascii = true;
    }

    pub(crate) fn reduce_motion(&mut self) {
        self.reduced_motion = true;
    }
}

impl Screen {
    /// Whether a text box has the keys.
    fn is_typing(&self) -> bool {
        self.ui.composer.is_some()
            || matches!(
                self.ui.overlay,
                Some(Overlay::Input(_) | Overlay::Palette(_) | Overlay::Nodes(_))
            )
    }
}
