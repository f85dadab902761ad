//! What was learned about tools decides which one is offered first: a scripted model always takes the first offered tool
//! that fits, one of the two tools never works, and twenty tasks are done one after the other.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{AgentEnv, code, words};
use crate::models::server::{Act, Server};

const TASKS: usize = 20;

/// Calls the first offered tool that answers such a task, and says that it is done once that has answered.
fn first_offered(body: &Value, page: &str) -> Act {
    let answered = body["messages"].as_array().unwrap().iter().any(|one| one["role"] == "tool");
    let offered = body["tools"].as_array().unwrap().iter();
    let mut names = offered.filter_map(|tool| tool["function"]["name"].as_str());
    let (name, arguments) =
        match names.find(|name| matches!(*name, "internet_research" | "web_fetch")) {
            _ if answered => ("task_done", json!({"status": "done", "summary": "Looked it up."})),
            Some("web_fetch") => ("web_fetch", json!({"url": page})),
            _ => ("internet_research", json!({"query": "a training habit"})),
        };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"id": "c0", "type": "function", "function": function});
    Act::json(&json!({
        "model": "m-1",
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
        "choices": [{
            "message": {"role": "assistant", "content": null, "tool_calls": [call]},
            "finish_reason": "tool_calls",
        }],
    }))
}

/// Which of the first calls of the tasks worked, in the order of the tasks.
fn first_calls(env: &AgentEnv) -> Vec<bool> {
    let mut first: Vec<(String, bool)> = Vec::new();
    for body in env.bodies("agent", "observed") {
        let step = &body["step"];
        let (task, tool) = (step["task_id"].as_str().unwrap(), step["tool_used"].as_str());
        let looked = matches!(tool, Some("internet.research" | "web.fetch"));
        if looked && first.iter().all(|(known, _)| known != task) {
            // What failed has no confidence.
            first.push((task.to_owned(), step["confidence_score"].as_f64().unwrap_or(0.0) > 0.0));
        }
    }
    first.into_iter().map(|(_, ok)| ok).collect()
}

fn share(calls: &[bool]) -> f64 {
    calls.iter().filter(|ok| **ok).count() as f64 / calls.len().max(1) as f64
}

fn config(server: &str, page: &str, affinity: bool) -> String {
    let host = page.trim_start_matches("http://").split('/').next().unwrap();
    format!(
        "worktrees = false\nenable_tool_affinity = {affinity}\nprofile = \"large\"\nprotocol = \"tools\"\n\
         breaker_threshold = 1000\n[limits]\nretries = 1\n[providers.mock]\nkind = \"openai\"\n\
         base_url = \"{server}/v1\"\nmodel = \"m\"\n\
         [tools]\nsearch_endpoint = \"http://127.0.0.1:9\"\nallow_private = [\"{host}\"]\n\
         [[permissions.allow]]\ntool = \"web.search\"\nhost = \"127.0.0.1:9\"\n\
         [[permissions.allow]]\ntool = \"web.fetch\"\nhost = \"{host}\"\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_share_of_first_choices_that_work_rises_with_history_and_falls_back_without_scores() {
    let page = Server::start(vec![Act::status(200, "{\"text\": \"Twice a week.\"}")]).await;
    let url = format!("{}/page", page.url);
    let target = url.clone();
    let model = Server::start_by(move |_, request| first_offered(&request.body, &target)).await;
    let mut plan = String::from("title = \"Twenty questions\"\n");
    for task in 0..TASKS {
        let _ = writeln!(
            plan,
            "[[tasks]]\nid = \"t{task:02}\"\ndescription = \"Look up online how to keep a training habit, part {task}\"\n\
             tools = [\"internet.research\", \"web.fetch\"]\nrun = {{ agent = {{}} }}"
        );
    }
    let env = AgentEnv::with_copies(&config(&model.url, &url, true));
    let own = std::path::PathBuf::from(env.own());
    let off = config(&model.url, &url, false);
    let calls = tokio::task::spawn_blocking(move || {
        let plan = env.place.plan(&plan);
        let mut calls = Vec::new();
        for text in [None, Some(off)] {
            if let Some(text) = text {
                std::fs::write(&own, text).unwrap();
            }
            let output = env.run("mock", &["run", &plan, "--yes", "--jobs", "1"]);
            assert_eq!(code(&output), 0, "{}", words(&output));
            calls.push(first_calls(&env));
        }
        calls
    })
    .await
    .unwrap();
    let [with, without] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((with.len(), without.len()), (TASKS, TASKS), "{calls:?}");
    let (early, late) = with.split_at(TASKS / 2);
    let shares = [share(early), share(late), share(without)];
    println!(
        "first choices that worked: {:.2} of the first ten tasks, {:.2} of the last ten, {:.2} without scores",
        shares[0], shares[1], shares[2]
    );
    assert!(shares[0] < shares[1], "{shares:?} {with:?}");
    assert!(shares[1] > 0.9, "{shares:?} {with:?}");
    assert!(shares[2] < 0.1, "{shares:?} {without:?}");
}
