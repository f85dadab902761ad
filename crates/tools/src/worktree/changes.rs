//! What a task changed: its tree compared with the one it began with.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use planwright_model::{ChangeProposal, ProposedFile, ProposedFileKind};
use planwright_text::Redactor;
use similar::{ChangeTag, TextDiff};

use super::snapshot::{ignored_paths, is_git_path};
use super::{Worktree, WorktreeError};
use crate::file_walk::{HiddenFiles, walk_files};
use crate::workspace::{LARGEST, is_protected};

/// How much of one file's difference is shown, and of all of them.
const MOST_FILE_LINES: usize = 400;
const MOST_LINES: usize = 2_000;

/// A file that a task changed. Contents are those of the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeChange {
    pub path: String,
    /// What the task began with; none for a new file.
    pub base: Option<Vec<u8>>,
    /// What it left; none for a removed file.
    pub own: Option<Vec<u8>>,
    pub executable: bool,
}

/// Everything that a task changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeChanges {
    pub files: Vec<WorktreeChange>,
    /// Changes that cannot be applied, each with its reason.
    pub left_out: Vec<String>,
}

impl Worktree {
    /// Compares the copy with what it began with. Files that git ignores in the workspace are not part of it.
    ///
    /// # Errors
    /// The copy is gone or cannot be read.
    pub fn changes(&self, workspace: &Path) -> Result<WorktreeChanges, WorktreeError> {
        self.require_trees()?;
        let (base, own) = (self.base(), self.files());
        let known = tree_paths(&base);
        let visible = tree_paths_unignored(&own);
        let new: Vec<PathBuf> = visible.difference(&known).cloned().collect();
        let ignored = ignored_paths(workspace, &new);
        let candidates = known.iter().chain(new.iter().filter(|path| !ignored.contains(*path)));
        let mut changes = WorktreeChanges::default();
        for path in candidates {
            changes.compare(path, &base.join(path), &own.join(path))?;
        }
        changes.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }
}

impl WorktreeChanges {
    fn compare(&mut self, path: &Path, base: &Path, own: &Path) -> Result<(), WorktreeError> {
        let (before, after) = (WorktreeEntry::read(base)?, WorktreeEntry::read(own)?);
        if before == after {
            return Ok(());
        }
        let Some(name) = path.to_str() else {
            let shown = planwright_text::clean_line(&path.to_string_lossy()).into_owned();
            self.left_out.push(format!("{shown}: its name is not valid UTF-8"));
            return Ok(());
        };
        let content = |entry: WorktreeEntry| match entry {
            WorktreeEntry::Missing => Ok((None, false)),
            WorktreeEntry::File { bytes, executable } => Ok((Some(bytes), executable)),
            WorktreeEntry::Link(_) => Err("links are not applied"),
            WorktreeEntry::TooLarge(_) => Err("it is larger than 16 MB"),
            WorktreeEntry::Other => Err("it is not a file"),
        };
        match (content(before), content(after)) {
            (Ok((base, _)), Ok((own, executable))) => {
                self.files.push(WorktreeChange { path: name.to_owned(), base, own, executable });
            }
            (Err(why), _) | (_, Err(why)) => {
                self.left_out.push(format!("{}: {why}", planwright_text::clean_line(name)));
            }
        }
        Ok(())
    }

    /// The figures of the changes.
    pub fn proposal(&self) -> ChangeProposal {
        let file = |change: &WorktreeChange| {
            let (added, removed) = change.count_lines();
            ProposedFile {
                path: change.path.clone(),
                change: match (&change.base, &change.own) {
                    (None, _) => ProposedFileKind::Added,
                    (_, None) => ProposedFileKind::Removed,
                    _ => ProposedFileKind::Modified,
                },
                added,
                removed,
                protected: is_protected(&change.path),
            }
        };
        ChangeProposal {
            files: self.files.iter().map(file).collect(),
            left_out: self.left_out.clone(),
        }
    }

    /// The lines of each file with its name and figures, without secrets, cut where they are too many to be read.
    pub fn shown_diffs(&self, redactor: &Redactor) -> Vec<(String, String)> {
        let mut room = MOST_LINES;
        let mut shown = Vec::new();
        for change in &self.files {
            let (added, removed) = change.count_lines();
            let text = redactor.redact(&change.unified_diff()).into_owned();
            let most = MOST_FILE_LINES.min(room);
            let lines: Vec<&str> = text.lines().collect();
            let mut kept = lines[..lines.len().min(most)].join("\n");
            if let Some(more @ 1..) = lines.len().checked_sub(most) {
                kept.extend(["\n(".to_owned(), more.to_string(), " more lines)".to_owned()]);
            }
            room -= lines.len().min(most);
            let path = redactor.redact(&change.path);
            shown.push((format!("{path} +{added} -{removed}"), kept));
        }
        shown
    }
}

impl WorktreeChange {
    fn texts(&self) -> Option<(&str, &str)> {
        Some((text_side(self.base.as_ref())?, text_side(self.own.as_ref())?))
    }

    fn count_lines(&self) -> (usize, usize) {
        let Some((base, own)) = self.texts() else { return (0, 0) };
        let diff = TextDiff::from_lines(base, own);
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        (count(ChangeTag::Insert), count(ChangeTag::Delete))
    }

    /// The whole difference, as `git diff` shows it.
    pub fn unified_diff(&self) -> String {
        let Some((base, own)) = self.texts() else { return "binary file".to_owned() };
        if base == own {
            return match (&self.base, &self.own) {
                (None, _) => "new empty file".to_owned(),
                (_, None) => "removed empty file".to_owned(),
                _ if self.executable => "now executable".to_owned(),
                _ => "no longer executable".to_owned(),
            };
        }
        TextDiff::from_lines(base, own)
            .unified_diff()
            .context_radius(3)
            .header(&format!("a/{}", self.path), &format!("b/{}", self.path))
            .to_string()
    }
}

/// A version of a file as text; a missing one is empty, a binary one is none.
fn text_side(content: Option<&Vec<u8>>) -> Option<&str> {
    let Some(bytes) = content else { return Some("") };
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// What is at a path of a tree.
#[derive(PartialEq, Eq)]
enum WorktreeEntry {
    Missing,
    File {
        bytes: Vec<u8>,
        executable: bool,
    },
    Link(PathBuf),
    /// By a hash: its content is not kept.
    TooLarge(u64),
    Other,
}

impl WorktreeEntry {
    fn read(path: &Path) -> Result<Self, WorktreeError> {
        let Ok(metadata) = path.symlink_metadata() else { return Ok(Self::Missing) };
        if metadata.is_symlink() {
            let target = fs::read_link(path).map_err(WorktreeError::io("reading", path))?;
            return Ok(Self::Link(target));
        }
        if !metadata.is_file() {
            return Ok(Self::Other);
        }
        if metadata.len() > LARGEST {
            return Ok(Self::TooLarge(hash_large_file(path)?));
        }
        let bytes = fs::read(path).map_err(WorktreeError::io("reading", path))?;
        Ok(Self::File { bytes, executable: metadata.permissions().mode() & 0o100 != 0 })
    }
}

/// Whether two trees have the same at a path.
pub(super) fn is_same_entry(one: &Path, other: &Path) -> Result<bool, WorktreeError> {
    let entries = (WorktreeEntry::read(one)?, WorktreeEntry::read(other)?);
    // A directory in the place of a listed file is not copied: a submodule.
    let is_left_out = matches!(entries, (WorktreeEntry::Other, WorktreeEntry::Missing));
    Ok(entries.0 == entries.1 || is_left_out)
}

/// A hash to tell two large files apart.
fn hash_large_file(path: &Path) -> Result<u64, WorktreeError> {
    use std::hash::Hasher as _;
    use std::io::Read as _;
    let mut file = fs::File::open(path).map_err(WorktreeError::io("opening", path))?;
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(WorktreeError::io("reading", path))?;
        if read == 0 {
            return Ok(hasher.finish());
        }
        hasher.write(&buffer[..read]);
    }
}

/// All files and links of a tree, relative to it.
pub(super) fn tree_paths(root: &Path) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(root.join(&directory)) else { continue };
        for entry in entries.flatten() {
            let path = directory.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(_) => drop(paths.insert(path)),
                Err(_) => {}
            }
        }
    }
    paths
}

/// The files and links of a tree that its own ignore files do not rule out.
fn tree_paths_unignored(root: &Path) -> BTreeSet<PathBuf> {
    let relative = |path: PathBuf| path.strip_prefix(root).ok().map(Path::to_owned);
    let mut paths: BTreeSet<PathBuf> =
        walk_files(root, HiddenFiles::Included).filter_map(relative).collect();
    // Links are no files to walk, but a new one must not go unnoticed.
    let is_link = |path: &PathBuf| root.join(path).is_symlink();
    paths.extend(tree_links(root).into_iter().filter(is_link));
    paths.retain(|path| !is_git_path(path));
    paths
}

fn tree_links(root: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    walk.flatten()
        .filter(ignore::DirEntry::path_is_symlink)
        .filter_map(|entry| entry.path().strip_prefix(root).ok().map(Path::to_owned))
        .collect()
}
