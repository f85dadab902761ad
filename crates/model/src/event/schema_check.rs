//! Checks lines against their schema, for tests.

use serde_json::Value;

/// What is wrong with a value, as far as the words are used that the schema has.
pub fn schema_fault(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let Some(rules) = schema.as_object() else {
        return (*schema == Value::Bool(false)).then(|| format!("{value} is not allowed"));
    };
    for (word, rule) in rules {
        let found = match word.as_str() {
            "$ref" => {
                let path = as_word(rule).trim_start_matches('#');
                schema_fault(root, root.pointer(path).expect("a reference leads somewhere"), value)
            }
            "anyOf" | "oneOf" => {
                let parts = as_list(rule);
                let faults: Option<Vec<String>> =
                    parts.iter().map(|part| schema_fault(root, part, value)).collect();
                faults.map(|faults| format!("none fits: {}", faults.join(" | ")))
            }
            "allOf" => as_list(rule).iter().find_map(|part| schema_fault(root, part, value)),
            "const" if rule != value => Some(format!("{value} is not {rule}")),
            "enum" if !as_list(rule).contains(value) => Some(format!("{value} is none of {rule}")),
            "type" => (!has_type(rule, value)).then(|| format!("{value} is not {rule}")),
            "required" => {
                let names = as_list(rule).iter().map(as_word);
                let lacks = |name: &&str| value.is_object() && value.get(*name).is_none();
                let mut names = names;
                names.find(lacks).map(|name| format!("{value} lacks {name}"))
            }
            "properties" => rule.as_object().expect("the schema is well-formed").iter().find_map(
                |(name, part)| value.get(name).and_then(|own| schema_fault(root, part, own)),
            ),
            "items" => value
                .as_array()
                .and_then(|items| items.iter().find_map(|item| schema_fault(root, rule, item))),
            "additionalProperties" => value.as_object().and_then(|fields| {
                let stated = rules.get("properties").and_then(Value::as_object);
                let is_stated = |name: &String| stated.is_some_and(|own| own.contains_key(name));
                // The only pattern there is stands for numbers as keys.
                let by_pattern = rules.get("patternProperties").is_some();
                let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
                let mut others = fields
                    .iter()
                    .filter(|(name, _)| !(is_stated(name) || by_pattern && is_number(name)));
                others.find_map(|(_, own)| schema_fault(root, rule, own))
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
        _ => match as_word(rule) {
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

fn as_word(rule: &Value) -> &str {
    rule.as_str().expect("the schema is well-formed")
}

fn as_list(rule: &Value) -> &[Value] {
    rule.as_array().expect("the schema is well-formed")
}
