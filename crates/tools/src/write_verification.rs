//! Checks on disk whether a write with an unknown outcome happened (trust 3.6).

use super::workspace::{LARGEST, Workspace};
use planwright_model::event::FileChange;

/// Whether a write took place, according to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteVerification {
    /// The file has the content that the call was to write.
    Happened,
    /// The file has its earlier content.
    NotYet,
    /// Neither; the user decides.
    Unknown,
}

/// Checks the file that a call was to change.
pub fn verify_write(change: &FileChange, workspace: &Workspace) -> WriteVerification {
    match workspace.hash_file(&change.path, LARGEST) {
        Ok(Some(now)) if now == change.after => WriteVerification::Happened,
        Ok(now) if now == change.before => WriteVerification::NotYet,
        _ => WriteVerification::Unknown,
    }
}
