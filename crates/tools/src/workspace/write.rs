//! Writes a file so that it is either the old one or the new one, and never one outside the workspace.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::path_location::LocatedPath;
use super::{HANDLE, Workspace, content_hash, io_error};
use crate::tool::{ToolError, ToolErrorCode};
use planwright_model::Digest;

/// Files larger than this are not written by tools.
pub const LARGEST: u64 = 16 * 1024 * 1024;

impl Workspace {
    /// Replaces a file, or creates it and the directories above it. `expected` is the hash of the content it must still
    /// have; `None` means that there must be no file. Returns the hash of the new content.
    ///
    /// The new content is written to a temporary file in the same directory, which atomically replaces the old one. A
    /// hard link to a file elsewhere is therefore broken, not written through.
    pub fn write(
        &self,
        path: &str,
        bytes: &[u8],
        expected: Option<&Digest>,
    ) -> Result<Digest, ToolError> {
        if bytes.len() as u64 > LARGEST {
            let message = format!("{} bytes are too much for one file", bytes.len());
            return Err(ToolError::new(ToolErrorCode::TooLarge, message));
        }
        let (parent, name) = self.open_file_parent(path)?;
        let old = rustix::fs::statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW);
        let mode = match old.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_mode)) {
            Ok((FileType::RegularFile, mode)) => Mode::from_raw_mode(mode & 0o777),
            Ok((FileType::Symlink, _)) => {
                let message = format!("{path} is a link; name the file it points to");
                return Err(ToolError::new(ToolErrorCode::NotAFile, message));
            }
            Ok(_) => {
                return Err(ToolError::new(
                    ToolErrorCode::NotAFile,
                    format!("{path} is not a file"),
                ));
            }
            Err(Errno::NOENT) => Mode::from_raw_mode(0o644),
            Err(error) => return Err(io_error(path, error)),
        };
        let temporary = format!(".planwright-{}.tmp", uuid::Uuid::now_v7().simple());
        let written = self.write_temporary(&parent, &temporary, bytes, mode).and_then(|()| {
            if self.hash_file(path, LARGEST)?.as_ref() != expected {
                let message = format!("{path} changed while it was being written");
                return Err(ToolError::new(ToolErrorCode::ChangedMeanwhile, message));
            }
            rustix::fs::renameat(&parent, &temporary, &parent, &name)
                .map_err(|error| io_error(path, error))
        });
        if written.is_err() {
            // Nothing of a failed write is left behind, as far as that can be done; the failure itself is returned.
            let _ = rustix::fs::unlinkat(&parent, &temporary, AtFlags::empty());
        }
        written?;
        Ok(content_hash(bytes))
    }

    /// Removes a file that must still have the content with this hash.
    pub fn remove_file(&self, path: &str, expected: Option<&Digest>) -> Result<(), ToolError> {
        let (parent, name) = self.open_file_parent(path)?;
        if self.hash_file(path, LARGEST)?.as_ref() != expected {
            let message = format!("{path} changed while it was being removed");
            return Err(ToolError::new(ToolErrorCode::ChangedMeanwhile, message));
        }
        rustix::fs::unlinkat(&parent, &name, AtFlags::empty())
            .map_err(|error| io_error(path, error))
    }

    /// Makes a file executable for whoever may read it, or for nobody.
    pub fn set_executable(&self, path: &str, executable: bool) -> Result<(), ToolError> {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.open_file(path)?.file;
        let failed = |error: std::io::Error| {
            ToolError::new(ToolErrorCode::Io, format!("changing the mode of {path}: {error}"))
        };
        let mode = file.metadata().map_err(failed)?.permissions().mode();
        let wanted = if executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 };
        if wanted == mode {
            return Ok(());
        }
        file.set_permissions(std::fs::Permissions::from_mode(wanted)).map_err(failed)
    }

    fn open_file_parent(&self, path: &str) -> Result<(OwnedFd, std::ffi::OsString), ToolError> {
        let located = self.locate_path(path)?;
        let Some(name) = located.names.file_name().map(ToOwned::to_owned) else {
            return Err(ToolError::new(
                ToolErrorCode::NotAFile,
                "the workspace itself is not a file",
            ));
        };
        let parent = self.open_parent_directory(&located)?;
        self.opened_place(&located, parent.as_fd())?;
        Ok((parent, name))
    }

    #[expect(clippy::unused_self, reason = "it is part of writing into a workspace")]
    fn write_temporary(
        &self,
        parent: &OwnedFd,
        name: &str,
        bytes: &[u8],
        mode: Mode,
    ) -> Result<(), ToolError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened =
            rustix::fs::openat(parent, name, flags, mode).map_err(|error| io_error(name, error))?;
        let mut file = std::fs::File::from(opened);
        let failed =
            |error: std::io::Error| ToolError::new(ToolErrorCode::Io, format!("writing: {error}"));
        file.write_all(bytes).map_err(failed)?;
        file.sync_all().map_err(failed)
    }

    /// Opens the directory a file belongs to, creating missing components one at a time.
    fn open_parent_directory(&self, located: &LocatedPath) -> Result<OwnedFd, ToolError> {
        let flags = HANDLE | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut parent = LocatedPath { names: located.names.clone(), ..located.clone() };
        parent.names.pop();
        let mut missing = Vec::new();
        let mut directory = loop {
            match self.open_beneath(&parent, flags, Mode::empty()) {
                Ok(directory) => break directory,
                Err(error) if error.code == ToolErrorCode::NotFound => {
                    match parent.names.file_name() {
                        Some(name) => {
                            missing.push(name.to_owned());
                            parent.names.pop();
                        }
                        None => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        };
        for name in missing.into_iter().rev() {
            match rustix::fs::mkdirat(&directory, &name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(io_error(&located.given, error)),
            }
            directory =
                rustix::fs::openat(&directory, &name, flags | OFlags::NOFOLLOW, Mode::empty())
                    .map_err(|error| io_error(&located.given, error))?;
        }
        Ok(directory)
    }
}
