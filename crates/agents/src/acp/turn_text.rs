//! What an agent says in a turn: joined to steps of a readable size, within a bound, and kept as the words it ended with.

use std::sync::{Arc, Mutex};

use super::attempt::lock;
use crate::event_sink::{AnswerPiece, DeltaBuffer};
use planwright_llm::AnswerDelta;
use planwright_text::Redactor;

/// How much of what an agent says in one turn is journaled.
const MOST_TURN_CHARS: usize = 200_000;
/// The longest step that its words are split into.
const MOST_STEP_CHARS: usize = 4_000;
/// How much of its last words is kept.
const MOST_WORDS: usize = 64_000;

/// The text of a turn.
#[derive(Debug)]
pub(super) struct TurnText {
    pieces: DeltaBuffer,
    state: Mutex<TurnTextState>,
    refused_hosts: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug, Default)]
struct TurnTextState {
    /// What it said since its last call.
    words: String,
    taken: usize,
    /// Characters that are not kept.
    dropped: usize,
}

impl TurnText {
    pub(super) fn new(redactor: &Redactor) -> Self {
        let pieces = DeltaBuffer::new(redactor);
        Self { pieces, state: Mutex::default(), refused_hosts: Arc::default() }
    }

    /// Hosts that the agent tried to reach and may not.
    pub(super) fn refused_hosts(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.refused_hosts)
    }

    /// A turn begins: nothing was said yet.
    pub(super) fn begin(&self) {
        *lock(&self.state) = TurnTextState::default();
    }

    /// Takes in a piece and gives back what is long or old enough for a step.
    pub(super) fn push(&self, text: &str, thought: bool) -> Vec<AnswerPiece> {
        let kept = {
            let mut state = lock(&self.state);
            if !thought && state.words.len() < MOST_WORDS {
                let room = MOST_WORDS - state.words.len();
                state.words.extend(text.chars().take(room));
            }
            let count = text.chars().count();
            let room = MOST_TURN_CHARS.saturating_sub(state.taken);
            state.taken += count.min(room);
            state.dropped += count.saturating_sub(room);
            if count > room { text.chars().take(room).collect() } else { text.to_owned() }
        };
        let delta = if thought {
            AnswerDelta::Thinking { text: kept }
        } else {
            AnswerDelta::Text { text: kept }
        };
        split_pieces(self.pieces.push_delta(delta))
    }

    /// What waits and is old enough to be shown.
    pub(super) fn flush(&self) -> Vec<AnswerPiece> {
        split_pieces(self.pieces.flush())
    }

    /// Everything that was not shown yet.
    pub(super) fn finish(&self) -> Vec<AnswerPiece> {
        let mut pieces = split_pieces(self.pieces.finish());
        let dropped = std::mem::take(&mut lock(&self.state).dropped);
        if dropped > 0 {
            let text = format!("({dropped} more characters of this turn are not kept)");
            pieces.push(AnswerPiece { text, thought: true });
        }
        pieces
    }

    /// What comes after this is said about something else.
    pub(super) fn forget_words(&self) {
        lock(&self.state).words.clear();
    }

    /// What it said last.
    pub(super) fn words(&self) -> String {
        lock(&self.state).words.clone()
    }
}

fn split_pieces(pieces: Vec<AnswerPiece>) -> Vec<AnswerPiece> {
    let mut split = Vec::new();
    for piece in pieces {
        let letters: Vec<char> = piece.text.chars().collect();
        for part in letters.chunks(MOST_STEP_CHARS) {
            split.push(AnswerPiece { text: part.iter().collect(), thought: piece.thought });
        }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_message_becomes_a_bounded_number_of_steps() {
        let text = TurnText::new(&Redactor::default());
        text.begin();
        let mut steps = text.push(&"word ".repeat(2_000_000), false);
        steps.extend(text.finish());
        assert!(steps.len() <= 60, "{} steps", steps.len());
        assert!(steps.iter().all(|step| step.text.chars().count() <= MOST_STEP_CHARS));
        assert!(steps.last().unwrap().text.contains("9800000 more characters"));
        assert_eq!(text.words().len(), MOST_WORDS);
    }

    #[test]
    fn the_last_words_are_those_after_the_last_call() {
        let text = TurnText::new(&Redactor::default());
        text.begin();
        text.push("I will look. ", false);
        text.forget_words();
        text.push("thinking", true);
        text.push("Done.", false);
        assert_eq!(text.words(), "Done.");
    }
}
