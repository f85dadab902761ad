//! Exit criteria, each explicit.

use serde_json::json;

use super::fixture::*;
use planwright_model::ExitCriterion;
use planwright_model::task::CriterionEffect::{Failure, Success};

fn write(path: &str) -> planwright_llm::GeneratedAnswer {
    says("I write.", Some(("file.write", json!({"path": path, "content": "x\n"}))))
}

async fn with(criteria: Vec<ExitCriterion>, answers: Vec<planwright_llm::GeneratedAnswer>) -> Told {
    let directory = tempfile::tempdir().unwrap();
    let services = build_services(recorded(answers), Setup::default().toolbox(directory.path()));
    let mut task = task("generic", "Write the report");
    task.exit_criteria = criteria;
    run_task(&services, task).await
}

fn file(path: &str, on: planwright_model::task::CriterionEffect) -> ExitCriterion {
    ExitCriterion::FileExists { path: path.into(), on }
}

#[tokio::test]
async fn a_file_that_has_to_exist_decides() {
    let met =
        with(vec![file("report.md", Success)], vec![write("report.md"), says("Written.", None)])
            .await;
    assert_eq!(met.end.result, Ok("Written.".to_owned()));
    assert_eq!(met.tools(), ["file.write"], "nothing more is done once the criteria are met");
    let unmet = with(vec![file("report.md", Success)], vec![says("I am done.", None)]).await;
    let failure = unmet.end.result.unwrap_err();
    assert_eq!(failure.code, "criteria_unmet");
    assert!(failure.message.contains("the file report.md exists"));
}

#[tokio::test]
async fn a_condition_of_failure_ends_the_task_at_once() {
    let told = with(vec![file("oops", Failure)], vec![write("oops"), write("more")]).await;
    assert_eq!(told.end.result.unwrap_err().code, "criteria_failed");
}

#[tokio::test]
async fn a_command_decides_by_its_status() {
    let command = |command: &str| ExitCriterion::Command { command: command.into(), on: Success };
    let met =
        with(vec![command("test -f report.md")], vec![write("report.md"), says("Written.", None)])
            .await;
    assert_eq!(met.end.result, Ok("Written.".to_owned()));
    assert_eq!(met.tools()[..2], ["file.write", "shell.run"]);
    let unmet = with(vec![command("test -f other")], vec![says("Done.", None)]).await;
    assert_eq!(unmet.end.result.unwrap_err().code, "criteria_unmet");
}

#[tokio::test]
async fn a_value_in_what_a_tool_said_decides() {
    let path = |equals: bool| ExitCriterion::JsonPath {
        path: "$.created".into(),
        equals: json!(equals),
        on: Success,
    };
    let met = with(vec![path(true)], vec![write("a"), says("Done.", None)]).await;
    assert!(met.end.result.is_ok(), "{:?}", met.end);
    let unmet = with(vec![path(false)], vec![write("a"), says("Done.", None)]).await;
    assert_eq!(unmet.end.result.unwrap_err().code, "criteria_unmet");
}

#[tokio::test]
async fn plain_words_are_claimed_with_the_final_answer() {
    let words = || vec![ExitCriterion::Text { text: "it names its sources".into(), on: Success }];
    let final_answer = |met: bool| {
        let value =
            json!({"answer": "Done.", "criteria": [{"number": 1, "met": met, "evidence": "e"}]});
        says(&value.to_string(), None)
    };
    let met = with(words(), vec![says("Done.", None), final_answer(true)]).await;
    assert_eq!(met.end.result, Ok("Done.".to_owned()));
    let unmet = with(words(), vec![says("Done.", None), final_answer(false)]).await;
    assert_eq!(unmet.end.result.unwrap_err().code, "criteria_unmet");
}

#[tokio::test]
async fn judgement_is_asked_for_at_most_once_in_three_iterations_and_at_the_end() {
    let judged = vec![ExitCriterion::Judged { text: "it reads well".into(), on: Success }];
    let verdict = |met: bool| says(&json!({"met": met, "why": "w"}).to_string(), None);
    let answers = vec![
        write("a"),
        verdict(false),
        write("b"),
        write("c"),
        says("Done.", None),
        verdict(true),
    ];
    let told = with(judged, answers).await;
    assert_eq!(told.end.result, Ok("Done.".to_owned()));
    assert_eq!(told.tools().len(), 3);
}
