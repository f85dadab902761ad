//! Where an agent says what happens: redacted, folded into its own progress, then handed on.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::AgentEventCallback;
use crate::clock::Clock;
use planwright_llm::AnswerDelta;
use planwright_model::agent_decision::AgentDecision;
use planwright_model::event::AgentEvent;
use planwright_model::{PrdvPhase, ReActStep, StepAction, StepMetadata, TaskId};
use planwright_state::AgentProgress;
use planwright_text::{Redactor, StreamRedactor};

/// Pieces of an answer are shown when they are this long,
const PIECE: usize = 200;
/// or this old.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// The voice of one attempt. What it says is what its progress is folded from, so that a task that is taken up again
/// knows exactly what it knew before.
pub(super) struct AgentEventSink<'a> {
    pub(super) task: TaskId,
    pub(super) attempt: u32,
    pub(super) role: String,
    emit: AgentEventCallback<'a>,
    clock: Clock,
    pub(super) redactor: Redactor,
    progress: Mutex<AgentProgress>,
}

/// What a step says about itself.
pub(super) struct StepDraft {
    pub(super) content: String,
    pub(super) tool: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) output: Option<Value>,
    pub(super) confidence: Option<f64>,
    pub(super) prdv: PrdvPhase,
    pub(super) metadata: StepMetadata,
}

impl StepDraft {
    pub(super) fn new(content: impl Into<String>, prdv: PrdvPhase) -> Self {
        Self {
            content: content.into(),
            tool: None,
            input: None,
            output: None,
            confidence: None,
            prdv,
            metadata: StepMetadata::default(),
        }
    }

    pub(super) fn with_metadata(mut self, metadata: StepMetadata) -> Self {
        self.metadata = metadata;
        self
    }
}

impl<'a> AgentEventSink<'a> {
    pub(super) fn new(
        (task, attempt): (TaskId, u32),
        role: &str,
        say: AgentEventCallback<'a>,
        clock: Clock,
        redactor: Redactor,
        past: AgentProgress,
    ) -> Self {
        let progress = Mutex::new(past);
        Self { task, attempt, role: role.to_owned(), emit: say, clock, redactor, progress }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, AgentProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self, event: AgentEvent) {
        self.progress().apply(&event);
        (self.emit)(event);
    }

    pub(super) fn record_decision(&self, decision: impl Into<AgentDecision>) {
        let written = serde_json::to_value(decision.into()).unwrap_or_default();
        // Reading a decision never fails: one that its redaction changed too much is kept as text.
        let decision =
            serde_json::from_value::<AgentDecision>(redact_value(written, &self.redactor));
        let Ok(decision) = decision else { return };
        self.record(AgentEvent::Decided {
            task: self.task.clone(),
            attempt: self.attempt,
            decision: Box::new(decision),
        });
    }

    pub(super) fn record_thought(&self, words: StepDraft) {
        let step = Box::new(self.build_step(StepAction::Thought, words));
        self.record(AgentEvent::Thought { task: self.task.clone(), attempt: self.attempt, step });
    }

    pub(super) fn record_action(&self, words: StepDraft) {
        let step = Box::new(self.build_step(StepAction::Action, words));
        self.record(AgentEvent::Acted { task: self.task.clone(), attempt: self.attempt, step });
    }

    pub(super) fn record_observation(&self, words: StepDraft) {
        let step = Box::new(self.build_step(StepAction::Observation, words));
        self.record(AgentEvent::Observed { task: self.task.clone(), attempt: self.attempt, step });
    }

    fn build_step(&self, action: StepAction, words: StepDraft) -> ReActStep {
        let hide = |value: Value| redact_value(value, &self.redactor);
        let mut metadata = words.metadata;
        metadata.prdv = Some(words.prdv);
        metadata.agent_role.get_or_insert_with(|| self.role.clone().into());
        metadata.iteration.get_or_insert_with(|| self.progress().iteration());
        metadata.tokens.get_or_insert_with(|| self.progress().tokens);
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
pub(super) fn redact_value(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.redact(&text).into_owned()),
        Value::Array(items) => {
            items.into_iter().map(|item| redact_value(item, redactor)).collect::<Vec<_>>().into()
        }
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, item)| (name, redact_value(item, redactor)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

/// Joins the pieces of an answer, so that the journal holds a few and not one for each word.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct DeltaBuffer<F: Fn(String)> {
    inner: Mutex<DeltaBufferState>,
    show: F,
}

struct DeltaBufferState {
    waiting: String,
    since: Instant,
    stream: StreamRedactor,
}

impl<F: Fn(String)> DeltaBuffer<F> {
    pub fn new(redactor: &Redactor, show: F) -> Self {
        let (waiting, since, stream) = (String::new(), Instant::now(), redactor.start_stream());
        Self { inner: Mutex::new(DeltaBufferState { waiting, since, stream }), show }
    }

    /// Shows what waits, however short it is.
    pub(super) fn flush(&self) {
        let ready = {
            let mut pieces = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            pieces.since = Instant::now();
            std::mem::take(&mut pieces.waiting)
        };
        if !ready.is_empty() {
            (self.show)(ready);
        }
    }

    pub fn push_delta(&self, delta: AnswerDelta) {
        let text = match delta {
            AnswerDelta::Text { text } | AnswerDelta::Thinking { text } => text,
            AnswerDelta::Retrying { why, .. } => format!("\n(asked again: {why})\n"),
            AnswerDelta::Call { .. } => return,
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
        let joined = DeltaBuffer::new(&redactor, |text| shown.lock().unwrap().push(text));
        for piece in ["the key is s3cret-of-the-", "person-0123456789 and then "] {
            joined.push_delta(AnswerDelta::Text { text: piece.to_owned() });
        }
        for _ in 0..100 {
            joined.push_delta(AnswerDelta::Text { text: "many words ".to_owned() });
        }
        let shown = shown.into_inner().unwrap();
        assert!(shown.len() <= 7, "{} pieces", shown.len());
        assert!(shown.iter().all(|text| text.chars().count() >= PIECE));
        assert!(!shown.concat().contains("s3cret"));
    }
}
