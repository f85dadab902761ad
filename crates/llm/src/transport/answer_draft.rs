//! An answer while it arrives: what the format of every provider is read into.

use serde_json::Value;

use super::decode::DecodeFault;
use crate::tool_names::ToolNameMap;
use crate::{AnswerDelta, DeltaSink, FinishReason, GeneratedAnswer, RawToolCall, TokenUsage};
use planwright_model::ReasoningItem;

/// Everything received so far that does not depend on the format.
#[derive(Debug)]
pub(crate) struct AnswerDraft {
    names: ToolNameMap,
    model: String,
    pub(crate) text: String,
    calls: Vec<RawToolCall>,
    pub(crate) reasoning: Vec<ReasoningItem>,
    pub(crate) usage: TokenUsage,
    pub(crate) finish: Option<FinishReason>,
    /// Whether anything of the answer has been received.
    pub(crate) any: bool,
}

impl AnswerDraft {
    pub(crate) fn new(model: &str, names: ToolNameMap) -> Self {
        Self {
            names,
            model: model.to_owned(),
            text: String::new(),
            calls: Vec::new(),
            reasoning: Vec::new(),
            usage: TokenUsage::default(),
            finish: None,
            any: false,
        }
    }

    /// Takes the model's name from a field of an event, if it is there.
    pub(crate) fn read_model(&mut self, value: &Value, field: &str) {
        let name = value.get(field).and_then(Value::as_str).filter(|name| !name.is_empty());
        if let Some(name) = name {
            name.clone_into(&mut self.model);
        }
    }

    /// The name of a tool in the registry.
    pub(crate) fn registry_name(&self, name: &str) -> String {
        self.names.registry_name(name)
    }

    /// The position of whatever comes next among the calls.
    pub(crate) fn next_position(&self) -> u32 {
        u32::try_from(self.calls.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn append_text(&mut self, text: String, deltas: DeltaSink<'_>) {
        self.text.push_str(&text);
        deltas(AnswerDelta::Text { text });
    }

    /// Adds a complete call under its name on the wire. Not every server gives its calls an id.
    pub(crate) fn push_call(
        &mut self,
        id: &str,
        name: &str,
        arguments: String,
    ) -> Result<(), DecodeFault> {
        if name.is_empty() {
            return Err(DecodeFault::Shape("a tool call without a name".to_owned()));
        }
        let id = if id.is_empty() { format!("call_{}", self.calls.len()) } else { id.to_owned() };
        let name = self.names.registry_name(name);
        self.calls.push(RawToolCall { id, name, arguments });
        Ok(())
    }

    /// The same for a call that arrives in one piece, which is shown at once.
    pub(crate) fn push_whole_call(
        &mut self,
        id: &str,
        name: &str,
        arguments: String,
        deltas: DeltaSink<'_>,
    ) -> Result<(), DecodeFault> {
        let index = self.calls.len();
        self.push_call(id, name, arguments.clone())?;
        deltas(AnswerDelta::Call { index, name: self.registry_name(name), arguments });
        Ok(())
    }

    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether the server marked the answer as complete; otherwise what is missing.
    pub(crate) fn check_complete(&self) -> Result<(), DecodeFault> {
        match &self.finish {
            _ if !self.any => Err(DecodeFault::Empty),
            None => Err(DecodeFault::Truncated),
            Some(_) => Ok(()),
        }
    }

    /// The answer, if it is complete. One that ends as usual and has calls ends with them.
    pub(crate) fn into_answer(self) -> Result<GeneratedAnswer, DecodeFault> {
        self.check_complete()?;
        let mut finish = self.finish.ok_or(DecodeFault::Truncated)?;
        if finish == FinishReason::Stop && !self.calls.is_empty() {
            finish = FinishReason::ToolCalls;
        }
        Ok(GeneratedAnswer {
            text: self.text,
            tool_calls: self.calls,
            usage: self.usage,
            reasoning: self.reasoning,
            finish,
            model: self.model,
            spent_on_retries: TokenUsage::default(),
        })
    }
}

/// The arguments of a call, which servers send as text, as an object, or not at all.
pub(crate) fn call_arguments(arguments: Option<&Value>) -> Option<String> {
    match arguments? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        object => Some(object.to_string()),
    }
}

/// A text field of a value; empty if it is not there.
pub(crate) fn text_field<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
