//! Applies the changes of a copy to the workspace, all of them or none, and takes them back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use planwright_model::{AppliedFile, ApplyConflict, Digest};

use super::merge::{conflict_hunks, merge_texts, write_file};
use super::{Worktree, WorktreeChange, WorktreeError};
use crate::tool::{ToolError, ToolErrorCode};
use crate::workspace::{LARGEST, Workspace, content_hash};

/// What applying would do to one file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceEdit {
    pub path: String,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
    pub executable: bool,
}

/// What applying would do, decided against the workspace as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyPlan {
    Ready(Vec<WorkspaceEdit>),
    /// Nothing can be applied.
    Conflicts(Vec<ApplyConflict>),
}

/// Which way the workspace is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ApplyDirection {
    Forward,
    Back,
}

impl Worktree {
    /// Decides what applying does to each file. Changes of others to the same file are kept where both fit together.
    ///
    /// # Errors
    /// The copy is gone or cannot be read.
    pub fn plan_apply(&self, workspace: &Workspace) -> Result<ApplyPlan, WorktreeError> {
        let changes = self.changes(workspace.root())?;
        let (mut edits, mut conflicts) = (Vec::new(), Vec::new());
        for change in changes.files {
            match plan_file(&change, workspace) {
                Ok(edit) => edits.extend(edit),
                Err(conflict) => conflicts.push(conflict),
            }
        }
        Ok(if conflicts.is_empty() {
            ApplyPlan::Ready(edits)
        } else {
            ApplyPlan::Conflicts(conflicts)
        })
    }

    /// Saves what each file was and will be. Only then may the first of them be written.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn save_plan(&self, edits: &[WorkspaceEdit]) -> Result<Vec<AppliedFile>, WorktreeError> {
        for directory in [self.before(), self.after()] {
            super::remove_directory(&directory)?;
            fs::create_dir_all(&directory).map_err(WorktreeError::io("creating", &directory))?;
        }
        let hash = |content: &Option<Vec<u8>>| content.as_deref().map(content_hash);
        let mut files = Vec::new();
        for edit in edits {
            save_content(&self.before().join(&edit.path), edit.before.as_deref(), false)?;
            save_content(&self.after().join(&edit.path), edit.after.as_deref(), edit.executable)?;
            files.push(AppliedFile {
                path: edit.path.clone(),
                before: hash(&edit.before),
                after: hash(&edit.after),
            });
        }
        Ok(files)
    }

    /// Writes the planned files to the workspace. If one of them cannot be written, those that were are restored.
    /// Applying again completes what was interrupted.
    ///
    /// # Errors
    /// What stood in the way; the workspace is as it was before.
    pub fn apply(
        &self,
        files: &[AppliedFile],
        workspace: &Workspace,
    ) -> Result<(), Vec<ApplyConflict>> {
        self.move_workspace(files, workspace, ApplyDirection::Forward)
    }

    /// Restores the files that were applied. If one of them has changed since, nothing is.
    ///
    /// # Errors
    /// What stood in the way; the workspace is as it was before.
    pub fn undo(
        &self,
        files: &[AppliedFile],
        workspace: &Workspace,
    ) -> Result<(), Vec<ApplyConflict>> {
        self.move_workspace(files, workspace, ApplyDirection::Back)
    }

    fn move_workspace(
        &self,
        files: &[AppliedFile],
        workspace: &Workspace,
        direction: ApplyDirection,
    ) -> Result<(), Vec<ApplyConflict>> {
        let mut conflicts = Vec::new();
        let (mut waiting, mut moved) = (Vec::new(), Vec::new());
        for file in files {
            let (from, to) = sides(file, direction);
            match workspace.hash_file(&file.path, LARGEST) {
                Ok(now) if now.as_ref() == to => moved.push(file),
                Ok(now) if now.as_ref() == from => waiting.push(file),
                Ok(_) => {
                    conflicts.push(ApplyConflict::new(&file.path, "it was changed meanwhile"));
                }
                Err(error) => conflicts.push(ApplyConflict::new(&file.path, error.message)),
            }
        }
        if conflicts.is_empty() {
            for file in waiting {
                if let Err(error) = self.move_file(file, workspace, direction) {
                    conflicts.push(ApplyConflict::new(&file.path, error.message));
                    break;
                }
                moved.push(file);
            }
        }
        if conflicts.is_empty() {
            return Ok(());
        }
        let back = match direction {
            ApplyDirection::Forward => ApplyDirection::Back,
            ApplyDirection::Back => ApplyDirection::Forward,
        };
        for file in moved.into_iter().rev().filter(|file| file.before != file.after) {
            if let Err(error) = self.move_file(file, workspace, back) {
                let why = format!("it could not be restored: {}", error.message);
                conflicts.push(ApplyConflict::new(&file.path, why));
            }
        }
        Err(conflicts)
    }

    fn move_file(
        &self,
        file: &AppliedFile,
        workspace: &Workspace,
        direction: ApplyDirection,
    ) -> Result<(), ToolError> {
        let (from, to) = sides(file, direction);
        if to.is_none() {
            return workspace.remove_file(&file.path, from);
        }
        let kept = match direction {
            ApplyDirection::Forward => self.after(),
            ApplyDirection::Back => self.before(),
        }
        .join(&file.path);
        let unreadable = |error: std::io::Error| {
            let message = format!("what was saved for {} cannot be read: {error}", file.path);
            ToolError::new(ToolErrorCode::Io, message)
        };
        let bytes = fs::read(&kept).map_err(unreadable)?;
        workspace.write(&file.path, &bytes, from)?;
        let executable = is_executable(&kept);
        if direction == ApplyDirection::Forward || executable {
            workspace.set_executable(&file.path, executable)?;
        }
        Ok(())
    }
}

fn sides(file: &AppliedFile, direction: ApplyDirection) -> (Option<&Digest>, Option<&Digest>) {
    match direction {
        ApplyDirection::Forward => (file.before.as_ref(), file.after.as_ref()),
        ApplyDirection::Back => (file.after.as_ref(), file.before.as_ref()),
    }
}

/// What applying does to one file; none if the workspace has it already.
fn plan_file(
    change: &WorktreeChange,
    workspace: &Workspace,
) -> Result<Option<WorkspaceEdit>, ApplyConflict> {
    let conflict = |why: &str| Err(ApplyConflict::new(&change.path, why));
    let now = match workspace.read(&change.path, LARGEST) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.code == ToolErrorCode::NotFound => None,
        Err(error) => return conflict(&error.message),
    };
    let edit = |after: Option<Vec<u8>>| {
        let (path, executable) = (change.path.clone(), change.executable);
        Ok(Some(WorkspaceEdit { path, before: now.clone(), after, executable }))
    };
    if now == change.base {
        return edit(change.own.clone());
    }
    if now == change.own {
        return Ok(None);
    }
    match (&change.base, &change.own, &now) {
        (Some(base), Some(own), Some(now)) => match merge_texts(base, now, own) {
            Some(Ok(merged)) => edit(Some(merged.into_bytes())),
            Some(Err(marked)) => {
                let hunks = conflict_hunks(&marked);
                let why = "the same lines were changed in the workspace";
                Err(ApplyConflict { hunks, ..ApplyConflict::new(&change.path, why) })
            }
            None => conflict("it was changed in the workspace and cannot be merged"),
        },
        (_, None, _) => conflict("the task removes it, but it was changed in the workspace"),
        (_, _, None) => conflict("the task changes it, but it was removed in the workspace"),
        (None, _, _) => conflict("another file was created there in the workspace"),
    }
}

fn save_content(
    path: &Path,
    content: Option<&[u8]>,
    executable: bool,
) -> Result<(), WorktreeError> {
    let Some(bytes) = content else { return Ok(()) };
    write_file(path, Some(bytes))?;
    let saved = fs::File::open(path).map_err(WorktreeError::io("opening", path))?;
    if executable {
        let mode = fs::Permissions::from_mode(0o755);
        saved.set_permissions(mode).map_err(WorktreeError::io("writing", path))?;
    }
    // The workspace is written only after this is on the disk.
    saved.sync_all().map_err(WorktreeError::io("writing", path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}
