//! The task graph: a layered drawing of the plan with the status of every task.
//!
//! Positions come from the plan alone, so that a status never moves a node and scrubbing never moves anything.

mod cache;
mod content;
mod draw;
mod moves;

pub(crate) use cache::GraphCache;
pub(crate) use draw::{GraphPane, body, draw_selection, facts, selected, summary};
pub(crate) use moves::{Step, moved};

use planwright_layout::drawing::Zoom;

/// The word for a zoom.
pub(crate) fn zoom_word(zoom: Zoom) -> &'static str {
    match zoom {
        Zoom::Boxes => "boxes",
        Zoom::Chips => "chips",
        Zoom::Dots => "dots",
    }
}

/// The zoom after this one.
pub(crate) fn next_zoom(zoom: Zoom) -> Zoom {
    match zoom {
        Zoom::Boxes => Zoom::Chips,
        Zoom::Chips => Zoom::Dots,
        Zoom::Dots => Zoom::Boxes,
    }
}
