//! What a provider asks for and reports: `Retry-After` is respected, absurd figures are not booked.

use serde_json::json;

use super::{AgentEnv, code, words};
use crate::models::server::{Act, Server};

fn mock(server: &Server) -> String {
    format!(
        "protocol = \"tools\"\nbudget_per_session_usd = 1.0\ndaily_budget_usd = 1.0\n[prices.m]\ninput = 1.0\noutput = 1.0\n\
         [providers.mock]\nkind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\n",
        server.url
    )
}

/// Runs the program next to a server inside this test.
async fn run(env: AgentEnv, args: &[&str]) -> (AgentEnv, std::process::Output) {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    tokio::task::spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = env.run("mock", &args);
        (env, output)
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_retry_after_ends_the_task_and_no_request_is_made_earlier() {
    for wait in ["7200", "Fri, 31 Dec 2100 23:59:59 GMT"] {
        let busy = Act::status(429, "{}").header("retry-after", wait);
        let server = Server::start(vec![busy]).await;
        let env = AgentEnv::new(&mock(&server));
        let plan = env.place.plan(
            "title = \"Two\"\n[[tasks]]\nid = \"a\"\ndescription = \"Say a word\"\n[[tasks]]\nid = \"b\"\n\
             description = \"Say another\"\n",
        );
        let (env, output) = run(env, &["run", &plan, "--yes", "--jobs", "1"]).await;
        let printed = words(&output);
        assert_eq!(code(&output), 1, "{printed}");
        assert_eq!(server.requests().len(), 1, "both tasks keep to it: {printed}");
        assert!(printed.contains("must not be called again for"), "{printed}");
        assert!(printed.contains("asked not to be called again for"), "{printed}");
        env.require_intact_store();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_absurd_figure_blocks_no_later_session_of_the_day_and_is_reported_once() {
    let figures = json!({"prompt_tokens": 9_000_000_000_000_000_000_u64,
        "completion_tokens": 9_000_000_000_000_000_000_u64});
    let answer = Act::json(&json!({"model": "m-1", "usage": figures,
        "choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}));
    let server = Server::start(vec![answer]).await;
    let mut env = AgentEnv::new(&mock(&server));
    for session in 0..2 {
        let plan = env.plan("generic", "Say hello", "");
        let (again, output) = run(env, &["run", &plan, "--yes"]).await;
        env = again;
        assert_eq!(code(&output), 0, "session {session}: {}", words(&output));
        let decided = env.bodies("agent", "decided");
        let clamped = decided.iter().filter(|body| body["decision"]["code"] == "usage_clamped");
        assert_eq!(clamped.count(), 1, "session {session}: {decided:?}");
        let answered = env.bodies("agent", "model_answered");
        let tokens = answered[0]["tokens"].as_u64().unwrap();
        assert!(tokens < 500_000, "session {session}: {tokens} tokens");
    }
}
