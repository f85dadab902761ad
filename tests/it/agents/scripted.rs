//! Odd answers of a scripted server in the open conversation: none completes a task, none is dropped silently, and the
//! answer after it counts.

use serde_json::{Value, json};

use super::{AgentEnv, code, words};
use crate::models::server::{Act, Server};

/// An answer of an OpenAI-compatible server.
fn answer(message: &Value, reason: &str) -> Act {
    Act::json(&json!({
        "model": "m-1",
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
        "choices": [{"message": message, "finish_reason": reason}],
    }))
}

fn text(words: &str, reason: &str) -> Act {
    answer(&json!({"role": "assistant", "content": words}), reason)
}

fn calls(calls: &[(&str, Value)]) -> Act {
    answer(&call_message(calls), "tool_calls")
}

fn call_message(calls: &[(&str, Value)]) -> Value {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("c{at}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn done() -> Act {
    calls(&[("task_done", json!({"status": "done", "summary": "Read it."}))])
}

fn read() -> (&'static str, Value) {
    ("file_read", json!({"path": "a.txt"}))
}

/// Runs a task against the script and returns what was printed and what the server was asked.
async fn run_script(acts: Vec<Act>) -> (AgentEnv, i32, String, Vec<Value>) {
    let server = Server::start(acts).await;
    let config = format!(
        "profile = \"large\"\nprotocol = \"tools\"\noutage_wait_min = 0\n[limits]\nretries = 1\n[providers.mock]\n\
         kind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\n",
        server.url
    );
    let env = AgentEnv::with_copies(&config);
    std::fs::write(env.place.work().join("a.txt"), "hello\n").unwrap();
    let plan = env.plan("generic", "What does a.txt say?", "");
    let (env, output) = tokio::task::spawn_blocking(move || {
        let output = env.run("mock", &["run", &plan, "--yes"]);
        (env, output)
    })
    .await
    .unwrap();
    let bodies = server.bodies();
    (env, code(&output), words(&output), bodies)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_answers_alone_complete_nothing_and_are_named() {
    let refusal =
        json!({"role": "assistant", "content": null, "refusal": "I can't help with that."});
    // What has no words fails the task; words are put to the person, and the task waits for the answer.
    let odd: [(&str, Act, i32, &str); 5] = [
        ("empty", text("", "stop"), 1, "no usable answer"),
        ("refusal", answer(&refusal, "stop"), 3, "I can't help with that."),
        ("question", text("Which file do you mean?", "stop"), 3, "Which file do you mean?"),
        ("cut off", text("The file says", "length"), 1, "cut off at its length limit"),
        ("prose", text("The file says hello. I am done.", "stop"), 3, "I am done."),
    ];
    for (name, act, exit, named) in odd {
        let (env, code, told, _) = run_script(vec![act]).await;
        assert_eq!(code, exit, "{name}: {told}");
        assert_eq!(env.answer(), None, "{name}");
        assert_eq!(env.bodies("task", "completed"), Vec::<Value>::new(), "{name}");
        assert!(told.contains(named), "{name}: {told}");
        let asked = env.bodies("approval", "asked");
        let about = |body: &&Value| body["request"]["kind"]["about"] == "agent_question";
        assert_eq!(asked.iter().filter(about).count(), usize::from(exit == 3), "{name}");
        env.require_intact_store();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_after_an_odd_one_counts() {
    let odd: [(&str, Act); 3] = [
        ("empty", text("", "stop")),
        ("cut off", text("The file says", "length")),
        ("prose", text("The file says hello. I am done.", "stop")),
    ];
    for (name, act) in odd {
        let (env, code, told, bodies) = run_script(vec![act, done()]).await;
        assert_eq!(code, 0, "{name}: {told}");
        assert_eq!(env.answer().as_deref(), Some("Read it."), "{name}");
        assert!(bodies.len() >= 2, "{name}: {bodies:?}");
        env.require_intact_store();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_calls_at_once_unknown_fields_and_thinking_are_each_answered() {
    let five = calls(&[
        read(),
        ("file_list", json!({"path": "."})),
        ("grep", json!({"pattern": "hello", "mood": "good"})),
        ("glob", json!({"pattern": "*.txt"})),
        ("no_such_tool", json!({})),
    ]);
    let mut thoughtful = call_message(&[read()]);
    thoughtful["reasoning_content"] = json!("I should read it once more.");
    let acts = vec![five, answer(&thoughtful, "tool_calls"), done()];
    let (env, code, told, bodies) = run_script(acts).await;
    assert_eq!(code, 0, "{told}");
    assert_eq!(env.answer().as_deref(), Some("Read it."));
    let messages = bodies[1]["messages"].as_array().unwrap();
    let results: Vec<&Value> =
        messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results.len(), 5, "each call has a result: {messages:#?}");
    let all = results.iter().map(|result| result["content"].to_string()).collect::<String>();
    assert!(all.contains("hello") && all.contains("mood") && all.contains("no_such_tool"), "{all}");
    env.require_intact_store();
}
