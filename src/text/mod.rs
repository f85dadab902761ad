//! Text on its way in and out: the one sanitizer, display width, wrapping, number formats.
//!
//! Everything that reaches a terminal goes through [`clean()`] or [`clean_line`], an argument on an approval card
//! through [`reveal()`]. The module is pure and knows nothing of screens or stores.

mod chars;
mod clean;
mod escape;
mod reveal;
pub mod units;
mod width;
mod wrap;

pub use clean::{clean, clean_line, from_bytes_lossy};
pub use reveal::{Revealed, reveal, reveal_segments};
pub use width::{
    ELLIPSIS, display_width, fit, fits, pad_left, pad_right, truncate_end, truncate_middle,
};
pub use wrap::{wrap, wrap_exact};
