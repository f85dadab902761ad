//! Adapters for the two interfaces of `OpenAI`: chat completions, which many servers implement for the most part, and
//! the Responses API.

mod decode;
mod dialect;
mod request;
mod responses;

use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use dialect::OpenAiDialect;
pub(crate) use responses::open_model as open_responses_model;

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, HttpModel, ProviderAdapter, ProviderConnection, ProviderEndpoint,
    StreamFraming, WireRequest,
};
use super::{GenerateRequest, LanguageModel, ModelError, ModelFacts, ModelInfo};

/// Talks to one model of a server that implements the API.
#[derive(Debug)]
struct OpenAiAdapter {
    model: String,
    facts: ModelFacts,
    /// What this server is known to accept.
    dialect: Mutex<OpenAiDialect>,
}

/// Opens a model. Its server is assumed to implement the full dialect until it refuses something.
pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    dialect: OpenAiDialect,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let adapter = OpenAiAdapter {
        model: info.model.clone(),
        facts: info.facts.clone(),
        dialect: Mutex::new(dialect),
    };
    Ok(Arc::new(HttpModel { info, adapter, connection: ProviderConnection::open(endpoint)? }))
}

impl OpenAiAdapter {
    fn dialect(&self) -> OpenAiDialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProviderAdapter for OpenAiAdapter {
    fn build_request(&self, request: &GenerateRequest) -> WireRequest {
        let dialect = self.dialect();
        let streamed = dialect.can_stream(request);
        let body = request::build_body(&self.model, &self.facts, request, &dialect);
        WireRequest {
            path: "/chat/completions".into(),
            body,
            framing: streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(&self, request: &GenerateRequest) -> Box<dyn AnswerDecoder> {
        Box::new(decode::OpenAiDecoder::new(&self.model, ToolNameMap::from_request(request)))
    }

    fn adjust_to_failure(&self, broken: &FailedAttempt, request: &GenerateRequest) -> bool {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        dialect.adjust_to_refusal(broken, request)
    }

    fn note_success(&self) {
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner).confirm_trial();
    }
}
