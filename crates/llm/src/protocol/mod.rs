//! Checked answers from any model: native tool calls, JSON held to a schema, or a plain text protocol.
//!
//! [`Dialogue`] is a model together with how to talk to it. Whatever the protocol, [`Dialogue::reply`] gives text and
//! calls that fit their schemas, and [`Dialogue::ask_json`] a value that fits its schema. An answer that does not fit is
//! repaired once mechanically, then asked for again once with the violations, then reported as `invalid_output` with
//! the raw text. Fields nobody asked for are dropped and noted, never a failure.

mod checking;
mod detect;
mod dialogue;
mod in_json;
mod in_text;
mod lenient;
mod schema;
mod types;
mod usable;

pub use dialogue::{Dialogue, FoundOut, USAGE_CLAMPED};
pub use types::{JsonAnswer, Manner, Note, Protocol, ProtocolChoice, Reply};
