//! An answer that arrives slowly: it is shown while it arrives, and ending the run ends the request.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{AgentEnv, code, words};
use crate::models::server::{Piece, Server};
use crate::models::wire::Format;

const FORMAT: Format = Format::OpenAi;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pieces_are_seen_as_they_come_and_a_signal_ends_the_request() {
    let mut drip = FORMAT.begun(&["The beginning ", "of an answer "]);
    drip.push(Piece::Hang);
    let server = Server::start(vec![FORMAT.stream(drip)]).await;
    let config = format!(
        "protocol = \"text\"\n[providers.mock]\nkind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\n",
        server.url
    );
    let env = AgentEnv::new(&config);
    let plan = env.plan("generic", "Talk", "");
    let own = env.own();
    let args = AgentEnv::args(&own, "mock", &["run", &plan, "--yes", "--json"]);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .env("PLANWRIGHT_DATA_DIR", env.place.data())
        .current_dir(env.place.work())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = child.stdout.take().unwrap();
    let seen = tokio::task::spawn_blocking(move || {
        let mut seen = String::new();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let record: Value = serde_json::from_str(&line).unwrap();
            let body = &record["event"]["body"];
            if body["kind"] == "partial" {
                seen.push_str(body["text"].as_str().unwrap());
            }
            if seen.contains("answer") {
                return seen;
            }
        }
        seen
    });
    // The server has sent nothing after this, and keeps the connection open.
    let seen = tokio::time::timeout(Duration::from_secs(60), seen).await.unwrap().unwrap();
    assert!(seen.contains("The beginning of an answer"), "{seen}");
    let ended = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(ended.success());
    let gone = tokio::time::timeout(Duration::from_secs(60), server.abandoned.notified()).await;
    assert!(gone.is_ok(), "the request is ended, not waited for");
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert_eq!(status.code(), Some(130));
    let env = tokio::task::spawn_blocking(move || {
        let provider = env.tape("later", &[("All of it.", None)]);
        let output = env.run(&provider, &["resume", "last"]);
        assert_eq!(code(&output), 0, "{}", words(&output));
        env
    })
    .await
    .unwrap();
    assert_eq!(env.answer().as_deref(), Some("All of it."));
    env.require_intact_store();
}
