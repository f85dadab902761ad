//! Agents that are not installed, lie, flood, hang and die: the person gets a sentence, and nothing outside the copy has
//! changed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{OwnAgentEnv, cannot_confine, command_call};
use crate::agents::{AgentEnv, code, words};

/// Runs a script, which must fail with these words and leave everything as it was.
fn fails_with(script: &Value, wanted: &str) -> OwnAgentEnv {
    let own = OwnAgentEnv::new(script);
    let (code, told) = own.run_plan("");
    assert_eq!(code, 1, "{told}");
    assert!(told.contains(wanted), "{wanted}: {told}");
    nothing_changed(&own);
    own
}

/// The workspace is as it was, and the store has no anomalies.
fn nothing_changed(own: &OwnAgentEnv) {
    assert_eq!(own.env.written("a.txt"), "one\n");
    let names: Vec<_> = std::fs::read_dir(own.env.place.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let known = |name: &String| matches!(name.as_str(), "a.txt" | "other.toml");
    assert!(names.iter().all(known), "{names:?}");
    own.env.require_intact_store();
}

/// Failures are told with what can be done next.
fn offers_a_retry(own: &OwnAgentEnv) {
    let failed = own.env.bodies("task", "failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    let output = own.run(&["sessions", "show", "last"]);
    assert!(words(&output).contains("failed"), "{}", words(&output));
}

#[test]
fn an_agent_that_is_not_installed_is_named_with_what_to_do() {
    let env = AgentEnv::with_copies(
        "[agents.mine]\ncommand = [\"no-such-agent-here\"]\n[agents.claude]\ncommand = [\"no-such-claude\"]\n",
    );
    let own = OwnAgentEnv { env };
    std::fs::write(own.env.place.work().join("a.txt"), "one\n").unwrap();
    let (code_of_run, told) = own.run_plan("");
    assert_eq!(code_of_run, 1, "{told}");
    assert!(told.contains("no-such-agent-here is not installed"), "{told}");
    let listed = own.run(&["agents", "list"]);
    assert!(words(&listed).contains("no-such-claude is not installed"), "{}", words(&listed));
    nothing_changed(&own);
    let plan = own.plan("");
    std::fs::write(
        own.env.place.work().join("other.toml"),
        std::fs::read_to_string(&plan).unwrap_or_default().replace("\"mine\"", "\"yours\""),
    )
    .unwrap();
    let unknown = own.run(&["check", "other.toml"]);
    assert_ne!(code(&unknown), 0, "{}", words(&unknown));
    assert!(words(&unknown).contains("names an agent that is not set up"), "{}", words(&unknown));
}

#[test]
fn an_agent_that_is_not_signed_in_says_how_to() {
    if cannot_confine() {
        return;
    }
    let error = json!({ "code": -32000, "message": "Authentication required" });
    let own = fails_with(&json!({ "errors": { "session/new": error } }), "is not signed in");
    offers_a_retry(&own);
    let probed = own.run(&["agents", "probe", "mine"]);
    assert_eq!(code(&probed), 1, "{}", words(&probed));
    assert!(words(&probed).contains("is not signed in"), "{}", words(&probed));
}

#[test]
fn another_version_of_the_protocol_is_refused() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "initialize": { "protocolVersion": 7 } });
    fails_with(&script, "Agent Client Protocol");
}

#[test]
fn garbage_between_messages_is_survived_and_too_much_of_it_ends_the_agent() {
    if cannot_confine() {
        return;
    }
    let some = json!({ "prompts": [[
        { "raw": "hello, this is a log line" }, { "raw": "\u{1b}[31mred\u{1b}[0m" }, { "raw": "{\"half\": " },
        { "raw": "[1, 2]" }, { "say": "All good." },
    ]] });
    let own = OwnAgentEnv::new(&some);
    let (code, told) = own.run_plan("");
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("lines that are not messages of the protocol"), "{told}");
    nothing_changed(&own);
    let much: Vec<Value> = (0..300).map(|_| json!({ "raw": "noise" })).collect();
    fails_with(&json!({ "prompts": [much] }), "more than 200 lines that are not messages");
}

#[test]
fn a_line_of_10_mb_is_cut_and_one_of_20_mb_ends_the_agent() {
    if cannot_confine() {
        return;
    }
    let own =
        OwnAgentEnv::new(&json!({ "prompts": [[{ "bytes": 10_000_000 }, { "say": " Done." }]] }));
    let (code, told) = own.run_plan("");
    assert_eq!(code, 0, "{}", &told[..told.len().min(2_000)]);
    let kept: usize = own
        .env
        .bodies("agent", "thought")
        .iter()
        .map(|body| body["step"]["content"].as_str().unwrap().len())
        .sum();
    assert!(kept < 300_000, "{kept} bytes are in the journal");
    nothing_changed(&own);
    fails_with(&json!({ "prompts": [[{ "bytes": 20_000_000 }]] }), "longer than 16 MB");
}

#[test]
fn a_flood_of_updates_becomes_a_few_steps() {
    if cannot_confine() {
        return;
    }
    let own = OwnAgentEnv::new(&json!({ "prompts": [[{ "flood": 4_000 }, { "say": "Done." }]] }));
    let (code, told) = own.run_plan("");
    assert_eq!(code, 0, "{told}");
    let thoughts = own.env.bodies("agent", "thought");
    assert!(thoughts.len() < 400, "{} steps", thoughts.len());
    let said: String =
        thoughts.iter().map(|body| body["step"]["content"].as_str().unwrap()).collect();
    assert!(said.contains(" 3999 ") && said.contains("2000 2001"), "nothing is lost");
    nothing_changed(&own);
}

#[test]
fn options_that_nobody_knows_allow_nothing() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "prompts": [
        [{ "ask": command_call("c1", "echo two > a.txt"),
            "options": [{ "optionId": "yes", "kind": "allow_forever", "name": "Yes" },
                        { "optionId": "yes", "kind": "allow_always", "name": "Yes" }, 7],
            "then": [{ "run": "echo two > a.txt" }] }],
        [{ "say": "I did nothing." }],
    ] });
    let own = OwnAgentEnv::new(&script);
    let plan = own.plan("");
    let output = own.run(&["run", &plan, "--yes", "--policy", "autonomy=high"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let answers = own.answers();
    assert_eq!(answers[0]["result"]["outcome"]["outcome"], "cancelled", "{answers:?}");
    assert!(own.prompts()[1].contains("no answer that allows it once"), "{:?}", own.prompts());
    nothing_changed(&own);
}

#[test]
fn paths_outside_its_copy_are_refused() {
    if cannot_confine() {
        return;
    }
    let edit = json!({ "toolCallId": "e1", "kind": "edit", "title": "Edit", "content": [
        { "type": "diff", "path": "/etc/passwd", "oldText": "a", "newText": "b" }] });
    let script = json!({ "prompts": [
        [
            { "request": ["fs/read_text_file", { "sessionId": "s-1", "path": "/etc/passwd" }] },
            { "request": ["fs/read_text_file", { "sessionId": "s-1", "path": "../../../own.toml" }] },
            { "request": ["fs/write_text_file", { "sessionId": "s-1", "path": "/tmp/planwright-outside", "content": "x" }] },
            { "request": ["fs/write_text_file", { "sessionId": "s-1", "path": "../outside.txt", "content": "x" }] },
            { "request": ["terminal/create", { "sessionId": "s-1", "command": "true", "cwd": "/" }] },
            { "request": ["fs/no_such_method", {}] },
            { "ask": edit },
        ],
        [{ "say": "Nothing was possible." }],
    ] });
    let own = OwnAgentEnv::new(&script);
    let (code, told) = own.run_plan("");
    assert_eq!(code, 0, "{told}");
    let answers = own.answers();
    assert_eq!(answers.len(), 7, "{answers:?}");
    for answer in &answers[..6] {
        assert!(answer["error"]["code"].is_i64(), "{answer}");
    }
    assert_eq!(answers[5]["error"]["code"], -32601, "a method that nobody knows");
    assert_eq!(answers[6]["result"]["outcome"]["optionId"], "no");
    assert!(!std::path::Path::new("/tmp/planwright-outside").exists());
    nothing_changed(&own);
}

#[test]
fn an_agent_that_does_not_ask_is_confined_to_its_copy() {
    if cannot_confine() {
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("stolen.txt").display().to_string();
    let script = json!({ "prompts": [[
        { "update": command_update("c1", "rm -rf everything", "in_progress") },
        { "write": ["a.txt", "two\n"] },
        { "write": [target, "x"] },
        { "run": "cat ~/.ssh/* 2>/dev/null | grep -q ." },
        { "run": format!("ls {}", outside.path().display()) },
        { "run": "exec 3<>/dev/tcp/127.0.0.1/22" },
        { "update": command_update("c1", "rm -rf everything", "completed") },
        { "say": "Done without asking." },
    ]] });
    let own = OwnAgentEnv::new(&script);
    let (code, told) = own.run_plan("");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Use these changes?") && told.contains("+two"), "{told}");
    assert!(!std::path::Path::new(&target).exists(), "a write outside its copy");
    let log = own.log();
    let wrote = |path: &str| log.iter().find(|line| line["wrote"] == path).unwrap()["ok"].clone();
    assert_eq!((wrote("a.txt"), wrote(&target)), (json!(true), json!(false)));
    let ran: Vec<&Value> = log.iter().filter(|line| line.get("ran").is_some()).collect();
    assert!(ran.iter().all(|line| line["code"] != 0), "{ran:?}");
    let observed = own.env.bodies("agent", "observed");
    let text = observed.iter().map(|body| body["step"]["content"].as_str().unwrap());
    assert!(text.collect::<String>().contains("it did not ask"), "{observed:?}");
    nothing_changed(&own);
}

fn command_update(id: &str, command: &str, status: &str) -> Value {
    json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": command, "kind": "execute",
        "status": status, "rawInput": { "command": command } })
}

#[test]
fn changed_protected_files_are_told_and_those_of_git_end_the_attempt() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "prompts": [[
        { "run": "mkdir -p .github/workflows && echo x > .github/workflows/ci.yml" },
        { "say": "Done." },
    ]] });
    let own = OwnAgentEnv::new(&script);
    let plan = own.plan("");
    // Not even high autonomy applies that by itself.
    let output = own.run(&["run", &plan, "--yes", "--policy", "autonomy=high"]);
    let told = words(&output);
    assert_eq!(code(&output), 3, "{told}");
    assert!(told.contains("changed protected files: .github/workflows/ci.yml"), "{told}");
    assert!(told.contains("decides what other programs do on their own"), "{told}");
    nothing_changed(&own);
    let script = json!({ "prompts": [[
        { "run": "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit" }, { "say": "Done." },
    ]] });
    let own = OwnAgentEnv::new(&script);
    let (code, told) = own.run_plan("");
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("changed protected files: .git/hooks/pre-commit"), "{told}");
}

#[test]
fn an_agent_that_dies_is_told_with_how_it_ended() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "prompts": [[{ "write": ["b.txt", "half\n"] }, { "die": 3 }]] });
    let own = fails_with(&script, "stopped: it ended (exit status: 3)");
    offers_a_retry(&own);
    // A retry works on in the same copy, with what was there.
    own.script(&json!({ "prompts": [[{ "say": "Finished." }]] }));
    let output = own.run(&["resume", "last", "--retry", "failed"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("+half"), "{}", words(&output));
    let prompts = own.prompts();
    assert!(prompts.last().unwrap().contains("already has your earlier work"), "{prompts:?}");
}

#[test]
fn an_agent_that_dies_at_its_start_is_told() {
    if cannot_confine() {
        return;
    }
    let own = OwnAgentEnv::new(&json!({}));
    let config = own.env.place.dir.path().join("own.toml");
    std::fs::write(
        &config,
        "[agents.mine]\ncommand = [\"sh\", \"-c\", \"echo no license key >&2; exit 4\"]\n",
    )
    .unwrap();
    let (code, told) = own.run_plan("");
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("no license key"), "{told}");
    nothing_changed(&own);
}

#[test]
fn an_agent_that_hangs_or_ignores_a_cancellation_is_ended_in_time() {
    if cannot_confine() {
        return;
    }
    // It ignores the cancellation and SIGTERM, and leaves a child in a session of its own without a mark.
    let script = json!({ "prompts": [[
        { "write": ["b.txt", "half\n"] },
        { "run": "trap '' TERM; env -i setsid sleep 400 & env -i setsid sleep 400 & sleep 0.1" },
        { "hang": true },
    ]] });
    let own = OwnAgentEnv::new(&script);
    let begun = Instant::now();
    let (code, told) = own.run_plan("timeout = \"2s\"");
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("2 s"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    let left = std::process::Command::new("pgrep").args(["-f", "sleep 400"]).output();
    if let Ok(left) = left {
        assert!(left.stdout.is_empty(), "{}", String::from_utf8_lossy(&left.stdout));
    }
    nothing_changed(&own);
}

#[test]
fn several_questions_at_once_each_get_an_answer() {
    if cannot_confine() {
        return;
    }
    let read = json!({ "toolCallId": "r1", "kind": "read", "title": "Read", "rawInput": { "path": "a.txt" } });
    let edit = json!({ "toolCallId": "e1", "kind": "edit", "title": "Edit a.txt", "content": [
        { "type": "diff", "path": "a.txt", "oldText": "one\n", "newText": "two\n" }] });
    let script = json!({ "loads": true, "prompts": [
        [{ "ask_all": [command_call("c1", "make one"), read, edit, command_call("c2", "make two")] },
         { "say": "All answered." }],
    ] });
    let own = OwnAgentEnv::new(&script);
    let plan = own.plan("");
    let output = own.run(&["run", &plan, "--yes", "--policy", "autonomy=high"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let chosen: Vec<Value> = own
        .answers()
        .iter()
        .map(|answer| answer["result"]["outcome"]["optionId"].clone())
        .collect();
    assert_eq!(chosen, vec![json!("yes"); 4]);
    own.env.require_intact_store();
}
