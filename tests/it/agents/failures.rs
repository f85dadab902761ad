//! Failures that a person runs into: the model goes away, the output is huge, the answers are nonsense.

use serde_json::json;

use super::{AgentEnv, ModelAnswer, code, words};
use crate::models::server::{Act, Server};
use crate::models::wire::Format;

const FORMAT: Format = Format::OpenAi;

fn mock(server: &Server) -> String {
    format!(
        "protocol = \"tools\"\noutage_wait_min = 0\n[limits]\nretries = 1\n[providers.mock]\nkind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\n\
         [models.executor]\nmodel = \"quick\"\ntemperature = 0.1\nmax_output_tokens = 321\n",
        server.url
    )
}

/// Runs the program next to a server inside this test.
async fn run(env: AgentEnv, args: Vec<String>) -> (AgentEnv, std::process::Output) {
    tokio::task::spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = env.run("mock", &args);
        (env, output)
    })
    .await
    .unwrap()
}

fn arguments(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_disconnects_is_asked_again_at_the_same_step() {
    let read = FORMAT.stream(FORMAT.call("file_read", &json!({"path": "a.txt"})));
    let server = Server::start(vec![
        read,
        Act::status(503, "{\"error\": {\"message\": \"overloaded\"}}"),
        Act::status(503, "{\"error\": {\"message\": \"overloaded\"}}"),
        FORMAT.stream(FORMAT.text(&["It ", "says ", "hello."])),
    ])
    .await;
    let env = AgentEnv::new(&mock(&server));
    std::fs::write(env.place.work().join("a.txt"), "hello\n").unwrap();
    let plan = env.plan("generic", "What does a.txt say?", "");
    let (env, output) = run(env, arguments(&["run", &plan, "--yes", "--json"])).await;
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.answer().as_deref(), Some("It says hello."), "{:?}", server.bodies());
    assert_eq!(env.tools(), ["file.read"], "what was done is not done again");
    let failed = env.bodies("task", "failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0]["failure"]["category"], "transient", "{failed:?}");
    env.require_intact_store();
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
    let env = AgentEnv::new(&mock(&server));
    let plan = env.plan("generic", "Say hello", "");
    let (env, output) = run(env, arguments(&["run", &plan, "--yes"])).await;
    assert_eq!(code(&output), 1, "{}", words(&output));
    let printed = words(&output);
    assert!(printed.contains("mock") && printed.contains("try again in a moment"), "{printed}");
    drop(server);
    let provider = env.tape("later", &[("Hello.", None)]);
    let output = env.run(&provider, &["resume", "last", "--retry", "failed"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.answer().as_deref(), Some("Hello."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_is_too_long_for_the_model_is_reported_with_a_fix() {
    let body = "{\"error\": {\"message\": \"This model's maximum context length is 512 tokens\", \"code\": \"context_length_exceeded\"}}";
    let server = Server::start(vec![Act::status(400, body)]).await;
    let env = AgentEnv::new(&mock(&server));
    let plan = env.plan("generic", "Say hello", "");
    let (env, output) = run(env, arguments(&["run", &plan, "--yes"])).await;
    assert_eq!(code(&output), 1, "{}", words(&output));
    let printed = words(&output);
    assert!(printed.contains("use a model with a larger context"), "{printed}");
    assert!(env.bodies("task", "failed").len() <= 2, "{printed}");
}

#[test]
fn huge_output_is_truncated_for_the_model_and_the_task_continues() {
    let rule = "[[permissions.allow]]\ntool = \"shell.run\"\ncommand = \"yes line | head -c 4000000\"\nunsandboxed = true\n";
    let env = AgentEnv::new(rule);
    let answers: [ModelAnswer<'_>; 2] =
        [("I look.", super::shell("yes line | head -c 4000000")), ("It is long.", None)];
    let provider = env.tape("tape", &answers);
    let plan = env.plan("generic", "Look at it", "");
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output).chars().take(3000).collect::<String>());
    let prompt = env.prompts().pop().unwrap();
    assert!(prompt.len() < 20_000, "{}", prompt.len());
    env.require_intact_store();
}

#[test]
fn nonsense_is_turned_down_by_name_and_ends_in_a_sentence() {
    let env = AgentEnv::new("");
    let odd: ModelAnswer<'_> = ("I call it.", Some(("rm.everything", json!({}))));
    let provider = env.tape("tape", &[odd.clone(), odd.clone(), odd.clone(), odd]);
    let plan = env.plan("generic", "Do something", "");
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    assert!(env.tools().is_empty());
    assert!(env.bodies("call", "intended").is_empty());
    env.require_intact_store();
}
