//! Looking at a session: any moment of it, as quickly as moving a cursor.
//!
//! A [`History`] reads the past from a [`RecordSource`], a journal or an exported file. Reading never runs anything.

pub mod compare;
pub mod file_changes;
pub mod fork;
mod history;
mod printed_output;
mod record_source;
mod search_hit;
pub mod workspace_patch;

pub use history::{History, checkpoint_interval};
pub use printed_output::{MissingOutput, PrintedOutput, missing_output_line};
pub use record_source::{MemorySource, PrintedPiece, RecordSource, RecordSourceError};
pub use search_hit::SearchHit;
