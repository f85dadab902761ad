//! Turns a raw answer into a checked one: parsed leniently, repaired once mechanically, then accepted or rejected with
//! reasons.

use serde_json::{Value, json};

use super::reply_types::{AnswerNote, AnswerProtocol};
use super::{json_protocol, json_schema, lenient_json, text_protocol, usability};
use crate::{
    GenerateRequest, GeneratedAnswer, Message, RawToolCall, ToolCall, ToolChoice, ToolSpec,
};

/// More calls than this in one answer mean that the model is stuck in a loop.
const MOST_CALLS: usize = 32;

/// An answer that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnswerProblems {
    pub(super) violations: Vec<String>,
    /// The raw text of the model.
    pub(super) raw: String,
}

impl AnswerProblems {
    /// Messages that tell the model what to correct.
    pub(super) fn retry_messages(&self) -> Vec<Message> {
        let raw = if self.raw.trim().is_empty() { "(nothing)" } else { self.raw.as_str() };
        let correction = format!(
            "Your answer cannot be used:\n- {}\nGive the whole answer again, corrected.",
            self.violations.join("\n- ")
        );
        vec![Message::assistant(raw), Message::user(correction)]
    }
}

/// Reads text and calls from an answer. Every returned call matches its tool's schema.
pub(super) fn check_reply(
    generated: &GeneratedAnswer,
    request: &GenerateRequest,
    protocol: AnswerProtocol,
    notes: &mut Vec<AnswerNote>,
) -> Result<(String, Vec<ToolCall>), AnswerProblems> {
    let problems =
        |violations: Vec<String>| AnswerProblems { violations, raw: raw_answer(generated) };
    // A truncated call may look complete and mean something else.
    if let Some(reason) = usability::incomplete_end_reason(generated) {
        return Err(problems(vec![reason]));
    }
    if generated.tool_calls.is_empty()
        && let Some(reason) = usability::half_object_reason(generated)
    {
        return Err(problems(vec![reason]));
    }
    if request.tools.is_empty() {
        if let Some(reason) = usability::unusable_text_reason(generated, &[]) {
            return Err(problems(vec![reason]));
        }
        return Ok((text_protocol::strip_thinking(&generated.text).to_owned(), Vec::new()));
    }
    let (text, calls) = read_calls(generated, request, protocol, notes)
        .map_err(|problem| problems(vec![problem]))?;
    if calls.is_empty()
        && let Some(reason) = usability::unusable_text_reason(generated, &request.tools)
    {
        return Err(problems(vec![reason]));
    }
    if calls.len() > MOST_CALLS {
        return Err(problems(vec![format!("at most {MOST_CALLS} tools can be called at once")]));
    }
    if calls.is_empty()
        && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
    {
        return Err(problems(vec!["a tool has to be called".to_owned()]));
    }
    let mut violations = Vec::new();
    let mut checked = Vec::new();
    for raw in calls {
        match check_call(&raw, &request.tools, notes) {
            Ok(call) => checked.push(call),
            Err(found) => violations.extend(found),
        }
    }
    if violations.is_empty() { Ok((text, checked)) } else { Err(problems(violations)) }
}

fn raw_answer(generated: &GeneratedAnswer) -> String {
    let mut raw = generated.text.clone();
    for call in &generated.tool_calls {
        if !raw.is_empty() {
            raw.push('\n');
        }
        raw.push_str(&json!({"name": call.name, "arguments": call.arguments}).to_string());
    }
    raw
}

pub(super) fn read_calls(
    generated: &GeneratedAnswer,
    request: &GenerateRequest,
    protocol: AnswerProtocol,
    notes: &mut Vec<AnswerNote>,
) -> Result<(String, Vec<RawToolCall>), String> {
    if !generated.tool_calls.is_empty() {
        return Ok((generated.text.clone(), generated.tool_calls.clone()));
    }
    if protocol == AnswerProtocol::Json {
        let text = text_protocol::strip_thinking(&generated.text);
        let step = lenient_json::find_values(text)
            .into_iter()
            .find_map(|found| json_protocol::parse_step(&found.value));
        if let Some((text, call)) = step {
            return Ok((text, call.into_iter().collect()));
        }
    }
    let parsed = text_protocol::parse_answer(&generated.text, &request.tools);
    if !parsed.calls.is_empty() && protocol != AnswerProtocol::Text {
        notes.push(AnswerNote::new(
            "call_in_text",
            format!("{} as {protocol}", parsed.calls[0].name),
        ));
    }
    if parsed.calls.is_empty() && protocol == AnswerProtocol::Json {
        return Err("the answer is not a JSON object with `thought` and `step`".to_owned());
    }
    Ok((parsed.text, parsed.calls))
}

pub(super) fn check_call(
    raw: &RawToolCall,
    tools: &[ToolSpec],
    notes: &mut Vec<AnswerNote>,
) -> Result<ToolCall, Vec<String>> {
    let Some(tool) = tools.iter().find(|tool| tool.name == raw.name) else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(vec![format!(
            "there is no tool `{}`; there are {}",
            raw.name,
            names.join(", ")
        )]);
    };
    let text = if raw.arguments.trim().is_empty() { "{}" } else { raw.arguments.as_str() };
    let Some(found) = lenient_json::parse_value(text)
        .or_else(|| lenient_json::find_values(text).into_iter().next())
    else {
        return Err(vec![format!("the input of `{}` is not JSON", raw.name)]);
    };
    if found.repaired {
        notes.push(AnswerNote::new("repaired", format!("the JSON of {}", raw.name)));
    }
    let arguments =
        fit_to_schema(found.value, &tool.schema, &raw.name, notes).map_err(|found| {
            found
                .into_iter()
                .map(|violation| format!("{}: {violation}", raw.name))
                .collect::<Vec<_>>()
        })?;
    Ok(ToolCall { id: raw.id.clone(), name: raw.name.clone(), arguments })
}

/// Reads a value that matches the schema from an answer.
pub(super) fn check_json(
    generated: &GeneratedAnswer,
    shape: &Value,
    notes: &mut Vec<AnswerNote>,
) -> Result<Value, AnswerProblems> {
    let problems =
        |violations: Vec<String>| AnswerProblems { violations, raw: generated.text.clone() };
    let unusable = usability::incomplete_end_reason(generated)
        .or_else(|| usability::half_object_reason(generated));
    if let Some(reason) = unusable {
        return Err(problems(vec![reason]));
    }
    let text = text_protocol::strip_thinking(&generated.text);
    let candidates = lenient_json::parse_value(text)
        .map_or_else(|| lenient_json::find_values(text), |found| vec![found]);
    let mut first: Option<Vec<String>> = None;
    for found in candidates {
        let mut candidate_notes = Vec::new();
        if found.repaired {
            candidate_notes.push(AnswerNote::new("repaired", "the JSON of the answer"));
        }
        match fit_to_schema(found.value, shape, "the answer", &mut candidate_notes) {
            Ok(value) => {
                notes.append(&mut candidate_notes);
                return Ok(value);
            }
            Err(violations) => {
                first.get_or_insert(violations);
            }
        }
    }
    Err(problems(first.unwrap_or_else(|| vec!["the answer is not JSON".to_owned()])))
}

/// Drops unknown fields and repairs obvious mistakes, once.
fn fit_to_schema(
    value: Value,
    shape: &Value,
    label: &str,
    notes: &mut Vec<AnswerNote>,
) -> Result<Value, Vec<String>> {
    let mut value = value;
    let mut pruned = Vec::new();
    let before = json_schema::find_violations(shape, &value);
    if !before.is_empty() {
        if json_schema::repair_value(shape, &mut value) {
            notes.push(AnswerNote::new("repaired", format!("{label}: {}", before.join("; "))));
        }
        let left = json_schema::find_violations(shape, &value);
        if !left.is_empty() {
            // Some models wrap their answer in one more object.
            let inner = value
                .as_object()
                .filter(|fields| fields.len() == 1)
                .and_then(|fields| fields.values().next());
            match inner
                .filter(|inner| json_schema::find_violations(shape, inner).is_empty())
                .cloned()
            {
                Some(inner) => {
                    notes.push(AnswerNote::new("repaired", format!("{label}: unwrapped")));
                    value = inner;
                }
                None => return Err(left),
            }
        }
    }
    json_schema::prune_unknown_fields(shape, &mut value, &mut pruned);
    notes.extend(pruned);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FinishReason, TokenUsage};

    fn generated(text: &str, calls: &[(&str, &str)]) -> GeneratedAnswer {
        let call = |(position, (name, arguments)): (usize, &(&str, &str))| RawToolCall {
            id: format!("c{position}"),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        };
        GeneratedAnswer {
            text: text.to_owned(),
            tool_calls: calls.iter().enumerate().map(call).collect(),
            usage: TokenUsage::default(),
            finish: FinishReason::Stop,
            model: "m".into(),
            reasoning: Vec::new(),
            spent_on_retries: TokenUsage::default(),
        }
    }

    fn request() -> GenerateRequest {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.tools = vec![ToolSpec {
            name: "file.read".into(),
            description: "Reads".into(),
            schema: json!({"type": "object", "properties": {
                "path": {"type": "string"}, "lines": {"type": "integer"}}, "required": ["path"]}),
        }];
        request
    }

    fn check(
        generated: &GeneratedAnswer,
        protocol: AnswerProtocol,
    ) -> Result<(Vec<ToolCall>, Vec<AnswerNote>), Vec<String>> {
        let mut notes = Vec::new();
        match check_reply(generated, &request(), protocol, &mut notes) {
            Ok((_, calls)) => Ok((calls, notes)),
            Err(problems) => Err(problems.violations),
        }
    }

    #[test]
    fn calls_are_repaired_and_unknown_fields_dropped_with_a_note() {
        let answer =
            generated("", &[("file.read", r#"{"path": "a", "lines": "3", "mood": "good",}"#)]);
        let (calls, notes) = check(&answer, AnswerProtocol::Tools).unwrap();
        assert_eq!(calls[0].arguments, json!({"path": "a", "lines": 3}));
        let codes: Vec<&str> = notes.iter().map(|note| note.code.as_str()).collect();
        assert_eq!(codes, ["repaired", "repaired", "unknown_field"]);
    }

    #[test]
    fn mismatches_are_rejected_with_their_path() {
        let violations = |arguments| {
            check(&generated("", &[("file.read", arguments)]), AnswerProtocol::Tools).unwrap_err()
        };
        assert_eq!(violations(r#"{"lines": 3}"#), ["file.read: the answer lacks the field `path`"]);
        assert_eq!(violations(r#"{"path": "a"#), ["the input of `file.read` is not JSON"]);
        let other = check(&generated("", &[("rm", "{}")]), AnswerProtocol::Tools).unwrap_err();
        assert_eq!(other, ["there is no tool `rm`; there are file.read"]);
    }

    #[test]
    fn a_call_in_a_truncated_answer_is_never_made() {
        let mut answer = generated("", &[("file.read", r#"{"path": "/"}"#)]);
        answer.finish = FinishReason::Length;
        assert!(check(&answer, AnswerProtocol::Tools).is_err());
        let mut text = generated("Action: file.read\nInput: {\"path\": \"/\"}", &[]);
        text.finish = FinishReason::Length;
        assert!(check(&text, AnswerProtocol::Text).is_err());
        let many = vec![("file.read", r#"{"path": "a"}"#); 33];
        assert!(check(&generated("", &many), AnswerProtocol::Tools).is_err());
    }

    #[test]
    fn a_call_printed_as_text_is_recognized_in_every_protocol() {
        for protocol in [AnswerProtocol::Tools, AnswerProtocol::Json, AnswerProtocol::Text] {
            let answer =
                generated("{\"name\": \"file.read\", \"arguments\": {\"path\": \"a\"}}", &[]);
            let (calls, _) = check(&answer, protocol).unwrap();
            assert_eq!(calls[0].arguments, json!({"path": "a"}), "{protocol}");
        }
    }

    #[test]
    fn json_is_unwrapped_and_the_best_candidate_is_taken() {
        let shape =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let value = |text: &str| check_json(&generated(text, &[]), &shape, &mut Vec::new());
        assert_eq!(value("{\"answer\": {\"n\": 1}}").unwrap(), json!({"n": 1}));
        assert_eq!(
            value("like {\"x\": 2}, so {\"n\": \"7\", \"why\": 0}").unwrap(),
            json!({"n": 7})
        );
        assert_eq!(value("sorry").unwrap_err().violations, ["the answer is not JSON"]);
    }
}
