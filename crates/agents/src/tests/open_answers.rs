//! Answers that take long, think, or come from a provider that fails: waited for, kept and never taken for a result.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::*;
use super::open_loop::{calls, done, open, thought};
use planwright_llm::{
    DeltaSink, GenerateRequest, GeneratedAnswer, LanguageModel, MessagePart, MessageRole,
    ModelError, ModelInfo,
};
use planwright_model::Category;
use planwright_model::event::AgentEvent;

/// Answers after a silence of so many seconds.
#[derive(Debug)]
struct Silent {
    seconds: u64,
    inner: Arc<ByRule>,
}

impl LanguageModel for Silent {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(self.seconds)) => {}
                () = cancel.cancelled() => return Err(ModelError::cancelled("rule")),
            }
            self.inner.generate(request, deltas, cancel).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn two_minutes_of_silence_are_shown_and_the_answer_after_them_counts() {
    let directory = tempfile::tempdir().unwrap();
    let inner = ByRule::in_order(vec![says("Hm.", None), done("Thought about it.")]);
    let model = Arc::new(Silent { seconds: 120, inner });
    let services = open_services(model, Setup::default().toolbox(directory.path()));
    let told = run_task(&services, task("generic", "Think")).await;
    assert_eq!(told.end.result, Ok("Thought about it.".to_owned()));
    let waits: Vec<(u32, u64, bool)> = told
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::ModelWaiting { ask, elapsed_sec, writing, .. } => {
                Some((*ask, *elapsed_sec, *writing))
            }
            _ => None,
        })
        .collect();
    let shown: Vec<u64> = waits.iter().filter(|wait| wait.0 == 1).map(|wait| wait.1).collect();
    assert_eq!(shown, [3, 6, 12, 24, 48, 96], "{waits:?}");
    assert!(waits.iter().all(|(.., writing)| !writing), "nothing has come yet: {waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_silence_can_be_ended_at_any_time() {
    let directory = tempfile::tempdir().unwrap();
    let inner = ByRule::in_order(vec![done("Too late.")]);
    let model = Arc::new(Silent { seconds: 120, inner });
    let services = open_services(model, Setup::default().toolbox(directory.path()));
    let cancel = CancellationToken::new();
    let job = crate::AgentJob::new(Arc::new(task("generic", "Think")), 1);
    let attempt = services.run_attempt(&job, &|_| {}, &cancel);
    let (end, ()) = tokio::join!(attempt, async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        cancel.cancel();
    });
    assert_eq!(end.result.unwrap_err().code, "cancelled");
}

#[tokio::test]
async fn a_call_that_takes_longer_than_its_limit_fails_the_attempt_and_keeps_the_conversation() {
    let directory = tempfile::tempdir().unwrap();
    let late = || {
        let message = "rule did not answer within 600 s";
        ModelError::new("rule", "timeout_total", Category::Transient, message, "try again")
    };
    let turn = std::sync::Mutex::new(0);
    let model = ByRule::new(move |_| {
        let mut turn = turn.lock().unwrap();
        *turn += 1;
        match *turn {
            1 => Ok(calls("I look.", &[("file.list", json!({"path": "."}))])),
            _ => Err(Box::new(late())),
        }
    });
    let told = run_task(&open(model, directory.path()), task("generic", "Look")).await;
    let failure = told.end.result.clone().unwrap_err();
    assert_eq!((failure.code.as_str(), failure.category), ("timeout_total", Category::Transient));
    assert!(told.events.iter().any(|event| matches!(event, AgentEvent::ModelFailed { .. })));
    let talk = told.progress().conversation.unwrap();
    assert_eq!(talk.turns(), 1, "what was answered before is kept");
    assert_eq!(talk.finished_calls().count(), 1);
}

#[tokio::test]
async fn what_a_model_thought_goes_back_with_the_results_of_its_calls() {
    let directory = tempfile::tempdir().unwrap();
    let look = GeneratedAnswer {
        reasoning: vec![thought("Look first.")],
        ..calls("I look.", &[("file.list", json!({"path": "."}))])
    };
    let only_thought = GeneratedAnswer { reasoning: vec![thought("Hm.")], ..says("", None) };
    let model = ByRule::in_order(vec![look, only_thought, done("Looked.")]);
    let told = run_task(&open(model.clone(), directory.path()), task("generic", "Look")).await;
    assert_eq!(told.end.result, Ok("Looked.".to_owned()), "a thought alone ends nothing");
    let requests = model.requests.lock().unwrap();
    let turns: Vec<_> = requests[2]
        .messages
        .iter()
        .filter(|message| message.role == MessageRole::Assistant)
        .collect();
    assert_eq!(turns[0].parts[0], MessagePart::Reasoning(thought("Look first.")));
    assert!(matches!(&turns[0].parts[2], MessagePart::Call(call) if call.name == "file.list"));
    let thoughts =
        turns[1].parts.iter().filter(|part| matches!(part, MessagePart::Reasoning(_))).count();
    assert_eq!(thoughts, 0, "without a call nobody wants it back");
}

#[tokio::test]
async fn a_thought_that_repeats_a_secret_is_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let secret = "the-secret-of-this-test-0123456789";
    let look = GeneratedAnswer {
        reasoning: vec![thought(&format!("The key is {secret}."))],
        ..calls("I look.", &[("file.list", json!({"path": "."}))])
    };
    let model = ByRule::in_order(vec![look, done("Looked.")]);
    let told = run_task(&open(model, directory.path()), task("generic", "Look")).await;
    assert_eq!(told.end.result, Ok("Looked.".to_owned()));
    let journal = serde_json::to_string(&told.events).unwrap();
    assert!(!journal.contains(secret), "{journal}");
}

#[tokio::test]
async fn calls_that_can_never_be_run_end_the_attempt_long_before_its_limit() {
    let directory = tempfile::tempdir().unwrap();
    let model = ByRule::new(|_| Ok(calls("Again.", &[("no.such", json!({}))])));
    let told = run_task(&open(model, directory.path()), task("generic", "Do it")).await;
    let failure = told.end.result.clone().unwrap_err();
    assert_eq!((failure.code.as_str(), told.asks()), ("no_progress", 5), "{}", failure.message);
    assert!(failure.message.contains("there is no tool `no.such`"), "{}", failure.message);
}
