//! `file.read`: a text file of the workspace, whole or by lines.

use std::io::{BufRead, BufReader, Read};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{as_text, blocking, read};
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};
use crate::workspace::Workspace;
use planwright_model::ToolResult;

/// How far into a file lines are looked for.
const FARTHEST: u64 = 64 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Path of the file, relative to the workspace
    #[schemars(length(min = 1))]
    path: String,
    /// First line to read, counted from 1
    #[schemars(range(min = 1))]
    start_line: Option<u64>,
    /// Last line to read, included
    #[schemars(range(min = 1))]
    end_line: Option<u64>,
}

pub(super) struct FileRead(ToolMeta);

impl FileRead {
    pub(super) fn new() -> Self {
        let about = "Read a text file of the workspace. Give start_line and end_line to read part of a large file.";
        Self(ToolMeta::built_in::<Args>("file.read", Effect::Look, about).makes(&["file_content"]))
    }
}

impl Tool for FileRead {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        if let (Some(start), Some(end)) = (wanted.start_line, wanted.end_line)
            && end < start
        {
            return Err(ToolError::new(Code::BadArgs, "`end_line` comes before `start_line`"));
        }
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
            let most = context.toolbox.settings().model_output_bytes;
            let args = resolved.args.clone();
            blocking(move || look(&workspace, &args, most)).await
        })
    }
}

fn look(workspace: &Workspace, args: &Value, most: usize) -> Result<ToolResult, ToolError> {
    let wanted: Args = read(args)?;
    let open = workspace.open_file(&wanted.path)?;
    let start = wanted.start_line.unwrap_or(1);
    let end = wanted.end_line.unwrap_or(u64::MAX);
    let mut reader = BufReader::new(open.file.take(FARTHEST));
    let (mut text, mut number, mut last, mut cut) = (Vec::new(), 0, start.saturating_sub(1), false);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|error| {
            ToolError::new(Code::Io, format!("reading {}: {error}", wanted.path))
        })?;
        if read == 0 {
            break;
        }
        number += 1;
        if number < start || number > end || cut {
            continue;
        }
        if text.len() + line.len() > most {
            cut = true;
            // One line may be longer than everything that may be read.
            if text.is_empty() {
                line.truncate(most);
                while std::str::from_utf8(&line).is_err_and(|error| error.error_len().is_none()) {
                    line.pop();
                }
                text.extend_from_slice(&line);
                last = number;
            }
            continue;
        }
        text.extend_from_slice(&line);
        last = number;
    }
    if start > number.max(1) {
        let message = format!("{} has {number} lines, line {start} was asked for", wanted.path);
        return Err(ToolError::new(Code::BadArgs, message));
    }
    let text = as_text(&wanted.path, text)?;
    let mut result = ToolResult::success(json!({
        "path": open.place,
        "text": text,
        "start_line": start,
        "end_line": last,
        "total_lines": number,
        "truncated": cut,
    }));
    if cut {
        result = result
            .explain(format!("only lines {start} to {last} fit; ask for the rest by line numbers"));
    }
    Ok(result)
}
