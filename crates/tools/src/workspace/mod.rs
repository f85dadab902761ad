//! The boundary: every file a tool touches is opened beneath a directory that the person gave.
//!
//! Paths are checked by the kernel while it opens them (`openat2` with `RESOLVE_BENEATH`), so that no link and no
//! exchange of a directory between check and use leads outside. Where the kernel cannot do that, each name is opened
//! from the one before and links are not followed at all. Names are compared by components, never as text.

mod git_config;
mod guard;
mod open;
mod place;
mod protected;
mod stamp;
mod write;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use serde_json::{Value, json};

pub use guard::{ProtectedState, protected_state};
use place::Located;
pub use protected::is_protected;
pub use write::LARGEST;

use super::meta::TouchedPath;
use super::tool::{Code, ToolError};
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
    roots: Vec<Root>,
    /// Real places inside the roots that are never touched: the store, the config.
    forbidden: Vec<PathBuf>,
    walk_only: bool,
}

#[derive(Debug)]
struct Root {
    path: PathBuf,
    directory: OwnedFd,
}

/// An open file and where it really is.
#[derive(Debug)]
pub struct OpenFile {
    pub file: File,
    pub place: String,
    pub length: u64,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
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
    pub fn holds_forbidden(&self) -> bool {
        self.forbidden
            .iter()
            .any(|place| self.roots.iter().any(|root| place.starts_with(&root.path)))
    }

    /// All roots, the workspace first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Says where a path really is, whether or not there is a file yet.
    pub fn touch(&self, path: &str) -> Result<TouchedPath, ToolError> {
        let place = self.real_place(&self.locate(path)?)?;
        Ok(TouchedPath { protected: is_protected(&place), path: place })
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, path: &str) -> Result<OpenFile, ToolError> {
        let located = self.locate(path)?;
        // A pipe must not hold the tool up, and a terminal must not become ours.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = self.open_beneath(&located, flags, Mode::empty())?;
        let place = self.place_of(&located, opened.as_fd())?;
        let stat = rustix::fs::fstat(&opened).map_err(|error| io(path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ToolError::new(Code::NotAFile, format!("{path} is not a file")));
        }
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        Ok(OpenFile { file: File::from(opened), place, length })
    }

    /// Reads a whole file, if it is not larger than `most`.
    pub fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, ToolError> {
        let mut open = self.open_file(path)?;
        if open.length > most {
            let message = format!("{path} has {} bytes, {most} is the most", open.length);
            return Err(ToolError::new(Code::TooLarge, message));
        }
        let mut bytes = Vec::new();
        let read = (&mut open.file).take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| ToolError::new(Code::Io, format!("reading {path}: {error}")))?;
        if bytes.len() as u64 > most {
            return Err(ToolError::new(Code::TooLarge, format!("{path} grew beyond {most} bytes")));
        }
        Ok(bytes)
    }

    /// What a file holds now as a hash, or none if there is no file.
    pub fn fingerprint(&self, path: &str, most: u64) -> Result<Option<Digest>, ToolError> {
        match self.read(path, most) {
            Ok(bytes) => Ok(Some(content_hash(&bytes))),
            Err(error) if error.code == Code::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a path can be opened beneath the roots just now, without reading it.
    pub fn contains(&self, path: &str) -> bool {
        self.locate(path).is_ok_and(|located| {
            let flags = HANDLE | OFlags::CLOEXEC;
            self.open_beneath(&located, flags, Mode::empty())
                .is_ok_and(|opened| self.place_of(&located, opened.as_fd()).is_ok())
        })
    }

    /// The names in a directory, in order.
    pub fn list(&self, path: &str) -> Result<Vec<Entry>, ToolError> {
        let located = self.locate(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = self.open_beneath(&located, flags, Mode::empty())?;
        self.place_of(&located, directory.as_fd())?;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&directory).map_err(|error| io(path, error))? {
            let entry = entry.map_err(|error| io(path, error))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = rustix::fs::statat(&directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
            let Ok(stat) = stat else { continue };
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => EntryKind::Directory,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Other,
            };
            let name = name.to_string_lossy().into_owned();
            entries.push(Entry { name, kind, bytes: u64::try_from(stat.st_size).unwrap_or(0) });
        }
        entries.sort();
        Ok(entries)
    }
}

fn open_root(path: &Path) -> Result<Root, ToolError> {
    let failed = |error: std::io::Error| {
        ToolError::new(Code::NotFound, format!("opening the directory {}: {error}", path.display()))
    };
    let real = path.canonicalize().map_err(failed)?;
    let flags = HANDLE | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(&real, flags, Mode::empty())
        .map_err(|error| failed(std::io::Error::from(error)))?;
    Ok(Root { path: real, directory })
}

fn io(path: &str, error: rustix::io::Errno) -> ToolError {
    use rustix::io::Errno;
    let message = format!("{path}: {}", std::io::Error::from(error));
    match error {
        Errno::NOENT => ToolError::new(Code::NotFound, format!("{path} is not there")),
        Errno::NOTDIR => {
            ToolError::new(Code::NotFound, format!("{path}: a part of it is not a directory"))
        }
        Errno::ISDIR => ToolError::new(Code::NotAFile, format!("{path} is a directory")),
        Errno::XDEV | Errno::LOOP => ToolError::new(
            Code::OutsideWorkspace,
            format!("{path} leads out of the workspace, or through a link that cannot be followed"),
        ),
        _ => ToolError::new(Code::Io, message),
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
    Digest::of_json(&value)
}

impl Workspace {
    fn root_of(&self, located: &Located) -> &Root {
        &self.roots[located.root]
    }
}
