//! Schemas of arguments: generated from the types of built-in tools, checked before a tool gets the arguments.
//!
//! The check supports the part of JSON Schema that tools use to describe arguments. Unknown keywords are accepted: a
//! foreign server checks its own arguments again. Fields that are not in the schema are removed, because models add
//! them freely.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// How deep arguments may be nested.
const DEEPEST: usize = 64;

/// The schema of a type, without references, because not every provider supports them.
pub fn schema_for<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
        fields.remove("title");
        fields.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Arguments that match, and the fields that were removed.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedArgs {
    pub args: Value,
    pub unknown_fields: Vec<String>,
}

/// Checks arguments against a schema. The error contains the path.
pub fn check_args(schema: &Value, args: &Value) -> Result<CheckedArgs, String> {
    // Some models send the arguments as text, and nothing at all where none are needed.
    let args = match args {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) => serde_json::from_str(text)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?,
        other => other.clone(),
    };
    if !args.is_object() {
        return Err("the arguments must be an object".to_owned());
    }
    let mut checked = CheckedArgs { args, unknown_fields: Vec::new() };
    let mut args = std::mem::take(&mut checked.args);
    check_value(schema, &mut args, "", &mut checked.unknown_fields, 0)?;
    checked.args = args;
    Ok(checked)
}

fn check_value(
    schema: &Value,
    value: &mut Value,
    path: &str,
    unknown: &mut Vec<String>,
    depth: usize,
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("{} is nested too deeply", describe_path(path)));
    }
    let Some(schema) = schema.as_object() else { return Ok(()) };
    for keyword in ["anyOf", "oneOf"] {
        if let Some(options) = schema.get(keyword).and_then(Value::as_array) {
            check_alternatives(options, value, path, unknown, depth)?;
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return Err(format!("{} must be one of {}", describe_path(path), words.join(", ")));
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        return Err(format!("{} must be {only}", describe_path(path)));
    }
    if let Some(types) = schema.get("type")
        && !matches_type(types, value)
    {
        return Err(format!("{} must be {}", describe_path(path), describe_types(types)));
    }
    match value {
        Value::Object(fields) => check_object(schema, fields, path, unknown, depth),
        Value::Array(items) => check_array(schema, items, path, unknown, depth),
        Value::String(text) => {
            check_length(schema, "minLength", "maxLength", text.chars().count(), "characters", path)
        }
        Value::Number(number) => check_range(schema, number.as_f64().unwrap_or(0.0), path),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_alternatives(
    options: &[Value],
    value: &mut Value,
    path: &str,
    unknown: &mut Vec<String>,
    depth: usize,
) -> Result<(), String> {
    let mut last = None;
    for option in options {
        let (mut copy, mut fields) = (value.clone(), Vec::new());
        match check_value(option, &mut copy, path, &mut fields, depth + 1) {
            Ok(()) => {
                *value = copy;
                unknown.extend(fields);
                return Ok(());
            }
            Err(error) => last = Some(error),
        }
    }
    last.map_or(Ok(()), Err)
}

fn check_object(
    schema: &Map<String, Value>,
    fields: &mut Map<String, Value>,
    path: &str,
    unknown: &mut Vec<String>,
    depth: usize,
) -> Result<(), String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            let names = fields.keys().map(String::as_str);
            let near = planwright_text::nearest_name(name, names)
                .map(|found| format!(" (there is `{found}`)"))
                .unwrap_or_default();
            return Err(format!("{} is missing{near}", describe_path(&join_path(path, name))));
        }
    }
    let extra = schema.get("additionalProperties");
    if let Some(properties) = properties
        && !matches!(extra, Some(Value::Bool(true) | Value::Object(_)))
        && !schema.contains_key("patternProperties")
        && !schema.contains_key("anyOf")
        && !schema.contains_key("oneOf")
        && !schema.contains_key("allOf")
    {
        fields.retain(|name, _| {
            let known = properties.contains_key(name);
            if !known {
                unknown.push(join_path(path, name));
            }
            known
        });
    }
    for (name, value) in fields {
        let schema = properties.and_then(|properties| properties.get(name)).or(extra);
        if let Some(schema) = schema {
            check_value(schema, value, &join_path(path, name), unknown, depth + 1)?;
        }
    }
    Ok(())
}

fn check_array(
    schema: &Map<String, Value>,
    items: &mut [Value],
    path: &str,
    unknown: &mut Vec<String>,
    depth: usize,
) -> Result<(), String> {
    check_length(schema, "minItems", "maxItems", items.len(), "items", path)?;
    if let Some(schema) = schema.get("items") {
        for (position, item) in items.iter_mut().enumerate() {
            check_value(schema, item, &format!("{path}[{position}]"), unknown, depth + 1)?;
        }
    }
    Ok(())
}

fn check_length(
    schema: &Map<String, Value>,
    least: &str,
    most: &str,
    found: usize,
    unit: &str,
    path: &str,
) -> Result<(), String> {
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    match (limit(least), limit(most)) {
        (Some(least), _) if (found as u64) < least => {
            Err(format!("{} needs at least {least} {unit}, it has {found}", describe_path(path)))
        }
        (_, Some(most)) if found as u64 > most => {
            Err(format!("{} may have {most} {unit}, it has {found}", describe_path(path)))
        }
        _ => Ok(()),
    }
}

fn check_range(schema: &Map<String, Value>, found: f64, path: &str) -> Result<(), String> {
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    match (limit("minimum"), limit("maximum")) {
        (Some(least), _) if found < least => {
            Err(format!("{} must be at least {least}", describe_path(path)))
        }
        (_, Some(most)) if found > most => {
            Err(format!("{} must be at most {most}", describe_path(path)))
        }
        _ => Ok(()),
    }
}

fn matches_type(types: &Value, value: &Value) -> bool {
    let fits = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => true,
    };
    match types {
        Value::String(name) => fits(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    }
}

fn describe_types(types: &Value) -> String {
    let word = |name: &str| match name {
        "string" => "text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "an object".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        other => other.to_owned(),
    };
    match types {
        Value::String(name) => word(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" or ")
        }
        other => other.to_string(),
    }
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn describe_path(path: &str) -> String {
    if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Example {
        path: String,
        #[schemars(range(min = 1))]
        line: Option<u32>,
        #[serde(default)]
        tags: Vec<String>,
    }

    fn error(args: &Value) -> String {
        check_args(&schema_for::<Example>(), args).unwrap_err()
    }

    #[test]
    fn errors_contain_the_path() {
        assert_eq!(error(&json!({})), "`path` is missing");
        assert_eq!(error(&json!({"pth": "a"})), "`path` is missing (there is `pth`)");
        assert_eq!(error(&json!({"path": 3})), "`path` must be text");
        assert_eq!(error(&json!({"path": "a", "tags": ["x", 2]})), "`tags[1]` must be text");
        assert_eq!(error(&json!([])), "the arguments must be an object");
        assert!(error(&json!({"path": "a", "line": 0})).contains("at least 1"));
    }

    #[test]
    fn unknown_fields_are_removed_and_reported() {
        let checked =
            check_args(&schema_for::<Example>(), &json!({"path": "a", "why": "x"})).unwrap();
        assert_eq!(checked.args, json!({"path": "a"}));
        assert_eq!(checked.unknown_fields, ["why"]);
    }

    #[test]
    fn arguments_may_come_as_text() {
        let checked =
            check_args(&schema_for::<Example>(), &json!("{\"path\": \"a\", \"line\": null}"))
                .unwrap();
        assert_eq!(checked.args["path"], "a");
    }

    #[test]
    fn schemas_have_no_references() {
        assert!(!schema_for::<Example>().to_string().contains("$ref"));
    }
}
