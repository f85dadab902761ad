//! Assembles an answer from content blocks.

use serde_json::Value;

use crate::generated_answer::is_ordinary_end;
use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, AnswerDraft, DecodeFault, DecodeProgress, WireEvent, find_server_error,
    parse_json, text_field,
};
use crate::{AnswerDelta, DeltaSink, FinishReason, GeneratedAnswer};
use planwright_model::{ReasoningFormat, ReasoningItem};

/// Everything received so far.
#[derive(Debug)]
pub(super) struct AnthropicDecoder {
    draft: AnswerDraft,
    /// The tool whose input is used as the text of the answer.
    schema_tool: Option<&'static str>,
    blocks: Vec<AnthropicBlock>,
    /// The server announced the end of the message.
    complete: bool,
}

#[derive(Debug)]
enum AnthropicBlock {
    Text(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// A thought, with the signature it must be sent back with.
    Thought(Value),
    /// Other blocks that are not part of the answer.
    Aside,
}

/// Appends to a text field of a block.
fn append_text(block: &mut Value, field: &str, more: &str) {
    let mut text = block.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    text.push_str(more);
    block[field] = text.into();
}

impl AnthropicDecoder {
    pub(super) fn new(model: &str, names: ToolNameMap, schema_tool: Option<&'static str>) -> Self {
        Self {
            draft: AnswerDraft::new(model, names),
            schema_tool,
            blocks: Vec::new(),
            complete: false,
        }
    }

    fn read_metadata(&mut self, message: &Value) {
        self.draft.read_model(message, "model");
        if let Some(usage) = message.get("usage") {
            self.read_usage(usage);
        }
    }

    /// Anthropic reports cache reads and writes separately from the rest of the input.
    fn read_usage(&mut self, usage: &Value) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        if let Some(plain) = count("input_tokens") {
            let (read, written) =
                (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
            let sum = plain.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0));
            let usage = &mut self.draft.usage;
            (usage.input, usage.cached, usage.cache_written) = (Some(sum), read, written);
        }
        if let Some(output) = count("output_tokens") {
            self.draft.usage.output = Some(output);
        }
    }

    fn set_stop_reason(&mut self, reason: Option<&str>) {
        let Some(reason) = reason else { return };
        self.draft.finish = Some(match reason {
            reason if is_ordinary_end(reason) => FinishReason::Stop,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "tool_use" => FinishReason::ToolCalls,
            "refusal" => FinishReason::Filtered,
            other => FinishReason::Other(other.to_owned()),
        });
    }

    fn start_block(&mut self, block: &Value) {
        let text =
            |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.blocks.push(match text("type").as_str() {
            "text" => AnthropicBlock::Text(text("text")),
            "tool_use" => {
                let input = block
                    .get("input")
                    .filter(|input| input.as_object().is_some_and(|fields| !fields.is_empty()));
                let arguments = input.map(Value::to_string).unwrap_or_default();
                AnthropicBlock::Call { id: text("id"), name: text("name"), arguments }
            }
            "thinking" | "redacted_thinking" => AnthropicBlock::Thought(block.clone()),
            _ => AnthropicBlock::Aside,
        });
    }

    fn append_delta(
        &mut self,
        index: usize,
        delta: &Value,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault> {
        let text =
            |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let block = self
            .blocks
            .get_mut(index)
            .ok_or_else(|| DecodeFault::Shape("a piece of a block that never began".to_owned()))?;
        match (block, text("type").as_str()) {
            (AnthropicBlock::Text(received), "text_delta") => {
                let text = text("text");
                received.push_str(&text);
                deltas(AnswerDelta::Text { text });
            }
            (AnthropicBlock::Call { name, arguments, .. }, "input_json_delta") => {
                let piece = text("partial_json");
                arguments.push_str(&piece);
                if self.schema_tool == Some(name.as_str()) {
                    deltas(AnswerDelta::Text { text: piece });
                } else {
                    let name = self.draft.registry_name(name);
                    deltas(AnswerDelta::Call { index, name, arguments: piece });
                }
            }
            (AnthropicBlock::Thought(block), "thinking_delta") => {
                let text = text("thinking");
                append_text(block, "thinking", &text);
                deltas(AnswerDelta::Thinking { text });
            }
            (AnthropicBlock::Thought(block), "signature_delta") => {
                append_text(block, "signature", &text("signature"));
            }
            _ => {}
        }
        Ok(DecodeProgress::Progress)
    }
}

impl AnswerDecoder for AnthropicDecoder {
    fn decode_event(
        &mut self,
        event: &WireEvent,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault> {
        let value = parse_json(&event.data)?;
        if let Some(fault) = find_server_error(&value) {
            return Err(fault);
        }
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        match kind {
            "message_start" => {
                self.draft.any = true;
                self.read_metadata(value.get("message").unwrap_or(&Value::Null));
                Ok(DecodeProgress::KeepAlive)
            }
            "content_block_start" => {
                self.draft.any = true;
                self.start_block(value.get("content_block").unwrap_or(&Value::Null));
                Ok(DecodeProgress::Progress)
            }
            "content_block_delta" => {
                let index = value.get("index").and_then(Value::as_u64).unwrap_or(u64::MAX);
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                self.append_delta(index, value.get("delta").unwrap_or(&Value::Null), deltas)
            }
            "message_delta" => {
                self.set_stop_reason(value.pointer("/delta/stop_reason").and_then(Value::as_str));
                if let Some(usage) = value.get("usage") {
                    self.read_usage(usage);
                }
                Ok(DecodeProgress::Progress)
            }
            "message_stop" => {
                self.complete = true;
                Ok(DecodeProgress::Done)
            }
            _ => Ok(DecodeProgress::KeepAlive),
        }
    }

    fn decode_complete(&mut self, answer: &Value) -> Result<(), DecodeFault> {
        if let Some(fault) = find_server_error(answer) {
            return Err(fault);
        }
        let content = answer
            .get("content")
            .and_then(Value::as_array)
            .ok_or_else(|| DecodeFault::Shape("an answer without content".to_owned()))?;
        (self.draft.any, self.complete) = (true, true);
        self.read_metadata(answer);
        self.set_stop_reason(answer.get("stop_reason").and_then(Value::as_str));
        for block in content {
            self.start_block(block);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<GeneratedAnswer, DecodeFault> {
        let Self { mut draft, schema_tool, blocks, complete } = *self;
        if !complete {
            draft.finish = None;
        }
        draft.check_complete()?;
        let mut answer = None;
        for block in blocks {
            match block {
                AnthropicBlock::Text(piece) => draft.text.push_str(&piece),
                AnthropicBlock::Call { name, arguments, .. }
                    if schema_tool == Some(name.as_str()) =>
                {
                    answer = Some(arguments);
                }
                AnthropicBlock::Call { id, name, arguments } => {
                    let arguments = if arguments.is_empty() { "{}".to_owned() } else { arguments };
                    draft.push_call(&id, &name, arguments)?;
                }
                AnthropicBlock::Thought(raw) => draft.reasoning.push(ReasoningItem {
                    format: ReasoningFormat::Anthropic,
                    position: draft.next_position(),
                    text: text_field(&raw, "thinking").to_owned(),
                    raw,
                }),
                AnthropicBlock::Aside => {}
            }
        }
        if let Some(answer) = answer {
            draft.text = answer;
            if draft.finish == Some(FinishReason::ToolCalls) && !draft.has_calls() {
                draft.finish = Some(FinishReason::Stop);
            }
        }
        draft.into_answer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ignore_deltas;
    use serde_json::json;

    #[test]
    fn thoughts_are_kept_with_their_signatures_in_their_place() {
        let events = [
            json!({"type": "message_start", "message": {"model": "m"}}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "thinking_delta", "thinking": "First "}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "thinking_delta", "thinking": "look."}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "signature_delta", "signature": "abc=="}}),
            json!({"type": "content_block_start", "index": 1,
                "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}}),
            json!({"type": "content_block_start", "index": 2,
                "content_block": {"type": "redacted_thinking", "data": "opaque"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ];
        let mut decoder = AnthropicDecoder::new("m", ToolNameMap::default(), None);
        for event in events {
            let event = WireEvent { name: "message".into(), data: event.to_string() };
            decoder.decode_event(&event, &ignore_deltas).unwrap();
        }
        let answer = Box::new(decoder).finish().unwrap();
        let first = json!({"type": "thinking", "thinking": "First look.", "signature": "abc=="});
        let second = json!({"type": "redacted_thinking", "data": "opaque"});
        let item = |position, text: &str, raw| ReasoningItem {
            format: ReasoningFormat::Anthropic,
            position,
            text: text.into(),
            raw,
        };
        assert_eq!(answer.reasoning, [item(0, "First look.", first), item(1, "", second)]);
        assert_eq!(answer.text, "", "a thought is not the answer");
    }
}
