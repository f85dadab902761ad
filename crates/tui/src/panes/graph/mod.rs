//! The task graph: a layered drawing of the plan with the status of every task.
//!
//! Positions come from the plan alone, so that a status never moves a node and scrubbing never moves anything.

mod cache;
mod content;
mod draw;
mod groups;
mod selection;
mod shape;

pub(crate) use cache::{FoldRequest, GraphCache, GroupFolding};
pub(crate) use content::{task_worker, title_of};
pub(crate) use draw::{
    GraphPane, draw_selection, expected_end, graph_body, graph_facts, graph_summary, selected_task,
};
pub(crate) use groups::{GraphNode, TaskGroups};
pub(crate) use selection::{GraphDirection, neighbor_task};
pub(crate) use shape::GraphRoom;

use planwright_layout::drawing::Zoom;

/// The zoom after this one.
pub(crate) fn next_zoom(zoom: Zoom) -> Zoom {
    match zoom {
        Zoom::Boxes => Zoom::Chips,
        Zoom::Chips => Zoom::Dots,
        Zoom::Dots => Zoom::Boxes,
    }
}
