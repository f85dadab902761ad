//! A task's own copy of the workspace: made, looked at, merged, applied, undone.
//!
//! A copy lives in the data directory, on no branch, and consists of two trees: `base`, the workspace as it was, and
//! `files`, where the task works. What differs between them is what the task changed. The workspace itself is written
//! only by [`Worktree::apply`], file by file and atomically, after a plan of what each file was and will be is saved;
//! an interrupted apply is completed or rolled back from that plan. Nothing is ever written to the person's repository;
//! the copy has a view of it, on no branch.

mod apply;
mod changes;
mod merge;
mod repository;
mod snapshot;
#[cfg(test)]
mod tests;

pub use apply::{ApplyPlan, WorkspaceEdit};
pub use changes::{WorktreeChange, WorktreeChanges};
pub use merge::WorktreeMerge;
pub use repository::borrowed_objects;

use std::io;
use std::path::{Path, PathBuf};

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotReport {
    pub files: u64,
    /// Ignored directories and files that were not copied, as far as they are shown.
    pub left_out: Vec<String>,
}

/// Why a copy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error(
        "the workspace has more than {limit} {what} that git does not ignore; add what is generated to .gitignore, or set worktrees = false in the config"
    )]
    TooLarge { what: &'static str, limit: u64 },
    #[error("{doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("the copy at {} is gone", path.display())]
    Missing { path: PathBuf },
    #[error("{message}")]
    Refused { message: String },
}

impl WorktreeError {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// The directory that has the copies of one session.
#[derive(Clone, Debug)]
pub struct WorktreeDirectory {
    root: PathBuf,
}

impl WorktreeDirectory {
    /// The copies of a session below the data directory.
    pub fn for_session(data_dir: &Path, session: &str) -> Self {
        Self { root: data_dir.join("worktrees").join(session) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A copy by the name that its event keeps.
    pub fn worktree(&self, name: &str) -> Worktree {
        Worktree { root: self.root.join(name) }
    }

    /// Copies the workspace for a task. What an unrecorded copy left under the name is deleted first.
    ///
    /// # Errors
    /// The workspace is too large, or the disk refuses.
    pub fn create(
        &self,
        name: &str,
        workspace: &Path,
    ) -> Result<(Worktree, SnapshotReport), WorktreeError> {
        let made = self.worktree(name);
        made.remove()?;
        let report = snapshot::copy_workspace(workspace, &made)?;
        repository::link_repository(workspace, &made.files())?;
        Ok((made, report))
    }

    /// Deletes all copies of the session.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn remove_all(&self) -> Result<(), WorktreeError> {
        remove_directory(&self.root)
    }
}

/// One copy.
#[derive(Clone, Debug)]
pub struct Worktree {
    root: PathBuf,
}

impl Worktree {
    /// Where the task works.
    pub fn files(&self) -> PathBuf {
        self.root.join("files")
    }

    /// The workspace as it was copied.
    fn base(&self) -> PathBuf {
        self.root.join("base")
    }

    /// What the workspace had before the changes were applied.
    fn before(&self) -> PathBuf {
        self.root.join("before")
    }

    /// What the workspace has once the changes are applied.
    fn after(&self) -> PathBuf {
        self.root.join("after")
    }

    pub fn exists(&self) -> bool {
        self.files().is_dir() && self.base().is_dir()
    }

    /// Deletes the copy.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn remove(&self) -> Result<(), WorktreeError> {
        remove_directory(&self.root)
    }

    /// Deletes what is no longer needed once the changes are applied; they can still be undone.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn remove_trees(&self) -> Result<(), WorktreeError> {
        remove_directory(&self.files())?;
        remove_directory(&self.base())
    }

    fn require_trees(&self) -> Result<(), WorktreeError> {
        if self.exists() { Ok(()) } else { Err(WorktreeError::Missing { path: self.root.clone() }) }
    }
}

fn remove_directory(path: &Path) -> Result<(), WorktreeError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(WorktreeError::io("deleting", path)(error))
        }
        _ => Ok(()),
    }
}
