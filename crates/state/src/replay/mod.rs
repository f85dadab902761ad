//! Looking at a session: any moment of it, as quickly as moving a cursor.
//!
//! A [`History`] reads the past from a [`RecordSource`], a journal or an exported file. Reading never runs anything.

pub mod compare;
pub mod fork;
mod history;
mod search_hit;
mod source;

pub use history::{History, checkpoint_interval};
pub use search_hit::SearchHit;
pub use source::{MemorySource, RecordSource, SourceError};
