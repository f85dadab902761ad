//! The official SDK of the Model Context Protocol as a client, over standard input and output and over HTTP, in the protocol
//! with a handshake and in the newest one.
//!
//! `PLANWRIGHT_MCP_SDK_PYTHON` names a Python that has the package `mcp` (2.0 or later). Without it these tests are skipped
//! with a message.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::answer;
use super::client::{agent_command, end_server};
use crate::program::Place;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/desk/sdk_client.py");
const TOKEN: &str = "0123456789abcdef";

/// The Python with the SDK, or a note that it is not here.
fn sdk_python() -> Option<PathBuf> {
    let python = std::env::var_os("PLANWRIGHT_MCP_SDK_PYTHON").map(PathBuf::from);
    let has_sdk = |python: &Path| {
        let found = Command::new(python).args(["-c", "from mcp import Client"]).output();
        found.is_ok_and(|output| output.status.success())
    };
    match python {
        None => {
            crate::tools::not_tested("the MCP SDK: PLANWRIGHT_MCP_SDK_PYTHON is not set");
            None
        }
        Some(python) if !has_sdk(&python) => {
            crate::tools::not_tested(&format!(
                "the MCP SDK: {} has no package mcp of version 2.0 or later",
                python.display()
            ));
            None
        }
        found => found,
    }
}

/// A running client, and what it says step by step.
struct SdkClient {
    child: Child,
    steps: BufReader<ChildStdout>,
}

impl SdkClient {
    fn start(place: &Place, python: &Path, args: &[&str]) -> Self {
        let mut child = Command::new("setsid")
            .arg("--wait")
            .arg(python)
            .arg(SCRIPT)
            .args(args)
            .env("PLANWRIGHT_DATA_DIR", place.data())
            .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
            .current_dir(place.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let steps = BufReader::new(child.stdout.take().unwrap());
        Self { child, steps }
    }

    fn step(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.steps.read_line(&mut line).unwrap(), 0, "the client ended");
        serde_json::from_str(&line).unwrap()
    }

    /// The next answer of this tool that is not "pending".
    fn answer_of(&mut self, tool: &str) -> Value {
        loop {
            let step = self.step();
            if step["step"] == tool && step["answer"]["status"] != "pending" {
                return step;
            }
            assert_eq!(step["answer"]["status"], "pending", "{step}");
        }
    }
}

/// Plays the person while the client goes through all that it does.
fn decide(place: &Place, mut client: SdkClient, protocol: &str) {
    let tools = client.step();
    assert_eq!(tools["protocol"], protocol);
    assert_eq!(tools["names"].as_array().unwrap().len(), 7, "{tools}");
    let submitted = client.answer_of("submit_plan");
    let ticket = submitted["answer"]["ticket"].as_str().unwrap().to_owned();
    assert!(place.run(&["comment", &ticket, "3", "with real data"]).status.success());
    answer(place, &ticket, "request changes: measure twice");
    let changes = client.answer_of("wait_for_decision");
    assert_eq!(changes["answer"]["status"], "changes");
    assert_eq!(changes["answer"]["comments"][0]["text"], "with real data");
    assert_eq!(client.answer_of("revise_plan")["answer"]["revision"], 2);
    answer(place, &ticket, "approve");
    assert_eq!(client.answer_of("wait_for_decision")["answer"]["status"], "approved");
    // By the hash of the first revision, then by the approved one.
    assert_eq!(client.answer_of("report_progress")["error"], true);
    assert_eq!(client.answer_of("report_progress")["answer"]["done"], 0);
    assert_eq!(client.answer_of("report_progress")["answer"]["done"], 1);
    // It would have said yes to any dialog.
    assert_eq!(client.step(), json!({"step": "end", "asked": []}));
    assert!(client.child.wait().unwrap().success());
}

#[test]
fn a_client_of_the_sdk_over_standard_input_and_output() {
    let Some(python) = sdk_python() else { return };
    let program = assert_cmd::cargo::cargo_bin("planwright");
    for (mode, protocol) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let place = Place::new();
        let args = [mode, "stdio", &program.to_string_lossy(), "mcp"];
        decide(&place, SdkClient::start(&place, &python, &args), protocol);
    }
}

#[test]
fn a_client_of_the_sdk_over_http() {
    let Some(python) = sdk_python() else { return };
    for (mode, protocol) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let place = Place::new();
        let mut server =
            agent_command(&place, &["mcp", "--http", "0", "--token", TOKEN]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
        decide(&place, SdkClient::start(&place, &python, &[mode, "http", url, TOKEN]), protocol);
        end_server(&place, server);
    }
}
