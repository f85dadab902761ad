//! Adapter for the Responses API: items instead of messages, reasoning that is handed back encrypted, nothing stored.

mod decode;
mod request;

use std::sync::Arc;

use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, FailedAttempt, ProviderEndpoint, StreamFraming, WireRequest,
};
use crate::wire_format::{RequestShape, WireFormat, open_in_format, refusal_text, switch_off};
use crate::{GenerateRequest, LanguageModel, ModelError, ModelFacts, ModelInfo, ThinkingSupport};

/// What a model of this interface accepts: known from the table, corrected by refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ResponsesDialect {
    temperature: bool,
    effort: bool,
    /// Summaries of reasoning are only for verified organizations.
    summary: bool,
    /// The model reasons and hands its reasoning back.
    reasoning: bool,
}

impl ResponsesDialect {
    fn from_facts(facts: &ModelFacts) -> Self {
        let known = facts.label.is_some();
        let reasons = !known || facts.thinking != ThinkingSupport::None;
        Self { temperature: !reasons, effort: true, summary: reasons, reasoning: reasons }
    }

    /// Adjusts to the text of a refusal. Returns `true` if the next attempt differs.
    fn adjust_to_refusal(&mut self, message: &str) -> bool {
        if message.contains("temperature") {
            return switch_off(&mut self.temperature);
        }
        if message.contains("summar") && switch_off(&mut self.summary) {
            return true;
        }
        if message.contains("effort") && switch_off(&mut self.effort) {
            return true;
        }
        let refused = message.contains("reasoning") || message.contains("encrypted_content");
        refused && switch_off(&mut self.reasoning)
    }
}

#[derive(Debug)]
struct ResponsesFormat;

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let dialect = ResponsesDialect::from_facts(&info.facts);
    open_in_format(ResponsesFormat, dialect, info, endpoint, stream)
}

impl WireFormat for ResponsesFormat {
    type Dialect = ResponsesDialect;

    fn build_request(
        &self,
        shape: &RequestShape<'_, ResponsesDialect>,
        request: &GenerateRequest,
    ) -> WireRequest {
        WireRequest {
            path: "/responses".into(),
            body: request::build_body(shape, request),
            framing: shape.streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(
        &self,
        model: &str,
        names: ToolNameMap,
        _: &GenerateRequest,
    ) -> Box<dyn AnswerDecoder> {
        Box::new(decode::ResponsesDecoder::new(model, names))
    }

    fn adjust_to_refusal(
        dialect: &mut ResponsesDialect,
        broken: &FailedAttempt,
        _: &GenerateRequest,
    ) -> bool {
        refusal_text(broken).is_some_and(|message| dialect.adjust_to_refusal(&message))
    }
}
