//! Builds the body of a request.

use serde_json::{Map, Value, json};

use super::ANSWER_TOOL;
use crate::cost::USUAL_OUTPUT_TOKENS;
use crate::tool_names::ToolNameMap;
use crate::{GenerateRequest, Message, MessagePart, MessageRole, ToolChoice};

/// `forced` tells whether the model can be forced to call a tool; otherwise the prompt asks for the call.
pub(super) fn build_body(
    model: &str,
    request: &GenerateRequest,
    streamed: bool,
    forced: bool,
) -> Value {
    let names = ToolNameMap::from_request(request);
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert(
        "max_tokens".into(),
        // The API requires a limit.
        request.max_output_tokens.unwrap_or(USUAL_OUTPUT_TOKENS).into(),
    );
    let (mut system, mut messages) = split_messages(request, &names);
    let must_call = required_call_text(request, &names);
    if let Some(tool) = must_call.as_deref().filter(|_| !forced) {
        system.push(text_block(&format!("Do not answer in words. You must call {tool}.")));
    }
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    if messages.is_empty() {
        messages.push(json!({"role": "user", "content": [text_block("Begin.")]}));
    }
    body.insert("messages".into(), messages.into());
    insert_tools(request, &names, &mut body);
    if must_call.is_some() && !forced {
        body.insert("tool_choice".into(), json!({"type": "auto"}));
    }
    if streamed {
        body.insert("stream".into(), true.into());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), temperature.clamp(0.0, 1.0).into());
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".into(), json!(request.stop));
    }
    Value::Object(body)
}

/// A sentence that names the tool the model must call, if the request requires one.
fn required_call_text(request: &GenerateRequest, names: &ToolNameMap) -> Option<String> {
    match (&request.output_schema, &request.tool_choice) {
        (Some(_), _) if request.tools.is_empty() => Some(format!("the tool {ANSWER_TOOL}")),
        (Some(_), _) | (None, ToolChoice::Required) => Some("one of the tools".to_owned()),
        (None, ToolChoice::Named(name)) => Some(format!("the tool {}", names.wire_name(name))),
        (None, ToolChoice::Auto | ToolChoice::None) => None,
    }
}

/// Adds the tools, including the one that carries an answer with a schema.
fn insert_tools(request: &GenerateRequest, names: &ToolNameMap, body: &mut Map<String, Value>) {
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": names.wire_name(&tool.name),
                "description": tool.description,
                "input_schema": tool.schema,
            })
        })
        .collect();
    let mut choice = match &request.tool_choice {
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Named(name) => json!({"type": "tool", "name": names.wire_name(name)}),
    };
    if let Some(output) = &request.output_schema {
        choice = if tools.is_empty() {
            json!({"type": "tool", "name": ANSWER_TOOL})
        } else {
            json!({"type": "any"})
        };
        tools.push(json!({
            "name": ANSWER_TOOL,
            "description": "Gives the final answer. Call it once, with the whole answer.",
            "input_schema": output.schema,
        }));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
        body.insert("tool_choice".into(), choice);
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Moves system text into its own field and merges consecutive turns of one role.
fn split_messages(request: &GenerateRequest, names: &ToolNameMap) -> (Vec<Value>, Vec<Value>) {
    let (mut system, mut turns): (Vec<Value>, Vec<(&str, Vec<Value>)>) = (Vec::new(), Vec::new());
    for (position, message) in request.messages.iter().enumerate() {
        let mut blocks = content_blocks(message, names);
        if blocks.is_empty() {
            continue;
        }
        if position + 1 == request.cacheable_prefix
            && let Some(last) = blocks.last_mut()
        {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
        let role = match message.role {
            MessageRole::System => {
                system.extend(blocks);
                continue;
            }
            MessageRole::User | MessageRole::Tool => "user",
            MessageRole::Assistant => "assistant",
        };
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    let messages = turns
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    (system, messages)
}

fn content_blocks(message: &Message, names: &ToolNameMap) -> Vec<Value> {
    let block = |part: &MessagePart| match part {
        MessagePart::Text { text } if text.trim().is_empty() => None,
        MessagePart::Text { text } => Some(text_block(text)),
        MessagePart::Call(call) => {
            // The API rejects an input that is not an object, even in earlier turns.
            let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
            Some(json!({
                "type": "tool_use",
                "id": call.id,
                "name": names.wire_name(&call.name),
                "input": input,
            }))
        }
        MessagePart::Result { call_id, content, is_error, .. } => Some(json!({
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": content,
            "is_error": is_error,
        })),
    };
    message.parts.iter().filter_map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutputSchema, ToolCall, ToolSpec};

    #[test]
    fn system_text_is_separate_turns_are_merged_and_the_prefix_is_marked() {
        let call =
            ToolCall { id: "t1".into(), name: "file.read".into(), arguments: json!({"p": 1}) };
        let mut request = GenerateRequest::new(vec![
            Message::system("rules"),
            Message::system("tools"),
            Message::user("go"),
            Message::assistant_calls("reading", [call.clone()]),
            Message::tool_error(&call, "no such file"),
            Message::user("go on"),
        ]);
        request.cacheable_prefix = 2;
        request.tools = vec![ToolSpec {
            name: "file.read".into(),
            description: "Reads".into(),
            schema: json!({"type": "object"}),
        }];
        let body = build_body("claude", &request, true, true);
        assert_eq!(body["system"][1]["cache_control"]["type"], "ephemeral");
        assert!(body["system"][0].get("cache_control").is_none());
        let roles: Vec<&str> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        assert_eq!(body["messages"][1]["content"][1]["name"], "file_read");
        assert_eq!(body["messages"][2]["content"][0]["is_error"], true);
        assert_eq!(body["max_tokens"], 4096);
    }

    #[test]
    fn a_schema_becomes_a_tool_that_must_be_called() {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        let schema = json!({"type": "object"});
        request.output_schema = Some(OutputSchema { name: "answer".into(), schema });
        let asked = build_body("claude", &request, false, false);
        assert_eq!(asked["tool_choice"]["type"], "auto");
        assert!(asked["system"][0]["text"].as_str().unwrap().contains(ANSWER_TOOL));
        let body = build_body("claude", &request, false, true);
        assert_eq!(body["tool_choice"]["name"], ANSWER_TOOL);
        assert_eq!(body["tools"][0]["name"], ANSWER_TOOL);
        assert!(body.get("stream").is_none());
    }
}
