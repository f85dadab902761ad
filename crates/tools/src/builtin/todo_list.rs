//! `manage_todo_list`: the agent's own list, one item in progress at most.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::read;
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::todo::{TodoList, TodoStatus};
use crate::tool::{Answer, Code, StoreWrite, Tool, ToolError};
use planwright_model::ToolResult;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Add,
    Update,
    Complete,
    List,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    action: Action,
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

pub(super) struct ManageTodoList(ToolMeta);

impl ManageTodoList {
    pub(super) fn new() -> Self {
        let about = "Keep a list of steps: add, update, complete or list. One item may be in progress at a time. Simple tasks need no list; complex ones: explore, list, then work in parallel.";
        Self(ToolMeta::built_in::<Args>("manage_todo_list", Effect::SessionState, about))
    }
}

impl Tool for ManageTodoList {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        // Looking at the list changes nothing.
        let effect =
            if wanted.action == Action::List { Effect::Look } else { Effect::SessionState };
        changed(&wanted, current(context))?;
        Ok(Resolved::new(effect, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let wanted: Args = match read(&resolved.args) {
                Ok(wanted) => wanted,
                Err(error) => return error.into(),
            };
            match changed(&wanted, current(context)) {
                Ok(list) => {
                    let done =
                        list.items.iter().filter(|item| item.status == TodoStatus::Done).count();
                    let result = ToolResult::success(
                        json!({ "items": list.items, "done": done, "total": list.items.len() }),
                    );
                    let answer = Answer::from(result);
                    if wanted.action == Action::List {
                        answer
                    } else {
                        answer.write(StoreWrite::Todo { list })
                    }
                }
                Err(error) => error.into(),
            }
        })
    }
}

fn current(context: &ToolContext) -> TodoList {
    context.toolbox.services().todo.as_ref().map(|list| list()).unwrap_or_default()
}

fn changed(wanted: &Args, mut list: TodoList) -> Result<TodoList, ToolError> {
    let bad = |message: String| ToolError::new(Code::BadArgs, message);
    let id = || wanted.id.ok_or_else(|| bad("`id` is missing".to_owned()));
    match wanted.action {
        Action::List => {}
        Action::Add => {
            let texts: Vec<&str> = wanted
                .text
                .as_deref()
                .into_iter()
                .chain(wanted.items.iter().map(String::as_str))
                .collect();
            if texts.is_empty() {
                return Err(bad("`text` or `items` is missing".to_owned()));
            }
            for text in texts {
                list.add(text, wanted.node.clone()).map_err(bad)?;
            }
        }
        Action::Update => {
            list.update(id()?, wanted.text.as_deref(), wanted.status, wanted.node.clone())
                .map_err(bad)?;
        }
        Action::Complete => {
            list.update(id()?, None, Some(TodoStatus::Done), None).map_err(bad)?;
        }
    }
    Ok(list)
}
