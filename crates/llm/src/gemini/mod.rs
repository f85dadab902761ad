//! Adapter for Gemini's own interface, `generateContent`.

mod decode;
mod request;

use std::sync::Arc;

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, ProviderEndpoint, StreamFraming, WireRequest,
};
use super::wire_format::{RequestShape, WireFormat, open_in_format, refusal_text, switch_off};
use super::{GenerateRequest, LanguageModel, ModelError, ModelInfo, ThinkingSupport};

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
struct GeminiFormat;

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let thinking = info.facts.label.is_none() || info.facts.thinking != ThinkingSupport::None;
    let dialect = GeminiDialect { thinking, effort: true, seed: true };
    open_in_format(GeminiFormat, dialect, info, endpoint, stream)
}

/// The model without the folder that the interface lists it in.
fn bare_name(model: &str) -> &str {
    model.trim_start_matches("models/")
}

impl WireFormat for GeminiFormat {
    type Dialect = GeminiDialect;

    fn build_request(
        &self,
        shape: &RequestShape<'_, GeminiDialect>,
        request: &GenerateRequest,
    ) -> WireRequest {
        let model = bare_name(shape.model);
        let path = if shape.streamed {
            format!("/v1beta/models/{model}:streamGenerateContent?alt=sse")
        } else {
            format!("/v1beta/models/{model}:generateContent")
        };
        WireRequest {
            path,
            body: request::build_body(shape.facts, shape.dialect, request),
            framing: shape.streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(
        &self,
        model: &str,
        names: ToolNameMap,
        _: &GenerateRequest,
    ) -> Box<dyn AnswerDecoder> {
        Box::new(decode::GeminiDecoder::new(bare_name(model), names))
    }

    fn adjust_to_refusal(
        dialect: &mut GeminiDialect,
        broken: &FailedAttempt,
        _: &GenerateRequest,
    ) -> bool {
        let Some(message) = refusal_text(broken) else { return false };
        let message = message.replace('_', "");
        let level = message.contains("thinkinglevel") || message.contains("thinkingbudget");
        if (level || message.contains("thinking level")) && switch_off(&mut dialect.effort) {
            return true;
        }
        if message.contains("thinking") || message.contains("includethoughts") {
            return switch_off(&mut dialect.thinking);
        }
        message.contains("seed") && switch_off(&mut dialect.seed)
    }
}
