//! `glob`: files whose path matches a pattern.

use futures_util::future::BoxFuture;
use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{parse_args, run_blocking};
use crate::context::ToolContext;
use crate::file_walk::{self, HiddenFiles};
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use crate::workspace::Workspace;
use planwright_model::ToolResult;

const MOST: usize = 1000;

#[derive(Deserialize, JsonSchema)]
struct GlobArgs {
    /// Pattern of the path below the directory, such as `src/**/*.rs`
    #[schemars(length(min = 1))]
    pattern: String,
    /// Directory to look in, relative to the workspace
    #[serde(default = "default_path")]
    path: String,
    /// Look at names that begin with a dot too
    #[serde(default)]
    hidden: bool,
}

fn default_path() -> String {
    ".".to_owned()
}

pub(super) struct GlobTool(ToolMeta);

impl GlobTool {
    pub(super) fn new() -> Self {
        let about =
            "Find files of the workspace by a pattern of their path. What git ignores is left out.";
        Self(ToolMeta::built_in::<GlobArgs>("glob", ToolEffect::Look, about))
    }
}

impl Tool for GlobTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: GlobArgs = parse_args(args)?;
        compile_glob(&parsed.pattern)?;
        let touched = context.toolbox.workspace().resolve_touched(&parsed.path)?;
        Ok(ResolvedCall::new(ToolEffect::Look, args.clone()).with_path(touched))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let (resolved, cancel) = (resolved.clone(), context.cancel.clone());
            run_blocking(move || {
                let parsed: GlobArgs = parse_args(&resolved.args)?;
                let base = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
                let matcher = compile_glob(&parsed.pattern)?;
                let hidden =
                    if parsed.hidden { HiddenFiles::Included } else { HiddenFiles::Excluded };
                let mut found = Vec::new();
                let mut more = false;
                for path in files_below(&workspace, base, hidden) {
                    if cancel.is_cancelled() {
                        return Err(ToolError::new(
                            ToolErrorCode::Cancelled,
                            "the task was cancelled",
                        ));
                    }
                    let below = path.strip_prefix(base).unwrap_or(&path);
                    let below = below.strip_prefix('/').unwrap_or(below);
                    if !matcher.is_match(below) || !workspace.contains(&path) {
                        continue;
                    }
                    if found.len() == MOST {
                        more = true;
                        break;
                    }
                    found.push(path);
                }
                Ok(ToolResult::success(
                    json!({ "count": found.len(), "files": found, "truncated": more }),
                ))
            })
            .await
        })
    }
}

pub(super) fn compile_glob(pattern: &str) -> Result<globset::GlobMatcher, ToolError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| {
            ToolError::new(ToolErrorCode::BadArgs, format!("the pattern cannot be used: {error}"))
        })
}

/// Files below a path of the workspace, as paths relative to the workspace. A file is returned as itself.
pub(super) fn files_below(
    workspace: &Workspace,
    base: &str,
    hidden: HiddenFiles,
) -> impl Iterator<Item = String> + use<> {
    let root = workspace.root().to_owned();
    let start = if base == "." { root.clone() } else { root.join(base) };
    file_walk::walk_files(&start, hidden).filter_map(move |path| {
        let below = path.strip_prefix(&root).unwrap_or(&path);
        below.to_str().map(str::to_owned)
    })
}
