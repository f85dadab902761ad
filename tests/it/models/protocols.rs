//! Checked answers from weak models: every protocol, repairs, retries, and the detected capabilities of a model.

use std::sync::Arc;

use planwright_llm::cost::Ledger;
use planwright_llm::model_capability_cache::{
    FileCapabilityCache, ModelCapabilityCache, model_cache_key,
};
use planwright_llm::offline::{OfflineAnswer, OfflineModel};
use planwright_llm::protocol::{AnswerProtocol, ModelDialogue, ProtocolChoice};
use planwright_llm::provider::ModelFactory;
use planwright_llm::{
    GenerateRequest, JsonSupport, OutputSchema, ToolCall, ToolChoice, ignore_deltas,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::server::{Act, Server};
use super::wire::{self, Format};
use super::{question, with_tool};

const OPENAI: Format = Format::OpenAi;

fn text_act(text: &str) -> Act {
    OPENAI.stream(OPENAI.text(&[text]))
}

async fn dialogue(server: &Server, choice: ProtocolChoice) -> ModelDialogue {
    let model = wire::models(OPENAI, server).open_model("mock", None).await.unwrap();
    ModelDialogue::new(model).with_protocol(choice)
}

async fn first_call(choice: ProtocolChoice, act: Act) -> (ToolCall, Value) {
    let server = Server::start(vec![act]).await;
    let dialogue = dialogue(&server, choice).await;
    let reply =
        dialogue.ask_reply(&with_tool(), &ignore_deltas, &CancellationToken::new()).await.unwrap();
    assert_eq!(Some(reply.protocol), choice.fixed_protocol());
    (reply.calls[0].clone(), server.bodies().remove(0))
}

#[tokio::test]
async fn the_same_call_comes_out_of_every_protocol() {
    let wanted = json!({"path": "a.txt"});
    let (call, body) =
        first_call(ProtocolChoice::Tools, OPENAI.stream(OPENAI.call("file_read", &wanted))).await;
    assert_eq!((call.name.as_str(), &call.arguments), ("file.read", &wanted));
    assert!(body.get("tools").is_some());

    let step =
        json!({"thought": "look", "step": {"tool": "file.read", "input": {"path": "a.txt"}}});
    let (call, body) = first_call(ProtocolChoice::Json, text_act(&step.to_string())).await;
    assert_eq!((call.name.as_str(), &call.arguments), ("file.read", &wanted));
    assert!(body.get("tools").is_none() && body.get("response_format").is_some());

    let text = "Thought: look\nAction: file.read\nInput: {\"path\": \"a.txt\"}";
    let (call, body) = first_call(ProtocolChoice::Text, text_act(text)).await;
    assert_eq!((call.name.as_str(), &call.arguments), ("file.read", &wanted));
    assert!(body.get("tools").is_none() && body.get("response_format").is_none());
    assert!(body["messages"].to_string().contains("Action: <name of the tool>"));
}

#[tokio::test]
async fn a_conversation_with_results_is_converted_to_the_text_protocol() {
    let server = Server::start(vec![text_act("Final: it says hello")]).await;
    let dialogue = dialogue(&server, ProtocolChoice::Text).await;
    let call =
        ToolCall { id: "c".into(), name: "file.read".into(), arguments: json!({"path": "a"}) };
    let mut request = with_tool();
    request.messages.push(planwright_llm::Message::assistant_calls("let me look", [call.clone()]));
    request.messages.push(planwright_llm::Message::tool_result(&call, "hello"));
    let reply =
        dialogue.ask_reply(&request, &ignore_deltas, &CancellationToken::new()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("it says hello", 0));
    let sent = server.bodies()[0]["messages"].clone();
    assert_eq!(sent[3]["content"], "let me look\nAction: file.read\nInput: {\"path\":\"a\"}");
    assert_eq!(sent[4]["content"], "Observation: file.read answered:\nhello");
}

#[tokio::test]
async fn unusable_answers_are_requested_again_with_the_reasons() {
    let bad = OPENAI.stream(OPENAI.call("file_read", &json!({"file": "a.txt"})));
    let good = OPENAI.stream(OPENAI.call("file_read", &json!({"path": "a.txt"})));
    let server = Server::start(vec![bad.clone(), good]).await;
    let dialogue_one = dialogue(&server, ProtocolChoice::Tools).await;
    let cancel = CancellationToken::new();
    let reply = dialogue_one.ask_reply(&with_tool(), &ignore_deltas, &cancel).await.unwrap();
    assert_eq!(reply.calls[0].arguments, json!({"path": "a.txt"}));
    assert!(reply.notes.iter().any(|note| note.code == "asked_again"));
    let again = server.bodies()[1]["messages"].to_string();
    assert!(again.contains("lacks the field `path`"), "{again}");

    let server = Server::start(vec![bad]).await;
    let dialogue_two = dialogue(&server, ProtocolChoice::Tools).await;
    let error = dialogue_two.ask_reply(&with_tool(), &ignore_deltas, &cancel).await.unwrap_err();
    assert_eq!(error.code, "invalid_output");
    assert!(error.raw.unwrap().contains("a.txt"), "the raw text is kept");
    assert_eq!(server.requests().len(), 2, "asked twice, not for ever");
    assert!(error.usage.total() > 0);
}

#[tokio::test]
async fn json_is_repaired_then_asked_again_then_reported() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let mut request = question();
    request.output_schema = Some(OutputSchema::new("n", schema));
    let cancel = CancellationToken::new();
    for (acts, asked, expected) in [
        (vec![text_act("Sure:\n```json\n{'n': '3', 'mood': 1,}\n```")], 1, Ok(json!({"n": 3}))),
        (vec![text_act("I cannot"), text_act("{\"n\": 4}")], 2, Ok(json!({"n": 4}))),
        (vec![text_act("I cannot")], 2, Err("I cannot")),
    ] {
        let server = Server::start(acts).await;
        let dialogue = dialogue(&server, ProtocolChoice::Auto).await;
        let answer = dialogue.ask_json(&request, &ignore_deltas, &cancel).await;
        match expected {
            Ok(value) => assert_eq!(answer.unwrap().value, value),
            Err(raw) => assert_eq!(answer.unwrap_err().raw.as_deref(), Some(raw)),
        }
        assert_eq!(server.requests().len(), asked);
    }
}

#[tokio::test]
async fn model_capabilities_are_detected_once_and_cached() {
    let dir = tempfile::tempdir().unwrap();
    let step = json!({"thought": "x", "step": {"answer": "done"}}).to_string();
    // It writes text instead of calling, follows a schema, and then answers in the protocol that follows from that.
    let server = Server::start(vec![
        text_act("I am ready."),
        text_act("{\"word\": \"ready\"}"),
        text_act(&step),
    ])
    .await;
    let capability_cache: Arc<dyn ModelCapabilityCache> =
        Arc::new(FileCapabilityCache::new(dir.path().join("models.json")));
    for round in 0..2 {
        let (limits, retry) = wire::quick();
        let models =
            ModelFactory::new(wire::settings(OPENAI, &server), Arc::clone(&capability_cache))
                .with_limits(limits, retry);
        let dialogue =
            models.wrap_model(models.open_model("mock", None).await.unwrap(), Ledger::new());
        let reply = dialogue
            .ask_reply(&with_tool(), &ignore_deltas, &CancellationToken::new())
            .await
            .unwrap();
        assert_eq!((reply.protocol, reply.text.as_str()), (AnswerProtocol::Json, "done"));
        assert_eq!(server.requests().len(), 3 + round, "two small calls, once");
        let known = capability_cache
            .load_entry(&model_cache_key(dialogue.model().info()))
            .unwrap()
            .capability
            .unwrap();
        assert_eq!((known.tools, known.json), (false, JsonSupport::Schema));
    }
}

#[tokio::test]
async fn a_model_that_refuses_tools_gets_another_protocol_from_then_on() {
    let format = Format::Ollama;
    let refusal = Act::status(400, "{\"error\": \"registry/m does not support tools\"}");
    let step =
        json!({"thought": "x", "step": {"tool": "file.read", "input": {"path": "a"}}}).to_string();
    let server = super::scripted(format, vec![refusal, format.stream(format.text(&[&step]))]).await;
    let model = super::open(format, &server).await;
    let dialogue = ModelDialogue::new(model);
    let cancel = CancellationToken::new();
    for _ in 0..2 {
        let reply = dialogue.ask_reply(&with_tool(), &ignore_deltas, &cancel).await.unwrap();
        assert_eq!((reply.protocol, reply.calls.len()), (AnswerProtocol::Json, 1));
    }
    assert_eq!(super::asked(format, &server).len(), 3);
}

#[tokio::test]
async fn a_tool_that_must_be_called_is_insisted_on() {
    let server = Server::start(vec![text_act("no thanks")]).await;
    let dialogue = dialogue(&server, ProtocolChoice::Tools).await;
    let mut request = with_tool();
    request.tool_choice = ToolChoice::Required;
    let error =
        dialogue.ask_reply(&request, &ignore_deltas, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, "invalid_output");
}

#[tokio::test]
async fn the_offline_model_speaks_the_same_protocol() {
    let policy = Arc::new(|request: &GenerateRequest| {
        let arguments = json!({"path": request.messages[1].text()});
        let call = ToolCall { id: "c".into(), name: "file.read".into(), arguments };
        Ok(OfflineAnswer { text: "looking".into(), calls: vec![call] })
    });
    let dialogue = ModelDialogue::new(Arc::new(OfflineModel::new("echo", policy)));
    let cancel = CancellationToken::new();
    let reply = dialogue.ask_reply(&with_tool(), &ignore_deltas, &cancel).await.unwrap();
    assert_eq!(reply.calls[0].arguments, json!({"path": "Say hello."}));
    assert_eq!(
        (reply.cost.money, reply.text.as_str()),
        (Some(planwright_model::MicroDollars::ZERO), "looking")
    );
}
