//! Results of a dialogue.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cost::CallCost;
use crate::{FinishReason, ToolCall};
use planwright_model::ReasoningItem;

/// How calls and JSON are transported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerProtocol {
    /// The provider's own tool calling.
    Tools,
    /// One JSON object per answer, constrained to a schema by the server.
    Json,
    /// `Action:` and `Input:` lines.
    Text,
}

impl fmt::Display for AnswerProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tools => "tools",
            Self::Json => "json",
            Self::Text => "text",
        })
    }
}

/// The setting `protocol`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolChoice {
    /// The best protocol the model is known or found to support.
    #[default]
    Auto,
    Tools,
    Json,
    Text,
}

impl ProtocolChoice {
    pub const NAMES: [&str; 4] = ["auto", "tools", "json", "text"];

    /// The chosen protocol, or `None` if it has to be detected.
    pub fn fixed_protocol(self) -> Option<AnswerProtocol> {
        match self {
            Self::Auto => None,
            Self::Tools => Some(AnswerProtocol::Tools),
            Self::Json => Some(AnswerProtocol::Json),
            Self::Text => Some(AnswerProtocol::Text),
        }
    }
}

impl FromStr for ProtocolChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "tools" => Ok(Self::Tools),
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            _ => Err(format!("one of {}", Self::NAMES.join(", "))),
        }
    }
}

/// Something about an answer that is worth recording in the journal but is not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerNote {
    /// A wire name: `unknown_field`, `repaired`, `call_in_text`, `asked_again`, `protocol_changed` or `usage_clamped`.
    pub code: String,
    pub detail: String,
}

impl AnswerNote {
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        Self { code: code.to_owned(), detail: detail.into() }
    }
}

/// Options for requests that do not set their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RequestDefaults {
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// The user set a length, which overrides the one of the request.
    pub length_is_set: bool,
    /// The length is only for models of the profile small.
    pub length_if_small: bool,
}

/// The text of a model and the tools it wants to call. Every call matches the schema of its tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The text apart from the calls.
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub notes: Vec<AnswerNote>,
    /// Of all attempts, including repeated ones.
    pub cost: CallCost,
    pub finish: FinishReason,
    pub model: String,
    pub protocol: AnswerProtocol,
    /// What the model thought, to be sent back with the results of its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<ReasoningItem>,
}

/// A value that matches its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JsonAnswer {
    pub value: Value,
    pub notes: Vec<AnswerNote>,
    pub cost: CallCost,
    pub model: String,
    /// The text the value was parsed from.
    pub raw: String,
}
