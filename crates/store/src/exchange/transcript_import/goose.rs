//! goose: what `goose session export --format json` writes, and what `goose run --output-format stream-json` prints.

use jiff::Timestamp;
use serde_json::Value;

use super::item::{
    ItemContent, ReadTranscript, dollars_at, is_true, list_at, message_text, number_at, text_at,
    text_field, title_of,
};

/// How goose begins a reply that is an error of the provider.
const ERROR_REPLY: &str = "Ran into this error:";

pub(super) fn read_goose(values: &[Value]) -> ReadTranscript {
    let mut read = ReadTranscript::default();
    if let Some(document) = values.iter().find(|value| value.get("conversation").is_some()) {
        read.workspace = text_field(document, "working_dir").map(str::to_owned);
        for message in list_at(document, "/conversation") {
            add_message(&mut read, message);
        }
        add_rest_of_usage(&mut read, document);
    } else {
        read.add(ItemContent::TurnStarted);
        for value in values {
            add_printed_record(&mut read, value);
        }
    }
    read.title = read.items.iter().find_map(|item| match &item.content {
        ItemContent::Prompt(text) => title_of(text),
        _ => None,
    });
    read
}

/// Tokens are told for most replies, dollars only for the whole session.
fn add_rest_of_usage(read: &mut ReadTranscript, document: &Value) {
    let told: u64 = read
        .items
        .iter()
        .map(|item| match item.content {
            ItemContent::Usage { tokens, .. } => tokens,
            _ => 0,
        })
        .sum();
    let total = number_at(document, "/accumulated_usage/total_tokens").unwrap_or_default();
    read.add_usage(total.saturating_sub(told), dollars_at(document, "/accumulated_cost"));
}

fn add_message(read: &mut ReadTranscript, message: &Value) {
    let seconds = message.get("created").and_then(Value::as_i64);
    read.begin_record(seconds.and_then(|at| Timestamp::from_second(at).ok()), None);
    let is_person = text_field(message, "role") == Some("user");
    let is_shown = message.pointer("/metadata/userVisible").and_then(Value::as_bool) != Some(false);
    for part in list_at(message, "/content") {
        add_part(read, part, is_person, is_shown);
    }
    let tokens = number_at(message, "/metadata/usage/totalTokens").unwrap_or_default();
    read.add_usage(tokens, dollars_at(message, "/metadata/usage/cost"));
}

fn add_part(read: &mut ReadTranscript, part: &Value, is_person: bool, is_shown: bool) {
    let id = text_field(part, "id");
    let text = text_field(part, "text").unwrap_or_default();
    match text_field(part, "type").unwrap_or_default() {
        "text" if !is_shown => read.add_context("program", text),
        "text" if is_person => read.add_text(ItemContent::Prompt, text),
        "text" if text.starts_with(ERROR_REPLY) => read.add_error(text),
        "text" => read.add_text(ItemContent::Reply, text),
        "thinking" | "reasoning" => {
            let text = text_field(part, "thinking").unwrap_or(text);
            read.add_text(ItemContent::Thought, text);
        }
        "redactedThinking" => {}
        "toolRequest" | "frontendToolRequest" => {
            let call = part.pointer("/toolCall/value").unwrap_or(&Value::Null);
            let name = text_field(call, "name").unwrap_or("tool");
            read.add_call(id, name, call.get("arguments").cloned().unwrap_or_default());
            if let Some(error) = text_at(part, "/toolCall/error") {
                read.add_outcome(id, error.into(), true);
            }
        }
        "toolResponse" => {
            let result = part.pointer("/toolResult/value").unwrap_or(&Value::Null);
            let code = result.pointer("/structuredContent/exit_code").and_then(Value::as_i64);
            let error = part.pointer("/toolResult/error");
            let failed =
                error.is_some() || is_true(result, "isError") || code.is_some_and(|code| code != 0);
            let text = result.get("content").and_then(message_text).map(Value::String);
            let output = text.or_else(|| error.cloned()).unwrap_or_else(|| result.clone());
            read.add_outcome(id, output, failed);
        }
        "image" => read.add_context("attachment", "an image"),
        "toolConfirmationRequest" | "actionRequired" => {
            read.add_context("program", "it asked whether a tool may be used");
        }
        "systemNotification" | "summarizationRequested" | "contextLengthExceeded" => {
            let message = text_field(part, "msg").unwrap_or("the conversation was shortened");
            read.add_context("summary", message);
        }
        other => read.add_unknown(other, part),
    }
}

fn add_printed_record(read: &mut ReadTranscript, value: &Value) {
    match (text_field(value, "type").unwrap_or_default(), value.get("message")) {
        ("message", Some(message)) => add_message(read, message),
        ("complete", _) => {
            read.add_usage(number_at(value, "/total_tokens").unwrap_or_default(), 0.0);
        }
        ("error", _) => {
            let message = text_field(value, "error").unwrap_or("unknown error");
            read.add_error(message);
        }
        ("notification" | "model_change", _) => {}
        (other, _) => read.add_unknown(other, value),
    }
}
