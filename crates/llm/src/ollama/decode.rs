//! Assembles an answer from JSON lines.

use serde_json::Value;

use crate::generated_answer::is_ordinary_end;
use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, AnswerDraft, DecodeFault, DecodeProgress, WireEvent, call_arguments,
    find_server_error, parse_json, text_field,
};
use crate::{AnswerDelta, DeltaSink, FinishReason, GeneratedAnswer};

/// Everything received so far.
#[derive(Debug)]
pub(super) struct OllamaDecoder {
    draft: AnswerDraft,
}

impl OllamaDecoder {
    pub(super) fn new(model: &str, names: ToolNameMap) -> Self {
        Self { draft: AnswerDraft::new(model, names) }
    }

    fn decode_value(
        &mut self,
        value: &Value,
        deltas: DeltaSink<'_>,
    ) -> Result<DecodeProgress, DecodeFault> {
        if let Some(fault) = find_server_error(value) {
            return Err(fault);
        }
        let message = value.get("message");
        let done = value.get("done").and_then(Value::as_bool).unwrap_or(false);
        if message.is_none() && !done {
            return Err(DecodeFault::Shape("a line without a message".to_owned()));
        }
        self.draft.any = true;
        self.draft.read_model(value, "model");
        let text = |field: &str| {
            let text = message.and_then(|message| message.get(field)).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let mut progressed = false;
        if let Some(text) = text("thinking") {
            deltas(AnswerDelta::Thinking { text });
            progressed = true;
        }
        if let Some(text) = text("content") {
            self.draft.append_text(text, deltas);
            progressed = true;
        }
        let calls = message.and_then(|message| message.get("tool_calls")).and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.read_call(call, deltas)?;
            progressed = true;
        }
        if done {
            self.read_end(value);
            return Ok(DecodeProgress::Done);
        }
        Ok(if progressed { DecodeProgress::Progress } else { DecodeProgress::KeepAlive })
    }

    fn read_call(&mut self, call: &Value, deltas: DeltaSink<'_>) -> Result<(), DecodeFault> {
        let function = call.get("function").unwrap_or(&Value::Null);
        let arguments =
            call_arguments(function.get("arguments")).unwrap_or_else(|| "{}".to_owned());
        // Only newer servers assign ids to calls.
        let (id, name) = (text_field(call, "id"), text_field(function, "name"));
        self.draft.push_whole_call(id, name, arguments, deltas)
    }

    fn read_end(&mut self, value: &Value) {
        let count = |name: &str| value.get(name).and_then(Value::as_u64);
        self.draft.usage.input = count("prompt_eval_count");
        self.draft.usage.output = count("eval_count");
        self.draft.finish = Some(match value.get("done_reason").and_then(Value::as_str) {
            Some("length") => FinishReason::Length,
            Some(other) if !is_ordinary_end(other) => FinishReason::Other(other.to_owned()),
            _ => FinishReason::Stop,
        });
    }
}

impl AnswerDecoder for OllamaDecoder {
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
        self.draft.into_answer()
    }
}
