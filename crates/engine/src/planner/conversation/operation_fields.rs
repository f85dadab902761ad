//! Which fields an operation uses. What a model writes beside them changes nothing, and it is told so.

use serde_json::Value;

/// Fields of a node that `add` and `change` set.
const NODE_FIELDS: [&str; 25] = [
    "title",
    "description",
    "done_when",
    "minutes",
    "owner",
    "doer",
    "command",
    "task_type",
    "role",
    "intensity",
    "optional",
    "one_sitting",
    "needs",
    "needed_by",
    "fixed_start",
    "fixed_end",
    "not_before",
    "due",
    "repeat",
    "exit_criteria",
    "why",
    "risks",
    "assumptions",
    "evidence",
    "cost",
];

/// The fields of an operation by its name, besides those of a node.
const OWN_FIELDS: [(&str, &[&str]); 11] = [
    ("add", &["id", "under", "after", "before", "kind", "stream", "tags"]),
    ("change", &["id", "tags"]),
    ("move", &["id", "under", "after", "before"]),
    ("remove", &["id"]),
    ("split", &["id", "into"]),
    ("merge", &["ids", "into", "title"]),
    ("link", &["from", "to", "link", "lag_minutes", "lag_days", "why"]),
    ("unlink", &["from", "to"]),
    ("assign", &["id", "owner"]),
    ("date", &["id", "field", "date"]),
    ("lock", &["id"]),
];

/// The fields that an operation has and does not use, in the order of the alphabet.
pub(super) fn unused_fields(operation: &Value) -> Vec<&str> {
    let op = operation.get("op").and_then(Value::as_str).unwrap_or_default();
    let own = OWN_FIELDS.iter().find(|(name, _)| *name == op).map(|(_, fields)| *fields);
    let sets_node = matches!(op, "add" | "change");
    let is_used = |field: &str| {
        field == "op"
            || own.is_none_or(|fields| fields.contains(&field))
            || (sets_node && NODE_FIELDS.contains(&field))
    };
    let fields = operation.as_object().into_iter().flatten();
    let given = fields.filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str());
    let mut unused: Vec<&str> = given.filter(|name| !is_used(name)).collect();
    unused.sort_unstable();
    unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_what_an_operation_does_not_use() {
        let change = json!({"op": "change", "id": "a", "needs": ["b"], "under": "p", "colour": 1});
        assert_eq!(unused_fields(&change), ["colour", "under"]);
        let date = json!({"op": "date", "id": "a", "field": "due", "due": "2027-01-01"});
        assert_eq!(unused_fields(&date), ["due"]);
        assert_eq!(unused_fields(&json!({"op": "lock", "id": "a", "title": null})), [""; 0]);
    }
}
