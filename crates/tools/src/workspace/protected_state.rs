//! Detects that a command changed protected files: compares their state before and after it.
//!
//! The entire workspace is walked, because repositories, submodules and worktrees can be anywhere in it. Only names are
//! read on the way, and only the contents of protected files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{FileType, Metadata};
use std::io;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::content_hash;
use super::git_config::GitConfig;
use super::protected_paths::{has_protected_parts, is_protected_name};
use planwright_model::Digest;

/// The most names that are examined in a workspace.
const MOST_NAMES: usize = 400_000;
/// The most protected files whose content is tracked.
const MOST_FILES: usize = 20_000;
/// How much of a protected file is read.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// The most settings files that one repository's settings may include.
const MOST_INCLUDED: usize = 64;
/// Directories that package managers and builds fill with third-party files. Only repositories are protected there:
/// nothing acts on settings that packages contain.
const DEPENDENCIES: [&str; 6] =
    ["node_modules", "target", ".venv", "venv", "site-packages", "__pycache__"];
/// What git acts on in its own directory.
const GIT_PARTS: [&str; 7] =
    ["hooks", "config", "config.worktree", "info/attributes", "commondir", "gitdir", "modules"];

/// Protected files and their state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectedState {
    files: BTreeMap<String, Digest>,
    names: usize,
    /// Where commands may write; the targets of links are examined only inside these.
    roots: Vec<PathBuf>,
    /// Directories of repositories that were examined.
    repositories: BTreeSet<PathBuf>,
    /// Directories that a link led to.
    followed: BTreeSet<PathBuf>,
    /// Not everything was examined: the workspace is too large, or something in it cannot be read.
    incomplete: bool,
}

/// A directory that still has to be examined.
struct PendingDirectory {
    directory: PathBuf,
    shown: PathBuf,
    /// Its name in lower case.
    name: String,
    /// Whether it is inside a directory that package managers fill.
    in_dependencies: bool,
}

/// The state of all protected files in these directories. Names below the first are relative to it.
pub fn scan_protected_files<'r>(roots: impl IntoIterator<Item = &'r Path>) -> ProtectedState {
    let roots: Vec<&Path> = roots.into_iter().collect();
    let real = roots.iter().filter_map(|root| root.canonicalize().ok());
    let mut state = ProtectedState { roots: real.collect(), ..ProtectedState::default() };
    for (number, root) in roots.into_iter().enumerate() {
        let shown = if number == 0 { PathBuf::new() } else { root.to_owned() };
        state.walk_root(root, &shown);
    }
    state
}

impl ProtectedState {
    /// Whether something was skipped, because there is too much or because it cannot be read.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Files that have changed, are new, or were removed.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = before.files.keys().chain(self.files.keys()).collect();
        let changed =
            names.into_iter().filter(|name| before.files.get(*name) != self.files.get(*name));
        changed.cloned().collect()
    }

    /// Searches for protected names at any depth. Uses an explicit stack: only one directory is open at a time,
    /// whatever the depth.
    fn walk_root(&mut self, root: &Path, shown: &Path) {
        let (directory, shown) = (root.to_owned(), shown.to_owned());
        let mut pending = vec![PendingDirectory {
            directory,
            shown,
            name: String::new(),
            in_dependencies: false,
        }];
        while let Some(next) = pending.pop() {
            let mut marks = 0;
            for (name, kind) in self.list_names(&next.directory) {
                let lower = name.to_string_lossy().to_lowercase();
                marks += usize::from(matches!(lower.as_str(), "head" | "objects" | "refs"));
                let (path, shown) = (next.directory.join(&name), next.shown.join(&name));
                if lower == ".git" {
                    self.record_repository(&path, &shown);
                } else if !next.in_dependencies && is_protected_name(&next.name, &lower) {
                    self.record_path(&path, &shown);
                } else if kind.is_dir()
                    || (kind.is_symlink() && has_protected_parts(&lower) && self.follow_link(&path))
                {
                    let lean = next.in_dependencies || DEPENDENCIES.contains(&lower.as_str());
                    pending.push(PendingDirectory {
                        directory: path,
                        shown,
                        name: lower,
                        in_dependencies: lean,
                    });
                }
            }
            // A bare repository.
            if marks == 3 {
                self.record_git_directory(&next.directory, &next.shown);
                self.record_configured_paths(&next.directory, &next.directory, &next.shown);
            }
        }
    }

    /// The names in a directory. An unreadable directory is not treated as empty.
    fn list_names(&mut self, directory: &Path) -> Vec<(OsString, FileType)> {
        let mut names = Vec::new();
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => {
                self.incomplete |= !is_absent(&error);
                return names;
            }
        };
        for entry in entries {
            self.names += 1;
            if self.names > MOST_NAMES {
                self.incomplete = true;
                break;
            }
            match entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))) {
                Ok(named) => names.push(named),
                Err(error) => self.incomplete |= !is_absent(&error),
            }
        }
        // If two routes lead to the same path, the first one names it: the same one before and after a command.
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        names
    }

    /// The `.git` of a repository: a directory or, for submodules and worktrees, a file that names one.
    fn record_repository(&mut self, path: &Path, shown: &Path) {
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            // Only the parts of its target listed below are protected.
            Ok(metadata) if metadata.is_symlink() => self.record_link_target(path, shown),
            _ => self.record_path(path, shown),
        }
        let named = read_beginning(path).and_then(|text| named_directory(path, &text, "gitdir:"));
        let Some(directory) = named.or_else(|| path.is_dir().then(|| path.to_owned())) else {
            return;
        };
        let (top, shown_top) = (path.parent().unwrap_or(path), shown.parent().unwrap_or(shown));
        let elsewhere = directory != path;
        let shown = if elsewhere { directory.clone() } else { shown.to_owned() };
        self.record_git_directory(&directory, &shown);
        self.record_configured_paths(&directory, top, shown_top);
        // A worktree shares hooks and settings with its repository.
        let common = directory.join("commondir");
        let common = read_beginning(&common).and_then(|text| named_directory(&common, &text, ""));
        if let Some(common) = common {
            self.record_git_directory(&common, &common);
            self.record_configured_paths(&common, top, shown_top);
        }
    }

    fn record_git_directory(&mut self, directory: &Path, shown: &Path) {
        let mut pending = vec![(directory.to_owned(), shown.to_owned())];
        while let Some((directory, shown)) = pending.pop() {
            // Only to look at each once; what is not there is found by its name.
            let real = directory.canonicalize().unwrap_or_else(|_| directory.clone());
            if !self.repositories.insert(real) {
                continue;
            }
            for part in GIT_PARTS.iter().filter(|part| **part != "modules") {
                self.record_path(&directory.join(part), &shown.join(part));
            }
            pending.extend(self.list_modules(&directory.join("modules"), &shown.join("modules")));
            for (name, _) in self.list_names(&directory.join("worktrees")) {
                let below = Path::new("worktrees").join(name);
                pending.push((directory.join(&below), shown.join(&below)));
            }
        }
    }

    /// The directories of submodules, whose names may contain slashes.
    fn list_modules(&mut self, directory: &Path, shown: &Path) -> Vec<(PathBuf, PathBuf)> {
        let mut modules = Vec::new();
        let mut pending = vec![(directory.to_owned(), shown.to_owned())];
        while let Some((directory, shown)) = pending.pop() {
            for (name, _) in
                self.list_names(&directory).into_iter().filter(|(_, kind)| kind.is_dir())
            {
                let below = (directory.join(&name), shown.join(&name));
                let is_module = below.0.join("HEAD").symlink_metadata().is_ok();
                if is_module { &mut modules } else { &mut pending }.push(below);
            }
        }
        modules
    }

    /// Hooks and included settings that the settings of a repository name. Relative hook paths start at `top`.
    fn record_configured_paths(&mut self, directory: &Path, top: &Path, shown_top: &Path) {
        let mut pending = vec![directory.join("config.worktree"), directory.join("config")];
        let mut seen = BTreeSet::new();
        while let Some(file) = pending.pop() {
            if !seen.insert(file.clone()) {
                continue;
            }
            if seen.len() > MOST_INCLUDED {
                self.incomplete = true;
                return;
            }
            let config = GitConfig::read(&file).unwrap_or_else(|error| {
                self.incomplete |= !is_absent(&error);
                GitConfig::default()
            });
            for hooks in &config.hooks {
                self.record_hooks(&top.join(hooks), &shown_top.join(hooks));
            }
            for included in &config.included {
                let included = file.parent().unwrap_or(top).join(included);
                let below = included.strip_prefix(top).map(|below| shown_top.join(below));
                self.record_path(&included, &below.unwrap_or_else(|_| included.clone()));
                pending.push(included);
            }
        }
    }

    /// The files of a hook directory; git ignores its subdirectories.
    fn record_hooks(&mut self, directory: &Path, shown: &Path) {
        for (name, _) in self.list_names(directory).into_iter().filter(|(_, kind)| !kind.is_dir()) {
            self.record_path(&directory.join(&name), &shown.join(&name));
        }
    }

    /// A protected file, or everything in a protected directory.
    fn record_path(&mut self, path: &Path, shown: &Path) {
        let mut pending = vec![(path.to_owned(), shown.to_owned())];
        while let Some((path, shown)) = pending.pop() {
            if self.files.len() >= MOST_FILES {
                self.incomplete = true;
                return;
            }
            // Git does not run samples.
            if path.extension() == Some(OsStr::new("sample")) {
                continue;
            }
            let metadata = match path.symlink_metadata() {
                Ok(metadata) => metadata,
                Err(error) => {
                    self.incomplete |= !is_absent(&error);
                    continue;
                }
            };
            let is_followed = metadata.is_symlink() && self.record_link(&path, &shown);
            if metadata.is_dir() || is_followed {
                let below = |(name, _)| (path.join(&name), shown.join(&name));
                pending.extend(self.list_names(&path).into_iter().map(below));
            } else if metadata.is_file() {
                self.files.insert(shown.display().to_string(), file_digest(&path, &metadata));
            }
        }
    }

    /// Records a link in a protected path and its target file. Returns whether the target is a directory to be
    /// examined.
    fn record_link(&mut self, path: &Path, shown: &Path) -> bool {
        self.record_link_target(path, shown);
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => return self.follow_link(path),
            Ok(metadata) if metadata.is_file() => {
                let name = shown.display().to_string();
                let both = json!([self.files.get(&name), file_digest(path, &metadata)]);
                self.files.insert(name, Digest::from_json(&both));
            }
            Ok(_) => {}
            Err(error) => self.incomplete |= !is_absent(&error),
        }
        false
    }

    fn record_link_target(&mut self, path: &Path, shown: &Path) {
        let target = std::fs::read_link(path).unwrap_or_default();
        let digest = content_hash(target.as_os_str().as_encoded_bytes());
        self.files.insert(shown.display().to_string(), digest);
    }

    /// Whether the target directory of a link has to be examined: it is where commands may write, does not contain the
    /// link, and was not examined before.
    fn follow_link(&mut self, link: &Path) -> bool {
        let parent = link.parent().and_then(|parent| parent.canonicalize().ok());
        let (Some(parent), Ok(real)) = (parent, link.canonicalize()) else { return false };
        real.is_dir()
            && !parent.starts_with(&real)
            && self.roots.iter().any(|root| real.starts_with(root))
            && self.followed.insert(real)
    }
}

/// Whether an error means that there is nothing, as opposed to something that cannot be read.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn file_digest(path: &Path, metadata: &Metadata) -> Digest {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path);
    let read = opened.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    // A file that cannot be read completely is identified by its modification time.
    let complete = read.is_ok() && metadata.len() <= MOST_BYTES;
    let changed = (!complete).then(|| (metadata.len(), metadata.ctime(), metadata.ctime_nsec()));
    Digest::from_json(&json!([metadata.mode(), content_hash(&bytes), changed]))
}

/// The beginning of a small file.
fn read_beginning(path: &Path) -> Option<String> {
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(8192).read_to_string(&mut text));
    read.inspect_err(|error| tracing::debug!(%error, "a protected file cannot be read")).ok()?;
    Some(text)
}

/// The directory named in a line of a file, relative to the file.
fn named_directory(file: &Path, text: &str, beginning: &str) -> Option<PathBuf> {
    let named = text.lines().next()?.strip_prefix(beginning)?.trim();
    (!named.is_empty()).then(|| file.parent().map(|parent| parent.join(named)))?
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn changes(root: &Path, act: impl FnOnce()) -> Vec<String> {
        let before = scan_protected_files([root]);
        act();
        scan_protected_files([root]).changed_since(&before)
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn protected_files_are_found_at_any_depth() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let paths = [
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
        for path in paths {
            let changed = changes(root, || write(&root.join(path), "x"));
            assert_eq!(changed, [path], "made");
            let changed = changes(root, || write(&root.join(path), "y"));
            assert_eq!(changed, [path], "changed");
        }
        for path in ["src/a.rs", ".git/index", ".git/objects/ab/c", "node_modules/p/.npmrc"] {
            assert!(changes(root, || write(&root.join(path), "x")).is_empty(), "{path}");
        }
    }

    #[test]
    fn the_repository_named_in_a_git_file_is_examined() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(&root.join("sub/.git"), "gitdir: ../store/sub\n");
        write(&root.join("store/sub/commondir"), "../main\n");
        for path in ["store/sub/config.worktree", "store/main/hooks/pre-commit"] {
            assert_eq!(changes(root, || write(&root.join(path), "x")).len(), 1, "{path}");
        }
        let moved = changes(root, || write(&root.join("sub/.git"), "gitdir: elsewhere\n"));
        assert!(moved.contains(&"sub/.git".to_owned()), "{moved:?}");
    }

    #[test]
    fn a_workspace_of_many_files_is_walked_completely() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..400 {
            let below = dir.path().join(format!("d{}/e{number}", number % 20));
            fs::create_dir_all(&below).unwrap();
            (0..5).for_each(|file| fs::write(below.join(format!("f{file}")), "").unwrap());
        }
        let state = scan_protected_files([dir.path()]);
        assert!(!state.is_incomplete() && state.names == 20 + 400 + 2000, "{}", state.names);
    }

    #[test]
    fn targets_of_links_and_git_settings_are_protected() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for path in ["scripts/pre-commit", "tasks/a.json", "cfg/config.toml", ".githooks/x"] {
            write(&root.join(path), "x");
        }
        let link = |target: &str, path: &str| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, root.join(path)).unwrap();
        };
        link("../../scripts/pre-commit", ".git/hooks/pre-commit");
        link("../tasks", ".vscode/tasks");
        link("..", ".vscode/all");
        link("cfg", ".cargo");
        let settings = "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../more.inc\n";
        write(&root.join(".git/config"), settings);
        write(&root.join("more.inc"), "[core] hookspath = \"other hooks\" ; note\n");
        for (path, name) in [
            ("scripts/pre-commit", ".git/hooks/pre-commit"),
            ("tasks/a.json", ".vscode/tasks/a.json"),
            ("cfg/config.toml", ".cargo/config.toml"),
            (".githooks/pre-commit", ".githooks/pre-commit"),
            ("other hooks/post-merge", "other hooks/post-merge"),
        ] {
            assert_eq!(changes(root, || write(&root.join(path), "other")), [name]);
        }
        let included = changes(root, || write(&root.join("more.inc"), "[core]\nbare = false\n"));
        assert!(included.iter().any(|name| name.ends_with("more.inc")), "{included:?}");
        assert!(changes(root, || write(&root.join("src/a.rs"), "x")).is_empty());
        assert!(!scan_protected_files([root]).is_incomplete());
    }

    #[test]
    fn an_unreadable_directory_is_not_treated_as_empty() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(".envrc", dir.path().join(".envrc")).unwrap();
        assert!(scan_protected_files([dir.path()]).is_incomplete());
    }

    #[test]
    fn a_deep_workspace_is_walked_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let deepest = dir.path().join("d/".repeat(1200));
        fs::create_dir_all(&deepest).unwrap();
        let changed = changes(dir.path(), || write(&deepest.join(".envrc"), "x"));
        assert!(
            changed.len() == 1 && !scan_protected_files([dir.path()]).is_incomplete(),
            "{changed:?}"
        );
        // Removing it recursively would open all levels at once.
        fs::remove_file(deepest.join(".envrc")).unwrap();
        let levels = deepest.ancestors().take_while(|level| *level != dir.path());
        levels.for_each(|level| fs::remove_dir(level).unwrap());
    }
}
