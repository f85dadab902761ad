//! Putting an answer together from content blocks.

use serde_json::Value;

use crate::generated::is_ordinary_end;
use crate::names::NameMap;
use crate::transport::{DecodeFault, Decoder, Flow, WireEvent, json, server_error};
use crate::{Delta, DeltaSink, Finish, Generated, RawCall, Usage};

/// What arrived so far.
#[derive(Debug)]
pub(super) struct Answer {
    names: NameMap,
    /// The tool whose input is the text of the answer.
    schema_tool: Option<&'static str>,
    model: String,
    blocks: Vec<Block>,
    finish: Option<Finish>,
    usage: Usage,
    any: bool,
    /// The server said that nothing more will come.
    complete: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// Thinking and whatever else is not part of the answer.
    Aside,
}

impl Answer {
    pub(super) fn new(model: &str, names: NameMap, schema_tool: Option<&'static str>) -> Self {
        Self {
            names,
            schema_tool,
            model: model.to_owned(),
            blocks: Vec::new(),
            finish: None,
            usage: Usage::default(),
            any: false,
            complete: false,
        }
    }

    fn frame(&mut self, message: &Value) {
        if let Some(model) = message.get("model").and_then(Value::as_str) {
            model.clone_into(&mut self.model);
        }
        if let Some(usage) = message.get("usage") {
            self.count(usage);
        }
    }

    /// What is read from and written to the cache is reported beside the rest of the input.
    fn count(&mut self, usage: &Value) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        if let Some(plain) = count("input_tokens") {
            let (read, written) =
                (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
            let sum = plain.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0));
            (self.usage.input, self.usage.cached, self.usage.cache_written) =
                (Some(sum), read, written);
        }
        if let Some(output) = count("output_tokens") {
            self.usage.output = Some(output);
        }
    }

    fn stopped(&mut self, reason: Option<&str>) {
        let Some(reason) = reason else { return };
        self.finish = Some(match reason {
            reason if is_ordinary_end(reason) => Finish::Stop,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "tool_use" => Finish::ToolCalls,
            "refusal" => Finish::Filtered,
            other => Finish::Other(other.to_owned()),
        });
    }

    fn start(&mut self, block: &Value) {
        let text =
            |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.blocks.push(match text("type").as_str() {
            "text" => Block::Text(text("text")),
            "tool_use" => {
                let input = block
                    .get("input")
                    .filter(|input| input.as_object().is_some_and(|fields| !fields.is_empty()));
                let arguments = input.map(Value::to_string).unwrap_or_default();
                Block::Call { id: text("id"), name: text("name"), arguments }
            }
            _ => Block::Aside,
        });
    }

    fn grow(
        &mut self,
        index: usize,
        delta: &Value,
        deltas: DeltaSink<'_>,
    ) -> Result<Flow, DecodeFault> {
        let text =
            |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let block = self
            .blocks
            .get_mut(index)
            .ok_or_else(|| DecodeFault::Shape("a piece of a block that never began".to_owned()))?;
        match (block, text("type").as_str()) {
            (Block::Text(whole), "text_delta") => {
                let text = text("text");
                whole.push_str(&text);
                deltas(Delta::Text { text });
            }
            (Block::Call { name, arguments, .. }, "input_json_delta") => {
                let piece = text("partial_json");
                arguments.push_str(&piece);
                if self.schema_tool == Some(name.as_str()) {
                    deltas(Delta::Text { text: piece });
                } else {
                    let name = self.names.registry(name);
                    deltas(Delta::Call { index, name, arguments: piece });
                }
            }
            (Block::Aside, "thinking_delta") => {
                deltas(Delta::Thinking { text: text("thinking") });
            }
            _ => {}
        }
        Ok(Flow::Progress)
    }
}

impl Decoder for Answer {
    fn event(&mut self, event: &WireEvent, deltas: DeltaSink<'_>) -> Result<Flow, DecodeFault> {
        let value = json(&event.data)?;
        if let Some(fault) = server_error(&value) {
            return Err(fault);
        }
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        match kind {
            "message_start" => {
                self.any = true;
                self.frame(value.get("message").unwrap_or(&Value::Null));
                Ok(Flow::KeepAlive)
            }
            "content_block_start" => {
                self.any = true;
                self.start(value.get("content_block").unwrap_or(&Value::Null));
                Ok(Flow::Progress)
            }
            "content_block_delta" => {
                let index = value.get("index").and_then(Value::as_u64).unwrap_or(u64::MAX);
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                self.grow(index, value.get("delta").unwrap_or(&Value::Null), deltas)
            }
            "message_delta" => {
                self.stopped(value.pointer("/delta/stop_reason").and_then(Value::as_str));
                if let Some(usage) = value.get("usage") {
                    self.count(usage);
                }
                Ok(Flow::Progress)
            }
            "message_stop" => {
                self.complete = true;
                Ok(Flow::Done)
            }
            _ => Ok(Flow::KeepAlive),
        }
    }

    fn whole(&mut self, answer: &Value) -> Result<(), DecodeFault> {
        if let Some(fault) = server_error(answer) {
            return Err(fault);
        }
        let content = answer
            .get("content")
            .and_then(Value::as_array)
            .ok_or_else(|| DecodeFault::Shape("an answer without content".to_owned()))?;
        (self.any, self.complete) = (true, true);
        self.frame(answer);
        self.stopped(answer.get("stop_reason").and_then(Value::as_str));
        for block in content {
            self.start(block);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Generated, DecodeFault> {
        if !self.any {
            return Err(DecodeFault::Empty);
        }
        let (true, Some(mut finish)) = (self.complete, self.finish) else {
            return Err(DecodeFault::Truncated);
        };
        let (mut text, mut tool_calls, mut answer) = (String::new(), Vec::new(), None);
        for block in self.blocks {
            match block {
                Block::Text(piece) => text.push_str(&piece),
                Block::Call { name, arguments, .. } if self.schema_tool == Some(name.as_str()) => {
                    answer = Some(arguments);
                }
                Block::Call { id, name, arguments } => {
                    let name = self.names.registry(&name);
                    let arguments = if arguments.is_empty() { "{}".to_owned() } else { arguments };
                    tool_calls.push(RawCall { id, name, arguments });
                }
                Block::Aside => {}
            }
        }
        if let Some(answer) = answer {
            text = answer;
            if finish == Finish::ToolCalls && tool_calls.is_empty() {
                finish = Finish::Stop;
            }
        }
        Ok(Generated {
            text,
            tool_calls,
            usage: self.usage,
            finish,
            model: self.model,
            spent_on_retries: Usage::default(),
        })
    }
}
