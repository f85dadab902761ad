//! Checked answers from any model: native tool calls, schema-constrained JSON, or a plain text protocol.
//!
//! [`ModelDialogue`] is a model together with the protocol used to talk to it. With every protocol,
//! [`ModelDialogue::ask_reply`] returns text and calls that match their schemas, and [`ModelDialogue::ask_json`] a
//! value that matches its schema. An answer that does not match is repaired once mechanically, then requested again
//! once with the violations, then reported as `invalid_output` with the raw text. Unknown fields are dropped and noted;
//! they are never an error.

mod answer_check;
mod capability_probe;
mod dialogue;
mod json_protocol;
mod json_schema;
mod lenient_json;
mod protocol_deltas;
mod reply_types;
mod text_protocol;
mod turn;
mod usability;

pub use dialogue::{
    DetectedCapability, ModelDialogue, PROTOCOL_CHANGED, ProtocolDemotion, USAGE_CLAMPED,
};
pub(crate) use reply_types::RequestDefaults;
pub use reply_types::{AnswerNote, AnswerProtocol, JsonAnswer, ModelReply, ProtocolChoice};
pub use turn::{ModelTurn, TurnCall};
