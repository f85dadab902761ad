//! `glob`: files by a pattern of their path.

use futures_util::future::BoxFuture;
use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{blocking, read};
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};
use crate::walk::{self, Hidden};
use crate::workspace::Workspace;
use planwright_model::ToolResult;

const MOST: usize = 1000;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Pattern of the path below the directory, such as `src/**/*.rs`
    #[schemars(length(min = 1))]
    pattern: String,
    /// Directory to look in, relative to the workspace
    #[serde(default = "here")]
    path: String,
    /// Look at names that begin with a dot too
    #[serde(default)]
    hidden: bool,
}

fn here() -> String {
    ".".to_owned()
}

pub(super) struct Glob(ToolMeta);

impl Glob {
    pub(super) fn new() -> Self {
        let about =
            "Find files of the workspace by a pattern of their path. What git ignores is left out.";
        Self(ToolMeta::built_in::<Args>("glob", Effect::Look, about))
    }
}

impl Tool for Glob {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        matcher(&wanted.pattern)?;
        let place = context.toolbox.workspace().touch(&wanted.path)?;
        Ok(Resolved::new(Effect::Look, args.clone()).touching(place))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let (resolved, cancel) = (resolved.clone(), context.cancel.clone());
            blocking(move || {
                let wanted: Args = read(&resolved.args)?;
                let place = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
                let matcher = matcher(&wanted.pattern)?;
                let hidden = if wanted.hidden { Hidden::Shown } else { Hidden::Left };
                let mut found = Vec::new();
                let mut more = false;
                for path in files_below(&workspace, place, hidden) {
                    if cancel.is_cancelled() {
                        return Err(ToolError::new(Code::Cancelled, "the task was cancelled"));
                    }
                    let below = path.strip_prefix(place).unwrap_or(&path);
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

pub(super) fn matcher(pattern: &str) -> Result<globset::GlobMatcher, ToolError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| {
            ToolError::new(Code::BadArgs, format!("the pattern cannot be used: {error}"))
        })
}

/// Files below a place of the workspace, as paths relative to the workspace. A file stands for itself.
pub(super) fn files_below(
    workspace: &Workspace,
    place: &str,
    hidden: Hidden,
) -> impl Iterator<Item = String> + use<> {
    let root = workspace.root().to_owned();
    let start = if place == "." { root.clone() } else { root.join(place) };
    walk::files(&start, hidden).filter_map(move |path| {
        let below = path.strip_prefix(&root).unwrap_or(&path);
        below.to_str().map(str::to_owned)
    })
}
