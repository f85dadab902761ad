//! A command that nothing allows yet: the person refuses it with a reason, allows it once, or is asked about its result.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{AgentEnv, code, shell, words};

/// A run that stops at the question whether a command may run.
fn asking(command: &str) -> AgentEnv {
    let env = AgentEnv::new("");
    let provider = env.tape("first", &[("I run it.", shell(command))]);
    let plan = env.plan("generic", "Leave a mark", "");
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let printed = words(&output);
    assert!(printed.contains("Allow this command?"), "{printed}");
    assert!(printed.contains("planwright answer"), "{printed}");
    assert_eq!(env.written("done.txt"), "", "nothing runs before an answer");
    env
}

#[test]
fn a_refusal_reaches_the_agent_with_its_reason() {
    let env = asking("echo one >> done.txt");
    let provider = env.tape("second", &[("Then I leave it alone.", None)]);
    let output = env.run(&provider, &["answer", "last", "q2", "deny: not on a Friday"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("done.txt"), "");
    assert_eq!(env.answer().as_deref(), Some("Then I leave it alone."));
    let last = env.prompts().pop().unwrap();
    assert!(last.contains("the person said no: not on a Friday"), "{last}");
    assert!(env.bodies("call", "intended").is_empty(), "what was denied has no intent");
    env.require_intact_store();
}

#[test]
fn a_yes_is_for_this_very_call_and_the_next_one_is_asked_about_again() {
    let env = asking("echo one >> done.txt");
    let more = [("Now another.", shell("echo two >> done.txt")), ("Both are done.", None)];
    let provider = env.tape("second", &more);
    let output = env.run(&provider, &["answer", "last", "next", "allow", "once"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert_eq!(env.written("done.txt"), "one\n");
    let provider = env.tape("third", &[("Only the first, then.", None)]);
    let output = env.run(&provider, &["answer", "last", "next", "deny", "one", "is", "enough"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("done.txt"), "one\n");
    assert_eq!(env.answer().as_deref(), Some("Only the first, then."));
    let asked = env.bodies("approval", "asked");
    let questions = asked.iter().filter(|body| body["request"]["kind"]["about"] == "permission");
    let ids: std::collections::BTreeSet<String> =
        questions.map(|body| body["request"]["id"].to_string()).collect();
    assert_eq!(ids.len(), 2, "each question has one number, whichever process put it");
    env.require_intact_store();
}

#[test]
fn resuming_without_an_answer_asks_the_same_again() {
    let env = asking("echo one >> done.txt");
    let provider = env.tape("second", &[("Done.", None)]);
    for _ in 0..2 {
        let output = env.run(&provider, &["resume", "last"]);
        assert_eq!(code(&output), 3, "{}", words(&output));
        assert!(words(&output).contains("Allow this command?"), "{}", words(&output));
    }
    let output = env.run(&provider, &["answer", "last", "q2", "allow once"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("done.txt"), "one\n");
    env.require_intact_store();
}

#[test]
fn a_rule_written_since_answers_the_open_question() {
    let env = asking("echo one >> done.txt");
    let rule = "worktrees = false\n[[permissions.allow]]\ntool = \"shell.run\"\ncommand = \"echo one >> done.txt\"\nunsandboxed = true\n";
    std::fs::write(env.place.dir.path().join("own.toml"), rule).unwrap();
    let provider = env.tape("second", &[("Done.", None)]);
    let output = env.run(&provider, &["resume", "last"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("done.txt"), "one\n");
    env.require_intact_store();
}

/// Answers yes in a separate process and kills it while the command runs.
fn killed_at_the_command() -> AgentEnv {
    let env = asking("echo one >> done.txt; sleep 60");
    let own = env.own();
    let provider = env.tape("killed", &[]);
    let answered = env.place.run(&["answer", "last", "q2", "allow once"]);
    assert_eq!(code(&answered), 0, "{}", words(&answered));
    let args = AgentEnv::args(&own, &provider, &["resume", "last"]);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .env("PLANWRIGHT_DATA_DIR", env.place.data())
        .current_dir(env.place.work())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(&mut child, || env.written("done.txt") == "one\n");
    child.kill().unwrap();
    child.wait().unwrap();
    env
}

pub(super) fn wait_until(child: &mut Child, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "it comes to that");
        assert!(child.try_wait().unwrap().is_none(), "it is still running");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_command_killed_half_way_is_in_doubt_and_can_be_marked_as_done() {
    let env = killed_at_the_command();
    let provider = env.tape("second", &[("It left its mark.", None)]);
    let output = env.run(&provider, &["resume", "last"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let printed = words(&output);
    assert!(
        printed.contains("Did this call finish?") && printed.contains("--in-doubt"),
        "{printed}"
    );
    assert_eq!(env.written("done.txt"), "one\n", "it is not run again unasked");
    let output = env.run(&provider, &["answer", "last", "next", "it", "happened"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("done.txt"), "one\n");
    assert_eq!(env.answer().as_deref(), Some("It left its mark."));
    let prompt = env.prompts().pop().unwrap();
    assert!(prompt.contains("the person says that it took place"), "{prompt}");
    env.require_intact_store();
}

#[test]
fn a_call_in_doubt_is_repeated_only_on_the_persons_request() {
    let env = killed_at_the_command();
    let own = env.own();
    let provider = env.tape("second", &[("It is done.", None)]);
    // The answer permits rerunning this one call: nothing else is asked, and the command itself runs to its end.
    let args = AgentEnv::args(&own, &provider, &["resume", "last", "--in-doubt", "run"]);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .env("PLANWRIGHT_DATA_DIR", env.place.data())
        .current_dir(env.place.work())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(&mut child, || env.written("done.txt") == "one\none\n");
    child.kill().unwrap();
    child.wait().unwrap();
    // In doubt once more, and this time it is skipped.
    let output = env.run(&provider, &["resume", "last", "--in-doubt", "skip"]);
    let shown: Value =
        serde_json::from_slice(&env.place.run(&["sessions", "show", "last", "--json"]).stdout)
            .unwrap();
    assert_eq!(code(&output), 0, "{} {shown:#}", words(&output));
    assert_eq!(env.written("done.txt"), "one\none\n");
    env.require_intact_store();
}

#[test]
fn a_command_ended_cleanly_half_way_is_in_doubt_as_well() {
    let env = asking("echo one >> done.txt; sleep 60");
    let own = env.own();
    let provider = env.tape("ended", &[]);
    let answered = env.place.run(&["answer", "last", "q2", "allow once"]);
    assert_eq!(code(&answered), 0, "{}", words(&answered));
    let args = AgentEnv::args(&own, &provider, &["resume", "last"]);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .env("PLANWRIGHT_DATA_DIR", env.place.data())
        .current_dir(env.place.work())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(&mut child, || env.written("done.txt") == "one\n");
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(ended.success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let provider = env.tape("second", &[("It left its mark.", None)]);
    let output = env.run(&provider, &["resume", "last", "--in-doubt", "done"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("done.txt"), "one\n");
    assert_eq!(env.answer().as_deref(), Some("It left its mark."));
    env.require_intact_store();
}
