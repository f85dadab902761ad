//! A change to a small repository and a question about one, from plan file to exit code.

use serde_json::{Value, json};

use super::{AgentEnv, ModelAnswer, code, words};

const CODE: &str = "add() { echo $(( $1 - $2 )); }\n";
const TESTS: &str = ". ./calc.sh\n[ \"$(add 2 3)\" = 5 ] || { echo \"add 2 3 gave $(add 2 3), want 5\"; exit 1; }\necho passed\n";
const RULE: &str =
    "[[permissions.allow]]\ntool = \"test.run\"\ncommand = \"make test\"\nunsandboxed = true\n";

#[expect(clippy::unnecessary_wraps, reason = "as an answer on the tape holds it")]
fn edit(old: &str, new: &str) -> Option<(&'static str, Value)> {
    Some(("file.edit", json!({"path": "calc.sh", "old": old, "new": new})))
}

fn repository(config: &str) -> AgentEnv {
    let env = AgentEnv::new(config);
    let put = |name: &str, text: &str| std::fs::write(env.place.work().join(name), text).unwrap();
    put("calc.sh", CODE);
    put("test.sh", TESTS);
    put("Makefile", "test:\n\t@sh ./test.sh\n");
    env
}

fn red_then_green() -> [ModelAnswer<'static>; 6] {
    [
        ("I read it first.", Some(("file.read", json!({"path": "calc.sh"})))),
        ("It takes away; it should multiply.", edit("$1 - $2", "$1 * $2")),
        ("I run the tests.", Some(("test.run", json!({})))),
        ("It should add.", edit("$1 * $2", "$1 + $2")),
        ("I run the tests again.", Some(("test.run", json!({})))),
        ("add adds now: calc.sh:1.", None),
    ]
}

#[test]
fn code_is_read_changed_tested_red_changed_again_and_tested_green() {
    let env = repository(RULE);
    let provider = env.tape("tape", &red_then_green());
    let plan = env.plan("code_modify", "Make add() add", "");
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.written("calc.sh"), "add() { echo $(( $1 + $2 )); }\n");
    assert_eq!(env.written("test.sh"), TESTS);
    assert_eq!(env.tools(), ["file.read", "file.edit", "test.run", "file.edit", "test.run"]);
    assert_eq!(env.answer().as_deref(), Some("add adds now: calc.sh:1."));

    // The trace shows it, both during the run and afterwards.
    let order = |text: &str| {
        let marks = ["I read it first.", "tests_failed", "want 5", "It should add.", "passed"];
        let mut rest = text;
        for mark in marks {
            let at = rest.find(mark).unwrap_or_else(|| panic!("{mark} in order in {text}"));
            rest = &rest[at + mark.len()..];
        }
    };
    order(&words(&output));
    order(&words(&env.place.run(&["replay", "last", "--headless"])));
    // The second edit was made knowing why the tests failed.
    let prompts = env.prompts();
    assert!(prompts[3].contains("add 2 3 gave 6, want 5"), "{}", prompts[3]);
    // Waiting time is reported separately from the engine's own time.
    let profile = env.place.run(&["sessions", "show", "last", "--profile", "--json"]);
    let profile: Value = serde_json::from_slice(&profile.stdout).unwrap();
    let share = &profile["agents"][0];
    let ms = |name: &str| share[name].as_u64().unwrap();
    let parts = ["model_ms", "tool_ms", "person_ms", "engine_ms"];
    assert_eq!(share["task"], "t", "{profile}");
    assert_eq!(parts.map(ms).iter().sum::<u64>(), ms("ms"), "{profile}");
    let state = env.bodies("agent", "state_saved").pop().unwrap()["state"]["state"].clone();
    assert_eq!(
        state["completed_steps"],
        json!(["read", "understand", "edit", "verify"]),
        "{state}"
    );
    env.require_intact_store();
}

#[test]
fn tests_that_nothing_allows_are_asked_about_before_they_run() {
    let env = repository("");
    let answers = red_then_green();
    let plan = env.plan("code_modify", "Make add() add", "");
    let provider = env.tape("first", &answers[..3]);
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    assert!(words(&output).contains("Allow this command?"), "{}", words(&output));
    let provider = env.tape("second", &answers[3..]);
    let mut exit = 3;
    for _ in 0..3 {
        let output = env.run(&provider, &["answer", "last", "next", "allow once"]);
        exit = code(&output);
        assert!(exit == 0 || exit == 3, "{}", words(&output));
        if exit == 0 {
            break;
        }
        // The next process replays the rest of the recording.
        env.tape("second", &answers[5..]);
    }
    assert_eq!(exit, 0);
    assert_eq!(env.written("calc.sh"), "add() { echo $(( $1 + $2 )); }\n");
    env.require_intact_store();
}

#[test]
fn research_without_a_model_finds_and_cites_real_lines() {
    let env = AgentEnv::new("");
    let put = |name: &str, text: &str| {
        let path = env.place.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("src/lease.rs", "//! One writer.\n\npub fn heartbeat() {}\n\nfn renew_lease() {}\n");
    put("README.md", "# Demo\nThe lease is renewed by a heartbeat.\n");
    put("src/other.rs", "fn unrelated() {}\n");
    let plan = env.plan("research", "How is the lease renewed by the heartbeat?", "");
    let output = env.run("offline", &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let answer = env.answer().unwrap();
    let cited: Vec<&str> = answer.lines().skip(1).collect();
    assert!(cited.len() >= 3, "{answer}");
    for line in cited {
        let mut parts = line.splitn(3, ':');
        let (path, number) = (parts.next().unwrap(), parts.next().unwrap());
        let number: usize = number.parse().unwrap();
        let file = env.written(path);
        assert_eq!(parts.next().unwrap().trim(), file.lines().nth(number - 1).unwrap().trim());
    }
    assert!(answer.contains("src/lease.rs:3:") && answer.contains("README.md:2:"), "{answer}");
    assert!(words(&output).contains("src/lease.rs:3:"), "the person reads it too");
    env.require_intact_store();
}

#[test]
fn a_skill_is_built_in_at_most_three_iterations() {
    let env = AgentEnv::new("");
    std::fs::write(env.place.work().join("notes.md"), "Joins combine rows by a key.\n").unwrap();
    let explore = Some(("explore_context", json!({"questions": ["What is a join?"]})));
    let skill =
        json!({"name": "sql-joins", "description": "How to join", "source": "# Joins\nBy key."});
    let answers: [ModelAnswer<'_>; 4] = [
        ("I look it up.", explore),
        ("Joins combine rows: notes.md:1", None),
        ("I write it.", Some(("skill.generator", skill))),
        ("The skill is written.", None),
    ];
    let provider = env.tape("tape", &answers);
    let plan = env.plan("skill_build", "Write a skill about SQL joins", "");
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert!(env.written("skills/sql-joins/SKILL.md").contains("By key."));
    let work = env.bodies("agent", "state_saved").pop().unwrap()["state"].clone();
    assert!(work["iteration"].as_u64().unwrap() <= 3, "{work}");
    assert_eq!(
        work["state"]["completed_steps"],
        json!(["research", "generate", "verify"]),
        "{work}"
    );
    env.require_intact_store();
}
