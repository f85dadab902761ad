//! The repository of a copy: its own branchless view of the person's, so that git works in the copy as tests and build
//! scripts expect. Objects are borrowed from the person's repository and only read; everything that git writes stays in
//! the copy and is deleted with it.

use std::fs;
use std::path::{Path, PathBuf};

use super::WorktreeError;
use super::snapshot::git_output;

/// Files of a repository that the copy begins with, if they are there.
const COPIED: [&str; 3] = ["index", "shallow", "info/exclude"];
/// Settings of the copy: none of the person's, which may name programs.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[gc]\n\tauto = 0\n";

/// The objects that a copy of this workspace borrows, if it is a repository of its own.
pub fn borrowed_objects(workspace: &Path) -> Option<PathBuf> {
    let objects = workspace.join(".git/objects");
    objects.is_dir().then_some(objects)
}

/// Gives the copy a view of the workspace's repository at the same commit, on no branch. A workspace that is no
/// repository, has no commit or keeps its repository elsewhere gets none.
pub(super) fn link_repository(workspace: &Path, copy: &Path) -> Result<(), WorktreeError> {
    let Some(objects) = borrowed_objects(workspace) else { return Ok(()) };
    let Some(head) = git_line(workspace, &["rev-parse", "--verify", "HEAD"]) else { return Ok(()) };
    let format = git_line(workspace, &["rev-parse", "--show-object-format"]);
    if format.is_some_and(|format| format != "sha1") {
        return Ok(());
    }
    let (own, theirs) = (copy.join(".git"), workspace.join(".git"));
    for part in ["objects/info", "objects/pack", "refs", "info"] {
        let directory = own.join(part);
        fs::create_dir_all(&directory).map_err(WorktreeError::io("creating", &directory))?;
    }
    let refs = git_output(workspace, &["show-ref"], &[]).unwrap_or_default();
    let alternates = format!("{}\n", objects.display()).into_bytes();
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
    for name in COPIED {
        let (from, to) = (theirs.join(name), own.join(name));
        if from.is_file() {
            fs::copy(&from, &to).map_err(WorktreeError::io("copying", &from))?;
        }
    }
    Ok(())
}

fn git_line(workspace: &Path, arguments: &[&str]) -> Option<String> {
    let output = git_output(workspace, arguments, &[])?;
    Some(String::from_utf8(output).ok()?.trim().to_owned()).filter(|line| !line.is_empty())
}
