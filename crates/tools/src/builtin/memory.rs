//! `memory.search` and `memory.save`: what is remembered across sessions.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{blocking, read};
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, StoreWrite, Tool, ToolError};
use planwright_model::ToolResult;

#[derive(Deserialize, JsonSchema)]
struct SearchArgs {
    /// Words to look for
    #[schemars(length(min = 1, max = 400))]
    query: String,
    /// The most hits to return
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn ten() -> usize {
    10
}

pub(super) struct MemorySearch(ToolMeta);

impl MemorySearch {
    pub(super) fn new() -> Self {
        let about = "Search what was remembered in this and earlier sessions.";
        let mut meta = ToolMeta::built_in::<SearchArgs>("memory.search", Effect::Look, about);
        // What is remembered changes without any file changing.
        meta.idempotent = false;
        Self(meta.makes(&["memory_hits"]))
    }
}

impl Tool for MemorySearch {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        read::<SearchArgs>(args)?;
        if context.toolbox.services().memory.is_none() {
            return Err(ToolError::new(
                Code::NotConfigured,
                "there is no store to remember things in",
            ));
        }
        Ok(Resolved::new(Effect::Look, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let Some(memory) = context.toolbox.services().memory.clone() else {
                return ToolError::new(Code::NotConfigured, "there is no store").into();
            };
            let args = resolved.args.clone();
            blocking(move || {
                let wanted: SearchArgs = read(&args)?;
                let hits = memory
                    .search(&wanted.query, wanted.limit)
                    .map_err(|message| ToolError::new(Code::Io, message))?;
                let sure = hits.first().map_or(0.3, |hit| 0.5 + hit.score / 2.0);
                Ok::<_, ToolError>(
                    ToolResult::success(json!({ "count": hits.len(), "hits": hits })).sure(sure),
                )
            })
            .await
        })
    }
}

#[derive(Deserialize, JsonSchema)]
struct SaveArgs {
    /// What to remember
    #[schemars(length(min = 1, max = 20000))]
    text: String,
    /// A name; a text saved under the same name is replaced
    #[schemars(length(max = 120))]
    key: Option<String>,
    #[serde(default)]
    #[schemars(length(max = 20))]
    tags: Vec<String>,
}

pub(super) struct MemorySave(ToolMeta);

impl MemorySave {
    pub(super) fn new() -> Self {
        let about =
            "Remember a text for later sessions, under a name if it should replace an earlier one.";
        Self(ToolMeta::built_in::<SaveArgs>("memory.save", Effect::SessionState, about))
    }
}

impl Tool for MemorySave {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: SaveArgs = read(args)?;
        // The person's own settings are kept there too, and are not the agent's to change.
        if wanted.key.as_deref() == Some("interaction_policy") {
            return Err(ToolError::new(
                Code::Refused,
                "`interaction_policy` is the person's to set",
            ));
        }
        if context.toolbox.redactor().would_change(&wanted.text) {
            return Err(ToolError::new(
                Code::SecretInArguments,
                "`text` holds what looks like a secret",
            ));
        }
        Ok(Resolved::new(Effect::SessionState, args.clone()))
    }

    fn call<'a>(&'a self, resolved: &'a Resolved, _: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match read::<SaveArgs>(&resolved.args) {
                Ok(SaveArgs { text, key, tags }) => {
                    let result = ToolResult::success(json!({ "saved": true, "key": key }));
                    Answer::from(result).write(StoreWrite::Memory { key, text, tags })
                }
                Err(error) => error.into(),
            }
        })
    }
}
