//! What the disk says about a write whose outcome is not known (trust 3.6).

use super::workspace::{LARGEST, Workspace};
use planwright_model::event::FileChange;

/// Whether a write took place, as far as the disk tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The file holds what the call was to write.
    Happened,
    /// The file holds what it held before.
    NotYet,
    /// Neither; the person decides.
    Unknown,
}

/// Looks at the file that a call was to change.
pub fn verify(change: &FileChange, workspace: &Workspace) -> Verification {
    match workspace.fingerprint(&change.path, LARGEST) {
        Ok(Some(now)) if now == change.after => Verification::Happened,
        Ok(now) if now == change.before => Verification::NotYet,
        _ => Verification::Unknown,
    }
}
