//! Opens files beneath a root, through the kernel where it supports this and component by component elsewhere.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Component;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::path_location::LocatedPath;
use super::{HANDLE, Workspace, io_error};
use crate::tool::{ToolError, ToolErrorCode};

/// How often a path is looked up again when something was renamed in the meantime.
const MAX_LOOKUPS: usize = 16;

impl Workspace {
    /// Opens a path below its root; nothing outside is ever opened, not even briefly.
    pub(super) fn open_beneath(
        &self,
        located: &LocatedPath,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, ToolError> {
        let opened = match self.open_by_kernel(located, flags, mode) {
            Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP) => {
                self.open_by_steps(located, flags, mode)
            }
            outcome => outcome,
        };
        opened.map_err(|error| match error {
            Errno::AGAIN => ToolError::new(
                ToolErrorCode::ChangedMeanwhile,
                format!("{} is being moved about; try again", located.given),
            ),
            other => io_error(&located.given, other),
        })
    }

    #[cfg(target_os = "linux")]
    fn open_by_kernel(
        &self,
        located: &LocatedPath,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        if self.walk_only {
            return Err(Errno::NOSYS);
        }
        let names = if located.names.as_os_str().is_empty() {
            ".".as_ref()
        } else {
            located.names.as_path()
        };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut outcome = Err(Errno::AGAIN);
        for _ in 0..MAX_LOOKUPS {
            outcome = rustix::fs::openat2(
                &self.located_root(located).directory,
                names,
                flags,
                mode,
                resolve,
            );
            if !matches!(outcome, Err(Errno::AGAIN | Errno::INTR)) {
                break;
            }
        }
        outcome
    }

    #[cfg(not(target_os = "linux"))]
    fn by_the_kernel(&self, _: &LocatedPath, _: OFlags, _: Mode) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    /// Opens one component relative to the previous one, without following links.
    fn open_by_steps(
        &self,
        located: &LocatedPath,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, Errno> {
        let names: Vec<_> = located
            .names
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        let root = self.located_root(located).directory.as_fd();
        let step = HANDLE | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Some((last, before)) = names.split_last() else {
            return rustix::fs::openat(root, ".", flags, mode);
        };
        let mut directory = rustix::fs::openat(root, ".", step, Mode::empty())?;
        for name in before {
            directory = rustix::fs::openat(&directory, *name, step, Mode::empty())
                .map_err(|error| self.refine_link_error(error, &directory, name))?;
        }
        let opened = rustix::fs::openat(&directory, *last, flags | OFlags::NOFOLLOW, mode)?;
        // With O_PATH a link itself is opened; it must not be mistaken for its target.
        let stat = rustix::fs::fstat(&opened)?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink {
            return Err(Errno::LOOP);
        }
        Ok(opened)
    }

    /// A link in the middle of a path is reported as "not a directory"; this names it as a link.
    #[expect(clippy::unused_self, reason = "it belongs to the way around")]
    fn refine_link_error(
        &self,
        error: Errno,
        directory: &OwnedFd,
        name: &std::ffi::OsStr,
    ) -> Errno {
        let stat = rustix::fs::statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        let link = stat.is_ok_and(|stat| {
            rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink
        });
        if link { Errno::LOOP } else { error }
    }
}
