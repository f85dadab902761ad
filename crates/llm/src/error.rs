//! Why a model did not answer, as plain data with a next step. Text from servers is sanitized and redacted on arrival.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::TokenUsage;
use planwright_model::{Category, ExecutionFailure};

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelError {
    /// The provider's name in the settings.
    pub provider: String,
    /// A wire name such as `rate_limited`, `timeout_idle` or `invalid_output`.
    pub code: String,
    pub category: Category,
    pub message: String,
    /// What the user can do about it.
    pub next_step: String,
    /// How long the provider asked to wait before the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// What the failed attempts used, as far as known; it is charged.
    #[serde(default)]
    pub usage: TokenUsage,
    /// The answer that was rejected, for `invalid_output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl ModelError {
    pub fn new(
        provider: impl Into<String>,
        code: &str,
        category: Category,
        message: impl Into<String>,
        next_step: impl Into<String>,
    ) -> Self {
        Self {
            provider: provider.into(),
            code: code.to_owned(),
            category,
            message: message.into(),
            next_step: next_step.into(),
            retry_after: None,
            usage: TokenUsage::default(),
            raw: None,
        }
    }

    /// The request was canceled by us.
    pub fn cancelled(provider: impl Into<String>) -> Self {
        let provider = provider.into();
        let message = format!("the request to {provider} was cancelled");
        Self::new(provider, "cancelled", Category::Critical, message, "ask again if it is wanted")
    }

    pub fn is_cancelled(&self) -> bool {
        self.code == "cancelled"
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

impl From<&ModelError> for ExecutionFailure {
    fn from(error: &ModelError) -> Self {
        Self::new(&error.code, error.category, format!("{}; {}", error.message, error.next_step))
    }
}
