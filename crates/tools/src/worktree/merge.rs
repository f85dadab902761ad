//! Brings what changed in the workspace meanwhile into a copy, so that its task can resolve what conflicts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::snapshot::listed_files;
use super::{Worktree, WorktreeError};

/// What a merge did to a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeMerge {
    /// Files that the workspace had changed.
    pub files: Vec<String>,
    /// Those that the task has to resolve; texts have conflict markers.
    pub conflicts: Vec<String>,
}

/// Merges two versions of a text. `Err` is the text with conflict markers.
pub(super) fn merge_texts(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
) -> Option<Result<String, String>> {
    let text = |bytes| std::str::from_utf8(bytes).ok().filter(|text: &&str| !text.contains('\0'));
    Some(diffy::merge(text(base)?, text(ours)?, text(theirs)?))
}

/// How many conflicts of a file are shown, and how many lines of each.
const MOST_HUNKS: usize = 8;
const MOST_HUNK_LINES: usize = 60;

/// The lines between conflict markers, each with the line where it begins in the workspace's version and with whose lines
/// are whose.
pub(super) fn conflict_hunks(marked: &str) -> Vec<String> {
    let mut hunks = Vec::new();
    let mut open: Option<Vec<String>> = None;
    // Lines of the workspace's version so far: those outside of conflicts, and its side of each of them.
    let (mut line_number, mut is_ours) = (1usize, true);
    for line in marked.lines() {
        let marker = line.get(..7).unwrap_or_default();
        match (marker, &mut open) {
            ("<<<<<<<", None) => {
                open = Some(vec![format!("<<<<<<< your workspace, line {line_number}")]);
                is_ours = true;
            }
            ("|||||||", Some(hunk)) => {
                hunk.push("||||||| before".to_owned());
                is_ours = false;
            }
            ("=======", Some(hunk)) => {
                hunk.push("=======".to_owned());
                is_ours = false;
            }
            (">>>>>>>", Some(hunk)) => {
                hunk.push(">>>>>>> the task".to_owned());
                hunks.extend(open.take().map(join_hunk));
                is_ours = true;
            }
            (_, Some(hunk)) => {
                hunk.push(line.to_owned());
                line_number += usize::from(is_ours);
            }
            (_, None) => line_number += 1,
        }
    }
    if let Some(more @ 1..) = hunks.len().checked_sub(MOST_HUNKS) {
        hunks.truncate(MOST_HUNKS);
        hunks.push(format!("({more} more conflicts)"));
    }
    hunks
}

fn join_hunk(mut lines: Vec<String>) -> String {
    if let Some(more @ 1..) = lines.len().checked_sub(MOST_HUNK_LINES) {
        lines.truncate(MOST_HUNK_LINES);
        lines.push(format!("({more} more lines)"));
    }
    lines.join("\n")
}

impl Worktree {
    /// Whether the workspace differs from what the copy began with, ignored files aside.
    ///
    /// # Errors
    /// The copy is gone, or a file cannot be read.
    pub fn has_workspace_moved(&self, workspace: &Path) -> Result<bool, WorktreeError> {
        self.require_trees()?;
        let mut paths: BTreeSet<PathBuf> = listed_files(workspace);
        paths.extend(super::changes::tree_paths(&self.base()));
        for path in paths {
            if !super::changes::is_same_entry(&workspace.join(&path), &self.base().join(&path))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Merges the workspace into the copy. Afterwards the copy counts as begun from the workspace as it is now.
    ///
    /// # Errors
    /// The copy is gone, or the disk refuses.
    pub fn merge_workspace(&self, workspace: &Path) -> Result<WorktreeMerge, WorktreeError> {
        self.require_trees()?;
        let mut paths: BTreeSet<PathBuf> = listed_files(workspace);
        paths.extend(super::changes::tree_paths(&self.base()));
        let mut merge = WorktreeMerge::default();
        for path in paths {
            let theirs = workspace.join(&path);
            // Links and directories are not merged; applying says what is in the way.
            if theirs.is_symlink() || theirs.is_dir() {
                continue;
            }
            self.merge_file(&path, read_file(&theirs)?.as_deref(), &mut merge)?;
        }
        Ok(merge)
    }

    fn merge_file(
        &self,
        path: &Path,
        theirs: Option<&[u8]>,
        merge: &mut WorktreeMerge,
    ) -> Result<(), WorktreeError> {
        let (base_path, own_path) = (self.base().join(path), self.files().join(path));
        let base = read_file(&base_path)?;
        if base.as_deref() == theirs {
            return Ok(());
        }
        let own = read_file(&own_path)?;
        let name = path.to_string_lossy().into_owned();
        merge.files.push(name.clone());
        let merged = match (base.as_deref(), own.as_deref(), theirs) {
            (_, own, theirs) if own == theirs => own.map(<[u8]>::to_vec),
            (base, own, theirs) if own == base => theirs.map(<[u8]>::to_vec),
            (Some(base), Some(own), Some(theirs)) => match merge_texts(base, own, theirs) {
                Some(Ok(merged)) => Some(merged.into_bytes()),
                Some(Err(marked)) => {
                    merge.conflicts.push(name);
                    Some(marked.into_bytes())
                }
                None => {
                    merge.conflicts.push(name);
                    Some(own.to_vec())
                }
            },
            (_, own, _) => {
                merge.conflicts.push(name);
                own.map(<[u8]>::to_vec)
            }
        };
        // The copy first: a merge that is cut off here is made again from the old base.
        write_file(&own_path, merged.as_deref())?;
        write_file(&base_path, theirs)
    }
}

/// The content of a file, none if there is no file.
pub(super) fn read_file(path: &Path) -> Result<Option<Vec<u8>>, WorktreeError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(WorktreeError::io("reading", path)(error)),
    }
}

/// Writes a file of the copy, or removes it.
pub(super) fn write_file(path: &Path, content: Option<&[u8]>) -> Result<(), WorktreeError> {
    let Some(bytes) = content else {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(WorktreeError::io("deleting", path)(error))
            }
            _ => Ok(()),
        };
    };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(WorktreeError::io("creating", parent))?;
    }
    fs::write(path, bytes).map_err(WorktreeError::io("writing", path))
}
