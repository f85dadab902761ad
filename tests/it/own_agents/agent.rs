//! An agent that does what a script says, in the place of one that a model drives: it speaks the protocol on standard
//! input and output, and writes down what it was told.
//!
//! A script is a JSON object. `prompts` has a list of steps for each prompt, the last of which is repeated; other fields
//! replace answers by their method. What each step does is in [`ScriptedAgent::run_step`].

use std::io::{BufRead, BufReader, Stdin, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Not a test of its own: other tests start it as an agent. The protocol uses descriptor 3, because the harness prints.
#[test]
#[ignore = "started by other tests as an agent"]
fn serves_as_an_agent() {
    let Ok(script) = std::env::var("AGENT_SCRIPT") else { return };
    let script = PathBuf::from(script);
    let out = std::fs::OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    let steps: Value = serde_json::from_slice(&std::fs::read(&script).unwrap()).unwrap();
    ScriptedAgent {
        steps,
        log: script.with_extension("log"),
        out,
        input: BufReader::new(std::io::stdin()),
        next_id: 0,
        prompts: 0,
        answer: Value::Null,
    }
    .serve();
}

/// How a script is started as an agent.
pub fn agent_command(script: &Path) -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    let line = format!(
        "AGENT_SCRIPT='{}' exec \"$0\" own_agents::agent::serves_as_an_agent --exact --ignored --nocapture 3>&1 >/dev/null 2>'{}'",
        script.display(),
        script.with_extension("err").display(),
    );
    ["sh", "-c", &line, &program.display().to_string()].map(str::to_owned).to_vec()
}

struct ScriptedAgent {
    steps: Value,
    /// What it was told, one JSON value a line.
    log: PathBuf,
    out: std::fs::File,
    input: BufReader<Stdin>,
    next_id: u64,
    prompts: usize,
    /// The last answer to a request of its own.
    answer: Value,
}

impl ScriptedAgent {
    fn serve(mut self) {
        while let Some(message) = self.read() {
            let Some(method) = message["method"].as_str().map(str::to_owned) else { continue };
            let id = message["id"].clone();
            self.note(&json!({ "got": method, "params": message["params"] }));
            if let Some(error) = self.steps["errors"].get(&method).cloned() {
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                continue;
            }
            let result = match method.as_str() {
                "initialize" => self.or_else(
                    "initialize",
                    json!({
                        "protocolVersion": 1,
                        "agentCapabilities": { "loadSession": self.steps["loads"] == true },
                        "agentInfo": { "name": "scripted", "version": "1.2.3" },
                    }),
                ),
                "session/new" => self.or_else("session/new", json!({ "sessionId": "s-1" })),
                "session/load" => {
                    self.update(&json!({ "sessionUpdate": "agent_message_chunk",
                        "content": { "type": "text", "text": "an old message" } }));
                    json!({})
                }
                "session/prompt" => self.answer_prompt(),
                "session/cancel" => continue,
                _ => json!({}),
            };
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
    }

    fn or_else(&self, method: &str, usual: Value) -> Value {
        self.steps.get(method).cloned().unwrap_or(usual)
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.input.read_line(&mut line).ok()?;
        (length > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        // Whoever is gone reads nothing any more.
        if self.out.write_all(bytes).is_err() {
            std::process::exit(0);
        }
    }

    fn note(&self, what: &Value) {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(&self.log);
        writeln!(log.unwrap(), "{what}").unwrap();
    }

    fn update(&mut self, update: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/update",
            "params": { "sessionId": "s-1", "update": update } }));
    }

    fn answer_prompt(&mut self) -> Value {
        let prompts = self.steps["prompts"].as_array().cloned().unwrap_or_default();
        let steps = prompts.get(self.prompts).or(prompts.last()).cloned().unwrap_or_default();
        self.prompts += 1;
        let mut stop = json!({ "stopReason": "end_turn" });
        for step in steps.as_array().into_iter().flatten() {
            if let Some(end) = self.run_step(step) {
                stop = end;
                break;
            }
        }
        stop
    }

    /// Does one step. Something comes back only if the turn ends with it.
    fn run_step(&mut self, step: &Value) -> Option<Value> {
        let (name, value) = step.as_object().unwrap().iter().next().unwrap();
        let text = value.as_str().unwrap_or_default();
        match name.as_str() {
            "say" => self.update(&json!({ "sessionUpdate": "agent_message_chunk",
                "content": { "type": "text", "text": text } })),
            "think" => self.update(&json!({ "sessionUpdate": "agent_thought_chunk",
                "content": { "type": "text", "text": text } })),
            "update" => self.update(value),
            // Asks for permission; what follows in `then` is done if it is allowed.
            "ask" => {
                let options = step.get("options").cloned().unwrap_or_else(usual_options);
                self.request(
                    "session/request_permission",
                    &json!({
                    "sessionId": "s-1", "toolCall": value, "options": options }),
                );
                let chosen = self.answer["result"]["outcome"]["optionId"].as_str() == Some("yes");
                if chosen {
                    for step in step["then"].as_array().into_iter().flatten() {
                        if let Some(end) = self.run_step(step) {
                            return Some(end);
                        }
                    }
                }
            }
            // Asks several times at once and waits for all answers.
            "ask_all" => self.ask_all(value),
            "request" => self.request(value[0].as_str().unwrap(), &value[1]),
            "write" => {
                let written =
                    std::fs::write(value[0].as_str().unwrap(), value[1].as_str().unwrap());
                self.note(&json!({ "wrote": value[0], "ok": written.is_ok() }));
            }
            "run" => {
                let status = std::process::Command::new("sh").args(["-c", text]).status();
                self.note(&json!({ "ran": text, "code": status.ok().and_then(|it| it.code()) }));
            }
            "raw" => self.write(format!("{text}\n").as_bytes()),
            "bytes" => {
                let count = value.as_u64().unwrap() as usize;
                let text = "x".repeat(count);
                self.update(&json!({ "sessionUpdate": "agent_message_chunk",
                    "content": { "type": "text", "text": text } }));
            }
            "flood" => {
                for number in 0..value.as_u64().unwrap() {
                    self.update(&json!({ "sessionUpdate": "agent_message_chunk",
                        "content": { "type": "text", "text": format!("{number} ") } }));
                }
            }
            "die" => std::process::exit(value.as_i64().unwrap() as i32),
            // Waits for a message, such as a cancellation, and goes on.
            "wait" => {
                let message = self.read();
                self.note(&json!({ "woke": message }));
            }
            "hang" => loop {
                std::thread::park();
            },
            "stop" => return Some(json!({ "stopReason": text })),
            "end" => return Some(value.clone()),
            other => panic!("no step {other}"),
        }
        None
    }

    /// Sends a request of its own and waits for the answer. What comes before it is noted.
    fn request(&mut self, method: &str, params: &Value) {
        let id = self.send_request(method, params);
        loop {
            let Some(message) = self.read() else { std::process::exit(0) };
            self.note(&json!({ "answer": message }));
            if message["id"] == json!(id) {
                self.answer = message;
                return;
            }
        }
    }

    fn send_request(&mut self, method: &str, params: &Value) -> String {
        self.next_id += 1;
        let id = format!("a{}", self.next_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn ask_all(&mut self, calls: &Value) {
        let mut open: Vec<String> = Vec::new();
        for call in calls.as_array().into_iter().flatten() {
            open.push(self.send_request(
                "session/request_permission",
                &json!({
                "sessionId": "s-1", "toolCall": call, "options": usual_options() }),
            ));
        }
        while !open.is_empty() {
            let Some(message) = self.read() else { std::process::exit(0) };
            self.note(&json!({ "answer": message }));
            open.retain(|id| message["id"] != json!(id));
        }
    }
}

fn usual_options() -> Value {
    json!([
        { "optionId": "always", "kind": "allow_always", "name": "Always" },
        { "optionId": "no", "kind": "reject_once", "name": "No" },
        { "optionId": "yes", "kind": "allow_once", "name": "Yes" },
    ])
}
