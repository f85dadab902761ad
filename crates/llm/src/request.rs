//! What a model is asked for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Message;

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name as the registry knows it; adapters map it to what the provider accepts and back.
    pub name: String,
    pub description: String,
    /// The JSON Schema of the arguments, an object.
    pub schema: Value,
}

/// Whether the model must call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// None of them, although they were mentioned before.
    None,
    /// Any of them.
    Required,
    /// This one.
    Named(String),
}

/// The shape the answer's text must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name, letters, digits, `_` and `-`.
    pub name: String,
    pub schema: Value,
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerateRequest {
    pub messages: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    #[serde(default)]
    pub tool_choice: ToolChoice,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<OutputSchema>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How many messages at the beginning stay the same from call to call, for providers that keep such a prefix.
    #[serde(default)]
    pub cacheable_prefix: usize,
    /// Whether the answer should arrive in pieces, where the provider can.
    pub stream: bool,
}

impl GenerateRequest {
    /// A streamed request with these messages and nothing else set.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            output_schema: None,
            max_output_tokens: None,
            temperature: None,
            seed: None,
            stop: Vec::new(),
            cacheable_prefix: 0,
            stream: true,
        }
    }
}
