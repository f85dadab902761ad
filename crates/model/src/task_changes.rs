//! What a task changed in its own copy of the workspace, and what became of it.

use serde::{Deserialize, Serialize};

use crate::{Digest, TaskId};

/// What happened to a file in the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProposedFileKind {
    Added,
    Modified,
    Removed,
}

/// One changed file of a task, by figures. The lines stand on the card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProposedFile {
    /// Relative to the workspace.
    pub path: String,
    pub change: ProposedFileKind,
    #[serde(default)]
    pub added: usize,
    #[serde(default)]
    pub removed: usize,
    /// Other programs act on the file by themselves, such as a pipeline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
}

/// Everything that a task wants to change in the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangeProposal {
    pub files: Vec<ProposedFile>,
    /// Changes that cannot be applied, each with its reason: a link, a file that is too large.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl ChangeProposal {
    /// The figures of all files: `3 files, +96 -141`.
    pub fn describe(&self) -> String {
        let sum = |figure: fn(&ProposedFile) -> usize| self.files.iter().map(figure).sum::<usize>();
        let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
        match self.files.len() {
            1 => format!("1 file, +{added} -{removed}"),
            count => format!("{count} files, +{added} -{removed}"),
        }
    }
}

/// What applying does to one file, so that it can be completed or undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AppliedFile {
    pub path: String,
    /// A hash of what the workspace had before; none where there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// A hash of what it has afterwards; none where the file is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
}

/// A file that stands in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ApplyConflict {
    pub path: String,
    pub why: String,
    /// The lines that both sides changed, between conflict markers, where the file is a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<String>,
}

impl ApplyConflict {
    /// A conflict without lines to show.
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), why: why.into(), hunks: Vec::new() }
    }
}

/// An exit criterion that is not met in the workspace once changes are applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FailedCheck {
    /// The task whose criterion it is: the one whose changes were applied, or one that was applied before it.
    pub task: TaskId,
    /// The command, or the criterion in words.
    pub check: String,
    /// How it ended: `exit 1`.
    pub outcome: String,
    /// The last lines it printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// Another task that is under way and works on the same files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorktreeOverlap {
    pub task: TaskId,
    pub files: Vec<String>,
}
