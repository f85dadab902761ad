//! The boundary: every file a tool touches is opened beneath a directory that the person gave.
//!
//! Paths are checked by the kernel while it opens them (`openat2` with `RESOLVE_BENEATH`), so that no link and no
//! exchange of a directory between check and use leads outside. Where the kernel cannot do that, each name is opened
//! from the one before and links are not followed at all. Names are compared by components, never as text.

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

/// Opens a place to look up names from, or to ask where it is, without reading it.
#[cfg(target_os = "linux")]
const HANDLE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HANDLE: OFlags = OFlags::NONBLOCK;

/// The directories tools may work in.
#[derive(Debug)]
pub struct Workspace {
    /// The first is the workspace itself; the person may have added others.
    roots: Vec<WorkspaceRoot>,
    /// Real places inside the roots that are never touched: the store, the config.
    forbidden: Vec<PathBuf>,
    walk_only: bool,
}

#[derive(Debug)]
struct WorkspaceRoot {
    path: PathBuf,
    directory: OwnedFd,
}

/// An open file and where it really is.
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
    /// Opens a workspace. `forbidden` are places that no tool may touch even if they lie inside.
    pub fn open(root: &Path, more: &[PathBuf], forbidden: &[PathBuf]) -> Result<Self, ToolError> {
        let roots = std::iter::once(root)
            .chain(more.iter().map(PathBuf::as_path))
            .map(open_root)
            .collect::<Result<_, _>>()?;
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let forbidden = forbidden.iter().map(real).collect();
        Ok(Self { roots, forbidden, walk_only: false })
    }

    /// The same without the help of newer kernels, for tests of the way around.
    #[cfg(test)]
    fn walking(mut self) -> Self {
        self.walk_only = true;
        self
    }

    /// The real path of the workspace.
    pub fn root(&self) -> &Path {
        &self.roots[0].path
    }

    /// Whether something that no tool may touch lies inside.
    pub fn contains_forbidden(&self) -> bool {
        self.forbidden
            .iter()
            .any(|place| self.roots.iter().any(|root| place.starts_with(&root.path)))
    }

    /// All roots, the workspace first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Says where a path really is, whether or not there is a file yet.
    pub fn resolve_touched(&self, path: &str) -> Result<TouchedPath, ToolError> {
        let place = self.real_place(&self.locate_path(path)?)?;
        Ok(TouchedPath { protected: is_protected(&place), path: place })
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, path: &str) -> Result<OpenWorkspaceFile, ToolError> {
        let located = self.locate_path(path)?;
        // A pipe must not hold the tool up, and a terminal must not become ours.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = self.open_beneath(&located, flags, Mode::empty())?;
        let place = self.opened_place(&located, opened.as_fd())?;
        let stat = rustix::fs::fstat(&opened).map_err(|error| io_error(path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ToolError::new(ToolErrorCode::NotAFile, format!("{path} is not a file")));
        }
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(OpenWorkspaceFile { file: File::from(opened), place, length })
    }

    /// Reads a whole file, if it is not larger than `most`.
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

    /// What a file holds now as a hash, or none if there is no file.
    pub fn hash_file(&self, path: &str, most: u64) -> Result<Option<Digest>, ToolError> {
        match self.read(path, most) {
            Ok(bytes) => Ok(Some(content_hash(&bytes))),
            Err(error) if error.code == ToolErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a path can be opened beneath the roots just now, without reading it.
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

/// A hash of what a file holds. Text and other bytes never get the same one.
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
