//! Tool calls as one JSON object per answer, for servers that support schemas but not tool calls.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::json_schema::inline_references;
use super::text_protocol::rewrite_messages;
use crate::{Message, OutputSchema, RawToolCall, ToolChoice, ToolSpec};

/// Instructions for this protocol. The schemas of the tools are not in it: they are sent once, as the schema of the
/// answer. What stands here is what a model needs that is held to the schema without being shown it.
pub(super) fn json_instructions(tools: &[ToolSpec], choice: &ToolChoice) -> String {
    let mut text = "Answer with one JSON object. Put your reasoning into `thought`. To use a tool, put its name and \
         arguments into `step` as {\"tool\": name, \"input\": arguments}: one tool an answer, whatever \
         else is said about several; its result follows as a message that begins with Observation."
        .to_owned();
    if allows_answer(choice) {
        text.push_str(
            " When no tool is needed any more, put your answer into `step` as {\"answer\": text}.",
        );
    }
    text.push_str("\n\nTools (a question mark after the name of an argument: it may be left out):");
    for tool in offered_tools(tools, choice) {
        let _ = write!(text, "\n- {}: {}", tool_signature(tool), tool.description);
    }
    text
}

/// The conversation so far, written in this protocol: each answer as the object that it was, or would have been.
pub(super) fn messages_as_steps(messages: &[Message]) -> Vec<Message> {
    rewrite_messages(messages, |message| {
        let text = message.text();
        let mut calls =
            message.tool_calls().map(|call| json!({"tool": call.name, "input": call.arguments}));
        let first = match calls.next() {
            Some(call) => json!({"thought": text, "step": call}),
            None => json!({"thought": "", "step": {"answer": text}}),
        };
        let rest = calls.map(|call| json!({"thought": "", "step": call}));
        let steps = std::iter::once(first).chain(rest).map(|step| step.to_string());
        steps.collect::<Vec<_>>().join("\n")
    })
}

/// Whether the model may end with words instead of a call.
fn allows_answer(choice: &ToolChoice) -> bool {
    matches!(choice, ToolChoice::Auto | ToolChoice::None)
}

fn offered_tools<'a>(
    tools: &'a [ToolSpec],
    choice: &'a ToolChoice,
) -> impl Iterator<Item = &'a ToolSpec> {
    tools.iter().filter(move |tool| match choice {
        ToolChoice::Named(name) => tool.name == *name,
        _ => true,
    })
}

/// A tool with its arguments in one line: `file.read(path: string, lines?: integer)`.
fn tool_signature(tool: &ToolSpec) -> String {
    let fields = tool.schema.get("properties").and_then(Value::as_object);
    let required = tool.schema.get("required").and_then(Value::as_array);
    let must = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let arguments: Vec<String> = fields
        .into_iter()
        .flatten()
        .map(|(name, shape)| {
            let mark = if must(name) { "" } else { "?" };
            let kind = shape.get("type").and_then(Value::as_str).unwrap_or("any");
            format!("{name}{mark}: {kind}")
        })
        .collect();
    format!("{}({})", tool.name, arguments.join(", "))
}

/// The schema of one step: a thought, then a call of one tool or the answer.
pub(super) fn step_schema(tools: &[ToolSpec], choice: &ToolChoice) -> OutputSchema {
    let mut steps: Vec<Value> = offered_tools(tools, choice)
        .map(|tool| {
            json!({
                "type": "object",
                "properties": {"tool": {"const": tool.name}, "input": inline_references(&tool.schema)},
                "required": ["tool", "input"],
                "additionalProperties": false,
            })
        })
        .collect();
    if allows_answer(choice) {
        steps.push(json!({
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
            "additionalProperties": false,
        }));
    }
    let schema = json!({
        "type": "object",
        "properties": {"thought": {"type": "string"}, "step": {"anyOf": steps}},
        "required": ["thought", "step"],
        "additionalProperties": false,
    });
    OutputSchema { described: true, ..OutputSchema::new("step", schema) }
}

/// Parses a step. `None` if the object is not a step at all.
pub(super) fn parse_step(value: &Value) -> Option<(String, Option<RawToolCall>)> {
    let thought = value.get("thought").and_then(Value::as_str).unwrap_or_default();
    // Models that are not constrained by the schema omit the envelope.
    let step = value.get("step").filter(|step| step.is_object()).unwrap_or(value);
    if let Some(name) = step.get("tool").and_then(Value::as_str).filter(|name| *name != "none") {
        let arguments = step.get("input").map_or_else(|| "{}".to_owned(), Value::to_string);
        let call = RawToolCall { id: "call_0".to_owned(), name: name.to_owned(), arguments };
        return Some((thought.to_owned(), Some(call)));
    }
    let answer = step.get("answer").or_else(|| value.get("answer"))?;
    let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    Some((answer, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_call_or_an_answer() {
        let (text, call) =
            parse_step(&json!({"thought": "look", "step": {"tool": "f", "input": {"a": 1}}}))
                .unwrap();
        assert_eq!((text.as_str(), call.unwrap().arguments.as_str()), ("look", r#"{"a":1}"#));
        let (text, call) =
            parse_step(&json!({"thought": "x", "step": {"answer": "done"}})).unwrap();
        assert_eq!((text.as_str(), call), ("done", None));
        assert!(
            parse_step(&json!({"tool": "f", "input": {}})).unwrap().1.is_some(),
            "without the envelope"
        );
        assert_eq!(parse_step(&json!({"something": 1})), None);
    }

    #[test]
    fn tools_are_listed_with_their_arguments_and_without_their_schemas() {
        let tool = ToolSpec {
            name: "file.read".into(),
            description: "Reads a file.".into(),
            schema: json!({"type": "object", "required": ["path"],
                "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}),
        };
        let tools = std::slice::from_ref(&tool);
        let auto = json_instructions(tools, &ToolChoice::Auto);
        assert!(
            auto.ends_with("- file.read(path: string, lines?: integer): Reads a file."),
            "{auto}"
        );
        assert!(auto.contains("\"answer\"") && !auto.contains("properties"));
        let named = json_instructions(tools, &ToolChoice::Named("file.read".into()));
        assert!(!named.contains("\"answer\""), "what the schema forbids is not offered: {named}");
    }

    #[test]
    fn earlier_answers_are_shown_in_the_form_that_is_asked_for() {
        let call = |name: &str| {
            crate::MessagePart::Call(crate::ToolCall {
                id: "c".into(),
                name: name.into(),
                arguments: json!({"path": "a"}),
            })
        };
        let mut looked = Message::assistant("look first");
        looked.parts.push(call("file.read"));
        let told = Message::assistant("nothing to do");
        let sent = messages_as_steps(&[Message::user("go"), looked, told]);
        let texts: Vec<Value> =
            sent[1..].iter().map(|sent| serde_json::from_str(&sent.text()).unwrap()).collect();
        let first = parse_step(&texts[0]).unwrap();
        assert_eq!((first.0.as_str(), first.1.unwrap().name.as_str()), ("look first", "file.read"));
        assert_eq!(parse_step(&texts[1]), Some(("nothing to do".to_owned(), None)));
        assert_eq!(sent[0].text(), "go");
    }

    #[test]
    fn a_forced_tool_excludes_a_text_answer() {
        let tool = ToolSpec {
            name: "f".into(),
            description: String::new(),
            schema: json!({"type": "object"}),
        };
        let named = step_schema(std::slice::from_ref(&tool), &ToolChoice::Named("f".into()));
        assert_eq!(
            named.schema.pointer("/properties/step/anyOf").unwrap().as_array().unwrap().len(),
            1
        );
        let auto = step_schema(&[tool], &ToolChoice::Auto);
        assert_eq!(
            auto.schema.pointer("/properties/step/anyOf").unwrap().as_array().unwrap().len(),
            2
        );
    }
}
