//! Adapter for the Responses API: items instead of messages, reasoning that is handed back encrypted, nothing stored.

mod decode;
mod request;

use std::sync::{Arc, Mutex, PoisonError};

use crate::tool_names::ToolNameMap;
use crate::transport::{
    AnswerDecoder, FailedAttempt, HttpModel, ProviderAdapter, ProviderConnection, ProviderEndpoint,
    StreamFraming, WireRequest,
};
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

    /// Adjusts to a refusal. Returns `true` if the next attempt differs.
    fn adjust_to_refusal(&mut self, message: &str) -> bool {
        let message = message.to_ascii_lowercase();
        let off = |field: &mut bool| std::mem::replace(field, false);
        if message.contains("temperature") {
            return off(&mut self.temperature);
        }
        if message.contains("summar") && off(&mut self.summary) {
            return true;
        }
        if message.contains("effort") && off(&mut self.effort) {
            return true;
        }
        let refused = message.contains("reasoning") || message.contains("encrypted_content");
        refused && off(&mut self.reasoning)
    }
}

#[derive(Debug)]
struct ResponsesAdapter {
    model: String,
    facts: ModelFacts,
    stream: bool,
    dialect: Mutex<ResponsesDialect>,
}

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let adapter = ResponsesAdapter {
        model: info.model.clone(),
        facts: info.facts.clone(),
        stream,
        dialect: Mutex::new(ResponsesDialect::from_facts(&info.facts)),
    };
    Ok(Arc::new(HttpModel { info, adapter, connection: ProviderConnection::open(endpoint)? }))
}

impl ProviderAdapter for ResponsesAdapter {
    fn build_request(&self, request: &GenerateRequest) -> WireRequest {
        let streamed = request.stream && self.stream;
        let dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let shape =
            request::ResponsesShape { model: &self.model, facts: &self.facts, dialect, streamed };
        WireRequest {
            path: "/responses".into(),
            body: request::build_body(&shape, request),
            framing: streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(&self, request: &GenerateRequest) -> Box<dyn AnswerDecoder> {
        Box::new(decode::ResponsesDecoder::new(&self.model, ToolNameMap::from_request(request)))
    }

    fn adjust_to_failure(&self, broken: &FailedAttempt, _: &GenerateRequest) -> bool {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        broken.status == Some(400) && dialect.adjust_to_refusal(&broken.error.message)
    }
}
