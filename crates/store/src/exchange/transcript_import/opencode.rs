//! opencode: what `opencode export` writes, and what `opencode run --format json` prints.

use serde_json::Value;

use super::item::{
    ItemContent, ReadTranscript, dollars_at, list_at, millis, number_at, text_at, text_field,
    timestamp_field, title_of,
};
use super::todo::todo_list;

pub(super) fn read_opencode(values: &[Value]) -> ReadTranscript {
    let mut read = ReadTranscript::default();
    let Some(document) = values.iter().find(|value| value.get("messages").is_some()) else {
        add_printed_records(&mut read, values);
        return read;
    };
    read.workspace = text_at(document, "/info/directory").map(str::to_owned);
    for message in list_at(document, "/messages") {
        let info = message.get("info").unwrap_or(&Value::Null);
        read.begin_record(info.pointer("/time/created").and_then(millis), None);
        let is_person = text_field(info, "role") == Some("user");
        for part in list_at(message, "/parts") {
            read.begin_record(part.pointer("/time/start").and_then(millis), None);
            add_part(&mut read, part, is_person);
        }
        if let Some(error) = info.get("error") {
            read.begin_record(info.pointer("/time/completed").and_then(millis), None);
            read.add_error(&error_message(error));
        }
    }
    let prompt = read.items.iter().find_map(|item| match &item.content {
        ItemContent::Prompt(text) => title_of(text),
        _ => None,
    });
    let named = text_at(document, "/info/title").filter(|title| !title.starts_with("New session"));
    read.title = prompt.or_else(|| named.map(str::to_owned));
    read
}

fn error_message(error: &Value) -> String {
    let message = text_at(error, "/data/message").or_else(|| text_field(error, "message"));
    message.or_else(|| text_field(error, "name")).unwrap_or("unknown error").to_owned()
}

fn add_part(read: &mut ReadTranscript, part: &Value, is_person: bool) {
    let text = text_field(part, "text").unwrap_or_default();
    match text_field(part, "type").unwrap_or_default() {
        "text" if is_person && part.get("synthetic").and_then(Value::as_bool) == Some(true) => {
            read.add_context("program", text);
        }
        "text" if is_person => read.add_text(ItemContent::Prompt, text),
        "text" => read.add_text(ItemContent::Reply, text),
        "reasoning" => read.add_text(ItemContent::Thought, text),
        "tool" => add_tool(read, part),
        "step-finish" => {
            let total = number_at(part, "/tokens/total").or_else(|| {
                let parts = ["/tokens/input", "/tokens/output", "/tokens/reasoning"];
                Some(parts.iter().filter_map(|pointer| number_at(part, pointer)).sum())
            });
            read.add_usage(total.unwrap_or_default(), dollars_at(part, "/cost"));
        }
        "file" => read.add_context("attachment", text_field(part, "filename").unwrap_or("a file")),
        "compaction" => read.add_context("summary", "the conversation was shortened"),
        "retry" => {
            let error = part.get("error").map(error_message).unwrap_or_default();
            read.add_context("warning", &error);
        }
        "agent" | "subtask" => {
            let name = text_field(part, "name").or_else(|| text_field(part, "description"));
            read.add_context("program", name.unwrap_or("another agent"));
        }
        // Marks of the program's own: where a step begins, what the files were, what changed (said by the tools).
        "step-start" | "snapshot" | "patch" => {}
        other => read.add_unknown(other, part),
    }
}

/// Adds a call and its outcome, which are one part.
fn add_tool(read: &mut ReadTranscript, part: &Value) {
    let (id, name) = (text_field(part, "callID"), text_field(part, "tool").unwrap_or("tool"));
    let state = part.get("state").unwrap_or(&Value::Null);
    let input = state.get("input").cloned().unwrap_or_default();
    read.begin_record(state.pointer("/time/start").and_then(millis), None);
    let todo = todo_list(name, &input);
    read.add_call(id, name, input.clone());
    if let Some(todo) = todo {
        read.add(ItemContent::Todo(todo));
    }
    let status = text_field(state, "status").unwrap_or_default();
    if !matches!(status, "completed" | "error") {
        return;
    }
    let code = state.pointer("/metadata/exit").and_then(Value::as_i64);
    let failed = status == "error" || code.is_some_and(|code| code != 0);
    let output = state.get("output").or_else(|| state.get("error")).cloned().unwrap_or_default();
    if name == "task" {
        let agent = text_at(state, "/metadata/sessionId").or(id).map(str::to_owned);
        read.begin_record(state.pointer("/time/start").and_then(millis), agent.clone());
        let title = text_field(&input, "description").unwrap_or("subagent").to_owned();
        read.add(ItemContent::SubagentStarted(title));
        read.add_context("user", text_field(&input, "prompt").unwrap_or_default());
        read.begin_record(state.pointer("/time/end").and_then(millis), agent);
        let text = output.as_str().unwrap_or_default();
        let inner = text
            .split_once("<task_result>")
            .and_then(|(_, rest)| rest.split_once("</task_result>"));
        read.add_text(ItemContent::Reply, inner.map_or(text, |(inner, _)| inner.trim()));
    }
    read.begin_record(state.pointer("/time/end").and_then(millis), None);
    read.add_outcome(id, output, failed);
}

fn add_printed_records(read: &mut ReadTranscript, values: &[Value]) {
    let mut is_begun = false;
    for value in values {
        read.begin_record(timestamp_field(value), None);
        if !is_begun {
            read.add(ItemContent::TurnStarted);
            is_begun = true;
        }
        match (text_field(value, "type").unwrap_or_default(), value.get("part")) {
            ("error", _) => {
                let error = value.get("error").map(error_message).unwrap_or_default();
                read.add_error(&error);
            }
            (_, Some(part)) => add_part(read, part, false),
            (other, None) => read.add_unknown(other, value),
        }
    }
}
