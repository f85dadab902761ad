//! The scrub bar: one lane of activity, the track with the cursor, marks, and the totals at the cursor.

mod draw;
mod lane;
mod marks;

pub(crate) use draw::{ScrubPane, track_area};
pub(crate) use lane::Lane;
pub(crate) use marks::Marks;
