//! Adapter for Gemini's own interface, `generateContent`.

mod decode;
mod request;

use std::sync::{Arc, Mutex, PoisonError};

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, HttpModel, ProviderAdapter, ProviderConnection, ProviderEndpoint,
    StreamFraming, WireRequest,
};
use super::{GenerateRequest, LanguageModel, ModelError, ModelFacts, ModelInfo, ThinkingSupport};

/// What a model of this interface accepts: known from the table, corrected by refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GeminiDialect {
    /// Thoughts can be asked for.
    thinking: bool,
    /// How much it thinks can be set.
    effort: bool,
    seed: bool,
}

#[derive(Debug)]
struct GeminiAdapter {
    model: String,
    facts: ModelFacts,
    stream: bool,
    dialect: Mutex<GeminiDialect>,
}

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let thinking = info.facts.label.is_none() || info.facts.thinking != ThinkingSupport::None;
    let adapter = GeminiAdapter {
        model: info.model.trim_start_matches("models/").to_owned(),
        facts: info.facts.clone(),
        stream,
        dialect: Mutex::new(GeminiDialect { thinking, effort: true, seed: true }),
    };
    Ok(Arc::new(HttpModel { info, adapter, connection: ProviderConnection::open(endpoint)? }))
}

impl ProviderAdapter for GeminiAdapter {
    fn build_request(&self, request: &GenerateRequest) -> WireRequest {
        let streamed = request.stream && self.stream;
        let dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let model = &self.model;
        let path = if streamed {
            format!("/v1beta/models/{model}:streamGenerateContent?alt=sse")
        } else {
            format!("/v1beta/models/{model}:generateContent")
        };
        WireRequest {
            path,
            body: request::build_body(&self.facts, dialect, request),
            framing: streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(&self, request: &GenerateRequest) -> Box<dyn AnswerDecoder> {
        Box::new(decode::GeminiDecoder::new(&self.model, ToolNameMap::from_request(request)))
    }

    fn adjust_to_failure(&self, broken: &FailedAttempt, _: &GenerateRequest) -> bool {
        if broken.status != Some(400) {
            return false;
        }
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let message = broken.error.message.to_ascii_lowercase().replace('_', "");
        let off = |field: &mut bool| std::mem::replace(field, false);
        let level = message.contains("thinkinglevel") || message.contains("thinkingbudget");
        if (level || message.contains("thinking level")) && off(&mut dialect.effort) {
            return true;
        }
        if message.contains("thinking") || message.contains("includethoughts") {
            return off(&mut dialect.thinking);
        }
        message.contains("seed") && off(&mut dialect.seed)
    }
}
