//! What a pane may look at while drawing: everything by reference, nothing that can act.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::action_situation::ActionSituation;
use super::keymap::Keymap;
use super::overlays::{CardContext, RunHome};
use super::panes::approval::CardCache;
use super::panes::files::FilesCache;
use super::panes::graph::GraphCache;
use super::panes::header::NextTaskCache;
use super::panes::needs_you::NeedsCache;
use super::panes::output::{FailureTails, OutputCache};
use super::panes::plan::PlanCache;
use super::panes::scrub::{ScrubLane, ScrubMarks};
use super::panes::trace::{TaskSteps, TraceCache, TraceColumns};
use super::screen_areas::{ScreenAreas, SizeClass};
use super::theme::{Palette, ThemeRole};
use super::ui_state::{PaneFocus, UiState};
use super::widgets::RuleKind;
use planwright_model::MicroDollars;
use planwright_state::SessionState;
use planwright_state::timeline::Timeline;

/// Which of the three kinds of time is on the screen. They cannot be taken for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionViewMode {
    Live,
    /// Live, and the whole run is held.
    Paused,
    /// A saved run.
    Saved,
    /// A live session, scrubbed back.
    ScrubbedBack,
}

impl SessionViewMode {
    pub(crate) fn is_past(self) -> bool {
        matches!(self, Self::Saved | Self::ScrubbedBack)
    }
}

/// What a pane may look at.
pub(crate) struct PaneContext<'a> {
    /// The state at the moment that is shown.
    pub(crate) state: &'a SessionState,
    /// The state at the latest event.
    pub(crate) latest: &'a SessionState,
    pub(crate) timeline: &'a Timeline,
    pub(crate) ui: &'a UiState,
    pub(crate) theme: &'a Palette,
    pub(crate) keymap: &'a Keymap,
    /// The moment that is shown: the clock while something runs, else the time of the event.
    pub(crate) now: Timestamp,
    /// The clock, for what is near.
    pub(crate) wall_clock: Timestamp,
    pub(crate) time_zone: &'a TimeZone,
    pub(crate) mode: SessionViewMode,
    pub(crate) class: SizeClass,
    /// Whether the moment that is shown is one of planning: plan and card are on the screen together.
    pub(crate) planning: bool,
    /// The pane stands beside the one that has its focus.
    pub(crate) beside: bool,
    pub(crate) areas: ScreenAreas,
    /// Whether commands can be sent at all.
    pub(crate) can_act: bool,
    /// Why nothing at all can be changed here, if so.
    pub(crate) why_locked: Option<String>,
    /// Whether the session is saved, so that it can be forked, compared and exported.
    pub(crate) is_stored: bool,
    pub(crate) note: Option<&'a str>,
    /// For how long the process that works on the run has given no sign of life, if that is long.
    pub(crate) silent_for: Option<Duration>,
    /// Where the run goes on without this screen.
    pub(crate) run_home: RunHome,
    /// What the session may cost before it asks.
    pub(crate) session_budget: MicroDollars,
    pub(crate) graph: &'a GraphCache,
    pub(crate) plan: &'a PlanCache,
    pub(crate) trace: &'a TraceCache,
    /// What the selected task did, where it is described.
    pub(crate) task_steps: &'a TaskSteps,
    pub(crate) columns: &'a TraceColumns,
    pub(crate) card: &'a CardCache,
    pub(crate) marks: &'a ScrubMarks,
    pub(crate) lane: Option<&'a ScrubLane>,
    pub(crate) files: &'a FilesCache,
    pub(crate) next_task: &'a NextTaskCache,
    pub(crate) needs: &'a NeedsCache,
    pub(crate) tails: &'a FailureTails,
    pub(crate) output: &'a OutputCache,
}

impl PaneContext<'_> {
    pub(crate) fn style(&self, role: ThemeRole) -> Style {
        self.theme.style(role)
    }

    /// What decides whether an action can be done here.
    pub(crate) fn situation(&self) -> ActionSituation<'_> {
        ActionSituation {
            state: self.state,
            latest: self.latest,
            ui: self.ui,
            mode: self.mode,
            keymap: self.keymap,
            why_locked: self.why_locked.as_deref().map(std::borrow::Cow::Borrowed),
            is_stored: self.is_stored,
            run_home: self.run_home,
        }
    }

    /// What a task card looks at.
    pub(crate) fn card_context(&self) -> CardContext<'_> {
        CardContext {
            state: self.state,
            keymap: self.keymap,
            palette: self.theme,
            now: self.now,
            zone: self.time_zone,
            can_act: self.can_act && !self.mode.is_past(),
        }
    }

    /// The shape and style of a pane's rule.
    pub(crate) fn rule_style(&self, focus: PaneFocus) -> (RuleKind, Style) {
        let focused = self.ui.focus == focus && self.ui.overlay.is_none() && !self.beside;
        let kind = RuleKind { focus: focused, past: self.mode.is_past() };
        let style = match (kind.past, focused) {
            (true, _) => self.theme.replay_style(),
            (false, true) => self.style(ThemeRole::Focus),
            (false, false) => self.style(ThemeRole::Rule),
        };
        (kind, style)
    }
}

/// A region of the session screen. Panes hold no session data, so that live and replay draw alike.
pub(crate) trait Pane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>);
}
