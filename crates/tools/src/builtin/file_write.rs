//! `file.write`: a complete file, new or replaced.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{decode_text, parse_args, run_blocking, unified_diff};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use crate::workspace::{LARGEST, Workspace, content_hash};
use planwright_model::ToolResult;

#[derive(Deserialize, JsonSchema)]
struct FileWriteArgs {
    /// Path of the file, relative to the workspace; missing directories are made
    #[schemars(length(min = 1))]
    path: String,
    /// The whole new content
    content: String,
}

pub(super) struct FileWriteTool(ToolMeta);

impl FileWriteTool {
    pub(super) fn new() -> Self {
        let about = "Write a whole text file of the workspace, replacing it if it is there. To change part of a file use file.edit.";
        Self(
            ToolMeta::built_in::<FileWriteArgs>("file.write", ToolEffect::Write, about)
                .with_products(&["file"]),
        )
    }
}

impl Tool for FileWriteTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: FileWriteArgs = parse_args(args)?;
        plan_write(context.toolbox.workspace(), args, &parsed.path, &parsed.content)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let resolved = resolved.clone();
            run_blocking(move || match parse_args::<FileWriteArgs>(&resolved.args) {
                Ok(parsed) => execute_write(&workspace, &resolved, &parsed.path, &parsed.content),
                Err(error) => error.into(),
            })
            .await
        })
    }
}

/// What writing a file would touch and change. Shared by all tools that write a file.
pub(super) fn plan_write(
    workspace: &Workspace,
    args: &Value,
    path: &str,
    content: &str,
) -> Result<ResolvedCall, ToolError> {
    let touched = workspace.resolve_touched(path)?;
    if content.len() as u64 > LARGEST {
        let message = format!("{} bytes are too much for one file", content.len());
        return Err(ToolError::new(ToolErrorCode::TooLarge, message));
    }
    let old = match workspace.read(path, LARGEST) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.code == ToolErrorCode::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut resolved = ResolvedCall::new(ToolEffect::Write, args.clone());
    resolved.before_hash = old.as_deref().map(content_hash);
    resolved.after_hash = Some(content_hash(content.as_bytes()));
    // What is no text shows as a new file; its hash was taken above.
    let old = decode_text(path, old.unwrap_or_default()).unwrap_or_default();
    resolved.preview = Some(unified_diff(&touched.path, &old, content));
    Ok(resolved.with_path(touched))
}

/// Writes the planned content, unless the file has changed since planning.
pub(super) fn execute_write(
    workspace: &Workspace,
    resolved: &ResolvedCall,
    path: &str,
    content: &str,
) -> ToolAnswer {
    match workspace.write(path, content.as_bytes(), resolved.before_hash.as_ref()) {
        Ok(after) => {
            let verb = if resolved.before_hash.is_some() { "replaced" } else { "created" };
            let shown_path = resolved.paths.first().map_or(path, |touched| touched.path.as_str());
            let result = ToolResult::success(json!({
                "path": shown_path,
                "bytes": content.len(),
                "diff": resolved.preview,
                "created": resolved.before_hash.is_none(),
                // Lets a fork check whether the file still has the content this call wrote.
                "file_hash": after,
            }));
            let mut answer =
                ToolAnswer::from(result.with_explanation(format!("{verb} {shown_path}")));
            answer.after_hash = Some(after);
            answer
        }
        Err(error) => error.into(),
    }
}
