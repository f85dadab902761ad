//! What really ran when: one bar for each task on an axis of real time, with the time folded in which nothing ran.

mod bars;
mod draw;
mod scale;

pub(crate) use bars::{RunBars, ran_order};
pub(crate) use draw::{draw_timeline, timeline_facts};
