//! Agents in copies of the workspace: nothing reaches the workspace before its changes are accepted, and then all of it.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{AgentEnv, ModelAnswer, code, words};

const LARGE: &str = "profile = \"large\"\n";
const NEXT: &str = "[[tasks]]\nid = \"next\"\ndescription = \"Show it\"\ndepends_on = [\"t\"]\nrun = { shell = \"cat a.txt\" }";

fn write(path: &str, content: &str) -> ModelAnswer<'static> {
    ("I write it.", Some(("file.write", json!({"path": path, "content": content}))))
}

fn edit(path: &str, old: &str, new: &str) -> ModelAnswer<'static> {
    ("I edit it.", Some(("file.edit", json!({"path": path, "old": old, "new": new}))))
}

fn done(summary: &str) -> ModelAnswer<'static> {
    ("", Some(("task.done", json!({"status": "done", "summary": summary}))))
}

/// A task that changed two files in its copy and waits.
fn handed_in(more: &str) -> AgentEnv {
    let env = AgentEnv::with_copies(LARGE);
    std::fs::write(env.place.work().join("a.txt"), "one\n").unwrap();
    std::fs::create_dir(env.place.work().join("target")).unwrap();
    std::fs::write(env.place.work().join("target/x"), "built\n").unwrap();
    std::fs::write(env.place.work().join(".gitignore"), "target/\n").unwrap();
    let tape =
        env.tape("work", &[edit("a.txt", "one", "two"), write("b.txt", "b\n"), done("Changed.")]);
    let plan = env.plan("code_modify", "Change a.txt", more);
    let output = env.run(&tape, &["run", &plan, "--yes"]);
    let told = words(&output);
    assert_eq!(code(&output), 3, "{told}");
    assert!(told.contains("Use these changes?") && told.contains("-one"), "{told}");
    assert!(told.contains("ignored by git: target/"), "{told}");
    assert!(told.contains("--yes does not apply changes"), "{told}");
    assert_eq!((env.written("a.txt"), env.written("b.txt")), ("one\n".into(), String::new()));
    assert_eq!(env.bodies("task", "completed"), Vec::<Value>::new());
    env
}

fn idle(env: &AgentEnv) -> String {
    env.tape("idle", &[])
}

#[test]
fn changes_are_applied_when_accepted_and_undone_on_request() {
    let env = handed_in(NEXT);
    let output = env.run(&idle(&env), &["answer", "last", "next", "apply"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!((env.written("a.txt"), env.written("b.txt")), ("two\n".into(), "b\n".into()));
    assert!(words(&output).contains("two"), "the dependent saw it: {}", words(&output));
    assert_eq!(env.answer().as_deref(), Some("Changed."));
    let listed = env.place.run(&["changes", "last"]);
    assert!(words(&listed).contains("applied, 2 files, +2 -1"), "{}", words(&listed));
    let undone = env.place.run(&["changes", "last", "--undo", "t"]);
    assert_eq!(code(&undone), 0, "{}", words(&undone));
    assert_eq!((env.written("a.txt"), env.written("b.txt")), ("one\n".into(), String::new()));
    let again = env.place.run(&["changes", "last", "--undo", "t"]);
    assert!(code(&again) == 1 && words(&again).contains("already undone"), "{}", words(&again));
    env.require_intact_store();
}

#[test]
fn discarded_changes_fail_the_task_and_leave_no_trace() {
    let env = handed_in(NEXT);
    let output = env.run(&idle(&env), &["answer", "last", "next", "discard"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    assert_eq!((env.written("a.txt"), env.written("b.txt")), ("one\n".into(), String::new()));
    assert_eq!(env.bodies("task", "skipped").len(), 1, "what needs it");
    let copies: Vec<_> = walk(&env.place.data().join("worktrees"));
    assert_eq!(copies, Vec::<String>::new(), "the copy is deleted");
    env.require_intact_store();
}

/// All files below a directory, by name.
fn walk(root: &std::path::Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path().display().to_string());
        }
    }
    files
}

#[test]
fn what_the_person_said_is_in_the_conversation_after_discard_and_retry() {
    let env = handed_in("");
    let tape = env.tape("more", &[edit("a.txt", "two", "three"), done("Changed again.")]);
    let output = env.run(&tape, &["answer", "last", "next", "propose changes: use three"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let output = env.run(&idle(&env), &["answer", "last", "next", "discard"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    let tape = env.tape("anew", &[edit("a.txt", "one", "three"), done("Three.")]);
    let output = env.run(&tape, &["resume", "last", "--retry", "failed"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert_eq!(env.bodies("agent", "conversation_opened").len(), 2, "it begins anew");
    let prompted = env.bodies("agent", "prompted");
    let text = prompted.last().unwrap()["text"].as_str().unwrap();
    assert_eq!(text, "The person writes to you: use three");
    env.require_intact_store();
}

#[test]
fn requested_changes_continue_in_the_same_copy_and_conversation() {
    let env = handed_in("");
    let tape = env.tape("more", &[edit("a.txt", "two", "three"), done("Changed again.")]);
    let reply = ["answer", "last", "next", "propose changes: use three"];
    let output = env.run(&tape, &reply);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("+three"), "{}", words(&output));
    assert_eq!(env.bodies("agent", "conversation_opened").len(), 1);
    let prompted = env.bodies("agent", "prompted");
    let text = prompted.last().unwrap()["text"].as_str().unwrap();
    assert!(text.contains("use three"), "{text}");
    let output = env.run(&idle(&env), &["answer", "last", "next", "apply"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!((env.written("a.txt"), env.written("b.txt")), ("three\n".into(), "b\n".into()));
    env.require_intact_store();
}

#[test]
fn a_conflict_applies_nothing_and_the_agent_merges() {
    let env = handed_in("");
    std::fs::write(env.place.work().join("a.txt"), "mine\n").unwrap();
    let output = env.run(&idle(&env), &["answer", "last", "next", "apply"]);
    let told = words(&output);
    assert_eq!(code(&output), 3, "{told}");
    for expected in [
        "Conflict with your workspace",
        "Conflict: a.txt",
        "<<<<<<< your workspace, line 1",
        "No conflict: b.txt",
        "let the agent merge",
        "apply again",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert!(!told.contains("replies: apply,"), "it is no accept card: {told}");
    assert_eq!((env.written("a.txt"), env.written("b.txt")), ("mine\n".into(), String::new()));
    let tape = env.tape("merge", &[write("a.txt", "mine and two\n"), done("Merged.")]);
    let output = env.run(&tape, &["answer", "last", "next", "let the agent merge"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let prompted = env.bodies("agent", "prompted");
    let text = prompted.last().unwrap()["text"].as_str().unwrap();
    assert!(text.contains("Conflicts to resolve: a.txt"), "{text}");
    let output = env.run(&idle(&env), &["answer", "last", "next", "apply"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(
        (env.written("a.txt"), env.written("b.txt")),
        ("mine and two\n".into(), "b\n".into())
    );
    env.require_intact_store();
}

#[test]
fn high_autonomy_applies_by_itself_only_what_met_its_criteria() {
    for (criterion, code_expected) in
        [("exit_criteria = [{ kind = \"file_exists\", path = \"b.txt\" }]", 0), ("", 3)]
    {
        let env = AgentEnv::with_copies(LARGE);
        let tape = env.tape("work", &[write("b.txt", "b\n"), done("Wrote it.")]);
        let plan = env.plan("code_create", "Write b.txt", criterion);
        let run = ["run", &plan, "--yes", "--policy", "autonomy=high"];
        let output = env.run(&tape, &run);
        assert_eq!(code(&output), code_expected, "{}", words(&output));
        let there = env.place.work().join("b.txt").exists();
        assert_eq!(there, code_expected == 0, "{}", words(&output));
        env.require_intact_store();
    }
}

#[test]
fn a_task_that_changes_nothing_is_done_without_a_question() {
    let env = AgentEnv::with_copies(LARGE);
    let look = json!({"path": "."});
    let tape = env.tape("look", &[("", Some(("file.list", look))), done("Nothing to do.")]);
    let plan = env.plan("code_modify", "Look", "");
    let output = env.run(&tape, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.answer().as_deref(), Some("Nothing to do."));
    env.require_intact_store();
}

#[test]
fn a_process_that_is_killed_while_it_applies_leaves_all_or_nothing_after_a_resume() {
    for wait_ms in [0, 20, 45, 70, 100, 140, 200] {
        let env = handed_in("");
        let own = env.own();
        let idle = idle(&env);
        let answered = env.place.run(&["answer", "last", "next", "apply"]);
        assert_eq!(code(&answered), 0, "{}", words(&answered));
        let args = AgentEnv::args(&own, &idle, &["resume", "last"]);
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
            .args(args)
            .env("PLANWRIGHT_DATA_DIR", env.place.data())
            .current_dir(env.place.work())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Not for correctness: whenever it dies, what follows must hold.
        std::thread::sleep(Duration::from_millis(wait_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let output = env.run(&idle, &["resume", "last"]);
        let files = (env.written("a.txt"), env.written("b.txt"));
        let applied = ("two\n".to_owned(), "b\n".to_owned());
        match code(&output) {
            0 => assert_eq!(files, applied, "after {wait_ms} ms: {}", words(&output)),
            3 => {
                assert_eq!(files, ("one\n".to_owned(), String::new()), "after {wait_ms} ms");
                let output = env.run(&idle, &["answer", "last", "next", "apply"]);
                assert_eq!(code(&output), 0, "{}", words(&output));
                assert_eq!((env.written("a.txt"), env.written("b.txt")), applied);
            }
            other => panic!("exit {other} after {wait_ms} ms: {}", words(&output)),
        }
        env.require_intact_store();
    }
}
