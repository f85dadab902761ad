//! A change to a small repository, with real tools and real tests.

use std::path::Path;

use serde_json::json;

use super::fixture::*;
use planwright_model::event::AgentEvent;

const CODE: &str = "add() { echo $(( $1 - $2 )); }\n";
const TESTS: &str = ". ./calc.sh\n[ \"$(add 2 3)\" = 5 ] || { echo \"add 2 3 gave $(add 2 3), want 5\"; exit 1; }\necho passed\n";

fn repository(directory: &Path) {
    std::fs::write(directory.join("calc.sh"), CODE).unwrap();
    std::fs::write(directory.join("test.sh"), TESTS).unwrap();
}

fn edit(old: &str, new: &str) -> planwright_llm::GeneratedAnswer {
    says("I change it.", Some(("file.edit", json!({"path": "calc.sh", "old": old, "new": new}))))
}

fn test() -> planwright_llm::GeneratedAnswer {
    says("I run the tests.", Some(("test.run", json!({}))))
}

#[tokio::test]
async fn code_is_read_changed_tested_red_changed_again_and_tested_green() {
    let directory = tempfile::tempdir().unwrap();
    repository(directory.path());
    let mut setup = Setup::default();
    setup.settings.test_command = Some("sh ./test.sh".to_owned());
    let person = std::sync::Arc::clone(&setup.person);
    let model = ByRule::in_order(vec![
        says("I read it first.", Some(("file.read", json!({"path": "calc.sh"})))),
        edit("$1 - $2", "$1 * $2"),
        test(),
        edit("$1 * $2", "$1 + $2"),
        test(),
        says("add adds now: calc.sh:1.", None),
    ]);
    let services = build_services(model.clone(), setup.toolbox(directory.path()));
    let told = run_task(&services, task("code_modify", "Make add() add")).await;
    assert_eq!(told.end.result, Ok("add adds now: calc.sh:1.".to_owned()));
    let calls = ["file.read", "file.edit", "test.run", "file.edit", "test.run"];
    assert_eq!(told.tools(), calls);
    let file = std::fs::read_to_string(directory.path().join("calc.sh")).unwrap();
    assert_eq!(file, "add() { echo $(( $1 + $2 )); }\n");
    assert_eq!(std::fs::read_to_string(directory.path().join("test.sh")).unwrap(), TESTS);

    let seen = told.observations();
    assert!(seen[2].contains("tests_failed") && seen[2].contains("add 2 3 gave 6, want 5"));
    assert!(seen[4].contains("passed: true"), "{}", seen[4]);
    let prompts = model.prompts();
    assert!(prompts[3].contains("add 2 3 gave 6, want 5"), "the second edit knows why");
    assert!(prompts[1].contains("$1 - $2"), "the edit sees the file");
    let state = told.progress();
    let state = state.task_state().unwrap();
    assert!(state.is_complete());
    assert_eq!(state.completed_steps, ["read", "understand", "edit", "verify"]);

    let intents = person.intents.lock().unwrap();
    let ids: Vec<String> = intents.iter().map(|intent| intent.call.to_string()).collect();
    assert_eq!(ids, ["t/1/1", "t/1/2", "t/1/3", "t/1/4", "t/1/5"]);
    let saved = told.events.iter().filter(|event| matches!(event, AgentEvent::StateSaved { .. }));
    assert!(saved.count() >= calls.len());
}

#[tokio::test]
async fn the_trace_says_what_was_thought_done_and_seen() {
    let directory = tempfile::tempdir().unwrap();
    repository(directory.path());
    let mut setup = Setup::default();
    setup.settings.test_command = Some("sh ./test.sh".to_owned());
    let model = recorded(vec![
        says("I read it first.", Some(("file.read", json!({"path": "calc.sh"})))),
        edit("$1 - $2", "$1 + $2"),
        test(),
        says("Done.", None),
    ]);
    let services = build_services(model, setup.toolbox(directory.path()));
    let told = run_task(&services, task("code_modify", "Make add() add")).await;
    let steps: Vec<&planwright_model::ReActStep> = told
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Thought { step, .. }
            | AgentEvent::Acted { step, .. }
            | AgentEvent::Observed { step, .. } => Some(&**step),
            _ => None,
        })
        .collect();
    let kinds: String = steps
        .iter()
        .map(|step| match step.action {
            planwright_model::StepAction::Thought => 't',
            planwright_model::StepAction::Action => 'a',
            planwright_model::StepAction::Observation => 'o',
        })
        .collect();
    assert_eq!(kinds, "taotaotaot");
    let first = &steps[0].metadata;
    assert!(first.prompt_ref.as_ref().unwrap().as_str().len() == 64);
    assert!(first.prompt.as_ref().unwrap().contains("Make add() add"));
    assert_eq!(first.fragments.as_ref().unwrap()[0], "executor/task_executor.md@1");
    let labels: Vec<&str> = steps
        .iter()
        .filter(|step| step.is_action_step())
        .map(|step| step.metadata.prdv.unwrap().as_str())
        .collect();
    assert_eq!(labels, ["research", "debate", "validate"]);
    assert!(steps.iter().all(|step| step.metadata.agent_role.is_some()));
    assert!(steps[2].confidence_score.is_some() && steps[2].tool_output.is_some());
}
