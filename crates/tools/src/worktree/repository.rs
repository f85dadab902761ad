//! The repository of a copy: its own branchless view of the person's, so that git works in the copy as tests and build
//! scripts expect. Objects are borrowed from the person's repository and only read; everything that git writes stays in
//! the copy and is deleted with it.

use std::fs;
use std::path::{Path, PathBuf};

use super::WorktreeError;
use super::snapshot::view_output;
use crate::repository_view::RepositoryView;

/// Settings of the copy: none of the person's, which may name programs.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[gc]\n\tauto = 0\n";

/// The repository whose work tree the workspace is, if it is one.
fn own_repository(workspace: &Path) -> Option<RepositoryView> {
    let view = RepositoryView::open(workspace).ok().flatten()?;
    (view.work_tree() == workspace.canonicalize().ok()?).then_some(view)
}

/// The objects that a copy of this workspace borrows, if it is a repository of its own.
pub fn borrowed_objects(workspace: &Path) -> Option<PathBuf> {
    own_repository(workspace).map(|view| view.objects()).filter(|objects| objects.is_dir())
}

/// Gives the copy a view of the workspace's repository at the same commit, on no branch. A workspace that is no
/// repository or has no commit gets none.
pub(super) fn link_repository(workspace: &Path, copy: &Path) -> Result<(), WorktreeError> {
    let Some(view) = own_repository(workspace) else { return Ok(()) };
    let git_line = |arguments: &[&str]| {
        let output = view_output(&view, workspace, arguments, &[])?;
        Some(String::from_utf8(output).ok()?.trim().to_owned()).filter(|line| !line.is_empty())
    };
    let Some(head) = git_line(&["rev-parse", "--verify", "HEAD"]) else { return Ok(()) };
    let format = git_line(&["rev-parse", "--show-object-format"]);
    if format.is_some_and(|format| format != "sha1") {
        return Ok(());
    }
    let own = copy.join(".git");
    for part in ["objects/info", "objects/pack", "refs", "info"] {
        let directory = own.join(part);
        fs::create_dir_all(&directory).map_err(WorktreeError::io("creating", &directory))?;
    }
    let refs = view_output(&view, workspace, &["show-ref"], &[]).unwrap_or_default();
    let alternates = format!("{}\n", view.objects().display()).into_bytes();
    let written: [(&str, Vec<u8>); 4] = [
        ("HEAD", format!("{head}\n").into_bytes()),
        ("config", CONFIG.as_bytes().to_vec()),
        ("packed-refs", refs),
        ("objects/info/alternates", alternates),
    ];
    for (name, bytes) in written {
        let path = own.join(name);
        fs::write(&path, bytes).map_err(WorktreeError::io("writing", &path))?;
    }
    // Files that the copy begins with, if they are there.
    let (git_dir, common) = (view.git_dir(), view.common_dir());
    for (directory, name) in [(git_dir, "index"), (common, "shallow"), (common, "info/exclude")] {
        let (from, to) = (directory.join(name), own.join(name));
        if from.is_file() {
            fs::copy(&from, &to).map_err(WorktreeError::io("copying", &from))?;
        }
    }
    Ok(())
}
