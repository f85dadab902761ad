//! Where servers that implement `OpenAI`'s protocol deviate from it, each case as it was found on a real one.

use planwright_llm::cost::Ledger;
use planwright_llm::{Message, OutputSchema, ToolCall, ignore_deltas};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::server::{Act, Piece, Server, send};
use super::wire::{self, Format};
use super::{ask, question, with_tool};

const OPENAI: Format = Format::OpenAi;

fn chunk(value: &Value) -> Piece {
    send(format!("data: {value}\n\n"))
}

fn schema() -> OutputSchema {
    OutputSchema::new(
        "word",
        json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}),
    )
}

#[tokio::test]
async fn a_server_that_fails_on_json_schema_gets_json_object_with_the_schema() {
    let good = OPENAI.stream(OPENAI.text(&[r#"{"word": "ready"}"#]));
    let server =
        Server::start(vec![Act::status(500, "{\"error\":{\"message\":\"Internal\"}}"), good]).await;
    let models = wire::models(OPENAI, &server);
    let dialogue = models.wrap_model(models.open_model("mock", None).await.unwrap(), Ledger::new());
    let mut request = question();
    request.output_schema = Some(schema());
    for _ in 0..2 {
        let answer =
            dialogue.ask_json(&request, &ignore_deltas, &CancellationToken::new()).await.unwrap();
        assert_eq!(answer.value, json!({"word": "ready"}));
    }
    let formats: Vec<Value> =
        server.bodies().iter().map(|body| body["response_format"].clone()).collect();
    assert_eq!(formats[0]["type"], "json_schema");
    assert_eq!(formats[1], json!({"type": "json_object", "schema": schema().schema}));
    assert_eq!(formats[2], formats[1], "what was learned is not asked again");
}

#[tokio::test]
async fn content_beside_tool_calls_is_never_null() {
    let refuses_null = |body: &Value| body.to_string().contains("\"content\":null");
    let server = Server::start(vec![OPENAI.stream(OPENAI.text(&["ok"]))]).await;
    let model = wire::models(OPENAI, &server).open_model("mock", None).await.unwrap();
    let call =
        ToolCall { id: "c1".into(), name: "file.read".into(), arguments: json!({"path": "a"}) };
    let mut request = with_tool();
    request.messages.extend([
        Message::assistant_calls("", [call.clone()]),
        Message::tool_result(&call, "text"),
    ]);
    ask(model.as_ref(), &request).await.0.unwrap();
    let body = &server.bodies()[0];
    assert!(!refuses_null(body));
    assert_eq!(body["messages"][2]["content"], "");
    assert_eq!(
        body["messages"][3],
        json!({"role": "tool", "tool_call_id": "c1", "content": "text"})
    );
}

#[tokio::test]
async fn a_stream_without_usage_is_estimated() {
    let pieces = vec![
        chunk(&json!({"choices": [{"delta": {"content": "some words of an answer"}}]})),
        chunk(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})),
        send("data: [DONE]\n\n"),
    ];
    let server = Server::start(vec![OPENAI.stream(pieces)]).await;
    let models = wire::models(OPENAI, &server);
    let dialogue = models.wrap_model(models.open_model("mock", None).await.unwrap(), Ledger::new());
    let reply =
        dialogue.ask_reply(&question(), &ignore_deltas, &CancellationToken::new()).await.unwrap();
    assert!(reply.cost.estimated);
    assert!(
        reply.cost.usage.input > Some(3) && reply.cost.usage.output > Some(3),
        "{:?}",
        reply.cost
    );
}

#[tokio::test]
async fn ids_and_names_that_every_chunk_repeats_make_one_call() {
    let part = |arguments: &str| {
        chunk(
            &json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
            "function": {"name": "file_read", "arguments": arguments}}]}}]}),
        )
    };
    let pieces = vec![
        part("{\"pa"),
        part("th\": \"a"),
        part(".txt\"}"),
        chunk(&json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})),
    ];
    let server = Server::start(vec![OPENAI.stream(pieces)]).await;
    let model = wire::models(OPENAI, &server).open_model("mock", None).await.unwrap();
    let calls = ask(model.as_ref(), &with_tool()).await.0.unwrap().tool_calls;
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].name.as_str(), calls[0].arguments.as_str()),
        ("file.read", r#"{"path": "a.txt"}"#)
    );
}

#[tokio::test]
async fn an_empty_body_instead_of_a_stream_leads_to_asking_without_one() {
    let complete = Act::json(
        &json!({"choices": [{"finish_reason": "tool_calls", "message": {"content": null,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "file_read", "arguments": "{\"path\": \"a\"}"}}]}}]}),
    );
    let empty = OPENAI.stream(Vec::new());
    let server = Server::start(vec![empty, complete.clone(), complete]).await;
    let model = wire::models(OPENAI, &server).open_model("mock", None).await.unwrap();
    for _ in 0..2 {
        let generated = ask(model.as_ref(), &with_tool()).await.0.unwrap();
        assert_eq!(generated.tool_calls[0].name, "file.read");
    }
    let streamed: Vec<bool> = server.bodies().iter().map(|body| body["stream"] == true).collect();
    assert_eq!(streamed, [true, false, false], "found out once");
}

#[tokio::test]
async fn a_stream_that_ends_without_a_reason_is_not_an_answer() {
    let half = vec![
        chunk(&json!({"choices": [{"delta": {"content": "half"}}]})),
        send("data: [DONE]\n\n"),
    ];
    let acts = vec![OPENAI.stream(half.clone()), OPENAI.stream(OPENAI.text(&["whole"]))];
    let server = Server::start(acts).await;
    let model = wire::models(OPENAI, &server).open_model("mock", None).await.unwrap();
    assert_eq!(ask(model.as_ref(), &question()).await.0.unwrap().text, "whole");
    let server = Server::start(vec![OPENAI.stream(half)]).await;
    let model = wire::models(OPENAI, &server).open_model("mock", None).await.unwrap();
    assert_eq!(ask(model.as_ref(), &question()).await.0.unwrap_err().code, "truncated_stream");
}

#[tokio::test]
async fn refused_parameters_are_left_out_or_renamed() {
    let refuse =
        |message: &str| Act::status(400, &json!({"error": {"message": message}}).to_string());
    let server = Server::start(vec![
        refuse("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        refuse("Unsupported value: 'temperature' does not support 0.2 with this model."),
        refuse("Unrecognized request argument supplied: stream_options"),
        OPENAI.stream(OPENAI.text(&["ok"])),
    ])
    .await;
    let model = wire::models(OPENAI, &server).open_model("mock", None).await.unwrap();
    let mut request = question();
    (request.max_output_tokens, request.temperature) = (Some(50), Some(0.2));
    assert_eq!(ask(model.as_ref(), &request).await.0.unwrap().text, "ok");
    let last = server.bodies().pop().unwrap();
    assert_eq!(last["max_completion_tokens"], 50);
    assert!(last.get("temperature").is_none() && last.get("stream_options").is_none());
}

#[tokio::test]
async fn a_server_that_ignores_the_stream_parameter_is_understood() {
    for format in wire::ALL {
        let server = super::scripted(format, vec![format.complete_text("all at once")]).await;
        let model = super::open(format, &server).await;
        assert_eq!(
            ask(model.as_ref(), &question()).await.0.unwrap().text,
            "all at once",
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_forced_to_call_is_asked_to() {
    let format = Format::Anthropic;
    let refusal = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "tool_choice: forcing tool use is not supported by this model"}});
    let good = format.stream(format.structured(&json!({"word": "ready"})));
    let server = Server::start(vec![Act::status(400, &refusal.to_string()), good]).await;
    let models = wire::models(format, &server);
    let dialogue = models.wrap_model(models.open_model("mock", None).await.unwrap(), Ledger::new());
    let mut request = question();
    request.output_schema = Some(schema());
    let answer =
        dialogue.ask_json(&request, &ignore_deltas, &CancellationToken::new()).await.unwrap();
    assert_eq!(answer.value, json!({"word": "ready"}));
    let bodies = server.bodies();
    assert_eq!(
        (&bodies[0]["tool_choice"]["type"], &bodies[1]["tool_choice"]["type"]),
        (&json!("tool"), &json!("auto"))
    );
}
