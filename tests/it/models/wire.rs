//! Well-formed answers in the three wire formats.

use planwright_llm::model_capability_cache::MemoryCapabilityCache;
use planwright_llm::provider::ModelFactory;
use planwright_llm::settings::ModelSettings;
use planwright_llm::settings::ProviderSettings;
use planwright_llm::transport::{ExchangeLimits, RetryPolicy};
use planwright_model::setting::{SettingOrigin, SourcedSetting};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

use super::server::{Act, Piece, Server, send};

/// The key of the tests. It must not appear anywhere but on the wire.
pub const KEY: &str = "k3y-for-tests-only-8d1f";

/// The interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    OpenAi,
    Anthropic,
    Ollama,
}

pub const ALL: [Format; 3] = [Format::OpenAi, Format::Anthropic, Format::Ollama];

impl Format {
    pub fn kind(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    fn event(self, value: &Value) -> Vec<u8> {
        match self {
            Self::OpenAi => format!("data: {value}\n\n"),
            Self::Anthropic => {
                format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
            }
            Self::Ollama => format!("{value}\n"),
        }
        .into_bytes()
    }

    /// The pieces of a streamed text, the end included.
    pub fn text(self, words: &[&str]) -> Vec<Piece> {
        let mut values = Vec::new();
        match self {
            Self::OpenAi => {
                values.push(json!({"model": "m-1", "choices": [{"delta": {"role": "assistant"}}]}));
                for word in words {
                    values.push(
                        json!({"choices": [{"delta": {"content": word}, "finish_reason": null}]}),
                    );
                }
                values.push(json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}));
                values.push(
                    json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}),
                );
            }
            Self::Anthropic => {
                values.push(json!({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 11, "output_tokens": 1}}}));
                values.push(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
                values.push(json!({"type": "ping"}));
                for word in words {
                    values.push(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}));
                }
                values.push(json!({"type": "content_block_stop", "index": 0}));
                values.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}));
                values.push(json!({"type": "message_stop"}));
            }
            Self::Ollama => {
                for word in words {
                    values.push(json!({"model": "m-1", "message": {"role": "assistant", "content": word}, "done": false}));
                }
                values.push(json!({"model": "m-1", "message": {"role": "assistant", "content": ""}, "done": true,
                    "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7}));
            }
        }
        let mut pieces: Vec<Piece> = values.iter().map(|value| send(self.event(value))).collect();
        if self == Self::OpenAi {
            pieces.push(send("data: [DONE]\n\n"));
        }
        pieces
    }

    /// A streamed text that has begun and not ended.
    pub fn begun(self, words: &[&str]) -> Vec<Piece> {
        let mut pieces = self.text(words);
        pieces.truncate(pieces.len() - if self == Self::Ollama { 1 } else { 3 });
        pieces
    }

    /// A streamed call of a tool by its name on the wire.
    pub fn call(self, name: &str, arguments: &Value) -> Vec<Piece> {
        let text = arguments.to_string();
        let (first, second) = text.split_at(text.len() / 2);
        let values = match self {
            Self::OpenAi => vec![
                json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "type": "function",
                    "function": {"name": name, "arguments": first}}]}}]}),
                json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": second}}]}}]}),
                json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
            ],
            Self::Anthropic => vec![
                json!({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 11}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c1", "name": name, "input": {}}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": first}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": second}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
                json!({"type": "message_stop"}),
            ],
            Self::Ollama => vec![
                json!({"message": {"role": "assistant", "content": "",
                    "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}, "done": false}),
                json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}),
            ],
        };
        let mut pieces: Vec<Piece> = values.iter().map(|value| send(self.event(value))).collect();
        if self == Self::OpenAi {
            pieces.push(send("data: [DONE]\n\n"));
        }
        pieces
    }

    /// An answer constrained to a schema: text, except for the provider that returns it in a tool call.
    pub fn structured(self, value: &Value) -> Vec<Piece> {
        match self {
            Self::Anthropic => self.call("give_answer", value),
            _ => self.text(&[&value.to_string()]),
        }
    }

    /// A text in one piece.
    pub fn complete_text(self, text: &str) -> Act {
        Act::json(&match self {
            Self::OpenAi => json!({"model": "m-1",
                "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}}),
            Self::Anthropic => {
                json!({"type": "message", "model": "m-1", "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 7, "cache_read_input_tokens": 4, "output_tokens": 7}})
            }
            Self::Ollama => {
                json!({"model": "m-1", "message": {"role": "assistant", "content": text}, "done": true,
                "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7})
            }
        })
    }

    pub fn stream(self, pieces: Vec<Piece>) -> Act {
        Act::Stream { kind: self.content_type(), pieces }
    }
}

/// Short limits and hardly any waiting, so that tests of limits are quick.
pub fn quick() -> (ExchangeLimits, RetryPolicy) {
    let limits = ExchangeLimits {
        connect: Duration::from_secs(5),
        call: Duration::from_secs(60),
        answer_bytes: 1 << 20,
        line_bytes: 256 << 10,
    };
    let retry = RetryPolicy { first_wait: Duration::from_millis(2), ..RetryPolicy::default() };
    (limits, retry)
}

/// Settings whose provider `mock` is this server.
pub fn settings(format: Format, server: &Server) -> ModelSettings {
    let base_url = match format {
        Format::OpenAi => format!("{}/v1", server.url),
        _ => server.url.clone(),
    };
    let value = ProviderSettings {
        kind: Some(format.kind().to_owned()),
        base_url: Some(base_url),
        model: Some("m".to_owned()),
        api_key_cmd: Some(format!("echo {KEY}")),
        ..ProviderSettings::default()
    };
    let mut settings = ModelSettings::default();
    settings
        .providers
        .insert("mock".to_owned(), SourcedSetting { value, origin: SettingOrigin::BuiltIn });
    settings
}

/// The models of a mock server, with limits.
pub fn models_with(
    settings: ModelSettings,
    limits: ExchangeLimits,
    retry: RetryPolicy,
) -> ModelFactory {
    ModelFactory::new(settings, Arc::new(MemoryCapabilityCache::default()))
        .with_limits(limits, retry)
}

pub fn models(format: Format, server: &Server) -> ModelFactory {
    let (limits, retry) = quick();
    models_with(settings(format, server), limits, retry)
}
