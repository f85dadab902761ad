//! To-do lists, which each program keeps with a tool of its own.

use serde_json::Value;

use super::item::{list_at, text_field};
use planwright_model::{AgentTodo, AgentTodoStatus};

/// The list that a call of a to-do tool sets: `TodoWrite`, `todowrite`, `write_todos`, `update_plan`.
pub(super) fn todo_list(tool: &str, input: &Value) -> Option<Vec<AgentTodo>> {
    let (list, words) = match tool {
        "TodoWrite" | "todowrite" => ("/todos", "content"),
        "write_todos" => ("/todos", "description"),
        "update_plan" => ("/plan", "step"),
        _ => return None,
    };
    let item = |value: &Value| {
        let text = text_field(value, words)?.to_owned();
        Some(AgentTodo { text, status: todo_status(text_field(value, "status")) })
    };
    Some(list_at(input, list).iter().filter_map(item).collect())
}

pub(super) fn todo_status(word: Option<&str>) -> AgentTodoStatus {
    match word {
        Some("completed" | "done" | "cancelled" | "deleted") => AgentTodoStatus::Done,
        Some("in_progress") => AgentTodoStatus::UnderWay,
        _ => AgentTodoStatus::Open,
    }
}
