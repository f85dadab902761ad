//! Adapter for Ollama's chat API, and queries about a local server and its models.

mod decode;
mod request;

use std::sync::Arc;

use serde_json::{Value, json};

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, HttpModel, ProviderAdapter, ProviderConnection, ProviderEndpoint,
    StreamFraming, WireRequest,
};
use super::{GenerateRequest, JsonSupport, LanguageModel, ModelCapability, ModelError, ModelInfo};

#[derive(Debug)]
struct OllamaAdapter {
    model: String,
    stream: bool,
}

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let adapter = OllamaAdapter { model: info.model.clone(), stream };
    Ok(Arc::new(HttpModel { info, adapter, connection: ProviderConnection::open(endpoint)? }))
}

/// The models installed on a server, most recently modified first, in the server's order.
pub async fn installed_models(endpoint: ProviderEndpoint) -> Result<Vec<String>, ModelError> {
    let answer = ProviderConnection::open(endpoint)?.fetch_json("/api/tags", None).await?;
    let models = answer.get("models").and_then(Value::as_array);
    let name = |model: &Value| model.get("name").and_then(Value::as_str).map(str::to_owned);
    Ok(models.into_iter().flatten().filter_map(name).collect())
}

/// The capabilities and the context length a server reports for one of its models.
pub async fn describe_model(
    endpoint: ProviderEndpoint,
    model: &str,
) -> Result<(Option<ModelCapability>, Option<u32>), ModelError> {
    let body = json!({"model": model});
    Ok(parse_description(
        &ProviderConnection::open(endpoint)?.fetch_json("/api/show", Some(&body)).await?,
    ))
}

fn parse_description(answer: &Value) -> (Option<ModelCapability>, Option<u32>) {
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
    (capability, window)
}

impl ProviderAdapter for OllamaAdapter {
    fn build_request(&self, request: &GenerateRequest) -> WireRequest {
        let streamed = request.stream && self.stream;
        let body = request::build_body(&self.model, request, streamed);
        WireRequest { path: "/api/chat", body, framing: streamed.then_some(StreamFraming::Lines) }
    }

    fn new_decoder(&self, request: &GenerateRequest) -> Box<dyn AnswerDecoder> {
        Box::new(decode::OllamaDecoder::new(&self.model, ToolNameMap::from_request(request)))
    }

    fn adjust_to_failure(&self, _: &FailedAttempt, _: &GenerateRequest) -> bool {
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
        let (capability, window) = parse_description(&answer);
        assert!(capability.unwrap().tools);
        assert_eq!(window, Some(8192));
        assert_eq!(parse_description(&json!({})), (None, None), "an old server says nothing");
    }
}
