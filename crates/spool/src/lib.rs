//! The output of attempts, kept in files beside the store.
//!
//! Each attempt that prints something has one spool: the pieces of both streams in the order in which they arrived, with
//! the stream and the milliseconds since the start. It grows while the attempt runs and is compressed when it ends. Up to a
//! cap everything is kept; beyond it the beginning and the end, with a counted gap. What goes in is already redacted.

mod compressed;
mod directory;
mod format;
mod reader;
mod tail;
mod writer;

pub use directory::SpoolDirectory;
pub use format::{SpoolContent, SpoolPiece};
pub use reader::SpoolReader;
pub use writer::SpoolWriter;

/// How many bytes of one attempt are kept, unless a setting says otherwise.
pub const DEFAULT_CAP: u64 = 256 * 1024 * 1024;

/// Why a spool cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    #[error("{path}: {source}", path = path.display())]
    Io { path: std::path::PathBuf, source: std::io::Error },
    #[error("{path} is not an output spool, or is damaged at byte {at}", path = path.display())]
    Damaged { path: std::path::PathBuf, at: u64 },
}
