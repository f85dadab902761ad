//! Agents of the person's own through the whole program: a scripted agent, a real store, a real sandbox.

pub mod agent;
mod candidates;
mod crash;
mod hostile;
mod path;
pub mod real;
mod steering;

use std::process::Output;

use serde_json::{Value, json};

use crate::agents::{AgentEnv, code, words};

/// A test environment with a scripted agent called `mine`.
pub struct OwnAgentEnv {
    pub env: AgentEnv,
}

impl OwnAgentEnv {
    pub fn new(script: &Value) -> Self {
        Self::with_config(script, "")
    }

    /// The same with more settings of the agent.
    pub fn with_config(script: &Value, more: &str) -> Self {
        let env = AgentEnv::with_copies("");
        let directory = env.place.dir.path().join("agent");
        std::fs::create_dir(&directory).unwrap();
        let path = directory.join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        let command = agent::agent_command(&path);
        let config = format!(
            "[agents.mine]\ncommand = {}\nwritable = [{:?}]\n{more}\n",
            json!(command),
            directory.display().to_string()
        );
        std::fs::write(env.place.dir.path().join("own.toml"), config).unwrap();
        std::fs::write(env.place.work().join("a.txt"), "one\n").unwrap();
        Self { env }
    }

    /// Replaces the script, for the next process of the agent.
    pub fn script(&self, script: &Value) {
        let path = self.env.place.dir.path().join("agent/script.json");
        std::fs::write(path, script.to_string()).unwrap();
    }

    /// A plan of one task for the agent.
    pub fn plan(&self, more: &str) -> String {
        self.env.place.plan(&format!(
            "title = \"Own agents\"\n[[tasks]]\nid = \"t\"\ndescription = \"Change a.txt\"\n\
             task_type = \"code_modify\"\nrun = {{ agent = {{ with = \"mine\" }} }}\n{more}\n"
        ))
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.env.run("offline", args)
    }

    /// Runs the plan without anybody to ask: exit code and everything that was printed.
    pub fn run_plan(&self, more: &str) -> (i32, String) {
        let plan = self.plan(more);
        let output = self.run(&["run", &plan, "--yes"]);
        (code(&output), words(&output))
    }

    /// Answers the open question and goes on.
    pub fn answer(&self, words_of_answer: &str) -> (i32, String) {
        let output = self.run(&["answer", "last", "next", words_of_answer]);
        (code(&output), words(&output))
    }

    /// What the agent was told and did, in order.
    pub fn log(&self) -> Vec<Value> {
        let path = self.env.place.dir.path().join("agent/script.log");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The same while the agent is at work: nothing while a line is only half written.
    pub fn log_if_complete(&self) -> Vec<Value> {
        let path = self.env.place.dir.path().join("agent/script.log");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The prompts that the agent was given.
    pub fn prompts(&self) -> Vec<String> {
        let prompt = |line: &Value| {
            let text = line["params"]["prompt"][0]["text"].as_str()?;
            (line["got"] == "session/prompt").then(|| text.to_owned())
        };
        self.log().iter().filter_map(prompt).collect()
    }

    /// Answers that the agent got to its own requests.
    pub fn answers(&self) -> Vec<Value> {
        let log = self.log();
        log.iter().filter_map(|line| line.get("answer")).cloned().collect()
    }
}

/// A call that runs a command.
pub fn command_call(id: &str, command: &str) -> Value {
    json!({ "toolCallId": id, "title": command, "kind": "execute", "status": "pending",
        "rawInput": { "command": command } })
}

/// The end of a call.
pub fn call_done(id: &str, text: &str) -> Value {
    json!({ "update": { "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
        "content": [{ "type": "content", "content": { "type": "text", "text": text } }] } })
}

/// Why a test is skipped here, if the system cannot confine anything.
pub fn cannot_confine() -> bool {
    let sandbox =
        planwright_tools::sandbox::Sandbox::with_helper(assert_cmd::cargo::cargo_bin("planwright"));
    if sandbox.probe().enforced {
        return false;
    }
    crate::tools::not_tested(&format!("agents: {}", sandbox.probe().detail));
    true
}
