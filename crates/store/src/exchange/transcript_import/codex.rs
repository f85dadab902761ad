//! Codex CLI: the rollouts that it keeps (`~/.codex/sessions`), and what `codex exec --json` prints.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::item::{
    ItemContent, ReadTranscript, list_at, message_text, number_at, text_at, text_field,
    timestamp_field, title_of,
};
use super::todo::{todo_list, todo_status};
use planwright_model::AgentTodo;

/// Events that repeat what other records say, or say what only concerns the program itself.
const BOOKKEEPING: [&str; 24] = [
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "entered_review_mode",
    "exec_approval_request",
    "exec_command_begin",
    "exited_review_mode",
    "item_started",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "patch_apply_begin",
    "patch_apply_end",
    "session_configured",
    "task_started",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "token_count",
    "turn_diff",
    "user_message",
    "web_search_end",
];

pub(super) fn read_codex(values: &[Value]) -> ReadTranscript {
    let mut reader = CodexReader { exit_codes: exit_codes(values), ..CodexReader::default() };
    reader.has_usage_records =
        values.iter().any(|value| text_field(value, "type") == Some("token_usage_record"));
    for value in values {
        reader.read.begin_record(timestamp_field(value), None);
        reader.add_record(value);
    }
    reader.read.title = reader.prompt.as_deref().and_then(title_of);
    reader.read
}

#[derive(Debug, Default)]
struct CodexReader {
    read: ReadTranscript,
    /// The first thing that a person asked for.
    prompt: Option<String>,
    /// How commands ended, by their call.
    exit_codes: HashMap<String, i64>,
    has_usage_records: bool,
}

/// The exit codes that events tell, which come before the result that the model was given.
fn exit_codes(values: &[Value]) -> HashMap<String, i64> {
    let code = |value: &Value| {
        let payload = value.get("payload")?;
        let item = payload.get("item").unwrap_or(payload);
        let id = text_field(item, "call_id").or_else(|| text_field(item, "id"))?;
        Some((id.to_owned(), item.get("exit_code")?.as_i64()?))
    };
    values.iter().filter_map(code).collect()
}

impl CodexReader {
    fn add_record(&mut self, value: &Value) {
        let kind = text_field(value, "type").unwrap_or("header");
        if let Some(cwd) = text_at(value, "/payload/cwd").or_else(|| text_field(value, "cwd")) {
            self.read.workspace.get_or_insert_with(|| cwd.to_owned());
        }
        match (kind, value.get("payload")) {
            ("response_item", Some(payload)) => self.add_item(payload, value),
            ("event_msg", Some(payload)) => self.add_event(payload, value),
            ("token_usage_record", Some(payload)) => {
                let tokens = number_at(payload, "/usage/total_tokens").unwrap_or_default();
                self.read.add_usage(tokens, 0.0);
            }
            ("session_meta" | "header", payload) => {
                let version = payload.and_then(|payload| text_field(payload, "cli_version"));
                let text = version.map_or_else(String::new, |version| format!("Codex {version}"));
                self.read.add_context("program", &text);
            }
            ("compacted", Some(payload)) => {
                self.read
                    .add_context("summary", text_field(payload, "message").unwrap_or_default());
            }
            ("turn_context", Some(payload)) => {
                let words = ["model", "approval_policy"].map(|name| text_field(payload, name));
                let sandbox = text_at(payload, "/sandbox_policy/type");
                let [model, approval] = words.map(Option::unwrap_or_default);
                let sandbox = sandbox.unwrap_or("unknown");
                let text = format!("model {model}, approvals {approval}, sandbox {sandbox}");
                self.read.add_context("program", &text);
            }
            // The state of the workspace as the program sees it, and marks for its own undo.
            ("world_state" | "ghost_snapshot", _) => {}
            (kind, None) if self.add_printed(kind, value) => {}
            (_, None) => self.add_item(value, value),
            (kind, Some(_)) => self.read.add_unknown(kind, value),
        }
    }

    /// Adds an item of the conversation with the model.
    fn add_item(&mut self, item: &Value, record: &Value) {
        let id = text_field(item, "call_id");
        match text_field(item, "type").unwrap_or_default() {
            "message" => self.add_message(item, record),
            "reasoning" => {
                // What is encrypted has no text; the record says only that there was some.
                let text = ["summary", "content"]
                    .into_iter()
                    .find_map(|name| item.get(name).and_then(message_text));
                self.read.add_text(ItemContent::Thought, &text.unwrap_or_default());
            }
            "function_call" | "custom_tool_call" => {
                let name = text_field(item, "name").unwrap_or("tool");
                let input = text_field(item, "arguments").or_else(|| text_field(item, "input"));
                let input = input.map(|input| serde_json::from_str(input).unwrap_or(json!(input)));
                let input = input.unwrap_or_default();
                let todo = todo_list(name, &input);
                self.read.add_call(id, name, input);
                if let Some(todo) = todo {
                    self.read.add(ItemContent::Todo(todo));
                }
            }
            "local_shell_call" => {
                self.read.add_call(id, "shell", item.get("action").cloned().unwrap_or_default());
            }
            "web_search_call" => {
                let input = item.get("action").cloned().unwrap_or_default();
                self.read.add_call(id, "web_search", input);
            }
            "function_call_output" | "custom_tool_call_output" => self.add_output(id, item),
            "ghost_snapshot" => {}
            other => self.read.add_unknown(other, record),
        }
    }

    fn add_message(&mut self, item: &Value, record: &Value) {
        let Some(text) = item.get("content").and_then(message_text) else {
            return self.read.add_unknown("message", record);
        };
        match text_field(item, "role") {
            Some("assistant") => self.read.add_text(ItemContent::Reply, &text),
            Some("user") if !is_context(&text) => {
                self.prompt.get_or_insert_with(|| text.clone());
                self.read.add_text(ItemContent::Prompt, &text);
            }
            role => self.read.add_context(role.unwrap_or("user"), &text),
        }
    }

    fn add_output(&mut self, id: Option<&str>, item: &Value) {
        let output = item.get("output").cloned().unwrap_or_default();
        // Older versions wrap the text of a command in JSON, with its exit code.
        let inner = output.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let inner = inner.filter(|inner| inner.get("metadata").is_some());
        let code = inner.as_ref().and_then(|inner| inner.pointer("/metadata/exit_code")?.as_i64());
        let known = id.and_then(|id| self.exit_codes.get(id).copied());
        let said = output.as_str().and_then(stated_exit_code);
        let failed = known.or(code).or(said).is_some_and(|code| code != 0)
            || output.get("success").and_then(Value::as_bool) == Some(false);
        let text = inner.as_ref().and_then(|inner| inner.get("output")).cloned();
        let content = output.get("content").cloned();
        let output = text.or(content).unwrap_or(output);
        let output = match &output {
            Value::String(text) => json!(without_command_head(text)),
            other => other.clone(),
        };
        self.read.add_outcome(id, output, failed);
    }

    fn add_event(&mut self, payload: &Value, record: &Value) {
        let kind = text_field(payload, "type").unwrap_or_default();
        match kind {
            "task_complete" => {
                if let Some(message) = text_at(payload, "/error/message") {
                    self.read.add_error(message);
                }
            }
            "error" | "stream_error" | "warning" => {
                let message = text_field(payload, "message").unwrap_or(kind);
                if kind == "error" {
                    self.read.add_error(message);
                } else {
                    self.read.add_context("warning", message);
                }
            }
            "turn_aborted" => {
                let reason = text_field(payload, "reason").unwrap_or("unknown reason");
                self.read.add_error(&format!("the turn was stopped: {reason}"));
            }
            "context_compacted" => {
                self.read.add_context("summary", "the conversation was shortened");
            }
            "token_count" if !self.has_usage_records => {
                let tokens = number_at(payload, "/info/last_token_usage/total_tokens");
                self.read.add_usage(tokens.unwrap_or_default(), 0.0);
            }
            "plan_update" => self.add_plan(list_at(payload, "/plan"), "step"),
            // What they say is an item of the conversation too; exit codes were taken before.
            "item_completed" | "exec_command_end" => {}
            known if BOOKKEEPING.contains(&known) => {}
            other => self.read.add_unknown(other, record),
        }
    }

    fn add_plan(&mut self, items: &[Value], words: &str) {
        let item = |value: &Value| {
            let text = text_field(value, words)?.to_owned();
            let done = value.get("completed").and_then(Value::as_bool) == Some(true);
            let word = if done { Some("completed") } else { text_field(value, "status") };
            Some(AgentTodo { text, status: todo_status(word) })
        };
        self.read.add(ItemContent::Todo(items.iter().filter_map(item).collect()));
    }

    /// Adds a record of `codex exec --json`; false if it is none.
    fn add_printed(&mut self, kind: &str, value: &Value) -> bool {
        match kind {
            "thread.started" | "item.started" | "item.updated" => {}
            "turn.started" => self.read.add(ItemContent::TurnStarted),
            "turn.completed" => {
                let tokens = ["/usage/input_tokens", "/usage/output_tokens"]
                    .map(|pointer| number_at(value, pointer).unwrap_or_default());
                self.read.add_usage(tokens.iter().sum(), 0.0);
            }
            "turn.failed" => {
                let message = text_at(value, "/error/message").unwrap_or("the turn failed");
                self.read.add_error(message);
            }
            "error" => {
                let message = text_field(value, "message").unwrap_or("unknown error");
                self.read.add_error(message);
            }
            "item.completed" => {
                let item = value.get("item").unwrap_or(&Value::Null);
                self.add_printed_item(item, value);
            }
            _ => return false,
        }
        true
    }

    fn add_printed_item(&mut self, item: &Value, record: &Value) {
        let id = text_field(item, "id");
        let text = text_field(item, "text").unwrap_or_default();
        let failed = text_field(item, "status") == Some("failed");
        match text_field(item, "type").unwrap_or_default() {
            "agent_message" => self.read.add_text(ItemContent::Reply, text),
            "reasoning" => self.read.add_text(ItemContent::Thought, text),
            "command_execution" => {
                let command = text_field(item, "command").unwrap_or_default();
                self.read.add_call(id, "shell", json!({ "command": command }));
                let output = item.get("aggregated_output").cloned().unwrap_or_default();
                self.read.add_outcome(id, output, failed);
            }
            "file_change" => {
                let changes = item.get("changes").cloned().unwrap_or_default();
                self.read.add_call(id, "file_change", json!({ "changes": changes }));
                let status = item.get("status").cloned().unwrap_or_default();
                self.read.add_outcome(id, status, failed);
            }
            "mcp_tool_call" | "collab_tool_call" => {
                let tool = text_field(item, "tool").unwrap_or("tool");
                self.read.add_call(id, tool, item.get("arguments").cloned().unwrap_or_default());
                let outcome = item.get("result").filter(|result| !result.is_null());
                let outcome = outcome.or_else(|| item.get("error")).cloned().unwrap_or_default();
                self.read.add_outcome(id, outcome, failed);
            }
            "web_search" => {
                let query = item.get("query").cloned().unwrap_or_default();
                self.read.add_call(id, "web_search", json!({ "query": query }));
            }
            "todo_list" => self.add_plan(list_at(item, "/items"), "text"),
            "error" => {
                // Not the end of the turn: that is a record of its own.
                self.read.add_context("warning", text_field(item, "message").unwrap_or_default());
            }
            other => self.read.add_unknown(other, record),
        }
    }
}

/// Whether the program itself put this into the mouth of the user.
fn is_context(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('<') || text.starts_with("# AGENTS.md instructions")
}

/// The output of a command without what the program tells the model about it, except for an exit code that is not zero.
fn without_command_head(text: &str) -> String {
    let is_head = text.starts_with("Chunk ID: ") || text.starts_with("Wall time: ");
    match text.split_once("\nOutput:\n").filter(|_| is_head) {
        Some((head, output)) => match stated_exit_code(head).filter(|code| *code != 0) {
            Some(code) => format!("{output}\nexit code {code}"),
            None => output.to_owned(),
        },
        None => text.to_owned(),
    }
}

/// "Process exited with code 3" before the output.
fn stated_exit_code(text: &str) -> Option<i64> {
    let head = text.split("\nOutput:").next()?;
    let line = head.lines().find_map(|line| {
        line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))
    });
    line?.trim().parse().ok()
}
