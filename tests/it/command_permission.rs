//! Commands of a plan: which run because the plan was approved, and which need a separate approval.

use planwright_model::event::{Command, Event, TaskEvent};
use planwright_model::{ChoiceAction, NodeOrigin, RequestKind, RunKind};
use planwright_state::{RunPhase, SessionState};

use crate::agents::{code, words};
use crate::program::{Place, json_lines};
use crate::support::{Bench, Script, answer, approved, plan};
use crate::tools::confined;

const TWO: &str = "title = \"Two\"\n\
    [[tasks]]\nid = \"a\"\ndescription = \"First\"\nrun = { shell = \"echo a >> done\" }\n\
    [[tasks]]\nid = \"b\"\ndescription = \"Second\"\nrun = { shell = \"echo b >> done\" }\ndependencies = [\"a\"]\n";

fn written(place: &Place) -> String {
    std::fs::read_to_string(place.work().join("done")).unwrap_or_default()
}

#[test]
fn low_autonomy_and_strict_approval_ask_before_every_command_of_a_plan() {
    for policy in ["autonomy=low", "approval_policy=strict_every_step"] {
        let place = Place::new();
        let file = place.plan(TWO);
        let output = place.run(&["run", &file, "--headless", "--yes", "--policy", policy]);
        assert_eq!(code(&output), 3, "{policy}: {}", words(&output));
        assert!(words(&output).contains("Allow this command?"), "{}", words(&output));
        assert_eq!(written(&place), "", "nothing ran before the answer");
        let output =
            place.answer_and_resume(&["answer", "last", "next", "allow once", "--headless"]);
        assert_eq!(code(&output), 3, "the next command is asked about: {}", words(&output));
        assert_eq!(written(&place), "a\n");
        // Resumed without an answer, the run still waits and does not ask a second time.
        assert_eq!(code(&place.run(&["resume", "last", "--headless", "--yes"])), 3);
        assert_eq!(written(&place), "a\n");
        let output =
            place.answer_and_resume(&["answer", "last", "next", "allow once", "--headless"]);
        assert_eq!(code(&output), 0, "{}", words(&output));
        assert_eq!(written(&place), "a\nb\n", "each ran once");
        assert_eq!(code(&place.run(&["sessions", "verify", "last"])), 0);
    }
}

#[test]
fn a_command_that_is_turned_down_is_skipped_and_does_not_run() {
    let place = Place::new();
    let file = place.plan(TWO);
    let policy = ["--policy", "autonomy=low"];
    let output = place.run(&["run", &file, "--headless", "--yes", policy[0], policy[1]]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let output =
        place.answer_and_resume(&["answer", "last", "next", "skip with dependents", "--headless"]);
    assert_eq!(written(&place), "", "{}", words(&output));
    let shown = place.run(&["sessions", "show", "last"]);
    assert!(words(&shown).contains("skipped"), "{}", words(&shown));
}

/// Runs the plan of two tasks with low autonomy up to its first question.
fn waiting_at_a(place: &Place) {
    let file = place.plan(TWO);
    let output = place.run(&["run", &file, "--headless", "--yes", "--policy", "autonomy=low"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
}

#[test]
fn permission_for_a_command_does_not_apply_in_a_fork() {
    let place = Place::new();
    waiting_at_a(&place);
    place.answer_and_resume(&["answer", "last", "next", "allow once", "--headless"]);
    assert_eq!(written(&place), "a\n");
    let journal = json_lines(&place.run(&["replay", "last", "--headless", "--json"]));
    let allowed = journal
        .iter()
        .find(|record| record["event"]["body"]["answer"]["action"] == "allow_once")
        .unwrap();
    let at = allowed["seq"].to_string();
    assert_eq!(code(&place.run(&["fork", "last", "--at", &at])), 0);
    let output = place.run(&["run", "last", "--headless", "--yes", "--policy", "autonomy=low"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("Allow this command?"), "{}", words(&output));
    assert_eq!(written(&place), "a\n", "it did not run a second time");
}

#[test]
fn a_question_about_a_command_is_removed_with_the_command() {
    let place = Place::new();
    waiting_at_a(&place);
    let other = place.dir.path().join("other.toml").to_string_lossy().into_owned();
    std::fs::write(&other, TWO.replace("echo a >> done", "echo other >> done")).unwrap();
    let output = place.run(&["resume", "last", "--headless", "--yes", "--plan", &other]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let printed = words(&output);
    assert!(printed.contains("question withdrawn: draft 2 replaces it"), "{printed}");
    let shown = json_lines(&place.run(&["replay", "last", "--headless", "--json"]));
    let asked: Vec<&str> = shown
        .iter()
        .filter_map(|record| record["event"]["body"]["request"]["verbatim"][0]["text"].as_str())
        .collect();
    assert_eq!(asked, ["echo a >> done", "echo other >> done"]);
    place.answer_and_resume(&["answer", "last", "next", "allow once", "--headless"]);
    assert_eq!(written(&place), "other\n");
}

#[test]
fn a_narrower_plan_keeps_its_approval_and_a_wider_one_explains_the_question() {
    let place = Place::new();
    waiting_at_a(&place);
    let other = place.dir.path().join("other.toml").to_string_lossy().into_owned();
    std::fs::write(&other, TWO.split("[[tasks]]\nid = \"b\"").next().unwrap()).unwrap();
    let output = place.run(&["resume", "last", "--headless", "--plan", &other]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("still approved"), "{}", words(&output));
    assert!(!words(&output).contains("Run this plan?"), "{}", words(&output));
    std::fs::write(&other, TWO.replace("echo b >> done", "echo more >> done")).unwrap();
    let output = place.run(&["resume", "last", "--headless", "--plan", &other]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("Run this plan?"), "{}", words(&output));
    let waiting = place.run(&["resume", "last", "--headless", "--json"]);
    assert!(words(&waiting).contains("May do more"), "{}", words(&waiting));
    let output = place.run(&["resume", "last", "--headless", "--yes"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert_eq!(written(&place), "", "each command is still asked about");
}

#[test]
fn a_command_of_a_plan_that_came_from_elsewhere_is_asked_about_and_confined() {
    let author = Place::new();
    let file = author.plan(TWO);
    assert_eq!(code(&author.run(&["run", &file, "--headless"])), 3);
    let gift = author.dir.path().join("gift.jsonl").to_string_lossy().into_owned();
    author.run(&["export", "last", "--format", "jsonl", "-o", &gift]);
    let place = Place::new();
    assert_eq!(code(&place.run(&["import", &gift])), 0);
    assert_eq!(code(&place.run(&["fork", "last"])), 0);
    let output = place.run(&["run", "last", "--headless", "--yes"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("Allow this command?"), "{}", words(&output));
    assert_eq!(written(&place), "");
    place.answer_and_resume(&["answer", "last", "next", "allow once", "--headless"]);
    assert_eq!(written(&place), "a\n");
}

#[test]
fn a_task_that_asks_for_the_sandbox_writes_nowhere_else() {
    if !confined() {
        return;
    }
    let place = Place::new();
    let file = place.plan(
        "title = \"Confined\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nsandbox = \"workspace\"\n\
         run = { shell = \"echo in > inside; echo out > ../outside; test ! -e ../outside\" }\n",
    );
    let output = place.run(&["run", &file, "--headless", "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert!(place.work().join("inside").exists());
    assert!(!place.dir.path().join("outside").exists());
}

fn asks_about_a(state: &SessionState) -> bool {
    let mut open = state.requests.open.values();
    open.any(|open| matches!(&open.request.kind, RequestKind::Permission { call, .. } if call.task.as_str() == "a"))
}

#[tokio::test]
async fn dangerous_commands_of_a_model_are_asked_about() {
    let bench = Bench::new();
    let mut drafted = plan(&[("a", &[]), ("b", &[])]);
    for task in &mut drafted.tasks {
        task.origin = NodeOrigin::AiAdaptation;
    }
    drafted.tasks[0].run = RunKind::Shell("sudo rm -rf /".into());
    let script = Script::new(&[]);
    let log = script.log();
    let handle = bench.start(script, 3, approved(drafted));
    handle.commands.send(Command::Run { by: planwright_model::Actor::Person }).await.unwrap();
    let state = bench
        .until(&handle, |state| asks_about_a(state) && state.tasks.status_counts().done == 1)
        .await;
    assert_eq!(*log.lock().unwrap(), ["b"], "the harmless one ran");
    let id = state.requests.open.keys().next().unwrap().0;
    handle.commands.send(answer(id, ChoiceAction::SkipAlone)).await.unwrap();
    let state =
        bench.until(&handle, |state| matches!(state.run.phase, RunPhase::Finished { .. })).await;
    assert!(state.requests.open.is_empty());
    let started = |record: &planwright_model::event::Record| matches!(&record.event, Event::Task(TaskEvent::Started { task, .. }) if task.as_str() == "a");
    assert!(!bench.records().iter().any(started));
}
