//! `file.list`: the names in a directory.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{blocking, read};
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Tool, ToolError};
use crate::workspace::EntryKind;
use planwright_model::ToolResult;

const MOST: usize = 2000;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Directory, relative to the workspace
    #[serde(default = "here")]
    path: String,
}

fn here() -> String {
    ".".to_owned()
}

pub(super) struct FileList(ToolMeta);

impl FileList {
    pub(super) fn new() -> Self {
        let about = "List the files and directories in one directory of the workspace.";
        Self(ToolMeta::built_in::<Args>("file.list", Effect::Look, about))
    }
}

impl Tool for FileList {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        let place = context.toolbox.workspace().touch(&wanted.path)?;
        Ok(Resolved::new(Effect::Look, json!({ "path": wanted.path })).touching(place))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let args = resolved.args.clone();
            blocking(move || {
                let wanted: Args = read(&args)?;
                let entries = workspace.list(&wanted.path)?;
                let shown: Vec<Value> = entries
                    .iter()
                    .take(MOST)
                    .map(|entry| match entry.kind {
                        EntryKind::Directory => json!(format!("{}/", entry.name)),
                        EntryKind::File => json!(format!("{} ({} bytes)", entry.name, entry.bytes)),
                        EntryKind::Link => json!(format!("{} (link)", entry.name)),
                        EntryKind::Other => json!(format!("{} (not a file)", entry.name)),
                    })
                    .collect();
                Ok::<_, ToolError>(ToolResult::success(json!({
                    "path": wanted.path,
                    "entries": shown,
                    "count": entries.len(),
                    "truncated": entries.len() > MOST,
                })))
            })
            .await
        })
    }
}
