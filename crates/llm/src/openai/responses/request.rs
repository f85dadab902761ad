//! Builds the body of a request.

use serde_json::{Map, Value, json};

use super::ResponsesDialect;
use crate::openai::request::is_strict;
use crate::tool_names::ToolNameMap;
use crate::wire_format::RequestShape;
use crate::{GenerateRequest, Message, MessagePart, MessageRole, ToolChoice};
use planwright_model::ReasoningFormat;

type ResponsesShape<'a> = RequestShape<'a, ResponsesDialect>;

pub(super) fn build_body(shape: &ResponsesShape<'_>, request: &GenerateRequest) -> Value {
    let names = ToolNameMap::from_request(request);
    let input: Vec<Value> =
        request.messages.iter().flat_map(|message| input_items(message, &names)).collect();
    let mut body = Map::new();
    body.insert("model".into(), shape.model.into());
    body.insert("input".into(), input.into());
    // The conversation is rebuilt from our own journal; the provider keeps nothing.
    body.insert("store".into(), false.into());
    insert_tools(request, &names, &mut body);
    insert_reasoning(shape, request, &mut body);
    if let Some(output) = &request.output_schema {
        let format = json!({
            "type": "json_schema",
            "name": output.name,
            "schema": output.schema,
            "strict": is_strict(&output.schema),
        });
        body.insert("text".into(), json!({"format": format}));
    }
    if shape.streamed {
        body.insert("stream".into(), true.into());
    }
    // Reasoning counts as output.
    if let Some(most) = request.counted_output_tokens(shape.facts.output) {
        body.insert("max_output_tokens".into(), most.into());
    }
    if let Some(temperature) = request.temperature.filter(|_| shape.dialect.temperature) {
        body.insert("temperature".into(), temperature.into());
    }
    Value::Object(body)
}

fn insert_tools(request: &GenerateRequest, names: &ToolNameMap, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        return;
    }
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({
                "type": "function",
                "name": names.wire_name(&tool.name),
                "description": tool.description,
                "parameters": tool.schema,
                "strict": false,
            })
        })
        .collect();
    let choice = match &request.tool_choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Named(name) => json!({"type": "function", "name": names.wire_name(name)}),
    };
    body.insert("tools".into(), tools.into());
    body.insert("tool_choice".into(), choice);
}

fn insert_reasoning(
    shape: &ResponsesShape<'_>,
    request: &GenerateRequest,
    body: &mut Map<String, Value>,
) {
    if !shape.dialect.reasoning {
        return;
    }
    let mut reasoning = Map::new();
    let word = request.effort.map(|effort| {
        effort.provider_word(&shape.facts.efforts).unwrap_or_else(|| effort.as_str())
    });
    if let Some(word) = word.filter(|_| shape.dialect.effort) {
        reasoning.insert("effort".into(), word.into());
    }
    if shape.dialect.summary {
        reasoning.insert("summary".into(), "auto".into());
    }
    if !reasoning.is_empty() {
        body.insert("reasoning".into(), reasoning.into());
    }
    body.insert("include".into(), json!(["reasoning.encrypted_content"]));
}

fn input_items(message: &Message, names: &ToolNameMap) -> Vec<Value> {
    let role = match message.role {
        MessageRole::System => "system",
        MessageRole::User | MessageRole::Tool => "user",
        MessageRole::Assistant => "assistant",
    };
    let item = |part: &MessagePart| match part {
        MessagePart::Text { text } if text.trim().is_empty() => None,
        MessagePart::Text { text } => Some(json!({"role": role, "content": text})),
        MessagePart::Call(call) => Some(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": names.wire_name(&call.name),
            "arguments": call.arguments.to_string(),
        })),
        MessagePart::Reasoning(item) => {
            (item.format == ReasoningFormat::OpenAiResponses).then(|| item.raw.clone())
        }
        MessagePart::Result { call_id, content, .. } => Some(json!({
            "type": "function_call_output",
            "call_id": call_id,
            "output": content,
        })),
    };
    message.parts.iter().filter_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelEffort, ModelTable, OutputSchema, ToolCall, ToolSpec};
    use planwright_model::ReasoningItem;

    fn body(model: &str, request: &GenerateRequest) -> Value {
        let facts = ModelTable::built_in().find_facts(model).cloned().unwrap_or_default();
        let dialect = ResponsesDialect::from_facts(&facts);
        build_body(&ResponsesShape { model, facts: &facts, dialect, streamed: true }, request)
    }

    #[test]
    fn a_conversation_becomes_items_with_its_reasoning_before_the_call() {
        let call =
            ToolCall { id: "c1".into(), name: "file.read".into(), arguments: json!({"p": 1}) };
        let raw =
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
        let thought = ReasoningItem {
            format: ReasoningFormat::OpenAiResponses,
            position: 0,
            text: String::new(),
            raw: raw.clone(),
        };
        let mut request = GenerateRequest::new(vec![
            Message::system("rules"),
            Message::user("go"),
            Message::assistant_turn("", [thought], [call.clone()]),
            Message::tool_result(&call, "text"),
        ]);
        request.tools = vec![ToolSpec {
            name: "file.read".into(),
            description: "Reads".into(),
            schema: json!({"type": "object"}),
        }];
        request.effort = Some(ModelEffort::High);
        (request.max_output_tokens, request.thinking_tokens) = (Some(1_000), Some(32_768));
        let body = body("gpt-6.1-sol", &request);
        assert_eq!(
            body["input"],
            json!([
                {"role": "system", "content": "rules"},
                {"role": "user", "content": "go"},
                raw,
                {"type": "function_call", "call_id": "c1", "name": "file_read", "arguments": "{\"p\":1}"},
                {"type": "function_call_output", "call_id": "c1", "output": "text"},
            ])
        );
        assert_eq!(body["reasoning"], json!({"effort": "high", "summary": "auto"}));
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!((&body["store"], &body["max_output_tokens"]), (&json!(false), &json!(33_768)));
        assert_eq!(body["tools"][0]["name"], "file_read");
    }

    #[test]
    fn a_model_without_reasoning_gets_none_and_a_schema_is_a_text_format() {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.output_schema = Some(OutputSchema::new("n", json!({"type": "object"})));
        request.temperature = Some(0.2);
        let body = body("gpt-4o", &request);
        assert!(body.get("reasoning").is_none() && body.get("include").is_none());
        assert_eq!(body["text"]["format"]["name"], "n");
        assert_eq!(body["temperature"], 0.2);
    }
}
