//! `manage_todo_list`: the agent's own list, with at most one item in progress.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::parse_args;
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::todo::{TodoList, TodoStatus};
use crate::tool::{StoreWrite, Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::ToolResult;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoAction {
    Add,
    Update,
    Complete,
    List,
}

#[derive(Deserialize, JsonSchema)]
struct ManageTodoListArgs {
    action: TodoAction,
    /// Text of a new item, or the new text of an item
    #[schemars(length(max = 400))]
    text: Option<String>,
    /// Several new items at once
    #[serde(default)]
    #[schemars(length(max = 50))]
    items: Vec<String>,
    /// Number of the item to update or complete
    id: Option<u32>,
    status: Option<TodoStatus>,
    /// Plan node the item is about
    node: Option<String>,
}

pub(super) struct ManageTodoListTool(ToolMeta);

impl ManageTodoListTool {
    pub(super) fn new() -> Self {
        let about = "Keep a list of steps: add, update, complete or list. One item may be in progress at a time. Simple tasks need no list; complex ones: explore, list, then work in parallel.";
        Self(ToolMeta::built_in::<ManageTodoListArgs>(
            "manage_todo_list",
            ToolEffect::SessionState,
            about,
        ))
    }
}

impl Tool for ManageTodoListTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: ManageTodoListArgs = parse_args(args)?;
        // Listing the items changes nothing.
        let effect = if parsed.action == TodoAction::List {
            ToolEffect::Look
        } else {
            ToolEffect::SessionState
        };
        apply_action(&parsed, current_list(context))?;
        Ok(ResolvedCall::new(effect, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let parsed: ManageTodoListArgs = match parse_args(&resolved.args) {
                Ok(parsed) => parsed,
                Err(error) => return error.into(),
            };
            match apply_action(&parsed, current_list(context)) {
                Ok(list) => {
                    let done =
                        list.items.iter().filter(|item| item.status == TodoStatus::Done).count();
                    let result = ToolResult::success(
                        json!({ "items": list.items, "done": done, "total": list.items.len() }),
                    );
                    let answer = ToolAnswer::from(result);
                    if parsed.action == TodoAction::List {
                        answer
                    } else {
                        answer.with_write(StoreWrite::Todo { list })
                    }
                }
                Err(error) => error.into(),
            }
        })
    }
}

fn current_list(context: &ToolContext) -> TodoList {
    context.toolbox.services().todo.as_ref().map(|list| list()).unwrap_or_default()
}

fn apply_action(parsed: &ManageTodoListArgs, mut list: TodoList) -> Result<TodoList, ToolError> {
    let bad = |message: String| ToolError::new(ToolErrorCode::BadArgs, message);
    let id = || parsed.id.ok_or_else(|| bad("`id` is missing".to_owned()));
    match parsed.action {
        TodoAction::List => {}
        TodoAction::Add => {
            let texts: Vec<&str> = parsed
                .text
                .as_deref()
                .into_iter()
                .chain(parsed.items.iter().map(String::as_str))
                .collect();
            if texts.is_empty() {
                return Err(bad("`text` or `items` is missing".to_owned()));
            }
            for text in texts {
                list.add(text, parsed.node.clone()).map_err(bad)?;
            }
        }
        TodoAction::Update => {
            list.update(id()?, parsed.text.as_deref(), parsed.status, parsed.node.clone())
                .map_err(bad)?;
        }
        TodoAction::Complete => {
            list.update(id()?, None, Some(TodoStatus::Done), None).map_err(bad)?;
        }
    }
    Ok(list)
}
