//! Which kinds of steps are shown.

use planwright_state::trace::TraceEntryKind;

/// A choice of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TraceKindFilter {
    #[default]
    All,
    Thoughts,
    /// What was done and what came of it.
    Actions,
    /// What was asked of the person and what they said.
    Decisions,
    Failures,
}

impl TraceKindFilter {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::All => Self::Thoughts,
            Self::Thoughts => Self::Actions,
            Self::Actions => Self::Decisions,
            Self::Decisions => Self::Failures,
            Self::Failures => Self::All,
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::All => "all kinds",
            Self::Thoughts => "thoughts",
            Self::Actions => "actions",
            Self::Decisions => "decisions",
            Self::Failures => "failures",
        }
    }

    pub(super) fn includes(self, kind: TraceEntryKind) -> bool {
        match self {
            Self::All => true,
            Self::Thoughts => kind == TraceEntryKind::Thought,
            Self::Actions => matches!(kind, TraceEntryKind::Action | TraceEntryKind::Observed),
            Self::Decisions => {
                matches!(
                    kind,
                    TraceEntryKind::Asked | TraceEntryKind::Answered | TraceEntryKind::Yours
                )
            }
            Self::Failures => {
                // What was skipped stands under the failure it was skipped for.
                matches!(kind, TraceEntryKind::Failed | TraceEntryKind::Refused)
            }
        }
    }
}
