//! Requests to a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Message;

/// A tool as presented to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name in the registry; adapters map it to what the provider accepts and back.
    pub name: String,
    pub description: String,
    /// The JSON Schema of the arguments, an object.
    pub schema: Value,
}

/// Whether the model must call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool, even if tools were mentioned before.
    None,
    /// Any of them.
    Required,
    /// This tool.
    Named(String),
}

/// The schema the answer's text must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name, letters, digits, `_` and `-`.
    pub name: String,
    pub schema: Value,
}

/// One request to a model.
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
    /// How many messages at the beginning are the same in every call, for providers that cache such a prefix.
    #[serde(default)]
    pub cacheable_prefix: usize,
    /// Whether the answer should be streamed, if the provider supports it.
    pub stream: bool,
}

impl GenerateRequest {
    /// Creates a streamed request with these messages and defaults for the rest.
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
