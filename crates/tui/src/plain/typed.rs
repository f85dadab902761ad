//! Lines that the person types, each with the moment it was finished, so that what was typed too early answers nothing.
//!
//! Lines from a pipe have no such moment: they are left in the pipe until something was printed that they can answer.

use std::io::{self, BufRead, IsTerminal};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

/// Lines that end this soon after a request was shown were meant for something else.
const ANSWER_DELAY: Duration = Duration::from_millis(300);

/// A line and when it was read.
#[derive(Debug)]
pub(super) struct TypedLine {
    pub(super) text: String,
    pub(super) at: Instant,
}

/// Where lines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineSource {
    Terminal,
    /// A file or another program.
    Pipe,
}

impl LineSource {
    /// What the standard input is.
    pub(super) fn from_stdin() -> Self {
        if io::stdin().is_terminal() { Self::Terminal } else { Self::Pipe }
    }
}

/// Lines from the standard input, read by a thread that ends with it.
pub(super) fn read_typed_lines() -> mpsc::Receiver<TypedLine> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        for text in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(TypedLine { text, at: Instant::now() }).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Whether a line that was read at this moment may answer a request that was shown at that one.
pub(super) fn accepts_answer(shown_at: Option<Instant>, typed_at: Instant) -> bool {
    shown_at.is_some_and(|shown| typed_at.saturating_duration_since(shown) >= ANSWER_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_typed_after_a_moment_answers() {
        let shown = Instant::now();
        let after = |millis| shown + Duration::from_millis(millis);
        assert!(!accepts_answer(None, shown));
        for (typed, expected) in [(after(0), false), (after(299), false), (after(300), true)] {
            assert_eq!(accepts_answer(Some(shown), typed), expected);
        }
        assert!(!accepts_answer(Some(after(500)), shown), "typed ahead");
    }
}
