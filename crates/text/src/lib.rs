//! Text on its way in and out: the one sanitizer, the one redactor, display width, wrapping, number formats.
//!
//! Everything that reaches a terminal goes through [`clean()`] or [`clean_line`], an argument on an approval card
//! through [`reveal()`]; everything that is journaled, exported or sent to a model goes through a [`Redactor`]. Tool
//! output is cleaned first and redacted second, so that an escape sequence cannot hide half a key. The module is pure
//! and knows nothing of screens or stores.

mod chars;
mod clean;
mod escape;
mod markdown;
mod nearest;
mod redact;
mod reveal;
pub mod units;
mod width;
mod wrap;

pub use clean::{clean, clean_line, from_bytes_lossy};
pub use markdown::{MarkdownLine, Part as MarkdownPart, looks_like_markdown, markdown};
pub use nearest::nearest;
pub use redact::{Finding, Kind as SecretKind, Redactor, StreamRedactor, is_secret_variable};
pub use reveal::{Revealed, reveal, reveal_segments};
pub use width::{
    ELLIPSIS, display_width, fit, fits, pad_left, pad_right, truncate_end, truncate_middle,
};
pub use wrap::{wrap, wrap_exact};
