//! The one place where things that go wrong get their code, their sentence and their next step.

use std::time::Duration;

use serde_json::Value;

use super::body::BodyFault;
use super::decode::DecodeFault;
use super::limits::{ExchangeLimits, RetryPolicy};
use crate::ModelError;
use planwright_model::Category;
use planwright_text::{Redactor, clean_line};

/// Words of a server that are repeated in an error.
const LONGEST_QUOTE: usize = 300;

/// Writes errors in the name of one provider, and never lets a key through.
#[derive(Clone, Debug)]
pub(crate) struct ProviderErrors {
    pub(crate) provider: String,
    pub(crate) host: String,
    pub(crate) redactor: Redactor,
}

/// An attempt that failed, with what an adapter needs to know to ask differently.
#[derive(Clone, Debug)]
pub(crate) struct FailedAttempt {
    pub(crate) error: ModelError,
    /// The status of an answer that was a refusal.
    pub(crate) status: Option<u16>,
    /// The reason came from time running out, each of which costs a whole limit.
    pub(crate) silence: bool,
}

impl From<ModelError> for FailedAttempt {
    fn from(error: ModelError) -> Self {
        Self { error, status: None, silence: false }
    }
}

impl ProviderErrors {
    /// Makes foreign words fit for an error: one line, no controls, no secrets, not long.
    pub(crate) fn quote_text(&self, text: &str) -> String {
        let clean = clean_line(text);
        let redacted = self.redactor.redact(clean.trim());
        planwright_text::truncate_end(&redacted, LONGEST_QUOTE).into_owned()
    }

    fn failed_attempt(
        &self,
        code: &str,
        category: Category,
        what: &str,
        next: &str,
    ) -> FailedAttempt {
        ModelError::new(&self.provider, code, category, what, next).into()
    }

    pub(crate) fn unreachable_failure(&self, error: &reqwest::Error) -> FailedAttempt {
        let provider = &self.provider;
        if error.is_timeout() {
            let what = format!("{provider} did not accept a connection at {} in time", self.host);
            let next = "check the network and base_url, or raise connect_sec under [limits]";
            return self.failed_attempt("timeout_connect", Category::Transient, &what, next);
        }
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let why = self.quote_text(&cause.to_string());
        let what = format!("could not reach {provider} at {}: {why}", self.host);
        let next = "check that the server runs and that base_url and the proxy are right; planwright doctor shows both";
        self.failed_attempt("unreachable", Category::Transient, &what, next)
    }

    pub(crate) fn first_byte_timeout(&self, limits: &ExchangeLimits) -> FailedAttempt {
        let seconds = format_seconds(limits.first_byte);
        let what = format!("{} did not begin to answer within {seconds}", self.provider);
        let next =
            "try again, use a smaller prompt or model, or raise first_byte_sec under [limits]";
        FailedAttempt {
            silence: true,
            ..self.failed_attempt("timeout_first_byte", Category::Transient, &what, next)
        }
    }

    pub(crate) fn idle_timeout(&self, limits: &ExchangeLimits) -> FailedAttempt {
        let seconds = format_seconds(limits.idle);
        let what = format!("{} fell silent for {seconds} in mid-answer", self.provider);
        let next = "try again, or raise idle_sec under [limits]";
        FailedAttempt {
            silence: true,
            ..self.failed_attempt("timeout_idle", Category::Transient, &what, next)
        }
    }

    pub(crate) fn total_timeout(&self, limits: &ExchangeLimits) -> ModelError {
        let seconds = format_seconds(limits.total);
        let what = format!("{} did not finish within {seconds}", self.provider);
        let next = "try again, ask for less, or raise total_sec under [limits]";
        self.failed_attempt("timeout_total", Category::Transient, &what, next).error
    }

    pub(crate) fn open_breaker_error(&self, retry_in: Duration) -> ModelError {
        let what = format!("{} failed too often and is left alone for a while", self.provider);
        let next = format!("wait {}, or use another provider", format_seconds(retry_in));
        let mut error =
            self.failed_attempt("breaker_open", Category::Transient, &what, &next).error;
        error.retry_after = Some(retry_in);
        error
    }

    /// The provider said earlier that it must not be called yet.
    pub(crate) fn rate_limit_error(&self, left: Duration) -> ModelError {
        let what = format!("{} asked not to be called again {}", self.provider, wait_text(left));
        let next = "wait that long, or use another provider";
        let mut error = self.failed_attempt("rate_limited", Category::Transient, &what, next).error;
        error.retry_after = Some(left);
        error
    }

    pub(crate) fn body_failure(&self, fault: &BodyFault, limits: &ExchangeLimits) -> FailedAttempt {
        let provider = &self.provider;
        let (code, category, what, next) = match fault {
            BodyFault::Dropped(why) => (
                "dropped",
                Category::Transient,
                format!(
                    "the connection to {provider} broke in mid-answer: {}",
                    self.quote_text(why)
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
            BodyFault::Malformed(why) => (
                "malformed_stream",
                Category::Transient,
                format!("the stream of {provider} is malformed: {}", self.quote_text(why)),
                "try again; if it stays so, set stream = false for this provider",
            ),
        };
        self.failed_attempt(code, category, &what, next)
    }

    pub(crate) fn decode_failure(&self, fault: &DecodeFault) -> FailedAttempt {
        let provider = &self.provider;
        match fault {
            DecodeFault::NotJson(text) => {
                let what = format!(
                    "{provider} sent something that is not JSON: {}",
                    self.quote_text(text)
                );
                let next =
                    "try again; if it stays so, check that base_url names the right interface";
                self.failed_attempt("bad_json", Category::Transient, &what, next)
            }
            DecodeFault::Shape(why) => {
                let what = format!(
                    "the answer of {provider} has an unexpected shape: {}",
                    self.quote_text(why)
                );
                let next = "check that base_url and the provider's kind belong together";
                self.failed_attempt("bad_shape", Category::Transient, &what, next)
            }
            DecodeFault::Server { message, kind } => {
                let what = format!("{provider} broke off: {}", self.quote_text(message));
                let code = if kind.contains("overloaded") { "overloaded" } else { "server_error" };
                self.failed_attempt(code, Category::Transient, &what, "try again in a moment")
            }
            DecodeFault::Truncated => {
                let what = format!("the answer of {provider} ended in the middle");
                let next = "try again; if it stays so, set stream = false for this provider";
                self.failed_attempt("truncated_stream", Category::Transient, &what, next)
            }
            DecodeFault::Empty => {
                let what = format!("{provider} answered with nothing at all");
                let next = "try again; if it stays so, set stream = false or another protocol";
                self.failed_attempt("empty_answer", Category::Transient, &what, next)
            }
        }
    }

    pub(crate) fn content_type_failure(&self, found: &str) -> FailedAttempt {
        let what = format!(
            "{} answered with {} instead of an answer of a model",
            self.provider,
            self.quote_text(found)
        );
        let next = "check that base_url names the interface, often ending in /v1";
        self.failed_attempt("wrong_content_type", Category::Recoverable, &what, next)
    }

    pub(crate) fn redirect_failure(&self, status: u16, to: &str) -> FailedAttempt {
        let what = format!(
            "{} answered with a redirect ({status}) to {}, which is not followed, so that no key reaches another host",
            self.provider,
            self.quote_text(to)
        );
        let next = "if the new address is right, set it as base_url";
        let broken = self.failed_attempt("redirect_refused", Category::Critical, &what, next);
        FailedAttempt { status: Some(status), ..broken }
    }

    /// An answer with an error status.
    pub(crate) fn status_failure(
        &self,
        status: u16,
        body: &str,
        retry_after: Option<Duration>,
        model: &str,
    ) -> FailedAttempt {
        let said = self.quote_text(&server_message(body));
        let (code, category, next) = classify_status(status, &said, model);
        let what = if said.is_empty() {
            format!("{} answered with status {status}", self.provider)
        } else {
            format!("{} answered with status {status}: {said}", self.provider)
        };
        let mut broken = self.failed_attempt(code, category, &what, &next);
        broken.status = Some(status);
        broken.error.retry_after = retry_after;
        broken
    }
}

/// The message of a server's error, in any of the usual shapes.
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

fn classify_status(status: u16, said: &str, model: &str) -> (&'static str, Category, String) {
    let said = said.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if has(&[
        "context_length",
        "context length",
        "context window",
        "prompt is too long",
        "maximum context",
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

/// Adds the time to an error whose provider asks for more patience than one call has.
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

/// A time to wait with the moment at which it is over.
fn wait_text(wait: Duration) -> String {
    let whole = wait.as_secs().saturating_add(u64::from(wait.subsec_millis() > 0));
    let length = match whole {
        0..120 => format!("{whole} s"),
        120..7_200 => format!("{} min", whole.div_ceil(60)),
        7_200..172_800 => format!("{} h", whole.div_ceil(3_600)),
        _ => format!("{} days", whole.div_ceil(86_400).min(3_650)),
    };
    let until = i64::try_from(whole).ok().and_then(|whole| {
        let until =
            jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_secs(whole)).ok()?;
        (whole < 366 * 86_400).then(|| until.strftime("%Y-%m-%d %H:%M UTC").to_string())
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
    fn a_long_wait_is_told_with_its_end_and_an_absurd_one_is_survived() {
        let words = |seconds| wait_text(Duration::from_secs(seconds));
        assert!(words(90).starts_with("for 90 s, until "), "{}", words(90));
        assert!(words(7_300).starts_with("for 3 h, until ") && words(7_300).ends_with(" UTC"));
        assert!(wait_text(Duration::MAX).starts_with("for more than a year"));
    }

    #[test]
    fn statuses_and_words_decide_what_is_retried() {
        let judge = |status, body: &str| {
            let error = faults().status_failure(status, body, None, "m").error;
            (error.code, error.category)
        };
        assert_eq!(judge(500, "").0, "server_error");
        assert_eq!(judge(529, "").0, "overloaded");
        assert_eq!(judge(429, "").1, Category::Transient);
        assert_eq!(
            judge(429, r#"{"error":{"message":"You exceeded","code":"insufficient_quota"}}"#),
            ("quota_exhausted".into(), Category::Critical)
        );
        assert_eq!(
            judge(400, r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#).0,
            "context_length_exceeded"
        );
        assert_eq!(judge(404, r#"{"error":"model 'x' not found"}"#).0, "not_found");
        assert_eq!(judge(400, "<html>").0, "bad_request");
    }
}
