//! Noticing that a command changed protected files: their state before it and after it.
//!
//! The whole workspace is walked, because repositories, submodules and worktrees can be anywhere in it. Only names are
//! read on the way; contents of protected files alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::content_hash;
use super::protected::is_protected_name;
use crate::model::Digest;

/// The most names that are looked at in a workspace.
const MOST_NAMES: usize = 400_000;
/// The most protected files whose content is kept track of.
const MOST_FILES: usize = 20_000;
/// How much of a protected file is read.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// Directories that package managers and builds fill with the work of others. In them only repositories count: the
/// settings that packages bring along are acted on by nobody.
const DEPENDENCIES: [&str; 6] =
    ["node_modules", "target", ".venv", "venv", "site-packages", "__pycache__"];
/// What git acts on in its own directory.
const GIT_PARTS: [&str; 7] =
    ["hooks", "config", "config.worktree", "info/attributes", "commondir", "gitdir", "modules"];

/// Protected files and what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectedState {
    files: BTreeMap<String, Digest>,
    names: usize,
    /// Directories of repositories that were looked at.
    repositories: BTreeSet<PathBuf>,
    /// Not everything was looked at: the workspace is too large.
    cut: bool,
}

/// The state of all protected files in these directories. Names below the first are relative to it.
pub fn protected_state<'r>(roots: impl IntoIterator<Item = &'r Path>) -> ProtectedState {
    let mut state = ProtectedState::default();
    for (number, root) in roots.into_iter().enumerate() {
        let shown = if number == 0 { PathBuf::new() } else { root.to_owned() };
        state.walk(root, &shown, "", false);
    }
    state
}

impl ProtectedState {
    /// Whether something was left out because there is too much.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Files that are others than before, that are new, or that are gone.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = before.files.keys().chain(self.files.keys()).collect();
        let changed =
            names.into_iter().filter(|name| before.files.get(*name) != self.files.get(*name));
        changed.cloned().collect()
    }

    /// Looks for protected names. `lean` is set inside what package managers fill.
    fn walk(&mut self, directory: &Path, shown: &Path, parent: &str, lean: bool) {
        let mut marks = 0;
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            self.names += 1;
            if self.names > MOST_NAMES {
                self.cut = true;
                return;
            }
            let name = entry.file_name();
            let lower = name.to_string_lossy().to_lowercase();
            let below = || (directory.join(&name), shown.join(&name));
            marks += usize::from(matches!(lower.as_str(), "head" | "objects" | "refs"));
            if lower == ".git" {
                let (path, shown) = below();
                self.take_repository(&path, &shown);
            } else if !lean && is_protected_name(parent, &lower) {
                let (path, shown) = below();
                self.take(&path, &shown);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let (path, shown) = below();
                let lean = lean || DEPENDENCIES.contains(&lower.as_str());
                self.walk(&path, &shown, &lower, lean);
            }
        }
        // A repository without a directory of files around it.
        if marks == 3 {
            self.take_git_directory(directory, shown);
        }
    }

    /// The `.git` of a repository: a directory or, for submodules and worktrees, a file that names one.
    fn take_repository(&mut self, path: &Path, shown: &Path) {
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            self.take(path, shown);
        }
        let named = read_start(path).and_then(|text| named_directory(path, &text, "gitdir:"));
        let Some(directory) = named.or_else(|| path.is_dir().then(|| path.to_owned())) else {
            return;
        };
        let elsewhere = directory != path;
        let shown = if elsewhere { directory.clone() } else { shown.to_owned() };
        self.take_git_directory(&directory, &shown);
        // A worktree shares hooks and settings with the repository that it belongs to.
        let common = directory.join("commondir");
        let common = read_start(&common).and_then(|text| named_directory(&common, &text, ""));
        if let Some(common) = common {
            self.take_git_directory(&common, &common);
        }
    }

    fn take_git_directory(&mut self, directory: &Path, shown: &Path) {
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        if !self.repositories.insert(real) {
            return;
        }
        for part in GIT_PARTS {
            if part == "modules" {
                self.walk_modules(&directory.join(part), &shown.join(part));
            } else {
                self.take(&directory.join(part), &shown.join(part));
            }
        }
        for entry in std::fs::read_dir(directory.join("worktrees")).into_iter().flatten().flatten()
        {
            let below = Path::new("worktrees").join(entry.file_name());
            self.take_git_directory(&directory.join(&below), &shown.join(&below));
        }
    }

    /// The directories of submodules, whose names may hold slashes.
    fn walk_modules(&mut self, directory: &Path, shown: &Path) {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            self.names += 1;
            let (path, shown) = (entry.path(), shown.join(entry.file_name()));
            if self.names > MOST_NAMES || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.cut |= self.names > MOST_NAMES;
            } else if path.join("HEAD").symlink_metadata().is_ok() {
                self.take_git_directory(&path, &shown);
            } else {
                self.walk_modules(&path, &shown);
            }
        }
    }

    /// A protected file, or everything in a protected directory.
    fn take(&mut self, path: &Path, shown: &Path) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        if self.files.len() >= MOST_FILES {
            self.cut = true;
            return;
        }
        // Git runs no sample.
        if path.extension() == Some(OsStr::new("sample")) {
            return;
        }
        let name = shown.display().to_string();
        if metadata.is_dir() {
            for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
                self.take(&entry.path(), &shown.join(entry.file_name()));
            }
        } else if metadata.is_symlink() {
            let target = std::fs::read_link(path).unwrap_or_default();
            self.files.insert(name, content_hash(target.as_os_str().as_encoded_bytes()));
        } else if metadata.is_file() {
            self.files.insert(name, digest_of(path, &metadata));
        }
    }
}

fn digest_of(path: &Path, metadata: &Metadata) -> Digest {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path);
    let read = opened.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    // What cannot be read in full is known by when it was changed.
    let whole = read.is_ok() && metadata.len() <= MOST_BYTES;
    let changed = (!whole).then(|| (metadata.len(), metadata.ctime(), metadata.ctime_nsec()));
    Digest::of_json(&json!([metadata.mode(), content_hash(&bytes), changed]))
}

/// The beginning of a small file.
fn read_start(path: &Path) -> Option<String> {
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(8192).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The directory that a line of a file names, relative to where the file is.
fn named_directory(file: &Path, text: &str, beginning: &str) -> Option<PathBuf> {
    let named = text.lines().next()?.strip_prefix(beginning)?.trim();
    (!named.is_empty()).then(|| file.parent().map(|parent| parent.join(named)))?
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn changes(root: &Path, act: impl FnOnce()) -> Vec<String> {
        let before = protected_state([root]);
        act();
        protected_state([root]).changed_since(&before)
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn protected_files_are_found_at_any_depth() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let places = [
            ".cargo/config",
            "a/.cargo/config.toml",
            "a/b/.vscode/tasks.json",
            ".claude/settings.json",
            ".cursor/mcp.json",
            ".codex/config.toml",
            ".gemini/settings.json",
            ".devcontainer/devcontainer.json",
            "web/.npmrc",
            "rust-toolchain.toml",
            "x/rust-toolchain",
            "x/Lefthook.yml",
            ".husky/pre-commit",
            "nested/.git/hooks/post-checkout",
            "nested/.git/config",
            ".git/modules/lib/deep/hooks/pre-push",
            ".git/worktrees/w/config.worktree",
            "node_modules/p/.git/config",
            "bare/hooks/update",
        ];
        write(&root.join(".git/modules/lib/deep/HEAD"), "ref");
        for mark in ["HEAD", "objects/x", "refs/x"] {
            write(&root.join("bare").join(mark), "x");
        }
        for place in places {
            let changed = changes(root, || write(&root.join(place), "x"));
            assert_eq!(changed, [place], "made");
            let changed = changes(root, || write(&root.join(place), "y"));
            assert_eq!(changed, [place], "changed");
        }
        for place in ["src/a.rs", ".git/index", ".git/objects/ab/c", "node_modules/p/.npmrc"] {
            assert!(changes(root, || write(&root.join(place), "x")).is_empty(), "{place}");
        }
    }

    #[test]
    fn the_repository_that_a_file_names_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(&root.join("sub/.git"), "gitdir: ../store/sub\n");
        write(&root.join("store/sub/commondir"), "../main\n");
        for place in ["store/sub/config.worktree", "store/main/hooks/pre-commit"] {
            assert_eq!(changes(root, || write(&root.join(place), "x")).len(), 1, "{place}");
        }
        let moved = changes(root, || write(&root.join("sub/.git"), "gitdir: elsewhere\n"));
        assert!(moved.contains(&"sub/.git".to_owned()), "{moved:?}");
    }

    #[test]
    fn a_workspace_of_many_files_is_walked_whole() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..400 {
            let below = dir.path().join(format!("d{}/e{number}", number % 20));
            fs::create_dir_all(&below).unwrap();
            (0..5).for_each(|file| fs::write(below.join(format!("f{file}")), "").unwrap());
        }
        let state = protected_state([dir.path()]);
        assert!(!state.is_cut() && state.names == 20 + 400 + 2000, "{}", state.names);
    }
}
