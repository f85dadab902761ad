//! Claude Code: the transcripts that it keeps (`~/.claude/projects`), and what `claude -p --output-format stream-json` prints.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::item::{
    ItemContent, ReadTranscript, dollars_at, is_true, list_at, message_text, number_at, text_at,
    text_field, timestamp_field, title_of,
};
use super::todo::{todo_list, todo_status};
use planwright_model::{AgentTodo, AgentTodoStatus};

/// Records that only the program itself needs: its queue, its modes, its copies of files, its titles for lists.
const BOOKKEEPING: [&str; 16] = [
    "agent-name",
    "agent-setting",
    "bridge-session",
    "control_request",
    "control_response",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "rate_limit_event",
    "stream_event",
    "worktree-state",
];

pub(super) fn read_claude(values: &[Value]) -> ReadTranscript {
    let mut reader = ClaudeReader::default();
    for value in values {
        reader.add_record(value);
    }
    let first = reader.prompt.as_deref().and_then(title_of);
    reader.read.title = reader.title.take().or(first).or_else(|| reader.summary.take());
    reader.read
}

/// Reads the transcript of a subagent, which is in a file of its own; `about` says who asked for it.
pub(super) fn read_claude_subagent(values: &[Value], name: &str, about: &Value) -> ReadTranscript {
    let key = text_field(about, "toolUseId").unwrap_or(name).to_owned();
    let mut reader = ClaudeReader { only: Some(key.clone()), ..ClaudeReader::default() };
    for value in values {
        reader.add_record(value);
    }
    let title = text_field(about, "description").map(str::to_owned);
    let title = title.or_else(|| reader.prompt.as_deref().and_then(title_of));
    if let Some(first) = reader.read.items.first().cloned() {
        let content = ItemContent::SubagentStarted(title.unwrap_or_else(|| name.to_owned()));
        reader.read.items.insert(0, super::item::TranscriptItem { content, ..first });
    }
    reader.read
}

#[derive(Debug, Default)]
struct ClaudeReader {
    read: ReadTranscript,
    /// All records belong to this subagent.
    only: Option<String>,
    prompt: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    /// By the id of a record, the subagent that it belongs to: older versions keep them in the same file.
    side: HashMap<String, String>,
    /// Messages whose tokens were counted, by id and usage: one message is several records.
    counted: HashSet<(String, String)>,
    last_message: Option<String>,
    todo: Vec<AgentTodo>,
}

impl ClaudeReader {
    fn add_record(&mut self, value: &Value) {
        let subagent = self.find_subagent(value);
        self.read.begin_record(timestamp_field(value), subagent);
        if let Some(cwd) = text_field(value, "cwd") {
            self.read.workspace.get_or_insert_with(|| cwd.to_owned());
        }
        let kind = text_field(value, "type").unwrap_or("record");
        match (kind, value.get("message")) {
            ("user", Some(message)) => self.add_user(value, message),
            ("assistant", Some(message)) => self.add_assistant(value, message),
            ("system", _) => self.add_system(value),
            ("result", _) => self.add_result(value),
            ("summary", _) => {
                let text = text_field(value, "summary").unwrap_or_default();
                self.summary = Some(text.to_owned());
                self.read.add_context("summary", text);
            }
            ("custom-title" | "ai-title", _) => {
                let title =
                    text_field(value, "customTitle").or_else(|| text_field(value, "aiTitle"));
                self.title = title.map(str::to_owned).or(self.title.take());
            }
            ("attachment", _) => {
                if let Some(file) = text_at(value, "/attachment/filename") {
                    self.read.add_context("attachment", file);
                }
            }
            (kind, _) if BOOKKEEPING.contains(&kind) => {}
            (kind, _) => self.read.add_unknown(kind, value),
        }
    }

    fn find_subagent(&mut self, value: &Value) -> Option<String> {
        if self.only.is_some() {
            return self.only.clone();
        }
        if let Some(call) = text_field(value, "parent_tool_use_id") {
            return Some(call.to_owned());
        }
        if !is_true(value, "isSidechain") {
            return None;
        }
        let uuid = text_field(value, "uuid")?.to_owned();
        let parent = text_field(value, "parentUuid").and_then(|parent| self.side.get(parent));
        let known = parent.cloned();
        let key = known.clone().unwrap_or_else(|| uuid.clone());
        if known.is_none() {
            let prompt = value.pointer("/message/content").and_then(message_text);
            let title = prompt.as_deref().and_then(title_of).unwrap_or_else(|| "subagent".into());
            self.read.begin_record(timestamp_field(value), Some(key.clone()));
            self.read.add(ItemContent::SubagentStarted(title));
        }
        self.side.insert(uuid, key.clone());
        Some(key)
    }

    fn add_user(&mut self, value: &Value, message: &Value) {
        self.last_message = None;
        let content = message.get("content").unwrap_or(&Value::Null);
        for part in content.as_array().map_or(&[][..], Vec::as_slice) {
            match text_field(part, "type") {
                Some("tool_result") => {
                    let content = part.get("content").cloned().unwrap_or_default();
                    let result = message_text(&content).map_or(content, Value::String);
                    let id = text_field(part, "tool_use_id");
                    self.read.add_outcome(id, result, is_true(part, "is_error"));
                }
                Some("text") => {}
                Some("image" | "document") => {
                    self.read.add_context("attachment", "an image or document");
                }
                other => self.read.add_unknown(other.unwrap_or("part"), part),
            }
        }
        let Some(text) = message_text(content) else { return };
        if is_true(value, "isCompactSummary") {
            self.read.add_context("summary", &text);
        } else if is_true(value, "isMeta") || text.trim_start().starts_with('<') {
            self.read.add_context("program", &text);
        } else if text.starts_with("[Request interrupted by user") {
            self.read.add_error("the person interrupted it");
        } else if self.read_is_about_subagent(value) {
            if self.only.is_some() {
                self.prompt.get_or_insert_with(|| text.clone());
            }
            self.read.add_context("user", &text);
        } else {
            self.prompt.get_or_insert_with(|| text.clone());
            self.read.add_text(ItemContent::Prompt, &text);
        }
    }

    fn read_is_about_subagent(&self, value: &Value) -> bool {
        self.only.is_some()
            || is_true(value, "isSidechain")
            || text_field(value, "parent_tool_use_id").is_some()
    }

    fn add_assistant(&mut self, value: &Value, message: &Value) {
        let text = message.get("content").and_then(message_text).unwrap_or_default();
        if is_true(value, "isApiErrorMessage") {
            return self.read.add_error(&text);
        }
        if text_field(message, "model") == Some("<synthetic>") {
            return self.read.add_context("program", &text);
        }
        self.add_usage(message);
        for part in list_at(message, "/content") {
            match text_field(part, "type") {
                Some("text") => {
                    let text = text_field(part, "text").unwrap_or_default();
                    self.read.add_text(ItemContent::Reply, text);
                }
                Some("thinking") => {
                    let text = text_field(part, "thinking").unwrap_or_default();
                    self.read.add_text(ItemContent::Thought, text);
                }
                Some("redacted_thinking") => {}
                Some("tool_use" | "server_tool_use") => self.add_call(part),
                Some(kind) if kind.ends_with("_tool_result") => {
                    let content = part.get("content").cloned().unwrap_or_default();
                    self.read.add_outcome(text_field(part, "tool_use_id"), content, false);
                }
                other => self.read.add_unknown(other.unwrap_or("part"), part),
            }
        }
    }

    /// One message is written as one record for each of its parts, all with the tokens of the whole.
    fn add_usage(&mut self, message: &Value) {
        let id = text_field(message, "id").unwrap_or_default().to_owned();
        let Some(usage) = message.get("usage") else { return };
        let is_next_part = self.last_message.as_ref() == Some(&id);
        self.last_message = Some(id.clone());
        if !self.counted.insert((id, usage.to_string())) || is_next_part {
            return;
        }
        let parts = [
            "/input_tokens",
            "/cache_creation_input_tokens",
            "/cache_read_input_tokens",
            "/output_tokens",
        ];
        let tokens = parts.iter().filter_map(|pointer| number_at(usage, pointer)).sum();
        self.read.add_usage(tokens, 0.0);
    }

    fn add_call(&mut self, part: &Value) {
        let (id, name) = (text_field(part, "id"), text_field(part, "name").unwrap_or("tool"));
        let input = part.get("input").cloned().unwrap_or_default();
        let todo = self.next_todo(name, &input);
        self.read.add_call(id, name, input);
        if let Some(todo) = todo {
            self.read.add(ItemContent::Todo(todo));
        }
    }

    /// The to-do list after a call: set as a whole, or task by task.
    fn next_todo(&mut self, tool: &str, input: &Value) -> Option<Vec<AgentTodo>> {
        match tool {
            "TaskCreate" => {
                let text = text_field(input, "subject")?.to_owned();
                self.todo.push(AgentTodo { text, status: AgentTodoStatus::Open });
            }
            "TaskUpdate" => {
                let number: usize = text_field(input, "taskId")?.parse().ok()?;
                let item = self.todo.get_mut(number.checked_sub(1)?)?;
                item.status = todo_status(Some(text_field(input, "status")?));
            }
            _ => self.todo = todo_list(tool, input)?,
        }
        Some(self.todo.clone())
    }

    fn add_system(&mut self, value: &Value) {
        let content = text_field(value, "content").unwrap_or_default();
        match text_field(value, "subtype").unwrap_or_default() {
            "init" => {
                let words = ["claude_code_version", "model"].map(|name| text_field(value, name));
                let [version, model] = words.map(Option::unwrap_or_default);
                self.read.add_context("program", &format!("Claude Code {version}, model {model}"));
                self.read.add(ItemContent::TurnStarted);
            }
            "api_error" => {
                let message = text_at(value, "/error/message").unwrap_or("the request failed");
                self.read.add_context("warning", message);
            }
            "task_started" => {
                if let Some(call) = text_field(value, "tool_use_id") {
                    let title = text_field(value, "description").unwrap_or("subagent").to_owned();
                    self.read.begin_record(timestamp_field(value), Some(call.to_owned()));
                    self.read.add(ItemContent::SubagentStarted(title));
                }
            }
            _ => self.read.add_context("program", content),
        }
    }

    /// Adds how a printed run ended: what it cost, and its error.
    fn add_result(&mut self, value: &Value) {
        self.read.add_usage(0, dollars_at(value, "/total_cost_usd"));
        if is_true(value, "is_error") {
            let text = text_field(value, "result").or_else(|| text_field(value, "subtype"));
            self.read.add_error(text.unwrap_or("the run failed"));
        }
        if let Some(denials) = value.get("permission_denials").filter(|list| **list != json!([])) {
            self.read.add_context("program", &format!("refused: {denials}"));
        }
    }
}
