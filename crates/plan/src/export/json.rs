//! JSON: the artifacts in their serialized form, with sorted keys.

use serde_json::{Value, json};

use super::PlanExport;

/// Renders the plan as one JSON document, indented.
pub fn render_json(plan: &PlanExport<'_>) -> Result<String, serde_json::Error> {
    let mut document = json!({ "plan_context": plan.context, "roadmap": plan.roadmap });
    if let Some(schedule) = plan.schedule {
        document["schedule"] = serde_json::to_value(schedule)?;
    }
    serde_json::to_string_pretty(&sort_keys(document)).map(|text| text + "\n")
}

fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key, sort_keys(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sort_keys).collect()),
        other => other,
    }
}
