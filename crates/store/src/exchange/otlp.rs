//! A session as OpenTelemetry spans, in the JSON encoding of OTLP: the run, each attempt at a task, each call, each model
//! request. Agents are named by the semantic conventions for generative AI, commands by those for processes.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use planwright_model::event::{
    AgentEvent, CallEvent, CallOutcome, Event, PlanEvent, Record, RunEvent, TaskEvent,
};
use planwright_model::trace_ids::{named_span_id, session_trace_id};
use planwright_model::{Digest, Plan, RunKind, SessionId, TaskId, TaskNode};

/// How many of the last bytes that a failed call printed are told.
const OUTPUT_TAIL: usize = 2_000;

/// All spans of a session, as one document.
pub fn session_spans(session: &SessionId, title: &str, records: &[Record]) -> Value {
    let mut stream = SpanStream::new(session, title);
    for record in records {
        stream.apply_record(record);
    }
    stream.end_open_spans();
    spans_document(&stream.take_ended())
}

/// Spans as a collector takes them.
pub fn spans_document(spans: &[Value]) -> Value {
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            string_attribute("service.name", "planwright"),
            string_attribute("service.version", env!("CARGO_PKG_VERSION")),
        ] },
        "scopeSpans": [{
            "scope": { "name": "planwright", "version": env!("CARGO_PKG_VERSION") },
            "spans": spans,
        }],
    }] })
}

/// Turns the records of a session into spans, as they come.
#[derive(Debug)]
pub struct SpanStream {
    session: SessionId,
    title: String,
    trace: String,
    root: Option<String>,
    plan: Option<Arc<Plan>>,
    /// Where its tasks stand in it.
    positions: HashMap<TaskId, usize>,
    /// Spans that have not ended, by their subject.
    open: HashMap<String, Value>,
    /// The span of the last attempt at each task, which those that depend on it are linked to.
    task_spans: HashMap<TaskId, String>,
    /// The end of what calls printed that have not ended.
    tails: HashMap<String, String>,
    ended: Vec<Value>,
    /// How many spans there were, so that no two have the same id.
    count: usize,
    last: Timestamp,
}

impl SpanStream {
    pub fn new(session: &SessionId, title: &str) -> Self {
        Self {
            session: session.clone(),
            title: title.to_owned(),
            trace: session_trace_id(session),
            root: None,
            plan: None,
            positions: HashMap::new(),
            open: HashMap::new(),
            task_spans: HashMap::new(),
            tails: HashMap::new(),
            ended: Vec::new(),
            count: 0,
            last: Timestamp::default(),
        }
    }

    /// The spans that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.ended)
    }

    /// Ends what is still open, where the session ended.
    pub fn end_open_spans(&mut self) {
        let mut keys: Vec<String> = self.open.keys().cloned().collect();
        keys.sort();
        for key in keys {
            self.end_span(&key, self.last, Some(("interrupted", "the session ended first")));
        }
    }

    pub fn apply_record(&mut self, record: &Record) {
        self.last = record.at;
        if self.root.is_none() {
            self.begin_run(record.at);
        }
        match &record.event {
            Event::Plan(PlanEvent::Proposed { plan, .. }) => {
                let ids = plan.tasks.iter().map(|node| node.id.clone());
                self.positions = ids.zip(0..).collect();
                self.plan = Some(Arc::clone(plan));
            }
            Event::Task(event) => self.apply_task(event, record.at),
            Event::Call(event) => self.apply_call(event, record.at),
            Event::Agent(event) => self.apply_model_event(event, record.at),
            Event::Run(RunEvent::Finished { success: false, .. }) => {
                self.end_span("run", record.at, Some(("failed", "not all tasks completed")));
            }
            Event::Run(RunEvent::Finished { .. }) => self.end_span("run", record.at, None),
            _ => {}
        }
    }

    fn begin_run(&mut self, at: Timestamp) {
        let attributes = [
            string_attribute("gen_ai.agent.name", "planwright"),
            string_attribute("gen_ai.conversation.id", self.session.as_str()),
        ];
        let name = format!("run {}", self.title);
        self.begin_span("run", &name, None, at, &attributes);
        self.root = self.open_span_id("run");
    }

    fn apply_task(&mut self, event: &TaskEvent, at: Timestamp) {
        match event {
            TaskEvent::Started { task, attempt, depth, .. } => {
                let attributes = [
                    int_attribute("planwright.attempt", u64::from(*attempt)),
                    int_attribute("planwright.depth", u64::from(*depth)),
                ];
                self.begin_task(task, at, &attributes);
            }
            TaskEvent::HandedOver { task } => self.begin_task(task, at, &[]),
            TaskEvent::Completed { task, .. } => self.end_span(&task_key(task), at, None),
            TaskEvent::Failed { task, failure, .. } => {
                self.end_span(&task_key(task), at, Some((&failure.code, &failure.message)));
            }
            TaskEvent::Reset { task, why } => {
                self.end_span(&task_key(task), at, Some(("reset", why)));
            }
            TaskEvent::Skipped { task, reason } => {
                let why = serde_json::to_value(reason).unwrap_or_default();
                let skipped = string_attribute("planwright.skipped", why.as_str().unwrap_or("yes"));
                if !self.open.contains_key(&task_key(task)) {
                    self.begin_task(task, at, &[]);
                }
                self.add_attribute(&task_key(task), skipped);
                self.end_span(&task_key(task), at, None);
            }
            _ => {}
        }
    }

    /// Begins the span of a task, with links to those of the tasks that it depends on.
    fn begin_task(&mut self, task: &TaskId, at: Timestamp, more: &[Value]) {
        let plan = self.plan.clone();
        let place = self.positions.get(task).copied();
        let node = plan.as_ref().zip(place).and_then(|(plan, place)| plan.tasks.get(place));
        let mut attributes = vec![string_attribute("planwright.task.id", task.as_str())];
        attributes.extend(node.into_iter().flat_map(task_attributes));
        attributes.extend_from_slice(more);
        let name = node.map_or(task.as_str(), |node| node.description.as_str());
        let name = match node.map(|node| &node.run) {
            Some(RunKind::Agent(_)) => format!("invoke_agent {name}"),
            _ => name.to_owned(),
        };
        let key = task_key(task);
        let root = self.root.clone();
        self.begin_span(&key, &name, root, at, &attributes);
        let needed = node.into_iter().flat_map(|node| &node.dependencies);
        let links: Vec<Value> = needed
            .filter_map(|link| self.task_spans.get(&link.task))
            .map(|span| json!({ "traceId": self.trace, "spanId": span }))
            .collect();
        if let Some(span) = self.open.get_mut(&key).filter(|_| !links.is_empty()) {
            span["links"] = links.into();
        }
        if let Some(own) = self.open_span_id(&key) {
            self.task_spans.insert(task.clone(), own);
        }
    }

    fn add_attribute(&mut self, key: &str, attribute: Value) {
        let attributes = self.open.get_mut(key).and_then(|span| span.get_mut("attributes"));
        if let Some(Value::Array(attributes)) = attributes {
            attributes.push(attribute);
        }
    }

    fn apply_call(&mut self, event: &CallEvent, at: Timestamp) {
        let call = event.call_id();
        let key = format!("call {call}");
        match event {
            CallEvent::Intended { tool, input, .. } => {
                let parent = self.open_span_id(&task_key(&call.task));
                let mut attributes = vec![
                    string_attribute("gen_ai.operation.name", "execute_tool"),
                    string_attribute("gen_ai.tool.name", tool),
                    string_attribute("gen_ai.tool.call.id", &call.to_string()),
                ];
                if let Some(command) = input.get("command").and_then(Value::as_str) {
                    attributes.push(string_attribute("process.command_line", command));
                }
                self.begin_span(&key, &format!("execute_tool {tool}"), parent, at, &attributes);
            }
            CallEvent::Spawned { pid, .. } => {
                self.add_attribute(&key, int_attribute("process.pid", u64::from(*pid)));
            }
            CallEvent::Output { text, .. } | CallEvent::Spooled { tail: text, .. } => {
                let tail = self.tails.entry(key).or_default();
                tail.push_str(text);
                let from = tail.len().saturating_sub(OUTPUT_TAIL);
                let from = (from..=tail.len()).find(|at| tail.is_char_boundary(*at));
                tail.drain(..from.unwrap_or(0));
            }
            CallEvent::Concluded { outcome, output_bytes, .. } => {
                self.conclude_call(&key, outcome, *output_bytes, at);
            }
        }
    }

    fn conclude_call(
        &mut self,
        key: &str,
        outcome: &CallOutcome,
        output_bytes: u64,
        at: Timestamp,
    ) {
        let text = planwright_state::trace::outcome_text(outcome);
        let failed = !matches!(outcome, CallOutcome::Exited { code: 0 });
        if let CallOutcome::Exited { code } = outcome {
            let code = json!({ "intValue": code.to_string() });
            self.add_attribute(key, json!({ "key": "process.exit.code", "value": code }));
        }
        self.add_attribute(key, int_attribute("planwright.output.bytes", output_bytes));
        let printed = self.tails.remove(key).filter(|tail| failed && !tail.is_empty());
        if let (Some(tail), Some(span)) = (printed, self.open.get_mut(key)) {
            span["events"] = json!([{
                "name": "output",
                "timeUnixNano": at.as_nanosecond().to_string(),
                "attributes": [string_attribute("planwright.output.tail", &tail)],
            }]);
        }
        self.end_span(key, at, failed.then_some(("tool_error", text.as_str())));
    }

    fn apply_model_event(&mut self, event: &AgentEvent, at: Timestamp) {
        match event {
            AgentEvent::ModelAsked { task, ask, provider, model, .. } => {
                let parent = task.as_ref().and_then(|task| self.open_span_id(&task_key(task)));
                let attributes = vec![
                    string_attribute("gen_ai.operation.name", "chat"),
                    string_attribute("gen_ai.provider.name", provider),
                    string_attribute("gen_ai.request.model", model),
                ];
                let parent = parent.or_else(|| self.root.clone());
                self.begin_span(
                    &format!("ask {ask}"),
                    &format!("chat {model}"),
                    parent,
                    at,
                    &attributes,
                );
            }
            AgentEvent::ModelAnswered { ask, tokens, .. } => {
                let key = format!("ask {ask}");
                self.add_attribute(&key, int_attribute("gen_ai.usage.total_tokens", *tokens));
                self.end_span(&key, at, None);
            }
            AgentEvent::ModelFailed { ask, failure, .. } => {
                self.end_span(&format!("ask {ask}"), at, Some((&failure.code, &failure.message)));
            }
            _ => {}
        }
    }

    fn new_span_id(&self, key: &str) -> String {
        // Commands know the span of their call, and what they report refers to it.
        if let Some(call) = key.strip_prefix("call ") {
            return named_span_id(&self.session, call);
        }
        Digest::from_json(&json!([self.trace, key, self.count])).as_str()[..16].to_owned()
    }

    fn open_span_id(&self, key: &str) -> Option<String> {
        let span = self.open.get(key)?;
        span.get("spanId").and_then(Value::as_str).map(str::to_owned)
    }

    fn begin_span(
        &mut self,
        key: &str,
        name: &str,
        parent: Option<String>,
        at: Timestamp,
        attributes: &[Value],
    ) {
        // A span that never ended is closed where the next one of its name begins.
        self.end_span(key, at, Some(("interrupted", "it did not end")));
        let mut span = json!({
            "traceId": self.trace,
            "spanId": self.new_span_id(key),
            "name": name,
            "kind": 1,
            "startTimeUnixNano": at.as_nanosecond().to_string(),
            "attributes": attributes,
        });
        if let Some(parent) = parent {
            span["parentSpanId"] = parent.into();
        }
        self.count += 1;
        self.open.insert(key.to_owned(), span);
    }

    fn end_span(&mut self, key: &str, at: Timestamp, failed: Option<(&str, &str)>) {
        let Some(mut span) = self.open.remove(key) else { return };
        span["endTimeUnixNano"] = at.as_nanosecond().to_string().into();
        span["status"] = match failed {
            None => json!({ "code": 1 }),
            Some((kind, message)) => {
                if let Some(Value::Array(attributes)) = span.get_mut("attributes") {
                    attributes.push(string_attribute("error.type", kind));
                }
                json!({ "code": 2, "message": message })
            }
        };
        self.ended.push(span);
    }
}

fn task_key(task: &TaskId) -> String {
    format!("task {task}")
}

/// What a task is, beside its name.
fn task_attributes(node: &TaskNode) -> Vec<Value> {
    match &node.run {
        RunKind::Shell(command) => vec![
            string_attribute("planwright.task.kind", "command"),
            string_attribute("process.command_line", command),
        ],
        RunKind::Human {} => vec![string_attribute("planwright.task.kind", "person")],
        RunKind::Agent(run) => vec![
            string_attribute("planwright.task.kind", "agent"),
            string_attribute("gen_ai.operation.name", "invoke_agent"),
            string_attribute("gen_ai.agent.name", run.own_agent().unwrap_or(node.id.as_str())),
        ],
    }
}

fn string_attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn int_attribute(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
