//! Builds the body of a request.

use serde_json::{Map, Value, json};

use super::dialect::{JsonForm, OpenAiDialect};
use crate::tool_names::ToolNameMap;
use crate::wire_format::{RequestShape, function_tool};
use crate::{
    GenerateRequest, Message, MessagePart, MessageRole, ModelEffort, ModelFacts, OutputSchema,
    ToolChoice,
};
use planwright_model::ReasoningFormat;

pub(super) fn build_body(
    shape: &RequestShape<'_, OpenAiDialect>,
    request: &GenerateRequest,
) -> Value {
    let RequestShape { model, facts, dialect, .. } = shape;
    let names = ToolNameMap::from_request(request);
    let mut body = Map::new();
    body.insert("model".into(), (*model).into());
    let mut messages: Vec<Value> =
        request.messages.iter().flat_map(|message| wire_messages(message, &names)).collect();
    if let Some(output) = &request.output_schema {
        if needs_schema_prompt(output, dialect) {
            messages.push(json!({"role": "user", "content": schema_prompt(output)}));
        }
        if let Some(format) = response_format(output, dialect.json) {
            body.insert("response_format".into(), format);
        }
    }
    body.insert("messages".into(), messages.into());
    if !request.tools.is_empty() {
        let tools: Vec<Value> =
            request.tools.iter().map(|tool| function_tool(tool, &names)).collect();
        body.insert("tools".into(), tools.into());
        body.insert("tool_choice".into(), tool_choice(&request.tool_choice, &names));
    }
    if dialect.can_stream(request) {
        body.insert("stream".into(), true.into());
        if dialect.usage_option {
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
    }
    // Servers count thinking as output.
    if let Some(most) = request.counted_output_tokens(facts.output) {
        let field = if dialect.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(field.into(), most.into());
    }
    if let Some(word) = effort_word(facts, request).filter(|_| dialect.effort) {
        body.insert("reasoning_effort".into(), word.into());
    }
    if let Some(temperature) = request.temperature.filter(|_| dialect.temperature) {
        body.insert("temperature".into(), temperature.into());
    }
    if let Some(seed) = request.seed.filter(|_| dialect.seed) {
        body.insert("seed".into(), seed.into());
    }
    if !request.stop.is_empty() {
        body.insert("stop".into(), json!(request.stop));
    }
    Value::Object(body)
}

/// The word for the effort the person set, as the model knows it; servers of unknown models are sent our own.
fn effort_word<'a>(facts: &'a ModelFacts, request: &GenerateRequest) -> Option<&'a str> {
    let effort = request.effort?;
    effort.provider_word(&facts.efforts).or_else(|| {
        let unknown = facts.label.is_none();
        unknown.then(|| if effort == ModelEffort::Max { "high" } else { effort.as_str() })
    })
}

/// Whether the model must be shown the schema. A grammar keeps it from writing anything else without telling it what is
/// wanted, which a prompt that describes the answer does as well.
fn needs_schema_prompt(output: &OutputSchema, dialect: &OpenAiDialect) -> bool {
    match dialect.json {
        JsonForm::Schema => !dialect.shows_schema && !output.described,
        JsonForm::ObjectWithSchema => !output.described,
        JsonForm::Object | JsonForm::Prompt => true,
    }
}

fn wire_messages(message: &Message, names: &ToolNameMap) -> Vec<Value> {
    let text = || message.joined_text();
    match message.role {
        MessageRole::System => vec![json!({"role": "system", "content": text()})],
        MessageRole::User => vec![json!({"role": "user", "content": text()})],
        MessageRole::Assistant => {
            // Never null: some servers reject it next to tool calls.
            let mut wire = json!({"role": "assistant", "content": text()});
            let calls: Vec<Value> = message
                .tool_calls()
                .map(|call| {
                    let function = json!({
                        "name": names.wire_name(&call.name),
                        "arguments": call.arguments.to_string(),
                    });
                    json!({"id": call.id, "type": "function", "function": function})
                })
                .collect();
            if !calls.is_empty() {
                wire["tool_calls"] = calls.into();
            }
            let details: Vec<Value> = message
                .reasoning(ReasoningFormat::ChatCompletions)
                .map(|item| item.raw.clone())
                .collect();
            if !details.is_empty() {
                wire["reasoning_details"] = details.into();
            }
            vec![wire]
        }
        MessageRole::Tool => message
            .parts
            .iter()
            .filter_map(|part| match part {
                MessagePart::Result { call_id, content, .. } => {
                    Some(json!({"role": "tool", "tool_call_id": call_id, "content": content}))
                }
                _ => None,
            })
            .collect(),
    }
}

fn tool_choice(choice: &ToolChoice, names: &ToolNameMap) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Named(name) => {
            json!({"type": "function", "function": {"name": names.wire_name(name)}})
        }
    }
}

fn response_format(output: &OutputSchema, form: JsonForm) -> Option<Value> {
    match form {
        JsonForm::Schema => Some(json!({
            "type": "json_schema",
            "json_schema": {
                "name": output.name,
                "schema": output.schema,
                "strict": is_strict(&output.schema),
            },
        })),
        JsonForm::ObjectWithSchema => Some(json!({"type": "json_object", "schema": output.schema})),
        JsonForm::Object => Some(json!({"type": "json_object"})),
        JsonForm::Prompt => None,
    }
}

fn schema_prompt(output: &OutputSchema) -> String {
    format!(
        "Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{}",
        output.schema
    )
}

/// Strict output is rejected for schemas that leave anything open.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let closed = match fields.get("properties").and_then(Value::as_object) {
                None => fields.get("type").is_none_or(|kind| kind != "object"),
                Some(properties) => {
                    let required: Vec<&str> = fields
                        .get("required")
                        .and_then(Value::as_array)
                        .map(|names| names.iter().filter_map(Value::as_str).collect())
                        .unwrap_or_default();
                    fields.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(|name| required.contains(&name.as_str()))
                }
            };
            closed && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolCall, ToolSpec};

    fn shape<'a>(
        model: &'a str,
        facts: &'a ModelFacts,
        dialect: OpenAiDialect,
    ) -> RequestShape<'a, OpenAiDialect> {
        RequestShape { model, facts, dialect, streamed: true }
    }

    #[test]
    fn content_is_never_null_and_names_are_mapped_in_history_and_choice() {
        let call =
            ToolCall { id: "c1".into(), name: "file.read".into(), arguments: json!({"path": "a"}) };
        let mut request = GenerateRequest::new(vec![
            Message::user("read it"),
            Message::assistant_calls("", [call.clone()]),
            Message::tool_result(&call, "text"),
        ]);
        let schema = json!({"type": "object"});
        request.tools =
            vec![ToolSpec { name: "file.read".into(), description: "Reads".into(), schema }];
        request.tool_choice = ToolChoice::Named("file.read".into());
        let facts = ModelFacts::default();
        let body = build_body(&shape("m", &facts, OpenAiDialect::COMPATIBLE), &request);
        assert_eq!(body["messages"][1]["content"], "");
        assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["name"], "file_read");
        assert_eq!(
            body["messages"][1]["tool_calls"][0]["function"]["arguments"],
            r#"{"path":"a"}"#
        );
        assert_eq!(body["messages"][2]["tool_call_id"], "c1");
        assert_eq!(body["tool_choice"]["function"]["name"], "file_read");
        assert_eq!(body["stream_options"]["include_usage"], true);
    }

    #[test]
    fn an_effort_is_sent_in_the_words_of_the_model_and_thinking_gets_room() {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        (request.max_output_tokens, request.thinking_tokens) = (Some(1_000), Some(16_384));
        request.effort = Some(ModelEffort::Max);
        let body = |model: &str| {
            let facts = crate::ModelTable::built_in().find_facts(model).cloned();
            build_body(&shape(model, &facts.unwrap_or_default(), OpenAiDialect::HOSTED), &request)
        };
        assert_eq!(body("gpt-5")["reasoning_effort"], "high");
        assert_eq!(body("gpt-5")["max_completion_tokens"], 17_384);
        assert_eq!(body("gpt-6.1-sol")["reasoning_effort"], "max");
        assert_eq!(body("who-knows")["reasoning_effort"], "high");
        assert!(body("gpt-4o").get("reasoning_effort").is_none(), "it does not think");
    }

    #[test]
    fn a_described_schema_is_sent_once() {
        let schema = json!({"type": "object", "title": "only-once"});
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        let count = |request: &GenerateRequest, json| {
            let mut dialect = OpenAiDialect::COMPATIBLE;
            dialect.json = json;
            let body = build_body(&shape("m", &ModelFacts::default(), dialect), request);
            body.to_string().matches("only-once").count()
        };
        request.output_schema =
            Some(OutputSchema { described: true, ..OutputSchema::new("step", schema.clone()) });
        for form in
            [JsonForm::Schema, JsonForm::ObjectWithSchema, JsonForm::Object, JsonForm::Prompt]
        {
            assert_eq!(count(&request, form), 1, "{form:?}");
        }
        request.output_schema = Some(OutputSchema::new("answer", schema));
        assert_eq!(count(&request, JsonForm::Schema), 2, "a grammar is not shown to the model");
    }

    #[test]
    fn only_closed_schemas_are_strict() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}},
            "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&closed));
        assert!(!is_strict(&json!({"type": "object", "properties": {"a": closed}})));
        assert!(!is_strict(&json!({"type": "object"})));
    }
}
