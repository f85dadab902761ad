//! Which kinds of steps are shown.

use planwright_state::trace::EntryKind;

/// A choice of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kinds {
    #[default]
    All,
    Thoughts,
    /// What was done and what came of it.
    Actions,
    /// What was asked of the person and what they said.
    Decisions,
    Failures,
}

impl Kinds {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::All => Self::Thoughts,
            Self::Thoughts => Self::Actions,
            Self::Actions => Self::Decisions,
            Self::Decisions => Self::Failures,
            Self::Failures => Self::All,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::All => "all kinds",
            Self::Thoughts => "thoughts",
            Self::Actions => "actions",
            Self::Decisions => "decisions",
            Self::Failures => "failures",
        }
    }

    pub(super) fn has(self, kind: EntryKind) -> bool {
        match self {
            Self::All => true,
            Self::Thoughts => kind == EntryKind::Thought,
            Self::Actions => matches!(kind, EntryKind::Action | EntryKind::Observed),
            Self::Decisions => {
                matches!(kind, EntryKind::Asked | EntryKind::Answered | EntryKind::Yours)
            }
            Self::Failures => {
                matches!(kind, EntryKind::Failed | EntryKind::Skipped | EntryKind::Refused)
            }
        }
    }
}
