//! Ollama's own chat interface, and what a local server says about itself.

mod decode;
mod request;

use std::sync::Arc;

use serde_json::{Value, json};

use super::names::NameMap;
use super::transport::{Adapter, Broken, Connection, Decoder, Endpoint, Framing, HttpModel, Wire};
use super::{Capability, GenerateRequest, JsonSupport, LanguageModel, ModelError, ModelInfo};

#[derive(Debug)]
struct Ollama {
    model: String,
    stream: bool,
}

pub(crate) fn open(
    info: ModelInfo,
    endpoint: Endpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let adapter = Ollama { model: info.model.clone(), stream };
    Ok(Arc::new(HttpModel { info, adapter, connection: Connection::open(endpoint)? }))
}

/// The models a server has, most recently changed first, as it lists them.
pub async fn installed_models(endpoint: Endpoint) -> Result<Vec<String>, ModelError> {
    let answer = Connection::open(endpoint)?.fetch("/api/tags", None).await?;
    let models = answer.get("models").and_then(Value::as_array);
    let name = |model: &Value| model.get("name").and_then(Value::as_str).map(str::to_owned);
    Ok(models.into_iter().flatten().filter_map(name).collect())
}

/// What a server says one of its models can do, and how much it can read.
pub async fn describe(
    endpoint: Endpoint,
    model: &str,
) -> Result<(Option<Capability>, Option<u32>), ModelError> {
    let body = json!({"model": model});
    Ok(description(&Connection::open(endpoint)?.fetch("/api/show", Some(&body)).await?))
}

fn description(answer: &Value) -> (Option<Capability>, Option<u32>) {
    let listed = answer.get("capabilities").and_then(Value::as_array);
    let capability = listed.map(|listed| Capability {
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

impl Adapter for Ollama {
    fn wire(&self, request: &GenerateRequest) -> Wire {
        let streamed = request.stream && self.stream;
        let body = request::body(&self.model, request, streamed);
        Wire { path: "/api/chat", body, framing: streamed.then_some(Framing::Lines) }
    }

    fn decoder(&self, request: &GenerateRequest) -> Box<dyn Decoder> {
        Box::new(decode::Answer::new(&self.model, NameMap::of(request)))
    }

    fn adjust(&self, _: &Broken, _: &GenerateRequest) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_tells_tools_and_context() {
        let answer = json!({"capabilities": ["completion", "tools"],
            "model_info": {"general.architecture": "llama", "llama.context_length": 8192}});
        let (capability, window) = description(&answer);
        assert!(capability.unwrap().tools);
        assert_eq!(window, Some(8192));
        assert_eq!(description(&json!({})), (None, None), "an old server says nothing");
    }
}
