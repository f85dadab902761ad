//! What a model thought before its answer, kept as its provider wants it back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The interface a piece of reasoning belongs to. It means nothing to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningFormat {
    /// A thinking block with its signature.
    Anthropic,
    /// A reasoning item with its encrypted content.
    OpenAiResponses,
    /// Details beside a chat completion, as resellers return them.
    ChatCompletions,
    /// The signature of a part.
    Gemini,
}

/// One piece of reasoning. Providers refuse a conversation in which it was changed or left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReasoningItem {
    pub format: ReasoningFormat,
    /// How many calls of the same answer stand before it.
    pub position: u32,
    /// What can be read of it; often a summary, often nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The piece as it was received, to be sent back unchanged.
    pub raw: Value,
}
