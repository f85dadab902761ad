//! Counts tokens without a tokenizer: an estimate from the shape of the text, corrected by the figures providers
//! report.
//!
//! A tokenizer per model family takes megabytes and is still wrong for the next model. The corrected estimate is good
//! enough for budgets, and `planwright doctor` shows its error.

use serde::{Deserialize, Serialize};

use crate::{GenerateRequest, GeneratedAnswer, Message, MessagePart, RawToolCall};

/// Tokens of overhead per message.
const PER_MESSAGE: u64 = 4;

/// Estimates the tokens of a text.
pub fn estimate_text_tokens(text: &str) -> u64 {
    #[derive(PartialEq, Clone, Copy)]
    enum TokenCharClass {
        Word,
        Digit,
        Space,
        Other,
    }
    let (mut quarters, mut run, mut class) = (0u64, 0u64, TokenCharClass::Space);
    // Counted in quarters of a token: a word of up to six letters is one token, a longer one about one per four and a
    // half letters; digits are grouped in threes; a space belongs to the word after it; every punctuation mark is a
    // token.
    let close = |class: TokenCharClass, run: u64| match class {
        _ if run == 0 => 0,
        TokenCharClass::Word if run <= 6 => 4,
        TokenCharClass::Word => (run * 8 / 9).max(4),
        TokenCharClass::Digit => run.div_ceil(3) * 4,
        TokenCharClass::Space => u64::from(run > 1) * 4,
        TokenCharClass::Other => 0,
    };
    for letter in text.chars() {
        let now = match letter {
            'a'..='z' | 'A'..='Z' => TokenCharClass::Word,
            '0'..='9' => TokenCharClass::Digit,
            ' ' | '\n' | '\r' | '\t' => TokenCharClass::Space,
            _ => TokenCharClass::Other,
        };
        if now != class {
            quarters += close(class, run);
            (run, class) = (0, now);
        }
        run += 1;
        if now == TokenCharClass::Other {
            // Letters of other alphabets share tokens; symbols and ideographs do not.
            quarters += if letter.is_ascii() || letter.len_utf8() > 2 { 4 } else { 2 };
        }
    }
    (quarters + close(class, run)).div_ceil(4)
}

/// Estimates tokens from a byte count alone.
pub fn estimate_byte_tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// What providers add around a request and an answer: templates, tool instructions, turn markers.
const MARGIN: u64 = 4_096;
/// The longest plausible answer when the request sets no limit; hidden thinking is included.
const LONGEST_ANSWER: u64 = 131_072;

/// The most tokens a prompt can have: no tokenizer produces more than one token per byte.
pub fn max_request_tokens(request: &GenerateRequest) -> u64 {
    let parts = request.messages.iter().flat_map(|message| &message.parts).map(|part| match part {
        MessagePart::Text { text } => text.len(),
        MessagePart::Call(call) => call.name.len() + call.arguments.to_string().len(),
        MessagePart::Result { content, .. } => content.len(),
        MessagePart::Reasoning(item) => item.raw.to_string().len(),
    });
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len());
    let schema = request.output_schema.as_ref().map(|output| output.schema.to_string().len());
    let bytes: usize = parts.chain(tools).chain(schema).sum();
    // Names and schemas are repeated and escaped on the way to the model.
    (bytes as u64).saturating_mul(2).saturating_add(MARGIN)
}

/// The most tokens an answer can have: what was allowed, or what was received if a server ignores its limit.
pub fn max_answer_tokens(request: &GenerateRequest, generated: &GeneratedAnswer) -> u64 {
    let calls = generated.tool_calls.iter().map(|call| call.name.len() + call.arguments.len());
    let seen = (generated.text.len() + calls.sum::<usize>()) as u64;
    let allowed = request.max_output_tokens.map_or(LONGEST_ANSWER, u64::from);
    let thinking = u64::from(request.thinking_tokens.unwrap_or(0));
    seen.saturating_add(allowed).saturating_add(thinking).saturating_add(MARGIN)
}

/// Estimates the tokens of a message.
pub(crate) fn estimate_message_tokens(message: &Message) -> u64 {
    let parts = message.parts.iter().map(|part| match part {
        MessagePart::Text { text } => estimate_text_tokens(text),
        MessagePart::Call(call) => {
            estimate_text_tokens(&call.name)
                + estimate_text_tokens(&call.arguments.to_string())
                + PER_MESSAGE
        }
        MessagePart::Result { content, .. } => estimate_text_tokens(content) + PER_MESSAGE,
        // Signatures are long and cost nothing; what is read is the thought.
        MessagePart::Reasoning(item) => estimate_text_tokens(&item.text) + PER_MESSAGE,
    });
    PER_MESSAGE + parts.sum::<u64>()
}

/// Estimates the tokens of an entire prompt, including tools and schema.
pub fn estimate_request_tokens(request: &GenerateRequest) -> u64 {
    let messages: u64 = request.messages.iter().map(estimate_message_tokens).sum();
    let tools = request.tools.iter().map(|tool| {
        estimate_text_tokens(&tool.name)
            + estimate_text_tokens(&tool.description)
            + estimate_text_tokens(&tool.schema.to_string())
    });
    let schema = request
        .output_schema
        .as_ref()
        .map_or(0, |output| estimate_text_tokens(&output.schema.to_string()));
    messages + tools.sum::<u64>() + schema
}

/// Estimates the tokens of an answer.
pub(crate) fn estimate_answer_tokens(text: &str, calls: &[RawToolCall]) -> u64 {
    let calls = calls.iter().map(|call| {
        estimate_text_tokens(&call.name) + estimate_text_tokens(&call.arguments) + PER_MESSAGE
    });
    estimate_text_tokens(text) + calls.sum::<u64>()
}

/// A correction of the estimates for one model, learned from reported figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenCalibration {
    /// Reported tokens per estimated token.
    pub ratio: f64,
    pub samples: u32,
    /// Mean error of the corrected estimates, as a fraction.
    pub error: f64,
}

impl Default for TokenCalibration {
    fn default() -> Self {
        Self { ratio: 1.0, samples: 0, error: 0.0 }
    }
}

impl TokenCalibration {
    /// The weight of a new sample once there are many.
    const NEWEST: f64 = 0.1;

    pub(crate) fn correct_estimate(&self, estimate: u64) -> u64 {
        (estimate as f64 * self.ratio).ceil() as u64
    }

    /// Learns from one pair. Implausible figures are ignored.
    pub fn learn_sample(&mut self, estimated: u64, reported: u64) {
        if estimated == 0 || reported == 0 {
            return;
        }
        let ratio = reported as f64 / estimated as f64;
        if !(0.2..=5.0).contains(&ratio) {
            return;
        }
        let off =
            (self.correct_estimate(estimated) as f64 - reported as f64).abs() / reported as f64;
        self.samples = self.samples.saturating_add(1);
        // The estimate itself is weighted like two samples, so that one odd answer does not move it much.
        let weight = (1.0 / f64::from(self.samples.saturating_add(2))).max(Self::NEWEST);
        self.ratio += (ratio - self.ratio) * weight;
        self.error += (off - self.error) * weight;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn estimates_for_english_code_and_other_scripts_are_close_to_real_tokenizers() {
        // Token counts from the tokenizer of SmolLM2 for these texts.
        let known = [
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("Launch a newsletter in six weeks and keep it running.", 12),
            ("fn main() { println!(\"hello {}\", 12345); }", 19),
            ("internationalization and responsibility", 4),
            ("計画を立てる", 10),
            ("{\"path\": \"src/main.rs\", \"lines\": [1, 2, 300]}", 24),
        ];
        let (mut estimated, mut counted) = (0, 0);
        for (text, tokens) in known {
            let estimate = estimate_text_tokens(text);
            assert!(
                (tokens / 3..=tokens * 3).contains(&estimate),
                "{text}: {estimate} for {tokens}"
            );
            (estimated, counted) = (estimated + estimate, counted + tokens);
        }
        let ratio = estimated as f64 / counted as f64;
        assert!((0.75..=1.25).contains(&ratio), "{estimated} for {counted}");
        assert_eq!(estimate_text_tokens(""), 0);
    }

    #[test]
    fn reported_usage_corrects_the_estimate_and_its_error_shrinks() {
        let mut calibration = TokenCalibration::default();
        for _ in 0..50 {
            calibration.learn_sample(100, 130);
        }
        assert_eq!(calibration.correct_estimate(100), 130);
        assert!(calibration.error < 0.02, "{}", calibration.error);
        let before = calibration;
        for (estimated, reported) in [(100, 0), (0, 100), (100, u64::MAX), (1000, 3)] {
            calibration.learn_sample(estimated, reported);
        }
        assert_eq!(calibration, before, "absurd figures teach nothing");
    }

    proptest! {
        #[test]
        fn longer_texts_never_have_much_lower_estimates(text in ".{0,200}", more in ".{0,50}") {
            let both = format!("{text} {more}");
            prop_assert!(estimate_text_tokens(&both) + 2 >= estimate_text_tokens(&text));
            prop_assert!(estimate_text_tokens(&text) <= 2 * text.len() as u64 + 1);
        }
    }
}
