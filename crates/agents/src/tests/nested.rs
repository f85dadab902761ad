//! Looking around and working in parallel from within the main loop.

use std::sync::Arc;
use std::sync::Mutex;

use serde_json::json;

use super::fixture::*;
use crate::{AgentSubtaskRunner, PromptLibrary, SubtaskParts};
use planwright_drafting::executor::RecipeLibrary;
use planwright_llm::protocol::ModelDialogue;
use planwright_model::event::AgentEvent;
use planwright_tools::ToolboxServices;

#[tokio::test]
async fn the_agent_explores_with_subtasks_that_only_look() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("port.txt"), "port = 8080\n").unwrap();
    // The same model plays both: a subtask is told apart by its prompt.
    let model = ByRule::new(|request| {
        let system = request.messages[0].text();
        let text = request.messages[1].text();
        Ok(if system.starts_with("# Subtask") {
            let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert!(!names.contains(&"file.write") && !names.contains(&"explore_context"));
            if text.contains("port = 8080") {
                says("", Some(("task.done", json!({"answer": "8080, port.txt:1"}))))
            } else {
                says("", Some(("grep", json!({"pattern": "port"}))))
            }
        } else if text.contains("8080, port.txt:1") {
            says("The port is 8080 (port.txt:1).", None)
        } else {
            says("I look around.", Some(("explore_context", json!({"questions": ["Which port?"]}))))
        })
    });
    let heard: Arc<Mutex<Vec<AgentEvent>>> = Arc::default();
    let asks: Arc<std::sync::atomic::AtomicU32> = Arc::default();
    let subtasks = AgentSubtaskRunner::new(SubtaskParts {
        dialogue: Arc::new(ModelDialogue::new(model.clone())),
        prompts: Arc::new(PromptLibrary::built_in()),
        recipes: Arc::new(RecipeLibrary::built_in()),
        clock: Arc::new(|| jiff::Timestamp::UNIX_EPOCH),
        next_ask: Arc::clone(&asks),
        asking: Arc::default(),
        emit: {
            let heard = Arc::clone(&heard);
            Arc::new(move |event| heard.lock().unwrap().push(event))
        },
    });
    let services =
        ToolboxServices { subtasks: Some(Arc::new(subtasks)), ..ToolboxServices::default() };
    let setup = Setup { services, ..Setup::default() };
    let mut services = build_services(model, setup.toolbox(directory.path()));
    services.next_ask = asks;
    let told = run_task(&services, task("generic", "Which port is used?")).await;
    assert_eq!(told.end.result, Ok("The port is 8080 (port.txt:1).".to_owned()));
    assert_eq!(told.tools(), ["explore_context"]);
    let heard = heard.lock().unwrap();
    let acted = heard.iter().filter(|event| matches!(event, AgentEvent::Acted { .. })).count();
    assert_eq!(acted, 1);
    assert!(
        heard
            .iter()
            .all(|event| event.task_id().is_some_and(|task| task.as_str().starts_with("t.")))
    );
}
