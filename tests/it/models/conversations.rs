//! Conversations with tools in the formats that keep what a model thought: it goes back with the results, unchanged.

use std::sync::Arc;

use planwright_llm::model_capability_cache::MemoryCapabilityCache;
use planwright_llm::provider::ModelFactory;
use planwright_llm::settings::{ModelSettings, ProviderSettings};
use planwright_llm::{
    AnswerDelta, GenerateRequest, GeneratedAnswer, LanguageModel, Message, ModelApi, ModelEffort,
    ToolCall,
};
use planwright_model::setting::SourcedSetting;
use serde_json::{Value, json};

use super::server::{Act, Piece, Server, send};
use super::wire::KEY;
use super::{ask, with_tool};

/// Opens a model of the table at a mock server.
async fn open(kind: &str, model: &str, server: &Server) -> Arc<dyn LanguageModel> {
    let value = ProviderSettings {
        kind: Some(kind.to_owned()),
        api: (kind == "openai").then_some(ModelApi::Responses),
        base_url: Some(server.url.clone()),
        model: Some(model.to_owned()),
        api_key_cmd: Some(format!("echo {KEY}")),
        ..ProviderSettings::default()
    };
    let mut settings = ModelSettings::default();
    settings.providers.insert("mock".to_owned(), SourcedSetting::built_in(value));
    let models = ModelFactory::new(settings, Arc::new(MemoryCapabilityCache::default()));
    models.open_model("mock", None).await.unwrap()
}

fn stream(events: &[Value]) -> Act {
    let pieces: Vec<Piece> =
        events.iter().map(|event| send(format!("data: {event}\n\n"))).collect();
    Act::Stream { kind: "text/event-stream", pieces }
}

/// The next request of the conversation: what the model said, and what came of its call.
fn next_turn(request: &GenerateRequest, answer: &GeneratedAnswer) -> GenerateRequest {
    let calls: Vec<ToolCall> = answer
        .tool_calls
        .iter()
        .map(|raw| ToolCall {
            id: raw.id.clone(),
            name: raw.name.clone(),
            arguments: serde_json::from_str(&raw.arguments).unwrap(),
        })
        .collect();
    let mut next = request.clone();
    let results: Vec<Message> =
        calls.iter().map(|call| Message::tool_result(call, "hello")).collect();
    next.messages.push(Message::assistant_turn(&answer.text, answer.reasoning.clone(), calls));
    next.messages.extend(results);
    next
}

fn thinking_request() -> GenerateRequest {
    let mut request = with_tool();
    request.cacheable_prefix = 1;
    (request.max_output_tokens, request.thinking_tokens) = (Some(1_000), Some(4_096));
    request.effort = Some(ModelEffort::High);
    request
}

fn thoughts(deltas: &[AnswerDelta]) -> String {
    let pieces = deltas.iter().filter_map(|delta| match delta {
        AnswerDelta::Thinking { text } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

#[tokio::test]
async fn openai_reasoning_items_go_back_encrypted_with_the_results() {
    let item = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "opaque",
        "summary": [{"type": "summary_text", "text": "Look."}]});
    let call = json!({"type": "function_call", "id": "fc", "call_id": "c1", "name": "file_read",
        "arguments": "{\"path\":\"a\"}"});
    let usage = json!({"input_tokens": 11, "output_tokens": 7,
        "input_tokens_details": {"cached_tokens": 4}});
    let first = stream(&[
        json!({"type": "response.created", "response": {"status": "in_progress", "model": "m-1"}}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Look."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": call}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
        json!({"type": "response.completed",
            "response": {"status": "completed", "model": "m-1", "usage": usage}}),
    ]);
    let last =
        Act::json(&json!({"status": "completed", "model": "m-1", "usage": usage, "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "It says hello."}]}]}));
    let server = Server::start(vec![first, last]).await;
    let model = open("openai", "gpt-6.1-sol", &server).await;
    let request = thinking_request();
    let (answer, deltas) = ask(model.as_ref(), &request).await;
    let answer = answer.unwrap();
    assert_eq!(thoughts(&deltas), "Look.");
    assert_eq!((answer.usage.input, answer.usage.cached), (Some(11), Some(4)));
    let done = ask(model.as_ref(), &next_turn(&request, &answer)).await.0.unwrap();
    assert_eq!(done.text, "It says hello.");
    let bodies = server.bodies();
    assert_eq!(bodies[0]["reasoning"], json!({"effort": "high", "summary": "auto"}));
    assert_eq!(bodies[0]["max_output_tokens"], 5_096, "thinking has its own room");
    let input = bodies[1]["input"].as_array().unwrap();
    assert_eq!(
        input[2..],
        [
            item,
            json!({"type": "function_call", "call_id": "c1", "name": "file_read",
            "arguments": "{\"path\":\"a\"}"}),
            json!({"type": "function_call_output", "call_id": "c1", "output": "hello"}),
        ]
    );
    let head = &server.requests()[0].head;
    assert!(head.starts_with("POST /responses") && head.contains(KEY), "{head}");
}

#[tokio::test]
async fn anthropic_thinking_goes_back_signed_and_both_ends_are_cached() {
    let first = stream(&[
        json!({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 11}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Look."}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig=="}}),
        json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "tool_use", "id": "c1", "name": "file_read", "input": {"path": "a"}}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]);
    let server = Server::start(vec![first]).await;
    let model = open("anthropic", "claude-opus-5-5", &server).await;
    let request = thinking_request();
    let (answer, deltas) = ask(model.as_ref(), &request).await;
    assert_eq!(thoughts(&deltas), "Look.");
    let answer = answer.unwrap();
    ask(model.as_ref(), &next_turn(&request, &answer)).await.0.unwrap();
    let bodies = server.bodies();
    assert_eq!(bodies[0]["thinking"]["type"], "adaptive");
    assert_eq!(bodies[0]["output_config"]["effort"], "high");
    let messages = &bodies[1]["messages"];
    assert_eq!(
        messages[1]["content"],
        json!([
            {"type": "thinking", "thinking": "Look.", "signature": "sig=="},
            {"type": "tool_use", "id": "c1", "name": "file_read", "input": {"path": "a"}},
        ])
    );
    let cached = json!({"type": "ephemeral"});
    assert_eq!(bodies[1]["system"][0]["cache_control"], cached);
    assert_eq!(messages[2]["content"][0]["cache_control"], cached);
}

#[tokio::test]
async fn gemini_signatures_go_back_on_the_call_they_belong_to() {
    let first = stream(&[
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Look.", "thought": true}]}}]}),
        json!({"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": "file_read", "args": {"path": "a"}, "id": "c1"}, "thoughtSignature": "sig"}]},
            "finishReason": "STOP"}], "modelVersion": "m-1",
            "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 3, "thoughtsTokenCount": 4}}),
    ]);
    let server = Server::start(vec![first]).await;
    let model = open("gemini", "gemini-3.8-flash", &server).await;
    let request = thinking_request();
    let (answer, deltas) = ask(model.as_ref(), &request).await;
    assert_eq!(thoughts(&deltas), "Look.");
    let answer = answer.unwrap();
    assert_eq!(answer.usage.output, Some(7), "thoughts are paid for");
    ask(model.as_ref(), &next_turn(&request, &answer)).await.0.unwrap();
    let contents = server.bodies()[1]["contents"].clone();
    assert_eq!(
        contents[1]["parts"],
        json!([{"functionCall": {"id": "c1", "name": "file_read", "args": {"path": "a"}},
            "thoughtSignature": "sig"}])
    );
    assert_eq!(
        contents[2]["parts"][0]["functionResponse"],
        json!({"id": "c1", "name": "file_read", "response": {"result": "hello"}})
    );
    let head = &server.requests()[0].head;
    let path = "POST /v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse";
    assert!(head.starts_with(path) && head.to_lowercase().contains("x-goog-api-key"), "{head}");
}

#[tokio::test]
async fn what_a_provider_refuses_is_left_out_the_next_time() {
    let refusal = |text: &str| Act::status(400, &json!({"error": {"message": text}}).to_string());
    let text =
        json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]});
    let server =
        Server::start(vec![refusal("thinking_level is not supported"), Act::json(&text)]).await;
    let model = open("gemini", "gemini-3.8-flash", &server).await;
    assert_eq!(ask(model.as_ref(), &thinking_request()).await.0.unwrap().text, "ok");
    let config = server.bodies()[1]["generationConfig"]["thinkingConfig"].clone();
    assert_eq!(config, json!({"includeThoughts": true}));

    let text = json!({"status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]});
    let verify = "Your organization must be verified to generate reasoning summaries.";
    let server = Server::start(vec![refusal(verify), Act::json(&text)]).await;
    let model = open("openai", "gpt-5", &server).await;
    assert_eq!(ask(model.as_ref(), &thinking_request()).await.0.unwrap().text, "ok");
    assert_eq!(server.bodies()[1]["reasoning"], json!({"effort": "high"}));
}
