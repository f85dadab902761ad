//! Messages of a conversation with a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use planwright_model::{ReasoningFormat, ReasoningItem};

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
    /// What the model thought, for the provider it came from.
    Reasoning(ReasoningItem),
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
    /// Its words, without calls and results.
    #[cfg(feature = "providers")]
    pub(crate) fn joined_text(&self) -> String {
        let pieces = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text } => Some(text.as_str()),
            _ => None,
        });
        pieces.collect::<Vec<_>>().join("\n")
    }

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

    /// A turn of the model as its provider wants it back: what it thought, its text, and its calls, in their order.
    pub fn assistant_turn(
        text: impl Into<String>,
        reasoning: impl IntoIterator<Item = ReasoningItem>,
        calls: impl IntoIterator<Item = ToolCall>,
    ) -> Self {
        let (first, mut later): (Vec<_>, Vec<_>) =
            reasoning.into_iter().partition(|item| item.position == 0);
        let mut parts: Vec<MessagePart> = first.into_iter().map(MessagePart::Reasoning).collect();
        parts.extend(Self::assistant(text).parts);
        for (number, call) in (1u32..).zip(calls) {
            parts.push(MessagePart::Call(call));
            let (now, rest): (Vec<_>, Vec<_>) =
                later.into_iter().partition(|item| item.position == number);
            later = rest;
            parts.extend(now.into_iter().map(MessagePart::Reasoning));
        }
        parts.extend(later.into_iter().map(MessagePart::Reasoning));
        Self { role: MessageRole::Assistant, parts }
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
            MessagePart::Call(_) | MessagePart::Reasoning(_) => None,
        });
        pieces.collect::<Vec<_>>().join("\n")
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Call(call) => Some(call),
            _ => None,
        })
    }

    /// What the model thought in this turn, as far as it means something to one interface.
    pub fn reasoning(&self, format: ReasoningFormat) -> impl Iterator<Item = &ReasoningItem> {
        self.parts.iter().filter_map(move |part| match part {
            MessagePart::Reasoning(item) if item.format == format => Some(item),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_turn_keeps_what_was_thought_between_its_calls_in_place() {
        let item = |position| ReasoningItem {
            format: ReasoningFormat::Anthropic,
            position,
            text: String::new(),
            raw: json!({"n": position}),
        };
        let call = |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: json!({}) };
        let turn =
            Message::assistant_turn("words", [item(0), item(1), item(9)], [call("a"), call("b")]);
        let order: Vec<String> = turn
            .parts
            .iter()
            .map(|part| match part {
                MessagePart::Text { text } => text.clone(),
                MessagePart::Call(call) => call.id.clone(),
                MessagePart::Reasoning(item) => format!("thought {}", item.position),
                MessagePart::Result { .. } => "result".to_owned(),
            })
            .collect();
        assert_eq!(order, ["thought 0", "words", "a", "thought 1", "b", "thought 9"]);
    }
}
