//! What a model server does with each request of a case.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::models::server::{Act, Piece, Request, send};

/// How a server behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerBehavior {
    /// Every task is done at once.
    #[default]
    Done,
    /// Nothing ever works.
    Fails,
    /// It asks to come back in two seconds, whenever it is asked.
    Busy,
    /// It answers after two seconds.
    Slow,
    /// It works, fails three times, and works again.
    Outage,
    /// An answer of two megabytes.
    Long,
    /// An answer that wrote to a cache, in the other wire format.
    Cached,
    /// A file is read and searched before the task is done.
    Looks,
    /// An executor gives up, and its planner wants something else.
    Stuck,
    /// Two quick answers differ, and a debate never agrees.
    Debates,
    /// A plan is drafted, the same for every goal.
    Plans,
}

/// What a server does, by the number of the request and by the request.
type ServerActs = Arc<dyn Fn(usize, &Request) -> Act + Send + Sync>;

/// What such a server does.
pub fn acts(behavior: ServerBehavior) -> ServerActs {
    Arc::new(move |number, request| act(behavior, number, request))
}

fn act(behavior: ServerBehavior, number: usize, request: &Request) -> Act {
    match behavior {
        ServerBehavior::Fails => Act::status(503, "{}"),
        ServerBehavior::Busy => Act::status(429, "{}").header("retry-after", "2"),
        ServerBehavior::Slow => slow(&done(request)),
        ServerBehavior::Outage if number == 0 => look("file_read", &json!({"path": "long.txt"})),
        ServerBehavior::Outage if number < 4 => Act::status(503, "{}"),
        ServerBehavior::Done | ServerBehavior::Outage => done(request),
        ServerBehavior::Long => {
            answer(&json!({"role": "assistant", "content": "word ".repeat(400_000)}), "stop")
        }
        ServerBehavior::Cached => cached(),
        ServerBehavior::Looks => match number {
            0 => look("file_read", &json!({"path": "long.txt"})),
            1..=4 => look("grep", &json!({"pattern": format!("x{number}")})),
            _ => done(request),
        },
        ServerBehavior::Stuck => stuck(number, request),
        ServerBehavior::Debates => debate(number, request),
        ServerBehavior::Plans => plan(request),
    }
}

fn answer(message: &Value, finish: &str) -> Act {
    Act::json(&json!({"model": "m-1", "usage": {"prompt_tokens": 1100, "completion_tokens": 700,
        "prompt_tokens_details": {"cached_tokens": 500}},
        "choices": [{"message": message, "finish_reason": finish}]}))
}

fn look(name: &str, arguments: &Value) -> Act {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!([{"id": "c0", "type": "function", "function": function}]);
    answer(&json!({"role": "assistant", "content": null, "tool_calls": call}), "tool_calls")
}

/// An answer that ends any task.
fn done(request: &Request) -> Act {
    if request.body["tools"].is_array() {
        let arguments = json!({"status": "done", "summary": "Read it.", "answer": "Read it."});
        return look("task_done", &arguments);
    }
    answer(&json!({"role": "assistant", "content": "Final: done"}), "stop")
}

fn slow(act: &Act) -> Act {
    let Act::Reply { body, .. } = act else { return act.clone() };
    let pieces = vec![Piece::Wait(Duration::from_secs(2)), send(body.clone())];
    Act::Stream { kind: "application/json", pieces }
}

fn cached() -> Act {
    let call = json!({"type": "tool_use", "id": "c0", "name": "task_done",
        "input": {"status": "done", "summary": "Read it."}});
    Act::json(&json!({"id": "m", "type": "message", "role": "assistant", "model": "m",
        "content": [call], "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 1100, "output_tokens": 700, "cache_creation_input_tokens": 900_000,
            "cache_read_input_tokens": 0}}))
}

fn stuck(number: usize, request: &Request) -> Act {
    if request.body["tools"].is_array() {
        return look("task_escalate", &json!({"issue": format!("stuck {number}")}));
    }
    says(&decision(&format!("Try way {number}")))
}

fn decision(goal: &str) -> Value {
    json!({"_type": "PLANNER_DECISION", "action": "EXECUTE", "task_type": "generic",
        "goals": [goal], "reasoning": "again"})
}

fn says(value: &Value) -> Act {
    answer(&json!({"role": "assistant", "content": value.to_string()}), "stop")
}

fn debate(number: usize, request: &Request) -> Act {
    match request.body["response_format"]["json_schema"]["name"].as_str() {
        Some("scout") if number == 0 => {
            says(&json!({"steps": ["Compare", "Migrate"], "unmet": ["the first"]}))
        }
        Some("scout") => {
            says(&json!({"steps": ["Compare", "Migrate", "Document", "Train"], "unmet": []}))
        }
        Some("critique") => says(&json!({"contradictions": [], "missing_facts": ["a fact"],
            "broken_constraints": []})),
        Some(_) => says(&decision("Do it")),
        None => done(request),
    }
}

fn plan(request: &Request) -> Act {
    let tool = request.body["tools"][0]["function"]["name"].as_str().unwrap_or_default().to_owned();
    let task = |title: &str| json!({"title": title, "done_when": format!("{title} is confirmed"), "minutes": 60});
    let arguments = match tool.as_str() {
        "PatternSelector" => {
            json!({"pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9})
        }
        "NodeGenerator" => json!({"phases": [
            {"title": "Prepare", "tasks": [task("Read about it"), task("Buy a hive")]},
            {"title": "Build", "tasks": [task("Set up the hive")]}], "self_score": 0.9}),
        "RoadmapBuilder" => json!({"estimates": [], "self_score": 0.9}),
        "Brainstormer" => json!({"ideas": ["Ask a keeper", "Take a course"]}),
        _ => return done(request),
    };
    look(&tool, &arguments)
}
