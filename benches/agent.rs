//! Tasks of an agent on a recorded model: how long one takes, and how much of that is the engine's own time.
//!
//! A chain of tasks, each of which reads a file, changes it wrongly, sees real tests fail, changes it again and sees them
//! pass. The recorded model answers at once, so that what is neither model nor tool is the cost of the engine.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const TASKS: usize = 30;
/// The median time that a task may take, and how much of it may be the engine's.
const TASK_GOAL_MS: f64 = 5_000.0;
const ENGINE_GOAL_MS: f64 = 50.0;
const RULE: &str =
    "[[permissions.allow]]\ntool = \"test.run\"\ncommand = \"make test\"\nunsandboxed = true\n";

fn main() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let provider = format!("recorded:{}", dir.path().join("tape.jsonl").display());
    program(dir.path(), &["run", "../plan.toml", "--yes", "--headless", "--provider", &provider]);
    let profile = program(dir.path(), &["sessions", "show", "last", "--profile", "--json"]);
    let profile: Value = serde_json::from_slice(&profile).unwrap();
    let shares = profile["agents"].as_array().unwrap();
    assert_eq!(shares.len(), TASKS, "every task was done by the agent");

    let of = |name: &str| -> Vec<f64> {
        shares.iter().map(|share| share[name].as_f64().unwrap()).collect()
    };
    println!("{TASKS} tasks of 6 answers, 2 edits and 2 test runs each, recorded model, ms");
    println!("part          mean     worst   goal (mean)");
    for (part, goal) in [
        ("ms", Some(TASK_GOAL_MS)),
        ("model_ms", None),
        ("tool_ms", None),
        ("person_ms", None),
        ("engine_ms", Some(ENGINE_GOAL_MS)),
    ] {
        let times = of(part);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let worst = times.iter().copied().fold(0.0, f64::max);
        let goal = goal.map_or_else(String::new, |goal| {
            format!("{goal:.0}: {}", if mean <= goal { "met" } else { "MISSED" })
        });
        println!("{part:<10} {mean:>7.1} {worst:>9.1}   {goal}");
    }
}

/// A workspace with code and its tests, a plan, a config and the recording.
fn prepare(dir: &Path) {
    let work = dir.join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("value.sh"), "echo 0\n").unwrap();
    std::fs::write(
        work.join("Makefile"),
        "test:\n\t@sh ./value.sh | grep -q even || { echo odd; exit 1; }\n",
    )
    .unwrap();
    std::fs::write(dir.join("config.toml"), RULE).unwrap();
    let mut plan = String::from("title = \"Agents\"\n");
    let mut tape = vec![header()];
    let mut now = "echo 0".to_owned();
    for number in 0..TASKS {
        let before = number.checked_sub(1).map(|before| format!("\"t{before}\""));
        let _ = write!(
            plan,
            "[[tasks]]\nid = \"t{number}\"\ndescription = \"Make round {number} even\"\ntask_type = \"code_modify\"\n\
             run = {{ agent = {{}} }}\ndependencies = [{}]\n",
            before.unwrap_or_default()
        );
        let [wrong, right] = [format!("echo {number} odd"), format!("echo {number} even")];
        tape.extend([
            recorded_answer("I read it first.", Some(&("file.read", json!({"path": "value.sh"})))),
            recorded_answer("I change it.", Some(&edit(&now, &wrong))),
            recorded_answer("I run the tests.", Some(&("test.run", json!({})))),
            recorded_answer("That was wrong.", Some(&edit(&wrong, &right))),
            recorded_answer("I run the tests again.", Some(&("test.run", json!({})))),
            recorded_answer("It is even now: value.sh:1.", None),
        ]);
        now = right;
    }
    std::fs::write(dir.join("plan.toml"), plan).unwrap();
    std::fs::write(dir.join("tape.jsonl"), tape.join("\n")).unwrap();
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
    ("file.edit", json!({"path": "value.sh", "old": old, "new": new}))
}

fn header() -> String {
    let info = json!({"provider": "recorded", "model": "small", "host": "", "local": true,
        "context_window": null, "capability": {"tools": true, "json": "schema", "streaming": true}});
    json!({"cassette": 1, "info": info}).to_string()
}

fn recorded_answer(text: &str, call: Option<&(&str, Value)>) -> String {
    let calls: Vec<Value> = call
        .into_iter()
        .map(|(name, args)| json!({"id": "c", "name": name, "arguments": args.to_string()}))
        .collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let answer = json!({"text": text, "tool_calls": calls, "finish": finish, "model": "small",
        "usage": {"input": 100, "output": 20}});
    json!({"outcome": {"answer": answer}}).to_string()
}

/// Runs the program in the workspace and returns what it printed.
fn program(dir: &Path, args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_planwright"))
        .args(args)
        .arg("--config")
        .arg(dir.join("config.toml"))
        .arg("--data-dir")
        .arg(dir.join("data"))
        .current_dir(dir.join("work"))
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{args:?}: {words}\n{}",
        String::from_utf8_lossy(&output.stdout)
    );
    output.stdout
}
