//! Checked answers from any model: native tool calls, JSON held to a schema, or a plain text protocol.
//!
//! [`ModelDialogue`] is a model together with how to talk to it. Whatever the protocol, [`ModelDialogue::reply`] gives text and
//! calls that fit their schemas, and [`ModelDialogue::ask_json`] a value that fits its schema. An answer that does not fit is
//! repaired once mechanically, then asked for again once with the violations, then reported as `invalid_output` with
//! the raw text. Fields nobody asked for are dropped and noted, never a failure.

mod answer_check;
mod capability_probe;
mod dialogue;
mod json_protocol;
mod json_schema;
mod lenient_json;
mod reply_types;
mod text_protocol;
mod usability;

pub use dialogue::{DetectedCapability, ModelDialogue, USAGE_CLAMPED};
pub use reply_types::{
    AnswerNote, AnswerProtocol, JsonAnswer, ModelReply, ProtocolChoice, RequestDefaults,
};
