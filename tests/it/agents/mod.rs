//! Agent tasks through the whole program: a recorded model or a mock server, real tools, a real store.

mod answered;
mod applied_checks;
mod conversation;
mod dotted;
mod failures;
mod limits;
mod pacing;
mod permission;
mod repository;
mod routing;
mod scripted;
mod streaming;
mod waiting;
mod worktrees;

use std::process::Output;

use serde_json::{Value, json};

use crate::program::{Place, json_lines};

/// An answer of a model: text, and at most one call.
pub type ModelAnswer<'a> = (&'a str, Option<(&'a str, Value)>);

/// A test environment with its own config and handwritten recordings.
pub struct AgentEnv {
    pub place: Place,
}

impl AgentEnv {
    /// Agents write to the workspace itself: what tools do there is what most tests are about.
    pub fn new(config: &str) -> Self {
        Self::with_copies(&format!("worktrees = false\n{config}"))
    }

    /// Agents that write have a copy of the workspace, as without a setting.
    pub fn with_copies(config: &str) -> Self {
        let place = Place::new();
        std::fs::write(place.dir.path().join("own.toml"), config).unwrap();
        Self { place }
    }

    /// Writes a recording whose answers are returned to requests in order; returns the provider that plays it.
    pub fn tape(&self, name: &str, answers: &[ModelAnswer<'_>]) -> String {
        let info = json!({"provider": "recorded", "model": "small", "host": "", "local": true,
            "context_window": null, "capability": {"tools": true, "json": "schema", "streaming": true}});
        let mut lines = vec![json!({"cassette": 1, "info": info}).to_string()];
        for (text, call) in answers {
            let calls: Vec<Value> = call
                .iter()
                .map(|(name, args)| json!({"id": "c", "name": name, "arguments": args.to_string()}))
                .collect();
            let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
            let answer = json!({"text": text, "tool_calls": calls, "finish": finish, "model": "small",
                "usage": {"input": 100, "output": 20}});
            lines.push(json!({"outcome": {"answer": answer}}).to_string());
        }
        let path = self.place.dir.path().join(format!("{name}.jsonl"));
        std::fs::write(&path, lines.join("\n")).unwrap();
        format!("recorded:{}", path.display())
    }

    /// A plan of one task for an agent.
    pub fn plan(&self, kind: &str, description: &str, more: &str) -> String {
        self.place.plan(&format!(
            "title = \"Agents\"\n[[tasks]]\nid = \"t\"\ndescription = \"{description}\"\n\
             task_type = \"{kind}\"\nrun = {{ agent = {{}} }}\n{more}\n"
        ))
    }

    pub fn args<'a>(own: &'a str, provider: &'a str, args: &[&'a str]) -> Vec<&'a str> {
        let mut all = args.to_vec();
        all.extend(["--headless", "--provider", provider, "--config", own]);
        all
    }

    pub fn own(&self) -> String {
        self.place.dir.path().join("own.toml").display().to_string()
    }

    pub fn run(&self, provider: &str, args: &[&str]) -> Output {
        let own = self.own();
        let all = Self::args(&own, provider, args);
        if args[0] == "answer" { self.place.answer_and_resume(&all) } else { self.place.run(&all) }
    }

    /// Every record of the last session.
    pub fn journal(&self) -> Vec<Value> {
        json_lines(&self.place.run(&["replay", "last", "--headless", "--json"]))
    }

    /// The bodies of one kind of event, such as `agent.observed`.
    pub fn bodies(&self, topic: &str, kind: &str) -> Vec<Value> {
        self.journal()
            .iter()
            .map(|record| &record["event"])
            .filter(|event| event["topic"] == topic && event["body"]["kind"] == kind)
            .map(|event| event["body"].clone())
            .collect()
    }

    /// The tools that the agent called, in order.
    pub fn tools(&self) -> Vec<String> {
        let tool = |body: &Value| body["step"]["tool_used"].as_str().unwrap().to_owned();
        self.bodies("agent", "acted").iter().map(tool).collect()
    }

    /// The final answer of the task, if it has one.
    pub fn answer(&self) -> Option<String> {
        let concluded = self.bodies("agent", "concluded");
        concluded.last().map(|body| body["answer"].as_str().unwrap().to_owned())
    }

    /// The prompt of each thought.
    pub fn prompts(&self) -> Vec<String> {
        let prompt = |body: &Value| body["step"]["metadata"]["prompt"].as_str().map(str::to_owned);
        self.bodies("agent", "thought").iter().filter_map(prompt).collect()
    }

    pub fn written(&self, path: &str) -> String {
        std::fs::read_to_string(self.place.work().join(path)).unwrap_or_default()
    }

    /// The journal is complete and the store reports no problems.
    pub fn require_intact_store(&self) {
        let verified = self.place.run(&["sessions", "verify", "last"]);
        assert_eq!(code(&verified), 0, "{}", words(&verified));
        let shown = self.place.run(&["sessions", "show", "last", "--json"]);
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        assert_eq!(shown["anomalies"], 0, "{shown:#}");
    }
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Everything that was printed, for the messages of failed tests.
pub fn words(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

#[expect(clippy::unnecessary_wraps, reason = "as an answer on the tape holds it")]
pub fn shell(command: &str) -> Option<(&'static str, Value)> {
    Some(("shell.run", json!({ "command": command })))
}
