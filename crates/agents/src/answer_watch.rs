//! Watches an answer while it arrives: pieces of it, how long it takes, and what holds it up, as events.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::event_sink::{AnswerPiece, DeltaBuffer, PAUSE};
use planwright_llm::cost::tokens::estimate_byte_tokens;
use planwright_llm::{AnswerDelta, ModelInfo};
use planwright_model::TaskId;
use planwright_model::event::AgentEvent;
use planwright_text::Redactor;

/// From here on it is said that an answer is waited for, and again whenever the time has doubled.
const FIRST_NOTICE: Duration = Duration::from_secs(3);

/// The watch over one question to a model.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct AnswerWatch<'a> {
    task: Option<TaskId>,
    ask: u32,
    model: String,
    redactor: &'a Redactor,
    emit: &'a (dyn Fn(AgentEvent) + Send + Sync),
    pieces: DeltaBuffer,
    progress: Mutex<AnswerProgress>,
}

struct AnswerProgress {
    began: Instant,
    next_notice: Duration,
    received: usize,
    writing: bool,
    /// Words of the answer were shown while it arrived.
    words_shown: bool,
}

impl<'a> AnswerWatch<'a> {
    /// Begins to watch. `task` is none for planning.
    pub fn begin(
        task: Option<TaskId>,
        ask: u32,
        model: &ModelInfo,
        redactor: &'a Redactor,
        emit: &'a (dyn Fn(AgentEvent) + Send + Sync),
    ) -> Self {
        let progress = AnswerProgress {
            began: Instant::now(),
            next_notice: FIRST_NOTICE,
            received: 0,
            writing: false,
            words_shown: false,
        };
        Self {
            task,
            ask,
            model: model.label().to_owned(),
            redactor,
            emit,
            pieces: DeltaBuffer::new(redactor),
            progress: Mutex::new(progress),
        }
    }

    /// Takes notice of a piece of the answer.
    pub fn push_delta(&self, delta: AnswerDelta) {
        self.count_delta(&delta);
        match delta {
            AnswerDelta::Retrying { wait, why, .. } => {
                self.pieces.restart(self.redactor);
                // A request that is only put in other words is not a delay.
                if !wait.is_zero() {
                    (self.emit)(AgentEvent::ModelDelayed {
                        task: self.task.clone(),
                        ask: self.ask,
                        model: self.model.clone(),
                        why: self.redactor.redact(&why).into_owned(),
                        wait_sec: wait.as_secs() + u64::from(wait.subsec_nanos() > 0),
                    });
                }
            }
            other => self.emit_pieces(self.pieces.push_delta(other)),
        }
    }

    /// Waits for the answer. What has come is shown even while nothing more comes, and so is a wait that grows long.
    pub async fn watch<T>(&self, answering: impl Future<Output = T>) -> T {
        let mut answering = std::pin::pin!(answering);
        loop {
            tokio::select! {
                result = &mut answering => {
                    // Whoever has seen no word of the answer gets it whole; otherwise the rest is missing.
                    let shown = self.words_shown();
                    let mut rest = self.pieces.finish();
                    rest.retain(|piece| piece.thought || shown);
                    self.emit_pieces(rest);
                    return result;
                }
                () = tokio::time::sleep(PAUSE) => self.emit_pieces(self.pieces.flush()),
            }
            if let Some(notice) = self.due_notice() {
                (self.emit)(notice);
            }
        }
    }

    /// Whether words of the answer were shown while it arrived, so that they need not be shown again.
    pub fn words_shown(&self) -> bool {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).words_shown
    }

    fn count_delta(&self, delta: &AnswerDelta) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match delta {
            AnswerDelta::Thinking { text } => progress.received += text.len(),
            AnswerDelta::Text { text } => {
                progress.received += text.len();
                progress.writing = true;
            }
            AnswerDelta::Call { arguments, .. } => {
                progress.received += arguments.len();
                progress.writing = true;
            }
            AnswerDelta::Retrying { .. } => (progress.received, progress.writing) = (0, false),
        }
    }

    fn emit_pieces(&self, pieces: Vec<AnswerPiece>) {
        for AnswerPiece { text, thought } in pieces {
            if !thought {
                self.progress.lock().unwrap_or_else(PoisonError::into_inner).words_shown = true;
            }
            let (task, ask) = (self.task.clone(), self.ask);
            (self.emit)(AgentEvent::Partial { task, ask, text, thought });
        }
    }

    fn due_notice(&self) -> Option<AgentEvent> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = progress.began.elapsed();
        if elapsed < progress.next_notice {
            return None;
        }
        progress.next_notice = progress.next_notice.saturating_mul(2);
        Some(AgentEvent::ModelWaiting {
            task: self.task.clone(),
            ask: self.ask,
            model: self.model.clone(),
            elapsed_sec: elapsed.as_secs(),
            tokens: estimate_byte_tokens(progress.received),
            writing: progress.writing,
        })
    }
}
