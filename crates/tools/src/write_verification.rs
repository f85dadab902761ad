//! What the disk says about a write whose outcome is not known (trust 3.6).

use super::workspace::{LARGEST, Workspace};
use planwright_model::event::FileChange;

/// Whether a write took place, as far as the disk tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteVerification {
    /// The file holds what the call was to write.
    Happened,
    /// The file holds what it held before.
    NotYet,
    /// Neither; the person decides.
    Unknown,
}

/// Looks at the file that a call was to change.
pub fn verify_write(change: &FileChange, workspace: &Workspace) -> WriteVerification {
    match workspace.hash_file(&change.path, LARGEST) {
        Ok(Some(now)) if now == change.after => WriteVerification::Happened,
        Ok(now) if now == change.before => WriteVerification::NotYet,
        _ => WriteVerification::Unknown,
    }
}
