//! `file.edit`: an exact replacement in a file, shown as a diff.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::file_write::{carry_out, plan_write};
use super::{as_text, blocking, read};
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};
use crate::workspace::{LARGEST, Workspace};

#[derive(Deserialize, JsonSchema)]
struct Args {
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

pub(super) struct FileEdit(ToolMeta);

impl FileEdit {
    pub(super) fn new() -> Self {
        let about = "Replace an exact piece of text in a file. The text must occur once; add lines around it if it occurs more often.";
        Self(ToolMeta::built_in::<Args>("file.edit", Effect::Write, about).makes(&["file"]))
    }
}

impl Tool for FileEdit {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        let workspace = context.toolbox.workspace();
        let content = edited(workspace, &wanted)?;
        plan_write(workspace, args, &wanted.path, &content)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let resolved = resolved.clone();
            blocking(move || {
                let wanted = read::<Args>(&resolved.args);
                match wanted.and_then(|wanted| Ok((edited(&workspace, &wanted)?, wanted))) {
                    Ok((content, wanted)) => {
                        carry_out(&workspace, &resolved, &wanted.path, &content)
                    }
                    Err(error) => error.into(),
                }
            })
            .await
        })
    }
}

fn edited(workspace: &Workspace, wanted: &Args) -> Result<String, ToolError> {
    let text = as_text(&wanted.path, workspace.read(&wanted.path, LARGEST)?)?;
    let count = text.matches(&wanted.old).count();
    let no_match = |message: String| Err(ToolError::new(Code::NoMatch, message));
    match count {
        _ if wanted.old == wanted.new => no_match("`old` and `new` are the same".to_owned()),
        0 => no_match(format!("{}{}", missing(&wanted.path), near(&text, &wanted.old))),
        1 => Ok(text.replacen(&wanted.old, &wanted.new, 1)),
        _ if wanted.replace_all => Ok(text.replace(&wanted.old, &wanted.new)),
        _ => no_match(format!(
            "the text to replace occurs {count} times in {}; give more of the lines around it or set replace_all",
            wanted.path
        )),
    }
}

fn missing(path: &str) -> String {
    format!("the text to replace is not in {path}")
}

/// Where the first line of the text is found with other spaces, which is the usual mistake.
fn near(text: &str, old: &str) -> String {
    let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let found = text.lines().position(|line| line.trim() == first);
    found.map_or_else(String::new, |at| {
        format!("; line {} begins alike but spaces or the lines after it differ", at + 1)
    })
}
