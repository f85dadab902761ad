//! The scrub bar: one lane of activity with idle time folded, the track with the cursor, marks, what comes next and what
//! a fork would do.

mod draw;
mod lane;
mod marks;
mod track;

pub(crate) use draw::{ScrubPane, track_area};
pub(crate) use lane::{LaneCache, ScrubLane};
pub(crate) use marks::ScrubMarks;
