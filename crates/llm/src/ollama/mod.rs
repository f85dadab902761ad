//! Adapter for Ollama's chat API, and queries about a local server and its models.

mod decode;
mod request;

use std::sync::Arc;

use serde_json::{Value, json};

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, ProviderConnection, ProviderEndpoint, StreamFraming, WireRequest,
};
use super::wire_format::{RequestShape, WireFormat, open_in_format};
use super::{
    GenerateRequest, JsonSupport, LanguageModel, ModelCapability, ModelError, ModelFacts,
    ModelInfo, ThinkingControl, ThinkingSupport,
};

/// The interface has no dialects; how much a model can read is asked for with each request.
#[derive(Debug)]
struct OllamaFormat {
    window: Option<u32>,
}

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let format = OllamaFormat { window: info.context_window };
    open_in_format(format, (), info, endpoint, stream)
}

/// The models installed on a server, most recently modified first, in the server's order.
pub async fn installed_models(endpoint: ProviderEndpoint) -> Result<Vec<String>, ModelError> {
    let answer = ProviderConnection::open(endpoint)?.fetch_json("/api/tags", None).await?;
    let models = answer.get("models").and_then(Value::as_array);
    let name = |model: &Value| model.get("name").and_then(Value::as_str).map(str::to_owned);
    Ok(models.into_iter().flatten().filter_map(name).collect())
}

/// What a server reports about one of its models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OllamaDescription {
    pub capability: Option<ModelCapability>,
    pub window: Option<u32>,
    /// The levels of thinking it can be set to; `None` if it does not think.
    pub thinking: Option<Vec<String>>,
}

impl OllamaDescription {
    /// Puts what the server reports beside what the table says.
    pub(crate) fn complete_facts(&self, facts: &mut ModelFacts) {
        if let (Some(levels), ThinkingSupport::None) = (&self.thinking, facts.thinking) {
            facts.thinking = ThinkingSupport::Optional;
            facts.control = ThinkingControl::Level;
            facts.efforts.clone_from(levels);
        }
    }
}

/// Asks a server about one of its models.
pub async fn describe_model(
    endpoint: ProviderEndpoint,
    model: &str,
) -> Result<OllamaDescription, ModelError> {
    let body = json!({"model": model});
    Ok(parse_description(
        &ProviderConnection::open(endpoint)?.fetch_json("/api/show", Some(&body)).await?,
    ))
}

fn parse_description(answer: &Value) -> OllamaDescription {
    let listed = answer.get("capabilities").and_then(Value::as_array);
    let capability = listed.map(|listed| ModelCapability {
        tools: listed.iter().any(|name| name == "tools"),
        json: JsonSupport::Schema,
        streaming: true,
    });
    let window = answer
        .get("model_info")
        .and_then(Value::as_object)
        .and_then(|facts| facts.iter().find(|(name, _)| name.ends_with(".context_length")))
        .and_then(|(_, length)| length.as_u64())
        .and_then(|length| u32::try_from(length).ok());
    let thinks = listed.is_some_and(|listed| listed.iter().any(|name| name == "thinking"));
    let levels = answer.pointer("/thinking/values").and_then(Value::as_array);
    let levels: Vec<String> =
        levels.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let thinking = (thinks || !levels.is_empty()).then_some(levels);
    OllamaDescription { capability, window, thinking }
}

impl WireFormat for OllamaFormat {
    type Dialect = ();

    fn build_request(
        &self,
        shape: &RequestShape<'_, ()>,
        request: &GenerateRequest,
    ) -> WireRequest {
        WireRequest {
            path: "/api/chat".into(),
            body: request::build_body(shape, self.window, request),
            framing: shape.streamed.then_some(StreamFraming::Lines),
        }
    }

    fn new_decoder(
        &self,
        model: &str,
        names: ToolNameMap,
        _: &GenerateRequest,
    ) -> Box<dyn AnswerDecoder> {
        Box::new(decode::OllamaDecoder::new(model, names))
    }

    fn adjust_to_refusal((): &mut (), _: &FailedAttempt, _: &GenerateRequest) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_contains_tools_and_context_length() {
        let answer = json!({"capabilities": ["completion", "tools"],
            "model_info": {"general.architecture": "llama", "llama.context_length": 8192}});
        let found = parse_description(&answer);
        assert!(found.capability.unwrap().tools);
        assert_eq!((found.window, found.thinking), (Some(8192), None));
        let nothing = parse_description(&json!({}));
        assert_eq!(nothing, OllamaDescription::default(), "an old server says nothing");
        let levels = json!({"capabilities": ["thinking"], "thinking": {"values": ["low", "high"]}});
        let levels = parse_description(&levels).thinking;
        assert_eq!(levels, Some(vec!["low".to_owned(), "high".to_owned()]));
    }
}
