//! Looking at a session: any moment of it, as quickly as moving a cursor.
//!
//! A [`History`] reads the past from a [`RecordSource`], a journal or an exported file. Reading never runs anything.

pub mod compare;
pub mod fork;
mod history;
mod journal;
pub mod library;
mod source;
pub mod spending;

pub use history::{History, checkpoint_interval};
pub use journal::JournalSource;
pub use source::{MemorySource, RecordSource, SourceError};
