//! The whole way of a task: prompt, words, a question, a command, an edit, done, checked, accepted.

use serde_json::{Value, json};

use super::{OwnAgentEnv, call_done, cannot_confine, command_call};

/// Says something, asks for a command, edits a file, and is done.
fn usual_script() -> Value {
    json!({ "loads": true, "prompts": [[
        { "think": "I should look first. " },
        { "update": { "sessionUpdate": "plan", "entries": [
            { "content": "Look", "status": "completed" },
            { "content": "Change a.txt", "status": "in_progress" } ] } },
        { "update": { "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Terminal",
            "kind": "execute", "status": "pending", "rawInput": {} } },
        { "ask": command_call("c1", "echo two > a.txt"), "then": [
            { "run": "echo two > a.txt" }, call_done("c1", "done"),
        ] },
        { "update": { "sessionUpdate": "usage_update", "used": 900, "size": 200_000,
            "cost": { "amount": 0.25, "currency": "USD" } } },
        { "say": "I changed a.txt." },
        { "end": { "stopReason": "end_turn", "usage": { "totalTokens": 1200 } } },
    ]] })
}

#[test]
fn a_task_is_done_by_an_agent_and_its_changes_are_accepted() {
    if cannot_confine() {
        return;
    }
    let own = OwnAgentEnv::new(&usual_script());
    let criteria = "exit_criteria = [{ kind = \"command\", command = \"grep -q two a.txt\" }]";
    let (code, told) = own.run_plan(criteria);
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Allow this command?") && told.contains("echo two > a.txt"), "{told}");
    let (code, told) = own.answer("allow once");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Use these changes?") && told.contains("+two"), "{told}");
    assert_eq!(own.env.written("a.txt"), "one\n", "nothing is applied yet");
    let (code, told) = own.answer("apply");
    assert_eq!(code, 0, "{told}");
    assert_eq!(own.env.written("a.txt"), "two\n");
    assert_eq!(own.env.answer().as_deref(), Some("I changed a.txt."));
    own.env.require_intact_store();
}

#[test]
fn a_claim_to_be_done_is_refused_while_the_check_fails() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "prompts": [
        [{ "say": "Everything is done." }],
        [{ "write": ["a.txt", "two\n"] }, { "say": "Now it is." }],
    ] });
    let own = OwnAgentEnv::new(&script);
    let criteria = "exit_criteria = [{ kind = \"command\", command = \"grep -q two a.txt || { echo still $(cat a.txt); false; }\" }]";
    let (code, told) = own.run_plan(criteria);
    assert_eq!(code, 3, "{told}");
    let prompts = own.prompts();
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert!(prompts[1].contains("Not accepted") && prompts[1].contains("still one"), "{prompts:?}");
    assert!(told.contains("passed: all exit criteria are met"), "{told}");
    // One that never gets there fails.
    own.script(&json!({ "prompts": [[{ "say": "Everything is done." }]] }));
    let never = OwnAgentEnv::new(&json!({ "prompts": [[{ "say": "Everything is done." }]] }));
    let (code, told) = never.run_plan(criteria);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("not shown to hold"), "{told}");
    assert_eq!(never.prompts().len(), 6, "three in each of two attempts");
}

#[test]
fn the_reason_of_a_denial_is_the_next_prompt() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "loads": true, "prompts": [
        [{ "ask": command_call("c1", "rm a.txt"), "then": [{ "run": "rm a.txt" }] }],
        [{ "say": "I left it alone." }],
    ] });
    let own = OwnAgentEnv::new(&script);
    let (code, told) = own.run_plan("");
    assert_eq!(code, 3, "{told}");
    let (code, told) = own.answer("deny: keep the file");
    assert_eq!(code, 0, "{told}");
    assert_eq!(own.answers().last().unwrap()["result"]["outcome"]["optionId"], "no");
    assert!(own.prompts().last().unwrap().contains("keep the file"), "{:?}", own.prompts());
    assert_eq!(own.env.answer().as_deref(), Some("I left it alone."));
    own.env.require_intact_store();
}

#[test]
fn requested_changes_continue_in_the_same_session_and_a_lost_one_is_told_everything() {
    if cannot_confine() {
        return;
    }
    for loads in [true, false] {
        let script = json!({ "loads": loads, "prompts": [
            [{ "write": ["a.txt", "two\n"] }, { "say": "Changed." }],
        ] });
        let own = OwnAgentEnv::new(&script);
        let (code, told) = own.run_plan("");
        assert_eq!(code, 3, "{told}");
        own.script(&json!({ "loads": loads, "prompts": [
            [{ "write": ["a.txt", "three\n"] }, { "say": "Changed again." }],
        ] }));
        let (code, told) = own.answer("request changes: use three");
        assert_eq!(code, 3, "{told}");
        assert!(told.contains("+three"), "{told}");
        let loaded = own.log().iter().filter(|line| line["got"] == "session/load").count();
        assert_eq!(loaded, usize::from(loads));
        let prompt = own.prompts().pop().unwrap();
        assert!(prompt.contains("use three"), "{prompt}");
        assert_eq!(prompt.contains("Change a.txt"), !loads, "{prompt}");
        // What came with the loaded session is not told again.
        let thoughts = own.env.bodies("agent", "thought");
        let old =
            |body: &Value| body["step"]["content"].as_str().unwrap().contains("an old message");
        assert!(!thoughts.iter().any(old), "{thoughts:?}");
        let (code, told) = own.answer("apply");
        assert_eq!(code, 0, "{told}");
        assert_eq!(own.env.written("a.txt"), "three\n");
        own.env.require_intact_store();
    }
}

#[test]
fn a_turn_that_ends_with_a_question_asks_the_person() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "loads": true, "prompts": [[{ "say": "Which number should it be?" }]] });
    let own = OwnAgentEnv::new(&script);
    let (code, told) = own.run_plan("");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Which number should it be?"), "{told}");
    own.script(&json!({ "loads": true, "prompts": [
        [{ "write": ["a.txt", "two\n"] }, { "say": "It is two." }],
    ] }));
    let (code, told) = own.answer("two");
    assert_eq!(code, 3, "{told}");
    assert!(
        own.prompts().last().unwrap().contains("The person answers: two"),
        "{:?}",
        own.prompts()
    );
    assert!(told.contains("+two"), "{told}");
}

#[test]
fn commands_and_files_go_through_us_where_the_agent_leaves_them_to_us() {
    if cannot_confine() {
        return;
    }
    let edit = json!({ "toolCallId": "e1", "kind": "edit", "title": "Edit a.txt", "content": [
        { "type": "diff", "path": "a.txt", "oldText": "one\n", "newText": "two\n" }] });
    let script = json!({ "prompts": [[
        { "request": ["fs/read_text_file", { "sessionId": "s-1", "path": "a.txt" }] },
        { "ask": edit, "then": [
            { "request": ["fs/write_text_file", { "sessionId": "s-1", "path": "a.txt", "content": "two\n" }] },
        ] },
        { "request": ["terminal/create", { "sessionId": "s-1", "command": "sh", "args": ["-c", "echo $GREETING; exit 3"],
            "env": [{ "name": "GREETING", "value": "hello" }] }] },
        { "request": ["terminal/wait_for_exit", { "sessionId": "s-1", "terminalId": "term-1" }] },
        { "request": ["terminal/output", { "sessionId": "s-1", "terminalId": "term-1" }] },
        { "request": ["terminal/release", { "sessionId": "s-1", "terminalId": "term-1" }] },
        { "request": ["terminal/output", { "sessionId": "s-1", "terminalId": "term-1" }] },
        { "say": "Done." },
    ]] });
    let own = OwnAgentEnv::new(&script);
    let plan = own.plan("");
    let output = own.run(&["run", &plan, "--yes", "--policy", "autonomy=high"]);
    let told = crate::agents::words(&output);
    assert_eq!(crate::agents::code(&output), 3, "{told}");
    assert!(told.contains("+two"), "{told}");
    let answers = own.answers();
    assert_eq!(answers[0]["result"]["content"], "one\n");
    assert_eq!(answers[2]["result"], json!({}));
    assert_eq!(answers[4]["result"]["exitCode"], 3, "{answers:?}");
    assert_eq!(answers[5]["result"]["output"], "hello\n", "{answers:?}");
    assert!(answers[7]["error"].is_object(), "a released terminal is gone: {answers:?}");
    own.env.require_intact_store();
}

#[test]
fn the_mode_and_the_model_are_set_and_unknown_ones_are_refused() {
    if cannot_confine() {
        return;
    }
    let opened = json!({ "sessionId": "s-1",
        "modes": { "currentModeId": "yolo", "availableModes": [{ "id": "yolo" }, { "id": "careful" }] },
        "configOptions": [{ "id": "model", "category": "model", "type": "select", "currentValue": "small",
            "options": [{ "value": "small" }, { "value": "large" }] }] });
    let script = json!({ "session/new": opened, "prompts": [[{ "say": "Done." }]] });
    let own = OwnAgentEnv::with_config(&script, "mode = \"careful\"\nmodel = \"large\"");
    let (code, told) = own.run_plan("");
    assert_eq!(code, 0, "{told}");
    let log = own.log();
    let set =
        |method: &str| log.iter().find(|line| line["got"] == method).unwrap()["params"].clone();
    assert_eq!(set("session/set_mode")["modeId"], "careful");
    assert_eq!(set("session/set_config_option")["value"], "large");
    let opened = own.env.bodies("agent", "session_opened");
    assert_eq!(opened[0]["session"]["model"], "large");
    let own = OwnAgentEnv::with_config(&script, "mode = \"silent\"");
    let (code, told) = own.run_plan("");
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("one of: yolo, careful"), "{told}");
}

#[test]
fn a_test_shows_whether_an_agent_asks_and_the_plan_says_so() {
    if cannot_confine() {
        return;
    }
    let asks = json!({ "prompts": [[{ "ask": command_call("c1", "touch planwright-test.txt"),
        "then": [{ "run": "touch planwright-test.txt" }] }]] });
    let own = OwnAgentEnv::new(&asks);
    let output = own.run(&["agents", "probe", "mine"]);
    assert!(
        crate::agents::words(&output).contains("It asked before"),
        "{}",
        crate::agents::words(&output)
    );
    let listed = own.run(&["agents", "list"]);
    assert!(
        crate::agents::words(&listed).contains("asks before commands"),
        "{}",
        crate::agents::words(&listed)
    );
    own.script(&json!({ "prompts": [[{ "run": "touch planwright-test.txt" }]] }));
    let output = own.run(&["agents", "probe", "mine"]);
    assert!(
        crate::agents::words(&output).contains("without asking"),
        "{}",
        crate::agents::words(&output)
    );
    own.script(&json!({ "prompts": [[{ "say": "Done." }]] }));
    let (code, told) = own.run_plan("");
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("does not ask: confined"), "{told}");
}
