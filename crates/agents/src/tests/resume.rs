//! Interrupted after any event, a task goes on to the same end by the same calls.

use std::sync::Arc;

use serde_json::{Value, json};

use super::fixture::*;
use crate::{AgentJob, AgentServices};
use planwright_llm::{GenerateRequest, GeneratedAnswer};
use planwright_model::ToolResult;
use planwright_model::event::AgentEvent;
use planwright_tools::ToolEffect;

/// Follows the pattern by what the state says comes next, as any sensible model would.
fn sensible(request: &GenerateRequest) -> GeneratedAnswer {
    let text = request.messages[1].text();
    let state = text.split("```state\n").nth(1).and_then(|rest| rest.lines().next());
    let state: Value = serde_json::from_str(state.unwrap_or("{}")).unwrap();
    let looked = text.contains("call 2 grep");
    match state.pointer("/next/step").and_then(Value::as_str) {
        Some("read") => says("first", Some(("file.read", json!({"path": "a"})))),
        Some("understand") if !looked => says("look", Some(("grep", json!({"pattern": "x"})))),
        Some("understand" | "edit") => {
            says("change", Some(("file.edit", json!({"n": state["calls_left"]}))))
        }
        Some("verify") => says("test", Some(("test.run", json!({"n": state["calls_left"]})))),
        _ => says("All is well.", None),
    }
}

fn agents(directory: &std::path::Path) -> AgentServices {
    let ok = |_: &Value| ToolResult::success(json!({"done": true}));
    let others = vec![
        Fake::tool("file.read", ToolEffect::Look, |_| {
            ToolResult::success(json!({"text": "hello"}))
        }),
        Fake::tool("grep", ToolEffect::Look, ok),
        Fake::tool("file.edit", ToolEffect::Write, ok),
        // Red the first time: three calls are left then.
        Fake::tool("test.run", ToolEffect::Execute, |args| {
            if args["n"] == 3 {
                return ToolResult::failure_with_data(
                    &planwright_model::ExecutionFailure::new(
                        "tests_failed",
                        planwright_model::Category::Recoverable,
                        "red",
                    ),
                    json!({"tail": "want 5"}),
                );
            }
            ToolResult::success(json!({"passed": true}))
        }),
    ];
    let setup = Setup { registry: tools_with(&others), ..Setup::default() };
    build_services(ByRule::new(|request| Ok(sensible(request))), setup.toolbox(directory))
}

/// What matters of an end: the ledger and the calls.
fn essence(events: &[AgentEvent]) -> (Value, Vec<Value>, Option<String>) {
    let progress = folded(events);
    let steps = progress
        .steps
        .iter()
        .map(|step| json!([step.number, step.tool, step.input, step.ok]))
        .collect();
    (json!(progress.work), steps, progress.answer)
}

#[tokio::test]
async fn a_task_goes_on_from_any_event_to_the_same_end() {
    let directory = tempfile::tempdir().unwrap();
    let whole = run_task(&agents(directory.path()), task("code_modify", "Change it")).await;
    assert_eq!(whole.end.result, Ok("All is well.".to_owned()), "{:?}", whole.tools());
    let calls = ["file.read", "grep", "file.edit", "test.run", "file.edit", "test.run"];
    assert_eq!(whole.tools(), calls);
    let expected = essence(&whole.events);
    let over = whole.events.len() - 1;
    for cut in 1..over {
        let mut events = whole.events[..cut].to_vec();
        let mut job = AgentJob::new(Arc::new(task("code_modify", "Change it")), 1);
        job.past = Some(folded(&events));
        let rest = run(&agents(directory.path()), &job).await;
        assert_eq!(rest.end.result, whole.end.result, "cut after event {cut}");
        events.extend(rest.events);
        assert_eq!(
            essence(&events),
            expected,
            "cut after event {cut}: {:?}",
            whole.events[cut - 1]
        );
    }
}

#[tokio::test]
async fn what_the_model_said_is_not_asked_for_again() {
    let directory = tempfile::tempdir().unwrap();
    let whole = run_task(&agents(directory.path()), task("code_modify", "Change it")).await;
    let answered = |event: &AgentEvent| matches!(event, AgentEvent::ModelAnswered { .. });
    let mut asked_in_all = Vec::new();
    for cut in 1..whole.events.len() - 1 {
        let before = whole.events[..cut].iter().filter(|event| answered(event)).count();
        let mut job = AgentJob::new(Arc::new(task("code_modify", "Change it")), 1);
        job.past = Some(folded(&whole.events[..cut]));
        let rest = run(&agents(directory.path()), &job).await;
        asked_in_all.push(before + rest.events.iter().filter(|event| answered(event)).count());
    }
    let once = whole.events.iter().filter(|event| answered(event)).count();
    assert!(asked_in_all.iter().all(|count| *count == once), "{once}: {asked_in_all:?}");
}

#[tokio::test]
async fn a_new_attempt_begins_anew_and_a_resumed_one_keeps_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let services = agents(directory.path());
    let whole = run_task(&services, task("code_modify", "Change it")).await;
    let half = folded(&whole.events[..whole.events.len() / 2]);
    let place = half.task_state().unwrap().completed_steps.clone();
    assert!(!place.is_empty());
    let mut job = AgentJob::new(Arc::new(task("code_modify", "Change it")), 2);
    job.past = Some(half.clone());
    let resumed = run(&services, &job).await;
    assert_eq!(resumed.decisions("TASK_BEGUN")[0]["resumed"], true);
    let mut progress = half;
    for event in &resumed.events {
        assert!(progress.apply(event));
    }
    assert_eq!(progress.attempt, 2);
    assert!(progress.steps.len() > place.len(), "what was done before is kept");
    let again = run(&services, &AgentJob::new(Arc::new(task("code_modify", "Change it")), 3)).await;
    for event in &again.events {
        progress.apply(event);
    }
    assert_eq!((progress.attempt, progress.steps.len()), (3, 6));
}
