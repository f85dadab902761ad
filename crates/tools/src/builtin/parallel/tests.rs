use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::batches::{accept_edges, dependency_batches, parse_dependencies};
use crate::context::{HeldPermit, PermitPool, ToolContext};
use crate::fixture::Fixture;
use crate::subtasks::{EdgeInference, InferredEdge, SubtaskRequest, SubtaskRunner};
use crate::text_limit;
use planwright_model::permission::{PermissionRule, RuleMatcher};
use planwright_model::{Category, ToolResult};

/// Answers after a delay, counts how many run at once, and follows the instructions in the description.
#[derive(Default)]
struct Fake {
    runs: AtomicUsize,
    busy: AtomicUsize,
    most: AtomicUsize,
}

impl SubtaskRunner for Fake {
    fn run_subtask<'a>(
        &'a self,
        request: &'a SubtaskRequest,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            self.runs.fetch_add(1, Ordering::SeqCst);
            let busy = 1 + self.busy.fetch_add(1, Ordering::SeqCst);
            self.most.fetch_max(busy, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.busy.fetch_sub(1, Ordering::SeqCst);
            match request.description.split_whitespace().next() {
                Some("fail") => ToolResult::error("made_up", Category::Recoverable, "as asked"),
                Some("long") => ToolResult::success(json!({ "answer": "é".repeat(4000) })),
                Some("nest") => {
                    let args = json!({ "questions": ["inner"] });
                    context.call_nested("explore_context", args).await.result
                }
                Some("write") => {
                    let args = json!({ "path": "x", "content": "y" });
                    context.call_nested("file.write", args).await.result
                }
                Some("recurse") => {
                    let args = json!({ "tasks": [{ "description": "inner" }] });
                    context.call_nested("parallel_execute", args).await.result
                }
                _ => {
                    let got = request.inputs.join("+");
                    ToolResult::success(
                        json!({ "answer": format!("did {} with [{got}]", request.description) }),
                    )
                }
            }
        })
    }

    fn model_name(&self) -> &'static str {
        "fake-1"
    }
}

fn fixture(jobs: usize) -> (Fixture, Arc<Fake>) {
    let fake = Arc::new(Fake::default());
    let fixture = Fixture::with(|parts| {
        parts.services.subtasks = Some(Arc::clone(&fake) as Arc<dyn SubtaskRunner>);
        parts.permits = PermitPool::new(jobs);
    });
    (fixture, fake)
}

fn texts(result: &ToolResult) -> Vec<String> {
    let results = result.data["results"].as_array().unwrap();
    results.iter().map(|outcome| outcome["text"].as_str().unwrap().to_owned()).collect()
}

fn tasks(descriptions: &[&str]) -> Value {
    descriptions.iter().map(|text| json!({ "description": text })).collect()
}

#[tokio::test]
async fn questions_are_answered_in_their_order_under_the_shared_permits() {
    let (fixture, fake) = fixture(2);
    let questions = ["a", "b", "c", "d", "e"];
    let result = fixture.call("explore_context", json!({ "questions": questions })).await.result;
    let expected: Vec<String> =
        questions.iter().map(|name| format!("did {name} with []")).collect();
    assert_eq!(texts(&result), expected);
    assert_eq!(fake.most.load(Ordering::SeqCst), 2);
    assert_eq!(fixture.toolbox.permits().available(), 2);
    let log = fixture.script.log();
    for state in ["waiting", "started", "finished"] {
        assert!(log.contains(&format!("child t.1.3 {state}")), "{state}: {log:?}");
    }
}

#[tokio::test]
async fn the_number_of_questions_and_tasks_is_limited() {
    let (fixture, _) = fixture(3);
    let many: Vec<String> = (0..9).map(|n| format!("q{n}")).collect();
    assert_eq!(fixture.code("explore_context", json!({ "questions": many })).await, "bad_args");
    assert_eq!(fixture.code("explore_context", json!({ "questions": [] })).await, "bad_args");
    let many: Vec<Value> = (0..33).map(|n| json!({ "description": format!("t{n}") })).collect();
    assert_eq!(fixture.code("parallel_execute", json!({ "tasks": many })).await, "bad_args");
    assert_eq!(
        fixture
            .code("explore_context", json!({ "questions": ["a"], "tools": ["file.write"] }))
            .await,
        "not_allowed_here"
    );
}

#[tokio::test]
async fn each_result_is_truncated_to_1500_characters_with_the_mark() {
    let (fixture, _) = fixture(3);
    let result = fixture.call("explore_context", json!({ "questions": ["long one"] })).await.result;
    let text = &texts(&result)[0];
    assert_eq!(text.chars().count(), 1500);
    assert!(text.ends_with(text_limit::TRUNCATION_MARK));
}

#[tokio::test]
async fn a_question_is_asked_once_while_nothing_changes() {
    let (fixture, fake) = fixture(3);
    let same = json!({ "questions": ["one", "one", "one"] });
    let first = fixture.call("explore_context", same).await.result;
    assert_eq!(fake.runs.load(Ordering::SeqCst), 1, "identical questions in flight share one run");
    let hits = first.data["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|outcome| outcome["cache_hit"] == true);
    assert_eq!(hits.count(), 2);
    fixture.call("explore_context", json!({ "questions": ["one"] })).await;
    assert_eq!(fake.runs.load(Ordering::SeqCst), 1);
    fixture.file("new.txt", "the workspace is another one now");
    fixture.call("explore_context", json!({ "questions": ["one"] })).await;
    assert_eq!(fake.runs.load(Ordering::SeqCst), 2);
    fixture.call("explore_context", json!({ "questions": ["fail", "two"] })).await;
    fixture.call("explore_context", json!({ "questions": ["fail", "two"] })).await;
    assert_eq!(fake.runs.load(Ordering::SeqCst), 5, "a failure is tried again, an answer is not");
}

#[tokio::test]
async fn tasks_run_in_batches_and_pass_their_results_on() {
    let (fixture, fake) = fixture(3);
    let args =
        json!({ "tasks": tasks(&["read", "model", "generate"]), "dependencies": { "2": [0, 1] } });
    let result = fixture.call("parallel_execute", args).await.result;
    assert_eq!(texts(&result)[2], "did generate with [did read with []+did model with []]");
    assert_eq!(result.data["batches"], json!([[0, 1], [2]]));
    assert_eq!(fake.most.load(Ordering::SeqCst), 2);
}

/// A model that is sure of one edge, not of another, or that cannot be reached.
struct Edges(Option<Vec<InferredEdge>>);

impl EdgeInference for Edges {
    fn infer_edges<'a>(
        &'a self,
        _: &'a [String],
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Option<Vec<InferredEdge>>> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

#[tokio::test]
async fn a_model_infers_edges_once_and_stated_edges_are_never_changed() {
    let infer_with = |edges: Option<Vec<InferredEdge>>| {
        Fixture::with(|parts| {
            parts.services.subtasks = Some(Arc::new(Fake::default()));
            parts.services.edges = Some(Arc::new(Edges(edges)));
        })
    };
    let request = json!({ "tasks": tasks(&["count the words", "paint the fence", "sleep"]) });
    let sure = infer_with(Some(vec![(1, 0, 0.9), (2, 0, 0.5)]));
    let result = sure.call("parallel_execute", request.clone()).await.result;
    assert_eq!(result.data["batches"], json!([[1, 2], [0]]));
    assert_eq!(result.data["inferred_dependencies"][0]["origin"], "inferred");
    let silent = infer_with(None).call("parallel_execute", request).await.result;
    assert_eq!(silent.data["batches"], json!([[0, 1, 2]]), "the words alone say nothing here");
    let stated = json!({ "tasks": tasks(&["count", "paint"]), "dependencies": { "1": [0] } });
    let kept = infer_with(Some(vec![(1, 0, 1.0)])).call("parallel_execute", stated).await.result;
    assert_eq!(kept.data["batches"], json!([[0], [1]]));
    assert!(kept.data.get("inferred_dependencies").is_none());
}

#[tokio::test]
async fn dependents_of_a_failure_are_skipped_unless_configured_otherwise() {
    let (fixture, _) = fixture(3);
    let args = json!({ "tasks": tasks(&["fail", "after", "other"]), "dependencies": { "1": [0] } });
    let result = fixture.call("parallel_execute", args.clone()).await.result;
    let outcomes = result.data["results"].as_array().unwrap();
    assert_eq!(
        (&outcomes[0]["ok"], &outcomes[1]["skipped"], &outcomes[2]["ok"]),
        (&json!(false), &json!(true), &json!(true))
    );
    assert!(texts(&result)[0].contains("failed (made_up)"));
    let mut on = args;
    on["continue_on_error"] = json!(true);
    assert!(texts(&fixture.call("parallel_execute", on).await.result)[1].starts_with("did after"));
}

#[tokio::test]
async fn cycles_and_invalid_positions_are_found_before_anything_starts() {
    let (fixture, fake) = fixture(3);
    let run = |dependencies: Value| {
        fixture.call(
            "parallel_execute",
            json!({ "tasks": tasks(&["a", "b", "c"]), "dependencies": dependencies }),
        )
    };
    let cycle = run(json!({ "0": [2], "1": [0], "2": [1] })).await.result.to_failure().unwrap();
    assert_eq!(
        (cycle.code.as_str(), cycle.message.contains("0 -> 2 -> 1 -> 0")),
        ("cycle", true),
        "{}",
        cycle.message
    );
    assert_eq!(run(json!({ "0": [0] })).await.result.to_failure().unwrap().code, "cycle");
    assert_eq!(run(json!({ "7": [0] })).await.result.to_failure().unwrap().code, "bad_args");
    assert_eq!(run(json!({ "0": [7] })).await.result.to_failure().unwrap().code, "bad_args");
    assert_eq!(run(json!({ "x": [0] })).await.result.to_failure().unwrap().code, "bad_args");
    assert_eq!(fake.runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn one_level_of_nesting_and_no_more() {
    let (fixture, _) = fixture(1);
    let result =
        fixture.call("parallel_execute", json!({ "tasks": tasks(&["nest"]) })).await.result;
    assert!(texts(&result)[0].contains("did inner"), "a parent lends its permit to nested work");
    let refused =
        fixture.call("parallel_execute", json!({ "tasks": tasks(&["recurse"]) })).await.result;
    assert_eq!(refused.to_failure().unwrap().code, "all_subtasks_failed");
    for question in ["nest", "recurse", "write"] {
        let refused =
            fixture.call("explore_context", json!({ "questions": [question] })).await.result;
        assert!(
            texts(&refused)[0].contains("not_allowed_here"),
            "{question}: {:?}",
            texts(&refused)
        );
    }
    assert!(!fixture.root().join("x").exists());
}

#[tokio::test]
async fn the_callers_permit_is_released_while_it_waits() {
    let (fixture, _) = fixture(1);
    let mut call = fixture.a_call("explore_context", json!({ "questions": ["a", "b"] }));
    call.held = HeldPermit::new(fixture.toolbox.permits().acquire().await);
    let held = call.held.clone();
    assert!(fixture.toolbox.invoke(call).await.result.ok);
    assert_eq!(fixture.toolbox.permits().available(), 0, "it has its permit again");
    drop(held);
    assert_eq!(fixture.toolbox.permits().available(), 1);
}

#[tokio::test]
async fn each_call_of_a_subtask_is_decided_separately() {
    let (fixture, _) = fixture(3);
    let refused =
        fixture.call("parallel_execute", json!({ "tasks": tasks(&["write"]) })).await.result;
    assert!(texts(&refused)[0].contains("needs_person"));
    fixture.allow([PermissionRule::allow("file.write", RuleMatcher::Any)]);
    assert!(
        fixture.call("parallel_execute", json!({ "tasks": tasks(&["write"]) })).await.result.ok
    );
    assert_eq!(fixture.text("x"), "y");
}

#[tokio::test]
async fn a_task_may_be_a_single_call() {
    let fixture = Fixture::new();
    fixture.file("a.txt", "hello");
    let task = json!({ "description": "read it", "call": { "tool": "file.read", "args": { "path": "a.txt" } } });
    let result = fixture.call("parallel_execute", json!({ "tasks": [task] })).await.result;
    assert_eq!(texts(&result), ["hello"]);
    let nested = json!({ "description": "x", "call": { "tool": "parallel_execute", "args": {} } });
    assert_eq!(
        fixture.code("parallel_execute", json!({ "tasks": [nested] })).await,
        "not_allowed_here"
    );
}

#[tokio::test]
async fn without_a_model_questions_are_answered_from_the_workspace_with_cited_lines() {
    let fixture = Fixture::new();
    fixture.file("src/breaker.rs", "//! The circuit breaker.\nconst COOLDOWN_SECONDS: u64 = 30;\n");
    fixture.file("src/other.rs", "fn unrelated() {}\n");
    let questions = ["What is the cooldown of the circuit breaker?", "Is there a frobnicator?"];
    let result = fixture.call("explore_context", json!({ "questions": questions })).await.result;
    let found = texts(&result);
    assert!(
        found[0].contains("src/breaker.rs:2: const COOLDOWN_SECONDS: u64 = 30;"),
        "{}",
        found[0]
    );
    assert!(found[1].starts_with("Nothing in the workspace mentions"), "{}", found[1]);
}

#[test]
fn edges_of_a_model_are_kept_with_enough_confidence_and_without_cycles() {
    let edges = vec![(0, 1, 0.9), (1, 0, 0.8), (1, 2, 0.5), (5, 0, 0.9), (2, 2, 0.9), (0, 2, 0.6)];
    let kept: Vec<(usize, usize)> =
        accept_edges(3, edges).into_iter().map(|(from, to, _)| (from, to)).collect();
    assert_eq!(kept, [(0, 1), (0, 2)]);
}

mod properties {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn batches_respect_every_edge_or_there_is_a_cycle(
            count in 1usize..12,
            edges in prop::collection::vec((0usize..12, 0usize..12), 0..20),
        ) {
            let mut dependencies: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (task, on) in edges.into_iter().filter(|(task, on)| *task < count && *on < count) {
                dependencies.entry(task.to_string()).or_default().push(on);
            }
            if let Ok(needs) = parse_dependencies(count, &dependencies) {
                let order = dependency_batches(&needs).unwrap();
                let batch_of = |task: usize| order.iter().position(|batch| batch.contains(&task)).unwrap();
                prop_assert_eq!(order.iter().map(Vec::len).sum::<usize>(), count);
                for (task, on) in needs.iter().enumerate() {
                    for other in on {
                        prop_assert!(batch_of(*other) < batch_of(task));
                    }
                }
            }
        }
    }
}
