//! Requests to a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Message, ModelEffort};

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
    /// The prompt describes it already; it is only shown to the model where the server cannot enforce it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub described: bool,
}

impl OutputSchema {
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema, described: false }
    }
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
    /// Room for thinking beside the answer; `None` where the model is not asked to think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u32>,
    /// How much the model is to think; `None` leaves it to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<ModelEffort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How many messages at the beginning later calls repeat, for providers that cache such a prefix.
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
            thinking_tokens: None,
            effort: None,
            temperature: None,
            seed: None,
            stop: Vec::new(),
            cacheable_prefix: 0,
            stream: true,
        }
    }

    /// Whether the request grows into the next one, so that its end is worth caching: a conversation with tools in
    /// which the model decides what to call.
    #[cfg(feature = "providers")]
    pub(crate) fn is_conversation(&self) -> bool {
        self.cacheable_prefix > 0 && !self.tools.is_empty() && self.tool_choice == ToolChoice::Auto
    }

    /// The limit on what the provider counts as output where it counts thinking as well.
    #[cfg(feature = "providers")]
    pub(crate) fn counted_output_tokens(&self, most: Option<u32>) -> Option<u32> {
        let sum = self.max_output_tokens?.saturating_add(self.thinking_tokens.unwrap_or(0));
        Some(most.map_or(sum, |most| sum.min(most)))
    }
}
