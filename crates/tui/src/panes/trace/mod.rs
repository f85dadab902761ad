//! The trace: every readable step, thought, action and observation told apart by glyph and colour.
//!
//! Virtualised: the window is built from the index of steps and only the records on the screen are read, so that a
//! hundred thousand steps scroll as quickly as a hundred.

mod draw;
mod kinds;
mod lines;
mod search;
mod steps;
mod window;

pub(crate) use draw::{TracePane, body, summary};
pub(crate) use kinds::Kinds;
pub(crate) use search::{Search, contains};
pub(crate) use window::{Source, TraceCache, WindowRow};

/// The column in which the text of a step begins, and under which its further lines hang.
pub(crate) const TEXT_COLUMN: u16 = 33;
