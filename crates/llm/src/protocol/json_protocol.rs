//! Tool calls as one JSON object per answer, for servers that support schemas but not tool calls.

use serde_json::{Value, json};

use super::json_schema::inline_references;
use super::text_protocol::list_tools;
use crate::{OutputSchema, RawToolCall, ToolChoice, ToolSpec};

/// Instructions for a model that sees the schema but not its purpose.
pub(super) fn json_instructions(tools: &[ToolSpec]) -> String {
    format!(
        "Answer with one JSON object. Put your reasoning into `thought`. To use a tool, put its name and arguments \
         into `step` as {{\"tool\": name, \"input\": arguments}}. When no tool is needed any more, put your answer \
         into `step` as {{\"answer\": text}}.\n\nTools:\n{}",
        list_tools(tools)
    )
}

/// The schema of one step: a thought, then a call of one tool or the answer.
pub(super) fn step_schema(tools: &[ToolSpec], choice: &ToolChoice) -> OutputSchema {
    let offered = tools.iter().filter(|tool| match choice {
        ToolChoice::Named(name) => tool.name == *name,
        _ => true,
    });
    let mut steps: Vec<Value> = offered
        .map(|tool| {
            json!({
                "type": "object",
                "properties": {"tool": {"const": tool.name}, "input": inline_references(&tool.schema)},
                "required": ["tool", "input"],
                "additionalProperties": false,
            })
        })
        .collect();
    if matches!(choice, ToolChoice::Auto | ToolChoice::None) {
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
    OutputSchema { name: "step".to_owned(), schema }
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
