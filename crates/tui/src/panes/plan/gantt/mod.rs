//! The Gantt chart: planned against actual on one axis of time.

mod axis;
mod bars;
mod draw;
mod links;

pub(crate) use axis::{GanttAxis, GanttScale};
pub(crate) use draw::{
    chart_columns, draw_gantt, draw_legend, gantt_facts, gantt_summary, has_room_below,
};
