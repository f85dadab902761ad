//! From a raw answer to a checked one: read leniently, mended once mechanically, then accepted or refused with reasons.

use serde_json::{Value, json};

use super::types::{Note, Protocol};
use super::{in_json, in_text, lenient, schema, usable};
use crate::{GenerateRequest, Generated, Message, RawCall, ToolCall, ToolChoice, ToolSpec};

/// More calls than this in one answer are a model that lost its way.
const MOST_CALLS: usize = 32;

/// An answer that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) violations: Vec<String>,
    /// What the model said.
    pub(super) raw: String,
}

impl Wrong {
    /// What is said to the model so that it can do better.
    pub(super) fn ask_again(&self) -> Vec<Message> {
        let said = if self.raw.trim().is_empty() { "(nothing)" } else { self.raw.as_str() };
        let words = format!(
            "Your answer cannot be used:\n- {}\nGive the whole answer again, corrected.",
            self.violations.join("\n- ")
        );
        vec![Message::assistant(said), Message::user(words)]
    }
}

/// Reads text and calls from an answer. Every call that comes out fits its tool's schema.
pub(super) fn reply(
    generated: &Generated,
    request: &GenerateRequest,
    protocol: Protocol,
    notes: &mut Vec<Note>,
) -> Result<(String, Vec<ToolCall>), Wrong> {
    let wrong = |violations: Vec<String>| Wrong { violations, raw: raw(generated) };
    // A cut call may look complete and mean something else.
    if let Some(why) = usable::incomplete_end(generated) {
        return Err(wrong(vec![why]));
    }
    if generated.tool_calls.is_empty()
        && let Some(why) = usable::half_object(generated)
    {
        return Err(wrong(vec![why]));
    }
    if request.tools.is_empty() {
        if let Some(why) = usable::unusable_words(generated, &[]) {
            return Err(wrong(vec![why]));
        }
        return Ok((in_text::without_thinking(&generated.text).to_owned(), Vec::new()));
    }
    let (text, calls) =
        read(generated, request, protocol, notes).map_err(|what| wrong(vec![what]))?;
    if calls.is_empty()
        && let Some(why) = usable::unusable_words(generated, &request.tools)
    {
        return Err(wrong(vec![why]));
    }
    if calls.len() > MOST_CALLS {
        return Err(wrong(vec![format!("at most {MOST_CALLS} tools can be called at once")]));
    }
    if calls.is_empty()
        && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
    {
        return Err(wrong(vec!["a tool has to be called".to_owned()]));
    }
    let mut violations = Vec::new();
    let mut checked = Vec::new();
    for raw in calls {
        match call(&raw, &request.tools, notes) {
            Ok(call) => checked.push(call),
            Err(found) => violations.extend(found),
        }
    }
    if violations.is_empty() { Ok((text, checked)) } else { Err(wrong(violations)) }
}

fn raw(generated: &Generated) -> String {
    let mut raw = generated.text.clone();
    for call in &generated.tool_calls {
        if !raw.is_empty() {
            raw.push('\n');
        }
        raw.push_str(&json!({"name": call.name, "arguments": call.arguments}).to_string());
    }
    raw
}

fn read(
    generated: &Generated,
    request: &GenerateRequest,
    protocol: Protocol,
    notes: &mut Vec<Note>,
) -> Result<(String, Vec<RawCall>), String> {
    if !generated.tool_calls.is_empty() {
        return Ok((generated.text.clone(), generated.tool_calls.clone()));
    }
    if protocol == Protocol::Json {
        let text = in_text::without_thinking(&generated.text);
        let step = lenient::values(text).into_iter().find_map(|found| in_json::read(&found.value));
        if let Some((text, call)) = step {
            return Ok((text, call.into_iter().collect()));
        }
    }
    let parsed = in_text::parse(&generated.text, &request.tools);
    if !parsed.calls.is_empty() && protocol != Protocol::Text {
        notes.push(Note::new("call_in_text", format!("{} as {protocol}", parsed.calls[0].name)));
    }
    if parsed.calls.is_empty() && protocol == Protocol::Json {
        return Err("the answer is not a JSON object with `thought` and `step`".to_owned());
    }
    Ok((parsed.text, parsed.calls))
}

fn call(raw: &RawCall, tools: &[ToolSpec], notes: &mut Vec<Note>) -> Result<ToolCall, Vec<String>> {
    let Some(tool) = tools.iter().find(|tool| tool.name == raw.name) else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(vec![format!(
            "there is no tool `{}`; there are {}",
            raw.name,
            names.join(", ")
        )]);
    };
    let text = if raw.arguments.trim().is_empty() { "{}" } else { raw.arguments.as_str() };
    let Some(found) = lenient::value(text).or_else(|| lenient::values(text).into_iter().next())
    else {
        return Err(vec![format!("the input of `{}` is not JSON", raw.name)]);
    };
    if found.repaired {
        notes.push(Note::new("repaired", format!("the JSON of {}", raw.name)));
    }
    let arguments = fit(found.value, &tool.schema, &raw.name, notes).map_err(|found| {
        found.into_iter().map(|what| format!("{}: {what}", raw.name)).collect::<Vec<_>>()
    })?;
    Ok(ToolCall { id: raw.id.clone(), name: raw.name.clone(), arguments })
}

/// Reads a value of a shape from an answer.
pub(super) fn json(
    generated: &Generated,
    shape: &Value,
    notes: &mut Vec<Note>,
) -> Result<Value, Wrong> {
    let wrong = |violations: Vec<String>| Wrong { violations, raw: generated.text.clone() };
    let unusable = usable::incomplete_end(generated).or_else(|| usable::half_object(generated));
    if let Some(why) = unusable {
        return Err(wrong(vec![why]));
    }
    let text = in_text::without_thinking(&generated.text);
    let candidates =
        lenient::value(text).map_or_else(|| lenient::values(text), |found| vec![found]);
    let mut first: Option<Vec<String>> = None;
    for found in candidates {
        let mut own_notes = Vec::new();
        if found.repaired {
            own_notes.push(Note::new("repaired", "the JSON of the answer"));
        }
        match fit(found.value, shape, "the answer", &mut own_notes) {
            Ok(value) => {
                notes.append(&mut own_notes);
                return Ok(value);
            }
            Err(violations) => {
                first.get_or_insert(violations);
            }
        }
    }
    Err(wrong(first.unwrap_or_else(|| vec!["the answer is not JSON".to_owned()])))
}

/// Drops what nobody asked for and mends what is plainly meant, once.
fn fit(
    value: Value,
    shape: &Value,
    what: &str,
    notes: &mut Vec<Note>,
) -> Result<Value, Vec<String>> {
    let mut value = value;
    let mut pruned = Vec::new();
    let before = schema::violations(shape, &value);
    if !before.is_empty() {
        if schema::mend(shape, &mut value) {
            notes.push(Note::new("repaired", format!("{what}: {}", before.join("; "))));
        }
        let left = schema::violations(shape, &value);
        if !left.is_empty() {
            // Some models wrap their answer in one more object.
            let inner = value
                .as_object()
                .filter(|fields| fields.len() == 1)
                .and_then(|fields| fields.values().next());
            match inner.filter(|inner| schema::violations(shape, inner).is_empty()).cloned() {
                Some(inner) => {
                    notes.push(Note::new("repaired", format!("{what}: unwrapped")));
                    value = inner;
                }
                None => return Err(left),
            }
        }
    }
    schema::prune(shape, &mut value, &mut pruned);
    notes.extend(pruned);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finish, Usage};

    fn generated(text: &str, calls: &[(&str, &str)]) -> Generated {
        let call = |(position, (name, arguments)): (usize, &(&str, &str))| RawCall {
            id: format!("c{position}"),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        };
        Generated {
            text: text.to_owned(),
            tool_calls: calls.iter().enumerate().map(call).collect(),
            usage: Usage::default(),
            finish: Finish::Stop,
            model: "m".into(),
            spent_on_retries: Usage::default(),
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
        generated: &Generated,
        protocol: Protocol,
    ) -> Result<(Vec<ToolCall>, Vec<Note>), Vec<String>> {
        let mut notes = Vec::new();
        match reply(generated, &request(), protocol, &mut notes) {
            Ok((_, calls)) => Ok((calls, notes)),
            Err(wrong) => Err(wrong.violations),
        }
    }

    #[test]
    fn calls_are_mended_and_unknown_fields_dropped_with_a_note() {
        let answer =
            generated("", &[("file.read", r#"{"path": "a", "lines": "3", "mood": "good",}"#)]);
        let (calls, notes) = check(&answer, Protocol::Tools).unwrap();
        assert_eq!(calls[0].arguments, json!({"path": "a", "lines": 3}));
        let codes: Vec<&str> = notes.iter().map(|note| note.code.as_str()).collect();
        assert_eq!(codes, ["repaired", "repaired", "unknown_field"]);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let violations = |arguments| {
            check(&generated("", &[("file.read", arguments)]), Protocol::Tools).unwrap_err()
        };
        assert_eq!(violations(r#"{"lines": 3}"#), ["file.read: the answer lacks the field `path`"]);
        assert_eq!(violations(r#"{"path": "a"#), ["the input of `file.read` is not JSON"]);
        let other = check(&generated("", &[("rm", "{}")]), Protocol::Tools).unwrap_err();
        assert_eq!(other, ["there is no tool `rm`; there are file.read"]);
    }

    #[test]
    fn a_call_in_an_answer_that_was_cut_is_never_made() {
        let mut answer = generated("", &[("file.read", r#"{"path": "/"}"#)]);
        answer.finish = Finish::Length;
        assert!(check(&answer, Protocol::Tools).is_err());
        let mut text = generated("Action: file.read\nInput: {\"path\": \"/\"}", &[]);
        text.finish = Finish::Length;
        assert!(check(&text, Protocol::Text).is_err());
        let many = vec![("file.read", r#"{"path": "a"}"#); 33];
        assert!(check(&generated("", &many), Protocol::Tools).is_err());
    }

    #[test]
    fn a_call_printed_as_text_counts_in_every_protocol() {
        for protocol in [Protocol::Tools, Protocol::Json, Protocol::Text] {
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
        let value = |text: &str| json(&generated(text, &[]), &shape, &mut Vec::new());
        assert_eq!(value("{\"answer\": {\"n\": 1}}").unwrap(), json!({"n": 1}));
        assert_eq!(
            value("like {\"x\": 2}, so {\"n\": \"7\", \"why\": 0}").unwrap(),
            json!({"n": 7})
        );
        assert_eq!(value("sorry").unwrap_err().violations, ["the answer is not JSON"]);
    }
}
