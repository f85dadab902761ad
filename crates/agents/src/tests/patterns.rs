//! The patterns of task types with a recorded model.

use serde_json::json;

use super::fixture::*;
use planwright_model::{Category, ToolResult};
use planwright_tools::ToolEffect;

const SKILL: &str = "Write a skill about SQL joins";

fn research(query: &str) -> planwright_llm::GeneratedAnswer {
    says("I look it up first.", Some(("internet.research", json!({ "query": query }))))
}

fn generate(name: &str) -> planwright_llm::GeneratedAnswer {
    let args = json!({"name": name, "description": "How to join", "source": "# Joins\nUse keys."});
    says("Now I write it.", Some(("skill.generator", args)))
}

fn setup() -> Setup {
    Setup { registry: tools_with(&[fake_research()]), ..Setup::default() }
}

#[tokio::test]
async fn example_22_a_repeated_research_is_replaced_by_generate() {
    let directory = tempfile::tempdir().unwrap();
    let model = recorded(vec![
        research("joins"),
        research("joins again"),
        generate("sql-joins"),
        says("The skill is written.", None),
    ]);
    let services = build_services(model.clone(), setup().toolbox(directory.path()));
    let told = run_task(&services, task("skill_build", SKILL)).await;
    assert_eq!(told.end.result, Ok("The skill is written.".to_owned()));
    assert_eq!(told.tools(), ["internet.research", "skill.generator"]);
    let progress = told.progress();
    assert_eq!(progress.iteration(), 2);
    assert_eq!(progress.task_state().unwrap().completed_steps, ["research", "generate", "verify"]);
    let guard = told.decisions("LOOP_GUARD");
    assert_eq!((guard.len(), &guard[0]["step"]), (1, &json!("generate")));
    assert_eq!(guard[0]["replaced"]["args"]["query"], "joins again");
    assert!(told.decisions("EXECUTOR_DECISION").iter().any(|one| one["action"] == "DONE"));
    assert!(directory.path().join("skills/sql-joins/SKILL.md").exists());
    assert_eq!(model.remaining_exchanges(), 0);
}

#[tokio::test]
async fn a_skill_takes_at_most_three_iterations() {
    let directory = tempfile::tempdir().unwrap();
    let model = recorded(vec![research("joins"), generate("joins"), says("Done.", None)]);
    let services = build_services(model, setup().toolbox(directory.path()));
    let told = run_task(&services, task("skill_build", SKILL)).await;
    assert!(told.end.result.is_ok());
    assert_eq!(told.progress().iteration(), 2);
    let tokens = told.events.iter().filter_map(|event| match event {
        planwright_model::event::AgentEvent::ModelAnswered { tokens, .. } => Some(*tokens),
        _ => None,
    });
    let tokens: Vec<u64> = tokens.collect();
    assert_eq!((tokens.len(), tokens.iter().sum()), (3, told.end.tokens), "the final answer too");
}

#[tokio::test]
async fn a_failed_generate_is_tried_with_other_arguments_within_three_calls() {
    let directory = tempfile::tempdir().unwrap();
    let model = ByRule::in_order(vec![
        research("joins"),
        generate("Not A Name"),
        generate("Not A Name"),
        generate("joins"),
        says("Done.", None),
    ]);
    let services = build_services(model.clone(), setup().toolbox(directory.path()));
    let told = run_task(&services, task("skill_build", SKILL)).await;
    assert!(told.end.result.is_ok(), "{:?}", told.end);
    assert_eq!(told.tools(), ["internet.research", "skill.generator", "skill.generator"]);
    assert_eq!(told.decisions("REJECTED")[0]["code"], "same_args");
    assert!(model.prompts()[2].contains("bad_args"), "the failure is fed back");
}

#[tokio::test]
async fn without_arguments_from_the_model_generate_uses_what_was_found() {
    let directory = tempfile::tempdir().unwrap();
    let answers = std::sync::Mutex::new(0);
    let model = ByRule::new(move |request| {
        let mut count = answers.lock().unwrap();
        *count += 1;
        // It never wants anything but to search.
        Ok(if request.tools.is_empty() {
            says("That is all.", None)
        } else {
            research(&format!("joins {count}"))
        })
    });
    let services = build_services(model, setup().toolbox(directory.path()));
    let told = run_task(&services, task("skill_build", SKILL)).await;
    assert!(told.end.result.is_ok(), "{:?}", told.end);
    assert_eq!(told.tools(), ["internet.research", "skill.generator"]);
    assert!(directory.path().join("skills/write-a-skill-about-sql-joins/SKILL.md").exists());
}

#[tokio::test]
async fn a_decision_in_words_counts_like_a_call() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.txt"), "hello\n").unwrap();
    let written = r#"{"_type":"EXECUTOR_DECISION","action":"CALL_TOOL","step":"act","tool":{"name":"file.read","args":{"path":"a.txt"}},"reasoning":"look"}"#;
    let done = r#"{"_type":"EXECUTOR_DECISION","action":"DONE","reasoning":"it says hello"}"#;
    let model = recorded(vec![says(written, None), says(done, None)]);
    let services = build_services(model, Setup::default().toolbox(directory.path()));
    let told = run_task(&services, task("generic", "What does a.txt say?")).await;
    assert_eq!(told.end.result, Ok("it says hello".to_owned()));
    assert_eq!(told.tools(), ["file.read"]);
}

#[tokio::test]
async fn a_reply_without_an_action_is_the_answer() {
    let directory = tempfile::tempdir().unwrap();
    let services = build_services(
        recorded(vec![says("Four.", None)]),
        Setup::default().toolbox(directory.path()),
    );
    let told = run_task(&services, task("generic", "What is two and two?")).await;
    assert_eq!(told.end.result, Ok("Four.".to_owned()));
    assert_eq!(told.asks(), 1);
}

#[tokio::test]
async fn a_stuck_executor_goes_back_to_the_planner_which_may_change_the_type() {
    let directory = tempfile::tempdir().unwrap();
    let plan = json!({"_type": "PLANNER_DECISION", "action": "EXECUTE", "task_type": "generic", "goals": ["Say hello"], "reasoning": "no code is needed"});
    let model = recorded(vec![
        says("", Some(("task.escalate", json!({"issue": "there is no code here"})))),
        says(&plan.to_string(), None),
        says("Hello.", None),
    ]);
    let services = build_services(model, Setup::default().toolbox(directory.path()));
    let told = run_task(&services, task("code_modify", "Greet")).await;
    assert_eq!(told.end.result, Ok("Hello.".to_owned()));
    let planner = told.decisions("PLANNER_DECISION");
    assert_eq!(planner.len(), 2);
    assert_eq!(planner[1]["task_type"], "generic");
    assert_eq!(told.progress().work.unwrap().round, 1);
}

#[tokio::test]
async fn the_planner_is_asked_eight_times_at_most() {
    let directory = tempfile::tempdir().unwrap();
    let model = ByRule::new(|request| {
        Ok(if request.output_schema.is_some() {
            let again = json!({"action": "EXECUTE", "task_type": "code_modify", "goals": [], "reasoning": "try again"});
            says(&again.to_string(), None)
        } else {
            says("", Some(("task.escalate", json!({"issue": "stuck"}))))
        })
    });
    let services = build_services(model, Setup::default().toolbox(directory.path()));
    let told = run_task(&services, task("code_modify", "Change it")).await;
    let failure = told.end.result.clone().unwrap_err();
    assert_eq!((failure.code.as_str(), failure.category), ("escalated", Category::Recoverable));
    assert_eq!(told.decisions("PLANNER_DECISION").len(), 1 + 8);
}

#[tokio::test]
async fn unknown_types_and_roles_are_said_and_done_plainly() {
    let directory = tempfile::tempdir().unwrap();
    let services = build_services(
        recorded(vec![says("ok", None)]),
        Setup::default().toolbox(directory.path()),
    );
    let mut odd = task("interpretive_dance", "Do it");
    odd.agent_role = "wizard".to_owned();
    let told = run_task(&services, odd).await;
    assert!(told.end.result.is_ok());
    let codes: Vec<_> =
        told.decisions("NORMALIZATION").iter().map(|one| one["code"].clone()).collect();
    assert_eq!(codes, [json!("unknown_task_type"), json!("unknown_role")]);
}

#[tokio::test]
async fn a_step_that_no_tool_can_do_fails_by_name_where_the_plan_chose_the_tools() {
    let directory = tempfile::tempdir().unwrap();
    let services = build_services(recorded(Vec::new()), Setup::default().toolbox(directory.path()));
    let mut limited = task("code_modify", "Change it");
    limited.tool_affinity =
        [("file.read".to_owned(), 0.1), ("code.navigate".to_owned(), 0.2)].into();
    let told = run_task(&services, limited).await;
    let failure = told.end.result.unwrap_err();
    assert_eq!(failure.code, "no_suitable_tool");
    assert!(failure.message.contains("file.read: below_threshold"), "{}", failure.message);
}

#[tokio::test]
async fn an_open_breaker_takes_a_tool_off_the_list() {
    let directory = tempfile::tempdir().unwrap();
    let person = Person { broken: vec!["internet.research".to_owned()], ..Person::default() };
    let others = vec![
        fake_research(),
        Fake::tool("web.search", ToolEffect::Look, |_| ToolResult::success(json!({"results": []}))),
    ];
    let setup = Setup {
        registry: tools_with(&others),
        person: std::sync::Arc::new(person),
        ..Setup::default()
    };
    let model = ByRule::in_order(vec![
        says("", Some(("web.search", json!({"query": "x"})))),
        generate("x"),
        says("done", None),
    ]);
    let services = build_services(model.clone(), setup.toolbox(directory.path()));
    let told = run_task(&services, task("skill_build", SKILL)).await;
    assert!(told.end.result.is_ok(), "{:?}", told.end);
    let offered = &model.requests.lock().unwrap()[0].tools;
    assert!(offered.iter().all(|tool| tool.name != "internet.research"));
}
