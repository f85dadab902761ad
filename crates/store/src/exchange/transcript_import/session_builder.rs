//! Builds a session of what another program did: numbers, times that never decrease, tasks, and the events that frame them.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::item::{ItemContent, ReadTranscript};
use super::turns::{TranscriptNode, TurnPlan, describe_call};
use crate::exchange::import_limits::ImportError;
use planwright_model::event::{
    AgentEvent, Event, FORMAT, PlanEvent, Record, RunCounts, RunEvent, SessionEvent, TaskEvent,
};
use planwright_model::{
    Category, ExecutionFailure, MicroDollars, Plan, ReActStep, ReActTrace, Seq, StepAction, TaskId,
    TaskNode,
};
use planwright_plan::graph::resolve_graph;

/// Converts a transcript to a session: a task for each turn and each subagent.
pub(super) fn session_from_transcript(
    program: &str,
    file_name: &str,
    read: &ReadTranscript,
) -> Result<Vec<Record>, ImportError> {
    let title = read.title.clone().unwrap_or_else(|| file_name.to_owned());
    let plan = TurnPlan::from_transcript(read, &title);
    let workspace = read.workspace.clone().unwrap_or_default();
    let mut transcript = ImportedTranscript::new(program, &title, &workspace);
    transcript.record_opening(plan.tasks());
    transcript.advance_clock(read.items.iter().find_map(|item| item.at));
    let mut progress: Vec<NodeProgress> = vec![NodeProgress::default(); plan.nodes.len()];
    for (index, item) in read.items.iter().enumerate() {
        transcript.advance_clock(item.at);
        let place = plan.node_of_item[index];
        let node = &plan.nodes[place];
        if node.first == index {
            transcript.record_task_start(&node.id, item.at);
        }
        progress[place].add_item(&mut transcript, node, program, &item.content);
        for ended in plan.ends_at(index) {
            progress[ended].finish(&mut transcript, &plan.nodes[ended]);
        }
    }
    transcript.finish()
}

/// What is known of a node while its items are added.
#[derive(Clone, Debug, Default)]
struct NodeProgress {
    tokens: u64,
    dollars: f64,
    answer: Option<String>,
    /// What the node failed with, unless something follows.
    error: Option<String>,
    /// Something came of it: a reply, a thought or a call.
    is_answered: bool,
}

impl NodeProgress {
    fn add_item(
        &mut self,
        transcript: &mut ImportedTranscript,
        node: &TranscriptNode,
        program: &str,
        content: &ItemContent,
    ) {
        self.is_answered |= matches!(
            content,
            ItemContent::Reply(_) | ItemContent::Thought(_) | ItemContent::Call { .. }
        );
        let step = match content {
            ItemContent::Prompt(text) => ImportedStep::from_message("user", text.clone()),
            ItemContent::Context { role, text } => ImportedStep::from_message(role, text.clone()),
            ItemContent::TurnStarted | ItemContent::SubagentStarted(_) => return,
            ItemContent::Reply(text) => {
                (self.answer, self.error) = (Some(text.clone()), None);
                ImportedStep::from_thought(text.clone())
            }
            ItemContent::Thought(text) => ImportedStep::from_thought(text.clone()),
            ItemContent::Call { id, tool, input } => {
                self.error = None;
                transcript.note_tool_call(id.as_deref(), tool);
                ImportedStep::from_tool_call(tool, input.clone())
            }
            ItemContent::Outcome { id, output, is_error } => {
                let tool = transcript.take_called_tool(id.as_deref());
                let failed = *is_error;
                ImportedStep { failed, ..ImportedStep::from_tool_result(tool, output.clone()) }
            }
            ItemContent::Todo(items) => {
                let (task, items) = (node.id.clone(), items.clone());
                return transcript.record_event(AgentEvent::TodoListed { task, attempt: 1, items });
            }
            ItemContent::Usage { tokens, dollars } => {
                self.tokens = self.tokens.saturating_add(*tokens);
                self.dollars += dollars;
                return;
            }
            ItemContent::Error(text) => {
                self.error = Some(text.clone());
                ImportedStep { failed: true, ..ImportedStep::from_message("error", text.clone()) }
            }
            ItemContent::Unknown { kind, record } => {
                return transcript.record_unknown(program, kind, record);
            }
        };
        transcript.record_step(&node.id, step);
    }

    /// Records what a node used, what it answered, and how it ended.
    fn finish(&mut self, transcript: &mut ImportedTranscript, node: &TranscriptNode) {
        let cost = (self.dollars > 0.0).then(|| MicroDollars::from_dollars(self.dollars));
        let tokens = (self.tokens > 0).then_some(self.tokens);
        if tokens.is_some() || cost.is_some() {
            let task = node.id.clone();
            transcript.record_event(AgentEvent::UsageReported { task, attempt: 1, tokens, cost });
        }
        if let Some(answer) = self.answer.take().filter(|_| self.error.is_none()) {
            let (task, tokens) = (node.id.clone(), self.tokens);
            transcript.record_event(AgentEvent::Concluded { task, attempt: 1, answer, tokens });
        }
        // Some programs do not keep the error of their provider: the turn has no end then.
        let unanswered = (!self.is_answered).then_some("the transcript has no answer to it");
        transcript.record_task_end(&node.id, self.error.as_deref().or(unanswered));
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
            content: describe_call(tool, &input),
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
pub(in crate::exchange) struct ImportedTranscript {
    program: String,
    title: String,
    workspace: String,
    now: Timestamp,
    records: Vec<Record>,
    tools: HashMap<String, String>,
    started: HashMap<TaskId, Timestamp>,
    done: u32,
    failed: u32,
    total: usize,
}

impl ImportedTranscript {
    pub(in crate::exchange) fn new(program: &str, title: &str, workspace: &str) -> Self {
        Self {
            program: program.to_owned(),
            title: title.to_owned(),
            workspace: workspace.to_owned(),
            now: Timestamp::UNIX_EPOCH,
            records: Vec::new(),
            tools: HashMap::new(),
            started: HashMap::new(),
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

    fn record_opening(&mut self, tasks: Vec<TaskNode>) {
        self.total = tasks.len();
        // Tasks of a transcript depend on earlier ones only, so that there is always a graph and a digest.
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
        self.started.insert(task.clone(), self.now);
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
        let elapsed_ms = self.elapsed_since(self.started.get(&task).copied());
        match error {
            None => {
                self.done += 1;
                self.record_event(TaskEvent::Completed {
                    task,
                    attempt: 1,
                    elapsed_ms,
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
                    elapsed_ms,
                    failure,
                    retry_in_ms: None,
                });
            }
        }
    }

    /// Adds traces as tasks of one session, in the order of their first step.
    pub(in crate::exchange) fn record_traces(&mut self, traces: &[ReActTrace]) {
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
        let task = |(id, words): &(TaskId, String)| TaskNode::new(id.clone(), words.clone());
        self.record_opening(names.iter().map(task).collect());
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

    pub(in crate::exchange) fn finish(mut self) -> Result<Vec<Record>, ImportError> {
        if self.total == 0 {
            return Err(ImportError::Other("the file holds no run".to_owned()));
        }
        let elapsed_ms = self.elapsed_since(self.records.first().map(|record| record.at));
        self.record_event(RunEvent::Finished {
            success: self.done as usize == self.total,
            counts: RunCounts { completed: self.done, failed: self.failed, skipped: 0 },
            elapsed_ms,
        });
        Ok(self.records)
    }

    fn elapsed_since(&self, start: Option<Timestamp>) -> u64 {
        let took = start.map_or(0, |start| self.now.duration_since(start).as_millis());
        u64::try_from(took).unwrap_or_default()
    }
}
