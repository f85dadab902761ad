//! What calls printed, as it is read back: the text, and how much of it was not kept.

use std::collections::BTreeMap;

use super::PrintedPiece;
use planwright_model::CallId;
use planwright_model::event::OutputStream;
use planwright_text::units;

/// What one event adds to the output of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedOutput {
    pub stream: OutputStream,
    pub text: String,
    /// How many bytes belong here and were not kept.
    pub missing_bytes: u64,
}

impl PrintedOutput {
    pub(super) fn from_text(stream: OutputStream, text: String) -> Self {
        Self { stream, text, missing_bytes: 0 }
    }

    pub(super) fn from_pieces(stream: OutputStream, pieces: &[PrintedPiece]) -> Self {
        let mut printed = Self::from_text(stream, String::new());
        for piece in pieces {
            match piece {
                PrintedPiece::Text(_, text) => printed.text.push_str(text),
                PrintedPiece::Missing(bytes) => printed.missing_bytes += bytes,
            }
        }
        printed
    }
}

/// A line in the place of output that was not kept.
pub fn missing_output_line(bytes: u64) -> String {
    format!("… [{} not kept]", units::format_bytes(bytes))
}

/// Joins what is missing in a row, for whoever reads the output of calls from one event to the next: one line counts all of it.
#[derive(Clone, Debug, Default)]
pub struct MissingOutput {
    bytes: BTreeMap<CallId, u64>,
}

impl MissingOutput {
    /// Counts what one event lacks.
    pub fn add(&mut self, call: &CallId, bytes: u64) {
        if bytes > 0 {
            *self.bytes.entry(call.clone()).or_default() += bytes;
        }
    }

    /// The line for what a call lacks up to here, before what it printed next.
    pub fn take_line(&mut self, call: &CallId) -> Option<String> {
        self.bytes.remove(call).map(missing_output_line)
    }

    /// The lines of all calls, where nothing follows for now.
    pub fn take_lines(&mut self) -> Vec<(CallId, String)> {
        let all = std::mem::take(&mut self.bytes);
        all.into_iter().map(|(call, bytes)| (call, missing_output_line(bytes))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_in_a_row_is_one_line_for_each_call() {
        let call = |task: &str| CallId { task: task.into(), attempt: 1, step: 1 };
        let mut missing = MissingOutput::default();
        for (task, bytes) in [("a", 600), ("b", 5), ("a", 400), ("a", 0)] {
            missing.add(&call(task), bytes);
        }
        assert_eq!(missing.take_line(&call("a")).unwrap(), "… [1 kB not kept]");
        assert_eq!(missing.take_line(&call("a")), None);
        assert_eq!(missing.take_lines(), [(call("b"), "… [5 B not kept]".to_owned())]);
        assert!(missing.take_lines().is_empty());
    }
}
