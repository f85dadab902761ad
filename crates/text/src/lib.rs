//! Text processing: the sanitizer, the redactor, display width, wrapping, formats of numbers and dates.
//!
//! Everything that reaches a terminal goes through [`clean_text()`] or [`clean_line`], arguments on an approval card
//! through [`reveal_hidden()`]; everything that is journaled, exported or sent to a model goes through a [`Redactor`].
//! Tool output is cleaned first and redacted second, so that an escape sequence cannot hide half of a key. The crate is
//! pure and independent of screens and storage.

mod chars;
mod clean;
pub mod dates;
mod escape;
mod markdown;
mod natural_order;
mod nearest;
mod redact;
mod reveal;
mod sgr;
mod short_titles;
pub mod units;
mod width;
mod wrap;

pub use clean::{clean_line, clean_text, from_bytes_lossy};
pub use markdown::{MarkdownLine, MarkdownPart, layout_markdown, looks_like_markdown};
pub use natural_order::compare_names;
pub use nearest::nearest_name;
pub use redact::{
    LearnedSecrets, Redactor, SecretFinding, SecretKind, StreamRedactor, is_secret_variable,
};
pub use reveal::{RevealedText, reveal_hidden, reveal_segments};
pub use sgr::{OutputColor, split_colors};
pub use short_titles::shorten_titles;
pub use width::{display_width, fit_width, pad_left, pad_right, truncate_end, truncate_middle};
pub use wrap::{wrap_exact, wrap_words};
