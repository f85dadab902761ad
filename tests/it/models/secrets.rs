//! Keys: on the wire to their own host, and nowhere else.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::server::{Act, Server};
use super::wire::{Format, KEY};

pub fn files_with(dir: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(needle) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// The program as a person runs it, with a config that names the mock server and a key in the environment.
async fn doctor(server: &Server, format: Format, dir: &Path, arguments: &[&str]) -> (i32, String) {
    let base =
        if format == Format::OpenAi { format!("{}/v1", server.url) } else { server.url.clone() };
    let config = dir.join("config.toml");
    let text = format!(
        "[providers.mock]\nkind = \"{}\"\nbase_url = \"{base}\"\nmodel = \"m\"\napi_key_env = \"MOCK_KEY\"\n[limits]\nretries = 0\n",
        format.kind()
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command
        .arg("doctor")
        .args(["--provider", "mock", "--config"])
        .arg(&config)
        .arg("--data-dir")
        .arg(dir.join("data"))
        .arg("--record")
        .arg(dir.join("tape.jsonl"))
        .args(arguments)
        .env("MOCK_KEY", KEY)
        .env_remove("PLANWRIGHT_PROVIDER");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.code().unwrap(), printed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_echoes_the_key_does_not_get_it_written_anywhere() {
    for format in super::wire::ALL {
        let dir = tempfile::tempdir().unwrap();
        let echo =
            json!({"error": {"message": format!("invalid key {KEY} given"), "type": "auth"}});
        let server = Server::start(vec![Act::status(401, &echo.to_string())]).await;
        for arguments in [vec!["--live"], vec!["--live", "--json"]] {
            let (code, printed) = doctor(&server, format, dir.path(), &arguments).await;
            assert_eq!(code, 1, "{printed}");
            assert!(printed.contains("invalid key") && !printed.contains(KEY), "{printed}");
        }
        assert!(server.requests().iter().any(|request| request.head.contains(KEY)), "it was used");
        assert_eq!(files_with(dir.path(), KEY), Vec::<String>::new());
        assert!(
            dir.path().join("tape.jsonl").is_file(),
            "the failure was recorded, without the key"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_reports_the_capabilities_and_prices_of_a_provider() {
    let dir = tempfile::tempdir().unwrap();
    let format = Format::OpenAi;
    let server = Server::start(vec![
        format.stream(format.text(&["yes"])),
        format.stream(format.call("report", &json!({"word": "ready"}))),
        format.stream(format.text(&["{\"word\": \"ready\"}"])),
    ])
    .await;
    let (code, printed) = doctor(&server, format, dir.path(), &[]).await;
    assert_eq!(
        (code, server.requests().len()),
        (0, 0),
        "nothing is called without --live: {printed}"
    );
    assert!(printed.contains("not known yet"));
    let (code, printed) = doctor(&server, format, dir.path(), &["--live"]).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("yes, streamed; 11 tokens in, 7 out (reported), as m-1"), "{printed}");
    assert!(
        printed.contains("tools yes, JSON schema yes, streaming yes; protocol tools"),
        "{printed}"
    );
    assert!(printed.contains("nothing, it runs here"), "{printed}");
    let (_, printed) = doctor(&server, format, dir.path(), &["--json"]).await;
    let lines: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let abilities = lines.iter().find(|line| line["name"] == "abilities").unwrap();
    assert!(abilities["what"].as_str().unwrap().contains("tools yes"), "it was kept");
}
