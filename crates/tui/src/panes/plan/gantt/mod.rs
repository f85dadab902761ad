//! The Gantt chart: planned against actual on one axis of time.

mod axis;
mod bars;
mod draw;
mod links;

pub(crate) use axis::{Axis, Scale, day_words};
pub(crate) use draw::{chart_columns, draw, facts, summary};
