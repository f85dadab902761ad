//! What a dialogue gives back.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cost::CallCost;
use crate::{FinishReason, ToolCall};

/// How calls and JSON are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerProtocol {
    /// The provider's own tool calling.
    Tools,
    /// One JSON object per answer, held to a schema by the server.
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
    /// The best one the model is known or found to speak.
    #[default]
    Auto,
    Tools,
    Json,
    Text,
}

impl ProtocolChoice {
    pub const NAMES: [&str; 4] = ["auto", "tools", "json", "text"];

    /// The protocol that was chosen, unless it is to be found out.
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

/// Something about an answer that is worth a line in the journal and is no failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerNote {
    /// A wire name: `unknown_field`, `repaired`, `call_in_text`, `asked_again`, `protocol_changed` or
    /// `usage_clamped`.
    pub code: String,
    pub detail: String,
}

impl AnswerNote {
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        Self { code: code.to_owned(), detail: detail.into() }
    }
}

/// How a model is asked where a request leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestDefaults {
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// The person set a length: it goes before the one of the request.
    pub length_is_set: bool,
}

/// What the model said and which tools it wants to call. Every call fits the schema of its tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// What was said besides the calls.
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub notes: Vec<AnswerNote>,
    /// Of all attempts, those that were asked again included.
    pub cost: CallCost,
    pub finish: FinishReason,
    pub model: String,
    pub protocol: AnswerProtocol,
}

/// A value that fits its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JsonAnswer {
    pub value: Value,
    pub notes: Vec<AnswerNote>,
    pub cost: CallCost,
    pub model: String,
    /// The text the value was read from.
    pub raw: String,
}
