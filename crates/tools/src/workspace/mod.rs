//! The workspace boundary: every file a tool touches is opened beneath a directory that the user named.
//!
//! Paths are checked by the kernel while it opens them (`openat2` with `RESOLVE_BENEATH`), so that no link and no
//! replacement of a directory between check and use leads outside. Where the kernel does not support this, each
//! component is opened relative to the previous one and links are not followed at all. Names are compared by
//! components, never as text.

mod change_stamp;
mod git_config;
mod open_beneath;
mod path_location;
mod protected_paths;
mod protected_state;
mod write;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use serde_json::{Value, json};

use path_location::LocatedPath;
pub use protected_paths::is_protected;
pub use protected_state::{ProtectedState, scan_protected_files};
pub use write::LARGEST;

use super::meta::TouchedPath;
use super::tool::{ToolError, ToolErrorCode};
use planwright_model::Digest;

/// Opens a path for lookups or to query its location, without reading it.
#[cfg(target_os = "linux")]
const HANDLE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HANDLE: OFlags = OFlags::NONBLOCK;

/// The directories tools may work in.
#[derive(Debug)]
pub struct Workspace {
    /// The first is the workspace itself; the user may have added others.
    roots: Vec<WorkspaceRoot>,
    /// Real paths inside the roots that are never touched: the store, the config.
    forbidden: Vec<PathBuf>,
    walk_only: bool,
}

#[derive(Debug)]
struct WorkspaceRoot {
    path: PathBuf,
    directory: OwnedFd,
}

/// An open file and its real path.
#[derive(Debug)]
pub struct OpenWorkspaceFile {
    pub file: File,
    pub place: String,
    pub length: u64,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    pub name: String,
    pub kind: DirectoryEntryKind,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DirectoryEntryKind {
    Directory,
    File,
    Link,
    Other,
}

impl Workspace {
    /// Opens a workspace. `forbidden` are paths that no tool may touch even if they are inside.
    pub fn open(root: &Path, more: &[PathBuf], forbidden: &[PathBuf]) -> Result<Self, ToolError> {
        let roots = std::iter::once(root)
            .chain(more.iter().map(PathBuf::as_path))
            .map(open_root)
            .collect::<Result<_, _>>()?;
        // A place that is not there yet is forbidden by its name.
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let forbidden = forbidden.iter().map(real).collect();
        Ok(Self { roots, forbidden, walk_only: false })
    }

    /// The same with another directory in the place of the workspace: a task's own copy of it. The copy may lie where no
    /// tool goes otherwise; everything around it stays out of bounds.
    pub fn relocate(&self, root: &Path) -> Result<Self, ToolError> {
        let more: Vec<PathBuf> = self.roots[1..].iter().map(|root| root.path.clone()).collect();
        let mut workspace = Self::open(root, &more, &[])?;
        workspace.forbidden.clone_from(&self.forbidden);
        // The workspace itself is out of reach for whoever works in a copy of it.
        workspace.forbidden.push(self.root().to_owned());
        Ok(workspace)
    }

    /// The same without the support of newer kernels, to test the fallback.
    #[cfg(test)]
    fn walking(mut self) -> Self {
        self.walk_only = true;
        self
    }

    /// The real path of the workspace.
    pub fn root(&self) -> &Path {
        &self.roots[0].path
    }

    /// Whether it contains something that no tool may touch.
    pub fn contains_forbidden(&self) -> bool {
        self.forbidden
            .iter()
            .any(|real_path| self.roots.iter().any(|root| real_path.starts_with(&root.path)))
    }

    /// All roots, the workspace first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Resolves the real path, whether or not the file exists yet.
    pub fn resolve_touched(&self, path: &str) -> Result<TouchedPath, ToolError> {
        let real_path = self.real_place(&self.locate_path(path)?)?;
        Ok(TouchedPath { protected: is_protected(&real_path), path: real_path })
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, path: &str) -> Result<OpenWorkspaceFile, ToolError> {
        let located = self.locate_path(path)?;
        // A pipe must not block the tool, and a terminal must not become ours.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = self.open_beneath(&located, flags, Mode::empty())?;
        let real_path = self.opened_place(&located, opened.as_fd())?;
        let stat = rustix::fs::fstat(&opened).map_err(|error| io_error(path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ToolError::new(ToolErrorCode::NotAFile, format!("{path} is not a file")));
        }
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(OpenWorkspaceFile { file: File::from(opened), place: real_path, length })
    }

    /// Reads an entire file, if it is not larger than `most`.
    pub fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, ToolError> {
        let mut open = self.open_file(path)?;
        if open.length > most {
            let message = format!("{path} has {} bytes, {most} is the most", open.length);
            return Err(ToolError::new(ToolErrorCode::TooLarge, message));
        }
        let mut bytes = Vec::new();
        let read = (&mut open.file).take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| {
            ToolError::new(ToolErrorCode::Io, format!("reading {path}: {error}"))
        })?;
        if bytes.len() as u64 > most {
            return Err(ToolError::new(
                ToolErrorCode::TooLarge,
                format!("{path} grew beyond {most} bytes"),
            ));
        }
        Ok(bytes)
    }

    /// The hash of a file's current content, or `None` if there is no file.
    pub fn hash_file(&self, path: &str, most: u64) -> Result<Option<Digest>, ToolError> {
        match self.read(path, most) {
            Ok(bytes) => Ok(Some(content_hash(&bytes))),
            Err(error) if error.code == ToolErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a path can be opened beneath the roots right now, without reading it.
    pub fn contains(&self, path: &str) -> bool {
        self.locate_path(path).is_ok_and(|located| {
            let flags = HANDLE | OFlags::CLOEXEC;
            self.open_beneath(&located, flags, Mode::empty())
                .is_ok_and(|opened| self.opened_place(&located, opened.as_fd()).is_ok())
        })
    }

    /// The names in a directory, in order.
    pub fn list_directory(&self, path: &str) -> Result<Vec<DirectoryEntry>, ToolError> {
        let located = self.locate_path(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = self.open_beneath(&located, flags, Mode::empty())?;
        self.opened_place(&located, directory.as_fd())?;
        let mut entries = Vec::new();
        for entry in
            rustix::fs::Dir::read_from(&directory).map_err(|error| io_error(path, error))?
        {
            let entry = entry.map_err(|error| io_error(path, error))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = rustix::fs::statat(&directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
            // It vanished since it was listed.
            let Ok(stat) = stat else { continue };
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => DirectoryEntryKind::Directory,
                FileType::RegularFile => DirectoryEntryKind::File,
                FileType::Symlink => DirectoryEntryKind::Link,
                _ => DirectoryEntryKind::Other,
            };
            let name = name.to_string_lossy().into_owned();
            entries.push(DirectoryEntry {
                name,
                kind,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
            });
        }
        entries.sort();
        Ok(entries)
    }
}

fn open_root(path: &Path) -> Result<WorkspaceRoot, ToolError> {
    let failed = |error: std::io::Error| {
        ToolError::new(
            ToolErrorCode::NotFound,
            format!("opening the directory {}: {error}", path.display()),
        )
    };
    let real = path.canonicalize().map_err(failed)?;
    let flags = HANDLE | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(&real, flags, Mode::empty())
        .map_err(|error| failed(std::io::Error::from(error)))?;
    Ok(WorkspaceRoot { path: real, directory })
}

fn io_error(path: &str, error: rustix::io::Errno) -> ToolError {
    use rustix::io::Errno;
    let message = format!("{path}: {}", std::io::Error::from(error));
    match error {
        Errno::NOENT => ToolError::new(ToolErrorCode::NotFound, format!("{path} is not there")),
        Errno::NOTDIR => ToolError::new(
            ToolErrorCode::NotFound,
            format!("{path}: a part of it is not a directory"),
        ),
        Errno::ISDIR => ToolError::new(ToolErrorCode::NotAFile, format!("{path} is a directory")),
        Errno::XDEV | Errno::LOOP => ToolError::new(
            ToolErrorCode::OutsideWorkspace,
            format!("{path} leads out of the workspace, or through a link that cannot be followed"),
        ),
        _ => ToolError::new(ToolErrorCode::Io, message),
    }
}

/// A hash of a file's content. Text and other bytes never get the same one.
pub fn content_hash(bytes: &[u8]) -> Digest {
    let value = match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => {
            json!({ "bytes": bytes.iter().map(|byte| Value::from(*byte)).collect::<Vec<_>>() })
        }
    };
    Digest::from_json(&value)
}

impl Workspace {
    fn located_root(&self, located: &LocatedPath) -> &WorkspaceRoot {
        &self.roots[located.root]
    }
}
