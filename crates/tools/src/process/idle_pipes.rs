//! The pipes of a command that has ended, for the next one, which gets them under its own name.
//!
//! To make two pipes in a file system, to open, lock and watch them and to remove them again takes more than a dozen calls to the
//! system, four of which change a directory on the disk. A pipe that nobody writes to any more is as good as a new one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// More pairs than this are not kept; a plan that runs more commands at once makes some of its own.
const MOST_KEPT: usize = 64;

/// Pairs of pipes that nobody uses. The files go with the last clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdlePipes {
    pairs: Arc<Mutex<Vec<PipePair>>>,
}

impl IdlePipes {
    /// A pair in the directory of these paths, which has those names now.
    pub(super) fn take(&self, paths: &[PathBuf; 2]) -> Option<PipePair> {
        let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = paths[0].parent();
        let place = pairs.iter().rposition(|pair| pair.directory() == directory)?;
        let mut pair = pairs.swap_remove(place);
        drop(pairs);
        // One that cannot be renamed, as when its session was removed, is given up, and new ones are made.
        pair.rename(paths).is_ok().then_some(pair)
    }

    /// Keeps a pair that nobody writes to any more.
    pub(super) fn put(&self, pair: PipePair) {
        let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        if pairs.len() < MOST_KEPT {
            pairs.push(pair);
        }
    }

    /// Removes all of them.
    pub(crate) fn clear(&self) {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The two pipes of a command: the ends that are read here, which have the locks, and the files.
#[derive(Debug)]
pub(super) struct PipePair {
    ends: [OwnedFd; 2],
    files: PipeFiles,
}

impl PipePair {
    pub(super) fn new(ends: [OwnedFd; 2], paths: [PathBuf; 2]) -> Self {
        Self { ends, files: PipeFiles::new(paths.into()) }
    }

    fn directory(&self) -> Option<&Path> {
        self.files.0.first().and_then(|path| path.parent())
    }

    fn rename(&mut self, paths: &[PathBuf; 2]) -> io::Result<()> {
        for (old, new) in self.files.0.iter_mut().zip(paths) {
            std::fs::rename(&*old, new)?;
            old.clone_from(new);
        }
        Ok(())
    }

    /// The ends once more, for whoever reads them.
    pub(super) fn clone_ends(&self) -> io::Result<(OwnedFd, OwnedFd)> {
        Ok((self.ends[0].try_clone()?, self.ends[1].try_clone()?))
    }

    /// Leaves the files to somebody else, who removes them.
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        self.files.into_paths()
    }
}

/// Removes the files of the pipes once nobody needs them any more.
#[derive(Debug)]
pub(super) struct PipeFiles(Vec<PathBuf>);

impl PipeFiles {
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        Self(paths)
    }

    /// Leaves the files to somebody else, who removes them.
    pub(super) fn into_paths(mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for PipeFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            // The session may have been removed meanwhile, and its files with it.
            let _ = std::fs::remove_file(path);
        }
    }
}
