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

impl Worktree {
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
