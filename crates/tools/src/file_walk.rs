//! Walks the files of a workspace the way git sees them, without leaving it.
//!
//! The walk only lists candidates; a caller opens them through the workspace, so that a directory that is replaced by a
//! link in the meantime cannot lead outside.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// Whether names that begin with a dot are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenFiles {
    Excluded,
    Included,
}

/// Files below a directory in a fixed order. Files ignored by `.gitignore` or `.ignore` are excluded, as is `.git`.
pub fn walk_files(root: &Path, hidden: HiddenFiles) -> impl Iterator<Item = PathBuf> + use<> {
    let walk = WalkBuilder::new(root)
        .hidden(hidden == HiddenFiles::Excluded)
        .follow_links(false)
        // Nothing outside the workspace is read, not even ignore files.
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
