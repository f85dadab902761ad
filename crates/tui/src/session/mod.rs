//! The session screen: the fold of what is journaled, what the person looks at, and how keys change that.
//!
//! One synchronous [`SessionScreen::update`] takes every message; drawing reads what it left. Nothing here waits.

mod answer;
mod app_actions;
mod clicks;
mod commands;
mod comments;
mod compose;
mod draw;
mod edit;
mod external_actions;
mod files;
mod keys;
mod leaving;
mod mouse;
mod moving;
mod needs;
mod new_records;
mod outline_moves;
mod output;
mod palette;
mod plan_file;
mod playback;
mod row_edits;
mod search;
mod search_line;
mod seek;
mod task_cards;
mod undo;
mod versions;
mod views;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;
use tokio::sync::{mpsc, watch};

use super::clock;
use super::compare::CompareScreen;
use super::keymap::{KeyAction, KeyContext, KeyError, Keymap};
use super::overlays::Overlay;
use super::pane_context::SessionViewMode;
use super::panes::approval::{self, CardCache};
use super::panes::files::FilesCache;
use super::panes::finished;
use super::panes::graph::GraphCache;
use super::panes::header::NextTaskCache;
use super::panes::needs_you::NeedsCache;
use super::panes::output::{FailureTails, OutputCache};
use super::panes::plan::{PlanCache, PlanView};
use super::panes::scrub::{LaneCache, ScrubMarks};
use super::panes::trace::{TaskSteps, TraceCache, TraceColumns};
use super::plan_text::{PlanTextRow, PreviewSource};
use super::screen_areas::{ScreenAreas, SizeClass};
use super::theme::{ColorDepth, Palette};
use super::ui_state::{PaneFocus, UiState};
use super::{ExitReason, SessionActions, SessionView, TuiError, UiAppearance, UiSettings};
use planwright_model::event::Command;
use planwright_model::{MicroDollars, RequestId, Seq, SessionId};
use planwright_schedule::OtherBlock;
use planwright_state::replay::{History, RecordSourceError};
use planwright_state::timeline::Timeline;
use planwright_state::{RunPhase, SessionState};

pub(crate) use external_actions::{EditPurpose, ExternalAction, ExternalOutcome};
pub(crate) use palette::{settings_items, theme_title};

/// What reaches a screen.
#[derive(Debug)]
pub(crate) enum ScreenMessage {
    /// A program that had the terminal for a while has ended.
    Returned(ExternalOutcome),
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
pub(crate) enum ScreenEffect {
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

/// A process that works on a run gives a sign of life every second; without one for so long it has stopped responding.
pub const SILENCE: Duration = Duration::from_secs(5);

/// The session screen.
pub(crate) struct SessionScreen {
    id: SessionId,
    history: History,
    commands: Option<mpsc::Sender<Command>>,
    note: Option<String>,
    detaches: bool,
    sign_of_life: Option<watch::Receiver<Option<Timestamp>>>,
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
    task_steps: TaskSteps,
    columns: TraceColumns,
    card: CardCache,
    marks: ScrubMarks,
    lane: LaneCache,
    files: FilesCache,
    next_task: NextTaskCache,
    needs: NeedsCache,
    tails: FailureTails,
    output: OutputCache,
    areas: ScreenAreas,
    size: Rect,
    /// The rows of the draft before the current one, and the event that proposed it.
    previous: Option<(Seq, Vec<PlanTextRow>)>,
    /// The newest request that the person was led to.
    asked: Option<RequestId>,
    window_has_focus: bool,
    /// What the terminal or another program is to do next.
    external_actions: VecDeque<ExternalAction>,
    actions: Option<Arc<dyn SessionActions>>,
    settings: UiSettings,
    /// Blocks of the person's other plans, as they were when something was first edited here.
    other_blocks: std::cell::OnceCell<Vec<OtherBlock>>,
    /// Two runs side by side, over everything else.
    compare: Option<Box<CompareScreen>>,
    /// A fork that was made here and is to be opened next.
    pub(crate) created_fork: Option<SessionId>,
    /// The screen closes as soon as nothing runs.
    leaves_when_idle: bool,
}

impl SessionScreen {
    /// Takes on another theme and other keys; nothing changes if the keys cannot be used.
    pub(crate) fn apply_appearance(&mut self, look: &UiAppearance) -> Result<(), KeyError> {
        self.keymap = Keymap::new(&look.keys)?;
        self.palette = look.theme.palette(self.color);
        self.ascii = look.ascii;
        self.reduced_motion = look.reduced_motion;
        Ok(())
    }

    /// Opens a session: live at its latest event, a saved run where `start_at` says.
    pub(crate) fn open(view: SessionView, settings: &UiSettings) -> Result<Self, TuiError> {
        let SessionView { id, mut history, commands, start_at, bookmarks, note, plays, .. } = view;
        let (detaches, sign_of_life) = (view.detaches, view.sign_of_life);
        let head = history.head_seq()?;
        let latest = SessionState::clone(&*history.state_at(head)?);
        let timeline = history.build_timeline()?;
        let saved = commands.is_none() && note.is_none();
        let mut screen = Self {
            id,
            history,
            commands,
            note,
            detaches,
            sign_of_life,
            latest,
            shown: None,
            timeline,
            head,
            ui: UiState {
                bookmarks: bookmarks.into_iter().map(|mark| (mark.seq, mark.note)).collect(),
                opened_from_home: settings.opened_from_home,
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
            task_steps: TaskSteps::default(),
            columns: TraceColumns::default(),
            card: CardCache::default(),
            marks: ScrubMarks::default(),
            lane: LaneCache::default(),
            files: FilesCache::default(),
            next_task: NextTaskCache::default(),
            needs: NeedsCache::default(),
            tails: FailureTails::default(),
            output: OutputCache::default(),
            areas: ScreenAreas::default(),
            size: Rect::default(),
            previous: None,
            asked: None,
            window_has_focus: true,
            external_actions: VecDeque::new(),
            actions: view.actions,
            settings: settings.clone(),
            other_blocks: std::cell::OnceCell::new(),
            compare: None,
            created_fork: None,
            leaves_when_idle: false,
        };
        let first = screen.timeline.landmarks().first().map_or(head, |landmark| landmark.seq);
        if let Some(seq) = start_at.or(saved.then_some(first)) {
            screen.seek_event(seq)?;
            screen.ui.time.playing = plays && seq < head;
        }
        // In the past nothing asks for the person.
        if screen.shown.is_none() {
            screen.focus_new_request();
        }
        screen.follow_running();
        if let Some(target) = view.target {
            screen.open_target(&target);
        }
        if view.asks_fork {
            screen.open_fork_card();
        }
        Ok(screen)
    }

    /// The state at the moment that is shown.
    pub(crate) fn state(&self) -> &SessionState {
        self.shown.as_deref().unwrap_or(&self.latest)
    }

    /// What shows what would follow from a change, planned around the person's other plans as the planner does.
    pub(super) fn preview_source(&self) -> PreviewSource<'_> {
        let others = self.other_blocks.get_or_init(|| {
            let found = self.actions.as_ref().map(|actions| actions.other_plan_blocks(&self.id));
            // Without them the dates are those of a person with one plan; the card has the right ones.
            found.and_then(Result::ok).unwrap_or_default()
        });
        let (zone, now) = (&self.time_zone, (self.clock)());
        PreviewSource { state: &self.latest, others, zone, now }
    }

    /// Whether another process works on the run and this screen controls it.
    pub(super) fn is_attached(&self) -> bool {
        self.commands.is_some() && self.note.is_some()
    }

    /// For how long the process that works on the run has given no sign of life, if that is longer than a busy machine
    /// explains.
    pub(super) fn silent_for(&self) -> Option<Duration> {
        let seen = (*self.sign_of_life.as_ref()?.borrow())?;
        let silent = clock::duration_between(seen, (self.clock)());
        (silent >= SILENCE).then_some(silent)
    }

    /// Whether this is a saved run, in which nothing can happen any more.
    fn is_saved(&self) -> bool {
        self.commands.is_none() && self.note.is_none()
    }

    pub(crate) fn mode(&self) -> SessionViewMode {
        match (&self.shown, self.is_saved()) {
            (_, true) => SessionViewMode::Saved,
            (Some(_), false) => SessionViewMode::ScrubbedBack,
            (None, false) if self.latest.run.phase == RunPhase::Paused => SessionViewMode::Paused,
            (None, false) => SessionViewMode::Live,
        }
    }

    /// Whether an elapsed time on the screen grows: something runs, or a task waits for the person.
    pub(crate) fn is_ticking(&self) -> bool {
        self.shown.is_none()
            && !self.is_saved()
            && self.latest.run.is_active()
            && self.latest.session.closed.is_none()
    }

    /// The moment that is shown: the clock on the screen of a session that can go on; the time of the last event in a
    /// saved or stopped run, in which no time passes.
    fn shown_time(&self) -> Timestamp {
        let stopped =
            self.latest.session.closed.is_some() || self.latest.run.phase == RunPhase::Interrupted;
        if self.shown.is_none() && !self.is_saved() && !stopped {
            return (self.clock)();
        }
        self.state().at.unwrap_or_else(self.clock)
    }

    /// A session that this process carried on and that was stopped has nothing left to be done on its screen. One that
    /// was watched is a saved run from now on, and so is one that ended without a word: its changes could not be saved.
    fn close_if_stopped(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        while self.is_behind() {
            self.apply_new_records(self.head)?;
        }
        if self.note.take().is_some() {
            self.commands = None;
            self.ui.overlay.take_if(|overlay| matches!(overlay, Overlay::Quit(_)));
            let ended = "The process that worked on this run has ended.".to_owned();
            self.ui.message = Some(self.resume_advice().unwrap_or(ended));
            return self.seek_event(self.cursor_seq());
        }
        match (&self.commands, self.latest.session.closed.is_some()) {
            (None, _) => Ok(ScreenEffect::Idle),
            (Some(_), true) => Ok(ScreenEffect::Exit(ExitReason::Quit)),
            (Some(_), false) => self.show_unsaved(),
        }
    }

    /// What could not be saved did not happen: from now on this shows what is stored, and leaving says what went wrong.
    fn show_unsaved(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        self.commands = None;
        self.detaches = false;
        self.ui.overlay.take_if(|overlay| matches!(overlay, Overlay::Quit(_)));
        let key = self.keymap.key_hint(KeyAction::Quit);
        self.ui.message = Some(format!(
            "Can't save: the last change is not stored and nothing new starts. {key} says why."
        ));
        self.seek_event(self.cursor_seq())
    }

    /// Whether something was left for the next frame.
    pub(crate) fn has_deferred_layout(&self) -> bool {
        self.graph.is_layout_deferred()
    }

    /// Leaves what takes long for the second frame.
    pub(crate) fn defer_layout(&mut self) {
        let revision = self.shown.as_deref().unwrap_or(&self.latest).plan.current.as_ref();
        self.graph.defer_layout(revision);
    }

    /// Takes one message.
    pub(crate) fn update(
        &mut self,
        message: ScreenMessage,
    ) -> Result<ScreenEffect, RecordSourceError> {
        // A key means what it does on the whole screen.
        if matches!(message, ScreenMessage::Input(_)) && self.graph.take_deferred() {
            self.prepare_frame(SizeClass::from_area(self.size))?;
        }
        match message {
            ScreenMessage::Tick if self.graph.take_deferred() => Ok(ScreenEffect::DrawAtOnce),
            ScreenMessage::Input(event) if self.compare.is_some() => self.on_compare_input(event),
            ScreenMessage::Input(event) => self.on_input(event),
            ScreenMessage::Head(seq) => self.apply_new_records(seq),
            ScreenMessage::Over => self.close_if_stopped(),
            ScreenMessage::Tick => self.on_tick(),
            ScreenMessage::Returned(returned) => Ok(self.on_external_outcome(returned)),
        }
    }
}

/// The places whose keys mean something, the most special first.
pub(crate) fn active_key_places(
    ui: &UiState,
    state: &SessionState,
    mode: SessionViewMode,
) -> Vec<KeyContext> {
    let mut places = Vec::with_capacity(4);
    match ui.focus {
        PaneFocus::Approval if approval::current_request(state, ui).is_some() => {
            places.push(KeyContext::Card);
        }
        PaneFocus::Graph | PaneFocus::Running => {
            if ui.focus == PaneFocus::Graph && ui.view.kind == PlanView::Table {
                places.push(KeyContext::Table);
            }
            places.push(KeyContext::Graph);
        }
        PaneFocus::Trace => places.push(KeyContext::Trace),
        PaneFocus::Output => places.push(KeyContext::Output),
        PaneFocus::Approval if approval::shown_failed_task(state, ui).is_some() => {
            places.push(KeyContext::Failed);
        }
        PaneFocus::Approval if finished::is_finished_shown(state, ui) => {
            places.push(KeyContext::Finished);
        }
        PaneFocus::Files => places.push(KeyContext::Files),
        PaneFocus::Approval | PaneFocus::Scrub => {}
    }
    // The card of a plan stays in sight, so that its keys work from every pane.
    let asked = approval::current_request(state, ui);
    if ui.focus != PaneFocus::Approval
        && asked.is_some_and(|request| approval::is_plan_card(&request.kind))
    {
        places.push(KeyContext::Card);
    }
    if mode.is_past() {
        // In the past nothing can be answered, so that its own keys go first.
        places.insert(0, KeyContext::Replay);
    } else if ui.focus == PaneFocus::Approval
        && (places.contains(&KeyContext::Card) || places.contains(&KeyContext::Failed))
    {
        places.push(KeyContext::OpenCard);
    }
    places.push(KeyContext::Screen);
    places
}

#[cfg(test)]
impl SessionScreen {
    pub(crate) fn use_ascii(&mut self) {
        self.ascii = true;
    }

    pub(crate) fn use_settings_store(&mut self, store: Arc<dyn super::SettingsStore>) {
        self.settings.store = Some(store);
    }

    pub(crate) fn reduce_motion(&mut self) {
        self.reduced_motion = true;
    }
}

impl SessionScreen {
    /// Whether a text box has the keys.
    fn is_typing(&self) -> bool {
        self.ui.composer.is_some()
            || self.ui.search_line.is_some()
            || self.ui.row_editor.is_some()
            || matches!(
                self.ui.overlay,
                Some(
                    Overlay::Input(_)
                        | Overlay::Palette(_)
                        | Overlay::Nodes(_)
                        | Overlay::Lines(_)
                        | Overlay::Help(_)
                        | Overlay::Settings(_)
                )
            )
    }
}
