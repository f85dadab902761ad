//! Secrets in imported files: our own format is imported byte for byte or not at all, unless the user agrees to remove
//! them.

use serde_json::Value;

use planwright_text::Redactor;

/// What happens to secrets in an export.
#[derive(Debug, Default)]
pub enum SecretPolicy {
    /// Nothing is stored, so nothing has to be removed.
    #[default]
    Ignored,
    Refused(Redactor),
    Redacted(Redactor),
}

/// Removes secrets from all strings of a value, and returns whether there were any.
pub(super) fn redact_value(redactor: &Redactor, value: &mut Value) -> bool {
    match value {
        Value::String(text) if redactor.would_change(text) => {
            *text = redactor.redact(text).into_owned();
            true
        }
        Value::Array(items) => {
            let mut found = false;
            for item in items {
                found |= redact_value(redactor, item);
            }
            found
        }
        Value::Object(fields) => {
            let mut found = false;
            for field in fields.values_mut() {
                found |= redact_value(redactor, field);
            }
            found
        }
        _ => false,
    }
}
