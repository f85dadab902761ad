//! Which parts of the `OpenAI` API a server accepts, learned from its refusals.

use crate::GenerateRequest;
use crate::transport::FailedAttempt;

/// How an answer is constrained to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonForm {
    /// `json_schema`.
    Schema,
    /// `json_object` with the schema next to it.
    ObjectWithSchema,
    /// `json_object`; the schema is only in the prompt.
    Object,
    /// Only the prompt.
    Prompt,
}

/// The dialect of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenAiDialect {
    pub(super) json: JsonForm,
    /// The server shows the schema to the model itself.
    pub(super) shows_schema: bool,
    /// A server error may mean that the server did not understand the form.
    guessing: bool,
    /// `max_completion_tokens` instead of `max_tokens`.
    pub(super) completion_tokens: bool,
    pub(super) temperature: bool,
    pub(super) seed: bool,
    /// `reasoning_effort` is understood.
    pub(super) effort: bool,
    /// Requests usage figures at the end of a stream.
    pub(super) usage_option: bool,
    stream: bool,
    stream_with_tools: bool,
    /// A request without streaming is being tried; the setting stays only if it succeeds.
    trying_unstreamed: bool,
}

impl OpenAiDialect {
    /// `OpenAI` itself.
    pub(crate) const HOSTED: Self = Self {
        json: JsonForm::Schema,
        shows_schema: true,
        guessing: false,
        completion_tokens: true,
        temperature: true,
        seed: true,
        effort: true,
        usage_option: true,
        stream: true,
        stream_with_tools: true,
        trying_unstreamed: false,
    };

    /// All other servers.
    pub(crate) const COMPATIBLE: Self =
        Self { shows_schema: false, guessing: true, completion_tokens: false, ..Self::HOSTED };

    /// Never requests a stream.
    pub(crate) fn without_stream(self) -> Self {
        Self { stream: false, ..self }
    }

    pub(super) fn can_stream(&self, request: &GenerateRequest) -> bool {
        request.stream && self.stream && (self.stream_with_tools || request.tools.is_empty())
    }

    /// Keeps the setting that was tried, because it worked.
    pub(super) fn confirm_trial(&mut self) {
        self.trying_unstreamed = false;
    }

    /// Adjusts to a refusal. Returns `true` if the next attempt differs.
    pub(super) fn adjust_to_refusal(
        &mut self,
        broken: &FailedAttempt,
        request: &GenerateRequest,
    ) -> bool {
        let answered = broken.status.is_some() || is_content_error(&broken.error.code);
        if self.trying_unstreamed && answered {
            // Streaming was not the problem.
            (self.stream, self.stream_with_tools, self.trying_unstreamed) = (true, true, false);
        } else if broken.error.code == "empty_answer" && self.can_stream(request) {
            if request.tools.is_empty() {
                self.stream = false;
            } else {
                self.stream_with_tools = false;
            }
            self.trying_unstreamed = true;
            return true;
        }
        let Some(status) = broken.status else { return false };
        if !matches!(status, 400 | 404 | 415 | 422 | 500..=502) {
            return false;
        }
        let message = broken.error.message.to_ascii_lowercase();
        if message.contains("context") && broken.error.code == "context_length_exceeded" {
            return false;
        }
        self.adjust_field(&message, request) || self.adjust_json(status, &message, request)
    }

    fn adjust_field(&mut self, message: &str, request: &GenerateRequest) -> bool {
        if self.usage_option && message.contains("stream_options") {
            self.usage_option = false;
            return true;
        }
        if request.max_output_tokens.is_some() {
            if self.completion_tokens && message.contains("max_completion_tokens") {
                self.completion_tokens = false;
                return true;
            }
            if !self.completion_tokens && message.contains("max_tokens") {
                self.completion_tokens = true;
                return true;
            }
        }
        if self.effort && request.effort.is_some() && message.contains("reasoning") {
            self.effort = false;
            return true;
        }
        let unsupported =
            ["unsupported", "not support", "only the default", "unrecognized", "extra"]
                .iter()
                .any(|word| message.contains(word));
        if unsupported
            && self.temperature
            && request.temperature.is_some()
            && message.contains("temperature")
        {
            self.temperature = false;
            return true;
        }
        if unsupported && self.seed && request.seed.is_some() && message.contains("seed") {
            self.seed = false;
            return true;
        }
        false
    }

    fn adjust_json(&mut self, status: u16, message: &str, request: &GenerateRequest) -> bool {
        if request.output_schema.is_none() {
            return false;
        }
        let named = ["response_format", "json_schema", "schema", "grammar", "json_object"]
            .iter()
            .any(|word| message.contains(word));
        if !(named || (self.guessing && status >= 500)) {
            return false;
        }
        self.json = match self.json {
            JsonForm::Schema => JsonForm::ObjectWithSchema,
            JsonForm::ObjectWithSchema => JsonForm::Object,
            JsonForm::Object => JsonForm::Prompt,
            JsonForm::Prompt => {
                // The form was not the problem.
                self.json = JsonForm::Schema;
                return false;
            }
        };
        true
    }
}

/// Whether the server answered, but not in a usable way. A broken connection gives no information about the dialect.
fn is_content_error(code: &str) -> bool {
    matches!(code, "empty_answer" | "bad_json" | "bad_shape" | "truncated_stream" | "server_error")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, ModelError, OutputSchema};
    use planwright_model::Category;

    fn refusal(status: u16, message: &str) -> FailedAttempt {
        let error = ModelError::new("acme", "bad_request", Category::Recoverable, message, "");
        FailedAttempt { error, status: Some(status), timed_out: false }
    }

    fn asking_json() -> GenerateRequest {
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        let schema = serde_json::json!({"type": "object"});
        request.output_schema = Some(OutputSchema::new("x", schema));
        request
    }

    #[test]
    fn a_server_that_fails_on_a_schema_gets_simpler_forms_before_its_error_is_final() {
        let (mut dialect, request) = (OpenAiDialect::COMPATIBLE, asking_json());
        let refusal = refusal(500, "internal error");
        let mut forms = Vec::new();
        while dialect.adjust_to_refusal(&refusal, &request) {
            forms.push(dialect.json);
        }
        assert_eq!(forms, [JsonForm::ObjectWithSchema, JsonForm::Object, JsonForm::Prompt]);
        assert_eq!(dialect, OpenAiDialect::COMPATIBLE, "an error of its own taught nothing");
    }

    #[test]
    fn an_error_of_the_hosted_provider_is_not_a_schema_refusal() {
        let mut dialect = OpenAiDialect::HOSTED;
        assert!(!dialect.adjust_to_refusal(&refusal(500, "oops"), &asking_json()));
        assert!(dialect.adjust_to_refusal(
            &refusal(400, "Invalid schema for response_format"),
            &asking_json()
        ));
    }

    #[test]
    fn streaming_is_disabled_only_if_that_helps() {
        let request = GenerateRequest::new(vec![Message::user("x")]);
        let error = ModelError::new("acme", "empty_answer", Category::Transient, "nothing", "");
        let empty = FailedAttempt { error, status: None, timed_out: false };
        let mut dialect = OpenAiDialect::COMPATIBLE;
        assert!(dialect.adjust_to_refusal(&empty, &request) && !dialect.can_stream(&request));
        let error = ModelError::new("acme", "unreachable", Category::Transient, "reset", "");
        let reset = FailedAttempt { error, status: None, timed_out: false };
        assert!(
            !dialect.adjust_to_refusal(&reset, &request) && !dialect.can_stream(&request),
            "no answer at all"
        );
        assert!(!dialect.adjust_to_refusal(&refusal(400, "too long"), &request));
        assert!(dialect.can_stream(&request), "it failed without a stream as well");
        assert!(dialect.adjust_to_refusal(&empty, &request));
        dialect.confirm_trial();
        assert!(!dialect.can_stream(&request), "it helped");
    }

    #[test]
    fn refused_fields_are_left_out_or_renamed() {
        let mut dialect = OpenAiDialect::COMPATIBLE;
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        (request.max_output_tokens, request.temperature) = (Some(5), Some(0.2));
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model";
        assert!(
            dialect.adjust_to_refusal(&refusal(400, message), &request)
                && dialect.completion_tokens
        );
        let message = "Unsupported value: 'temperature' does not support 0.2, only the default";
        assert!(
            dialect.adjust_to_refusal(&refusal(400, message), &request) && !dialect.temperature
        );
        assert!(!dialect.adjust_to_refusal(&refusal(400, message), &request), "once is enough");
        assert!(!dialect.adjust_to_refusal(&refusal(401, "temperature unsupported"), &request));
    }
}
