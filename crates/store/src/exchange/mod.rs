//! Sessions as files: exports for people and other programs, and imports of files they already have.
//!
//! `jsonl` is lossless: it reads back byte for byte what it wrote. The other formats present a session to someone else.
//! An import never runs anything, is limited in size, depth and number, and imports an entire file or nothing of it.

pub mod chrome_trace;
pub mod comparison_report;
pub mod demo_run;
pub mod event_source;
pub mod html_page;
mod import_limits;
pub mod jsonl;
pub mod markdown_report;
pub mod otlp;
pub mod secret_policy;
pub mod seed_traces;
#[cfg(test)]
mod tests;
pub mod transcript_import;

pub use import_limits::ImportError;
