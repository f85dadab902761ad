//! Assembles an answer from chunks.

use serde_json::Value;

use crate::generated_answer::is_ordinary_end;
use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, AnswerDraft, DecodeFault, DecodeProgress, WireEvent, call_arguments,
    find_server_error, parse_json,
};
use crate::{AnswerDelta, DeltaSink, FinishReason, GeneratedAnswer, TokenUsage};
use planwright_model::{ReasoningFormat, ReasoningItem};

/// Everything received so far.
#[derive(Debug)]
pub(super) struct OpenAiDecoder {
    draft: AnswerDraft,
    calls: Vec<PartialToolCall>,
    /// Pieces of reasoning that a reseller wants back.
    details: Vec<Value>,
    /// Whether the provider marked the text as a refusal.
    refused: bool,
}

#[derive(Debug, Default)]
struct PartialToolCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl OpenAiDecoder {
    pub(super) fn new(model: &str, names: ToolNameMap) -> Self {
        Self {
            draft: AnswerDraft::new(model, names),
            calls: Vec::new(),
            details: Vec::new(),
            refused: false,
        }
    }

    fn read_metadata(&mut self, value: &Value) {
        self.draft.read_model(value, "model");
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64);
            let cached = usage.pointer("/prompt_tokens_details/cached_tokens");
            let before = self.draft.usage;
            self.draft.usage = TokenUsage {
                input: count("prompt_tokens").or(before.input),
                output: count("completion_tokens").or(before.output),
                cached: cached.and_then(Value::as_u64).or(before.cached),
                cache_written: None,
            };
        }
    }

    fn read_finish(&mut self, choice: &Value) -> bool {
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        // Some servers send an empty reason with every chunk but the last.
        let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
            return false;
        };
        self.draft.finish = Some(parse_finish_reason(reason));
        true
    }

    /// Adds a fragment of a call. Servers differ: some repeat id and name in every chunk, some number all calls 0.
    fn append_call(&mut self, position: usize, piece: &Value, deltas: DeltaSink<'_>) {
        let index = piece.get("index").and_then(Value::as_u64).unwrap_or(position as u64);
        let text =
            |pointer: &str| piece.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (id, name) = (text("/id"), text("/function/name"));
        let arguments = call_arguments(piece.pointer("/function/arguments")).unwrap_or_default();
        let same = |call: &PartialToolCall| {
            call.index == index && (id.is_empty() || call.id.is_empty() || call.id == id)
        };
        let at = self.calls.iter().rposition(same).unwrap_or_else(|| {
            self.calls.push(PartialToolCall { index, ..PartialToolCall::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        call.arguments.push_str(&arguments);
        let name = self.draft.registry_name(&call.name);
        deltas(AnswerDelta::Call { index: at, name, arguments });
    }

    fn append_message(&mut self, message: &Value, deltas: DeltaSink<'_>) -> bool {
        let mut progressed = false;
        for field in ["reasoning_content", "reasoning"] {
            if let Some(text) = non_empty_text(message, field) {
                deltas(AnswerDelta::Thinking { text });
                progressed = true;
                break;
            }
        }
        let details = message.get("reasoning_details").and_then(Value::as_array);
        self.details.extend(details.into_iter().flatten().cloned());
        for field in ["content", "refusal"] {
            if let Some(text) = non_empty_text(message, field) {
                self.refused |= field == "refusal";
                self.draft.append_text(text, deltas);
                progressed = true;
            }
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for (position, piece) in calls.into_iter().flatten().enumerate() {
            self.append_call(position, piece, deltas);
            progressed = true;
        }
        progressed
    }
}

/// Compatible servers pass on the reason of the model behind them, in any letter case.
fn parse_finish_reason(reason: &str) -> FinishReason {
    match reason.to_ascii_lowercase().as_str() {
        reason if is_ordinary_end(reason) => FinishReason::Stop,
        "length" | "max_tokens" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "refusal" | "safety" | "recitation" | "prohibited_content"
        | "blocklist" | "spii" => FinishReason::Filtered,
        _ => FinishReason::Other(reason.to_owned()),
    }
}

fn reasoning_detail(raw: Value) -> ReasoningItem {
    let text = raw.get("text").or_else(|| raw.get("summary")).and_then(Value::as_str);
    let text = text.unwrap_or_default().to_owned();
    ReasoningItem { format: ReasoningFormat::ChatCompletions, position: 0, text, raw }
}

fn non_empty_text(message: &Value, field: &str) -> Option<String> {
    message.get(field)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

impl AnswerDecoder for OpenAiDecoder {
    fn decode_event(
        &mut self,
        event: &WireEvent,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(DecodeProgress::Done);
        }
        if data.is_empty() {
            return Ok(DecodeProgress::KeepAlive);
        }
        let value = parse_json(data)?;
        if let Some(fault) = find_server_error(&value) {
            return Err(fault);
        }
        let choices = value.get("choices").and_then(Value::as_array);
        if choices.is_none() && value.get("usage").is_none() {
            return Err(DecodeFault::Shape("a chunk without choices".to_owned()));
        }
        self.read_metadata(&value);
        let Some(choice) = choices.and_then(|choices| choices.first()) else {
            return Ok(DecodeProgress::KeepAlive);
        };
        self.draft.any = true;
        let message = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        let progressed = self.append_message(message, deltas);
        let finished = self.read_finish(choice);
        Ok(if progressed || finished {
            DecodeProgress::Progress
        } else {
            DecodeProgress::KeepAlive
        })
    }

    fn decode_complete(&mut self, answer: &Value) -> Result<(), DecodeFault> {
        if let Some(fault) = find_server_error(answer) {
            return Err(fault);
        }
        let choice = answer
            .pointer("/choices/0")
            .ok_or_else(|| DecodeFault::Shape("an answer without choices".to_owned()))?;
        let message = choice
            .get("message")
            .ok_or_else(|| DecodeFault::Shape("a choice without a message".to_owned()))?;
        self.draft.any = true;
        self.read_metadata(answer);
        self.append_message(message, &crate::ignore_deltas);
        self.read_finish(choice);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<GeneratedAnswer, DecodeFault> {
        let Self { mut draft, calls, details, refused } = *self;
        draft.check_complete()?;
        for call in calls {
            draft.push_call(&call.id, &call.name, call.arguments)?;
        }
        // Words beside calls are no refusal of them.
        if refused && !draft.has_calls() && draft.finish == Some(FinishReason::Stop) {
            draft.finish = Some(FinishReason::Filtered);
        }
        draft.reasoning = details.into_iter().map(reasoning_detail).collect();
        draft.into_answer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ignore_deltas;

    fn read(chunks: &[&str]) -> Result<GeneratedAnswer, DecodeFault> {
        let mut answer = Box::new(OpenAiDecoder::new("m", ToolNameMap::default()));
        for data in chunks {
            let event = WireEvent { name: "message".into(), data: (*data).to_owned() };
            if answer.decode_event(&event, &ignore_deltas)? == DecodeProgress::Done {
                break;
            }
        }
        answer.finish()
    }

    const END: &str = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;

    #[test]
    fn repeated_ids_and_names_are_taken_once() {
        let generated = read(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}}]}"#,
            END,
        ]);
        let calls = generated.unwrap().tool_calls;
        assert_eq!(calls.len(), 1);
        assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("f", r#"{"x":1}"#));
    }

    #[test]
    fn calls_that_share_an_index_are_distinguished_by_id() {
        let generated = read(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}"#,
            END,
        ]);
        let names: Vec<String> =
            generated.unwrap().tool_calls.into_iter().map(|call| call.name).collect();
        assert_eq!(names, ["f", "g"]);
    }

    #[test]
    fn an_end_without_a_reason_is_not_accepted() {
        let chunk = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
        assert_eq!(read(&[chunk, "[DONE]"]), Err(DecodeFault::Truncated));
        assert_eq!(read(&[]), Err(DecodeFault::Empty));
        assert_eq!(read(&["[DONE]"]), Err(DecodeFault::Empty));
    }

    #[test]
    fn stop_reasons_of_any_model_behind_the_server_are_recognized() {
        let finish = |reason: &str| {
            let end = format!(
                r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"{reason}"}}]}}"#
            );
            read(&[&end]).unwrap().finish
        };
        assert_eq!(finish("STOP"), FinishReason::Stop);
        assert_eq!(finish("eosfound"), FinishReason::Stop);
        assert_eq!(finish("MAX_TOKENS"), FinishReason::Length);
        assert_eq!(finish("SAFETY"), FinishReason::Filtered);
        assert_eq!(finish("other"), FinishReason::Other("other".to_owned()));
        let empty = r#"{"choices":[{"delta":{"content":"x"},"finish_reason":""}]}"#;
        assert_eq!(read(&[empty]), Err(DecodeFault::Truncated), "an empty reason is none");
        let refusal = r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#;
        assert_eq!(read(&[refusal]).unwrap().finish, FinishReason::Filtered);
    }

    #[test]
    fn implausible_usage_is_ignored() {
        let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":-5,"completion_tokens":1e40}}"#;
        assert_eq!(read(&[end]).unwrap().usage, TokenUsage::default());
    }
}
