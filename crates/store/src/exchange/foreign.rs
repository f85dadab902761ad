//! What other programs wrote about their runs, told as a session: Codex CLI rollouts and Claude Code transcripts.
//!
//! Records that are not understood are kept as unknown events and shown as such. Secrets are covered on the way in.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::limits::{ImportError, Lines, MAX_VALUES};
use super::secrets::take_out;
use planwright_model::event::{
    AgentEvent, Event, FORMAT, PlanEvent, Record, RunCounts, RunEvent, SessionEvent, TaskEvent,
};
use planwright_model::{
    Category, Failure, Plan, ReActStep, ReActTrace, Seq, StepAction, TaskId, TaskNode,
};
use planwright_plan::graph::resolve;
use planwright_text::Redactor;

/// Which program wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Codex,
    ClaudeCode,
}

impl Program {
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::ClaudeCode => "claude-code",
        }
    }

    /// Tells by one line which program wrote it.
    pub fn of_line(value: &Value) -> Option<Self> {
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
const MOST: u64 = 64 << 20;

/// Reads a transcript and tells it as a session.
pub fn read(path: &Path, redactor: &Redactor) -> Result<(Program, Vec<Record>), ImportError> {
    let mut lines = Lines::open(path)?;
    let mut values = Vec::new();
    let (mut program, mut held) = (None, 0);
    while let Some(text) = lines.next_line()? {
        if text.trim().is_empty() {
            continue;
        }
        let mut value: Value = serde_json::from_str(&text)
            .map_err(|error| ImportError::line(lines.number(), format!("is no JSON: {error}")))?;
        take_out(redactor, &mut value);
        program = program.or_else(|| Program::of_line(&value));
        values.push(value);
        // All of it is in memory at once, since what a transcript is about may stand anywhere in it.
        held += lines.values();
        if held > MAX_VALUES {
            let what = "the number of values in a transcript".to_owned();
            return Err(ImportError::TooMuch { what, limit: MAX_VALUES as u64 });
        }
        if lines.bytes() > MOST {
            let what = "the length of a transcript".to_owned();
            return Err(ImportError::TooMuch { what, limit: MOST });
        }
    }
    let Some(program) = program else {
        let what = "this is neither an export of Planwright nor a transcript of a known program";
        return Err(ImportError::Other(what.to_owned()));
    };
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let title = first_wish(program, &values).unwrap_or(stem);
    let workspace = values.iter().find_map(workspace).unwrap_or_default();
    let mut story = Story::new(program.name(), &title, &workspace);
    let task = TaskId::from("transcript");
    story.begin(&[(task.clone(), title.clone())]);
    story.start(&task, values.iter().find_map(time));
    for value in &values {
        match program {
            Program::Codex => codex(&mut story, &task, value),
            Program::ClaudeCode => claude(&mut story, &task, value),
        }
    }
    story.complete(&task, None);
    Ok((program, story.finish()?))
}

fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

fn time(value: &Value) -> Option<Timestamp> {
    text_of(value, "timestamp")?.parse().ok()
}

fn workspace(value: &Value) -> Option<String> {
    text_of(value, "cwd").or_else(|| text_of(value.get("payload")?, "cwd")).map(str::to_owned)
}

/// The first line of what the person asked for first, for a title.
fn first_wish(program: Program, values: &[Value]) -> Option<String> {
    let said = values.iter().find_map(|value| {
        let message = match program {
            Program::Codex => value.get("payload").unwrap_or(value),
            Program::ClaudeCode => value.get("message")?,
        };
        (text_of(message, "role") == Some("user"))
            .then(|| spoken(message.get("content")?))
            .flatten()
    })?;
    let line =
        said.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('<'))?;
    Some(line.chars().take(80).collect())
}

/// The words of a message: a text, or a list of parts with texts.
fn spoken(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| text_of(part, "text")).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// A record of a Codex rollout: `response_item`s in an envelope, or bare in older files.
fn codex(story: &mut Story, task: &TaskId, value: &Value) {
    story.at(time(value));
    let kind = text_of(value, "type").unwrap_or("header");
    let item = match (kind, value.get("payload")) {
        ("response_item", Some(payload)) => payload,
        ("session_meta" | "event_msg" | "turn_context" | "compacted" | "header", _) => {
            return story.unknown("codex", kind, value);
        }
        _ => value,
    };
    let step = match text_of(item, "type").unwrap_or_default() {
        "message" => {
            let Some(words) = item.get("content").and_then(spoken) else {
                return story.unknown("codex", "message", value);
            };
            match text_of(item, "role") {
                Some("assistant") => Step::thought(words),
                role => Step::said(role.unwrap_or("user"), words),
            }
        }
        "reasoning" => match item
            .get("summary")
            .and_then(spoken)
            .or_else(|| item.get("content").and_then(spoken))
        {
            Some(words) => Step::thought(words),
            None => return story.unknown("codex", "reasoning", value),
        },
        "function_call" | "custom_tool_call" => {
            let name = text_of(item, "name").unwrap_or("tool");
            let input = text_of(item, "arguments").or_else(|| text_of(item, "input"));
            let parsed = input.map(|input| serde_json::from_str(input).unwrap_or(json!(input)));
            story.called(text_of(item, "call_id"), name);
            Step::action(name, parsed.unwrap_or(Value::Null))
        }
        "local_shell_call" => {
            story.called(text_of(item, "call_id"), "shell");
            Step::action("shell", item.get("action").cloned().unwrap_or_default())
        }
        "function_call_output" | "custom_tool_call_output" => {
            let tool = story.tool_of(text_of(item, "call_id"));
            Step::observation(tool, item.get("output").cloned().unwrap_or_default())
        }
        other => return story.unknown("codex", other, value),
    };
    story.step(task, step);
}

/// A record of a Claude Code transcript: a message with parts.
fn claude(story: &mut Story, task: &TaskId, value: &Value) {
    story.at(time(value));
    let kind = text_of(value, "type").unwrap_or("record");
    let Some(message) = value.get("message").filter(|_| matches!(kind, "user" | "assistant"))
    else {
        return story.unknown("claude", kind, value);
    };
    let role = text_of(message, "role").unwrap_or(kind);
    let parts = match message.get("content") {
        Some(Value::Array(parts)) => parts.clone(),
        Some(Value::String(text)) => vec![json!({ "type": "text", "text": text })],
        _ => return story.unknown("claude", kind, value),
    };
    for part in &parts {
        let text = |name: &str| text_of(part, name).unwrap_or_default().to_owned();
        let step = match text_of(part, "type").unwrap_or_default() {
            "text" if role == "assistant" => Step::thought(text("text")),
            "text" => Step::said(role, text("text")),
            "thinking" => Step::thought(text("thinking")),
            "tool_use" => {
                story.called(text_of(part, "id"), &text("name"));
                Step::action(&text("name"), part.get("input").cloned().unwrap_or_default())
            }
            "tool_result" => {
                let tool = story.tool_of(text_of(part, "tool_use_id"));
                let content = part.get("content").cloned().unwrap_or_default();
                let words = spoken(&content).map_or(content, Value::String);
                let failed = part.get("is_error").and_then(Value::as_bool) == Some(true);
                Step { failed, ..Step::observation(tool, words) }
            }
            other => {
                story.unknown("claude", other, part);
                continue;
            }
        };
        story.step(task, step);
    }
}

/// A step before it has its time.
#[derive(Clone, Debug, Default)]
struct Step {
    action: Option<StepAction>,
    content: String,
    tool: Option<String>,
    input: Option<Value>,
    output: Option<Value>,
    role: Option<String>,
    failed: bool,
}

impl Step {
    fn thought(content: String) -> Self {
        Self { action: Some(StepAction::Thought), content, ..Self::default() }
    }

    fn said(role: &str, content: String) -> Self {
        let action = Some(StepAction::Observation);
        Self { action, content, role: Some(role.to_owned()), ..Self::default() }
    }

    fn action(tool: &str, input: Value) -> Self {
        Self {
            action: Some(StepAction::Action),
            content: tool.to_owned(),
            tool: Some(tool.to_owned()),
            input: Some(input),
            ..Self::default()
        }
    }

    fn observation(tool: Option<String>, output: Value) -> Self {
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

/// A session in the making: numbers, times that never run back, and the frame around what another program did.
#[derive(Debug)]
pub struct Story {
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

impl Story {
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

    fn at(&mut self, time: Option<Timestamp>) {
        if let Some(time) = time {
            if self.now == Timestamp::UNIX_EPOCH {
                // The frame was told before the first time was known.
                for record in &mut self.records {
                    record.at = planwright_model::event::micros(time);
                }
            }
            self.now = self.now.max(planwright_model::event::micros(time));
        }
    }

    fn say(&mut self, event: impl Into<Event>) {
        let seq = Seq(self.records.len() as u64 + 1);
        self.records.push(Record::new(seq, self.now, event));
    }

    fn begin(&mut self, tasks: &[(TaskId, String)]) {
        self.total = tasks.len();
        let tasks: Vec<TaskNode> =
            tasks.iter().map(|(id, words)| TaskNode::new(id.clone(), words.clone())).collect();
        let facts = resolve(&tasks, |_| true).map(|found| found.facts(&tasks)).unwrap_or_default();
        let plan = Plan { title: self.title.clone(), tasks, ..Plan::default() };
        let hash =
            plan.digest().unwrap_or_else(|_| planwright_model::Digest::of_json(&Value::Null));
        self.say(SessionEvent::Created {
            format: FORMAT,
            program: self.program.clone(),
            title: self.title.clone(),
            goal: None,
            workspace: self.workspace.clone(),
            plan_file: None,
        });
        self.say(PlanEvent::Proposed {
            revision: 1,
            hash: hash.clone(),
            plan: Arc::new(plan),
            facts: Arc::new(facts),
            normalization: Vec::new(),
        });
        self.say(RunEvent::Started { hash, jobs: 1 });
    }

    fn start(&mut self, task: &TaskId, time: Option<Timestamp>) {
        self.at(time);
        let task = task.clone();
        self.say(TaskEvent::Started { task, attempt: 1, depth: 0, affinity_delta: 0.0 });
    }

    fn called(&mut self, call: Option<&str>, tool: &str) {
        if let Some(call) = call {
            self.tools.insert(call.to_owned(), tool.to_owned());
        }
    }

    fn tool_of(&mut self, call: Option<&str>) -> Option<String> {
        self.tools.remove(call?)
    }

    fn step(&mut self, task: &TaskId, step: Step) {
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
            metadata,
        };
        self.say(AgentEvent::stepped(task.clone(), 1, step));
    }

    /// Keeps a record that says nothing to us, as it was.
    fn unknown(&mut self, topic: &str, kind: &str, record: &Value) {
        let body = json!({ "topic": topic, "body": { "kind": kind, "record": record } });
        if let Ok(event) = Event::decode(body.to_string().as_bytes()) {
            self.say(event);
        }
    }

    fn complete(&mut self, task: &TaskId, error: Option<&str>) {
        let task = task.clone();
        match error {
            None => {
                self.done += 1;
                self.say(TaskEvent::Completed {
                    task,
                    attempt: 1,
                    elapsed_ms: 0,
                    by: None,
                    note: None,
                });
            }
            Some(message) => {
                self.failed += 1;
                let failure = Failure::new("failed", Category::Critical, message);
                self.say(TaskEvent::Failed {
                    task,
                    attempt: 1,
                    elapsed_ms: 0,
                    failure,
                    retry_in_ms: None,
                });
            }
        }
    }

    /// Tells traces as tasks of one session, in the order of their first step.
    pub(super) fn traces(&mut self, traces: &[ReActTrace]) {
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
        self.begin(&names);
        for (trace, (id, _)) in traces.iter().zip(&names) {
            self.start(id, began(trace));
            for step in &trace.steps {
                self.at(Some(step.timestamp));
                let step = ReActStep { task_id: id.clone(), timestamp: self.now, ..step.clone() };
                self.say(AgentEvent::stepped(id.clone(), 1, step));
            }
            if let Some(answer) = &trace.final_answer {
                let (task, answer) = (id.clone(), answer.clone());
                let tokens = trace.total_tokens_used;
                self.say(AgentEvent::Concluded { task, attempt: 1, answer, tokens });
            }
            let error = trace.error_message.as_deref().unwrap_or("failed");
            self.complete(id, (!trace.success).then_some(error));
        }
    }

    pub(super) fn finish(mut self) -> Result<Vec<Record>, ImportError> {
        if self.total == 0 {
            return Err(ImportError::Other("the file holds no run".to_owned()));
        }
        self.say(RunEvent::Finished {
            success: self.done as usize == self.total,
            counts: RunCounts { completed: self.done, failed: self.failed, skipped: 0 },
            elapsed_ms: 0,
        });
        Ok(self.records)
    }
}
