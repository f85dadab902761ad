//! Builds the body of a request.

use serde_json::{Map, Value, json};

use super::{ANSWER_TOOL, AnthropicDialect};
use crate::cost::USUAL_OUTPUT_TOKENS;
use crate::tool_names::ToolNameMap;
use crate::wire_format::{RequestShape, push_turn};
use crate::{
    GenerateRequest, Message, MessagePart, MessageRole, ThinkingControl, ThinkingSupport,
    ToolChoice,
};
use planwright_model::ReasoningFormat;

/// The least budget for thinking that the API accepts.
const LEAST_BUDGET: u32 = 1_024;

type AnthropicShape<'a> = RequestShape<'a, AnthropicDialect>;

impl AnthropicShape<'_> {
    /// How this request asks for thinking; `None` if it does not.
    fn thinking(&self, request: &GenerateRequest) -> Option<ThinkingControl> {
        let asked =
            request.thinking_tokens.is_some() || self.facts.thinking == ThinkingSupport::Always;
        let lost = self.facts.thinking != ThinkingSupport::Always && thoughts_are_lost(request);
        self.dialect
            .control
            .filter(|control| asked && !(lost && *control == ThinkingControl::Budget))
    }
}

/// Whether the model is in the middle of a turn whose thoughts were not kept. With a budget for thinking the API refuses
/// to continue such a turn.
fn thoughts_are_lost(request: &GenerateRequest) -> bool {
    let asked = request.messages.iter().rposition(|message| message.role == MessageRole::User);
    let turn = &request.messages[asked.map_or(0, |at| at + 1)..];
    let first = turn.iter().find(|message| message.role == MessageRole::Assistant);
    first.is_some_and(|message| {
        let has = |wanted: fn(&MessagePart) -> bool| message.parts.iter().any(wanted);
        has(|part| matches!(part, MessagePart::Call(_)))
            && !has(|part| {
                matches!(part, MessagePart::Reasoning(item)
                    if item.format == ReasoningFormat::Anthropic)
            })
    })
}

pub(super) fn build_body(shape: &AnthropicShape<'_>, request: &GenerateRequest) -> Value {
    let names = ToolNameMap::from_request(request);
    let mut body = Map::new();
    body.insert("model".into(), shape.model.into());
    // The API requires a limit, and counts thinking towards it.
    let most = request.counted_output_tokens(shape.facts.output).unwrap_or(USUAL_OUTPUT_TOKENS);
    body.insert("max_tokens".into(), most.into());
    let thinking = shape.thinking(request);
    // A model that thinks cannot be forced to call a tool; the prompt asks it to.
    let forced = shape.dialect.forced && thinking.is_none();
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
    insert_thinking(shape, request, thinking, &mut body);
    if shape.streamed {
        body.insert("stream".into(), true.into());
    }
    let temperature = request.temperature.filter(|_| shape.dialect.temperature);
    if let Some(temperature) = temperature.filter(|_| thinking.is_none()) {
        body.insert("temperature".into(), temperature.clamp(0.0, 1.0).into());
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".into(), json!(request.stop));
    }
    Value::Object(body)
}

fn insert_thinking(
    shape: &AnthropicShape<'_>,
    request: &GenerateRequest,
    thinking: Option<ThinkingControl>,
    body: &mut Map<String, Value>,
) {
    let word = request.effort.and_then(|effort| effort.provider_word(&shape.facts.efforts));
    if let Some(word) = word.filter(|_| shape.dialect.effort) {
        body.insert("output_config".into(), json!({"effort": word}));
    }
    let mut field = match thinking {
        None => return,
        Some(ThinkingControl::Adaptive | ThinkingControl::Level) => json!({"type": "adaptive"}),
        Some(ThinkingControl::Budget) => {
            let budget = request.thinking_tokens.unwrap_or(LEAST_BUDGET).max(LEAST_BUDGET);
            json!({"type": "enabled", "budget_tokens": budget})
        }
    };
    if shape.dialect.display && thinking == Some(ThinkingControl::Adaptive) {
        field["display"] = "summarized".into();
    }
    body.insert("thinking".into(), field);
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
    let end = request.is_conversation().then_some(request.messages.len());
    let (mut system, mut turns): (Vec<Value>, Vec<(&str, Vec<Value>)>) = (Vec::new(), Vec::new());
    for (position, message) in request.messages.iter().enumerate() {
        let mut blocks = content_blocks(message, names);
        if blocks.is_empty() {
            continue;
        }
        if position + 1 == request.cacheable_prefix || Some(position + 1) == end {
            mark_cached(&mut blocks);
        }
        let role = match message.role {
            MessageRole::System => {
                system.extend(blocks);
                continue;
            }
            MessageRole::User | MessageRole::Tool => "user",
            MessageRole::Assistant => "assistant",
        };
        push_turn(&mut turns, role, blocks);
    }
    let messages = turns
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    (system, messages)
}

/// Lets the provider cache everything up to here. Thoughts cannot carry the mark.
fn mark_cached(blocks: &mut [Value]) {
    let kinds = ["thinking", "redacted_thinking"];
    let markable = |block: &&mut Value| !kinds.iter().any(|kind| block["type"] == *kind);
    if let Some(last) = blocks.iter_mut().rev().find(markable) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
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
        // Sent back as it came: the signature covers every byte of it.
        MessagePart::Reasoning(item) => {
            (item.format == ReasoningFormat::Anthropic).then(|| item.raw.clone())
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
    use crate::{ModelEffort, ModelTable, OutputSchema, ToolCall, ToolSpec};
    use planwright_model::ReasoningItem;

    fn body(model: &str, request: &GenerateRequest) -> Value {
        let facts = ModelTable::built_in().find_facts(model).cloned().unwrap_or_default();
        let dialect = AnthropicDialect::from_facts(&facts);
        build_body(&AnthropicShape { model, facts: &facts, dialect, streamed: true }, request)
    }

    fn tool() -> ToolSpec {
        ToolSpec {
            name: "file.read".into(),
            description: "Reads".into(),
            schema: json!({"type": "object"}),
        }
    }

    fn conversation() -> GenerateRequest {
        let call =
            ToolCall { id: "t1".into(), name: "file.read".into(), arguments: json!({"p": 1}) };
        let thought = ReasoningItem {
            format: ReasoningFormat::Anthropic,
            position: 0,
            text: "hm".into(),
            raw: json!({"type": "thinking", "thinking": "hm", "signature": "sig=="}),
        };
        let mut request = GenerateRequest::new(vec![
            Message::system("rules"),
            Message::system("tools"),
            Message::user("go"),
            Message::assistant_turn("reading", [thought], [call.clone()]),
            Message::tool_error(&call, "no such file"),
            Message::user("go on"),
        ]);
        request.cacheable_prefix = 2;
        request.tools = vec![tool()];
        request
    }

    #[test]
    fn system_text_is_separate_turns_are_merged_and_both_ends_are_marked() {
        let body = body("claude", &conversation());
        assert_eq!(body["system"][1]["cache_control"]["type"], "ephemeral");
        assert!(body["system"][0].get("cache_control").is_none());
        let roles: Vec<&str> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        assert_eq!(
            body["messages"][1]["content"][0],
            json!({"type": "thinking", "thinking": "hm", "signature": "sig=="}),
            "a thought goes back before the call it led to, byte for byte"
        );
        assert_eq!(body["messages"][1]["content"][2]["name"], "file_read");
        assert_eq!(body["messages"][2]["content"][0]["is_error"], true);
        assert_eq!(body["messages"][2]["content"][1]["cache_control"]["type"], "ephemeral");
        assert_eq!(body["max_tokens"], 4096);
        let mut single = conversation();
        single.tool_choice = ToolChoice::Named("file.read".into());
        let single = self::body("claude", &single);
        assert!(single["messages"][2]["content"][1].get("cache_control").is_none());
    }

    #[test]
    fn a_schema_becomes_a_tool_that_must_be_called() {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.output_schema = Some(OutputSchema::new("answer", json!({"type": "object"})));
        let asked = body("claude-opus-5-5", &request);
        assert_eq!(asked["tool_choice"]["type"], "auto", "a model that thinks is not forced");
        assert!(asked["system"][0]["text"].as_str().unwrap().contains(ANSWER_TOOL));
        let forced = body("claude", &request);
        assert_eq!(forced["tool_choice"]["name"], ANSWER_TOOL);
        assert_eq!(forced["tools"][0]["name"], ANSWER_TOOL);
    }

    #[test]
    fn thinking_is_asked_for_in_the_form_of_the_model_and_has_its_own_room() {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.tools = vec![tool()];
        (request.max_output_tokens, request.temperature) = (Some(1_000), Some(0.2));
        (request.thinking_tokens, request.effort) = (Some(4_096), Some(ModelEffort::Max));
        let adaptive = body("claude-opus-5-5", &request);
        assert_eq!(adaptive["thinking"], json!({"type": "adaptive", "display": "summarized"}));
        assert_eq!(adaptive["output_config"]["effort"], "max");
        assert_eq!(adaptive["max_tokens"], 5_096);
        assert!(adaptive.get("temperature").is_none());
        let budget = body("claude-sonnet-4-5", &request);
        assert_eq!(budget["thinking"], json!({"type": "enabled", "budget_tokens": 4_096}));
        assert!(budget.get("output_config").is_none());
        request.thinking_tokens = None;
        let quiet = body("claude-sonnet-4-5", &request);
        assert!(quiet.get("thinking").is_none() && quiet["temperature"] == 0.2);
        assert_eq!(quiet["max_tokens"], 1_000);
    }

    #[test]
    fn a_turn_whose_thoughts_were_not_kept_is_continued_without_thinking() {
        let asked = |reasoning: Vec<ReasoningItem>| {
            let mut request = conversation();
            let call = ToolCall { id: "t1".into(), name: "file.read".into(), arguments: json!({}) };
            request.messages.truncate(3);
            request.messages.push(Message::assistant_turn("", reasoning, [call.clone()]));
            request.messages.push(Message::tool_result(&call, "text"));
            request.thinking_tokens = Some(4_096);
            body("claude-sonnet-4-5", &request)
        };
        let thought = conversation().messages[3].parts.iter().find_map(|part| match part {
            MessagePart::Reasoning(item) => Some(item.clone()),
            _ => None,
        });
        assert_eq!(asked(thought.into_iter().collect())["thinking"]["type"], "enabled");
        assert_eq!(asked(Vec::new()).get("thinking"), None);
    }
}
