//! Builds the body of a request.

use serde_json::{Map, Value, json};

use super::GeminiDialect;
use crate::tool_names::ToolNameMap;
use crate::wire_format::push_turn;
use crate::{
    GenerateRequest, Message, MessagePart, MessageRole, ModelFacts, ThinkingControl, ToolChoice,
};
use planwright_model::ReasoningFormat;

/// Stands for the signature of a call that another model made. The interface refuses calls without one.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn build_body(
    facts: &ModelFacts,
    dialect: GeminiDialect,
    request: &GenerateRequest,
) -> Value {
    let names = ToolNameMap::from_request(request);
    let signed = facts.control == ThinkingControl::Level;
    let (system, contents) = split_messages(request, &names, signed);
    let mut body = Map::new();
    if !system.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": system}));
    }
    body.insert("contents".into(), contents.into());
    insert_tools(request, &names, &mut body);
    let config = generation_config(facts, dialect, request);
    if !config.is_empty() {
        body.insert("generationConfig".into(), config.into());
    }
    Value::Object(body)
}

fn generation_config(
    facts: &ModelFacts,
    dialect: GeminiDialect,
    request: &GenerateRequest,
) -> Map<String, Value> {
    let mut config = Map::new();
    // Thoughts count as output.
    if let Some(most) = request.counted_output_tokens(facts.output) {
        config.insert("maxOutputTokens".into(), most.into());
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), temperature.into());
    }
    if let Some(seed) = request.seed.filter(|_| dialect.seed) {
        config.insert("seed".into(), seed.into());
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences".into(), json!(request.stop));
    }
    if let Some(output) = &request.output_schema {
        config.insert("responseMimeType".into(), "application/json".into());
        config.insert("responseJsonSchema".into(), output.schema.clone());
    }
    if dialect.thinking {
        let mut thinking = Map::from_iter([("includeThoughts".to_owned(), true.into())]);
        if let Some(effort) = request.effort.filter(|_| dialect.effort) {
            match (facts.control, request.thinking_tokens) {
                (ThinkingControl::Budget, Some(budget)) => {
                    thinking.insert("thinkingBudget".into(), budget.into());
                }
                (ThinkingControl::Budget, None) => {}
                _ => {
                    let word = effort.provider_word(&facts.efforts).unwrap_or(effort.as_str());
                    thinking.insert("thinkingLevel".into(), word.into());
                }
            }
        }
        config.insert("thinkingConfig".into(), thinking.into());
    }
    config
}

fn insert_tools(request: &GenerateRequest, names: &ToolNameMap, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        return;
    }
    let functions: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": names.wire_name(&tool.name),
                "description": tool.description,
                "parametersJsonSchema": tool.schema,
            })
        })
        .collect();
    let config = match &request.tool_choice {
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Named(name) => {
            json!({"mode": "ANY", "allowedFunctionNames": [names.wire_name(name)]})
        }
    };
    body.insert("tools".into(), json!([{"functionDeclarations": functions}]));
    body.insert("toolConfig".into(), json!({"functionCallingConfig": config}));
}

/// Moves system text into its own field and merges consecutive turns of one role.
fn split_messages(
    request: &GenerateRequest,
    names: &ToolNameMap,
    signed: bool,
) -> (Vec<Value>, Vec<Value>) {
    let (mut system, mut turns): (Vec<Value>, Vec<(&'static str, Vec<Value>)>) =
        (Vec::new(), Vec::new());
    for message in &request.messages {
        let parts = message_parts(message, names, signed);
        let role = match message.role {
            MessageRole::System => {
                system.extend(parts);
                continue;
            }
            MessageRole::User | MessageRole::Tool => "user",
            MessageRole::Assistant => "model",
        };
        push_turn(&mut turns, role, parts);
    }
    if turns.is_empty() {
        turns.push(("user", vec![json!({"text": "Begin."})]));
    }
    let contents =
        turns.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect();
    (system, contents)
}

fn message_parts(message: &Message, names: &ToolNameMap, signed: bool) -> Vec<Value> {
    let signature = |position: u32| {
        let mut items = message.reasoning(ReasoningFormat::Gemini);
        let item = items.find(|item| item.position == position)?;
        item.raw.get("thoughtSignature").cloned()
    };
    let has_calls = message.tool_calls().next().is_some();
    let mut calls = 0u32;
    let mut parts = Vec::new();
    for part in &message.parts {
        let wire = match part {
            MessagePart::Text { text } if text.trim().is_empty() => continue,
            MessagePart::Text { text } => {
                let mut wire = json!({"text": text});
                if let Some(signature) = signature(0).filter(|_| !has_calls) {
                    wire["thoughtSignature"] = signature;
                }
                wire
            }
            MessagePart::Call(call) => {
                let args =
                    if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
                let name = names.wire_name(&call.name);
                let mut wire = json!({"functionCall": {"id": call.id, "name": name, "args": args}});
                let foreign = (signed && calls == 0).then(|| FOREIGN_SIGNATURE.into());
                if let Some(signature) = signature(calls).or(foreign) {
                    wire["thoughtSignature"] = signature;
                }
                calls += 1;
                wire
            }
            MessagePart::Reasoning(_) => continue,
            MessagePart::Result { call_id, name, content, is_error } => {
                let field = if *is_error { "error" } else { "result" };
                json!({"functionResponse": {
                    "id": call_id, "name": names.wire_name(name), "response": {field: content},
                }})
            }
        };
        parts.push(wire);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelEffort, ModelTable, OutputSchema, ToolCall, ToolSpec};
    use planwright_model::ReasoningItem;

    fn body(model: &str, request: &GenerateRequest) -> Value {
        let facts = ModelTable::built_in().find_facts(model).cloned().unwrap_or_default();
        build_body(&facts, GeminiDialect { thinking: true, effort: true, seed: true }, request)
    }

    fn conversation(reasoning: Vec<ReasoningItem>) -> GenerateRequest {
        let call =
            ToolCall { id: "c1".into(), name: "file.read".into(), arguments: json!({"p": 1}) };
        let mut request = GenerateRequest::new(vec![
            Message::system("rules"),
            Message::user("go"),
            Message::assistant_turn("", reasoning, [call.clone()]),
            Message::tool_result(&call, "text"),
        ]);
        request.tools = vec![ToolSpec {
            name: "file.read".into(),
            description: "Reads".into(),
            schema: json!({"type": "object"}),
        }];
        request
    }

    #[test]
    fn calls_go_back_with_their_signatures_and_results_with_their_ids() {
        let signature = ReasoningItem {
            format: ReasoningFormat::Gemini,
            position: 0,
            text: String::new(),
            raw: json!({"thoughtSignature": "sig"}),
        };
        let sent = body("gemini-3.8-flash", &conversation(vec![signature]));
        assert_eq!(sent["systemInstruction"], json!({"parts": [{"text": "rules"}]}));
        assert_eq!(
            sent["contents"],
            json!([
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "file_read", "args": {"p": 1}},
                    "thoughtSignature": "sig"}]},
                {"role": "user", "parts": [{"functionResponse":
                    {"id": "c1", "name": "file_read", "response": {"result": "text"}}}]},
            ])
        );
        let foreign = body("gemini-3.8-flash", &conversation(Vec::new()));
        assert_eq!(foreign["contents"][1]["parts"][0]["thoughtSignature"], FOREIGN_SIGNATURE);
        let older = body("gemini-2.5-flash", &conversation(Vec::new()));
        assert!(older["contents"][1]["parts"][0].get("thoughtSignature").is_none());
    }

    #[test]
    fn limits_schema_and_effort_stand_in_the_configuration() {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.output_schema = Some(OutputSchema::new("n", json!({"type": "object"})));
        (request.max_output_tokens, request.thinking_tokens) = (Some(1_000), Some(4_096));
        request.effort = Some(ModelEffort::Low);
        let level = body("gemini-3.8-flash", &request)["generationConfig"].clone();
        assert_eq!(level["maxOutputTokens"], 5_096);
        assert_eq!(level["responseJsonSchema"], json!({"type": "object"}));
        assert_eq!(
            level["thinkingConfig"],
            json!({"includeThoughts": true, "thinkingLevel": "low"})
        );
        let budget = body("gemini-2.5-pro", &request)["generationConfig"].clone();
        assert_eq!(
            budget["thinkingConfig"],
            json!({"includeThoughts": true, "thinkingBudget": 4_096})
        );
        let mut named = conversation(Vec::new());
        named.tool_choice = ToolChoice::Named("file.read".into());
        assert_eq!(
            body("gemini-3.8-flash", &named)["toolConfig"]["functionCallingConfig"],
            json!({"mode": "ANY", "allowedFunctionNames": ["file_read"]})
        );
    }
}
