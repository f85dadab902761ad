//! Resolves the text of a path: which root, which components, and the real path once links are followed.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::{HANDLE, Workspace};
use crate::tool::{ToolError, ToolErrorCode};

/// Longer paths are rejected before the kernel gets them.
const LONGEST: usize = 4096;

/// A path below one of the roots, without `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocatedPath {
    pub(super) root: usize,
    /// Empty for the root itself.
    pub(super) names: PathBuf,
    /// The path as given, for messages.
    pub(super) given: String,
}

impl Workspace {
    /// Finds the root a path belongs to. Nothing is opened.
    pub(super) fn locate_path(&self, path: &str) -> Result<LocatedPath, ToolError> {
        let bad = |problem: &str| {
            Err(ToolError::new(ToolErrorCode::BadArgs, format!("the path {problem}")))
        };
        if path.contains('\0') {
            return bad("holds a zero byte");
        }
        if path.len() > LONGEST {
            return bad("is too long");
        }
        let given = planwright_text::clean_line(path).into_owned();
        let (root, rest) = match Path::new(path) {
            absolute if absolute.is_absolute() => self
                .roots
                .iter()
                .enumerate()
                .find_map(|(root, known)| {
                    absolute.strip_prefix(&known.path).ok().map(|rest| (root, rest))
                })
                .ok_or_else(|| outside_error(&given))?,
            relative => (0, relative),
        };
        let mut names = PathBuf::new();
        for component in rest.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                Component::ParentDir if names.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(outside_error(&given));
                }
            }
        }
        Ok(LocatedPath { root, names, given })
    }

    /// The real path of an open file. Fails for paths that nobody may touch.
    pub(super) fn opened_place(
        &self,
        located: &LocatedPath,
        opened: BorrowedFd<'_>,
    ) -> Result<String, ToolError> {
        let root = self.located_root(located);
        let real = real_path(opened).unwrap_or_else(|| root.path.join(&located.names));
        self.permitted_place(located, &real)
    }

    fn permitted_place(&self, located: &LocatedPath, real: &Path) -> Result<String, ToolError> {
        // A copy for a task lies below what is forbidden, and is not.
        let own = self.root();
        let applies = |forbidden: &Path| !(own.starts_with(forbidden) && real.starts_with(own));
        if let Some(forbidden) = self
            .forbidden
            .iter()
            .find(|forbidden| real.starts_with(forbidden) && applies(forbidden))
        {
            let message =
                format!("{} belongs to Planwright itself ({})", located.given, forbidden.display());
            return Err(ToolError::new(ToolErrorCode::Refused, message));
        }
        let root = self.located_root(located);
        // The root was moved since it was opened: the components below it are still valid.
        let below = real.strip_prefix(&root.path).unwrap_or(&located.names);
        let resolved = if located.root == 0 { below.to_owned() } else { root.path.join(below) };
        Ok(if resolved.as_os_str().is_empty() {
            ".".to_owned()
        } else {
            resolved.to_string_lossy().into_owned()
        })
    }

    /// The real path. Components that do not exist yet are kept as they are, below the deepest existing one.
    pub(super) fn real_place(&self, located: &LocatedPath) -> Result<String, ToolError> {
        let mut missing = Vec::new();
        let mut known = located.clone();
        loop {
            match self.open_beneath(&known, HANDLE | OFlags::CLOEXEC, Mode::empty()) {
                Ok(opened) => {
                    let root = self.located_root(&known);
                    let mut real =
                        real_path(opened.as_fd()).unwrap_or_else(|| root.path.join(&known.names));
                    real.extend(missing.iter().rev());
                    return self.permitted_place(located, &real);
                }
                Err(error) if error.code == ToolErrorCode::NotFound => {
                    let Some(name) = known.names.file_name().map(ToOwned::to_owned) else {
                        return Err(error);
                    };
                    missing.push(name);
                    known.names.pop();
                }
                Err(error) => return Err(error),
            }
        }
    }
}

pub(super) fn outside_error(given: &str) -> ToolError {
    ToolError::new(
        ToolErrorCode::OutsideWorkspace,
        format!("{given} is outside the workspace; only the person can add another directory"),
    )
}

/// The kernel's own name for an open file. `None` if it does not provide one.
fn real_path(opened: BorrowedFd<'_>) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStringExt;
    let link = format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd());
    let target = rustix::fs::readlink(link, Vec::new()).ok()?;
    let path = PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes()));
    path.is_absolute().then_some(path)
}
