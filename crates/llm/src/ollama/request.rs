//! Builds the body of a request.

use serde_json::{Map, Value, json};

use crate::cost::USUAL_OUTPUT_TOKENS;
use crate::cost::tokens::estimate_request_tokens;
use crate::tool_names::ToolNameMap;
use crate::wire_format::{RequestShape, function_tool};
use crate::{GenerateRequest, Message, MessagePart, MessageRole, ModelFacts, ToolChoice};

/// The context a server gives a model unless it is asked for more; what does not fit is cut without a word.
const USUAL_CONTEXT: u64 = 4_096;

pub(super) fn build_body(
    shape: &RequestShape<'_, ()>,
    window: Option<u32>,
    request: &GenerateRequest,
) -> Value {
    let names = ToolNameMap::from_request(request);
    let messages: Vec<Value> =
        request.messages.iter().flat_map(|message| wire_messages(message, &names)).collect();
    let mut body = Map::new();
    body.insert("model".into(), shape.model.into());
    body.insert("messages".into(), messages.into());
    // Always explicit, because Ollama streams by default.
    body.insert("stream".into(), shape.streamed.into());
    if request.tool_choice != ToolChoice::None && !request.tools.is_empty() {
        let tools: Vec<Value> =
            request.tools.iter().map(|tool| function_tool(tool, &names)).collect();
        body.insert("tools".into(), tools.into());
    }
    if let Some(output) = &request.output_schema {
        body.insert("format".into(), output.schema.clone());
    }
    if let Some(think) = think_value(shape.facts, request) {
        body.insert("think".into(), think);
    }
    let mut options = Map::new();
    if let Some(context) = needed_context(window, request) {
        options.insert("num_ctx".into(), context.into());
    }
    if let Some(most) = request.counted_output_tokens(shape.facts.output) {
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

/// How much the model is to think, if that can be set: one of its levels, or simply yes.
fn think_value(facts: &ModelFacts, request: &GenerateRequest) -> Option<Value> {
    request.thinking_tokens?;
    let effort = request.effort?;
    Some(effort.provider_word(&facts.efforts).map_or(Value::Bool(true), Value::from))
}

/// The context this request needs, in steps so that the server seldom loads the model anew, and at most what the model
/// has.
fn needed_context(window: Option<u32>, request: &GenerateRequest) -> Option<u64> {
    let output = u64::from(request.max_output_tokens.unwrap_or(USUAL_OUTPUT_TOKENS))
        + u64::from(request.thinking_tokens.unwrap_or(0));
    let needed = estimate_request_tokens(request) * 5 / 4 + output;
    let most = u64::from(window?);
    (needed > USUAL_CONTEXT).then(|| needed.next_power_of_two().min(most))
}

fn wire_messages(message: &Message, names: &ToolNameMap) -> Vec<Value> {
    let text = || message.joined_text();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelEffort, ModelTable};

    fn shape(facts: &ModelFacts) -> RequestShape<'_, ()> {
        RequestShape { model: "m", facts, dialect: (), streamed: true }
    }

    #[test]
    fn a_long_prompt_gets_a_context_it_fits_into() {
        let body = |words: usize, window| {
            let request = GenerateRequest::new(vec![Message::user("word ".repeat(words))]);
            build_body(&shape(&ModelFacts::default()), window, &request)
        };
        assert_eq!(body(10_000, Some(131_072))["options"]["num_ctx"], 32_768);
        assert_eq!(body(10_000, Some(8_192))["options"]["num_ctx"], 8_192);
        assert!(body(10_000, None).get("options").is_none(), "nothing is known about the model");
    }

    #[test]
    fn thinking_is_set_in_the_words_of_the_model() {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        (request.thinking_tokens, request.effort) = (Some(4_096), Some(ModelEffort::Max));
        let facts = ModelTable::built_in().find_facts("gpt-oss:20b").cloned().unwrap();
        let body = |facts: &ModelFacts| build_body(&shape(facts), None, &request);
        assert_eq!(body(&facts)["think"], "high");
        assert_eq!(body(&ModelFacts::default())["think"], true);
    }
}
