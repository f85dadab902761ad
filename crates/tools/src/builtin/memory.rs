//! `memory.search` and `memory.save`: memory across sessions.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{parse_args, run_blocking};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{StoreWrite, Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::ToolResult;

#[derive(Deserialize, JsonSchema)]
struct MemorySearchArgs {
    /// Words to look for
    #[schemars(length(min = 1, max = 400))]
    query: String,
    /// The most hits to return
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn default_limit() -> usize {
    10
}

pub(super) struct MemorySearchTool(ToolMeta);

impl MemorySearchTool {
    pub(super) fn new() -> Self {
        let about = "Search what was remembered in this and earlier sessions.";
        let mut meta =
            ToolMeta::built_in::<MemorySearchArgs>("memory.search", ToolEffect::Look, about);
        // Memory changes without any file changing.
        meta.idempotent = false;
        Self(meta.with_products(&["memory_hits"]))
    }
}

impl Tool for MemorySearchTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        parse_args::<MemorySearchArgs>(args)?;
        if context.toolbox.services().memory.is_none() {
            return Err(ToolError::new(
                ToolErrorCode::NotConfigured,
                "there is no store to remember things in",
            ));
        }
        Ok(ResolvedCall::new(ToolEffect::Look, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let Some(memory) = context.toolbox.services().memory.clone() else {
                return ToolError::new(ToolErrorCode::NotConfigured, "there is no store").into();
            };
            let args = resolved.args.clone();
            run_blocking(move || {
                let parsed: MemorySearchArgs = parse_args(&args)?;
                let hits = memory
                    .search(&parsed.query, parsed.limit)
                    .map_err(|message| ToolError::new(ToolErrorCode::Io, message))?;
                let sure = hits.first().map_or(0.3, |hit| 0.5 + hit.score / 2.0);
                Ok::<_, ToolError>(
                    ToolResult::success(json!({ "count": hits.len(), "hits": hits }))
                        .with_confidence(sure),
                )
            })
            .await
        })
    }
}

#[derive(Deserialize, JsonSchema)]
struct MemorySaveArgs {
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

pub(super) struct MemorySaveTool(ToolMeta);

impl MemorySaveTool {
    pub(super) fn new() -> Self {
        let about =
            "Remember a text for later sessions, under a name if it should replace an earlier one.";
        Self(ToolMeta::built_in::<MemorySaveArgs>("memory.save", ToolEffect::SessionState, about))
    }
}

impl Tool for MemorySaveTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: MemorySaveArgs = parse_args(args)?;
        // The user's own settings are stored there too, and the agent must not change them.
        if parsed.key.as_deref() == Some("interaction_policy") {
            return Err(ToolError::new(
                ToolErrorCode::Refused,
                "`interaction_policy` is the person's to set",
            ));
        }
        if context.toolbox.redactor().would_change(&parsed.text) {
            return Err(ToolError::new(
                ToolErrorCode::SecretInArguments,
                "`text` holds what looks like a secret",
            ));
        }
        Ok(ResolvedCall::new(ToolEffect::SessionState, args.clone()))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            match parse_args::<MemorySaveArgs>(&resolved.args) {
                Ok(MemorySaveArgs { text, key, tags }) => {
                    let result = ToolResult::success(json!({ "saved": true, "key": key }));
                    ToolAnswer::from(result).with_write(StoreWrite::Memory { key, text, tags })
                }
                Err(error) => error.into(),
            }
        })
    }
}
