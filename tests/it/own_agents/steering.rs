//! Messages to an agent at work, and two agents on the same files.

use serde_json::json;

use super::crash::{start, wait_until};
use super::{OwnAgentEnv, agent, cannot_confine};
use crate::agents::{code, words};

#[test]
fn a_message_waits_for_the_end_of_the_turn_and_an_interrupting_one_ends_it() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "loads": true, "prompts": [
        [{ "say": "I begin." }, { "write": ["b.txt", "half\n"] }, { "wait": true }, { "stop": "cancelled" }],
        [{ "say": "I use three." }],
    ] });
    let own = OwnAgentEnv::new(&script);
    let plan = own.plan("");
    let mut child = start(&own, &["run", &plan, "--yes"]);
    let at_work = |field: &str| own.log_if_complete().iter().any(|line| line.get(field).is_some());
    wait_until(&mut child, || at_work("wrote"));
    // The first message does not disturb it.
    let sent = own.run(&["message", "last", "t", "use two"]);
    assert_eq!(code(&sent), 0, "{}", words(&sent));
    assert!(!at_work("woke"));
    let sent = own.run(&["message", "last", "t", "no, three", "--interrupt"]);
    assert_eq!(code(&sent), 0, "{}", words(&sent));
    assert_eq!(child.wait().unwrap().code(), Some(3), "its changes wait for the person");
    let log = own.log();
    let woke = log.iter().find_map(|line| line.get("woke")).unwrap();
    assert_eq!(woke["method"], "session/cancel");
    let prompts = own.prompts();
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert!(prompts[1].contains("use two") && prompts[1].contains("no, three"), "{prompts:?}");
    own.env.require_intact_store();
}

#[test]
fn a_stopped_task_cancels_the_agent_and_ends_it() {
    if cannot_confine() {
        return;
    }
    let script = json!({ "prompts": [
        [{ "write": ["b.txt", "half\n"] }, { "wait": true }, { "hang": true }],
    ] });
    let own = OwnAgentEnv::new(&script);
    let plan = own.plan("");
    let mut child = start(&own, &["run", &plan, "--yes"]);
    let noted = |field: &str| own.log_if_complete().iter().any(|line| line.get(field).is_some());
    wait_until(&mut child, || noted("wrote"));
    let stopped = own.run(&["stop", "last", "t"]);
    assert_eq!(code(&stopped), 0, "{}", words(&stopped));
    assert_ne!(child.wait().unwrap().code(), Some(0));
    let log = own.log();
    let woke = log.iter().find_map(|line| line.get("woke")).unwrap();
    assert_eq!(woke["method"], "session/cancel");
    assert!(!own.env.place.work().join("b.txt").exists());
    own.env.require_intact_store();
}

#[test]
fn two_agents_change_the_same_lines_and_the_conflict_is_settled() {
    if cannot_confine() {
        return;
    }
    let own = OwnAgentEnv::new(&json!({ "prompts": [
        [{ "write": ["a.txt", "two\n"] }, { "say": "Two." }],
    ] }));
    let directory = own.env.place.dir.path().join("other");
    std::fs::create_dir(&directory).unwrap();
    let path = directory.join("script.json");
    let second = |text: &str| {
        let script = json!({ "loads": true, "prompts": [
            [{ "write": ["a.txt", text] }, { "say": "Done." }],
        ] });
        std::fs::write(&path, script.to_string()).unwrap();
    };
    second("three\n");
    let config = own.env.own();
    let more = format!(
        "{}[agents.other]\ncommand = {}\nwritable = [{:?}]\n",
        std::fs::read_to_string(&config).unwrap(),
        json!(agent::agent_command(&path)),
        directory.display().to_string(),
    );
    std::fs::write(&config, more).unwrap();
    let plan = own.env.place.plan(
        "title = \"Two agents\"\n\
         [[tasks]]\nid = \"t\"\ndescription = \"Change a.txt\"\ntask_type = \"code_modify\"\n\
         run = { agent = { with = \"mine\" } }\n\
         [[tasks]]\nid = \"u\"\ndescription = \"Change a.txt as well\"\ntask_type = \"code_modify\"\n\
         run = { agent = { with = \"other\" } }\n",
    );
    let output = own.run(&["run", &plan, "--yes"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let (exit, told) = own.answer("apply");
    assert_eq!(exit, 3, "{told}");
    let first = own.env.written("a.txt");
    assert!(first == "two\n" || first == "three\n", "{first}");
    let (exit, told) = own.answer("apply");
    assert_eq!(exit, 3, "{told}");
    assert!(told.contains("Conflict: a.txt") && told.contains("let the agent merge"), "{told}");
    assert_eq!(own.env.written("a.txt"), first, "nothing is half applied");
    second("two and three\n");
    own.script(&json!({ "loads": true, "prompts": [
        [{ "write": ["a.txt", "two and three\n"] }, { "say": "Merged." }],
    ] }));
    let (exit, told) = own.answer("let the agent merge");
    assert_eq!(exit, 3, "{told}");
    assert!(told.contains("+two and three"), "{told}");
    let (exit, told) = own.answer("apply");
    assert_eq!(exit, 0, "{told}");
    assert_eq!(own.env.written("a.txt"), "two and three\n");
    own.env.require_intact_store();
}
