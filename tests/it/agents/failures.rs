//! Failures that a person runs into: the model goes away, the output is huge, the answers are nonsense.

use serde_json::json;

use super::{Desk, Said, code, words};
use crate::models::server::{Act, Server};
use crate::models::wire::Format;

const FORMAT: Format = Format::OpenAi;

fn mock(server: &Server) -> String {
    format!(
        "protocol = \"tools\"\n[limits]\nretries = 1\n[providers.mock]\nkind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\n\
         [models.executor]\nmodel = \"quick\"\ntemperature = 0.1\nmax_output_tokens = 321\n",
        server.url
    )
}

/// Runs the program next to a server inside this test.
async fn run(desk: Desk, args: Vec<String>) -> (Desk, std::process::Output) {
    tokio::task::spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = desk.run("mock", &args);
        (desk, output)
    })
    .await
    .unwrap()
}

fn arguments(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_goes_away_is_asked_again_at_the_step_where_it_left() {
    let read = FORMAT.stream(FORMAT.call("file_read", &json!({"path": "a.txt"})));
    let server = Server::start(vec![
        read,
        Act::status(503, "{\"error\": {\"message\": \"overloaded\"}}"),
        Act::status(503, "{\"error\": {\"message\": \"overloaded\"}}"),
        FORMAT.stream(FORMAT.text(&["It ", "says ", "hello."])),
    ])
    .await;
    let desk = Desk::new(&mock(&server));
    std::fs::write(desk.place.work().join("a.txt"), "hello\n").unwrap();
    let plan = desk.plan("generic", "What does a.txt say?", "");
    let (desk, output) = run(desk, arguments(&["run", &plan, "--yes", "--json"])).await;
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(desk.answer().as_deref(), Some("It says hello."), "{:?}", server.bodies());
    assert_eq!(desk.tools(), ["file.read"], "what was done is not done again");
    let failed = desk.bodies("task", "failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0]["failure"]["category"], "transient", "{failed:?}");
    desk.require_sound();
    // Each role gets its own prompt, all the way to the wire.
    let last = server.bodies().pop().unwrap();
    assert_eq!((&last["model"], &last["temperature"]), (&json!("quick"), &json!(0.1)), "{last}");
    let length = last.get("max_tokens").or(last.get("max_completion_tokens"));
    assert_eq!(length, Some(&json!(321)), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_stays_away_fails_the_task_with_the_next_step_and_is_retried_later() {
    let down = Act::status(503, "{\"error\": {\"message\": \"overloaded\"}}");
    let server = Server::start(vec![down]).await;
    let desk = Desk::new(&mock(&server));
    let plan = desk.plan("generic", "Say hello", "");
    let (desk, output) = run(desk, arguments(&["run", &plan, "--yes"])).await;
    assert_eq!(code(&output), 1, "{}", words(&output));
    let said = words(&output);
    assert!(said.contains("mock") && said.contains("try again in a moment"), "{said}");
    drop(server);
    let provider = desk.tape("later", &[("Hello.", None)]);
    let output = desk.run(&provider, &["resume", "last", "--retry", "failed"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(desk.answer().as_deref(), Some("Hello."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_is_too_long_for_the_model_is_said_with_the_remedy() {
    let body = "{\"error\": {\"message\": \"This model's maximum context length is 512 tokens\", \"code\": \"context_length_exceeded\"}}";
    let server = Server::start(vec![Act::status(400, body)]).await;
    let desk = Desk::new(&mock(&server));
    let plan = desk.plan("generic", "Say hello", "");
    let (desk, output) = run(desk, arguments(&["run", &plan, "--yes"])).await;
    assert_eq!(code(&output), 1, "{}", words(&output));
    let said = words(&output);
    assert!(said.contains("use a model with a larger context"), "{said}");
    assert!(desk.bodies("task", "failed").len() <= 2, "{said}");
}

#[test]
fn huge_output_is_cut_for_the_model_and_the_task_goes_on() {
    let rule = "[[permissions.allow]]\ntool = \"shell.run\"\ncommand = \"yes line | head -c 4000000\"\nunsandboxed = true\n";
    let desk = Desk::new(rule);
    let answers: [Said<'_>; 2] =
        [("I look.", super::shell("yes line | head -c 4000000")), ("It is long.", None)];
    let provider = desk.tape("tape", &answers);
    let plan = desk.plan("generic", "Look at it", "");
    let output = desk.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output).chars().take(3000).collect::<String>());
    let prompt = desk.prompts().pop().unwrap();
    assert!(prompt.len() < 20_000, "{}", prompt.len());
    desk.require_sound();
}

#[test]
fn nonsense_is_turned_down_by_name_and_ends_in_a_sentence() {
    let desk = Desk::new("");
    let odd: Said<'_> = ("I call it.", Some(("rm.everything", json!({}))));
    let provider = desk.tape("tape", &[odd.clone(), odd.clone(), odd.clone(), odd]);
    let plan = desk.plan("generic", "Do something", "");
    let output = desk.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    assert!(desk.tools().is_empty());
    assert!(desk.bodies("call", "intended").is_empty());
    desk.require_sound();
}
