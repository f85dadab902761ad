//! Models that are silent, ask for patience, or cannot do what they are asked for: what it costs, and what is said.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::*;
use planwright_llm::{
    DeltaSink, GenerateRequest, GeneratedAnswer, LanguageModel, ModelError, ModelInfo,
};
use planwright_model::Category;
use planwright_model::event::AgentEvent;

/// A model that answers after a long silence.
#[derive(Debug)]
struct Slow {
    info: ModelInfo,
    silence: Duration,
}

impl LanguageModel for Slow {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn generate<'a>(
        &'a self,
        _: &'a GenerateRequest,
        _: DeltaSink<'a>,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(self.silence).await;
            Ok(says("At last.", None))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_told_apart_from_the_answer_and_ever_more_seldom() {
    let directory = tempfile::tempdir().unwrap();
    let model = std::sync::Arc::new(Slow { info: info("slow"), silence: Duration::from_secs(50) });
    let services = build_services(model, Setup::default().toolbox(directory.path()));
    let told = run_task(&services, task("generic", "Say something")).await;
    assert_eq!(told.end.result, Ok("At last.".to_owned()));
    let waits: Vec<(&str, u64, u64, bool)> = told
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::ModelWaiting { model, elapsed_sec, tokens, writing, .. } => {
                Some((model.as_str(), *elapsed_sec, *tokens, *writing))
            }
            _ => None,
        })
        .collect();
    let wait = |seconds| ("small", seconds, 0, false);
    assert_eq!(waits, [wait(3), wait(6), wait(12), wait(24), wait(48)]);
    let partial = |event: &&AgentEvent| matches!(event, AgentEvent::Partial { .. });
    assert_eq!(told.events.iter().filter(partial).count(), 0, "nothing was said yet");
}

#[tokio::test]
async fn a_model_that_cannot_call_tools_is_asked_a_few_times_and_no_more() {
    let directory = tempfile::tempdir().unwrap();
    // The planner always wants more; the executor always only talks.
    let model = ByRule::new(|request| {
        Ok(match &request.output_schema {
            Some(_) => says(
                &json!({"action": "EXECUTE", "task_type": "code_modify", "goals": ["again"],
                    "reasoning": "try again"})
                .to_string(),
                None,
            ),
            None => says("I would change the file now.", None),
        })
    });
    let services = build_services(model.clone(), Setup::default().toolbox(directory.path()));
    let told = run_task(&services, task("code_modify", "Change a.txt")).await;
    let failure = told.end.result.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.category), ("unusable_answers", Category::Critical));
    let asked = model.requests.lock().unwrap().len();
    assert!(asked <= 10, "{asked} requests");
}

#[tokio::test]
async fn requests_of_a_task_end_at_the_setting() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.txt"), "x\n").unwrap();
    let model = ByRule::new(|_| Ok(says("", Some(("file.read", json!({"path": "a.txt"}))))));
    let mut services = build_services(model.clone(), Setup::default().toolbox(directory.path()));
    services.limits.max_requests = 3;
    let told = run_task(&services, task("generic", "Read for ever")).await;
    let failure = told.end.result.unwrap_err();
    assert_eq!(failure.code, crate::TASK_CAP);
    assert!(failure.message.contains("agent_max_requests_per_task"), "{}", failure.message);
    assert_eq!(model.requests.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_provider_that_asks_for_patience_is_waited_for_up_to_a_point() {
    let directory = tempfile::tempdir().unwrap();
    for (seconds, category, wait) in
        [(120, Category::Transient, Some(120_000)), (3_600, Category::Critical, None)]
    {
        let model = ByRule::new(move |_| {
            let mut error =
                ModelError::new("rule", "rate_limited", Category::Transient, "busy", "wait");
            error.retry_after = Some(Duration::from_secs(seconds));
            Err(Box::new(error))
        });
        let services = build_services(model.clone(), Setup::default().toolbox(directory.path()));
        let failure =
            run_task(&services, task("generic", "Say hello")).await.end.result.unwrap_err();
        assert_eq!((failure.category, failure.retry_after_ms), (category, wait), "{seconds}");
    }
}
