//! Which tool does a task: by how well it fits and how it did before, and what happens while one is paused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::fixture::*;
use crate::AgentJob;
use planwright_llm::GenerateRequest;
use planwright_model::event::AgentEvent;
use planwright_model::{Category, ExecutionFailure, ToolResult};
use planwright_tools::affinity::{ToolProfile, ToolProfiles, extract_features, rank_tools};
use planwright_tools::{Tool, ToolEffect};

const CODE: &str = "Find the bug in the code of the parser";

fn job_with(description: &str, kind: &str, profiles: &ToolProfiles) -> AgentJob {
    let mut job = AgentJob::new(Arc::new(task(kind, description)), 1);
    let all: Vec<&ToolProfile> = profiles.iter().collect();
    job.affinity = rank_tools(&extract_features(description, 2026), &all, &BTreeMap::new(), &[]);
    job
}

fn offered_names(request: &GenerateRequest) -> Vec<String> {
    let own = ["task.done", "task.escalate"];
    let names = request.tools.iter().map(|tool| tool.name.clone());
    names.filter(|name| !own.contains(&name.as_str())).collect()
}

/// What the model is offered first, for a job.
async fn first_offer(job: &AgentJob) -> GenerateRequest {
    let directory = tempfile::tempdir().unwrap();
    let model = ByRule::in_order(vec![says("Done.", None)]);
    let services = build_services(model.clone(), Setup::default().toolbox(directory.path()));
    run(&services, job).await;
    let requests = model.requests.lock().unwrap();
    requests[0].clone()
}

#[tokio::test]
async fn tools_are_offered_best_first_with_their_scores_and_the_flag_switches_that_off() {
    let mut job = job_with(CODE, "generic", &ToolProfiles::built_in());
    let request = first_offer(&job).await;
    let names = offered_names(&request);
    let score = |name: &String| {
        job.affinity.iter().find(|one| one.tool == *name).map_or(0.0, |one| one.affinity.score)
    };
    assert!(names.iter().map(score).collect::<Vec<_>>().is_sorted_by(|one, other| one >= other));
    let best = &request.tools[0];
    assert!(best.description.contains(&format!("{:.2}", score(&best.name))), "{best:?}");

    (job.affinity, job.uses_affinity) = (Vec::new(), false);
    let plain = first_offer(&job).await;
    assert!(offered_names(&plain).is_sorted());
    assert!(plain.tools.iter().all(|tool| !tool.description.contains("fit for this task")));
}

#[tokio::test]
async fn a_tool_below_the_threshold_is_left_out_unless_scores_do_not_count() {
    let mut job = job_with(CODE, "generic", &ToolProfiles::built_in());
    for ranked in job.affinity.iter_mut().filter(|one| one.tool == "web.fetch") {
        ranked.affinity.score = 0.29;
    }
    assert!(!offered_names(&first_offer(&job).await).contains(&"web.fetch".to_owned()));
    job.uses_affinity = false;
    assert!(offered_names(&first_offer(&job).await).contains(&"web.fetch".to_owned()));
}

fn failing_search(name: &str) -> Arc<dyn Tool> {
    Fake::tool(name, ToolEffect::Look, |_| {
        let failure = ExecutionFailure::new("http_error", Category::Recoverable, "503");
        ToolResult::failure(&failure)
    })
}

fn working_search(name: &str) -> Arc<dyn Tool> {
    Fake::tool(name, ToolEffect::Look, |_| {
        ToolResult::success(json!({"results": [{"url": "https://a.example", "title": "A"}]}))
    })
}

/// Twenty tasks, one after another, by a model that takes the first search tool it is offered. What each call showed is
/// learned. The share of tasks whose first choice worked, in the first and in the last ten.
async fn first_choices(uses_affinity: bool) -> (f64, f64) {
    const SEARCHES: [&str; 2] = ["internet.research", "web.search"];
    let mut profiles: Vec<ToolProfile> = SEARCHES.map(ToolProfile::new).into();
    let mut worked = Vec::new();
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let registry = tools_with(&[failing_search(SEARCHES[0]), working_search(SEARCHES[1])]);
        let model = ByRule::new(|request| {
            let asked = request.messages.len();
            let first = request.tools.iter().find(|tool| SEARCHES.contains(&tool.name.as_str()));
            Ok(match first {
                Some(tool) if asked <= 2 && !has_result(request) => {
                    says("", Some((tool.name.as_str(), json!({"query": "x"}))))
                }
                _ => says("Done.", None),
            })
        });
        let setup = Setup { registry, ..Setup::default() };
        let services = build_services(model, setup.toolbox(directory.path()));
        let mut job = AgentJob::new(Arc::new(task("generic", "Find out about joins")), 1);
        job.uses_affinity = uses_affinity;
        if uses_affinity {
            let features = extract_features(&job.task.description, 2026);
            let all: Vec<&ToolProfile> = profiles.iter().collect();
            job.affinity = rank_tools(&features, &all, &BTreeMap::new(), &[]);
        }
        let told = run(&services, &job).await;
        let observed = told.events.iter().find_map(|event| match event {
            AgentEvent::Observed { step, .. } => Some(step),
            _ => None,
        });
        let step = observed.expect("a call");
        let ok = step.metadata.ok == Some(true);
        let tool = step.tool_used.clone().unwrap();
        let profile = profiles.iter_mut().find(|one| one.name == tool).unwrap();
        profile.learn_from_call(ok, if ok { 1.0 } else { 0.0 }, 5.0);
        worked.push(ok);
    }
    let share = |half: &[bool]| half.iter().filter(|ok| **ok).count() as f64 / half.len() as f64;
    (share(&worked[..10]), share(&worked[10..]))
}

/// Whether something was called already.
fn has_result(request: &GenerateRequest) -> bool {
    request.messages.iter().any(|message| {
        let text = message.text();
        text.contains("http_error") || text.contains("a.example")
    })
}

#[tokio::test]
async fn the_share_of_first_choices_that_work_rises_with_history_and_not_without_scores() {
    let (first, last) = first_choices(true).await;
    println!("with history: {first:.2} of the first ten, {last:.2} of the last ten");
    assert!(last > first || first > 0.85, "{first} then {last}");
    assert!(last > 0.95, "{last}");
    let (first, last) = first_choices(false).await;
    println!("with enable_tool_affinity = false: {first:.2}, then {last:.2}");
    assert!(first < 0.05 && last < 0.05, "{first} then {last}");
}

#[tokio::test]
async fn after_a_failure_another_tool_of_the_step_is_tried() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("joins.md"), "Joins need keys.\n").unwrap();
    let registry = tools_with(&[failing_search("internet.research")]);
    let setup = Setup { registry, ..Setup::default() };
    let services = offline_services(setup.toolbox(directory.path()));
    let profiles: Vec<ToolProfile> =
        ["internet.research", "grep", "file.read"].map(ToolProfile::new).into();
    let mut job = AgentJob::new(Arc::new(task("research", "Find out about joins")), 1);
    let features = extract_features(&job.task.description, 2026);
    let all: Vec<&ToolProfile> = profiles.iter().collect();
    job.affinity = rank_tools(&features, &all, &BTreeMap::new(), &[]);
    let told = run(&services, &job).await;
    let acted = |event: &AgentEvent| match event {
        AgentEvent::Acted { step, .. } => step.tool_used.clone(),
        _ => None,
    };
    let tools: Vec<String> = told.events.iter().filter_map(acted).collect();
    assert!(tools.starts_with(&["internet.research".to_owned(), "grep".to_owned()]), "{tools:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_waits_for_a_paused_tool_that_nothing_replaces_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let until = tokio::time::Instant::now() + Duration::from_secs(30);
    let person = Person { paused: Some(("grep".to_owned(), until)), ..Person::default() };
    let setup = Setup { person: Arc::new(person), ..Setup::default() };
    let model = ByRule::in_order(vec![
        says("", Some(("grep", json!({"pattern": "x"})))),
        says("Done.", None),
    ]);
    let services = build_services(model, setup.toolbox(directory.path()));
    let told = run_task(&services, task("generic", CODE)).await;
    assert_eq!(told.end.result, Ok("Done.".to_owned()));
    assert!(tokio::time::Instant::now() >= until);
    let words = told.events.iter().filter_map(|event| match event {
        AgentEvent::Thought { step, .. } => Some(step.content.as_str()),
        _ => None,
    });
    let waits = words.filter(|text| text.contains("grep keeps failing; waiting 30 s")).count();
    assert_eq!(waits, 1);
}
