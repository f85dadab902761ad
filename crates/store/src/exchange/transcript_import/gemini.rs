//! Gemini CLI: the chats that it keeps (`~/.gemini/tmp/PROJECT/chats`), and what `--output-format stream-json` prints.

use std::collections::HashMap;

use serde_json::Value;

use super::item::{
    ItemContent, ReadTranscript, TranscriptItem, list_at, message_text, number_at, text_at,
    text_field, timestamp_field, title_of,
};
use super::todo::todo_list;

pub(super) fn read_gemini(values: &[Value]) -> ReadTranscript {
    let mut read = ReadTranscript::default();
    if values.iter().any(|value| text_field(value, "type") == Some("init")) {
        add_printed_records(&mut read, values);
    } else {
        add_chat(&mut read, values, None);
    }
    let prompt = read.items.iter().find_map(|item| match &item.content {
        ItemContent::Prompt(text) => title_of(text),
        _ => None,
    });
    read.title = prompt;
    read
}

/// Reads the chat of a subagent, which is in a file of its own.
pub(super) fn read_gemini_subagent(values: &[Value], name: &str) -> ReadTranscript {
    let mut read = ReadTranscript::default();
    add_chat(&mut read, values, Some(name));
    let title = read.items.iter().find_map(|item| match &item.content {
        ItemContent::Context { role, text } if role == "user" => title_of(text),
        _ => None,
    });
    if let Some(first) = read.items.first().cloned() {
        let content = ItemContent::SubagentStarted(title.unwrap_or_else(|| "subagent".to_owned()));
        read.items.insert(0, TranscriptItem { content, ..first });
    }
    read
}

/// The messages of a chat. A message is written again when it changes, and all of them when a chat is resumed: the last
/// version with the most in it counts, at its first place.
fn chat_messages(values: &[Value]) -> Vec<&Value> {
    let mut order: Vec<&Value> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for value in values {
        let whole = list_at(value, "/messages").iter();
        let listed = whole.chain(list_at(value, "/$set/messages"));
        let (again, one) = (listed.map(|message| (message, true)), Some((value, false)));
        for (message, is_copy) in again.chain(one) {
            let Some(id) = text_field(message, "id").filter(|_| message.get("type").is_some())
            else {
                continue;
            };
            match places.get(id) {
                // A copy is what the model is sent; the record itself has the results.
                Some(_) if is_copy => {}
                Some(place) => order[*place] = message,
                None => {
                    places.insert(id, order.len());
                    order.push(message);
                }
            }
        }
    }
    order
}

fn add_chat(read: &mut ReadTranscript, values: &[Value], subagent: Option<&str>) {
    let owner = || subagent.map(str::to_owned);
    for value in values {
        if let Some(dir) = list_at(value, "/directories").first().and_then(Value::as_str) {
            read.workspace.get_or_insert_with(|| dir.to_owned());
        }
        let known = ["projectHash", "$set", "$rewindTo", "messages", "id"];
        if !known.iter().any(|name| value.get(name).is_some()) {
            read.begin_record(timestamp_field(value), owner());
            read.add_unknown(text_field(value, "type").unwrap_or("record"), value);
        }
    }
    for message in chat_messages(values) {
        read.begin_record(timestamp_field(message), owner());
        add_message(read, message, subagent.is_some());
    }
}

fn add_message(read: &mut ReadTranscript, message: &Value, is_subagent: bool) {
    let text = message.get("content").and_then(message_text).unwrap_or_default();
    match text_field(message, "type").unwrap_or_default() {
        "user" => {
            if let Some(dir) = stated_workspace(&text) {
                read.workspace.get_or_insert(dir);
            }
            if text.trim_start().starts_with('<') {
                read.add_context("program", &text);
            } else if is_subagent {
                read.add_context("user", &text);
            } else {
                read.add_text(ItemContent::Prompt, &text);
            }
        }
        "gemini" => {
            for thought in list_at(message, "/thoughts") {
                let words = ["subject", "description"].map(|name| text_field(thought, name));
                let words: Vec<&str> = words.into_iter().flatten().collect();
                read.add_text(ItemContent::Thought, &words.join(": "));
            }
            read.add_text(ItemContent::Reply, &text);
            let tokens = number_at(message, "/tokens/total").unwrap_or_default();
            read.add_usage(tokens, 0.0);
            for call in list_at(message, "/toolCalls") {
                add_tool_call(read, call);
            }
        }
        "error" => read.add_error(&text),
        "info" | "warning" => read.add_context("program", &text),
        other => read.add_unknown(other, message),
    }
}

/// "- **Workspace Directories:**" in what the program tells the model, one line each below it.
fn stated_workspace(text: &str) -> Option<String> {
    let rest = text.split("**Workspace Directories:**").nth(1)?;
    let line = rest.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.strip_prefix("- ")?.to_owned())
}

fn add_tool_call(read: &mut ReadTranscript, call: &Value) {
    let (id, name) = (text_field(call, "id"), text_field(call, "name").unwrap_or("tool"));
    let input = call.get("args").cloned().unwrap_or_default();
    let todo = todo_list(name, &input);
    read.add_call(id, name, input);
    if let Some(todo) = todo {
        read.add(ItemContent::Todo(todo));
    }
    let response = list_at(call, "/result").first();
    let output = response.and_then(|part| {
        let response = part.pointer("/functionResponse/response")?;
        Some(response.get("output").or_else(|| response.get("error")).unwrap_or(response))
    });
    let shown = call.get("resultDisplay").filter(|shown| shown.is_string());
    let failed = matches!(text_field(call, "status"), Some("error" | "cancelled"))
        || output.and_then(Value::as_str).is_some_and(states_failure);
    // What the person saw says less about the program's own workings than what the model was told.
    let output = shown.or(output).cloned().unwrap_or_default();
    if let Some(at) = timestamp_field(call) {
        let owner = read.items.last().and_then(|item| item.subagent.clone());
        read.begin_record(Some(at), owner);
    }
    read.add_outcome(id, output, failed);
}

/// "Exit Code: 3" in what the model is told about a command.
fn states_failure(text: &str) -> bool {
    let code = text.lines().find_map(|line| line.strip_prefix("Exit Code: "));
    code.is_some_and(|code| code.trim() != "0")
}

fn add_printed_records(read: &mut ReadTranscript, values: &[Value]) {
    // A reply comes in pieces.
    let mut reply = String::new();
    for value in values {
        let kind = text_field(value, "type").unwrap_or_default();
        let is_reply = kind == "message" && text_field(value, "role") == Some("assistant");
        if !is_reply {
            read.add_text(ItemContent::Reply, &std::mem::take(&mut reply));
        }
        read.begin_record(timestamp_field(value), None);
        let id = text_field(value, "tool_id");
        match kind {
            "init" => {
                let model = text_field(value, "model").unwrap_or("unknown");
                read.add_context("program", &format!("Gemini CLI, model {model}"));
            }
            "message" if is_reply => {
                reply.push_str(text_field(value, "content").unwrap_or_default());
            }
            "message" => {
                let text = text_field(value, "content").unwrap_or_default();
                read.add_text(ItemContent::Prompt, text);
            }
            "tool_use" => {
                let name = text_field(value, "tool_name").unwrap_or("tool");
                let input = value.get("parameters").cloned().unwrap_or_default();
                let todo = todo_list(name, &input);
                read.add_call(id, name, input);
                if let Some(todo) = todo {
                    read.add(ItemContent::Todo(todo));
                }
            }
            "tool_result" => {
                let output =
                    ["output", "error", "status"].into_iter().find_map(|name| value.get(name));
                let failed = text_field(value, "status") == Some("error");
                read.add_outcome(id, output.cloned().unwrap_or_default(), failed);
            }
            "error" => {
                let message = text_field(value, "message").unwrap_or("unknown error");
                read.add_context("warning", message);
            }
            "result" => {
                let tokens = number_at(value, "/stats/total_tokens").unwrap_or_default();
                read.add_usage(tokens, 0.0);
                if let Some(message) = text_at(value, "/error/message") {
                    read.add_error(message);
                }
            }
            other => read.add_unknown(other, value),
        }
    }
    read.add_text(ItemContent::Reply, &reply);
}
