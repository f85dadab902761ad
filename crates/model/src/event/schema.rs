//! The JSON Schema of the lines that `--json` prints, for programs that read them.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use super::{Event, FORMAT};
use crate::{Seq, SessionId};

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

/// The schema of the lines, as `assets/events.schema.json` holds it.
pub fn event_line_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<EventLine>();
    schema.insert("version".to_owned(), json!(FORMAT));
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::event::arbitrary::event;

    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/events.schema.json");

    /// What is wrong with a value, as far as the words are used that the schema has.
    fn fault(root: &Value, schema: &Value, value: &Value) -> Option<String> {
        let Some(rules) = schema.as_object() else {
            return (*schema == Value::Bool(false)).then(|| format!("{value} is not allowed"));
        };
        for (word, rule) in rules {
            let found = match word.as_str() {
                "$ref" => {
                    let path = rule.as_str().unwrap().trim_start_matches('#');
                    fault(root, root.pointer(path).expect("a reference leads somewhere"), value)
                }
                "anyOf" | "oneOf" => {
                    let parts = rule.as_array().unwrap();
                    let faults: Option<Vec<String>> =
                        parts.iter().map(|part| fault(root, part, value)).collect();
                    faults.map(|faults| format!("none fits: {}", faults.join(" | ")))
                }
                "allOf" => {
                    rule.as_array().unwrap().iter().find_map(|part| fault(root, part, value))
                }
                "const" if rule != value => Some(format!("{value} is not {rule}")),
                "enum" if !rule.as_array().unwrap().contains(value) => {
                    Some(format!("{value} is none of {rule}"))
                }
                "type" => (!has_type(rule, value)).then(|| format!("{value} is not {rule}")),
                "required" => {
                    let names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                    let lacks = |name: &&str| value.is_object() && value.get(*name).is_none();
                    let mut names = names;
                    names.find(lacks).map(|name| format!("{value} lacks {name}"))
                }
                "properties" => rule.as_object().unwrap().iter().find_map(|(name, part)| {
                    value.get(name).and_then(|own| fault(root, part, own))
                }),
                "items" => value
                    .as_array()
                    .and_then(|items| items.iter().find_map(|item| fault(root, rule, item))),
                "additionalProperties" => value.as_object().and_then(|fields| {
                    let stated = rules.get("properties").and_then(Value::as_object);
                    let is_stated =
                        |name: &String| stated.is_some_and(|own| own.contains_key(name));
                    // The only pattern there is stands for numbers as keys.
                    let by_pattern = rules.get("patternProperties").is_some();
                    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
                    let mut others = fields
                        .iter()
                        .filter(|(name, _)| !(is_stated(name) || by_pattern && is_number(name)));
                    others.find_map(|(_, own)| fault(root, rule, own))
                }),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn has_type(rule: &Value, value: &Value) -> bool {
        match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| has_type(kind, value)),
            _ => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                other => panic!("the type {other} is not known"),
            },
        }
    }

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
            let fault = fault(&schema, &schema, &line);
            prop_assert_eq!(fault, None, "{}", line);
        }
    }
}
