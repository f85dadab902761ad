//! Walking the files of a workspace as git would see them, staying inside.
//!
//! The walk names candidates; whoever reads one opens it through the workspace, so that a directory that is exchanged
//! for a link meanwhile leads nowhere.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// Whether names that begin with a dot are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenFiles {
    Excluded,
    Included,
}

/// Files below a directory in a fixed order. What `.gitignore` and `.ignore` name is left out, and so is `.git`.
pub fn walk_files(root: &Path, hidden: HiddenFiles) -> impl Iterator<Item = PathBuf> + use<> {
    let walk = WalkBuilder::new(root)
        .hidden(hidden == HiddenFiles::Excluded)
        .follow_links(false)
        // Nothing outside the workspace is read, not even to learn what to leave out.
        .parents(false)
        .git_global(false)
        .git_exclude(true)
        .require_git(false)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    walk.flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
}
