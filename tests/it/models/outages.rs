//! Outages are waited for where the provider is known to work, and said at once where it is not.

use std::time::Duration;

use planwright_llm::AnswerDelta;
use planwright_llm::protocol::{ModelDialogue, ProtocolDemotion};
use planwright_llm::transport::RetryPolicy;
use planwright_llm::{FinishReason, ignore_deltas};
use planwright_model::AgentProfile;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::server::{Act, Server};
use super::wire::{self, Format};
use super::{ask, open, question, with_tool};

const OPENAI: Format = Format::OpenAi;

fn patient() -> RetryPolicy {
    RetryPolicy { retries: 1, longest_wait: Duration::from_millis(4), ..wire::quick().1 }
}

#[tokio::test]
async fn a_provider_that_worked_is_waited_for_longer_than_one_that_never_answered() {
    let failure = || Act::status(500, "oops");
    let mut acts = vec![OPENAI.stream(OPENAI.text(&["one"]))];
    acts.extend((0..4).map(|_| failure()));
    acts.push(OPENAI.stream(OPENAI.text(&["two"])));
    let server = Server::start(acts).await;
    let models = wire::models_with(wire::settings(OPENAI, &server), wire::quick().0, patient());
    let model = models.open_model("mock", None).await.unwrap();
    assert_eq!(ask(model.as_ref(), &question()).await.0.unwrap().text, "one");
    let (answer, deltas) = ask(model.as_ref(), &question()).await;
    assert_eq!(answer.unwrap().text, "two", "four failures, with one retry allowed");
    let waits = deltas.iter().filter(|delta| matches!(delta, AnswerDelta::Retrying { .. })).count();
    assert_eq!(waits, 4, "each is told");

    let server = Server::start(vec![failure()]).await;
    let models = wire::models_with(wire::settings(OPENAI, &server), wire::quick().0, patient());
    let model = models.open_model("mock", None).await.unwrap();
    let error = ask(model.as_ref(), &question()).await.0.unwrap_err();
    assert_eq!(error.code, "server_error");
    assert_eq!(server.requests().len(), 2, "the person hears of it soon");
}

#[tokio::test]
async fn cancelling_ends_the_wait_for_an_overloaded_provider_at_once() {
    let server = Server::start(vec![Act::status(503, "busy").header("retry-after", "600")]).await;
    let models = wire::models_with(wire::settings(OPENAI, &server), wire::quick().0, patient());
    let model = models.open_model("mock", None).await.unwrap();
    let cancel = CancellationToken::new();
    let stop = |delta: AnswerDelta| {
        if matches!(delta, AnswerDelta::Retrying { wait, .. } if wait >= Duration::from_secs(600)) {
            cancel.cancel();
        }
    };
    let error = model.generate(&question(), &stop, &cancel).await.unwrap_err();
    assert!(error.is_cancelled(), "{error:?}");
}

#[tokio::test]
async fn a_probe_has_room_to_think_and_one_that_is_cut_off_proves_nothing() {
    let cut = json!({"model": "m-1", "choices": [{"message": {"role": "assistant", "content": "",
        "reasoning_content": "Let me think."}, "finish_reason": "length"}]});
    let call = OPENAI.stream(OPENAI.call("file_read", &json!({"path": "a"})));
    let server = Server::start(vec![Act::json(&cut), Act::json(&cut), call]).await;
    let dialogue = ModelDialogue::new(open(OPENAI, &server).await);
    let cancel = CancellationToken::new();
    let reply = dialogue.ask_reply(&with_tool(), &ignore_deltas, &cancel).await.unwrap();
    assert_eq!((reply.calls.len(), reply.finish), (1, FinishReason::ToolCalls));
    assert!(server.bodies()[0]["max_tokens"].as_u64().unwrap() >= 2_000);
    assert_eq!(dialogue.cache_entry().capability, None, "nothing was proven");
    assert_eq!(dialogue.profile(), AgentProfile::Small, "nothing was seen of a local model");
}

#[tokio::test]
async fn what_a_probe_shows_decides_on_profile_and_protocol() {
    let call = OPENAI.stream(OPENAI.call("report", &json!({"word": "ready"})));
    let word = OPENAI.stream(OPENAI.text(&["{\"word\": \"ready\"}"]));
    let server = Server::start(vec![call, word.clone()]).await;
    let strong = ModelDialogue::new(open(OPENAI, &server).await);
    let cancel = CancellationToken::new();
    assert_eq!(strong.profile(), AgentProfile::Small, "a local model is small at first");
    let found = strong.detect_capability(&cancel).await.unwrap();
    assert_eq!((found.demotion, strong.profile()), (None, AgentProfile::Large));

    let words = OPENAI.stream(OPENAI.text(&["I am ready."]));
    let server = Server::start(vec![words, word]).await;
    let weak = ModelDialogue::new(open(OPENAI, &server).await);
    let demotion: ProtocolDemotion =
        weak.detect_capability(&cancel).await.unwrap().demotion.unwrap();
    assert_eq!(weak.profile(), AgentProfile::Small);
    assert_eq!(
        demotion.describe("m"),
        "m made no native tool call when it was asked to; JSON answers (protocol json) are used instead"
    );
}
