//! A real server, where there is one: `PLANWRIGHT_LIVE_URL=http://127.0.0.1:8181/v1 cargo test --test it live -- --ignored`.

use std::sync::Arc;

use planwright_llm::cost::Ledger;
use planwright_llm::model_capability_cache::MemoryCapabilityCache;
use planwright_llm::protocol::{ModelDialogue, ProtocolChoice};
use planwright_llm::provider::ModelFactory;
use planwright_llm::settings::ModelSettings;
use planwright_llm::{GenerateRequest, Message, OutputSchema, ToolChoice, ignore_deltas};
use planwright_model::setting::{SettingOrigin, SourcedSetting};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{ask, text_of, with_tool};

async fn live() -> (ModelFactory, Arc<dyn planwright_llm::LanguageModel>) {
    let url = std::env::var("PLANWRIGHT_LIVE_URL").expect("PLANWRIGHT_LIVE_URL names the server");
    let settings = ModelSettings {
        provider: SourcedSetting { value: url.clone(), origin: SettingOrigin::BuiltIn },
        ..ModelSettings::default()
    };
    let models = ModelFactory::new(settings, Arc::new(MemoryCapabilityCache::default()));
    let model = models.open_model(&url, None).await.unwrap();
    (models, model)
}

fn short(text: &str) -> GenerateRequest {
    let mut request =
        GenerateRequest::new(vec![Message::system("You are helpful."), Message::user(text)]);
    (request.max_output_tokens, request.temperature, request.seed) =
        (Some(120), Some(0.0), Some(7));
    request
}

#[tokio::test]
#[ignore = "needs a real server"]
async fn a_real_server_answers_in_pieces_and_whole() {
    let (_, model) = live().await;
    for stream in [true, false] {
        let mut request = short("Name three colours.");
        request.stream = stream;
        let (generated, deltas) = ask(model.as_ref(), &request).await;
        let generated = generated.unwrap();
        assert!(!generated.text.trim().is_empty());
        if stream {
            assert_eq!(text_of(&deltas), generated.text);
        } else {
            assert!(generated.usage.input.is_some() && generated.usage.output.is_some());
        }
        println!("stream {stream}: {:?} {:?}", generated.text, generated.usage);
    }
}

#[tokio::test]
#[ignore = "needs a real server"]
async fn a_real_server_answers_in_every_protocol() {
    let (_, model) = live().await;
    let cancel = CancellationToken::new();
    for choice in
        [ProtocolChoice::Tools, ProtocolChoice::Json, ProtocolChoice::Text, ProtocolChoice::Auto]
    {
        for stream in [true, false] {
            let dialogue = ModelDialogue::new(Arc::clone(&model)).with_protocol(choice);
            let mut request = with_tool();
            let spare = short("Read the file a.txt with the tool file.read.");
            (request.messages, request.max_output_tokens) = (spare.messages, Some(200));
            (request.temperature, request.stream) = (Some(0.0), stream);
            if choice != ProtocolChoice::Text && choice != ProtocolChoice::Auto {
                request.tool_choice = ToolChoice::Named("file.read".into());
            }
            let result = dialogue.ask_reply(&request, &ignore_deltas, &cancel).await;
            println!("{choice:?} stream {stream}: {result:?}");
            match result {
                Ok(reply) => {
                    if request.tool_choice != ToolChoice::Auto {
                        assert_eq!(reply.calls[0].name, "file.read");
                        assert!(reply.calls[0].arguments["path"].is_string());
                    }
                }
                // A tiny model may return nothing usable; that must be reported, not hidden.
                Err(error) => assert_eq!(error.code, "invalid_output"),
            }
        }
    }
}

#[tokio::test]
#[ignore = "needs a real server"]
async fn a_real_server_keeps_to_a_schema() {
    let (models, model) = live().await;
    let dialogue = models.wrap_model(model, Ledger::new());
    for stream in [true, false] {
        let mut request = short("Give a task with a title and minutes.");
        request.stream = stream;
        let schema = json!({"type": "object", "properties": {"title": {"type": "string", "maxLength": 60},
            "minutes": {"type": "integer"}}, "required": ["title", "minutes"]});
        request.output_schema = Some(OutputSchema::new("task", schema));
        let answer =
            dialogue.ask_json(&request, &ignore_deltas, &CancellationToken::new()).await.unwrap();
        println!("stream {stream}: {} {:?}", answer.value, answer.cost);
        assert!(answer.value["minutes"].is_number());
    }
}

#[tokio::test]
#[ignore = "needs a real server"]
async fn a_real_server_reports_a_prompt_that_is_too_long_and_is_free_after_cancellation() {
    let (_, model) = live().await;
    let long = short(&"word ".repeat(12_000));
    let error = ask(model.as_ref(), &long).await.0.unwrap_err();
    assert_eq!(error.code, "context_length_exceeded", "{error:?}");
    let cancel = CancellationToken::new();
    let stop = |_| cancel.cancel();
    let mut endless = short("Tell a very long story.");
    endless.max_output_tokens = Some(2_000);
    assert!(model.generate(&endless, &stop, &cancel).await.unwrap_err().is_cancelled());
    assert!(ask(model.as_ref(), &short("Say yes.")).await.0.is_ok());
}
