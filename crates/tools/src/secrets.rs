//! Secrets in the arguments and in the results of a call.

use serde_json::Value;

use planwright_text::Redactor;

/// The first path in the arguments that redaction would change.
pub(super) fn find_secret(args: &Value, redactor: &Redactor) -> Option<String> {
    fn find_secret_in_value(value: &Value, path: &str, redactor: &Redactor) -> Option<String> {
        match value {
            Value::String(text) => redactor.would_change(text).then(|| path.to_owned()),
            Value::Array(items) => items.iter().enumerate().find_map(|(position, item)| {
                find_secret_in_value(item, &format!("{path}[{position}]"), redactor)
            }),
            Value::Object(fields) => fields.iter().find_map(|(name, item)| {
                let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                if redactor.would_change(name) {
                    Some(inner)
                } else {
                    find_secret_in_value(item, &inner, redactor)
                }
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    find_secret_in_value(args, "", redactor).or_else(|| {
        // A name and its value together may reveal what neither does alone.
        let text = planwright_model::canonical_json(args);
        redactor.would_change(&text).then(|| "the arguments".to_owned())
    })
}

/// The environment variable whose value occurs in the arguments, to name it without showing the value.
pub(super) fn find_secret_variable(args: &Value, redactor: &Redactor) -> Option<String> {
    let name = redactor.find_variable(&planwright_model::canonical_json(args))?;
    Some(planwright_text::clean_line(name).into_owned())
}

/// Redacts secrets anywhere in a value.
pub(super) fn redact_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(redacted) = redactor.redact(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, redactor)),
        Value::Object(fields) => fields.values_mut().for_each(|item| redact_value(item, redactor)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
