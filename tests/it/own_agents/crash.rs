//! Planwright is killed while an agent of the person's own is at work: a resume loads the agent's session or asks, and
//! nothing happens twice.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{OwnAgentEnv, call_done, cannot_confine, command_call};
use crate::agents::{AgentEnv, code, words};

/// Starts the plan and kills Planwright once the agent has done its last step before it waits for good.
fn killed_in_the_middle(script: &Value, ready: impl Fn(&OwnAgentEnv) -> bool) -> OwnAgentEnv {
    let own = OwnAgentEnv::new(script);
    let plan = own.plan("");
    let mut child = start(&own, &["run", &plan, "--yes", "--policy", "autonomy=high"]);
    wait_until(&mut child, || ready(&own));
    child.kill().unwrap();
    child.wait().unwrap();
    own
}

/// Starts Planwright beside the test.
pub fn start(own: &OwnAgentEnv, args: &[&str]) -> Child {
    let config = own.env.own();
    Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(AgentEnv::args(&config, "offline", args))
        .env("PLANWRIGHT_DATA_DIR", own.env.place.data())
        .current_dir(own.env.place.work())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

pub fn wait_until(child: &mut Child, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !condition() {
        assert!(Instant::now() < deadline, "it comes to that");
        assert!(child.try_wait().unwrap().is_none(), "it is still running");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A call that reads, whose answer shows that everything before it is in the journal.
fn read_call() -> Value {
    json!({ "toolCallId": "r1", "title": "Read", "kind": "read", "rawInput": { "path": "a.txt" } })
}

/// The agent has done a step that it writes down.
fn has_noted(own: &OwnAgentEnv, field: &str) -> bool {
    own.log_if_complete().iter().any(|line| line.get(field).is_some())
}

#[test]
fn a_session_that_can_be_loaded_continues_after_a_kill() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "loads": true, "prompts": [[
        { "say": "I begin." },
        { "ask": read_call(), "then": [
            call_done("r1", "one"), { "write": ["a.txt", "half\n"] }, { "hang": true },
        ] },
    ]] });
    let own = killed_in_the_middle(&script, |own| has_noted(own, "wrote"));
    own.script(&json!({ "loads": true, "prompts": [[
        { "write": ["a.txt", "whole\n"] }, { "say": "I finished." },
    ]] }));
    let output = own.run(&["resume", "last"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("+whole"), "{}", words(&output));
    let loaded: Vec<Value> =
        own.log().into_iter().filter(|line| line["got"] == "session/load").collect();
    assert_eq!(loaded.len(), 1, "{loaded:?}");
    assert_eq!(loaded[0]["params"]["sessionId"], "s-1");
    let prompts = own.prompts();
    assert!(prompts[1].contains("interrupted"), "{prompts:?}");
    assert!(!prompts[1].contains("Change a.txt"), "it is not told the task again: {prompts:?}");
    own.env.require_intact_store();
}

#[test]
fn a_session_that_cannot_be_loaded_is_asked_about_before_it_begins_anew() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "loads": false, "prompts": [[
        { "ask": read_call(), "then": [
            call_done("r1", "one"), { "write": ["a.txt", "half\n"] }, { "hang": true },
        ] },
    ]] });
    let own = killed_in_the_middle(&script, |own| has_noted(own, "wrote"));
    own.script(&json!({ "prompts": [[{ "say": "I finished." }]] }));
    let output = own.run(&["resume", "last"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let told = words(&output);
    assert!(told.contains("Let mine continue in a new session?"), "{told}");
    assert_eq!(own.prompts().len(), 1, "nothing starts before the person said so");
    let (code, told) = own.answer("continue");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("+half"), "what it had done is kept: {told}");
    let prompts = own.prompts();
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert!(prompts[1].contains("Change a.txt"), "it is told the task again: {prompts:?}");
    own.env.require_intact_store();
}

#[test]
fn a_command_that_was_under_way_is_in_doubt_and_not_repeated() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "loads": true, "prompts": [[
        { "ask": command_call("c1", "echo more >> a.txt"), "then": [
            { "run": "echo more >> a.txt" }, { "hang": true },
        ] },
    ]] });
    let own = killed_in_the_middle(&script, |own| has_noted(own, "ran"));
    own.script(&json!({ "loads": true, "prompts": [[{ "say": "I looked and it is there." }]] }));
    let output = own.run(&["resume", "last"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let told = words(&output);
    assert!(
        told.contains("Did this call finish?") && told.contains("echo more >> a.txt"),
        "{told}"
    );
    assert_eq!(own.prompts().len(), 1, "nothing starts before the person said so");
    let (code, told) = own.answer("it happened");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Use these changes?"), "{told}");
    let prompts = own.prompts();
    assert!(prompts[1].contains("Do not repeat it: echo more >> a.txt"), "{prompts:?}");
    let (code, told) = own.answer("apply");
    assert_eq!(code, 0, "{told}");
    assert_eq!(own.env.written("a.txt"), "one\nmore\n", "it happened once");
    own.env.require_intact_store();
}
