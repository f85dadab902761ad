//! How far agents have come with their tasks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::AgentEvent;
use crate::model::TaskId;

/// How much of a result is kept in the state; the journal has all of it.
const KEPT_CHARS: usize = 1500;

/// One call that an agent made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStep {
    pub tool: String,
    pub input: Value,
    /// None while its outcome is not known.
    pub output: Option<String>,
    pub ok: bool,
}

/// An agent's work on one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentProgress {
    pub attempt: u32,
    pub iteration: u32,
    /// What the executor keeps between its steps.
    pub state: Option<Value>,
    pub steps: Vec<AgentStep>,
    /// Set once the task came to an end in words.
    pub answer: Option<String>,
    pub tokens: u64,
    /// What it does now, in one line.
    pub doing: String,
}

/// All agents of a session by their task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentSlice {
    by_task: BTreeMap<TaskId, AgentProgress>,
}

impl AgentSlice {
    pub fn get(&self, task: &TaskId) -> Option<&AgentProgress> {
        self.by_task.get(task)
    }

    /// What came of a task in words.
    pub fn answer(&self, task: &TaskId) -> Option<&str> {
        self.get(task)?.answer.as_deref()
    }

    /// The work of an attempt that did not come to its end.
    pub fn unfinished(&self, task: &TaskId) -> Option<&AgentProgress> {
        self.get(task).filter(|progress| progress.answer.is_none() && !progress.steps.is_empty())
    }

    pub(super) fn apply(&mut self, event: &AgentEvent) {
        let Some(task) = event.task() else { return };
        let progress = self.by_task.entry(task.clone()).or_default();
        match event {
            AgentEvent::Thought { attempt, step, .. } => {
                progress.begin(*attempt);
                progress.iteration = iteration(&step.metadata).unwrap_or(progress.iteration);
                progress.doing = first_line(&step.content);
            }
            AgentEvent::Acted { attempt, step, .. } => {
                progress.begin(*attempt);
                progress.iteration = iteration(&step.metadata).unwrap_or(progress.iteration);
                progress.doing = first_line(&step.content);
                progress.steps.push(AgentStep {
                    tool: step.tool_used.clone().unwrap_or_default(),
                    input: step.tool_input.clone().unwrap_or_default(),
                    output: None,
                    ok: false,
                });
            }
            AgentEvent::Observed { step, .. } => {
                if let Some(last) = progress.steps.last_mut() {
                    last.output = Some(step.content.chars().take(KEPT_CHARS).collect());
                    last.ok = step.confidence_score.is_some_and(|score| score > 0.0);
                }
            }
            AgentEvent::StateSaved { attempt, state, .. } => {
                progress.begin(*attempt);
                progress.state = Some(state.clone());
            }
            AgentEvent::ModelAnswered { tokens, .. } | AgentEvent::ModelFailed { tokens, .. } => {
                progress.tokens = progress.tokens.saturating_add(*tokens);
            }
            AgentEvent::Concluded { answer, .. } => progress.answer = Some(answer.clone()),
            _ => {}
        }
    }
}

impl AgentProgress {
    /// A later attempt goes on where the one before it was interrupted; one that had ended begins anew.
    fn begin(&mut self, attempt: u32) {
        if attempt > self.attempt && self.answer.is_some() {
            let tokens = self.tokens;
            *self = Self { tokens, ..Self::default() };
        }
        self.attempt = self.attempt.max(attempt);
    }
}

fn iteration(metadata: &serde_json::Map<String, Value>) -> Option<u32> {
    metadata.get("iteration").and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(120).collect()
}
