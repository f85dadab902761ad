//! Tool calls that a model wrote as text: `Action:` and `Input:` lines, or the entire call as JSON.

use serde_json::Value;

use super::lenient_json;
use crate::{Message, MessagePart, MessageRole, RawToolCall, ToolSpec};

/// Ends the model's turn: results are written by us.
pub(super) const STOP: &str = "Observation:";

/// A text and the calls found in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ParsedTextCalls {
    /// The text apart from the calls.
    pub(super) text: String,
    pub(super) calls: Vec<RawToolCall>,
}

/// Instructions for a model without native tool calls.
pub(super) fn text_instructions(tools: &[ToolSpec]) -> String {
    format!(
        "You can use tools. To use one, write these two lines and then stop:\n\
         Action: <name of the tool>\n\
         Input: <one JSON object with its arguments>\n\
         You will get the result as a line that begins with Observation. One tool an answer, whatever else is said \
         about several. \
         When you need no tool any more, write:\n\
         Final: <your answer>\n\nTools:\n{}",
        list_tools(tools)
    )
}

/// The tools, one per line.
pub(super) fn list_tools(tools: &[ToolSpec]) -> String {
    let line =
        |tool: &ToolSpec| format!("- {}: {} Input: {}", tool.name, tool.description, tool.schema);
    tools.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The conversation so far, written in this protocol.
pub(super) fn messages_as_text(messages: &[Message]) -> Vec<Message> {
    rewrite_messages(messages, |message| {
        let text = Some(message.text()).filter(|text| !text.is_empty());
        let calls = message
            .tool_calls()
            .map(|call| format!("Action: {}\nInput: {}", call.name, call.arguments));
        text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
    })
}

/// The conversation with results as words of the user's, and the model's answers as `write_answer` puts them.
pub(super) fn rewrite_messages(
    messages: &[Message],
    write_answer: impl Fn(&Message) -> String,
) -> Vec<Message> {
    messages
        .iter()
        .map(|message| match message.role {
            MessageRole::Tool => Message::user(
                message
                    .parts
                    .iter()
                    .filter_map(|part| match part {
                        MessagePart::Result { name, content, is_error, .. } => Some(format!(
                            "Observation: {name} {}\n{content}",
                            if *is_error { "failed:" } else { "answered:" }
                        )),
                        _ => None,
                    })
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
            MessageRole::Assistant => Message::assistant(write_answer(message)),
            MessageRole::System | MessageRole::User => message.clone(),
        })
        .collect()
}

/// Parses an answer leniently. Only the given tool names are recognized as calls.
pub(super) fn parse_answer(answer: &str, tools: &[ToolSpec]) -> ParsedTextCalls {
    let answer = strip_thinking(answer);
    let answer = answer.find("\nObservation:").map_or(answer, |end| &answer[..end]);
    if let Some(parsed) =
        parse_action_lines(answer, tools).or_else(|| parse_json_calls(answer, tools))
    {
        return parsed;
    }
    ParsedTextCalls { text: final_text(answer).to_owned(), calls: Vec::new() }
}

/// Removes reasoning that some models print before their answer.
pub(super) fn strip_thinking(answer: &str) -> &str {
    answer.rsplit_once("</think>").map_or(answer, |(_, rest)| rest).trim()
}

fn final_text(answer: &str) -> &str {
    match find_label(answer, &["final answer", "final"]) {
        Some((_, after)) => answer[after..].trim(),
        None => answer.trim(),
    }
}

/// Finds `Label:` at the beginning of a line, in any letter case, with any Markdown around it.
fn find_label(text: &str, labels: &[&str]) -> Option<(usize, usize)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start_matches([' ', '\t', '*', '#', '-', '>', '_', '`']);
        let skipped = line.len() - trimmed.len();
        for label in labels {
            let Some(rest) = trimmed.get(label.len()..) else { continue };
            if !trimmed.is_char_boundary(label.len())
                || !trimmed[..label.len()].eq_ignore_ascii_case(label)
            {
                continue;
            }
            let unmarked = rest.trim_start_matches(['*', '_', '`', ' ']);
            if let Some(value) = unmarked.strip_prefix(':') {
                let after = line.len() - value.trim_start_matches(['*', '_', ' ']).len();
                return Some((start, start + after.max(skipped)));
            }
        }
        start += line.len();
    }
    None
}

fn parse_action_lines(answer: &str, tools: &[ToolSpec]) -> Option<ParsedTextCalls> {
    let (mut calls, mut text, mut rest) = (Vec::new(), String::new(), answer);
    while let Some((at, after)) = find_label(rest, &["action", "tool", "call"]) {
        let line_end = rest[after..].find('\n').map_or(rest.len(), |end| after + end);
        let named = rest[after..line_end].trim();
        let Some((name, inline)) = parse_tool_name(named, tools) else { break };
        if text.is_empty() {
            rest[..at].trim().clone_into(&mut text);
        }
        let following = &rest[line_end..];
        let (arguments, used) = match inline {
            Some(arguments) => (arguments, 0),
            None => parse_input(following),
        };
        calls.push(RawToolCall { id: format!("call_{}", calls.len()), name, arguments });
        rest = &following[used..];
    }
    let text =
        find_label(&text, &["thought"]).map_or(text.as_str(), |(_, after)| text[after..].trim());
    (!calls.is_empty()).then(|| ParsedTextCalls { text: text.to_owned(), calls })
}

/// The tool named on a line, and arguments on the same line.
fn parse_tool_name(line: &str, tools: &[ToolSpec]) -> Option<(String, Option<String>)> {
    let line = line.trim().trim_matches(['`', '*', '"', '\'', '[', ']']).trim();
    let end = line
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')))
        .unwrap_or(line.len());
    let name = match_tool_name(line[..end].trim_end_matches('.'), tools)?;
    let rest = line[end..].trim();
    let inline =
        rest.find('{').and_then(|at| lenient_json::find_values(&rest[at..]).into_iter().next());
    Some((name, inline.map(|found| found.value.to_string())))
}

fn match_tool_name(name: &str, tools: &[ToolSpec]) -> Option<String> {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['.', '-'], "_");
    let trimmed = name.strip_prefix("functions.").unwrap_or(name);
    let exact = tools.iter().find(|tool| tool.name == trimmed);
    exact
        .or_else(|| tools.iter().find(|tool| plain(&tool.name) == plain(trimmed)))
        .map(|tool| tool.name.clone())
}

/// The JSON after an `Input:` label or on the next line, and where it ends.
fn parse_input(text: &str) -> (String, usize) {
    let next_call =
        find_label(text, &["action", "tool", "call", "final"]).map_or(text.len(), |(at, _)| at);
    let own = &text[..next_call];
    let start = find_label(own, &["input", "action input", "arguments", "args", "parameters"])
        .map_or(0, |(_, after)| after);
    match lenient_json::find_values(&own[start..]).into_iter().next() {
        Some(found) => (found.value.to_string(), start + found.end),
        // Passed on unchanged, so that the violation can quote it.
        None => (own[start..].trim().to_owned(), next_call),
    }
}

/// Parses one or more calls printed as JSON in any of the formats models use.
fn parse_json_calls(answer: &str, tools: &[ToolSpec]) -> Option<ParsedTextCalls> {
    let found = lenient_json::find_values(answer);
    let mut calls = Vec::new();
    let mut first = None;
    for value in &found {
        let before = calls.len();
        collect_calls(&value.value, tools, &mut calls);
        if calls.len() > before {
            first.get_or_insert(value.start);
        }
    }
    let text = answer[..first?].trim();
    let text =
        text.trim_end_matches("```json").trim_end_matches("```").trim_end_matches("<tool_call>");
    Some(ParsedTextCalls { text: text.trim().to_owned(), calls })
}

fn collect_calls(value: &Value, tools: &[ToolSpec], calls: &mut Vec<RawToolCall>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_calls(item, tools, calls)),
        Value::Object(fields) => {
            if let Some(several) = fields.get("tool_calls").or_else(|| fields.get("calls")) {
                return collect_calls(several, tools, calls);
            }
            if let Some(function) = fields.get("function").filter(|function| function.is_object()) {
                return collect_calls(function, tools, calls);
            }
            let name = ["name", "tool", "tool_name", "function", "action"]
                .iter()
                .find_map(|key| fields.get(*key)?.as_str())
                .and_then(|name| match_tool_name(name, tools));
            let Some(name) = name else { return };
            let arguments =
                ["arguments", "parameters", "input", "args", "action_input", "tool_input"]
                    .iter()
                    .find_map(|key| fields.get(*key));
            let arguments = match arguments {
                Some(Value::String(text)) => text.clone(),
                Some(object) => object.to_string(),
                None => "{}".to_owned(),
            };
            calls.push(RawToolCall { id: format!("call_{}", calls.len()), name, arguments });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<ToolSpec> {
        ["file.read", "shell.run"]
            .map(|name| ToolSpec {
                name: name.into(),
                description: "Does it.".into(),
                schema: json!({"type": "object"}),
            })
            .to_vec()
    }

    fn calls(answer: &str) -> Vec<(String, Value)> {
        let parsed = parse_answer(answer, &tools());
        parsed
            .calls
            .into_iter()
            .map(|call| (call.name, serde_json::from_str(&call.arguments).unwrap()))
            .collect()
    }

    #[test]
    fn calls_are_found_however_they_are_written() {
        let wanted = vec![("file.read".to_owned(), json!({"path": "a.txt"}))];
        for answer in [
            "Action: file.read\nInput: {\"path\": \"a.txt\"}",
            "Thought: I must look.\n**Action:** `file_read`\n**Action Input:** {'path': 'a.txt',}\nObservation: made up",
            "action: file.read\n```json\n{\"path\": \"a.txt\"}\n```",
            "Action: file.read {\"path\": \"a.txt\"}",
            "Action: file.read({\"path\": \"a.txt\"})",
            "I will call it.\n{\"name\": \"file.read\", \"arguments\": {\"path\": \"a.txt\"}}",
            "<tool_call>\n{\"name\": \"file_read\", \"arguments\": \"{\\\"path\\\": \\\"a.txt\\\"}\"}\n</tool_call>",
            "```json\n{\"action\": \"file.read\", \"action_input\": {\"path\": \"a.txt\"}}\n```",
            "{\"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"file.read\", \"arguments\": {\"path\": \"a.txt\"}}}]}",
            "<think>Action: shell.run</think>\nTool: file.read\nInput:\n{\"path\": \"a.txt\"}",
        ] {
            assert_eq!(calls(answer), wanted, "{answer}");
        }
    }

    #[test]
    fn several_actions_keep_their_order_and_inputs() {
        let found = calls(
            "Action: file.read\nInput: {\"path\": \"a\"}\nAction: shell.run\nInput: {\"c\": 1}",
        );
        assert_eq!(
            found,
            [("file.read".into(), json!({"path": "a"})), ("shell.run".into(), json!({"c": 1}))]
        );
    }

    #[test]
    fn an_answer_without_a_known_tool_is_an_answer() {
        for (answer, text) in [
            ("Final: it is done.", "it is done."),
            ("**Final Answer:** it is done.", "it is done."),
            ("{\"name\": \"rm\", \"arguments\": {}}", "{\"name\": \"rm\", \"arguments\": {}}"),
            ("Action: think about it", "Action: think about it"),
        ] {
            let parsed = parse_answer(answer, &tools());
            assert!(parsed.calls.is_empty(), "{answer}");
            assert_eq!(parsed.text, text);
        }
    }

    #[test]
    fn half_an_input_is_not_completed() {
        let parsed = parse_answer("Action: file.read\nInput: {\"path\": \"a", &tools());
        assert_eq!(parsed.calls[0].arguments, "{\"path\": \"a");
    }

    #[test]
    fn text_before_the_call_is_kept() {
        let parsed = parse_answer("Thought: look first\nAction: file.read\nInput: {}", &tools());
        assert_eq!(parsed.text, "look first");
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(answer in "(Action|Input|file.read|Final|:|\n|\\{|\\}|\"|é|`|\\*| ){0,40}") {
            parse_answer(&answer, &tools());
        }
    }
}
