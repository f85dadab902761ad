//! Several agents try one task: each in a copy of its own, one result is picked, nothing is lost on the way.

use serde_json::{Value, json};
use std::fmt::Write as _;

use super::agent::agent_command;
use super::cannot_confine;
use super::crash::wait_until;
use crate::agents::{AgentEnv, code, words};

/// Two scripted agents, `first` and `second`.
struct TwoAgents {
    env: AgentEnv,
}

impl TwoAgents {
    fn new(first: &Value, second: &Value) -> Self {
        let env = AgentEnv::with_copies("");
        let mut config = String::new();
        for (name, script) in [("first", first), ("second", second)] {
            let directory = env.place.dir.path().join(name);
            std::fs::create_dir(&directory).unwrap();
            let path = directory.join("script.json");
            std::fs::write(&path, script.to_string()).unwrap();
            let command = json!(agent_command(&path));
            let writable = directory.display().to_string();
            writeln!(config, "[agents.{name}]\ncommand = {command}\nwritable = [{writable:?}]")
                .unwrap();
        }
        std::fs::write(env.place.dir.path().join("own.toml"), config).unwrap();
        std::fs::write(env.place.work().join("a.txt"), "one\n").unwrap();
        Self { env }
    }

    fn script(&self, name: &str, script: &Value) {
        let path = self.env.place.dir.path().join(name).join("script.json");
        std::fs::write(path, script.to_string()).unwrap();
    }

    fn plan(&self, more: &str) -> String {
        self.env.place.plan(&format!(
            "title = \"Tries\"\n[[tasks]]\nid = \"t\"\ndescription = \"Change a.txt\"\n\
             task_type = \"code_modify\"\nrun = {{ agent = {{ best_of = [\"first\", \"second\"] }} }}\n{more}\n\
             [[tasks]]\nid = \"after\"\ndescription = \"Read it\"\ndepends_on = [\"t\"]\nrun = {{ shell = \"cat a.txt\" }}\n"
        ))
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        let output = self.env.run("offline", args);
        (code(&output), words(&output))
    }

    /// Starts the program beside the test.
    fn start(&self, args: &[&str]) -> std::process::Child {
        let config = self.env.own();
        std::process::Command::new(assert_cmd::cargo::cargo_bin("planwright"))
            .args(AgentEnv::args(&config, "offline", args))
            .env("PLANWRIGHT_DATA_DIR", self.env.place.data())
            .current_dir(self.env.place.work())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    }

    fn run_plan(&self, more: &str) -> (i32, String) {
        let plan = self.plan(more);
        self.run(&["run", &plan, "--yes"])
    }

    fn answer(&self, reply: &str) -> (i32, String) {
        self.run(&["answer", "last", "next", reply])
    }

    /// How often an agent was prompted.
    fn prompts(&self, name: &str) -> Vec<String> {
        let path = self.env.place.dir.path().join(name).join("script.log");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines = text.lines().map_while(|line| serde_json::from_str::<Value>(line).ok());
        let prompt = |line: Value| {
            let text = line["params"]["prompt"][0]["text"].as_str()?.to_owned();
            (line["got"] == "session/prompt").then_some(text)
        };
        lines.filter_map(prompt).collect()
    }

    /// The copies that are still there.
    fn copies(&self) -> usize {
        let mut count = 0;
        let sessions = std::fs::read_dir(self.env.place.data().join("worktrees"));
        for session in sessions.into_iter().flatten().flatten() {
            let copies = std::fs::read_dir(session.path()).into_iter().flatten().flatten();
            count += copies.filter(|copy| copy.path().join("files").exists()).count();
        }
        count
    }
}

/// An agent that writes a text to `a.txt` and says so.
fn writes(text: &str) -> Value {
    json!({ "loads": true, "prompts": [[
        { "write": ["a.txt", format!("{text}\n")] }, { "say": format!("It says {text}.") },
    ]] })
}

const CHECK: &str = "exit_criteria = [{ kind = \"command\", command = \"grep -q good a.txt\" }]";

#[test]
fn one_of_two_results_is_picked_and_the_other_is_given_up() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&writes("two"), &writes("three"));
    let (code, told) = agents.run_plan("");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Which result do you want?"), "{told}");
    for shown in
        ["first: a.txt", "+two", "second: a.txt", "+three", "It says two.", "--yes picks nothing"]
    {
        assert!(told.contains(shown), "{shown}: {told}");
    }
    assert_eq!(agents.env.written("a.txt"), "one\n", "nothing is applied yet");
    let (code, told) = agents.answer("use 9");
    assert_eq!(code, 2, "{told}");
    let (code, told) = agents.answer("use 2");
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.env.written("a.txt"), "three\n");
    assert_eq!(agents.env.answer().as_deref(), Some("It says three."));
    assert_eq!(agents.env.bodies("agent", "candidate_picked")[0]["candidate"], "t.second");
    let discarded = agents.env.bodies("worktree", "discarded");
    assert_eq!(
        (&discarded[0]["task"], &discarded[0]["cause"]),
        (&json!("t.first"), &json!("not_picked"))
    );
    assert_eq!(agents.copies(), 0);
    assert_eq!((agents.prompts("first").len(), agents.prompts("second").len()), (1, 1));
    let ended = agents.env.bodies("task", "completed");
    let pick = ended.iter().find(|body| body["task"] == "t").unwrap();
    assert_eq!(pick["elapsed_ms"], 1, "waiting for the person is no work");
    agents.env.require_intact_store();
}

#[test]
fn one_agent_that_fails_leaves_the_choice_to_the_other() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&json!({ "prompts": [[{ "die": 3 }]] }), &writes("good"));
    let (code, told) = agents.run_plan(CHECK);
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("did not finish") && told.contains("check passed"), "{told}");
    assert!(!told.contains("use 1,"), "only what is there can be picked: {told}");
    let (code, told) = agents.answer("use 1");
    assert_eq!(code, 2, "{told}");
    let (code, told) = agents.answer("second");
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.env.written("a.txt"), "good\n");
    agents.env.require_intact_store();
}

#[test]
fn the_task_fails_where_no_agent_has_a_result_and_a_retry_lets_all_try_again() {
    if cannot_confine() {
        return;
    }
    let nothing = json!({ "prompts": [[{ "say": "There is nothing to do." }]] });
    let agents = TwoAgents::new(&json!({ "prompts": [[{ "die": 3 }]] }), &nothing);
    let (code, told) = agents.run_plan("");
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("no agent has a result") && told.contains("changed nothing"), "{told}");
    assert_eq!(agents.env.written("a.txt"), "one\n");
    agents.script("first", &writes("two"));
    agents.script("second", &writes("three"));
    let (code, told) = agents.run(&["resume", "last", "--retry", "failed"]);
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("+two") && told.contains("+three"), "{told}");
    let (code, told) = agents.answer("use 1");
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.env.written("a.txt"), "two\n");
    agents.env.require_intact_store();
}

#[test]
fn requested_changes_go_to_one_agent_and_the_question_is_put_again() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&writes("two"), &writes("three"));
    let (code, told) = agents.run_plan("");
    assert_eq!(code, 3, "{told}");
    let (code, told) = agents.answer("request changes: use four");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("begin with the number of the result"), "{told}");
    agents.script("first", &writes("four"));
    let (code, told) = agents.answer("request changes: 1: use four");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("+four") && told.contains("+three"), "{told}");
    let first = agents.prompts("first");
    assert_eq!((first.len(), agents.prompts("second").len()), (2, 1), "{first:?}");
    assert!(first[1].contains("use four"), "{first:?}");
    let (code, told) = agents.answer("use 1");
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.env.written("a.txt"), "four\n");
    agents.env.require_intact_store();
}

#[test]
fn all_results_can_be_discarded() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&writes("two"), &writes("three"));
    let (code, told) = agents.run_plan("");
    assert_eq!(code, 3, "{told}");
    let (code, told) = agents.answer("discard");
    assert_eq!(code, 1, "{told}");
    assert_eq!((agents.env.written("a.txt").as_str(), agents.copies()), ("one\n", 0));
    agents.env.require_intact_store();
}

#[test]
fn with_high_autonomy_the_only_result_that_meets_its_criteria_is_taken() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&writes("bad"), &writes("good"));
    let plan = agents.plan(CHECK);
    let high = ["run", &plan, "--yes", "--policy", "autonomy=high"];
    let (code, told) = agents.run(&high);
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.env.written("a.txt"), "good\n");
    assert!(agents.env.bodies("agent", "candidate_picked")[0].get("by").is_none());
    // Two that meet them are a choice for the person.
    let agents = TwoAgents::new(&writes("good"), &writes("good too"));
    let plan = agents.plan(CHECK);
    let (code, told) = agents.run(&["run", &plan, "--yes", "--policy", "autonomy=high"]);
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Which result do you want?"), "{told}");
    agents.env.require_intact_store();
}

#[test]
fn a_task_whose_condition_is_false_is_skipped_with_its_tries() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&writes("two"), &writes("three"));
    let (code, told) = agents.run_plan("when = { if = \"env.NOBODY_SETS_THIS == 'x'\" }");
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.prompts("first").len() + agents.prompts("second").len(), 0);
    let skipped = agents.env.bodies("task", "skipped");
    let skipped: Vec<&str> = skipped.iter().filter_map(|body| body["task"].as_str()).collect();
    assert_eq!(skipped, ["t.first", "t.second", "t"]);
    assert!(agents.env.bodies("task", "failed").is_empty());
    agents.env.require_intact_store();
}

#[test]
fn tries_at_a_task_that_was_skipped_are_not_applied_by_the_policy() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&json!({}), &json!({}));
    for name in ["first", "second"] {
        let go = agents.env.place.dir.path().join(name).join("go");
        let waits = format!("until [ -e '{}' ]; do sleep 0.1; done", go.display());
        let steps =
            json!([{ "run": waits }, { "write": ["a.txt", "good\n"] }, { "say": "It is good." }]);
        agents.script(name, &json!({ "prompts": [steps] }));
    }
    let plan = agents.plan(CHECK);
    let mut child = agents.start(&["run", &plan, "--yes", "--policy", "autonomy=high"]);
    wait_until(&mut child, || ["first", "second"].iter().all(|it| agents.prompts(it).len() == 1));
    let (code, told) = agents.run(&["skip", "last", "t"]);
    assert_eq!(code, 0, "{told}");
    for name in ["first", "second"] {
        std::fs::write(agents.env.place.dir.path().join(name).join("go"), "").unwrap();
    }
    assert_eq!(child.wait().unwrap().code(), Some(3), "both changes wait for the person");
    assert_eq!(agents.env.written("a.txt"), "one\n");
    assert_eq!(agents.copies(), 2);
    agents.env.require_intact_store();
}

#[test]
fn a_kill_keeps_the_result_that_was_finished_and_the_question_that_was_open() {
    if cannot_confine() {
        return;
    }
    let hangs = json!({ "loads": true, "prompts": [[{ "say": "I begin." }, { "hang": true }]] });
    let agents = TwoAgents::new(&writes("two"), &hangs);
    let plan = agents.plan("");
    let mut child = agents.start(&["run", &plan, "--yes"]);
    let is_done = |agents: &TwoAgents| {
        let output = agents.env.place.run(&["replay", "last", "--headless", "--json"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let records = text.lines().map_while(|line| serde_json::from_str::<Value>(line).ok());
        records.into_iter().any(|record| {
            let event = &record["event"];
            event["topic"] == "task" && event["body"]["kind"] == "completed"
        })
    };
    wait_until(&mut child, || agents.prompts("second").len() == 1 && is_done(&agents));
    child.kill().unwrap();
    child.wait().unwrap();
    agents.script("second", &writes("three"));
    let (code, told) = agents.run(&["resume", "last"]);
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("+two") && told.contains("+three"), "{told}");
    assert_eq!(agents.prompts("first").len(), 1, "what was finished is not done again");
    assert_eq!(agents.prompts("second").len(), 2);
    // A process that ends with the question open finds it again, once.
    let (code, told) = agents.run(&["resume", "last"]);
    assert_eq!(code, 3, "{told}");
    assert_eq!(told.matches("Which result do you want?").count(), 1, "{told}");
    let (code, told) = agents.answer("use 1");
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.env.written("a.txt"), "two\n");
    agents.env.require_intact_store();
}

#[test]
fn a_picked_result_that_conflicts_goes_back_to_its_agent() {
    if cannot_confine() {
        return;
    }
    let agents = TwoAgents::new(&writes("two"), &writes("three"));
    let (code, told) = agents.run_plan("");
    assert_eq!(code, 3, "{told}");
    std::fs::write(agents.env.place.work().join("a.txt"), "mine\n").unwrap();
    let (code, told) = agents.answer("use 2");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Conflict with your workspace"), "{told}");
    assert_eq!(agents.env.written("a.txt"), "mine\n", "nothing is half applied");
    let claims = json!({ "loads": true, "prompts": [[{ "say": "It is merged." }]] });
    agents.script("second", &claims);
    let (code, told) = agents.answer("let the agent merge");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("a.txt still has conflict markers"), "a claim is no merge: {told}");
    agents.script("second", &writes("mine and three"));
    let (code, told) = agents.answer("request changes: merge it");
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("Use these changes?") && told.contains("+mine and three"), "{told}");
    assert!(!told.contains("conflict markers"), "{told}");
    assert_eq!((agents.prompts("first").len(), agents.prompts("second").len()), (1, 3));
    let (code, told) = agents.answer("apply");
    assert_eq!(code, 0, "{told}");
    assert_eq!(agents.env.written("a.txt"), "mine and three\n");
    agents.env.require_intact_store();
}
