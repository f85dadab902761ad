//! Secrets in what is imported: our own format is taken in byte for byte or not at all, unless the person lets them go.

use serde_json::Value;

use planwright_text::Redactor;

/// What becomes of secrets in an export.
#[derive(Debug, Default)]
pub enum SecretPolicy {
    /// Nothing is kept, so that nothing need be taken out.
    #[default]
    Ignored,
    Refused(Redactor),
    Redacted(Redactor),
}

/// Takes secrets out of all texts of a value, and says whether there were any.
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
