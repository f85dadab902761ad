//! Text on its way in and out: the one sanitizer and display width.
//!
//! Everything that reaches a terminal goes through [`clean()`] or [`clean_line`], an argument on an approval card
//! through [`reveal()`]. The module is pure and knows nothing of screens or stores.

mod chars;
mod clean;
mod escape;
mod reveal;
mod width;

pub use clean::{clean, clean_line, from_bytes_lossy};
pub use reveal::{Revealed, reveal, reveal_segments};
pub use width::{
    ELLIPSIS, display_width, fit, fits, pad_left, pad_right, truncate_end, truncate_middle,
};
