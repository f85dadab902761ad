//! `file.list`: the names in a directory.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{parse_args, run_blocking};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{Tool, ToolAnswer, ToolError};
use crate::workspace::DirectoryEntryKind;
use planwright_model::ToolResult;

const MOST: usize = 2000;

#[derive(Deserialize, JsonSchema)]
struct FileListArgs {
    /// Directory, relative to the workspace
    #[serde(default = "default_path")]
    path: String,
}

fn default_path() -> String {
    ".".to_owned()
}

pub(super) struct FileListTool(ToolMeta);

impl FileListTool {
    pub(super) fn new() -> Self {
        let about = "List the files and directories in one directory of the workspace.";
        Self(ToolMeta::built_in::<FileListArgs>("file.list", ToolEffect::Look, about))
    }
}

impl Tool for FileListTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: FileListArgs = parse_args(args)?;
        let touched = context.toolbox.workspace().resolve_touched(&parsed.path)?;
        Ok(ResolvedCall::new(ToolEffect::Look, json!({ "path": parsed.path })).with_path(touched))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let args = resolved.args.clone();
            run_blocking(move || {
                let parsed: FileListArgs = parse_args(&args)?;
                let entries = workspace.list_directory(&parsed.path)?;
                let shown: Vec<Value> = entries
                    .iter()
                    .take(MOST)
                    .map(|entry| match entry.kind {
                        DirectoryEntryKind::Directory => json!(format!("{}/", entry.name)),
                        DirectoryEntryKind::File => {
                            json!(format!("{} ({} bytes)", entry.name, entry.bytes))
                        }
                        DirectoryEntryKind::Link => json!(format!("{} (link)", entry.name)),
                        DirectoryEntryKind::Other => json!(format!("{} (not a file)", entry.name)),
                    })
                    .collect();
                Ok::<_, ToolError>(ToolResult::success(json!({
                    "path": parsed.path,
                    "entries": shown,
                    "count": entries.len(),
                    "truncated": entries.len() > MOST,
                })))
            })
            .await
        })
    }
}
