//! Language models behind one trait: adapters for common providers, protocols that work with weak models, and cost
//! accounting.
//!
//! [`LanguageModel`] is one raw exchange with one model: the caller gets a complete [`GeneratedAnswer`] or a
//! [`ModelError`] with a next step. [`protocol`] builds on it and turns answers of any shape into checked tool calls
//! and JSON. Deltas are for display only: nothing may act on a part of an answer, so that a request whose stream broke
//! can always be repeated. Keys never leave this crate except on the wire to the host they belong to.
//!
//! Everything that reaches a server is behind the feature `providers`. Without it the offline planner and recordings
//! work, and opening any other provider fails with an error that names the feature.

#![cfg_attr(
    not(feature = "providers"),
    allow(
        dead_code,
        reason = "keys, limits and retries are for servers, which this build cannot reach"
    )
)]

#[cfg(feature = "providers")]
mod anthropic;
mod api_keys;
pub mod cost;
mod error;
pub mod exchange_limits;
#[cfg(feature = "providers")]
mod gemini;
mod generated_answer;
mod language_model;
mod message;
pub mod model_capability_cache;
mod model_table;
pub mod offline;
#[cfg(feature = "providers")]
pub mod ollama;
#[cfg(feature = "providers")]
mod openai;
pub mod protocol;
pub mod provider;
pub mod recorded;
mod request;
pub mod settings;
mod thinking;
#[cfg(feature = "providers")]
mod tool_names;
#[cfg(feature = "providers")]
pub mod transport;
#[cfg(feature = "providers")]
mod wire_format;

pub use api_keys::Secret;
pub use error::ModelError;
pub use generated_answer::{AnswerDelta, FinishReason, GeneratedAnswer, RawToolCall, TokenUsage};
pub use language_model::{
    DeltaSink, JsonSupport, LanguageModel, ModelCapability, ModelInfo, ignore_deltas,
};
pub use message::{Message, MessagePart, MessageRole, ToolCall};
pub use model_table::{
    ModelApi, ModelFacts, ModelTable, ThinkingControl, ThinkingSupport, ToolCallQuality,
};
pub use request::{GenerateRequest, OutputSchema, ToolChoice, ToolSpec};
pub use thinking::ModelEffort;
