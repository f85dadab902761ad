//! A conversation as the messages of a request. A pure function: the same conversation gives the same bytes.

use serde_json::{Value, json};

use super::super::framing::frame_data;
use planwright_llm::{GenerateRequest, Message, ToolCall, ToolSpec};
use planwright_model::ReasoningItem;
use planwright_model::agent_conversation::PromptSource;
use planwright_state::agent_progress::truncate_text;
use planwright_state::{AgentConversation, ConversationCall, ConversationEntry};

/// Room for an answer; it doubles after one that was cut off.
const OUTPUT_TOKENS: u32 = 8_192;
const MOST_DOUBLINGS: u32 = 2;
/// How much of a compacted result or argument is still shown.
const COMPACTED_CHARS: usize = 200;

/// The request for the next turn. What `is_own` tools answer is ours; results of all others are data of somebody else's.
pub fn conversation_request(
    talk: &AgentConversation,
    is_own: &dyn Fn(&str) -> bool,
) -> GenerateRequest {
    let mut messages = vec![
        Message::system(talk.opening.system.clone()),
        Message::user(talk.opening.briefing.clone()),
    ];
    messages.extend(summary_messages(talk));
    let mut entries = &talk.entries[talk.summarized_entries().min(talk.entries.len())..];
    while let Some((entry, rest)) = entries.split_first() {
        let results = rest
            .iter()
            .take_while(|entry| matches!(entry, ConversationEntry::Result { .. }))
            .count();
        match entry {
            ConversationEntry::Turn { text, calls, reasoning, .. } => {
                messages.push(turn_message(talk, text, reasoning, calls));
                messages.extend(result_messages(talk, &rest[..results], is_own));
                entries = &rest[results..];
            }
            ConversationEntry::Prompt { text, .. } => {
                messages.push(Message::user(text.clone()));
                entries = rest;
            }
            // Results follow their turn; the fold appends no other.
            ConversationEntry::Result { .. } => entries = rest,
        }
    }
    let mut request = GenerateRequest::new(messages);
    // What never changes; adapters mark the end of a conversation by themselves.
    request.cacheable_prefix = 2;
    request.tools = talk
        .opening
        .tools
        .iter()
        .map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: tool.schema.clone(),
        })
        .collect();
    request.max_output_tokens = Some(answer_room(talk));
    request
}

/// What stands in the place of summarized entries. What the stage began with is never summarized.
fn summary_messages(talk: &AgentConversation) -> Vec<Message> {
    let Some(summary) = &talk.summary else { return Vec::new() };
    let label = format!("summary of items 1 to {} of this conversation", summary.entries);
    let text = format!(
        "{}\n(result.read {{\"id\": \"{}\"}} shows item 1 as it was, and so on to {}.)",
        frame_data(&label, &summary.text),
        item_name(1),
        item_name(summary.entries),
    );
    let replaced = talk.entries.iter().take(summary.entries as usize);
    let stage = replaced.rev().find_map(|entry| match entry {
        ConversationEntry::Prompt { source: PromptSource::Stage, text } => Some(text.clone()),
        _ => None,
    });
    let later = talk.entries.iter().skip(summary.entries as usize);
    let is_stage = |entry: &ConversationEntry| {
        matches!(entry, ConversationEntry::Prompt { source: PromptSource::Stage, .. })
    };
    let stage = stage.filter(|_| !later.into_iter().any(is_stage));
    std::iter::once(text).chain(stage).map(Message::user).collect()
}

/// The id under which an entry that was summarized can be read again. They count from 1.
pub(super) fn item_name(number: u32) -> String {
    format!("item_{number}")
}

/// An entry or result by the id under which it can be read again: `call_7` is a result, `item_7` any entry.
pub fn read_item(talk: &AgentConversation, id: &str) -> Option<String> {
    let id = id.trim();
    if let Some(number) = id.strip_prefix("item_") {
        let number: usize = number.parse().ok()?;
        return talk.entries.get(number.checked_sub(1)?).map(item_text);
    }
    let number = id.strip_prefix("call_").unwrap_or(id).parse().ok()?;
    talk.result_text(number).map(str::to_owned)
}

/// An entry as text, whole.
pub(super) fn item_text(entry: &ConversationEntry) -> String {
    match entry {
        ConversationEntry::Turn { text, calls, .. } => {
            let calls = calls
                .iter()
                .map(|call| format!("{} {} {}", call_name(call.number), call.tool, call.arguments));
            let words = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            words.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
        }
        ConversationEntry::Result { call, tool, ok, text } => {
            let failed = if *ok { "" } else { ", failed" };
            format!("{} {tool}{failed}:\n{text}", call_name(*call))
        }
        ConversationEntry::Prompt { text, .. } => text.clone(),
    }
}

/// How many tokens the next answer may have.
pub fn answer_room(talk: &AgentConversation) -> u32 {
    let cut =
        talk.turns_in_a_row(|entry| matches!(entry, ConversationEntry::Turn { cut_off: true, .. }));
    OUTPUT_TOKENS << cut.min(MOST_DOUBLINGS)
}

/// The id under which a call and its result find each other, and under which the result can be read again.
pub(super) fn call_name(number: u32) -> String {
    format!("call_{number}")
}

fn turn_message(
    talk: &AgentConversation,
    text: &str,
    reasoning: &[ReasoningItem],
    calls: &[ConversationCall],
) -> Message {
    // Providers refuse an empty message.
    let text = if text.trim().is_empty() && calls.is_empty() { "(nothing)" } else { text };
    let calls = calls.iter().map(|call| tool_call(talk, call));
    Message::assistant_turn(text, reasoning.iter().cloned(), calls)
}

fn tool_call(talk: &AgentConversation, call: &ConversationCall) -> ToolCall {
    let arguments = if call.number <= talk.compacted_through {
        shorten_strings(&call.arguments)
    } else {
        call.arguments.clone()
    };
    ToolCall { id: call_name(call.number), name: call.tool.clone(), arguments }
}

fn shorten_strings(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(truncate_text(text, COMPACTED_CHARS)),
        Value::Array(items) => items.iter().map(shorten_strings).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, item)| (name.clone(), shorten_strings(item))).collect()
        }
        other => other.clone(),
    }
}

/// The results of one turn in the order of its calls, whichever ended first.
fn result_messages(
    talk: &AgentConversation,
    results: &[ConversationEntry],
    is_own: &dyn Fn(&str) -> bool,
) -> Vec<Message> {
    let mut numbered: Vec<(u32, Message)> = results
        .iter()
        .filter_map(|entry| match entry {
            ConversationEntry::Result { call, tool, ok, text } => {
                let made =
                    ToolCall { id: call_name(*call), name: tool.clone(), arguments: Value::Null };
                // The person's words are no data of somebody else's.
                let shown =
                    if is_own(tool) { text.clone() } else { shown_result(talk, *call, tool, text) };
                let message = if *ok {
                    Message::tool_result(&made, shown)
                } else {
                    Message::tool_error(&made, shown)
                };
                Some((*call, message))
            }
            _ => None,
        })
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, message)| message).collect()
}

/// A result as the model reads it: framed as data, whole or, once it was compacted, its beginning.
fn shown_result(talk: &AgentConversation, number: u32, tool: &str, text: &str) -> String {
    let label = format!("{} {tool}", call_name(number));
    let size = text.chars().count();
    if number > talk.compacted_through || size <= COMPACTED_CHARS {
        return frame_data(&label, text);
    }
    let beginning = frame_data(&label, &truncate_text(text, COMPACTED_CHARS));
    let again = format!("result.read {{\"id\": \"{}\"}}", call_name(number));
    format!("{beginning}\n(shortened; {size} characters in all, {again} shows them again)")
}

#[cfg(test)]
mod tests {
    use planwright_model::Digest;
    use planwright_model::agent_conversation::ConversationOpening;
    use proptest::prelude::*;

    use super::*;
    use crate::framing::has_whole_frames;

    fn talk_with(results: Vec<String>, compacted_through: u32) -> AgentConversation {
        let mut talk = AgentConversation::new(ConversationOpening {
            task: Digest::from_json(&json!("t")),
            system: "s".into(),
            briefing: "b".into(),
            tools: Vec::new(),
            result_tokens: 100,
            agent: None,
        });
        for (number, text) in (1u32..).zip(results) {
            let call = ConversationCall {
                number,
                tool: "file.read".into(),
                arguments: json!({"path": text}),
                problem: None,
                note: None,
                redacted: false,
            };
            talk.entries.push(ConversationEntry::Turn {
                text: String::new(),
                calls: vec![call],
                reasoning: Vec::new(),
                cut_off: false,
                fault: None,
            });
            let tool = "file.read".to_owned();
            talk.entries.push(ConversationEntry::Result { call: number, tool, ok: true, text });
        }
        talk.compacted_through = compacted_through;
        talk
    }

    proptest! {
        #[test]
        fn no_frame_of_a_result_is_ever_cut(
            texts in prop::collection::vec("([a-z> \n]|<<data |<<end of data |é){0,300}", 1..5),
            through in 0..6u32,
        ) {
            let request = conversation_request(&talk_with(texts.clone(), through), &|_| false);
            let shown: Vec<&String> = request
                .messages
                .iter()
                .flat_map(|message| &message.parts)
                .filter_map(|part| match part {
                    planwright_llm::MessagePart::Result { content, .. } => Some(content),
                    _ => None,
                })
                .collect();
            prop_assert_eq!(shown.len(), texts.len());
            for (number, (content, text)) in (1u32..).zip(shown.into_iter().zip(&texts)) {
                prop_assert!(has_whole_frames(content), "{}", content);
                let whole = number > through || text.chars().count() <= COMPACTED_CHARS;
                prop_assert!(!whole || content.contains(text.trim_end()), "{}", content);
                prop_assert_eq!(content.contains("result.read"), !whole);
            }
        }
    }
}
