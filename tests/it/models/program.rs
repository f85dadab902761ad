//! The whole program with a model: what it may spend, and where its key must not be.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::secrets::files_with;
use super::server::{Act, Server};
use super::wire::KEY;
use crate::program::{Place, json_lines};

/// A cent. At a dollar per million tokens that is ten thousand of them, too few for the long answers of a large model.
const CONFIG: &str =
    "budget_per_session_usd = 0.01\nprofile = \"small\"\n[prices.m]\ninput = 1.0\noutput = 1.0\n";

fn called(tool: &str, arguments: &Value, input: u64) -> Act {
    answer(&call_message(tool, arguments), input)
}

fn call_message(tool: &str, arguments: &Value) -> Value {
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": tool, "arguments": arguments.to_string()}});
    json!({"content": null, "tool_calls": [call]})
}

fn text_answer(text: &str, input: u64) -> Act {
    answer(&json!({"content": text}), input)
}

fn answer(message: &Value, input: u64) -> Act {
    answer_of_length(message, (input, 50))
}

fn answer_of_length(message: &Value, (input, output): (u64, u64)) -> Act {
    Act::json(&json!({"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": input, "completion_tokens": output}}))
}

/// The two answers that show what a model can do.
fn abilities() -> Vec<Act> {
    vec![
        called("report", &json!({"word": "ready"}), 450),
        text_answer("{\"word\": \"ready\"}", 350),
    ]
}

/// Runs the program with the mock server as its provider and a key in the environment.
async fn run(place: &Place, server: &Server, arguments: &[&str]) -> Output {
    let output = run_with(place, server, "", arguments).await;
    if arguments[0] != "answer" || !output.status.success() {
        return output;
    }
    // An answer is kept for whoever resumes the session.
    let flags = arguments.iter().filter(|word| word.starts_with("--"));
    let resume: Vec<&str> = ["resume", "last", "--headless"].iter().chain(flags).copied().collect();
    run_with(place, server, "", &resume).await
}

/// The same with more settings.
async fn run_with(place: &Place, server: &Server, more: &str, arguments: &[&str]) -> Output {
    let mut command = place.command(arguments);
    let provider = format!(
        "[providers.mock]\nkind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\napi_key_env = \"MOCK_KEY\"\n",
        server.url
    );
    std::fs::write(place.dir.path().join("config.toml"), format!("{more}{CONFIG}{provider}"))
        .unwrap();
    command.env("MOCK_KEY", KEY).args(["--provider", "mock"]);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn words(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The spending in the journal, in micro-dollars, and its purposes.
async fn spent(place: &Place, server: &Server) -> (u64, Vec<String>) {
    let output = run(place, server, &["export", "last", "--format", "jsonl"]).await;
    let (mut sum, mut purposes) = (0, Vec::new());
    for line in json_lines(&output) {
        let body = &line["event"]["body"];
        if line["event"]["topic"] == "agent" {
            sum += body["cost"].as_u64().unwrap_or(0);
            purposes.extend(body["purpose"].as_str().map(str::to_owned));
        }
    }
    (sum, purposes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planning_with_a_cap_of_a_cent_pauses_in_time_and_resumes_later() {
    let place = Place::new();
    let mut acts = abilities();
    // The words of the goal say its kind, so that the first call asks for an outline.
    let task =
        |title: &str| json!({"title": title, "done_when": format!("as {KEY} says"), "minutes": 60});
    let outline = json!({"phases": [
        {"title": "Prepare", "tasks": [task("Choose the readers"), task("Write a sample issue")]},
        {"title": "Launch", "tasks": [task("Send the first issue"), task("Review the launch")]},
    ], "self_score": 0.9});
    acts.push(answer_of_length(&call_message("NodeGenerator", &outline), (4_000, 300)));
    let server = Server::start(acts).await;
    let goal = "launch a newsletter in 6 weeks";
    let output = run(&place, &server, &["plan", goal, "--headless", "--yes"]).await;
    let shown = words(&output);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    for part in ["Raise the spending limit?", "of $0.01 is used", "planwright resume"] {
        assert!(shown.contains(part), "{part} is not in:\n{shown}");
    }
    assert_eq!(server.requests().len(), 3, "the call that could exceed it was not made");
    let (sum, purposes) = spent(&place, &server).await;
    assert_eq!(sum, 450 + 350 + 4_000 + 2 * 50 + 300, "all that was paid is in the journal");
    assert_eq!(purposes[..2], ["its_abilities", "NodeGenerator"]);
    assert!(shown.contains("$0.0052 of $0.01"), "{shown}");

    let again = run(&place, &server, &["resume", "last", "--headless"]).await;
    assert_eq!(again.status.code(), Some(4), "the question stays open: {}", words(&again));
    assert_eq!(server.requests().len(), 3);
    let offline = run(&place, &server, &["answer", "last", "next", "go on offline", "--yes"]).await;
    assert_eq!(
        offline.status.code(),
        Some(3),
        "its tasks wait for the person: {}",
        words(&offline)
    );
    assert_eq!(server.requests().len(), 3, "nothing more was paid");
    let outputs = [output, again, offline];
    the_key_is_stored_nowhere(&place, &server, &outputs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_cap_of_a_cent_pauses_in_time_and_a_raised_cap_applies_on_resume() {
    let place = Place::new();
    let mut acts = abilities();
    acts.push(text_answer(&format!("I think about {KEY}."), 7_800));
    acts.push(text_answer("Done.", 900));
    let server = Server::start(acts).await;
    let plan = place.plan(
        "title = \"Two words\"\n[[tasks]]\nid = \"a\"\ndescription = \"Say a word\"\nexit_criteria = [\"a word was said\"]\n\
         [[tasks]]\nid = \"b\"\ndescription = \"Say another\"\ndepends_on = [\"a\"]\n",
    );
    let output = run(&place, &server, &["run", &plan, "--headless", "--yes"]).await;
    let shown = words(&output);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    assert!(shown.contains("Raise the spending limit of $0.01?"), "{shown}");
    let (sum, purposes) = spent(&place, &server).await;
    assert!(sum <= 10_000, "{sum}");
    assert_eq!(sum, 450 + 350 + 7_800 + 3 * 50);
    assert_eq!(purposes[0], "its_abilities");
    let asked = server.requests().len();
    let raised = run(&place, &server, &["answer", "last", "next", "raise for the session"]).await;
    assert!(server.requests().len() > asked, "it went on: {}", words(&raised));
    assert_ne!(raised.status.code(), Some(4), "{}", words(&raised));
    the_key_is_stored_nowhere(&place, &server, &[output, raised]).await;
}

/// The key is on the wire and nowhere else: not on disk, not printed, not in any export.
async fn the_key_is_stored_nowhere(place: &Place, server: &Server, outputs: &[Output]) {
    assert!(server.requests().iter().all(|request| request.head.contains(KEY)), "it was used");
    for output in outputs {
        assert!(!words(output).contains(KEY));
    }
    let exports = place.dir.path().join("exports");
    std::fs::create_dir(&exports).unwrap();
    for format in ["jsonl", "json", "html", "markdown", "otlp"] {
        let file = exports.join(format).to_string_lossy().into_owned();
        let output = run(place, server, &["export", "last", "--format", format, "-o", &file]).await;
        assert_eq!(output.status.code(), Some(0), "{format}: {}", words(&output));
        assert!(Path::new(&file).exists());
    }
    let list = run(place, server, &["sessions", "show", "last", "--json"]).await;
    assert!(!words(&list).contains(KEY));
    assert_eq!(files_with(place.dir.path(), KEY), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_whose_model_failed_exits_1_in_every_format_with_the_cause() {
    for format in ["text", "json", "markdown", "ics"] {
        let place = Place::new();
        let server = Server::start(vec![Act::status(401, "{}")]).await;
        let file = place.dir.path().join("plan.out").to_string_lossy().into_owned();
        let arguments =
            ["plan", "call mom", "--headless", "--yes", "--format", format, "-o", &file];
        let output = run(&place, &server, &arguments).await;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{format}: {}", words(&output));
        assert!(error.contains("mock answered with status 401"), "{format}: {error}");
        assert!(error.contains("mock/m could not draft the outline"), "{format}: {error}");
        if format == "json" {
            let text = std::fs::read_to_string(&file).unwrap();
            let object: Value = serde_json::from_str(&text).unwrap();
            assert!(object["roadmap"].is_null(), "nothing was drafted: {object}");
            assert_eq!(object["requests"][0]["kind"]["about"], "model_trouble", "{object}");
        } else {
            assert!(!Path::new(&file).exists(), "{format}: nothing was drafted");
        }
        let shown = run(&place, &server, &["sessions", "show", "last", "--json"]).await;
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        assert_eq!(shown["requests"][0]["request"]["kind"]["about"], "model_trouble", "{shown}");
        assert!(shown["approval"].is_null(), "{shown}");
    }
    let place = Place::new();
    let server = Server::start(vec![Act::status(401, "{}")]).await;
    let output = run(&place, &server, &["plan", "call mom", "--headless", "--yes", "--json"]).await;
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let waiting = json_lines(&output).pop().unwrap();
    assert!(waiting["model_failure"].as_str().unwrap().contains("401"), "{waiting}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn offline_fallback_drafts_without_the_model_and_reports_it_everywhere() {
    for format in ["text", "json", "markdown", "ics"] {
        let place = Place::new();
        let server = Server::start(vec![Act::status(401, "{}")]).await;
        let file = place.dir.path().join("plan.out");
        let written = file.to_string_lossy().into_owned();
        let arguments =
            ["plan", "call mom", "--headless", "--yes", "--format", format, "-o", &written];
        let output = run_with(&place, &server, "offline_fallback = true\n", &arguments).await;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{format}: {}", words(&output));
        let expected = "the offline planner drafted this instead of mock/m, which failed: mock answered with status 401";
        assert!(error.contains(expected), "{format}: {error}");
        let text = std::fs::read_to_string(&file).unwrap();
        if format == "json" {
            let plan: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(plan["drafted_by"], "offline");
            assert!(plan["model_failure"].as_str().unwrap().contains("401"), "{plan}");
        }
    }
    let place = Place::new();
    let mut offline = place.command(&["plan", "call mom", "--headless", "--yes", "--json"]);
    let plan: Value = serde_json::from_slice(&offline.output().unwrap().stdout).unwrap();
    assert_eq!(plan["drafted_by"], "offline", "without a provider this is the normal way");
    assert!(plan["model_failure"].is_null(), "{plan}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_model_is_retried_or_replaced_by_a_later_answer_and_never_by_yes() {
    let place = Place::new();
    let server = Server::start(vec![Act::status(401, "{}")]).await;
    let output = run(&place, &server, &["plan", "call mom", "--headless", "--yes"]).await;
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let asked = server.requests().len();
    let again = run(&place, &server, &["answer", "last", "next", "retry", "--yes"]).await;
    assert_eq!(again.status.code(), Some(1), "{}", words(&again));
    assert!(server.requests().len() > asked, "the model was asked again");
    let resumed = run(&place, &server, &["resume", "last", "--headless", "--yes"]).await;
    assert_eq!(resumed.status.code(), Some(1), "--yes approves no fallback: {}", words(&resumed));
    let offline = run(&place, &server, &["answer", "last", "next", "go on offline"]).await;
    assert_eq!(offline.status.code(), Some(3), "the plan waits for approval: {}", words(&offline));
    let mut command = place.command(&["plan", "call mom", "--headless", "--provider", "mok"]);
    assert_eq!(command.output().unwrap().status.code(), Some(2), "no provider has that name");
}
