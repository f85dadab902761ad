//! The scrub bar: one lane of activity, the track with the cursor, marks, and the totals at the cursor.

mod draw;
mod marks;
mod track;

pub(crate) use draw::{ScrubPane, track_area};
pub(crate) use marks::ScrubMarks;
pub(crate) use track::ScrubTrack;
