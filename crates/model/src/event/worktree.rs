//! Facts about the copies of the workspace that agents work in, and about the changes that come back from them.

use serde::{Deserialize, Serialize};

use crate::task_changes::{
    AppliedFile, ApplyConflict, ChangeProposal, FailedCheck, WorktreeOverlap,
};
use crate::{Actor, TaskId};

/// Why a copy is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscardCause {
    /// The person does not want the changes.
    Person,
    /// The task changed nothing.
    NoChanges,
    /// The copy was deleted behind our back.
    Lost,
    /// The result of another agent was picked.
    NotPicked,
}

/// Facts about a task's own copy of the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorktreeEvent {
    /// The workspace was copied for a task.
    Opened {
        task: TaskId,
        /// Below the directory of the session's copies.
        directory: String,
        files: u64,
        /// What git ignores and was therefore not copied.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
        /// Tasks under way that changed files which this one names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        overlaps: Vec<WorktreeOverlap>,
    },
    /// The work is done; this is what it would change.
    Proposed {
        task: TaskId,
        attempt: u32,
        proposal: Box<ChangeProposal>,
        /// How long the work took.
        elapsed_ms: u64,
    },
    /// The changes are to be applied: by the person, or by the policy where nobody is named.
    ApplyRequested {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
    /// These files are about to be written. Durable before the first of them is.
    ApplyIntended {
        task: TaskId,
        files: Vec<AppliedFile>,
        /// The workspace has other changes than the copy began with, so that what was checked in the copy need not hold.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        moved: bool,
    },
    Applied {
        task: TaskId,
    },
    /// Exit criteria were checked once more, in the workspace with the changes applied.
    Checked {
        task: TaskId,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        failures: Vec<FailedCheck>,
    },
    /// The person keeps the applied changes although checks fail.
    CheckAccepted {
        task: TaskId,
        by: Actor,
    },
    /// Nothing was applied, and why.
    ApplyFailed {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<ApplyConflict>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The person wants something different; the agent continues in the same copy.
    ChangesRequested {
        task: TaskId,
        text: String,
        by: Actor,
        /// The workspace is merged into the copy first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        merge: bool,
    },
    /// What changed in the workspace meanwhile was merged into the copy. These files have conflict markers.
    Merged {
        task: TaskId,
        files: Vec<String>,
        conflicts: Vec<String>,
    },
    Discarded {
        task: TaskId,
        cause: DiscardCause,
    },
    /// The person wants the applied changes undone.
    UndoRequested {
        task: TaskId,
        by: Actor,
        /// What the agent is told when it continues in its copy afterwards; none if it does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry: Option<String>,
    },
    Undone {
        task: TaskId,
    },
    /// Nothing was undone, and why.
    UndoFailed {
        task: TaskId,
        conflicts: Vec<ApplyConflict>,
    },
}

impl WorktreeEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "worktree.opened",
            Self::Proposed { .. } => "worktree.proposed",
            Self::ApplyRequested { .. } => "worktree.apply_requested",
            Self::ApplyIntended { .. } => "worktree.apply_intended",
            Self::Applied { .. } => "worktree.applied",
            Self::Checked { .. } => "worktree.checked",
            Self::CheckAccepted { .. } => "worktree.check_accepted",
            Self::ApplyFailed { .. } => "worktree.apply_failed",
            Self::ChangesRequested { .. } => "worktree.changes_requested",
            Self::Merged { .. } => "worktree.merged",
            Self::Discarded { .. } => "worktree.discarded",
            Self::UndoRequested { .. } => "worktree.undo_requested",
            Self::Undone { .. } => "worktree.undone",
            Self::UndoFailed { .. } => "worktree.undo_failed",
        }
    }

    pub fn task_id(&self) -> &TaskId {
        match self {
            Self::Opened { task, .. }
            | Self::Proposed { task, .. }
            | Self::ApplyRequested { task, .. }
            | Self::ApplyIntended { task, .. }
            | Self::Applied { task }
            | Self::Checked { task, .. }
            | Self::CheckAccepted { task, .. }
            | Self::ApplyFailed { task, .. }
            | Self::ChangesRequested { task, .. }
            | Self::Merged { task, .. }
            | Self::Discarded { task, .. }
            | Self::UndoRequested { task, .. }
            | Self::Undone { task }
            | Self::UndoFailed { task, .. } => task,
        }
    }
}
