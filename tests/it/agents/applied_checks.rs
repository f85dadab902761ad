//! Criteria after changes were applied: what holds in each of two copies need not hold in the workspace with both.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::permission::wait_until;
use super::{AgentEnv, ModelAnswer, code, words};

const LARGE: &str = "profile = \"large\"\n";
/// Met as long as one of the two files is not switched on.
const NOT_BOTH: &str = "if grep -q on x.txt && grep -q on y.txt; then echo both are on; exit 4; fi";

fn write(path: &str, content: &str) -> ModelAnswer<'static> {
    ("I write it.", Some(("file.write", json!({"path": path, "content": content}))))
}

fn done(summary: &str) -> ModelAnswer<'static> {
    ("", Some(("task.done", json!({"status": "done", "summary": summary}))))
}

/// Two tasks that handed in, each from a copy without the other's changes, and one that needs the second.
fn two_tasks(first_criterion: &str, second_criterion: &str) -> AgentEnv {
    let env = AgentEnv::with_copies(LARGE);
    for name in ["x.txt", "y.txt"] {
        std::fs::write(env.place.work().join(name), "off\n").unwrap();
    }
    let task = |id: &str, file: &str, criterion: &str| {
        let criterion = json!(criterion);
        format!(
            "[[tasks]]\nid = \"{id}\"\ndescription = \"Switch {file} on\"\ntask_type = \"code_modify\"\n\
             run = {{ agent = {{}} }}\nexit_criteria = [{{ kind = \"command\", command = {criterion} }}]\n"
        )
    };
    let plan = env.place.plan(&format!(
        "title = \"Switches\"\n{}{}[[tasks]]\nid = \"after\"\ndescription = \"Show it\"\n\
         depends_on = [\"second\"]\nrun = {{ shell = \"cat x.txt y.txt\" }}\n",
        task("first", "x.txt", first_criterion),
        task("second", "y.txt", second_criterion),
    ));
    let answers = [write("x.txt", "on\n"), done("X."), write("y.txt", "on\n"), done("Y.")];
    let output = env.run(&env.tape("work", &answers), &["run", &plan, "--yes", "--jobs", "1"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    env
}

fn apply(env: &AgentEnv) -> (i32, String) {
    let output = env.run(&env.tape("idle", &[]), &["answer", "last", "next", "apply"]);
    (code(&output), words(&output))
}

fn completed(env: &AgentEnv) -> Vec<String> {
    let name = |body: &Value| body["task"].as_str().unwrap().to_owned();
    env.bodies("task", "completed").iter().map(name).collect()
}

/// Both were applied; the checks of the second fail.
fn clashing() -> AgentEnv {
    let env = two_tasks(NOT_BOTH, NOT_BOTH);
    let (exit, told) = apply(&env);
    assert_eq!(exit, 3, "the other still waits: {told}");
    assert_eq!(completed(&env), ["first"], "{told}");
    assert_eq!(env.bodies("worktree", "checked"), Vec::<Value>::new(), "nothing else was applied");
    let (exit, told) = apply(&env);
    assert_eq!(exit, 3, "{told}");
    for expected in
        ["The checks fail after applying", "both are on", "exit 4", "Meanwhile: Switch x.txt on"]
    {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert_eq!(completed(&env), ["first"], "not done, and what needs it did not start: {told}");
    assert_eq!((env.written("x.txt"), env.written("y.txt")), ("on\n".into(), "on\n".into()));
    let checked = env.bodies("worktree", "checked");
    assert_eq!(checked[0]["failures"].as_array().map(Vec::len), Some(1), "{checked:?}");
    env
}

#[test]
fn two_tasks_that_clash_only_in_meaning_are_not_both_done() {
    let env = clashing();
    let output = env.run(&env.tape("idle", &[]), &["answer", "last", "next", "accept anyway"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(completed(&env), ["first", "second", "after"]);
    assert_eq!(env.bodies("worktree", "check_accepted").len(), 1);
    env.require_intact_store();
}

#[test]
fn changes_that_fail_their_checks_are_undone_and_the_task_fails() {
    let env = clashing();
    let output = env.run(&env.tape("idle", &[]), &["answer", "last", "next", "undo the changes"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    assert_eq!((env.written("x.txt"), env.written("y.txt")), ("on\n".into(), "off\n".into()));
    assert_eq!(completed(&env), ["first"]);
    assert_eq!(env.bodies("task", "skipped").len(), 1, "what needs it");
    assert_eq!(env.bodies("task", "failed")[0]["failure"]["code"], "changes_undone");
    env.require_intact_store();
}

#[test]
fn the_agent_that_fixes_it_reads_what_failed_and_works_on_both_changes() {
    let env = clashing();
    let look = ("", Some(("file.read", json!({"path": "x.txt"}))));
    let fix = [look, write("y.txt", "off, x wins\n"), done("Y gives way.")];
    let reply = ["answer", "last", "next", "propose changes: x wins"];
    let output = env.run(&env.tape("fix", &fix), &reply);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("Use these changes?"), "{}", words(&output));
    assert_eq!(env.written("y.txt"), "off\n", "restored until it is applied again");
    let prompted = env.bodies("agent", "prompted");
    let texts: Vec<&str> = prompted.iter().filter_map(|body| body["text"].as_str()).collect();
    let all = texts.join("\n");
    assert!(all.contains("these checks fail") && all.contains("both are on"), "{all}");
    assert!(all.contains("x wins"), "{all}");
    let seen = env.bodies("agent", "observed");
    let read = seen.iter().find(|body| body["step"]["tool_used"] == "file.read").unwrap();
    assert!(read.to_string().contains("on"), "the other's change is in the copy: {read}");
    assert_eq!(
        env.bodies("agent", "conversation_opened").len(),
        2,
        "the same conversation goes on"
    );
    let (exit, told) = apply(&env);
    assert_eq!(exit, 0, "{told}");
    assert_eq!(env.written("y.txt"), "off, x wins\n");
    assert_eq!(completed(&env), ["first", "second", "after"]);
    env.require_intact_store();
}

#[test]
fn a_criterion_of_a_task_that_was_applied_meanwhile_counts_too() {
    let env = two_tasks("grep -q off y.txt", "grep -q on y.txt");
    assert_eq!(apply(&env).0, 3);
    let (exit, told) = apply(&env);
    assert_eq!(exit, 3, "{told}");
    assert!(told.contains("grep -q off y.txt: exit 1, a criterion of first"), "{told}");
    assert_eq!(completed(&env), ["first"]);
    env.require_intact_store();
}

#[test]
fn edits_of_the_person_meanwhile_are_checked_as_well() {
    let env = two_tasks("grep -q on x.txt", "grep -q on y.txt && ! test -e stop");
    std::fs::write(env.place.work().join("stop"), "").unwrap();
    let (exit, told) = apply(&env);
    assert_eq!(exit, 3, "{told}");
    assert_eq!(completed(&env), ["first"], "its own criterion holds: {told}");
    assert_eq!(env.bodies("worktree", "checked").len(), 1);
    let (exit, told) = apply(&env);
    assert_eq!(exit, 3, "{told}");
    assert!(told.contains("The checks fail after applying"), "{told}");
    assert_eq!(completed(&env), ["first"]);
    env.require_intact_store();
}

/// Applies the second changes in a process that is killed while a check of them runs.
fn killed_at_a_check(criterion: &str) -> AgentEnv {
    // In the workspace, not in the copies: the first time it is checked there it hangs.
    let hangs = "if test -e armed && ! test -e reached; then echo x > reached; sleep 60; fi";
    let env = two_tasks("grep -q on x.txt", &format!("{hangs}; {criterion}"));
    assert_eq!(apply(&env).0, 3);
    std::fs::write(env.place.work().join("armed"), "").unwrap();
    let (own, idle) = (env.own(), env.tape("idle", &[]));
    let answered = env.place.run(&["answer", "last", "next", "apply"]);
    assert_eq!(code(&answered), 0, "{}", words(&answered));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(AgentEnv::args(&own, &idle, &["resume", "last"]))
        .env("PLANWRIGHT_DATA_DIR", env.place.data())
        .current_dir(env.place.work())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(&mut child, || env.written("reached") == "x\n");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(completed(&env), ["first"], "what is being checked is not done");
    assert_eq!(env.written("y.txt"), "on\n", "applied before it is checked");
    env
}

#[test]
fn a_check_that_was_killed_is_made_again_and_then_completes_the_task() {
    let env = killed_at_a_check("grep -q on y.txt");
    let output = env.run(&env.tape("idle", &[]), &["resume", "last"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(completed(&env), ["first", "second", "after"]);
    assert_eq!(env.bodies("worktree", "applied").len(), 2, "nothing is applied twice");
    env.require_intact_store();
}

#[test]
fn a_check_that_was_killed_is_made_again_and_its_failure_keeps_the_task_open() {
    let env = killed_at_a_check(NOT_BOTH);
    let output = env.run(&env.tape("idle", &[]), &["resume", "last"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("The checks fail after applying"), "{}", words(&output));
    assert_eq!(completed(&env), ["first"]);
    let output = env.run(&env.tape("idle", &[]), &["answer", "last", "next", "undo the changes"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    assert_eq!((env.written("x.txt"), env.written("y.txt")), ("on\n".into(), "off\n".into()));
    env.require_intact_store();
}
