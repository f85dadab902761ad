//! Resume of an open conversation: interrupted after any event, the same requests are sent, byte for byte.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::*;
use super::open_loop::{calls, done, thought};
use crate::{AgentJob, AgentServices};
use planwright_llm::{GenerateRequest, GeneratedAnswer};
use planwright_model::ToolResult;
use planwright_model::event::AgentEvent;
use planwright_tools::ToolEffect;

/// Answers by how often it was asked before, which the request itself tells.
fn by_turn(script: &[Script], request: &GenerateRequest) -> GeneratedAnswer {
    let turns = request
        .messages
        .iter()
        .filter(|message| message.role == planwright_llm::MessageRole::Assistant)
        .count();
    match script.get(turns) {
        None => done("All is well."),
        Some(Script::Words) => says("I think about it.", None),
        Some(Script::Empty) => says("", None),
        Some(Script::Calls(kinds)) => {
            let made: Vec<(&str, Value)> = kinds
                .iter()
                .enumerate()
                .map(|(at, kind)| {
                    let tool =
                        ["file.read", "grep", "file.edit", "no.such"][usize::from(*kind % 4)];
                    (tool, json!({"turn": turns, "at": at, "fails": kind % 5 == 0}))
                })
                .collect();
            let thought = thought(&format!("thought of turn {turns}"));
            GeneratedAnswer { reasoning: vec![thought], ..calls("I call.", &made) }
        }
    }
}

#[derive(Clone, Debug)]
enum Script {
    Words,
    Empty,
    Calls(Vec<u8>),
}

fn services(script: Vec<Script>, directory: &std::path::Path) -> (AgentServices, Arc<ByRule>) {
    let answer = |args: &Value| {
        if args["fails"] == true {
            return ToolResult::error(
                "bad",
                planwright_model::Category::Recoverable,
                "red > green",
            );
        }
        ToolResult::success(json!({"text": "hello\n".repeat(30)}))
    };
    let others = vec![
        Fake::tool("file.read", ToolEffect::Look, answer),
        Fake::tool("grep", ToolEffect::Look, answer),
        Fake::tool("file.edit", ToolEffect::Write, answer),
    ];
    let setup = Setup { registry: tools_with(&others), ..Setup::default() };
    let model = ByRule::new(move |request| Ok(by_turn(&script, request)));
    (open_services(model.clone(), setup.toolbox(directory)), model)
}

fn sent(model: &ByRule) -> Vec<String> {
    let requests = model.requests.lock().unwrap();
    requests.iter().map(|request| serde_json::to_string(request).unwrap()).collect()
}

async fn check_every_cut(script: Vec<Script>) {
    let directory = tempfile::tempdir().unwrap();
    let (whole_services, model) = services(script.clone(), directory.path());
    let whole = run_task(&whole_services, task("code_modify", "Change it")).await;
    assert_eq!(whole.end.result, Ok("All is well.".to_owned()));
    let expected = sent(&model);
    let answered = |events: &[AgentEvent]| {
        events.iter().filter(|event| matches!(event, AgentEvent::ModelAnswered { .. })).count()
    };
    for cut in 1..whole.events.len() - 1 {
        let (rest_services, model) = services(script.clone(), directory.path());
        let mut job = AgentJob::new(Arc::new(task("code_modify", "Change it")), 1);
        job.past = Some(folded(&whole.events[..cut]));
        let rest = run(&rest_services, &job).await;
        assert_eq!(rest.end.result, whole.end.result, "cut after event {cut}");
        // An opening that was not journaled is made anew; everything else follows from the journal.
        let from = answered(&whole.events[..cut]);
        assert_eq!(sent(&model), expected[from..], "cut after {:?}", whole.events[cut - 1]);
    }
}

fn scripts() -> impl Strategy<Value = Vec<Script>> {
    let step = prop_oneof![
        1 => Just(Script::Empty),
        6 => prop::collection::vec(any::<u8>(), 1..5).prop_map(Script::Calls),
    ];
    prop::collection::vec(step, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_resumed_conversation_sends_the_same_bytes(script in scripts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // Three empty answers in a row end an attempt, which is another matter.
        let empty = |one: &&Script| matches!(one, Script::Empty);
        prop_assume!(script.iter().filter(empty).count() < 3);
        runtime.block_on(check_every_cut(script));
    }
}

#[tokio::test]
async fn words_and_parallel_looks_resume_at_every_event() {
    check_every_cut(vec![
        Script::Calls(vec![1, 0, 1, 2, 3]),
        Script::Words,
        Script::Calls(vec![2, 2, 1]),
    ])
    .await;
}
