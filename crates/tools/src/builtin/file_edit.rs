//! `file.edit`: an exact replacement in a file, shown as a diff.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::file_write::{execute_write, plan_write};
use super::{decode_text, parse_args, run_blocking};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use crate::workspace::{LARGEST, Workspace};

#[derive(Deserialize, JsonSchema)]
struct FileEditArgs {
    /// Path of the file, relative to the workspace
    #[schemars(length(min = 1))]
    path: String,
    /// The exact text to replace, with its spaces and line ends
    #[schemars(length(min = 1))]
    old: String,
    /// What takes its place
    new: String,
    /// Replace every occurrence; otherwise there must be exactly one
    #[serde(default)]
    replace_all: bool,
}

pub(super) struct FileEditTool(ToolMeta);

impl FileEditTool {
    pub(super) fn new() -> Self {
        let about = "Replace an exact piece of text in a file. The text must occur once; add lines around it if it occurs more often.";
        Self(
            ToolMeta::built_in::<FileEditArgs>("file.edit", ToolEffect::Write, about)
                .with_products(&["file"]),
        )
    }
}

impl Tool for FileEditTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: FileEditArgs = parse_args(args)?;
        let workspace = context.toolbox.workspace();
        let content = apply_edit(workspace, &parsed)?;
        plan_write(workspace, args, &parsed.path, &content)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let resolved = resolved.clone();
            run_blocking(move || {
                let parsed = parse_args::<FileEditArgs>(&resolved.args);
                match parsed.and_then(|parsed| Ok((apply_edit(&workspace, &parsed)?, parsed))) {
                    Ok((content, parsed)) => {
                        execute_write(&workspace, &resolved, &parsed.path, &content)
                    }
                    Err(error) => error.into(),
                }
            })
            .await
        })
    }
}

fn apply_edit(workspace: &Workspace, parsed: &FileEditArgs) -> Result<String, ToolError> {
    let text = decode_text(&parsed.path, workspace.read(&parsed.path, LARGEST)?)?;
    let count = text.matches(&parsed.old).count();
    let no_match = |message: String| Err(ToolError::new(ToolErrorCode::NoMatch, message));
    match count {
        _ if parsed.old == parsed.new => no_match("`old` and `new` are the same".to_owned()),
        0 => no_match(format!(
            "{}{}",
            missing_text_message(&parsed.path),
            near_match_hint(&text, &parsed.old)
        )),
        1 => Ok(text.replacen(&parsed.old, &parsed.new, 1)),
        _ if parsed.replace_all => Ok(text.replace(&parsed.old, &parsed.new)),
        _ => no_match(format!(
            "the text to replace occurs {count} times in {}; give more of the lines around it or set replace_all",
            parsed.path
        )),
    }
}

fn missing_text_message(path: &str) -> String {
    format!("the text to replace is not in {path}")
}

/// Where the first line of the text occurs with different whitespace, which is the most common mistake.
fn near_match_hint(text: &str, old: &str) -> String {
    let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let found = text.lines().position(|line| line.trim() == first);
    found.map_or_else(String::new, |at| {
        format!("; line {} begins alike but spaces or the lines after it differ", at + 1)
    })
}
