//! Builds the body of a request.

use serde_json::{Map, Value, json};

use crate::tool_names::ToolNameMap;
use crate::{GenerateRequest, Message, MessagePart, MessageRole, ToolChoice};

pub(super) fn build_body(model: &str, request: &GenerateRequest, streamed: bool) -> Value {
    let names = ToolNameMap::from_request(request);
    let messages: Vec<Value> =
        request.messages.iter().flat_map(|message| wire_messages(message, &names)).collect();
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), messages.into());
    // Always explicit, because Ollama streams by default.
    body.insert("stream".into(), streamed.into());
    if request.tool_choice != ToolChoice::None && !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                let function = json!({
                    "name": names.wire_name(&tool.name),
                    "description": tool.description,
                    "parameters": tool.schema,
                });
                json!({"type": "function", "function": function})
            })
            .collect();
        body.insert("tools".into(), tools.into());
    }
    if let Some(output) = &request.output_schema {
        body.insert("format".into(), output.schema.clone());
    }
    let mut options = Map::new();
    if let Some(most) = request.max_output_tokens {
        options.insert("num_predict".into(), most.into());
    }
    if let Some(temperature) = request.temperature {
        options.insert("temperature".into(), temperature.into());
    }
    if let Some(seed) = request.seed {
        options.insert("seed".into(), seed.into());
    }
    if !request.stop.is_empty() {
        options.insert("stop".into(), json!(request.stop));
    }
    if !options.is_empty() {
        body.insert("options".into(), options.into());
    }
    Value::Object(body)
}

fn wire_messages(message: &Message, names: &ToolNameMap) -> Vec<Value> {
    let text = || {
        let pieces = message.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text } => Some(text.as_str()),
            _ => None,
        });
        pieces.collect::<Vec<_>>().join("\n")
    };
    match message.role {
        MessageRole::System => vec![json!({"role": "system", "content": text()})],
        MessageRole::User => vec![json!({"role": "user", "content": text()})],
        MessageRole::Assistant => {
            let mut wire = json!({"role": "assistant", "content": text()});
            let calls: Vec<Value> = message
                .tool_calls()
                .map(|call| {
                    let function =
                        json!({"name": names.wire_name(&call.name), "arguments": call.arguments});
                    json!({"function": function})
                })
                .collect();
            if !calls.is_empty() {
                wire["tool_calls"] = calls.into();
            }
            vec![wire]
        }
        MessageRole::Tool => message
            .parts
            .iter()
            .filter_map(|part| match part {
                MessagePart::Result { name, content, .. } => Some(json!({
                    "role": "tool",
                    "tool_name": names.wire_name(name),
                    "content": content,
                })),
                _ => None,
            })
            .collect(),
    }
}
