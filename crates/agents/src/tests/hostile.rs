//! Models that say anything at all.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::fixture::*;
use crate::{AgentAssets, PromptLibrary, ReasoningMode};
use planwright_llm::{GeneratedAnswer, RawToolCall};
use planwright_model::ToolResult;
use planwright_tools::{ToolEffect, ToolRegistry};

const TOOLS: [&str; 9] = [
    "internet.research",
    "web.search",
    "skill.generator",
    "file.read",
    "file.edit",
    "file.write",
    "test.run",
    "grep",
    "memory.save",
];

fn registry() -> ToolRegistry {
    let mut registry = ToolRegistry::default();
    for name in TOOLS {
        let effect = match name {
            "internet.research" | "web.search" | "file.read" | "grep" => ToolEffect::Look,
            _ => ToolEffect::SessionState,
        };
        let tool = Fake::tool(name, effect, move |args| {
            // Some calls fail, by their arguments alone.
            if args.to_string().len() % 3 == 0 {
                return ToolResult::error(
                    "bad_args",
                    planwright_model::Category::Recoverable,
                    "no",
                );
            }
            ToolResult::success(json!({"text": format!("{name} says hello"), "name": "x"}))
        });
        registry.register(tool).unwrap();
    }
    registry
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(TOOLS.to_vec()).prop_map(str::to_owned),
        1 => Just("task.done".to_owned()),
        1 => Just("task.escalate".to_owned()),
        1 => "[a-z.]{1,12}",
        1 => Just("rm.everything".to_owned()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let decision = (
        name(),
        "[a-z]{0,8}",
        prop::sample::select(vec!["CALL_TOOL", "DONE", "ESCALATE", "DANCE"]),
    )
        .prop_map(|(tool, step, action)| {
            json!({"_type": "EXECUTOR_DECISION", "action": action, "step": step,
                "tool": {"name": tool, "args": {}}, "reasoning": step})
            .to_string()
        });
    let planner = (
        prop::sample::select(vec!["EXECUTE", "COMPLETE"]),
        prop::sample::select(vec!["research", "skill_build", "generic", "code_modify", "odd"]),
    )
        .prop_map(|(action, kind)| {
            json!({"action": action, "task_type": kind, "goals": ["x"], "reasoning": "r",
                "answer": "a", "criteria": [], "met": true, "why": "w"})
            .to_string()
        });
    prop_oneof![
        2 => "\\PC{0,60}",
        1 => "(?s).{0,60}",
        2 => decision,
        4 => planner,
        1 => Just("Action: grep\nInput: {\"pattern\": ".to_owned()),
        1 => Just(String::new()),
    ]
}

fn answer() -> impl Strategy<Value = GeneratedAnswer> {
    let args = prop_oneof![
        4 => "[a-z]{0,6}".prop_map(|word| json!({ "query": word }).to_string()),
        1 => "\\PC{0,20}",
        1 => Just("{\"a\": [".to_owned()),
        1 => Just("null".to_owned()),
    ];
    let calls = prop::collection::vec((name(), args), 0..3);
    (text(), calls).prop_map(|(text, calls)| {
        let mut answer = says(&text, None);
        answer.tool_calls = calls
            .into_iter()
            .map(|(name, arguments)| RawToolCall { id: "c".into(), name, arguments })
            .collect();
        answer
    })
}

/// Ten thousand answers: no panic, no unknown tool, no more iterations than allowed, never five searches without
/// something being made of them.
#[test]
fn ten_thousand_arbitrary_answers_are_survived() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = TestRunner::deterministic();
    let strategy = answer();
    let mut used = 0;
    let kinds = ["skill_build", "code_modify", "code_create", "research", "generic", "unheard_of"];
    let modes = [ReasoningMode::Direct, ReasoningMode::Auto, ReasoningMode::Dialectical];
    let mut run_number = 0;
    // Short prompts: what is tried here is the answers.
    let mut short = PromptLibrary::built_in();
    for path in ["executor/task_executor.md", "planner/task_planner.md", "roles/worker.md"] {
        short.replace_prompt(path, "Decide.");
    }
    let assets = AgentAssets { prompts: Arc::new(short), ..AgentAssets::built_in() };
    while used < 10_000 {
        let answers: Vec<GeneratedAnswer> =
            (0..40).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
        let given = Arc::new(Mutex::new(0));
        let count = Arc::clone(&given);
        let model = ByRule::new(move |request| {
            let mut count = count.lock().unwrap();
            *count += 1;
            let mut answer = answers[*count % answers.len()].clone();
            if request.output_schema.is_some() {
                answer.tool_calls.clear();
            }
            Ok(answer)
        });
        let person = Arc::new(Person::default());
        let setup = Setup { registry: registry(), person: Arc::clone(&person), ..Setup::default() };
        let mut services = services_for(model, setup.toolbox(directory.path()), &assets);
        services.reasoning_mode = modes[run_number % modes.len()];
        // Every kind comes with every way of thinking.
        let kind = kinds[run_number / modes.len() % kinds.len()];
        run_number += 1;
        let told = runtime.block_on(run_task(&services, task(kind, "Do something about it")));
        used += *given.lock().unwrap();
        let tools = told.tools();
        assert!(tools.iter().all(|tool| TOOLS.contains(&tool.as_str())), "{tools:?}");
        let called = person.intents.lock().unwrap().len();
        assert!(called <= tools.len());
        assert!(told.progress().iteration() <= services.limits.react_max_iterations);
        let mut row = 0;
        for tool in &tools {
            row = match tool.as_str() {
                "internet.research" | "web.search" => row + 1,
                "skill.generator" | "file.edit" | "file.write" => 0,
                _ => row,
            };
            if kind == "skill_build" {
                assert!(row < 5, "{tools:?}");
            }
        }
    }
    assert!(run_number >= 100, "{run_number} runs");
}
