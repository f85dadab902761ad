//! Decides whether an answer is usable at all, before calls or values are read from it.
//!
//! An answer that was truncated, withheld, empty or ended for an unknown reason is never a result: it is requested once
//! more, and then reported as an error that names the reason.

use super::{lenient_json, text_protocol};
use crate::{FinishReason, GeneratedAnswer, ToolSpec};

/// A refusal is short; a longer answer that begins with an apology usually has content.
const LONGEST_REFUSAL: usize = 400;

/// How refusals of assistants begin, in lower case and with straight apostrophes.
const REFUSALS: [&str; 10] = [
    "i'm sorry, but i can't",
    "i'm sorry, but i cannot",
    "i am sorry, but i can't",
    "i am sorry, but i cannot",
    "i'm sorry, i can't",
    "sorry, but i can't",
    "i can't help with",
    "i can't assist with",
    "i cannot help with",
    "i cannot assist with",
];

/// Why the answer is incomplete, or `None` if the model finished it.
pub(super) fn incomplete_end_reason(generated: &GeneratedAnswer) -> Option<String> {
    match &generated.finish {
        FinishReason::Stop | FinishReason::ToolCalls => None,
        FinishReason::Length => {
            Some("the answer was cut off at its length limit; be shorter".to_owned())
        }
        FinishReason::Filtered => {
            Some("the provider withheld the answer (refusal or content filter)".to_owned())
        }
        FinishReason::Other(reason) => {
            let reason = planwright_text::clean_line(reason);
            let reason = planwright_text::truncate_end(&reason, 60);
            Some(format!("the model stopped for an unknown reason, `{reason}`"))
        }
    }
}

/// Why text without calls is not an answer, or `None` if it is one. `tools` are those that were offered.
pub(super) fn unusable_text_reason(
    generated: &GeneratedAnswer,
    tools: &[ToolSpec],
) -> Option<String> {
    let text = text_protocol::strip_thinking(&generated.text).trim();
    if generated.text.trim().is_empty() {
        return Some("the answer is empty".to_owned());
    }
    if text.is_empty() || text.starts_with("<think>") {
        return Some("the answer has only thinking in it".to_owned());
    }
    if generated.finish == FinishReason::ToolCalls {
        return Some("the answer announces a tool call and makes none".to_owned());
    }
    if is_refusal(text) {
        return Some(format!("the model refused: {}", planwright_text::clean_line(text)));
    }
    if let Some(name) = printed_call(text, tools) {
        let name =
            planwright_text::truncate_end(&planwright_text::clean_line(&name), 60).into_owned();
        return Some(format!("a call of `{name}` is printed, and there is no such tool"));
    }
    let written = tools.iter().find(|tool| has_call_as_prose(text, &tool.name));
    written.map(|tool| format!("a call of `{}` is written as text instead of made", tool.name))
}

fn is_refusal(text: &str) -> bool {
    let begins: String = text.chars().take(40).collect();
    let begins = begins.to_lowercase().replace('\u{2019}', "'");
    text.len() <= LONGEST_REFUSAL && REFUSALS.iter().any(|known| begins.starts_with(known))
}

/// Why a text that begins as an object is not one: its end is missing, either alone or in a code block. Objects inside
/// it may be complete and still not be what was requested.
pub(super) fn half_object_reason(generated: &GeneratedAnswer) -> Option<String> {
    let text = text_protocol::strip_thinking(&generated.text).trim();
    is_half_object(text).then(|| "the answer is only a part of a JSON object".to_owned())
}

fn is_half_object(text: &str) -> bool {
    let body = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let body = body.unwrap_or(text).trim_start();
    let opens = body.starts_with("{\"") || body.starts_with("[{") || body.starts_with("{\n");
    let has_complete_value =
        || lenient_json::find_values(body).first().is_some_and(|found| found.start == 0);
    opens && lenient_json::parse_value(body).is_none() && !has_complete_value()
}

/// The name in an answer that consists only of a call printed as an object. Known tools were matched earlier.
fn printed_call(text: &str, tools: &[ToolSpec]) -> Option<String> {
    let found = lenient_json::parse_value(text)?.value;
    let called = found.get("function").filter(|inner| inner.is_object()).unwrap_or(&found);
    let fields = called.as_object()?;
    let value_of = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key));
    let name = value_of(&["name", "tool", "tool_name", "function"])?.as_str()?;
    value_of(&["arguments", "parameters", "input", "args", "tool_input"])?;
    let near = || {
        planwright_text::nearest_name(name, tools.iter().map(|tool| tool.name.as_str())).is_some()
    };
    // A requested object may have a name and arguments as well, for example a command or a build step.
    let only_call = || fields.len() == 2 && is_tool_like(name, tools);
    (near() || only_call()).then(|| name.to_owned())
}

fn is_tool_like(name: &str, tools: &[ToolSpec]) -> bool {
    name.contains('.') || tools.iter().any(|tool| name.contains(tool.name.as_str()))
}

/// Whether the last line writes a call as code: the name of a tool directly followed by a parenthesis. Calls that are
/// mentioned earlier, or quoted as code, are part of the answer's text.
fn has_call_as_prose(text: &str, tool: &str) -> bool {
    // One-word names, such as those of an MCP server, may be ordinary words in a sentence.
    let named = tool.contains('.') || tool.contains('_');
    let Some(last) = text.trim_end().lines().next_back().filter(|_| named) else { return false };
    let in_fence = text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2;
    if in_fence == 1 || last.trim_start().starts_with("```") {
        return false;
    }
    // Every second piece is between backticks.
    last.split('`').step_by(2).any(|piece| writes_call(piece, last, tool))
}

/// Whether a fragment of a line calls a tool with arguments, or without any if the line contains only the call.
fn writes_call(piece: &str, line: &str, tool: &str) -> bool {
    piece.match_indices(tool).any(|(at, name)| {
        let whole_name = !piece[..at].ends_with(|c: char| c.is_alphanumeric() || "._".contains(c));
        let Some(rest) = piece[at + name.len()..].strip_prefix('(') else { return false };
        whole_name && (!rest.trim_start().starts_with(')') || line.trim().starts_with(tool))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenUsage;

    fn generated(text: &str, finish: FinishReason) -> GeneratedAnswer {
        GeneratedAnswer {
            text: text.to_owned(),
            tool_calls: Vec::new(),
            usage: TokenUsage::default(),
            finish,
            model: "m".into(),
            reasoning: Vec::new(),
            spent_on_retries: TokenUsage::default(),
        }
    }

    fn unusable_reason(text: &str) -> Option<String> {
        let tools = ["file.read", "test.run"].map(|name| ToolSpec {
            name: name.into(),
            description: String::new(),
            schema: serde_json::json!({"type": "object"}),
        });
        unusable_text_reason(&generated(text, FinishReason::Stop), &tools)
    }

    #[test]
    fn only_an_end_chosen_by_the_model_is_complete() {
        let end = |finish| incomplete_end_reason(&generated("text", finish));
        assert_eq!(end(FinishReason::Stop), None);
        assert_eq!(end(FinishReason::ToolCalls), None);
        assert!(end(FinishReason::Length).unwrap().contains("cut off"));
        assert!(end(FinishReason::Filtered).unwrap().contains("withheld"));
        assert!(
            end(FinishReason::Other("pause\u{1b}[2J".into())).unwrap().contains("unknown reason")
        );
    }

    #[test]
    fn half_an_object_is_distinguished_from_a_complete_one() {
        let half = |text: &str| half_object_reason(&generated(text, FinishReason::Stop)).is_some();
        assert!(half("{\"action\": \"CALL_TO"));
        assert!(half("```json\n{\"phases\": [{\"title\": \"A\"}, {\"title"));
        assert!(half("<think>so</think>{\"met\": {\"met\": true}, \"wh"));
        for complete in
            ["{\"a\": 1}", "{\"a\": 1,}", "```json\n{\"a\": 1}\n```", "so {\"a\": 1}", "{x"]
        {
            assert!(!half(complete), "{complete}");
        }
    }

    #[test]
    fn empty_refused_and_printed_calls_are_reported() {
        for (text, reason) in [
            ("", "empty"),
            (" \n\n\t ", "empty"),
            ("<think>hm</think>\n", "only thinking"),
            ("<think>hm, and then", "only thinking"),
            ("I\u{2019}m sorry, but I can\u{2019}t help with that.", "refused"),
            ("First I use file.read(path=\"a.txt\").", "written as text"),
            ("{\"name\": \"rm.all\", \"arguments\": {}}", "no such tool"),
        ] {
            let found = unusable_reason(text).unwrap_or_default();
            assert!(found.contains(reason), "{text:?}: {found}");
        }
        for usable in ["It says hello.", "{\"a\": 1}", "file.read showed {x}", "[1, 2] is the list"]
        {
            assert_eq!(unusable_reason(usable), None, "{usable:?}");
        }
        let announced = generated("I will call it.", FinishReason::ToolCalls);
        assert!(unusable_text_reason(&announced, &[]).unwrap().contains("announces"));
    }

    #[test]
    fn printed_calls_are_distinguished_from_mentioned_ones() {
        for call in [
            "file.read(path=\"a.txt\")",
            "test.run()",
            "I look first.\n\nfile.read(\"a.txt\")\n",
            "```\nlet x = 1;\n```\nNow file.read(\"a.txt\").",
            "{\"name\": \"file.raed\", \"args\": {}, \"id\": 1}",
            "{\"tool\": \"rm.all\", \"args\": {}}",
            "{\"function\": \"call_test.run\", \"parameters\": {}}",
            "{\"function\": {\"name\": \"rm.all\", \"arguments\": \"{}\"}}",
        ] {
            assert!(unusable_reason(call).is_some(), "{call:?}");
        }
        for answer in [
            "Added the tests; the file ends with `test.run()`",
            "Added the tests; the file ends with test.run()",
            "I called file.read(\"a.txt\") before.\nIt has three lines.",
            "It ends so:\n```python\ntest.run(\"all\")\n```",
            "The helper is my_test.run(1) now.",
            "{\"name\":\"build\",\"args\":[\"-v\"]}",
            "{\"name\": \"com.example.app\", \"input\": \"src\", \"version\": 2}",
            "{\"function\": \"mean\", \"parameters\": [\"x\"]}",
        ] {
            assert_eq!(unusable_reason(answer), None, "{answer:?}");
        }
    }
}
