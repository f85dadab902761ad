//! Language models behind one trait: adapters for common providers, protocols that work with weak models, and cost
//! accounting.
//!
//! [`LanguageModel`] is one raw exchange with one model: the caller gets a complete [`GeneratedAnswer`] or a
//! [`ModelError`] with a next step. [`protocol`] builds on it and turns answers of any shape into checked tool calls
//! and JSON. Deltas are for display only: nothing may act on a part of an answer, so that a request whose stream broke
//! can always be repeated. Keys never leave this crate except on the wire to the host they belong to.

mod anthropic;
pub mod api_keys;
pub mod cost;
mod error;
mod generated_answer;
mod language_model;
mod message;
pub mod model_capability_cache;
pub mod offline;
pub mod ollama;
mod openai;
pub mod protocol;
pub mod provider;
pub mod recorded;
mod request;
pub mod settings;
mod tool_names;
pub mod transport;

pub use error::ModelError;
pub use generated_answer::{AnswerDelta, FinishReason, GeneratedAnswer, RawToolCall, TokenUsage};
pub use language_model::{
    DeltaSink, JsonSupport, LanguageModel, ModelCapability, ModelInfo, ignore_deltas,
};
pub use message::{Message, MessagePart, MessageRole, ToolCall};
pub use request::{GenerateRequest, OutputSchema, ToolChoice, ToolSpec};
