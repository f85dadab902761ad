//! Assembles an answer from JSON lines.

use serde_json::Value;

use crate::generated_answer::is_ordinary_end;
use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, DecodeFault, DecodeProgress, WireEvent, find_server_error, parse_json,
};
use crate::{AnswerDelta, DeltaSink, FinishReason, GeneratedAnswer, RawToolCall, TokenUsage};

/// Everything received so far.
#[derive(Debug)]
pub(super) struct OllamaDecoder {
    names: ToolNameMap,
    model: String,
    text: String,
    calls: Vec<RawToolCall>,
    finish: Option<FinishReason>,
    usage: TokenUsage,
    any: bool,
}

impl OllamaDecoder {
    pub(super) fn new(model: &str, names: ToolNameMap) -> Self {
        Self {
            names,
            model: model.to_owned(),
            text: String::new(),
            calls: Vec::new(),
            finish: None,
            usage: TokenUsage::default(),
            any: false,
        }
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
        self.any = true;
        if let Some(model) = value.get("model").and_then(Value::as_str) {
            model.clone_into(&mut self.model);
        }
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
            self.text.push_str(&text);
            deltas(AnswerDelta::Text { text });
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
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            return Err(DecodeFault::Shape("a tool call without a name".to_owned()));
        }
        let arguments = match call.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "{}".to_owned(),
            Some(object) => object.to_string(),
        };
        let index = self.calls.len();
        // Only newer servers assign ids to calls.
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = id.map_or_else(|| format!("call_{index}"), str::to_owned);
        let name = self.names.registry_name(name);
        deltas(AnswerDelta::Call { index, name: name.clone(), arguments: arguments.clone() });
        self.calls.push(RawToolCall { id, name, arguments });
        Ok(())
    }

    fn read_end(&mut self, value: &Value) {
        let count = |name: &str| value.get(name).and_then(Value::as_u64);
        self.usage.input = count("prompt_eval_count");
        self.usage.output = count("eval_count");
        self.finish = Some(match value.get("done_reason").and_then(Value::as_str) {
            Some("length") => FinishReason::Length,
            Some(other) if !is_ordinary_end(other) => FinishReason::Other(other.to_owned()),
            _ if !self.calls.is_empty() => FinishReason::ToolCalls,
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
        if !self.any {
            return Err(DecodeFault::Empty);
        }
        let Some(finish) = self.finish else { return Err(DecodeFault::Truncated) };
        Ok(GeneratedAnswer {
            text: self.text,
            tool_calls: self.calls,
            usage: self.usage,
            reasoning: Vec::new(),
            finish,
            model: self.model,
            spent_on_retries: TokenUsage::default(),
        })
    }
}
