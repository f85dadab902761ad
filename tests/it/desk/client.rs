//! A scripted MCP client over standard input and output, and the processes that stand for agents.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::program::Place;

/// A command that an agent starts: in a session of its own, as under a terminal of its own, so that the test itself is not
/// taken for the agent.
pub fn agent_command(place: &Place, args: &[&str]) -> Command {
    let mut command = Command::new("setsid");
    command
        .args(["--wait", "sh", "-c", "\"$@\"; exit $?", "agent"])
        .arg(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .env("TZ", "UTC")
        .current_dir(place.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Ends a server that was started by `agent_command`, with the programs between: whoever starts it there is not its parent.
pub fn end_server(place: &Place, mut child: Child) {
    let mark = format!("PLANWRIGHT_DATA_DIR={}", place.data().display());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
            let _ = Command::new("kill").arg("-9").arg(process.file_name()).status();
        }
    }
    let _ = child.kill();
    child.wait().unwrap();
}

pub struct DeskClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl DeskClient {
    pub fn start(place: &Place) -> Self {
        Self::with_capabilities(place, &json!({}))
    }

    /// A client that says it can do so much: ask its user, call its model.
    pub fn with_capabilities(place: &Place, capabilities: &Value) -> Self {
        let mut child = agent_command(place, &["mcp"]).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, next: 1 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": "claude-code", "version": "2.1"}});
        let told = client.request("initialize", &hello);
        assert_eq!(told["result"]["serverInfo"]["name"], "planwright");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer_to(id)
    }

    /// Sends a request without waiting for its answer.
    pub fn begin(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Begins to call a tool.
    pub fn begin_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.begin("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Gives up on a request, as a client does at its own limit.
    pub fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "timeout"});
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
    }

    pub fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the desk ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            // The desk asks its client nothing: no elicitation, no sampling.
            assert!(message.get("method").is_none_or(|method| method == "notifications/progress"));
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool and gives its answer, which must not be an error.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.try_call(tool, arguments);
        answer.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    pub fn try_call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Value> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let value = result["structuredContent"].clone();
        if result["isError"] == true { Err(value) } else { Ok(value) }
    }

    /// Waits for the person, over as many calls as it takes.
    pub fn decision(&mut self, ticket: &str) -> Value {
        loop {
            let told = self.call("wait_for_decision", &json!({"ticket": ticket, "seconds": 5}));
            if told["status"] != "pending" {
                return told;
            }
        }
    }

    /// Leaves as a client does, and waits until the server has ended.
    pub fn leave(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }

    pub fn kill(mut self) {
        drop(self.input.take());
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A hook that an agent has started and that waits for the person.
pub fn start_hook(place: &Place, agent: &str, input: &Value) -> Child {
    let mut child = agent_command(place, &["hook", agent]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    child
}

/// What the hook told its agent.
pub fn told(child: Child) -> Value {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}
