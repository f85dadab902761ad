//! Where an agent says what happens: redacted, folded into its own progress, then handed on.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Say;
use crate::clock::Clock;
use planwright_drafting::executor::Prdv;
use planwright_llm::Delta;
use planwright_model::event::AgentEvent;
use planwright_model::{ReActStep, StepAction, TaskId};
use planwright_state::AgentProgress;
use planwright_text::{Redactor, StreamRedactor};

/// Pieces of an answer are shown when they are this long,
const PIECE: usize = 200;
/// or this old.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// The voice of one attempt. What it says is what its progress is folded from, so that a task that is taken up again
/// knows exactly what it knew before.
pub(super) struct Mouth<'a> {
    pub(super) task: TaskId,
    pub(super) attempt: u32,
    pub(super) role: String,
    say: Say<'a>,
    clock: Clock,
    pub(super) redactor: Redactor,
    progress: Mutex<AgentProgress>,
}

/// What a step says about itself.
pub(super) struct StepWords {
    pub(super) content: String,
    pub(super) tool: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) output: Option<Value>,
    pub(super) confidence: Option<f64>,
    pub(super) prdv: Prdv,
    pub(super) metadata: Map<String, Value>,
}

impl StepWords {
    pub(super) fn new(content: impl Into<String>, prdv: Prdv) -> Self {
        Self {
            content: content.into(),
            tool: None,
            input: None,
            output: None,
            confidence: None,
            prdv,
            metadata: Map::new(),
        }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }
}

impl<'a> Mouth<'a> {
    pub(super) fn new(
        (task, attempt): (TaskId, u32),
        role: &str,
        say: Say<'a>,
        clock: Clock,
        redactor: Redactor,
        past: AgentProgress,
    ) -> Self {
        let progress = Mutex::new(past);
        Self { task, attempt, role: role.to_owned(), say, clock, redactor, progress }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, AgentProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, event: AgentEvent) {
        self.progress().fold(&event);
        (self.say)(event);
    }

    pub(super) fn decided(&self, decision: Value) {
        let decision = redacted(decision, &self.redactor);
        self.tell(AgentEvent::Decided { task: self.task.clone(), attempt: self.attempt, decision });
    }

    pub(super) fn thought(&self, words: StepWords) {
        let step = Box::new(self.step(StepAction::Thought, words));
        self.tell(AgentEvent::Thought { task: self.task.clone(), attempt: self.attempt, step });
    }

    pub(super) fn acted(&self, words: StepWords) {
        let step = Box::new(self.step(StepAction::Action, words));
        self.tell(AgentEvent::Acted { task: self.task.clone(), attempt: self.attempt, step });
    }

    pub(super) fn observed(&self, words: StepWords) {
        let step = Box::new(self.step(StepAction::Observation, words));
        self.tell(AgentEvent::Observed { task: self.task.clone(), attempt: self.attempt, step });
    }

    fn step(&self, action: StepAction, words: StepWords) -> ReActStep {
        let hide = |value: Value| redacted(value, &self.redactor);
        let mut metadata = words.metadata;
        metadata.insert("prdv".to_owned(), json!(words.prdv));
        metadata.entry("agent_role").or_insert_with(|| self.role.clone().into());
        metadata.entry("iteration").or_insert_with(|| self.progress().iteration().into());
        metadata.entry("tokens").or_insert_with(|| self.progress().tokens.into());
        ReActStep {
            timestamp: (self.clock)(),
            task_id: self.task.clone(),
            action,
            content: self.redactor.redact(&words.content).into_owned(),
            tool_used: words.tool,
            tool_input: words.input.map(hide),
            tool_output: words.output.map(hide),
            confidence_score: words.confidence,
            metadata,
        }
    }
}

/// Covers secrets wherever they stand in a value.
pub(super) fn redacted(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.redact(&text).into_owned()),
        Value::Array(items) => {
            items.into_iter().map(|item| redacted(item, redactor)).collect::<Vec<_>>().into()
        }
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, item)| (name, redacted(item, redactor)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

/// Joins the pieces of an answer, so that the journal holds a few and not one for each word.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Joined<F: Fn(String)> {
    inner: Mutex<Pieces>,
    show: F,
}

struct Pieces {
    waiting: String,
    since: Instant,
    stream: StreamRedactor,
}

impl<F: Fn(String)> Joined<F> {
    pub fn new(redactor: &Redactor, show: F) -> Self {
        let (waiting, since, stream) = (String::new(), Instant::now(), redactor.stream());
        Self { inner: Mutex::new(Pieces { waiting, since, stream }), show }
    }

    /// Shows what waits, however short it is.
    pub(super) fn show_waiting(&self) {
        let ready = {
            let mut pieces = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            pieces.since = Instant::now();
            std::mem::take(&mut pieces.waiting)
        };
        if !ready.is_empty() {
            (self.show)(ready);
        }
    }

    pub fn take(&self, delta: Delta) {
        let text = match delta {
            Delta::Text { text } | Delta::Thinking { text } => text,
            Delta::Retrying { why, .. } => format!("\n(asked again: {why})\n"),
            Delta::Call { .. } => return,
        };
        let ready = {
            let mut pieces = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let decided = pieces.stream.push(&text);
            pieces.waiting.push_str(&decided);
            let long = pieces.waiting.chars().nth(PIECE - 1).is_some();
            let due = long || (!pieces.waiting.is_empty() && pieces.since.elapsed() >= PAUSE);
            due.then(|| {
                pieces.since = Instant::now();
                std::mem::take(&mut pieces.waiting)
            })
        };
        if let Some(text) = ready {
            (self.show)(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_and_a_secret_over_two_of_them_is_covered() {
        let shown = Mutex::new(Vec::new());
        let redactor = Redactor::new(["s3cret-of-the-person-0123456789"]);
        let joined = Joined::new(&redactor, |text| shown.lock().unwrap().push(text));
        for piece in ["the key is s3cret-of-the-", "person-0123456789 and then "] {
            joined.take(Delta::Text { text: piece.to_owned() });
        }
        for _ in 0..100 {
            joined.take(Delta::Text { text: "many words ".to_owned() });
        }
        let shown = shown.into_inner().unwrap();
        assert!(shown.len() <= 7, "{} pieces", shown.len());
        assert!(shown.iter().all(|text| text.chars().count() >= PIECE));
        assert!(!shown.concat().contains("s3cret"));
    }
}
