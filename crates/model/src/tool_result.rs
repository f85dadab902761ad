//! What every tool answers with, whatever it did.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Category, ExecutionFailure};

/// The envelope of section 1.4: a failure has confidence 0 and says what went wrong in `data.error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolResult {
    pub ok: bool,
    /// From 0 to 1.
    pub confidence: f64,
    pub explanations: Vec<String>,
    pub data: Map<String, Value>,
}

impl ToolResult {
    /// A success that is quite sure of itself. What is not an object is put under `value`.
    pub fn success(data: Value) -> Self {
        Self { ok: true, confidence: 1.0, explanations: Vec::new(), data: into_json_object(data) }
    }

    /// A failure that can still say what it found.
    pub fn failure_with_data(failure: &ExecutionFailure, data: Value) -> Self {
        let mut data = into_json_object(data);
        data.insert(
            "error".to_owned(),
            json!({
                "code": failure.code,
                "category": failure.category,
                "message": failure.message,
            }),
        );
        Self { ok: false, confidence: 0.0, explanations: Vec::new(), data }
    }

    pub fn failure(failure: &ExecutionFailure) -> Self {
        Self::failure_with_data(failure, Value::Object(Map::new()))
    }

    /// A failure in one line.
    pub fn error(code: &str, category: Category, message: impl Into<String>) -> Self {
        Self::failure(&ExecutionFailure::new(code, category, message))
    }

    /// How sure a success is; a failure stays at 0.
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        if self.ok && confidence.is_finite() {
            self.confidence = confidence.clamp(0.0, 1.0);
        }
        self
    }

    pub fn with_explanation(mut self, line: impl Into<String>) -> Self {
        self.explanations.push(line.into());
        self
    }

    /// What went wrong, if something did.
    pub fn to_failure(&self) -> Option<ExecutionFailure> {
        if self.ok {
            return None;
        }
        let error = self.data.get("error");
        let text = |name: &str| {
            error.and_then(|error| error.get(name)).and_then(Value::as_str).unwrap_or_default()
        };
        let category = match text("category") {
            "recoverable" => Category::Recoverable,
            "transient" => Category::Transient,
            _ => Category::Critical,
        };
        Some(ExecutionFailure::new(text("code"), category, text("message")))
    }
}

fn into_json_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_no_confidence_and_names_its_error() {
        let result = ToolResult::error("timeout", Category::Transient, "it took too long")
            .with_confidence(0.9);
        assert!(!result.ok && result.confidence == 0.0);
        assert_eq!(result.data["error"]["category"], "transient");
        assert_eq!(
            result.to_failure(),
            Some(ExecutionFailure::new("timeout", Category::Transient, "it took too long"))
        );
    }

    #[test]
    fn confidence_stays_within_its_range() {
        assert!((ToolResult::success(json!(3)).with_confidence(7.0).confidence - 1.0).abs() < 1e-9);
        assert_eq!(ToolResult::success(json!(3)).data["value"], 3);
    }
}
