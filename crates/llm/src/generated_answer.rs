//! Answers of a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use planwright_model::ReasoningItem;

/// Tokens as reported by the provider; `None` where it reports nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// All tokens of the prompt, including those read from or written to the provider's cache.
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

    /// The sum of two usages; the sum of two absent figures is absent.
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
    /// The answer is complete.
    Stop,
    /// The limit on output tokens was reached; the answer is truncated.
    Length,
    ToolCalls,
    /// The provider withheld the rest.
    Filtered,
    Other(String),
}

/// Whether a stop reason means that the answer is complete. Servers pass on the reason of the model behind them, in any
/// letter case and independent of the format they implement.
#[cfg(any(feature = "providers", test))]
pub(super) fn is_ordinary_end(reason: &str) -> bool {
    const ENDS: [&str; 7] =
        ["stop", "complete", "eos", "eos_token", "eosfound", "stop_sequence", "end_turn"];
    ENDS.iter().any(|end| reason.eq_ignore_ascii_case(end))
}

/// A tool call as the provider delivered it: complete, not yet checked. Use [`protocol`](super::protocol) to check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawToolCall {
    pub id: String,
    /// Mapped back to the name in the registry if there is one.
    pub name: String,
    /// JSON text, or whatever the model sent instead.
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
    /// What the model thought, to be sent back with the results of its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<ReasoningItem>,
    pub finish: FinishReason,
    /// The model's name as reported by the provider, otherwise as requested.
    pub model: String,
    /// Estimated usage of interrupted attempts before this one. It is charged as well.
    #[serde(default)]
    pub spent_on_retries: TokenUsage,
}

/// Progress of an answer while it arrives. For display only: act on [`GeneratedAnswer`], never on deltas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "delta", rename_all = "snake_case")]
pub enum AnswerDelta {
    Text {
        text: String,
    },
    /// The thinking of a reasoning model before its answer.
    Thinking {
        text: String,
    },
    /// A call is being written. The arguments are a fragment of JSON text.
    Call {
        index: usize,
        name: String,
        arguments: String,
    },
    /// The attempt failed; all text since the request is void, and the request is repeated after a delay.
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
    fn ordinary_stop_reasons_of_any_server_are_recognized() {
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
