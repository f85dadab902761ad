//! A session as OpenTelemetry spans, in the JSON encoding of OTLP and named by the semantic conventions for generative
//! AI.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use planwright_model::event::{
    AgentEvent, CallEvent, CallOutcome, Event, Record, RunEvent, TaskEvent,
};
use planwright_model::trace_ids::{named_span_id, session_trace_id};
use planwright_model::{Digest, SessionId};

/// The spans of a session: the run, each attempt of a task, each tool call, each model request.
pub fn session_spans(session: &SessionId, title: &str, records: &[Record]) -> Value {
    let trace = session_trace_id(session);
    let session_id = session.clone();
    let mut telling = SpanBuilder {
        session: session_id,
        trace,
        root: None,
        open: HashMap::new(),
        spans: Vec::new(),
    };
    let root = telling.new_span_id("run");
    let began = records.first().map(|record| record.at).unwrap_or_default();
    telling.begin_span(
        "run",
        &format!("invoke_agent {title}"),
        None,
        began,
        &[
            string_attribute("gen_ai.operation.name", "invoke_agent"),
            string_attribute("gen_ai.agent.name", "planwright"),
            string_attribute("gen_ai.conversation.id", session.as_str()),
        ],
    );
    telling.root = Some(root);
    for record in records {
        telling.apply_record(record);
    }
    let last = records.last().map(|record| record.at).unwrap_or_default();
    telling.end_open_spans(last);
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            string_attribute("service.name", "planwright"),
            string_attribute("service.version", env!("CARGO_PKG_VERSION")),
        ] },
        "scopeSpans": [{
            "scope": { "name": "planwright", "version": env!("CARGO_PKG_VERSION") },
            "spans": telling.spans,
        }],
    }] })
}

struct SpanBuilder {
    session: SessionId,
    trace: String,
    root: Option<String>,
    /// Spans that have not ended, by their subject.
    open: HashMap<String, Value>,
    spans: Vec<Value>,
}

impl SpanBuilder {
    fn apply_record(&mut self, record: &Record) {
        let at = record.at;
        match &record.event {
            Event::Task(TaskEvent::Started { task, attempt, depth, .. }) => {
                let name = format!("invoke_agent {task}");
                let attributes = vec![
                    string_attribute("gen_ai.operation.name", "invoke_agent"),
                    string_attribute("gen_ai.agent.name", task.as_str()),
                    int_attribute("planwright.attempt", u64::from(*attempt)),
                    int_attribute("planwright.depth", u64::from(*depth)),
                ];
                let root = self.root.clone();
                self.begin_span(&format!("task {task}"), &name, root, at, &attributes);
            }
            Event::Task(TaskEvent::Completed { task, .. }) => {
                self.end_span(&format!("task {task}"), at, None);
            }
            Event::Task(TaskEvent::Failed { task, failure, .. }) => {
                self.end_span(&format!("task {task}"), at, Some((&failure.code, &failure.message)));
            }
            Event::Task(TaskEvent::Reset { task, why }) => {
                self.end_span(&format!("task {task}"), at, Some(("reset", why)));
            }
            Event::Call(event) => self.apply_call(event, at),
            Event::Agent(event) => self.apply_model_event(event, at),
            Event::Run(RunEvent::Finished { success: false, .. }) => {
                self.end_span("run", at, Some(("failed", "not all tasks completed")));
            }
            Event::Run(RunEvent::Finished { .. }) => self.end_span("run", at, None),
            _ => {}
        }
    }

    fn apply_call(&mut self, event: &CallEvent, at: Timestamp) {
        let call = event.call_id();
        let key = format!("call {call}");
        match event {
            CallEvent::Intended { tool, .. } => {
                let parent = self.open_span_id(&format!("task {}", call.task));
                let attributes = vec![
                    string_attribute("gen_ai.operation.name", "execute_tool"),
                    string_attribute("gen_ai.tool.name", tool),
                    string_attribute("gen_ai.tool.call.id", &call.to_string()),
                ];
                self.begin_span(&key, &format!("execute_tool {tool}"), parent, at, &attributes);
            }
            CallEvent::Concluded { outcome, .. } => {
                let text = planwright_state::trace::outcome_text(outcome);
                let failed = !matches!(outcome, CallOutcome::Exited { code: 0 });
                self.end_span(&key, at, failed.then_some(("tool_error", text.as_str())));
            }
            CallEvent::Spawned { .. } | CallEvent::Output { .. } | CallEvent::Spooled { .. } => {}
        }
    }

    fn apply_model_event(&mut self, event: &AgentEvent, at: Timestamp) {
        match event {
            AgentEvent::ModelAsked { task, ask, provider, model, .. } => {
                let parent =
                    task.as_ref().and_then(|task| self.open_span_id(&format!("task {task}")));
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
                if let Some(Value::Array(attributes)) =
                    self.open.get_mut(&key).and_then(|span| span.get_mut("attributes"))
                {
                    attributes.push(int_attribute("gen_ai.usage.total_tokens", *tokens));
                }
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
        let number = self.spans.len() + self.open.len();
        Digest::from_json(&json!([self.trace, key, number])).as_str()[..16].to_owned()
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
        self.spans.push(span);
    }

    fn end_open_spans(&mut self, at: Timestamp) {
        let mut keys: Vec<String> = self.open.keys().cloned().collect();
        keys.sort();
        for key in keys {
            self.end_span(&key, at, Some(("interrupted", "the session ended first")));
        }
    }
}

fn string_attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn int_attribute(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
