//! The single place that assigns code, message and next step to an error.

use std::time::Duration;

use serde_json::Value;

use super::body::BodyFault;
use super::decode::DecodeFault;
use crate::ModelError;
use crate::exchange_limits::{ExchangeLimits, RetryPolicy};
use planwright_model::Category;
use planwright_text::{Redactor, clean_line};

/// How much of a server's message is quoted in an error.
const LONGEST_QUOTE: usize = 300;

/// Creates the errors of one provider, and never lets a key through.
#[derive(Clone, Debug)]
pub(crate) struct ProviderErrors {
    pub(crate) provider: String,
    pub(crate) host: String,
    pub(crate) redactor: Redactor,
}

/// A failed attempt, with what an adapter needs to rephrase the request.
#[derive(Clone, Debug)]
pub(crate) struct FailedAttempt {
    pub(crate) error: ModelError,
    /// The HTTP status, if the server refused the request.
    pub(crate) status: Option<u16>,
    /// The attempt took the whole time of a call.
    pub(crate) timed_out: bool,
}

impl From<ModelError> for FailedAttempt {
    fn from(error: ModelError) -> Self {
        Self { error, status: None, timed_out: false }
    }
}

impl ProviderErrors {
    /// Prepares foreign text for an error: one line, no control characters, no secrets, limited length.
    pub(crate) fn quote_text(&self, text: &str) -> String {
        let clean = clean_line(text);
        let redacted = self.redactor.redact(clean.trim());
        planwright_text::truncate_end(&redacted, LONGEST_QUOTE).into_owned()
    }

    fn failed_attempt(
        &self,
        code: &str,
        category: Category,
        message: &str,
        next: &str,
    ) -> FailedAttempt {
        ModelError::new(&self.provider, code, category, message, next).into()
    }

    pub(crate) fn unreachable_failure(&self, error: &reqwest::Error) -> FailedAttempt {
        let provider = &self.provider;
        if error.is_timeout() {
            let message =
                format!("{provider} did not accept a connection at {} in time", self.host);
            let next = "check the network and base_url, or raise connect_sec under [limits]";
            return self.failed_attempt("timeout_connect", Category::Transient, &message, next);
        }
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let reason = self.quote_text(&cause.to_string());
        let message = format!("could not reach {provider} at {}: {reason}", self.host);
        let next = "check that the server runs and that base_url and the proxy are right; planwright doctor shows both";
        self.failed_attempt("unreachable", Category::Transient, &message, next)
    }

    /// A call took longer than one may. It is not repeated: the next one would take as long and cost as much.
    pub(crate) fn call_timeout(&self, limits: &ExchangeLimits) -> FailedAttempt {
        let seconds = format_seconds(limits.call);
        let message = format!("{} did not finish within {seconds}", self.provider);
        let next = "try again, ask for less, or raise model_call_limit_sec";
        let broken = self.failed_attempt("timeout_call", Category::Transient, &message, next);
        FailedAttempt { timed_out: true, ..broken }
    }

    /// A server did not describe itself in time.
    pub(crate) fn metadata_timeout(&self, limit: Duration) -> ModelError {
        let seconds = format_seconds(limit);
        let message = format!("{} did not describe its models within {seconds}", self.provider);
        let next = "check that the server runs and that base_url is right";
        self.failed_attempt("timeout_call", Category::Transient, &message, next).error
    }

    pub(crate) fn open_breaker_error(&self, retry_in: Duration) -> ModelError {
        let message = format!("{} failed too often and is left alone for a while", self.provider);
        let next = format!("wait {}, or use another provider", format_seconds(retry_in));
        let mut error =
            self.failed_attempt("breaker_open", Category::Transient, &message, &next).error;
        error.retry_after = Some(retry_in);
        error
    }

    /// The provider asked earlier not to be called yet.
    pub(crate) fn rate_limit_error(&self, wait: Duration) -> ModelError {
        let message = format!("{} asked not to be called again {}", self.provider, wait_text(wait));
        let next = "wait that long, or use another provider";
        let mut error =
            self.failed_attempt("rate_limited", Category::Transient, &message, next).error;
        error.retry_after = Some(wait);
        error
    }

    pub(crate) fn body_failure(&self, fault: &BodyFault, limits: &ExchangeLimits) -> FailedAttempt {
        let provider = &self.provider;
        let (code, category, message, next) = match fault {
            BodyFault::Dropped(reason) => (
                "dropped",
                Category::Transient,
                format!(
                    "the connection to {provider} broke in mid-answer: {}",
                    self.quote_text(reason)
                ),
                "try again; if it stays so, check the network",
            ),
            BodyFault::TooLarge | BodyFault::LineTooLong => (
                "too_large",
                Category::Recoverable,
                format!(
                    "the answer of {provider} is larger than {} MB, or one line of it larger than {} MB",
                    limits.answer_bytes >> 20,
                    limits.line_bytes >> 20
                ),
                "ask for less, or set max_output_tokens",
            ),
            BodyFault::NotUtf8 => (
                "not_utf8",
                Category::Transient,
                format!("the answer of {provider} is not UTF-8 text"),
                "check that base_url names a model server",
            ),
            BodyFault::Malformed(reason) => (
                "malformed_stream",
                Category::Transient,
                format!("the stream of {provider} is malformed: {}", self.quote_text(reason)),
                "try again; if it stays so, set stream = false for this provider",
            ),
        };
        self.failed_attempt(code, category, &message, next)
    }

    pub(crate) fn decode_failure(&self, fault: &DecodeFault) -> FailedAttempt {
        let provider = &self.provider;
        match fault {
            DecodeFault::NotJson(text) => {
                let message = format!(
                    "{provider} sent something that is not JSON: {}",
                    self.quote_text(text)
                );
                let next =
                    "try again; if it stays so, check that base_url names the right interface";
                self.failed_attempt("bad_json", Category::Transient, &message, next)
            }
            DecodeFault::Shape(reason) => {
                let message = format!(
                    "the answer of {provider} has an unexpected shape: {}",
                    self.quote_text(reason)
                );
                let next = "check that base_url and the provider's kind belong together";
                self.failed_attempt("bad_shape", Category::Transient, &message, next)
            }
            DecodeFault::Server { message, kind } => {
                let message = format!("{provider} broke off: {}", self.quote_text(message));
                let code = if kind.contains("overloaded") { "overloaded" } else { "server_error" };
                self.failed_attempt(code, Category::Transient, &message, "try again in a moment")
            }
            DecodeFault::Truncated => {
                let message = format!("the answer of {provider} ended in the middle");
                let next = "try again; if it stays so, set stream = false for this provider";
                self.failed_attempt("truncated_stream", Category::Transient, &message, next)
            }
            DecodeFault::Empty => {
                let message = format!("{provider} answered with nothing at all");
                let next = "try again; if it stays so, set stream = false or another protocol";
                self.failed_attempt("empty_answer", Category::Transient, &message, next)
            }
        }
    }

    pub(crate) fn content_type_failure(&self, found: &str) -> FailedAttempt {
        let message = format!(
            "{} answered with {} instead of an answer of a model",
            self.provider,
            self.quote_text(found)
        );
        let next = "check that base_url names the interface, often ending in /v1";
        self.failed_attempt("wrong_content_type", Category::Recoverable, &message, next)
    }

    pub(crate) fn redirect_failure(&self, status: u16, to: &str) -> FailedAttempt {
        let message = format!(
            "{} answered with a redirect ({status}) to {}, which is not followed, so that no key reaches another host",
            self.provider,
            self.quote_text(to)
        );
        let next = "if the new address is right, set it as base_url";
        let broken = self.failed_attempt("redirect_refused", Category::Critical, &message, next);
        FailedAttempt { status: Some(status), ..broken }
    }

    /// A response with an error status.
    pub(crate) fn status_failure(
        &self,
        status: u16,
        body: &str,
        retry_after: Option<Duration>,
        model: &str,
    ) -> FailedAttempt {
        let server_text = self.quote_text(&server_message(body));
        let (code, category, next) = classify_status(status, &server_text, model);
        let message = if server_text.is_empty() {
            format!("{} answered with status {status}", self.provider)
        } else {
            format!("{} answered with status {status}: {server_text}", self.provider)
        };
        let mut broken = self.failed_attempt(code, category, &message, &next);
        broken.status = Some(status);
        broken.error.retry_after = retry_after;
        broken
    }
}

/// The message of a server's error, in any of the common formats.
fn server_message(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        let is_page = body.trim_start().starts_with('<');
        return if is_page { String::new() } else { body.to_owned() };
    };
    let error = value.get("error").unwrap_or(&value);
    let field = |name: &str| error.get(name).and_then(Value::as_str);
    let message = error.as_str().or_else(|| field("message")).or_else(|| field("detail"));
    match (message, field("code").or_else(|| field("type"))) {
        (Some(message), Some(code)) if !message.contains(code) => format!("{message} ({code})"),
        (Some(message), _) => message.to_owned(),
        (None, code) => code.map_or_else(|| value.to_string(), str::to_owned),
    }
}

fn classify_status(
    status: u16,
    server_text: &str,
    model: &str,
) -> (&'static str, Category, String) {
    let server_text = server_text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| server_text.contains(word));
    if has(&[
        "context_length",
        "context length",
        "context window",
        "prompt is too long",
        "maximum context",
        "maximum number of tokens",
    ]) {
        let next = "shorten the conversation, or use a model with a larger context".to_owned();
        return ("context_length_exceeded", Category::Recoverable, next);
    }
    if has(&["insufficient_quota", "billing", "credit balance"]) {
        let next = "check the account of the provider, or use another one".to_owned();
        return ("quota_exhausted", Category::Critical, next);
    }
    match status {
        401 | 403 => (
            "unauthorized",
            Category::Critical,
            "check the key: the variable or api_key_cmd that planwright doctor names".to_owned(),
        ),
        404 => (
            "not_found",
            Category::Critical,
            format!("check base_url and whether the provider has a model `{model}`"),
        ),
        402 => {
            ("quota_exhausted", Category::Critical, "check the account of the provider".to_owned())
        }
        413 => (
            "context_length_exceeded",
            Category::Recoverable,
            "shorten the conversation".to_owned(),
        ),
        429 => (
            "rate_limited",
            Category::Transient,
            "wait as long as the provider asks, lower --jobs, or use another provider".to_owned(),
        ),
        503 | 529 => ("overloaded", Category::Transient, "try again in a moment".to_owned()),
        408 | 425 | 500.. => {
            ("server_error", Category::Transient, "try again in a moment".to_owned())
        }
        _ => (
            "bad_request",
            Category::Recoverable,
            "the provider does not accept the request as it is; try another protocol or model"
                .to_owned(),
        ),
    }
}

/// Adds the time to an error whose provider asks for a longer wait than one call allows.
pub(super) fn with_wait_time(error: ModelError, retry: &RetryPolicy) -> ModelError {
    match error.retry_after {
        Some(wait) if wait > retry.longest_retry_after => {
            let message =
                format!("{}; it must not be called again {}", error.message, wait_text(wait));
            ModelError { message, ..error }
        }
        _ => error,
    }
}

/// Formats a wait and the time at which it ends.
fn wait_text(wait: Duration) -> String {
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_millis() > 0));
    let length = match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        7_200..172_800 => format!("{} h", seconds.div_ceil(3_600)),
        _ => format!("{} days", seconds.div_ceil(86_400).min(3_650)),
    };
    let until = i64::try_from(seconds).ok().and_then(|seconds| {
        let until =
            jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_secs(seconds)).ok()?;
        (seconds < 366 * 86_400).then(|| until.strftime("%Y-%m-%d %H:%M UTC").to_string())
    });
    match until {
        Some(until) => format!("for {length}, until {until}"),
        None => format!("for more than a year ({length} or longer)"),
    }
}

fn format_seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 || time.as_secs() >= 10 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults() -> ProviderErrors {
        ProviderErrors {
            provider: "acme".into(),
            host: "api.acme.test".into(),
            redactor: Redactor::new(["topsecretkey123"]),
        }
    }

    #[test]
    fn a_server_that_echoes_the_key_does_not_get_it_printed() {
        let body =
            r#"{"error":{"message":"Incorrect API key: topsecretkey123\u001b[31m","type":"auth"}}"#;
        let error = faults().status_failure(401, body, None, "m").error;
        assert_eq!(error.code, "unauthorized");
        assert!(!error.message.contains("topsecret") && !error.message.contains('\u{1b}'));
        assert!(error.message.contains("Incorrect API key"), "{}", error.message);
    }

    #[test]
    fn a_long_wait_is_shown_with_its_end_and_an_absurd_one_does_not_panic() {
        let wait_for = |seconds| wait_text(Duration::from_secs(seconds));
        assert!(wait_for(90).starts_with("for 90 s, until "), "{}", wait_for(90));
        assert!(
            wait_for(7_300).starts_with("for 3 h, until ") && wait_for(7_300).ends_with(" UTC")
        );
        assert!(wait_text(Duration::MAX).starts_with("for more than a year"));
    }

    #[test]
    fn status_and_message_decide_what_is_retried() {
        let classify = |status, body: &str| {
            let error = faults().status_failure(status, body, None, "m").error;
            (error.code, error.category)
        };
        assert_eq!(classify(500, "").0, "server_error");
        assert_eq!(classify(529, "").0, "overloaded");
        assert_eq!(classify(429, "").1, Category::Transient);
        assert_eq!(
            classify(429, r#"{"error":{"message":"You exceeded","code":"insufficient_quota"}}"#),
            ("quota_exhausted".into(), Category::Critical)
        );
        assert_eq!(
            classify(400, r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#).0,
            "context_length_exceeded"
        );
        assert_eq!(classify(404, r#"{"error":"model 'x' not found"}"#).0, "not_found");
        assert_eq!(classify(400, "<html>").0, "bad_request");
    }
}
