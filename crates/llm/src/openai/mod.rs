//! Adapters for the two interfaces of `OpenAI`: chat completions, which many servers implement for the most part, and
//! the Responses API.

mod decode;
mod dialect;
mod request;
mod responses;

use std::sync::Arc;

pub(crate) use dialect::OpenAiDialect;
pub(crate) use responses::open_model as open_responses_model;

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, ProviderEndpoint, StreamFraming, WireRequest,
};
use super::wire_format::{RequestShape, WireFormat, open_in_format};
use super::{GenerateRequest, LanguageModel, ModelError, ModelInfo};

#[derive(Debug)]
struct ChatCompletionsFormat;

/// Opens a model. Its server is assumed to implement the full dialect until it refuses something.
pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    dialect: OpenAiDialect,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    // Whether it streams is part of the dialect: some servers only do so in part.
    open_in_format(ChatCompletionsFormat, dialect, info, endpoint, true)
}

impl WireFormat for ChatCompletionsFormat {
    type Dialect = OpenAiDialect;

    fn build_request(
        &self,
        shape: &RequestShape<'_, OpenAiDialect>,
        request: &GenerateRequest,
    ) -> WireRequest {
        let streamed = shape.dialect.can_stream(request);
        WireRequest {
            path: "/chat/completions".into(),
            body: request::build_body(shape, request),
            framing: streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(
        &self,
        model: &str,
        names: ToolNameMap,
        _: &GenerateRequest,
    ) -> Box<dyn AnswerDecoder> {
        Box::new(decode::OpenAiDecoder::new(model, names))
    }

    fn adjust_to_refusal(
        dialect: &mut OpenAiDialect,
        broken: &FailedAttempt,
        request: &GenerateRequest,
    ) -> bool {
        dialect.adjust_to_refusal(broken, request)
    }

    fn confirm_trial(dialect: &mut OpenAiDialect) {
        dialect.confirm_trial();
    }
}
