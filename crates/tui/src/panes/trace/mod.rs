//! The trace: every readable step, thought, action and observation told apart by glyph and colour.
//!
//! Virtualised: the window is built from the index of steps and only the records on the screen are read, so that a
//! hundred thousand steps scroll as quickly as a hundred.

mod columns;
mod draw;
mod folding;
mod kind_filter;
mod lines;
mod search;
mod step_filter;
mod task_steps;
mod window;

pub(crate) use columns::TraceColumns;
pub(crate) use draw::{TracePane, trace_body, trace_summary};
pub(crate) use kind_filter::TraceKindFilter;
pub(crate) use search::{TraceSearch, find_match};
pub(crate) use task_steps::{TaskSteps, draw_task_steps};
pub(crate) use window::{TraceCache, TraceSource, WindowRow};
