//! The JSON Schema of the lines that `--json` prints, for programs that read them.

use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Event, FORMAT};
use crate::{Request, RequestId, Seq, SessionId, TaskId};

/// One line: what happened, when, and in which session. Fields and kinds are only ever added within a version: a reader skips
/// what it does not know.
#[derive(JsonSchema)]
#[schemars(rename = "EventLine")]
#[expect(dead_code, reason = "described, never read")]
struct EventLine {
    /// The session it belongs to.
    session: SessionId,
    /// Its place in the order of the session, from 1.
    seq: Seq,
    at: jiff::Timestamp,
    event: Event,
}

/// The last line of a run that waits for somebody: what it waits for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaitingLine {
    pub session: SessionId,
    pub waiting: WaitingForPerson,
    /// Why the model that drafts the plan failed, while nobody has decided what follows from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_failure: Option<String>,
}

/// What only a person can decide or do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaitingForPerson {
    /// Requests that have no answer.
    pub requests: Vec<Arc<Request>>,
    /// Tasks that are the person's to do.
    pub tasks: Vec<TaskId>,
    /// Commands of the plan that the person did not write.
    pub drafted_commands: Vec<DraftedCommand>,
}

/// A command of the plan that the person did not write.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DraftedCommand {
    pub task: TaskId,
    /// Byte for byte as it would run.
    pub command: String,
}

/// The only line of a run that goes on in the background.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DetachedLine {
    pub session: SessionId,
    /// The process that works on it.
    pub pid: u32,
}

/// The only line of `answer`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnsweredLine {
    pub session: SessionId,
    pub answered: RequestId,
    /// The command that goes on with the session, where no process works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Every line that `--json` prints while a session is worked on. An event has a `seq`, a line about what is waited for has
/// `waiting`, a run in the background has a `pid`, an answer has `answered`.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, clippy::large_enum_variant, reason = "described, never built")]
enum EventStreamLine {
    Event(EventLine),
    Waiting(WaitingLine),
    Detached(DetachedLine),
    Answered(AnsweredLine),
}

/// The schema of the lines, as `assets/events.schema.json` holds it.
pub fn event_line_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<EventStreamLine>();
    schema.insert("version".to_owned(), json!(FORMAT));
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::event::arbitrary::event;
    use crate::event::schema_check::schema_fault;

    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/events.schema.json");

    /// Every kind of event that a schema describes, with the fields that it always has.
    fn described_kinds(schema: &Value) -> BTreeSet<String> {
        let mut kinds = BTreeSet::new();
        let parts = |schema: &Value| schema.get("oneOf").and_then(Value::as_array).cloned();
        for topic in parts(&schema["$defs"]["Event"]).unwrap_or_default() {
            let name =
                topic["properties"]["topic"]["const"].as_str().unwrap_or_default().to_owned();
            let body = topic["properties"]["body"]["$ref"].as_str().unwrap_or_default();
            let body = schema.pointer(body.trim_start_matches('#')).unwrap_or(&Value::Null);
            for kind in parts(body).unwrap_or_default() {
                let tag = kind["properties"]["kind"]["const"].as_str().unwrap_or_default();
                kinds.insert(format!("{name}.{tag}"));
            }
        }
        kinds
    }

    #[test]
    fn the_checked_in_schema_is_current_and_nothing_in_it_was_taken_away() {
        let current = event_line_schema();
        let text = serde_json::to_string_pretty(&current).unwrap() + "\n";
        let kept = std::fs::read_to_string(PATH).unwrap_or_default();
        let before: Value = serde_json::from_str(&kept).unwrap_or_default();
        if before["version"] == current["version"] {
            let (old, new) = (described_kinds(&before), described_kinds(&current));
            let gone: Vec<&String> = old.difference(&new).collect();
            assert!(gone.is_empty(), "{gone:?} would be gone without a new version of the format");
        }
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(PATH, &text).unwrap();
            return;
        }
        assert!(
            kept == text,
            "assets/events.schema.json is out of date; write it anew with `UPDATE_SCHEMA=1 cargo test -p planwright-model schema`"
        );
    }

    #[test]
    fn every_topic_and_kind_is_described() {
        let kinds = described_kinds(&event_line_schema());
        for kind in ["session.created", "run.finished", "task.failed", "call.concluded"] {
            assert!(kinds.contains(kind), "{kinds:?}");
        }
        assert!(kinds.len() > 60 && !kinds.iter().any(|kind| kind.ends_with('.')), "{kinds:?}");
    }

    #[test]
    fn a_line_of_no_known_kind_does_not_fit() {
        let schema = event_line_schema();
        for line in [
            json!({ "session": "019d", "waits": {} }),
            json!({ "session": "019d", "waiting": { "requests": [] } }),
            json!({ "session": "019d", "pid": "7" }),
        ] {
            assert!(schema_fault(&schema, &schema, &line).is_some(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn every_event_fits_the_schema(event in event()) {
            let schema = event_line_schema();
            let kind = event.kind().into_owned();
            prop_assert!(described_kinds(&schema).contains(&kind), "{kind} is not described");
            let line = json!({
                "session": "019d", "seq": 1, "at": "2026-11-17T10:00:00Z",
                "event": serde_json::to_value(&event).unwrap(),
            });
            let fault = schema_fault(&schema, &schema, &line);
            prop_assert_eq!(fault, None, "{}", line);
        }
    }
}
