//! The tools that are the loop's own: handing in, asking the person, and reading a result again.

use serde_json::{Value, json};

use super::super::tool_selection::DONE;
use planwright_model::agent_conversation::ConversationTool;

/// The name under which a model asks the person.
pub(super) const ASK: &str = "ask_person";
/// The name under which it reads a result again that is shown shortened.
pub(super) const READ_RESULT: &str = "result.read";

/// Whether a tool is the loop's own, so that what it answers is no data of somebody else's.
pub(super) fn is_own_tool(name: &str) -> bool {
    matches!(name, DONE | ASK)
}

/// How a model says its task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportStatus {
    Done,
    Partly,
    Failed,
}

/// What a model hands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskReport {
    pub(super) status: ReportStatus,
    pub(super) summary: String,
    pub(super) changed_files: Vec<String>,
    pub(super) left: Vec<String>,
    /// Numbers of exit criteria in plain words that are said to hold.
    pub(super) met: Vec<usize>,
}

impl TaskReport {
    /// Reads a report. `Err` says what is missing.
    pub(super) fn from_arguments(arguments: &Value) -> Result<Self, String> {
        let list = |name: &str| -> Vec<String> {
            let items = arguments.get(name).and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let status = match arguments.get("status").and_then(Value::as_str) {
            Some("done") => ReportStatus::Done,
            Some("partly") => ReportStatus::Partly,
            Some("failed") => ReportStatus::Failed,
            _ => return Err("`status` must be done, partly or failed".to_owned()),
        };
        let summary = arguments.get("summary").and_then(Value::as_str).unwrap_or_default().trim();
        if summary.is_empty() {
            return Err("`summary` must say what was done or found".to_owned());
        }
        let left = list("left");
        if status == ReportStatus::Done && !left.is_empty() {
            return Err(
                "something is left, so `status` is partly; or leave `left` empty".to_owned()
            );
        }
        let claims = arguments.get("criteria").and_then(Value::as_array).into_iter().flatten();
        let met = claims
            .filter(|claim| claim.get("met") == Some(&Value::Bool(true)))
            .filter_map(|claim| usize::try_from(claim.get("number")?.as_u64()?).ok())
            .collect();
        let (summary, changed_files) = (summary.to_owned(), list("changed_files"));
        Ok(Self { status, summary, changed_files, left, met })
    }

    /// The result of the task in words, which its dependents read.
    pub(super) fn answer(&self) -> String {
        let mut text = self.summary.clone();
        if !self.changed_files.is_empty() {
            text.extend(["\nChanged files: ", &self.changed_files.join(", ")]);
        }
        if !self.left.is_empty() {
            text.extend(["\nLeft: ", &self.left.join("; ")]);
        }
        text
    }
}

/// The loop's own tools as they are offered.
pub(super) fn own_tools(claims: bool) -> Vec<ConversationTool> {
    let strings = || json!({"type": "array", "items": {"type": "string"}});
    let mut done = json!({
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["done", "partly", "failed"]},
            "summary": {"type": "string", "description": "what was done or found, with paths and lines or addresses; only what results show"},
            "changed_files": strings(),
            "left": {"type": "array", "items": {"type": "string"}, "description": "what is not done; empty with done"},
        },
        "required": ["status", "summary"],
    });
    if claims {
        done["properties"]["criteria"] = json!({
            "type": "array",
            "description": "for each exit criterion in plain words, by its number, whether results show that it holds",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "met": {"type": "boolean"}, "evidence": {"type": "string"}},
                "required": ["number", "met"],
            },
        });
    }
    let ask = json!({
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "choices": {"type": "array", "items": {"type": "string"}, "maxItems": 9},
        },
        "required": ["question"],
    });
    let read = json!({
        "type": "object",
        "properties": {"id": {"type": "string", "description": "such as call_7"}},
        "required": ["id"],
    });
    let own = |name: &str, description: &str, schema: Value| ConversationTool {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        read_only: false,
    };
    vec![
        own(DONE, "Hand the task in: done, done in part, or failed. Nothing else ends it.", done),
        own(
            ASK,
            "Ask the person something that only they can decide, and wait for the answer.",
            ask,
        ),
        own(READ_RESULT, "Read the whole result of an earlier call that is shown shortened.", read),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_how_it_ended_and_what_is_left() {
        let read = |value: Value| TaskReport::from_arguments(&value);
        let done = read(json!({"status": "done", "summary": "Added it.",
            "changed_files": ["a.rs"], "criteria": [{"number": 1, "met": true}, {"number": 2, "met": false}]}))
        .unwrap();
        assert_eq!((done.status, done.met.as_slice()), (ReportStatus::Done, &[1][..]));
        assert_eq!(done.answer(), "Added it.\nChanged files: a.rs");
        assert!(read(json!({"status": "done", "summary": " "})).unwrap_err().contains("summary"));
        assert!(read(json!({"status": "fine", "summary": "x"})).unwrap_err().contains("status"));
        let both = json!({"status": "done", "summary": "x", "left": ["tests"]});
        assert!(read(both).unwrap_err().contains("partly"));
    }
}
