//! Input from the network: streams of models in three formats, and answers of tool servers.

use std::collections::BTreeMap;
use std::time::Duration;

use planwright_llm::transport::{ExchangeLimits, RetryPolicy};
use planwright_tools::mcp::McpServers;
use planwright_tools::{McpServerSettings, McpTransport, ToolRegistry};
use proptest::strategy::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::mutate::mutated;
use crate::models::server::{Piece, send};
use crate::models::wire::{self, ALL};
use crate::models::{ask, scripted, with_tool};

/// These run one case for this many of the others: each needs its own server.
fn cases(share: u32) -> u32 {
    (Config::default().cases / share).max(8)
}

fn document(pieces: Vec<Piece>) -> String {
    let bytes: Vec<u8> = pieces
        .into_iter()
        .flat_map(|piece| match piece {
            Piece::Send(bytes) => bytes,
            _ => Vec::new(),
        })
        .collect();
    String::from_utf8(bytes).unwrap()
}

/// No panic, no hang, and no call that is not in a complete answer and valid against its schema.
#[tokio::test]
async fn streams_of_models() {
    let quick = ExchangeLimits { call: Duration::from_secs(20), ..wire::quick().0 };
    let no_retry = RetryPolicy { retries: 0, outage_wait: Duration::ZERO, ..wire::quick().1 };
    let mut calls = 0;
    for format in ALL {
        let documents = vec![
            document(format.text(&["one ", "two"])),
            document(format.call("file_read", &json!({"path": "README.md"}))),
            document(format.call("file_read", &json!({"path": ["no", "string"]}))),
        ];
        let strategy = mutated(documents);
        let mut runner = TestRunner::new(Config::default());
        for _ in 0..cases(4) {
            let text = strategy.new_tree(&mut runner).unwrap().current();
            let server = scripted(format, vec![format.stream(vec![send(text.clone())])]).await;
            let settings = wire::settings(format, &server);
            let models = wire::models_with(settings, quick, no_retry);
            let model = models.open_model("mock", None).await.unwrap();
            let request = with_tool();
            let asked = ask(model.as_ref(), &request);
            let (answer, _) = tokio::time::timeout(Duration::from_secs(60), asked)
                .await
                .unwrap_or_else(|_| panic!("{format:?} hangs: {text:?}"));
            if let Ok(answer) = answer {
                calls += answer.tool_calls.len();
            }
        }
    }
    println!("{} streams, {calls} calls", cases(4) * ALL.len() as u32);
}

const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"twice","description":"Says a word twice","inputSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}},{"name":"once","inputSchema":{"type":"object"}}]}}"#;

/// A server that sends arbitrary data gets its tools listed, or is reported as not following the protocol.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_tool_servers() {
    let strategy = mutated(vec![format!("{GREETING}\n{LIST}\n")]);
    let mut runner = TestRunner::new(Config::default());
    let mut listed = 0;
    for _ in 0..cases(32) {
        let text = strategy.new_tree(&mut runner).unwrap().current();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("answers");
        std::fs::write(&file, &text).unwrap();
        // Answers every request with the next line, whatever was requested, and then exits.
        let script = "while IFS= read -r answer <&3; do IFS= read -r request || exit; \
                      printf '%s\\n' \"$answer\"; done 3<\"$1\"";
        let file = file.to_string_lossy().into_owned();
        let command = ["/bin/sh", "-c", script, "sh", file.as_str()].map(str::to_owned).to_vec();
        let reach =
            McpTransport::Process { command, environment: Vec::new(), set: BTreeMap::new() };
        let time_limit = Duration::from_secs(2);
        let server = McpServerSettings { transport: reach, effects: BTreeMap::new(), time_limit };
        let servers = McpServers::new(&BTreeMap::from([("fuzz".to_owned(), server)]));
        let mut registry = ToolRegistry::default();
        let reports =
            tokio::time::timeout(Duration::from_secs(60), servers.register_tools(&mut registry))
                .await
                .unwrap_or_else(|_| panic!("it hangs: {text:?}"));
        assert_eq!(reports.len(), 1);
        match &reports[0].outcome {
            Ok(names) => listed += names.len(),
            Err(error) => assert!(error.contains("fuzz"), "{error}"),
        }
        servers.stop_all().await;
    }
    println!("{} servers, {listed} tools", cases(32));
}
