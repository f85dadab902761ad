//! Converts transcripts of other programs to sessions: Codex CLI rollouts and Claude Code transcripts.
//!
//! Unrecognized records are kept as unknown events and displayed as such. Secrets are redacted on import.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::import_limits::{BoundedLines, ImportError, MAX_VALUES};
use super::secret_policy::redact_value;
use planwright_model::event::{
    AgentEvent, Event, FORMAT, PlanEvent, Record, RunCounts, RunEvent, SessionEvent, TaskEvent,
};
use planwright_model::{
    Category, ExecutionFailure, Plan, ReActStep, ReActTrace, Seq, StepAction, TaskId, TaskNode,
};
use planwright_plan::graph::resolve_graph;
use planwright_text::Redactor;

/// The program that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptProgram {
    Codex,
    ClaudeCode,
}

impl TranscriptProgram {
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::ClaudeCode => "claude-code",
        }
    }

    /// Detects from one line which program wrote it.
    pub fn detect_from_line(value: &Value) -> Option<Self> {
        let kind = value.get("type").and_then(Value::as_str);
        let has = |name: &str| value.get(name).is_some();
        if has("sessionId")
            || (has("uuid") && has("message"))
            || kind == Some("file-history-snapshot")
        {
            return Some(Self::ClaudeCode);
        }
        let codex = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
        let bare = ["message", "reasoning", "function_call", "function_call_output"];
        let known = kind.is_some_and(|kind| codex.contains(&kind) || bare.contains(&kind));
        (known || (has("instructions") && has("timestamp"))).then_some(Self::Codex)
    }
}

/// The longest transcript that is read.
const MAX_TRANSCRIPT_BYTES: u64 = 64 << 20;

/// Reads a transcript and converts it to a session.
pub fn read_transcript(
    path: &Path,
    redactor: &Redactor,
) -> Result<(TranscriptProgram, Vec<Record>), ImportError> {
    let mut lines = BoundedLines::open(path)?;
    let mut values = Vec::new();
    let (mut program, mut value_count) = (None, 0);
    while let Some(text) = lines.next_line()? {
        if text.trim().is_empty() {
            continue;
        }
        let mut value: Value = serde_json::from_str(&text).map_err(|error| {
            ImportError::at_line(lines.line_number(), format!("not valid JSON: {error}"))
        })?;
        redact_value(redactor, &mut value);
        program = program.or_else(|| TranscriptProgram::detect_from_line(&value));
        values.push(value);
        // All of it is in memory at once, because the subject of a transcript may be anywhere in it.
        value_count += lines.value_count();
        if value_count > MAX_VALUES {
            let what = "the number of values in a transcript".to_owned();
            return Err(ImportError::TooMuch { what, limit: MAX_VALUES as u64 });
        }
        if lines.bytes_read() > MAX_TRANSCRIPT_BYTES {
            let what = "the length of a transcript".to_owned();
            return Err(ImportError::TooMuch { what, limit: MAX_TRANSCRIPT_BYTES });
        }
    }
    let Some(program) = program else {
        let message = "this is neither an export of Planwright nor a transcript of a known program";
        return Err(ImportError::Other(message.to_owned()));
    };
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let title = first_user_line(program, &values).unwrap_or(stem);
    let workspace = values.iter().find_map(find_workspace).unwrap_or_default();
    let mut transcript = ImportedTranscript::new(program.name(), &title, &workspace);
    let task = TaskId::from("transcript");
    transcript.record_opening(&[(task.clone(), title.clone())]);
    transcript.record_task_start(&task, values.iter().find_map(timestamp_field));
    for value in &values {
        match program {
            TranscriptProgram::Codex => add_codex_record(&mut transcript, &task, value),
            TranscriptProgram::ClaudeCode => add_claude_record(&mut transcript, &task, value),
        }
    }
    transcript.record_task_end(&task, None);
    Ok((program, transcript.finish()?))
}

fn text_field<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

fn timestamp_field(value: &Value) -> Option<Timestamp> {
    text_field(value, "timestamp")?.parse().ok()
}

fn find_workspace(value: &Value) -> Option<String> {
    text_field(value, "cwd").or_else(|| text_field(value.get("payload")?, "cwd")).map(str::to_owned)
}

/// The first line of the user's first message, used as a title.
fn first_user_line(program: TranscriptProgram, values: &[Value]) -> Option<String> {
    let first_text = values.iter().find_map(|value| {
        let message = match program {
            TranscriptProgram::Codex => value.get("payload").unwrap_or(value),
            TranscriptProgram::ClaudeCode => value.get("message")?,
        };
        (text_field(message, "role") == Some("user"))
            .then(|| message_text(message.get("content")?))
            .flatten()
    })?;
    let line = first_text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('<'))?;
    Some(line.chars().take(80).collect())
}

/// The text of a message: a string, or a list of parts with texts.
fn message_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| text_field(part, "text")).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// Adds a record of a Codex rollout: a `response_item` in an envelope, or bare in older files.
fn add_codex_record(transcript: &mut ImportedTranscript, task: &TaskId, value: &Value) {
    transcript.advance_clock(timestamp_field(value));
    let kind = text_field(value, "type").unwrap_or("header");
    let item = match (kind, value.get("payload")) {
        ("response_item", Some(payload)) => payload,
        ("session_meta" | "event_msg" | "turn_context" | "compacted" | "header", _) => {
            return transcript.record_unknown("codex", kind, value);
        }
        _ => value,
    };
    let step = match text_field(item, "type").unwrap_or_default() {
        "message" => {
            let Some(text) = item.get("content").and_then(message_text) else {
                return transcript.record_unknown("codex", "message", value);
            };
            match text_field(item, "role") {
                Some("assistant") => ImportedStep::from_thought(text),
                role => ImportedStep::from_message(role.unwrap_or("user"), text),
            }
        }
        "reasoning" => match item
            .get("summary")
            .and_then(message_text)
            .or_else(|| item.get("content").and_then(message_text))
        {
            Some(text) => ImportedStep::from_thought(text),
            None => return transcript.record_unknown("codex", "reasoning", value),
        },
        "function_call" | "custom_tool_call" => {
            let name = text_field(item, "name").unwrap_or("tool");
            let input = text_field(item, "arguments").or_else(|| text_field(item, "input"));
            let parsed = input.map(|input| serde_json::from_str(input).unwrap_or(json!(input)));
            transcript.note_tool_call(text_field(item, "call_id"), name);
            ImportedStep::from_tool_call(name, parsed.unwrap_or(Value::Null))
        }
        "local_shell_call" => {
            transcript.note_tool_call(text_field(item, "call_id"), "shell");
            ImportedStep::from_tool_call("shell", item.get("action").cloned().unwrap_or_default())
        }
        "function_call_output" | "custom_tool_call_output" => {
            let tool = transcript.take_called_tool(text_field(item, "call_id"));
            ImportedStep::from_tool_result(tool, item.get("output").cloned().unwrap_or_default())
        }
        other => return transcript.record_unknown("codex", other, value),
    };
    transcript.record_step(task, step);
}

/// Adds a record of a Claude Code transcript: a message with parts.
fn add_claude_record(transcript: &mut ImportedTranscript, task: &TaskId, value: &Value) {
    transcript.advance_clock(timestamp_field(value));
    let kind = text_field(value, "type").unwrap_or("record");
    let Some(message) = value.get("message").filter(|_| matches!(kind, "user" | "assistant"))
    else {
        return transcript.record_unknown("claude", kind, value);
    };
    let role = text_field(message, "role").unwrap_or(kind);
    let parts = match message.get("content") {
        Some(Value::Array(parts)) => parts.clone(),
        Some(Value::String(text)) => vec![json!({ "type": "text", "text": text })],
        _ => return transcript.record_unknown("claude", kind, value),
    };
    for part in &parts {
        let text = |name: &str| text_field(part, name).unwrap_or_default().to_owned();
        let step = match text_field(part, "type").unwrap_or_default() {
            "text" if role == "assistant" => ImportedStep::from_thought(text("text")),
            "text" => ImportedStep::from_message(role, text("text")),
            "thinking" => ImportedStep::from_thought(text("thinking")),
            "tool_use" => {
                transcript.note_tool_call(text_field(part, "id"), &text("name"));
                ImportedStep::from_tool_call(
                    &text("name"),
                    part.get("input").cloned().unwrap_or_default(),
                )
            }
            "tool_result" => {
                let tool = transcript.take_called_tool(text_field(part, "tool_use_id"));
                let content = part.get("content").cloned().unwrap_or_default();
                let result = message_text(&content).map_or(content, Value::String);
                let failed = part.get("is_error").and_then(Value::as_bool) == Some(true);
                ImportedStep { failed, ..ImportedStep::from_tool_result(tool, result) }
            }
            other => {
                transcript.record_unknown("claude", other, part);
                continue;
            }
        };
        transcript.record_step(task, step);
    }
}

/// A step without its time.
#[derive(Clone, Debug, Default)]
struct ImportedStep {
    action: Option<StepAction>,
    content: String,
    tool: Option<String>,
    input: Option<Value>,
    output: Option<Value>,
    role: Option<String>,
    failed: bool,
}

impl ImportedStep {
    fn from_thought(content: String) -> Self {
        Self { action: Some(StepAction::Thought), content, ..Self::default() }
    }

    fn from_message(role: &str, content: String) -> Self {
        let action = Some(StepAction::Observation);
        Self { action, content, role: Some(role.to_owned()), ..Self::default() }
    }

    fn from_tool_call(tool: &str, input: Value) -> Self {
        Self {
            action: Some(StepAction::Action),
            content: tool.to_owned(),
            tool: Some(tool.to_owned()),
            input: Some(input),
            ..Self::default()
        }
    }

    fn from_tool_result(tool: Option<String>, output: Value) -> Self {
        let content = match &output {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Self {
            action: Some(StepAction::Observation),
            content,
            tool,
            output: Some(output),
            ..Self::default()
        }
    }
}

/// A session under construction: numbers, times that never decrease, and the events that frame what another program
/// did.
#[derive(Debug)]
pub(crate) struct ImportedTranscript {
    program: String,
    title: String,
    workspace: String,
    now: Timestamp,
    records: Vec<Record>,
    tools: HashMap<String, String>,
    done: u32,
    failed: u32,
    total: usize,
}

impl ImportedTranscript {
    pub(super) fn new(program: &str, title: &str, workspace: &str) -> Self {
        Self {
            program: program.to_owned(),
            title: title.to_owned(),
            workspace: workspace.to_owned(),
            now: Timestamp::UNIX_EPOCH,
            records: Vec::new(),
            tools: HashMap::new(),
            done: 0,
            failed: 0,
            total: 0,
        }
    }

    fn advance_clock(&mut self, time: Option<Timestamp>) {
        if let Some(time) = time {
            if self.now == Timestamp::UNIX_EPOCH {
                // The framing events were recorded before the first time was known.
                for record in &mut self.records {
                    record.at = planwright_model::event::truncate_to_micros(time);
                }
            }
            self.now = self.now.max(planwright_model::event::truncate_to_micros(time));
        }
    }

    fn record_event(&mut self, event: impl Into<Event>) {
        let seq = Seq(self.records.len() as u64 + 1);
        self.records.push(Record::new(seq, self.now, event));
    }

    fn record_opening(&mut self, tasks: &[(TaskId, String)]) {
        self.total = tasks.len();
        let tasks: Vec<TaskNode> =
            tasks.iter().map(|(id, words)| TaskNode::new(id.clone(), words.clone())).collect();
        // Tasks of a transcript depend on nothing, so that there is always a graph and a digest.
        let facts =
            resolve_graph(&tasks, |_| true).map(|found| found.to_facts(&tasks)).unwrap_or_default();
        let plan = Plan { title: self.title.clone(), tasks, ..Plan::default() };
        let hash =
            plan.digest().unwrap_or_else(|_| planwright_model::Digest::from_json(&Value::Null));
        self.record_event(SessionEvent::Created {
            format: FORMAT,
            program: self.program.clone(),
            title: self.title.clone(),
            goal: None,
            workspace: self.workspace.clone(),
            plan_file: None,
        });
        self.record_event(PlanEvent::Proposed {
            revision: 1,
            hash: hash.clone(),
            plan: Arc::new(plan),
            facts: Arc::new(facts),
            normalization: Vec::new(),
        });
        self.record_event(RunEvent::Started { hash, jobs: 1 });
    }

    fn record_task_start(&mut self, task: &TaskId, time: Option<Timestamp>) {
        self.advance_clock(time);
        let task = task.clone();
        self.record_event(TaskEvent::Started { task, attempt: 1, depth: 0, affinity_delta: 0.0 });
    }

    fn note_tool_call(&mut self, call: Option<&str>, tool: &str) {
        if let Some(call) = call {
            self.tools.insert(call.to_owned(), tool.to_owned());
        }
    }

    fn take_called_tool(&mut self, call: Option<&str>) -> Option<String> {
        self.tools.remove(call?)
    }

    fn record_step(&mut self, task: &TaskId, step: ImportedStep) {
        let Some(action) = step.action else { return };
        let mut metadata = Map::new();
        if let Some(role) = step.role {
            metadata.insert("role".into(), role.into());
        }
        if step.failed {
            metadata.insert("is_error".into(), true.into());
        }
        let step = ReActStep {
            timestamp: self.now,
            task_id: task.clone(),
            action,
            content: step.content,
            tool_used: step.tool,
            tool_input: step.input,
            tool_output: step.output,
            confidence_score: None,
            metadata: metadata.into(),
        };
        self.record_event(AgentEvent::from_step(task.clone(), 1, step));
    }

    /// Keeps an unrecognized record unchanged.
    fn record_unknown(&mut self, topic: &str, kind: &str, record: &Value) {
        let body = json!({ "topic": topic, "body": { "kind": kind, "record": record } });
        if let Ok(event) = Event::decode(body.to_string().as_bytes()) {
            self.record_event(event);
        } else {
            // The error may quote the record, which does not belong into a log.
            tracing::warn!(topic, "a record of a transcript is left out");
        }
    }

    fn record_task_end(&mut self, task: &TaskId, error: Option<&str>) {
        let task = task.clone();
        match error {
            None => {
                self.done += 1;
                self.record_event(TaskEvent::Completed {
                    task,
                    attempt: 1,
                    elapsed_ms: 0,
                    by: None,
                    note: None,
                });
            }
            Some(message) => {
                self.failed += 1;
                let failure = ExecutionFailure::new("failed", Category::Critical, message);
                self.record_event(TaskEvent::Failed {
                    task,
                    attempt: 1,
                    elapsed_ms: 0,
                    failure,
                    retry_in_ms: None,
                });
            }
        }
    }

    /// Adds traces as tasks of one session, in the order of their first step.
    pub(super) fn record_traces(&mut self, traces: &[ReActTrace]) {
        let began = |trace: &&ReActTrace| trace.steps.first().map(|step| step.timestamp);
        let mut traces: Vec<&ReActTrace> = traces.iter().collect();
        traces.sort_by_key(began);
        let mut names: Vec<(TaskId, String)> = Vec::new();
        for trace in &traces {
            let mut id = trace.task_id.clone();
            let mut number = 2;
            while names.iter().any(|(used, _)| *used == id) {
                id = TaskId::from(format!("{}-{number}", trace.task_id));
                number += 1;
            }
            names.push((id, trace.trace_id.clone()));
        }
        self.record_opening(&names);
        for (trace, (id, _)) in traces.iter().zip(&names) {
            self.record_task_start(id, began(trace));
            for step in &trace.steps {
                self.advance_clock(Some(step.timestamp));
                let step = ReActStep { task_id: id.clone(), timestamp: self.now, ..step.clone() };
                self.record_event(AgentEvent::from_step(id.clone(), 1, step));
            }
            if let Some(answer) = &trace.final_answer {
                let (task, answer) = (id.clone(), answer.clone());
                let tokens = trace.total_tokens_used;
                self.record_event(AgentEvent::Concluded { task, attempt: 1, answer, tokens });
            }
            let error = trace.error_message.as_deref().unwrap_or("failed");
            self.record_task_end(id, (!trace.success).then_some(error));
        }
    }

    pub(super) fn finish(mut self) -> Result<Vec<Record>, ImportError> {
        if self.total == 0 {
            return Err(ImportError::Other("the file holds no run".to_owned()));
        }
        self.record_event(RunEvent::Finished {
            success: self.done as usize == self.total,
            counts: RunCounts { completed: self.done, failed: self.failed, skipped: 0 },
            elapsed_ms: 0,
        });
        Ok(self.records)
    }
}
