//! Copies the workspace as it is: what git tracks and what is new, uncommitted work included, without what git ignores.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{SnapshotReport, Worktree, WorktreeError};
use crate::file_walk::{HiddenFiles, walk_files};
use crate::repository_view::RepositoryView;

/// More than this is generated rather than written, and would take minutes to copy.
const MOST_FILES: u64 = 100_000;
const MOST_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// How many places that were not copied are named, and how deep they are looked for.
const MOST_LEFT_OUT: usize = 12;
const LEFT_OUT_DEPTH: usize = 3;

/// Copies the workspace to `base` and from there to `files`, so that the two begin alike whatever changes meanwhile.
pub(super) fn copy_workspace(
    workspace: &Path,
    worktree: &Worktree,
) -> Result<SnapshotReport, WorktreeError> {
    let paths = listed_files(workspace);
    let files = paths.len() as u64;
    if files > MOST_FILES {
        return Err(WorktreeError::TooLarge { what: "files", limit: MOST_FILES });
    }
    let bytes = |path: &PathBuf| {
        workspace.join(path).symlink_metadata().map_or(0, |metadata| metadata.len())
    };
    if paths.iter().map(bytes).sum::<u64>() > MOST_BYTES {
        return Err(WorktreeError::TooLarge { what: "bytes", limit: MOST_BYTES });
    }
    let (base, own) = (worktree.base(), worktree.files());
    for directory in [&base, &own] {
        fs::create_dir_all(directory).map_err(WorktreeError::io("creating", directory))?;
    }
    for path in &paths {
        if copy_entry(&workspace.join(path), &base.join(path))? {
            copy_entry(&base.join(path), &own.join(path))?;
        }
    }
    Ok(SnapshotReport { files, left_out: left_out(workspace, &paths) })
}

/// The files that belong to the workspace, relative to it. Git knows best; without it ignore files are obeyed.
pub(super) fn listed_files(workspace: &Path) -> BTreeSet<PathBuf> {
    let listed = git_output(
        workspace,
        &["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        &[],
    );
    let paths: BTreeSet<PathBuf> = match listed {
        Some(listed) => split_paths(&listed).collect(),
        None => walk_files(workspace, HiddenFiles::Included)
            .filter_map(|path| path.strip_prefix(workspace).ok().map(Path::to_owned))
            .collect(),
    };
    paths.into_iter().filter(|path| !is_git_path(path)).collect()
}

fn split_paths(listed: &[u8]) -> impl Iterator<Item = PathBuf> + '_ {
    listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

pub(super) fn is_git_path(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

/// Which of some paths git ignores in the workspace, even where rules stand above it.
pub(super) fn ignored_paths(workspace: &Path, paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_os_str().as_bytes());
        input.push(0);
    }
    let ignored = git_output(workspace, &["check-ignore", "-z", "--no-index", "--stdin"], &input);
    ignored.map(|ignored| split_paths(&ignored).collect()).unwrap_or_default()
}

/// What a fixed git command prints: it reads through a view, where no setting of the repository exists; the person's own
/// settings apply. `None` where there is no git, no repository, or nothing to print.
pub(super) fn git_output(workspace: &Path, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let view = match RepositoryView::open(workspace) {
        Ok(view) => view?,
        Err(error) => {
            tracing::warn!(%error, "a repository is not used");
            return None;
        }
    };
    view_output(&view, workspace, arguments, input)
}

pub(super) fn view_output(
    view: &RepositoryView,
    workspace: &Path,
    arguments: &[&str],
    input: &[u8],
) -> Option<Vec<u8>> {
    use std::io::Write as _;
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    let mut child = command
        .current_dir(workspace)
        .args(arguments)
        .envs(view.environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let input = input.to_vec();
    // Written beside reading, so that neither pipe fills up while the other waits.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let mut output = Vec::new();
    let read = child.stdout.take()?.read_to_end(&mut output);
    if let Ok(Err(error)) = writer.join() {
        tracing::debug!(%error, "git did not read its input");
    }
    let status = child.wait().ok()?;
    (read.is_ok() && status.success()).then_some(output)
}

/// Copies a file or a link, sharing its blocks where the file system can. False if there is nothing to copy any more.
fn copy_entry(from: &Path, to: &Path) -> Result<bool, WorktreeError> {
    let Ok(metadata) = from.symlink_metadata() else { return Ok(false) };
    // A submodule or a directory in the place of a listed file.
    if metadata.is_dir() {
        return Ok(false);
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(WorktreeError::io("creating", parent))?;
    }
    if metadata.is_symlink() {
        let target = fs::read_link(from).map_err(WorktreeError::io("reading", from))?;
        std::os::unix::fs::symlink(target, to).map_err(WorktreeError::io("linking", to))?;
        return Ok(true);
    }
    if !metadata.is_file() {
        return Ok(false);
    }
    if !clone_file(from, to) {
        // Also keeps the permissions.
        fs::copy(from, to).map_err(WorktreeError::io("copying", from))?;
    }
    Ok(true)
}

/// Shares the blocks of a file with its copy.
#[cfg(target_os = "linux")]
fn clone_file(from: &Path, to: &Path) -> bool {
    let clone = || -> std::io::Result<()> {
        let source = fs::File::open(from)?;
        let copy = fs::File::create(to)?;
        rustix::fs::ioctl_ficlone(&copy, &source)?;
        copy.set_permissions(source.metadata()?.permissions())
    };
    // A file system without shared blocks; the file is copied instead.
    clone().is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone_file(_: &Path, _: &Path) -> bool {
    false
}

/// Directories and files of the workspace that were not copied, outermost first.
fn left_out(workspace: &Path, copied: &BTreeSet<PathBuf>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    while let Some((directory, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(workspace.join(&directory)) else { continue };
        let mut names: Vec<_> = entries.flatten().collect();
        names.sort_by_key(fs::DirEntry::file_name);
        for entry in names {
            let path = directory.join(entry.file_name());
            if entry.file_name() == ".git" || found.len() >= MOST_LEFT_OUT {
                continue;
            }
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let within = copied.range(path.clone()..).next();
            let is_copied = within.is_some_and(|next| next.starts_with(&path));
            if !is_copied {
                let end = if is_directory { "/" } else { "" };
                found
                    .push(format!("{}{end}", planwright_text::clean_line(&path.to_string_lossy())));
            } else if is_directory && depth + 1 < LEFT_OUT_DEPTH {
                open.push((path, depth + 1));
            }
        }
    }
    found
}
