//! What a model answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Tokens as the provider reports them; what it does not report is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// All tokens of the prompt, those read from or written to the provider's cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The part of the input that was read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// The part of the input that was written to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<u64>,
}

impl TokenUsage {
    pub fn from_counts(input: u64, output: u64) -> Self {
        Self { input: Some(input), output: Some(output), ..Self::default() }
    }

    pub fn total(&self) -> u64 {
        self.input.unwrap_or(0).saturating_add(self.output.unwrap_or(0))
    }

    /// The sum of two usages; absent plus absent stays absent.
    pub fn plus(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cached: sum(self.cached, other.cached),
            cache_written: sum(self.cache_written, other.cache_written),
        }
    }
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It said what it wanted to say.
    Stop,
    /// The limit on output tokens was reached; the answer is cut.
    Length,
    ToolCalls,
    /// The provider withheld the rest.
    Filtered,
    Other(String),
}

/// Whether a reason to stop means that the answer is whole. Servers pass on the words of the model behind them, in any
/// case and whatever format they speak.
pub(super) fn is_ordinary_end(reason: &str) -> bool {
    const ENDS: [&str; 7] =
        ["stop", "complete", "eos", "eos_token", "eosfound", "stop_sequence", "end_turn"];
    ENDS.iter().any(|end| reason.eq_ignore_ascii_case(end))
}

/// A tool call as the provider delivered it: complete, not yet checked. Use [`protocol`](super::protocol) to check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawToolCall {
    pub id: String,
    /// Mapped back to the registry's name where it is one.
    pub name: String,
    /// JSON text, or what the model took for it.
    pub arguments: String,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratedAnswer {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<RawToolCall>,
    #[serde(default)]
    pub usage: TokenUsage,
    pub finish: FinishReason,
    /// The model's name as the provider reported it, else as it was asked for.
    pub model: String,
    /// What attempts that broke off before this one used up, estimated. It is paid for as well.
    #[serde(default)]
    pub spent_on_retries: TokenUsage,
}

/// What can be seen while an answer arrives. For the eyes only: act on [`GeneratedAnswer`], never on deltas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "delta", rename_all = "snake_case")]
pub enum AnswerDelta {
    Text {
        text: String,
    },
    /// What a reasoning model thinks before it answers.
    Thinking {
        text: String,
    },
    /// A call is being written. The arguments are a piece of JSON text.
    Call {
        index: usize,
        name: String,
        arguments: String,
    },
    /// The attempt failed; all text since the request is void, and it is asked again after a wait.
    Retrying {
        attempt: u32,
        wait: Duration,
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_ends_are_told_in_the_words_of_any_server() {
        for reason in
            ["stop", "complete", "EOS", "eos_token", "eosfound", "stop_sequence", "END_TURN"]
        {
            assert!(is_ordinary_end(reason), "{reason}");
        }
        for reason in ["", "length", "max_tokens", "incomplete", "load", "pause_turn", "error"] {
            assert!(!is_ordinary_end(reason), "{reason}");
        }
    }
}
