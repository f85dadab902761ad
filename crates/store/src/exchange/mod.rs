//! Sessions as files: exports for people and other programs, and imports of what they already have.
//!
//! `jsonl` is lossless: what it writes it reads back byte for byte. The other formats show a session to someone else.
//! Importing never runs anything, is bounded in every direction, and takes in a whole file or nothing of it.

pub mod comparison_report;
pub mod demo_run;
pub mod event_source;
pub mod html_page;
pub mod import_limits;
pub mod jsonl;
pub mod markdown_report;
pub mod otlp;
pub mod secret_policy;
pub mod seed_traces;
#[cfg(test)]
mod tests;
pub mod transcript_import;

pub use import_limits::ImportError;
