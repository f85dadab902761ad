//! A view of a repository through which git reads history, index and files, and obeys none of its settings.
//!
//! A repository's settings can name programs (hooks, monitors, filters, differs, transports, helpers) and directories
//! elsewhere (`core.worktree`), and which of them a command honors differs between versions of git. So git is not asked
//! to ignore them one by one: its common directory is a temporary one with settings of ours, whose references are links
//! to the repository's. Where a repository is found follows git's own rules, except that nothing leads out of it: not a
//! link, and a `.git` file only where git itself set up both ends.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::sandbox::PrivateDirectory;

/// What the common directory of a repository lends to the view, where it is there.
const LINKED: [&str; 6] = ["refs", "packed-refs", "reftable", "info", "logs", "shallow"];
/// What else git reads of a repository.
const READ: [&str; 4] = ["HEAD", "index", "objects", "config"];
/// Settings that change how files compare or are stored. Their values are single words and name nothing.
const KEPT_SETTINGS: [(&str, &str); 8] = [
    ("core", "autocrlf"),
    ("core", "eol"),
    ("core", "filemode"),
    ("core", "ignorecase"),
    ("core", "precomposeunicode"),
    ("core", "symlinks"),
    ("extensions", "objectformat"),
    ("extensions", "refstorage"),
];
/// Settings of the view.
const OWN_SETTINGS: &str = "[core]\n\tbare = false\n\thooksPath = /dev/null\n\tquotePath = false\n\tuntrackedCache = false\n\
[color]\n\tui = false\n[gc]\n\tauto = 0\n[log]\n\tshowSignature = false\n[protocol]\n\tallow = never\n[submodule]\n\trecurse = false\n";
/// A settings file is not larger than this.
const MOST_SETTINGS: u64 = 1024 * 1024;

/// Why a repository is not read.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    #[error(
        "the repository is kept outside of the workspace in a way that git does not set up, so it is not read"
    )]
    Elsewhere,
    #[error("preparing to read the repository: {0}")]
    Io(#[from] io::Error),
}

/// Where a repository is: its own directory, the one it shares with other work trees, and the files it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RepositoryPlace {
    git_dir: PathBuf,
    common: PathBuf,
    work_tree: PathBuf,
}

/// Lives as long as the commands that read through it.
#[derive(Debug)]
pub struct RepositoryView {
    place: RepositoryPlace,
    directory: PrivateDirectory,
}

impl RepositoryView {
    /// Prepares to read the repository that a directory belongs to, if there is one.
    ///
    /// # Errors
    /// The repository leads elsewhere, or the view cannot be written.
    pub fn open(directory: &Path) -> Result<Option<Self>, RepositoryError> {
        let Some(place) = find_repository(directory)? else { return Ok(None) };
        place.check_parts()?;
        let view = Self { place, directory: PrivateDirectory::create()? };
        let own = view.directory.path();
        for name in LINKED {
            let theirs = view.place.common.join(name);
            if theirs.exists() {
                symlink(theirs, own.join(name))?;
            }
        }
        // Git takes a directory for a repository only with these in it, wherever they really are.
        for name in ["refs", "objects"] {
            fs::create_dir_all(own.join(name))?;
        }
        fs::write(own.join("config"), view.place.settings())?;
        Ok(Some(view))
    }

    /// The variables that lead git to the view. No setting of a repository overrides them.
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("GIT_DIR", self.place.git_dir.clone()),
            ("GIT_COMMON_DIR", self.directory.path().to_owned()),
            ("GIT_OBJECT_DIRECTORY", self.objects()),
            ("GIT_WORK_TREE", self.place.work_tree.clone()),
            // Named transports are refused whatever `protocol.NAME.allow` says.
            ("GIT_ALLOW_PROTOCOL", "none".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_OPTIONAL_LOCKS", "0".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
        ]
    }

    /// The directories that git has to read.
    pub fn read_roots(&self) -> Vec<PathBuf> {
        let place = &self.place;
        vec![place.git_dir.clone(), place.common.clone(), self.directory.path().to_owned()]
    }

    /// The objects of the repository.
    pub fn objects(&self) -> PathBuf {
        self.place.common.join("objects")
    }

    /// The directory with the index and the head of this work tree.
    pub fn git_dir(&self) -> &Path {
        &self.place.git_dir
    }

    /// The directory that this work tree shares with others of the repository.
    pub fn common_dir(&self) -> &Path {
        &self.place.common
    }

    /// The files that the repository is about.
    pub fn work_tree(&self) -> &Path {
        &self.place.work_tree
    }
}

impl RepositoryPlace {
    /// What git reads must be in the repository itself: a link would show the files of another.
    fn check_parts(&self) -> Result<(), RepositoryError> {
        for name in LINKED.iter().chain(&READ) {
            for directory in [&self.git_dir, &self.common] {
                let part = directory.join(name);
                if part.symlink_metadata().is_err() {
                    continue;
                }
                let real = part.canonicalize().map_err(|_| RepositoryError::Elsewhere)?;
                if !real.starts_with(&self.git_dir) && !real.starts_with(&self.common) {
                    return Err(RepositoryError::Elsewhere);
                }
            }
        }
        Ok(())
    }

    /// The settings of the view: ours, and the repository's about how it stores files.
    fn settings(&self) -> String {
        let path = self.common.join("config");
        let readable =
            path.metadata().is_ok_and(|data| data.is_file() && data.len() < MOST_SETTINGS);
        // Without settings git's own defaults apply.
        let text =
            if readable { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
        let kept = kept_settings(&text);
        // Extensions are valid from the second format on.
        let extended = kept.iter().any(|(section, ..)| *section == "extensions");
        let mut settings =
            format!("{OWN_SETTINGS}[core]\n\trepositoryformatversion = {}\n", u8::from(extended));
        settings.extend(kept.iter().flat_map(|(section, name, value)| {
            ["[", *section, "]\n\t", *name, " = ", value.as_str(), "\n"]
        }));
        settings
    }
}

/// The settings of a repository that are kept; later ones replace earlier ones, as git reads them.
fn kept_settings(text: &str) -> Vec<(&'static str, &'static str, String)> {
    let mut section = String::new();
    let mut kept: Vec<(&str, &str, String)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.split(']').next().unwrap_or_default().to_ascii_lowercase();
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, "true"));
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        let known = KEPT_SETTINGS.iter().find(|(of, own)| *of == section && *own == name);
        let is_word = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric());
        if let Some((of, own)) = known.filter(|_| is_word) {
            kept.push((of, own, value.to_owned()));
        }
    }
    kept
}

/// The repository that a directory belongs to.
fn find_repository(directory: &Path) -> Result<Option<RepositoryPlace>, RepositoryError> {
    let Ok(directory) = directory.canonicalize() else { return Ok(None) };
    for work_tree in directory.ancestors() {
        let dot = work_tree.join(".git");
        let Ok(metadata) = dot.metadata() else { continue };
        let real = dot.canonicalize()?;
        if !real.starts_with(work_tree) {
            return Err(RepositoryError::Elsewhere);
        }
        if metadata.is_file() {
            return followed_place(&real, work_tree).map(Some);
        }
        if real.join("HEAD").symlink_metadata().is_err() {
            continue;
        }
        if real.join("commondir").exists() {
            return Err(RepositoryError::Elsewhere);
        }
        let place =
            RepositoryPlace { git_dir: real.clone(), common: real, work_tree: work_tree.into() };
        return Ok(Some(place));
    }
    Ok(None)
}

/// Where a `.git` file leads: to a linked work tree that names this file in turn, or to a submodule of a repository above.
fn followed_place(dot: &Path, work_tree: &Path) -> Result<RepositoryPlace, RepositoryError> {
    let target = read_path(dot, "gitdir:", work_tree).ok_or(RepositoryError::Elsewhere)?;
    let place = |common: PathBuf| RepositoryPlace {
        git_dir: target.clone(),
        common,
        work_tree: work_tree.to_owned(),
    };
    let commondir = target.join("commondir");
    if !commondir.exists() {
        let above = |directory: &Path| target.starts_with(directory.join(".git/modules"));
        return work_tree
            .ancestors()
            .any(above)
            .then(|| place(target.clone()))
            .ok_or(RepositoryError::Elsewhere);
    }
    let common = read_path(&commondir, "", &target).ok_or(RepositoryError::Elsewhere)?;
    let named_back = read_path(&target.join("gitdir"), "", &target);
    let is_linked = target.parent() == Some(&common.join("worktrees"))
        && named_back.is_some_and(|back| back == dot);
    is_linked.then(|| place(common)).ok_or(RepositoryError::Elsewhere)
}

/// The path that a small file of git contains after a word, as it really is.
fn read_path(file: &Path, word: &str, base: &Path) -> Option<PathBuf> {
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > 64 * 1024 {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    base.join(text.strip_prefix(word)?.trim()).canonicalize().ok()
}
