//! The part of JSON Schema that tools and answers use: checking, dropping unknown fields, and repairing obvious
//! mistakes.

use serde_json::{Map, Value};

use super::AnswerNote;

/// Deeper references are treated as cycles.
const DEEPEST: usize = 64;

/// The most violations that are reported; a model needs no more to try again.
const MOST_VIOLATIONS: usize = 8;

/// Returns every violation in a value, each with its path.
pub(super) fn find_violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    SchemaChecker { root: schema, found: &mut found }.check_value(schema, value, "", 0);
    found.truncate(MOST_VIOLATIONS);
    found
}

struct SchemaChecker<'a> {
    root: &'a Value,
    found: &'a mut Vec<String>,
}

impl SchemaChecker<'_> {
    fn report_violation(&mut self, path: &str, problem: &str) {
        let subject = if path.is_empty() { "the answer" } else { path };
        self.found.push(format!("{subject} {problem}"));
    }

    fn check_value(&mut self, schema: &Value, value: &Value, path: &str, depth: usize) {
        let schema = resolve_reference(self.root, schema);
        let Value::Object(rules) = schema else {
            if schema == &Value::Bool(false) {
                self.report_violation(path, "must not be there");
            }
            return;
        };
        if depth > DEEPEST || self.found.len() > MOST_VIOLATIONS {
            return;
        }
        if let Some(kinds) = rules.get("type")
            && !type_names(kinds).any(|kind| is_of_type(kind, value))
        {
            let wanted: Vec<&str> = type_names(kinds).collect();
            self.report_violation(
                path,
                &format!("must be {}, not {}", wanted.join(" or "), describe_type(value)),
            );
            return;
        }
        if let Some(allowed) = rules.get("enum").and_then(Value::as_array)
            && !allowed.contains(value)
        {
            let listed: Vec<String> = allowed.iter().take(12).map(Value::to_string).collect();
            self.report_violation(path, &format!("must be one of {}", listed.join(", ")));
        }
        if let Some(constant) = rules.get("const")
            && constant != value
        {
            self.report_violation(path, &format!("must be {constant}"));
        }
        self.check_combinators(rules, value, path, depth);
        match value {
            Value::Object(fields) => self.check_object(rules, fields, path, depth),
            Value::Array(items) => self.check_list(rules, items, path, depth),
            Value::String(text) => self.check_length(
                rules,
                text.chars().count(),
                path,
                ["minLength", "maxLength"],
                "characters",
            ),
            Value::Number(number) => self.check_range(rules, number.as_f64().unwrap_or(0.0), path),
            _ => {}
        }
    }

    fn check_combinators(
        &mut self,
        rules: &Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
    ) {
        for part in rules.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.check_value(part, value, path, depth + 1);
        }
        for name in ["anyOf", "oneOf"] {
            let Some(options) = rules.get(name).and_then(Value::as_array) else { continue };
            let closest = options
                .iter()
                .map(|option| {
                    let mut found = Vec::new();
                    let mut inner = SchemaChecker { root: self.root, found: &mut found };
                    inner.check_value(option, value, path, depth + 1);
                    found
                })
                .min_by_key(Vec::len);
            self.found.extend(closest.unwrap_or_default());
        }
    }

    fn check_object(
        &mut self,
        rules: &Map<String, Value>,
        fields: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        for name in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = name.as_str().filter(|name| !fields.contains_key(*name)) {
                self.report_violation(path, &format!("lacks the field `{name}`"));
            }
        }
        let properties = rules.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let field_path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let known = properties.and_then(|properties| properties.get(name));
            if let Some(rule) =
                known.or_else(|| rules.get("additionalProperties").filter(|rule| rule.is_object()))
            {
                self.check_value(rule, value, &field_path, depth + 1);
            }
        }
    }

    fn check_list(
        &mut self,
        rules: &Map<String, Value>,
        items: &[Value],
        path: &str,
        depth: usize,
    ) {
        self.check_length(rules, items.len(), path, ["minItems", "maxItems"], "items");
        if let Some(rule) = rules.get("items") {
            for (position, item) in items.iter().enumerate() {
                self.check_value(rule, item, &format!("{path}[{position}]"), depth + 1);
            }
        }
    }

    fn check_length(
        &mut self,
        rules: &Map<String, Value>,
        length: usize,
        path: &str,
        names: [&str; 2],
        unit: &str,
    ) {
        let limit = |name: &str| rules.get(name).and_then(Value::as_u64);
        if let Some(least) = limit(names[0]).filter(|least| (length as u64) < *least) {
            self.report_violation(path, &format!("must have at least {least} {unit}"));
        }
        if let Some(most) = limit(names[1]).filter(|most| (length as u64) > *most) {
            self.report_violation(path, &format!("must have at most {most} {unit}"));
        }
    }

    fn check_range(&mut self, rules: &Map<String, Value>, number: f64, path: &str) {
        let limit = |name: &str| rules.get(name).and_then(Value::as_f64);
        if let Some(least) = limit("minimum").filter(|least| number < *least) {
            self.report_violation(path, &format!("must be at least {least}"));
        }
        if let Some(most) = limit("maximum").filter(|most| number > *most) {
            self.report_violation(path, &format!("must be at most {most}"));
        }
        if let Some(least) = limit("exclusiveMinimum").filter(|least| number <= *least) {
            self.report_violation(path, &format!("must be above {least}"));
        }
        if let Some(most) = limit("exclusiveMaximum").filter(|most| number >= *most) {
            self.report_violation(path, &format!("must be below {most}"));
        }
    }
}

fn type_names(kinds: &Value) -> impl Iterator<Item = &str> {
    let one = kinds.as_str().into_iter();
    one.chain(kinds.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is_of_type(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

fn describe_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn resolve_reference<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else { return schema };
        let Some(target) = pointer.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
        else {
            return &Value::Bool(true);
        };
        schema = target;
    }
    &Value::Bool(true)
}

/// The same schema without references, for embedding it in another one. Cycles end in a schema that accepts anything.
pub(super) fn inline_references(schema: &Value) -> Value {
    fn inline_value(root: &Value, schema: &Value, depth: usize) -> Value {
        if depth > 12 {
            return Value::Object(Map::new());
        }
        match resolve_reference(root, schema) {
            Value::Object(rules) => Value::Object(
                rules
                    .iter()
                    .filter(|(name, _)| {
                        !matches!(name.as_str(), "$defs" | "definitions" | "$schema")
                    })
                    .map(|(name, rule)| (name.clone(), inline_value(root, rule, depth + 1)))
                    .collect(),
            ),
            Value::Array(rules) => {
                Value::Array(rules.iter().map(|rule| inline_value(root, rule, depth + 1)).collect())
            }
            other => other.clone(),
        }
    }
    inline_value(schema, schema, 0)
}

/// Drops fields that are not in the schema and records each of them.
pub(super) fn prune_unknown_fields(schema: &Value, value: &mut Value, notes: &mut Vec<AnswerNote>) {
    prune_value_at(schema, schema, value, "", notes, 0);
}

fn prune_value_at(
    root: &Value,
    schema: &Value,
    value: &mut Value,
    path: &str,
    notes: &mut Vec<AnswerNote>,
    depth: usize,
) {
    let schema = closest_option(root, resolve_reference(root, schema), value);
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return;
            };
            let open =
                schema.get("additionalProperties").is_some_and(|rule| rule != &Value::Bool(false));
            let unknown: Vec<String> = fields
                .keys()
                .filter(|name| !open && !properties.contains_key(*name))
                .cloned()
                .collect();
            for name in unknown {
                fields.shift_remove(&name);
                let field_path = if path.is_empty() { name } else { format!("{path}.{name}") };
                notes.push(AnswerNote::new("unknown_field", field_path));
            }
            for (name, field) in fields.iter_mut() {
                if let Some(rule) = properties.get(name) {
                    let field_path =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    prune_value_at(root, rule, field, &field_path, notes, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            let Some(rule) = schema.get("items") else { return };
            for (position, item) in items.iter_mut().enumerate() {
                prune_value_at(root, rule, item, &format!("{path}[{position}]"), notes, depth + 1);
            }
        }
        _ => {}
    }
}

/// The alternative that the value matches best.
fn closest_option<'a>(root: &'a Value, schema: &'a Value, value: &Value) -> &'a Value {
    let options =
        ["anyOf", "oneOf"].iter().find_map(|name| schema.get(*name).and_then(Value::as_array));
    let Some(options) = options else { return schema };
    let violation_count = |option: &&Value| {
        let mut found = Vec::new();
        SchemaChecker { root, found: &mut found }.check_value(option, value, "", 0);
        found.len()
    };
    options
        .iter()
        .min_by_key(violation_count)
        .map_or(schema, |option| resolve_reference(root, option))
}

/// Repairs obvious mistakes: numbers in quotes, one item for a list, a different letter case of an allowed value, JSON
/// in a string, a default for a missing field. Returns whether anything changed.
pub(super) fn repair_value(schema: &Value, value: &mut Value) -> bool {
    repair_value_at(schema, schema, value, 0)
}

fn repair_value_at(root: &Value, schema: &Value, value: &mut Value, depth: usize) -> bool {
    let schema = closest_option(root, resolve_reference(root, schema), value);
    if depth > DEEPEST {
        return false;
    }
    let mut changed = convert_type(schema, value);
    if let (Some(allowed), Some(given)) =
        (schema.get("enum").and_then(Value::as_array), value.as_str())
    {
        let matches_option = |option: &&Value| {
            option.as_str().is_some_and(|word| fold_case(word) == fold_case(given))
        };
        if !allowed.contains(value)
            && let Some(option_match) = allowed.iter().find(matches_option)
        {
            *value = option_match.clone();
            changed = true;
        }
    }
    match value {
        Value::Object(fields) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let required: Vec<&str> = schema
                .get("required")
                .and_then(Value::as_array)
                .map(|names| names.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            for (name, rule) in properties.into_iter().flatten() {
                let rule = resolve_reference(root, rule);
                match fields.get_mut(name) {
                    Some(Value::Null)
                        if !required.contains(&name.as_str()) && !allows_null(rule) =>
                    {
                        fields.shift_remove(name);
                        changed = true;
                    }
                    Some(field) => changed |= repair_value_at(root, rule, field, depth + 1),
                    None if required.contains(&name.as_str()) => {
                        if let Some(default) = rule.get("default") {
                            fields.insert(name.clone(), default.clone());
                            changed = true;
                        }
                    }
                    None => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(rule) = schema.get("items") {
                for item in items {
                    changed |= repair_value_at(root, rule, item, depth + 1);
                }
            }
        }
        _ => {}
    }
    changed
}

fn fold_case(word: &str) -> String {
    word.trim().to_lowercase().replace([' ', '-'], "_")
}

fn allows_null(rule: &Value) -> bool {
    rule.get("type").is_some_and(|kinds| type_names(kinds).any(|kind| kind == "null"))
}

fn convert_type(schema: &Value, value: &mut Value) -> bool {
    let Some(kinds) = schema.get("type") else { return false };
    if type_names(kinds).any(|kind| is_of_type(kind, value)) {
        return false;
    }
    let converted = type_names(kinds).find_map(|kind| match (kind, &*value) {
        ("integer" | "number" | "boolean", Value::String(text)) => {
            let read: Value = serde_json::from_str(&text.trim().to_lowercase()).ok()?;
            is_of_type(kind, &read).then_some(read)
        }
        ("object" | "array", Value::String(text)) => {
            let read = super::lenient_json::parse_value(text)?.value;
            if is_of_type(kind, &read) {
                Some(read)
            } else {
                (kind == "array").then(|| Value::Array(vec![Value::String(text.clone())]))
            }
        }
        ("array", single) if !single.is_null() => Some(Value::Array(vec![single.clone()])),
        ("string", Value::Number(number)) => Some(Value::String(number.to_string())),
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        _ => None,
    });
    // Text that is not JSON can still be the only item of a list.
    let converted = converted.or_else(|| match &*value {
        Value::String(text) if type_names(kinds).any(|kind| kind == "array") => {
            Some(Value::Array(vec![Value::String(text.clone())]))
        }
        _ => None,
    });
    let changed = converted.is_some();
    if let Some(converted) = converted {
        *value = converted;
    }
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2},
                "count": {"type": "integer", "minimum": 1, "maximum": 9},
                "kind": {"enum": ["small_one", "big_one"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "child": {"$ref": "#/$defs/child"},
                "mode": {"type": "string", "default": "fast"},
            },
            "required": ["name", "mode"],
            "$defs": {"child": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
        })
    }

    #[test]
    fn violations_contain_the_path() {
        let value =
            json!({"name": "a", "count": 12, "kind": "other", "tags": [1], "child": {"x": "y"}});
        assert_eq!(
            find_violations(&schema(), &value),
            [
                "the answer lacks the field `mode`",
                "name must have at least 2 characters",
                "count must be at most 9",
                "kind must be one of \"small_one\", \"big_one\"",
                "tags[0] must be string, not a number",
                "child.x must be number, not a string",
            ]
        );
        assert_eq!(
            find_violations(&schema(), &json!([])),
            ["the answer must be object, not a list"]
        );
    }

    #[test]
    fn obvious_mistakes_are_repaired() {
        let mut value = json!({"name": 42, "count": "3", "kind": "Big One", "tags": "red", "child": "{'x': 1.5}"});
        assert!(repair_value(&schema(), &mut value));
        assert_eq!(
            value,
            json!({"name": "42", "count": 3, "kind": "big_one", "tags": ["red"], "child": {"x": 1.5}, "mode": "fast"})
        );
        assert!(find_violations(&schema(), &value).is_empty());
        assert!(!repair_value(&schema(), &mut value), "mended once is mended");
    }

    #[test]
    fn unknown_fields_are_dropped_and_noted_unless_the_schema_is_open() {
        let mut value = json!({"name": "ab", "mode": "x", "extra": 1, "child": {"x": 1, "y": 2}});
        let mut notes = Vec::new();
        prune_unknown_fields(&schema(), &mut value, &mut notes);
        assert_eq!(value, json!({"name": "ab", "mode": "x", "child": {"x": 1}}));
        let details: Vec<&str> = notes.iter().map(|note| note.detail.as_str()).collect();
        assert_eq!(details, ["extra", "child.y"]);
        let open = json!({"type": "object", "properties": {}, "additionalProperties": true});
        let mut value = json!({"a": 1});
        prune_unknown_fields(&open, &mut value, &mut notes);
        assert_eq!(value, json!({"a": 1}));
    }

    #[test]
    fn one_matching_alternative_is_enough_and_violations_refer_to_the_closest() {
        let schema = json!({"anyOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}, "c": {"type": "string"}}, "required": ["b", "c"]},
        ]});
        assert!(find_violations(&schema, &json!({"b": "x", "c": "y"})).is_empty());
        assert_eq!(find_violations(&schema, &json!({"d": 1})), ["the answer lacks the field `a`"]);
    }

    #[test]
    fn references_are_inlined_and_cycles_end() {
        let plain = inline_references(&schema());
        assert_eq!(plain.pointer("/properties/child/properties/x/type"), Some(&json!("number")));
        let looped = json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}});
        assert!(inline_references(&looped).to_string().len() < 2000);
        assert!(find_violations(&looped, &json!({"next": {"next": {}}})).is_empty());
        assert!(
            find_violations(
                &json!({"$ref": "#/$defs/self", "$defs": {"self": {"$ref": "#/$defs/self"}}}),
                &json!(1)
            )
            .is_empty()
        );
    }
}
