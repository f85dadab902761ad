//! Assembles an answer from candidates.

use serde_json::{Value, json};

use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, AnswerDraft, DecodeFault, DecodeProgress, WireEvent, find_server_error,
    parse_json, text_field,
};
use crate::{AnswerDelta, DeltaSink, FinishReason, GeneratedAnswer, TokenUsage};
use planwright_model::{ReasoningFormat, ReasoningItem};

/// Everything received so far.
#[derive(Debug)]
pub(super) struct GeminiDecoder {
    draft: AnswerDraft,
    thought: String,
}

impl GeminiDecoder {
    pub(super) fn new(model: &str, names: ToolNameMap) -> Self {
        Self { draft: AnswerDraft::new(model, names), thought: String::new() }
    }

    fn decode_value(
        &mut self,
        value: &Value,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault> {
        if let Some(fault) = find_server_error(value) {
            return Err(fault);
        }
        self.read_metadata(value);
        if let Some(reason) = value.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.draft.any = true;
            self.draft.finish = Some(parse_finish_reason(reason).unwrap_or(FinishReason::Filtered));
            return Ok(DecodeProgress::Progress);
        }
        let candidate = value.pointer("/candidates/0");
        if candidate.is_none() && value.get("usageMetadata").is_none() {
            return Err(DecodeFault::Shape("a chunk without candidates".to_owned()));
        }
        let Some(candidate) = candidate else { return Ok(DecodeProgress::KeepAlive) };
        self.draft.any = true;
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            self.read_part(part, deltas)?;
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.draft.finish = parse_finish_reason(reason);
        }
        Ok(DecodeProgress::Progress)
    }

    fn read_metadata(&mut self, value: &Value) {
        self.draft.read_model(value, "modelVersion");
        let Some(usage) = value.get("usageMetadata") else { return };
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let written = count("candidatesTokenCount");
        let thought = count("thoughtsTokenCount");
        let before = self.draft.usage;
        self.draft.usage = TokenUsage {
            input: count("promptTokenCount").or(before.input),
            output: match (written, thought) {
                (None, None) => before.output,
                (written, thought) => {
                    Some(written.unwrap_or(0).saturating_add(thought.unwrap_or(0)))
                }
            },
            cached: count("cachedContentTokenCount").or(before.cached),
            cache_written: None,
        };
    }

    fn read_part(&mut self, part: &Value, deltas: DeltaSink<'_>) -> Result<(), DecodeFault> {
        if let Some(signature) = part.get("thoughtSignature") {
            self.draft.reasoning.push(ReasoningItem {
                format: ReasoningFormat::Gemini,
                position: self.draft.next_position(),
                text: String::new(),
                raw: json!({"thoughtSignature": signature}),
            });
        }
        if let Some(call) = part.get("functionCall") {
            return self.read_call(call, deltas);
        }
        let Some(text) = part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty())
        else {
            return Ok(());
        };
        let text = text.to_owned();
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            self.thought.push_str(&text);
            deltas(AnswerDelta::Thinking { text });
        } else {
            self.draft.append_text(text, deltas);
        }
        Ok(())
    }

    fn read_call(&mut self, call: &Value, deltas: DeltaSink<'_>) -> Result<(), DecodeFault> {
        let arguments = call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string);
        let (id, name) = (text_field(call, "id"), text_field(call, "name"));
        self.draft.push_whole_call(id, name, arguments, deltas)
    }
}

/// `None` for the reason that stands for "not finished".
fn parse_finish_reason(reason: &str) -> Option<FinishReason> {
    Some(match reason {
        "FINISH_REASON_UNSPECIFIED" => return None,
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => FinishReason::Filtered,
        other => FinishReason::Other(other.to_owned()),
    })
}

impl AnswerDecoder for GeminiDecoder {
    fn decode_event(
        &mut self,
        event: &WireEvent,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault> {
        self.decode_value(&parse_json(&event.data)?, deltas)
    }

    fn decode_complete(&mut self, answer: &Value) -> Result<(), DecodeFault> {
        self.decode_value(answer, &crate::ignore_deltas).map(drop)
    }

    fn finish(self: Box<Self>) -> Result<GeneratedAnswer, DecodeFault> {
        let Self { mut draft, thought } = *self;
        // The thought itself is not sent back; it is kept for people to read.
        match draft.reasoning.first_mut() {
            Some(first) => first.text = thought,
            None if thought.is_empty() => {}
            None => draft.reasoning.push(ReasoningItem {
                format: ReasoningFormat::Gemini,
                position: 0,
                text: thought,
                raw: json!({}),
            }),
        }
        draft.into_answer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ignore_deltas;

    fn read(chunks: &[Value]) -> Result<GeneratedAnswer, DecodeFault> {
        let mut decoder = GeminiDecoder::new("m", ToolNameMap::default());
        for chunk in chunks {
            let event = WireEvent { name: "message".into(), data: chunk.to_string() };
            decoder.decode_event(&event, &ignore_deltas)?;
        }
        Box::new(decoder).finish()
    }

    fn chunk(parts: &Value) -> Value {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}}]})
    }

    #[test]
    fn thoughts_words_calls_and_signatures_are_kept_apart() {
        let end = json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 6,
                "cachedContentTokenCount": 2}, "modelVersion": "gemini-x"});
        let answer = read(&[
            chunk(&json!([{"text": "Let me see.", "thought": true}])),
            chunk(&json!([{"text": "I look."}])),
            chunk(&json!([
                {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "s1"},
                {"functionCall": {"name": "g", "args": {}, "id": "own"}},
            ])),
            end,
        ])
        .unwrap();
        assert_eq!(answer.text, "I look.");
        let ids: Vec<&str> = answer.tool_calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_0", "own"]);
        assert_eq!(
            answer.reasoning,
            [ReasoningItem {
                format: ReasoningFormat::Gemini,
                position: 0,
                text: "Let me see.".into(),
                raw: json!({"thoughtSignature": "s1"}),
            }]
        );
        let usage = TokenUsage { cached: Some(2), ..TokenUsage::from_counts(9, 10) };
        assert_eq!((answer.usage, answer.finish), (usage, FinishReason::ToolCalls));
        assert_eq!(answer.model, "gemini-x");
    }

    #[test]
    fn blocked_cut_and_broken_answers_are_told_apart() {
        let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
        assert_eq!(read(&[blocked]).unwrap().finish, FinishReason::Filtered);
        let cut = json!({"candidates": [{"content": {"parts": [{"text": "x"}]},
            "finishReason": "MAX_TOKENS"}]});
        assert_eq!(read(&[cut]).unwrap().finish, FinishReason::Length);
        assert_eq!(read(&[chunk(&json!([{"text": "half"}]))]), Err(DecodeFault::Truncated));
        assert_eq!(read(&[]), Err(DecodeFault::Empty));
        let fault = DecodeFault::Shape("a chunk without candidates".into());
        assert_eq!(read(&[json!({"odd": 1})]), Err(fault));
    }
}
