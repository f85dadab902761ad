//! The word at the left end of the header: which kind of time this is and what the plan is doing.

use crate::pane_context::SessionViewMode;
use crate::theme::ThemeRole;
use planwright_state::{RunPhase, SessionState, SessionStatus};

/// What a session is at the moment that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionBadge {
    /// A plan is drafted and waits for approval.
    Draft,
    /// A plan for a person: nothing runs, the next task is theirs.
    Active,
    /// Agents or commands run here.
    Live,
    /// Another process runs it.
    Watch,
    Paused,
    /// Work is left and nothing runs.
    Stopped,
    /// It is over; the header says what failed.
    Done,
    /// The past.
    Replay,
}

impl SessionBadge {
    /// The badge of a session as it is looked at; `watched` if another process works on it.
    pub(crate) fn from_state(state: &SessionState, mode: SessionViewMode, watched: bool) -> Self {
        if mode.is_past() {
            return Self::Replay;
        }
        let badge = Self::from_phase(state);
        let works = matches!(badge, Self::Draft | Self::Live | Self::Paused);
        if watched && works && state.session.closed.is_none() { Self::Watch } else { badge }
    }

    fn from_phase(state: &SessionState) -> Self {
        let yours = state.tasks.is_only_person_left() || state.tasks.is_persons_plan();
        match state.run.phase {
            _ if state.plan.abandoned => Self::Stopped,
            // An agent that asks without a plan works elsewhere.
            _ if state.desk.is_ticket() && state.plan.current.is_none() => Self::Watch,
            // Another program's agent runs it, until it has reported every task.
            _ if state.is_carried_out_elsewhere() => match state.status() {
                SessionStatus::Done | SessionStatus::Failed => Self::Done,
                _ => Self::Watch,
            },
            RunPhase::Finished { .. } => Self::Done,
            RunPhase::Running if yours => Self::Active,
            RunPhase::Running => Self::Live,
            RunPhase::Paused => Self::Paused,
            RunPhase::Interrupted if state.tasks.is_waiting_for_person() || yours => Self::Active,
            RunPhase::Interrupted => Self::Stopped,
            RunPhase::Idle if state.is_runnable() && yours => Self::Active,
            RunPhase::Idle if state.is_runnable() => Self::Stopped,
            RunPhase::Idle => Self::Draft,
        }
    }

    /// The word.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Draft => "DRAFT",
            Self::Active => "ACTIVE",
            Self::Live => "LIVE",
            Self::Watch => "WATCH",
            Self::Paused => "PAUSED",
            Self::Stopped => "STOPPED",
            Self::Done => "DONE",
            Self::Replay => "REPLAY",
        }
    }

    pub(super) fn role(self) -> ThemeRole {
        match self {
            Self::Draft | Self::Active | Self::Done => ThemeRole::BadgePlan,
            Self::Live | Self::Watch => ThemeRole::BadgeLive,
            Self::Paused | Self::Stopped => ThemeRole::BadgePaused,
            Self::Replay => ThemeRole::BadgeReplay,
        }
    }
}
