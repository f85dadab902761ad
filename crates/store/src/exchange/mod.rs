//! Sessions as files: exports for people and other programs, and imports of what they already have.
//!
//! `jsonl` is lossless: what it writes it reads back byte for byte. The other formats show a session to someone else.
//! Importing never runs anything, is bounded in every direction, and takes in a whole file or nothing of it.

pub mod bundled;
pub mod comparison;
pub mod foreign;
pub mod html;
pub mod incoming;
pub mod jsonl;
pub mod limits;
pub mod otlp;
pub mod report;
pub mod secrets;
#[cfg(test)]
mod tests;
pub mod traces;

pub use limits::ImportError;
