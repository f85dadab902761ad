//! Messages of a conversation with a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    System,
    User,
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// A tool call that was parsed and, if it comes from [`protocol`](super::protocol), checked against its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    /// The name in the tool registry, including dots.
    pub name: String,
    pub arguments: Value,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum MessagePart {
    Text {
        text: String,
    },
    Call(ToolCall),
    Result {
        call_id: String,
        name: String,
        content: String,
        #[serde(default)]
        is_error: bool,
    },
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: MessageRole,
    pub parts: Vec<MessagePart>,
}

impl Message {
    pub fn system(text: impl Into<String>) -> Self {
        Self::from_text(MessageRole::System, text)
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::from_text(MessageRole::User, text)
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self::from_text(MessageRole::Assistant, text)
    }

    /// The text of the model together with the calls it made.
    pub fn assistant_calls(
        text: impl Into<String>,
        calls: impl IntoIterator<Item = ToolCall>,
    ) -> Self {
        let mut message = Self::assistant(text);
        message.parts.extend(calls.into_iter().map(MessagePart::Call));
        message
    }

    /// The result of a tool.
    pub fn tool_result(call: &ToolCall, content: impl Into<String>) -> Self {
        let part = MessagePart::Result {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: content.into(),
            is_error: false,
        };
        Self { role: MessageRole::Tool, parts: vec![part] }
    }

    /// The error of a tool.
    pub fn tool_error(call: &ToolCall, reason: impl Into<String>) -> Self {
        let mut message = Self::tool_result(call, reason);
        for part in &mut message.parts {
            if let MessagePart::Result { is_error, .. } = part {
                *is_error = true;
            }
        }
        message
    }

    fn from_text(role: MessageRole, text: impl Into<String>) -> Self {
        let text = text.into();
        let parts = if text.is_empty() { Vec::new() } else { vec![MessagePart::Text { text }] };
        Self { role, parts }
    }

    /// All text of the message, including tool results.
    pub fn text(&self) -> String {
        let pieces = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text } => Some(text.as_str()),
            MessagePart::Result { content, .. } => Some(content.as_str()),
            MessagePart::Call(_) => None,
        });
        pieces.collect::<Vec<_>>().join("\n")
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Call(call) => Some(call),
            _ => None,
        })
    }
}
