//! The executor without a model: it follows the pattern of the task with what the workspace offers, and says so where
//! that is not enough.

use std::sync::Arc;

use serde_json::{Value, json};

use super::prompt_docs::state_from_request;
use super::tool_selection::DONE;
use planwright_llm::offline::{OfflineAnswer, OfflineModel};
use planwright_llm::provider::OFFLINE;
use planwright_llm::{GenerateRequest, ModelError, ToolCall};
use planwright_model::Category;

/// The code of a failure that a model would not have had.
pub const NEEDS_MODEL: &str = "needs_model";

/// The offline model of the executor, the planner and the judge.
pub fn offline_model() -> Arc<OfflineModel> {
    Arc::new(OfflineModel::new("task-patterns", Arc::new(answer_by_rule)))
}

/// What the state of the task offers is done; nothing is made up.
fn answer_by_rule(request: &GenerateRequest) -> Result<OfflineAnswer, ModelError> {
    let state = state_from_request(request).unwrap_or_default();
    let word = |name: &str| state.get(name).and_then(Value::as_str).unwrap_or_default();
    let step = state.pointer("/next/step").and_then(Value::as_str).unwrap_or_default();
    match word("ask") {
        "decision" => {}
        "words" | "final" if !word("words").is_empty() => {
            return Ok(OfflineAnswer { text: word("words").to_owned(), calls: Vec::new() });
        }
        "criteria" if !word("words").is_empty() => {
            // Without a model nobody can say that something written in plain words holds.
            let value = json!({ "answer": word("words"), "criteria": [] });
            return Ok(OfflineAnswer { text: value.to_string(), calls: Vec::new() });
        }
        _ => return Err(needs_model_error(&state, "this needs judgement")),
    }
    if let Some(offered) = state.get("offer").filter(|offer| offer.is_object()) {
        let tool = offered.get("tool").and_then(Value::as_str).unwrap_or_default();
        let call = ToolCall {
            id: "offline".to_owned(),
            name: tool.to_owned(),
            arguments: offered.get("args").cloned().unwrap_or_default(),
        };
        let text = format!("The step {step} comes next; {tool} does it.");
        return Ok(OfflineAnswer { text, calls: vec![call] });
    }
    if state.pointer("/next/local").is_some_and(|local| local == "think")
        && !word("words").is_empty()
    {
        let call = ToolCall {
            id: "offline".to_owned(),
            name: DONE.to_owned(),
            arguments: json!({ "answer": word("words") }),
        };
        return Ok(OfflineAnswer {
            text: "The finds say this much.".to_owned(),
            calls: vec![call],
        });
    }
    let kind = word("task_type");
    let why = match step {
        "" => format!("nothing more can be done about a {kind} task"),
        step => format!("the step {step} of a {kind} task cannot be done by rule here"),
    };
    Err(needs_model_error(&state, &why))
}

fn needs_model_error(state: &Value, why: &str) -> ModelError {
    let nothing = state.get("searched").and_then(Value::as_bool) == Some(true)
        && state.get("words").and_then(Value::as_str).is_none_or(str::is_empty);
    let found = if nothing { "; the search of the workspace found nothing" } else { "" };
    ModelError::new(
        OFFLINE,
        NEEDS_MODEL,
        Category::Critical,
        format!("{why}{found}"),
        "set up a model, or do it yourself",
    )
}
