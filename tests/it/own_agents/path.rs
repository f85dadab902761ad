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
        { "update": { "sessionUpdate": "usage_update", "used": 900, "size": 200000,
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
