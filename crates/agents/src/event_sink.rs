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
pub fn redact_value(value: Value, redactor: &Redactor) -> Value {
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

/// A piece of an answer that is long or old enough to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnswerPiece {
    pub(super) text: String,
    /// It belongs to what the model thinks, not to what it says.
    pub(super) thought: bool,
}

/// Joins the pieces of an answer, so that the journal holds a few and not one for each word. Thought and words are kept
/// apart, and a piece ends at the end of a word.
#[derive(Debug)]
pub(super) struct DeltaBuffer(Mutex<DeltaBufferState>);

#[derive(Debug)]
struct DeltaBufferState {
    /// What waits to be shown.
    waiting: String,
    thought: bool,
    since: Instant,
    stream: StreamRedactor,
    redactor: Redactor,
}

impl DeltaBufferState {
    fn new(redactor: &Redactor) -> Self {
        Self {
            waiting: String::new(),
            thought: false,
            since: Instant::now(),
            stream: redactor.start_stream(),
            redactor: redactor.clone(),
        }
    }

    /// Takes what waits, up to the end of its last sentence, so that a step reads as one; up to the end of its last word
    /// if the sentence is long or slow, and everything if all of it is wanted.
    fn take_waiting(&mut self, all: bool) -> Option<AnswerPiece> {
        let long = self.waiting.chars().count() >= PIECE || self.since.elapsed() >= 5 * PAUSE;
        let end = match (all, last_sentence_end(&self.waiting)) {
            (true, _) => self.waiting.len(),
            (false, 0) if long => last_word_end(&self.waiting),
            (false, end) => end,
        };
        if end == 0 {
            return None;
        }
        self.since = Instant::now();
        let text: String = self.waiting.drain(..end).collect();
        let thought = self.thought;
        (!text.trim().is_empty()).then_some(AnswerPiece { text, thought })
    }

    /// Takes everything, what the redactor holds back included.
    fn take_all(&mut self) -> Option<AnswerPiece> {
        let stream = std::mem::replace(&mut self.stream, self.redactor.start_stream());
        self.waiting.push_str(&stream.finish());
        self.take_waiting(true)
    }
}

/// Where the last word that is complete ends.
fn last_word_end(text: &str) -> usize {
    let last = text.char_indices().rev().find(|(_, letter)| letter.is_whitespace());
    last.map_or(0, |(at, letter)| at + letter.len_utf8())
}

/// Where the last sentence or line that is complete ends.
fn last_sentence_end(text: &str) -> usize {
    let mut end = 0;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let closes = matches!(before, '.' | '!' | '?' | ':' | '…' | '。');
        if letter == '\n' || (letter.is_whitespace() && closes) {
            end = at + letter.len_utf8();
        }
        before = letter;
    }
    end
}

impl DeltaBuffer {
    pub(super) fn new(redactor: &Redactor) -> Self {
        Self(Mutex::new(DeltaBufferState::new(redactor)))
    }

    fn lock(&self) -> MutexGuard<'_, DeltaBufferState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits and is old enough to be shown, however short it is.
    pub(super) fn flush(&self) -> Vec<AnswerPiece> {
        let mut state = self.lock();
        if state.since.elapsed() < PAUSE {
            return Vec::new();
        }
        state.take_waiting(false).into_iter().collect()
    }

    /// Everything that was not shown yet.
    pub(super) fn finish(&self) -> Vec<AnswerPiece> {
        self.lock().take_all().into_iter().collect()
    }

    /// What was received is void; the answer begins anew.
    pub(super) fn restart(&self, redactor: &Redactor) {
        *self.lock() = DeltaBufferState::new(redactor);
    }

    pub(super) fn push_delta(&self, delta: AnswerDelta) -> Vec<AnswerPiece> {
        let (text, thought) = match delta {
            AnswerDelta::Text { text } => (text, false),
            AnswerDelta::Thinking { text } => (text, true),
            AnswerDelta::Call { .. } | AnswerDelta::Retrying { .. } => return Vec::new(),
        };
        let mut state = self.lock();
        let mut ready = Vec::new();
        if state.thought != thought {
            ready.extend(state.take_all());
            state.thought = thought;
        }
        let decided = state.stream.push(&text);
        state.waiting.push_str(&decided);
        let length = state.waiting.chars().count();
        let old = !state.waiting.is_empty() && state.since.elapsed() >= PAUSE;
        if length >= PIECE || old {
            // A word without an end is cut somewhere.
            let piece = state.take_waiting(length >= 4 * PIECE);
            ready.extend(piece);
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> AnswerDelta {
        AnswerDelta::Text { text: text.to_owned() }
    }

    #[test]
    fn pieces_are_joined_and_a_secret_over_two_of_them_is_covered() {
        let redactor = Redactor::new(["s3cret-of-the-person-0123456789"]);
        let joined = DeltaBuffer::new(&redactor);
        let mut shown = Vec::new();
        for piece in ["the key is s3cret-of-the-", "person-0123456789 and then "] {
            shown.extend(joined.push_delta(text(piece)));
        }
        for _ in 0..100 {
            shown.extend(joined.push_delta(text("many words ")));
        }
        assert!(shown.len() <= 7, "{} pieces", shown.len());
        let whole: String = shown.iter().map(|piece| piece.text.as_str()).collect();
        assert!(!whole.contains("s3cret"));
    }

    #[test]
    fn a_piece_is_a_sentence_or_several() {
        let joined = DeltaBuffer::new(&Redactor::default());
        let said = "The library computes the ratio already, so the work is one new command file. "
            .repeat(4)
            + "I need no questions; what I assume is in the summary.";
        let mut shown = Vec::new();
        for piece in said.as_bytes().chunks(5) {
            shown.extend(joined.push_delta(text(std::str::from_utf8(piece).unwrap())));
        }
        shown.extend(joined.finish());
        assert!(shown.len() >= 2, "{shown:?}");
        assert!(shown.iter().all(|piece| piece.text.trim_end().ends_with('.')), "{shown:?}");
        let whole: String = shown.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(whole, said);
    }

    #[test]
    fn thought_and_words_are_apart_no_word_is_broken_and_nothing_is_lost() {
        let joined = DeltaBuffer::new(&Redactor::default());
        let thought = "Consider the closest known subtype ".repeat(20);
        let words = "This is removed.";
        let mut shown = Vec::new();
        for piece in thought.as_bytes().chunks(7) {
            let text = String::from_utf8(piece.to_vec()).unwrap();
            shown.extend(joined.push_delta(AnswerDelta::Thinking { text }));
        }
        shown.extend(joined.push_delta(text(words)));
        shown.extend(joined.finish());
        let said = |wanted: bool| -> String {
            shown.iter().filter(|piece| piece.thought == wanted).map(|p| p.text.as_str()).collect()
        };
        assert_eq!((said(true), said(false)), (thought, words.to_owned()));
        let thoughts: Vec<_> = shown.iter().filter(|piece| piece.thought).collect();
        assert!(thoughts.len() >= 3, "{shown:?}");
        assert!(thoughts.iter().all(|piece| piece.text.ends_with(char::is_whitespace)));
    }
}
