//! Adapter for Anthropic's Messages API.

mod decode;
mod request;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, HttpModel, ProviderAdapter, ProviderConnection, ProviderEndpoint,
    StreamFraming, WireRequest,
};
use super::{GenerateRequest, LanguageModel, ModelError, ModelInfo};

/// The API version sent with every request.
pub(crate) const VERSION: &str = "2023-06-01";

/// The tool that carries an answer constrained to a schema.
const ANSWER_TOOL: &str = "give_answer";

#[derive(Debug)]
struct AnthropicAdapter {
    model: String,
    stream: bool,
    /// Newer models reject the temperature parameter.
    temperature: AtomicBool,
    /// Models that always think cannot be forced to call a tool; the prompt asks them to instead.
    forced: AtomicBool,
}

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let adapter = AnthropicAdapter {
        model: info.model.clone(),
        stream,
        temperature: AtomicBool::new(true),
        forced: AtomicBool::new(true),
    };
    Ok(Arc::new(HttpModel { info, adapter, connection: ProviderConnection::open(endpoint)? }))
}

impl ProviderAdapter for AnthropicAdapter {
    fn build_request(&self, request: &GenerateRequest) -> WireRequest {
        let streamed = request.stream && self.stream;
        let mut body = request::build_body(
            &self.model,
            request,
            streamed,
            self.forced.load(Ordering::Relaxed),
        );
        if !self.temperature.load(Ordering::Relaxed)
            && let Some(fields) = body.as_object_mut()
        {
            fields.remove("temperature");
        }
        WireRequest {
            path: "/v1/messages",
            body,
            framing: streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(&self, request: &GenerateRequest) -> Box<dyn AnswerDecoder> {
        let schema_tool = request.output_schema.is_some().then_some(ANSWER_TOOL);
        Box::new(decode::AnthropicDecoder::new(
            &self.model,
            ToolNameMap::from_request(request),
            schema_tool,
        ))
    }

    fn adjust_to_failure(&self, broken: &FailedAttempt, request: &GenerateRequest) -> bool {
        if broken.status != Some(400) {
            return false;
        }
        let message = broken.error.message.to_ascii_lowercase();
        if request.temperature.is_some() && message.contains("temperature") {
            return self.temperature.swap(false, Ordering::Relaxed);
        }
        message.contains("tool_choice") && self.forced.swap(false, Ordering::Relaxed)
    }
}
