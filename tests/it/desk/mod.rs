//! The approval desk: scripted agents submit plans over MCP and through hooks, and a person decides with the program.

mod client;
mod hostile;
mod real_agents;
mod screens;
mod sdk;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::Place;
use client::{DeskClient, agent_command, end_server, start_hook, told};

const PLAN: &str = "# Faster search\n\nWhy: it is slow.\n\n1. Measure the search\n2. Build an index\n   - in the background\n3. Write tests\n";

fn submit(client: &mut DeskClient, markdown: &str) -> (String, String) {
    let report = client.call("submit_plan", &json!({"markdown": markdown}));
    let text = |name: &str| report[name].as_str().unwrap().to_owned();
    (text("ticket"), text("hash"))
}

/// The person answers from another terminal.
fn answer(place: &Place, ticket: &str, words: &str) {
    let output = place.run(&["answer", ticket, "next", words]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn open_ticket(place: &Place) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let waiting = place.sessions().into_iter().find(|row| row["status"] == "needs you");
        if let Some(row) = waiting {
            return row["id"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < deadline, "no ticket: {:?}", place.sessions());
    }
}

#[test]
fn an_agent_submits_revises_is_approved_and_reports() {
    let place = Place::new();
    let mut client = DeskClient::start(&place);
    let listed = client.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in [
        "submit_plan",
        "wait_for_decision",
        "revise_plan",
        "report_progress",
        "ask_person",
        "get_plan",
        "list_plans",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let (ticket, first) = submit(&mut client, PLAN);
    let told = client.call("wait_for_decision", &json!({"ticket": ticket, "seconds": 0}));
    assert_eq!(told["status"], "pending");

    answer(&place, &ticket, "request changes: measure twice");
    let told = client.decision(&ticket);
    assert_eq!((&told["status"], &told["text"]), (&json!("changes"), &json!("measure twice")));

    let changed = PLAN.replace("Measure the search", "Measure the search twice");
    let revised = client.call("revise_plan", &json!({"ticket": ticket, "markdown": changed}));
    assert_eq!(revised["revision"], 2);
    assert_ne!(revised["hash"], first.as_str());
    let node = |report: &Value, at: usize| report["nodes"][at]["id"].as_str().unwrap().to_owned();
    let plan = client.call("get_plan", &json!({"ticket": ticket}));
    let task = node(&plan, 0);

    answer(&place, &ticket, "approve");
    let told = client.decision(&ticket);
    assert_eq!((&told["status"], &told["carried_out_by"]), (&json!("approved"), &json!("you")));
    let hash = told["hash"].as_str().unwrap().to_owned();
    let report = |hash: &str, state: &str, evidence: &[&str]| json!({"ticket": ticket, "hash": hash, "task": task, "state": state, "evidence": evidence});
    let stale = client.try_call("report_progress", &report(&first, "done", &["it works"]));
    assert!(stale.unwrap_err()["error"].as_str().unwrap().contains("is approved"));
    let bare = client.try_call("report_progress", &report(&hash, "done", &[]));
    assert!(bare.unwrap_err()["error"].as_str().unwrap().contains("what shows it"));
    client.call("report_progress", &report(&hash, "started", &[]));
    let done = client.call("report_progress", &report(&hash, "done", &["bench: 40 ms"]));
    assert_eq!((&done["status"], &done["done"]), (&json!("recorded"), &json!(1)));
    client.leave();
    let shown = place.run(&["sessions", "show", &ticket]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("Measure the search twice"), "{shown}");
}

#[test]
fn nodes_keep_their_ids_over_revisions() {
    let place = Place::new();
    let mut client = DeskClient::start(&place);
    let first = client.call("submit_plan", &json!({"markdown": PLAN}));
    let ticket = first["ticket"].as_str().unwrap();
    let moved = "# Faster search\n\n1. Write tests\n2. Ask the users\n3. Measure the search\n4. Build an index\n";
    let second = client.call("revise_plan", &json!({"ticket": ticket, "markdown": moved}));
    let ids = |report: &Value| -> std::collections::BTreeMap<String, String> {
        let nodes = report["nodes"].as_array().unwrap().iter();
        let text = |node: &Value, name: &str| node[name].as_str().unwrap().to_owned();
        nodes.map(|node| (text(node, "title"), text(node, "id"))).collect()
    };
    let (before, after) = (ids(&first), ids(&second));
    for title in ["Measure the search", "Write tests"] {
        assert_eq!(before[title], after[title], "{before:?} {after:?}");
    }
    assert!(!before.values().any(|id| *id == after["Ask the users"]));
    client.leave();
}

#[test]
fn a_question_of_an_agent_is_answered_in_words() {
    let place = Place::new();
    let mut client = DeskClient::start(&place);
    let (ticket, _) = submit(&mut client, PLAN);
    answer(&place, &ticket, "approve");
    client.decision(&ticket);
    let asked = json!({"ticket": ticket, "question": "Which index?", "seconds": 0});
    assert_eq!(client.call("ask_person", &asked)["status"], "pending");
    answer(&place, &ticket, "the small one");
    let told = client.call("ask_person", &asked);
    assert_eq!((&told["status"], &told["answer"]), (&json!("answered"), &json!("the small one")));
    client.leave();
}

fn plan_exit(place: &Place, plan: &str) -> Value {
    json!({"session_id": "s1", "cwd": place.work(), "hook_event_name": "PreToolUse",
        "permission_mode": "plan", "tool_name": "ExitPlanMode", "tool_input": {"plan": plan}})
}

#[test]
fn the_plan_exit_of_claude_code_ends_here() {
    let place = Place::new();
    let hook = start_hook(&place, "claude", &plan_exit(&place, PLAN));
    let ticket = open_ticket(&place);
    answer(&place, &ticket, "request changes: measure twice");
    let first = &told(hook)["hookSpecificOutput"];
    assert_eq!(first["permissionDecision"], "deny");
    let reason = first["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("wants changes") && reason.contains("measure twice"), "{reason}");

    let changed = PLAN.replace("Measure the search", "Measure the search twice");
    let hook = start_hook(&place, "claude", &plan_exit(&place, &changed));
    // The same conversation is the same ticket, with another draft.
    assert_eq!(open_ticket(&place), ticket);
    answer(&place, &ticket, "approve");
    let second = &told(hook)["hookSpecificOutput"];
    assert_eq!(second["permissionDecision"], "allow");
    assert_eq!(second["updatedInput"]["plan"], changed);
    assert_eq!(place.sessions().len(), 1);
}

#[test]
fn a_permission_is_decided_here_and_denied_with_the_reason() {
    let place = Place::new();
    let asked = json!({"session_id": "s2", "cwd": place.work(),
        "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "rm -rf build", "description": "Clean up"}});
    let hook = start_hook(&place, "codex", &asked);
    let ticket = open_ticket(&place);
    answer(&place, &ticket, "deny: use make clean");
    let decision = &told(hook)["hookSpecificOutput"]["decision"];
    assert_eq!(decision["behavior"], "deny");
    assert!(decision["message"].as_str().unwrap().contains("use make clean"), "{decision}");
    let hook = start_hook(&place, "codex", &asked);
    assert_eq!(open_ticket(&place), ticket);
    answer(&place, &ticket, "allow once");
    assert_eq!(told(hook)["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

#[test]
fn a_hook_that_cannot_keep_a_plan_denies_it_and_leaves_permissions_to_the_agent() {
    let place = Place::new();
    std::fs::write(place.data(), "in the way").unwrap();
    let denied = told(start_hook(&place, "claude", &plan_exit(&place, PLAN)));
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");
    let asked = json!({"session_id": "s2", "cwd": place.work(), "tool_name": "Bash",
        "hook_event_name": "PermissionRequest", "tool_input": {"command": "ls"}});
    assert_eq!(told(start_hook(&place, "claude", &asked)), json!({}));
    let other = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash"});
    assert_eq!(told(start_hook(&place, "claude", &other)), json!({}));
}

#[test]
fn the_hook_is_put_into_the_settings_and_taken_out_again() {
    let place = Place::new();
    let home = place.dir.path().join("home");
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    let file = home.join(".claude/settings.json");
    let before = "{\n  \"model\": \"large\"\n}\n";
    std::fs::write(&file, before).unwrap();
    let run = |args: &[&str]| {
        place.command(args).env("HOME", &home).env_remove("CLAUDE_CONFIG_DIR").output().unwrap()
    };
    // Without a terminal and without --yes nothing is written.
    let shown = run(&["hook", "install", "claude"]);
    assert_eq!(shown.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&shown.stdout).contains("+    \"PreToolUse\": ["));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert!(run(&["hook", "install", "claude", "--yes"]).status.success());
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["hooks"]["PreToolUse"][0]["matcher"], "ExitPlanMode");
    let again = run(&["hook", "install", "claude", "--yes"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("already"));
    assert!(run(&["hook", "uninstall", "claude", "--yes"]).status.success());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let none = run(&["hook", "install", "codex", "--only", "plans", "--yes"]);
    assert_eq!(none.status.code(), Some(2));
}

#[test]
fn the_desk_over_http_wants_its_token() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let place = Place::new();
    let mut child = agent_command(&place, &["mcp", "--http", "0", "--token", "0123456789abcdef"])
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split("/mcp").next().unwrap().to_owned();
    let ask = |token: &str| {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
            {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "x", "version": "1"}}})
        .to_string();
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\nAuthorization: Bearer {token}\r\n\
            Content-Length: {}\r\n\r\n{hello}",
            hello.len()
        )
        .unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        String::from_utf8_lossy(&head).into_owned()
    };
    assert_eq!(ask("fedcba9876543210"), "HTTP/1.1 401");
    assert_eq!(ask("0123456789abcdef"), "HTTP/1.1 200");
    end_server(&place, child);
}

#[test]
fn the_command_of_the_settings_is_told_about_a_ticket() {
    let place = Place::new();
    let seen = place.dir.path().join("seen");
    let config = format!(
        "desk_notify = [\"sh\", \"-c\", 'echo \"$PLANWRIGHT_EVENT $PLANWRIGHT_TEXT\" > \"{}\"']\n",
        seen.display()
    );
    std::fs::write(place.dir.path().join("config.toml"), config).unwrap();
    let mut client = DeskClient::start(&place);
    submit(&mut client, PLAN);
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut words = String::new();
    while !words.ends_with('\n') {
        assert!(Instant::now() < deadline, "nobody was told");
        words = std::fs::read_to_string(&seen).unwrap_or_default();
    }
    assert_eq!(words, "ticket Claude Code submitted a plan: Faster search\n");
    client.leave();
}
