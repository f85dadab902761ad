//! Assembles an answer from output items.

use serde_json::Value;

use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, AnswerDraft, DecodeFault, DecodeProgress, WireEvent, find_server_error,
    parse_json, text_field,
};
use crate::{AnswerDelta, DeltaSink, FinishReason, GeneratedAnswer, TokenUsage};
use planwright_model::{ReasoningFormat, ReasoningItem};

/// Everything received so far.
#[derive(Debug)]
pub(super) struct ResponsesDecoder {
    draft: AnswerDraft,
    items: Vec<OutputItem>,
    refused: bool,
}

/// One item of the output by its number.
#[derive(Debug)]
struct OutputItem {
    number: u64,
    content: OutputContent,
}

#[derive(Debug)]
enum OutputContent {
    Message { text: String },
    Call { id: String, name: String, arguments: String },
    Reasoning { raw: Value },
    Other,
}

impl ResponsesDecoder {
    pub(super) fn new(model: &str, names: ToolNameMap) -> Self {
        Self { draft: AnswerDraft::new(model, names), items: Vec::new(), refused: false }
    }

    /// The item with this number, made if the server never announced it.
    fn item(&mut self, number: u64, empty: OutputContent) -> &mut OutputContent {
        let at = self.items.iter().position(|item| item.number == number);
        let at = at.unwrap_or_else(|| {
            self.items.push(OutputItem { number, content: empty });
            self.items.len() - 1
        });
        &mut self.items[at].content
    }

    /// Takes an item as it stands in an event; a finished one replaces what was put together from pieces.
    fn read_item(&mut self, number: u64, item: &Value) {
        let content = match text_field(item, "type") {
            "message" => {
                let parts = item.get("content").and_then(Value::as_array);
                let mut text = String::new();
                for part in parts.into_iter().flatten() {
                    self.refused |= text_field(part, "type") == "refusal";
                    text.push_str(text_field(part, "text"));
                    text.push_str(text_field(part, "refusal"));
                }
                OutputContent::Message { text }
            }
            "function_call" => OutputContent::Call {
                id: text_field(item, "call_id").to_owned(),
                name: text_field(item, "name").to_owned(),
                arguments: text_field(item, "arguments").to_owned(),
            },
            "reasoning" => {
                let mut raw = item.clone();
                if let Some(fields) = raw.as_object_mut() {
                    // Only for reading; the API refuses it in a request.
                    fields.remove("status");
                    fields.retain(|_, value| !value.is_null());
                }
                OutputContent::Reasoning { raw }
            }
            _ => OutputContent::Other,
        };
        let empty = matches!(&content, OutputContent::Message { text } if text.is_empty());
        let known = self.items.iter().any(|item| item.number == number);
        if !(known && empty) {
            *self.item(number, OutputContent::Other) = content;
        }
    }

    fn append_text(&mut self, number: u64, text: String, deltas: DeltaSink<'_>) {
        let slot = self.item(number, OutputContent::Message { text: String::new() });
        if let OutputContent::Message { text: received } = slot {
            received.push_str(&text);
        }
        deltas(AnswerDelta::Text { text });
    }

    fn append_arguments(&mut self, number: u64, piece: &str, deltas: DeltaSink<'_>) {
        let Some(index) = self.items.iter().position(|item| item.number == number) else { return };
        if let OutputContent::Call { name, arguments, .. } = &mut self.items[index].content {
            arguments.push_str(piece);
            let name = self.draft.registry_name(name);
            deltas(AnswerDelta::Call { index, name, arguments: piece.to_owned() });
        }
    }

    /// Reads how a response ended, and what it used.
    fn read_response(&mut self, response: &Value) -> Result<(), DecodeFault> {
        if let Some(fault) = find_server_error(response) {
            return Err(fault);
        }
        self.draft.any = true;
        self.draft.read_model(response, "model");
        let count = |pointer: &str| response.pointer(pointer).and_then(Value::as_u64);
        let before = self.draft.usage;
        self.draft.usage = TokenUsage {
            input: count("/usage/input_tokens").or(before.input),
            output: count("/usage/output_tokens").or(before.output),
            cached: count("/usage/input_tokens_details/cached_tokens").or(before.cached),
            cache_written: None,
        };
        self.draft.finish = match text_field(response, "status") {
            "completed" => Some(FinishReason::Stop),
            "incomplete" => {
                let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
                Some(match reason {
                    Some("max_output_tokens") | None => FinishReason::Length,
                    Some("content_filter") => FinishReason::Filtered,
                    Some(other) => FinishReason::Other(other.to_owned()),
                })
            }
            "failed" | "cancelled" => Some(FinishReason::Other("failed".to_owned())),
            _ => None,
        };
        Ok(())
    }

    fn read_output(&mut self, response: &Value) {
        let output = response.get("output").and_then(Value::as_array);
        for (number, item) in (0u64..).zip(output.into_iter().flatten()) {
            self.read_item(number, item);
        }
    }
}

impl AnswerDecoder for ResponsesDecoder {
    fn decode_event(
        &mut self,
        event: &WireEvent,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(DecodeProgress::Done);
        }
        let value = parse_json(data)?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        let number = value.get("output_index").and_then(Value::as_u64).unwrap_or(0);
        let response = value.get("response").unwrap_or(&Value::Null);
        match kind {
            "error" => {
                return Err(find_server_error(&value).unwrap_or_else(|| DecodeFault::Server {
                    message: text_field(&value, "message").to_owned(),
                    kind: text_field(&value, "code").to_owned(),
                }));
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                self.read_response(response)?;
                return Ok(DecodeProgress::KeepAlive);
            }
            "response.output_item.added" | "response.output_item.done" => {
                self.draft.any = true;
                self.read_item(number, value.get("item").unwrap_or(&Value::Null));
            }
            "response.output_text.delta" => {
                self.append_text(number, text_field(&value, "delta").to_owned(), deltas);
            }
            "response.refusal.delta" => {
                self.refused = true;
                self.append_text(number, text_field(&value, "delta").to_owned(), deltas);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                deltas(AnswerDelta::Thinking { text: text_field(&value, "delta").to_owned() });
            }
            "response.reasoning_summary_text.done" => {
                deltas(AnswerDelta::Thinking { text: "\n".to_owned() });
            }
            "response.function_call_arguments.delta" => {
                self.append_arguments(number, text_field(&value, "delta"), deltas);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.read_response(response)?;
                if self.items.is_empty() {
                    self.read_output(response);
                }
                return Ok(DecodeProgress::Done);
            }
            _ => match find_server_error(&value) {
                Some(fault) => return Err(fault),
                None if value.get("type").is_none() => {
                    return Err(DecodeFault::Shape("an event without a type".to_owned()));
                }
                None => return Ok(DecodeProgress::KeepAlive),
            },
        }
        Ok(DecodeProgress::Progress)
    }

    fn decode_complete(&mut self, answer: &Value) -> Result<(), DecodeFault> {
        if let Some(fault) = find_server_error(answer) {
            return Err(fault);
        }
        if !answer.get("output").is_some_and(Value::is_array) {
            return Err(DecodeFault::Shape("a response without output".to_owned()));
        }
        self.read_response(answer)?;
        self.read_output(answer);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<GeneratedAnswer, DecodeFault> {
        let Self { mut draft, items, refused } = *self;
        draft.check_complete()?;
        for item in items {
            match item.content {
                OutputContent::Message { text } => draft.text.push_str(&text),
                OutputContent::Call { id, name, arguments } => {
                    draft.push_call(&id, &name, arguments)?;
                }
                OutputContent::Reasoning { raw } => draft.reasoning.push(ReasoningItem {
                    format: ReasoningFormat::OpenAiResponses,
                    position: draft.next_position(),
                    text: summary_text(&raw),
                    raw,
                }),
                OutputContent::Other => {}
            }
        }
        if refused && draft.finish == Some(FinishReason::Stop) {
            draft.finish = Some(FinishReason::Filtered);
        }
        draft.into_answer()
    }
}

fn summary_text(raw: &Value) -> String {
    let parts = raw.get("summary").and_then(Value::as_array);
    let texts = parts.into_iter().flatten().map(|part| text_field(part, "text"));
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawToolCall;
    use serde_json::json;
    use std::sync::Mutex;

    fn read(events: &[Value]) -> (Result<GeneratedAnswer, DecodeFault>, Vec<AnswerDelta>) {
        let seen = Mutex::new(Vec::new());
        let keep = |delta| seen.lock().unwrap().push(delta);
        let mut decoder = ResponsesDecoder::new("m", ToolNameMap::default());
        for event in events {
            let event = WireEvent { name: "message".into(), data: event.to_string() };
            match decoder.decode_event(&event, &keep) {
                Ok(DecodeProgress::Done) => break,
                Ok(_) => {}
                Err(fault) => return (Err(fault), seen.into_inner().unwrap()),
            }
        }
        (Box::new(decoder).finish(), seen.into_inner().unwrap())
    }

    #[test]
    fn reasoning_words_and_calls_are_kept_apart_and_in_order() {
        let rs = json!({"type": "reasoning", "id": "rs", "status": "completed", "content": null,
            "summary": [{"type": "summary_text", "text": "Look first."}], "encrypted_content": "e"});
        let call = json!({"type": "function_call", "id": "fc", "call_id": "c1", "name": "f",
            "arguments": "{\"a\":1}", "status": "completed"});
        let started =
            json!({"type": "function_call", "call_id": "c1", "name": "f", "arguments": ""});
        let (answer, deltas) = read(&[
            json!({"type": "response.created", "response": {"model": "gpt-x", "status": "in_progress"}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}}),
            json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Look first."}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": rs}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}}),
            json!({"type": "response.output_text.delta", "output_index": 1, "delta": "I read it."}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "message",
                "content": [{"type": "output_text", "text": "I read it."}]}}),
            json!({"type": "response.output_item.added", "output_index": 2, "item": started}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"a\":1}"}),
            json!({"type": "response.output_item.done", "output_index": 2, "item": call}),
            json!({"type": "response.completed", "response": {"model": "gpt-x", "status": "completed",
                "usage": {"input_tokens": 20, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 8}}}}),
        ]);
        let raw = json!({"type": "reasoning", "id": "rs",
            "summary": [{"type": "summary_text", "text": "Look first."}], "encrypted_content": "e"});
        assert_eq!(
            answer.unwrap(),
            GeneratedAnswer {
                text: "I read it.".into(),
                tool_calls: vec![RawToolCall {
                    id: "c1".into(),
                    name: "f".into(),
                    arguments: "{\"a\":1}".into(),
                }],
                usage: TokenUsage { cached: Some(8), ..TokenUsage::from_counts(20, 9) },
                reasoning: vec![ReasoningItem {
                    format: ReasoningFormat::OpenAiResponses,
                    position: 0,
                    text: "Look first.".into(),
                    raw,
                }],
                finish: FinishReason::ToolCalls,
                model: "gpt-x".into(),
                spent_on_retries: TokenUsage::default(),
            }
        );
        assert_eq!(deltas.len(), 3, "{deltas:?}");
        assert_eq!(deltas[0], AnswerDelta::Thinking { text: "Look first.".into() });
    }

    #[test]
    fn an_answer_without_its_end_is_truncated_and_a_cut_one_is_marked() {
        let begun = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "ha"});
        let added = json!({"type": "response.output_item.added", "output_index": 0,
            "item": {"type": "message", "content": []}});
        assert_eq!(read(&[added.clone(), begun.clone()]).0, Err(DecodeFault::Truncated));
        assert_eq!(read(&[]).0, Err(DecodeFault::Empty));
        let cut = json!({"type": "response.incomplete", "response": {"status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"}}});
        assert_eq!(read(&[added, begun, cut]).0.unwrap().finish, FinishReason::Length);
        let failed = json!({"type": "response.failed", "response": {"status": "failed",
            "error": {"code": "server_error", "message": "sorry"}}});
        let fault = DecodeFault::Server { message: "sorry".into(), kind: "server_error".into() };
        assert_eq!(read(&[failed]).0, Err(fault));
    }
}
