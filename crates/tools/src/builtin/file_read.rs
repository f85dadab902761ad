//! `file.read`: a text file of the workspace, complete or by lines.

use std::io::{BufRead, BufReader, Read};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{decode_text, parse_args, run_blocking};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use crate::workspace::Workspace;
use planwright_model::ToolResult;

/// How far into a file lines are searched for.
const MAX_SCANNED_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
struct FileReadArgs {
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

pub(super) struct FileReadTool(ToolMeta);

impl FileReadTool {
    pub(super) fn new() -> Self {
        let about = "Read a text file of the workspace. Give start_line and end_line to read part of a large file.";
        Self(
            ToolMeta::built_in::<FileReadArgs>("file.read", ToolEffect::Look, about)
                .with_products(&["file_content"]),
        )
    }
}

impl Tool for FileReadTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: FileReadArgs = parse_args(args)?;
        if let (Some(start), Some(end)) = (parsed.start_line, parsed.end_line)
            && end < start
        {
            return Err(ToolError::new(
                ToolErrorCode::BadArgs,
                "`end_line` comes before `start_line`",
            ));
        }
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
            let most = context.toolbox.settings().model_output_bytes;
            let args = resolved.args.clone();
            run_blocking(move || read_lines(&workspace, &args, most)).await
        })
    }
}

fn read_lines(workspace: &Workspace, args: &Value, most: usize) -> Result<ToolResult, ToolError> {
    let parsed: FileReadArgs = parse_args(args)?;
    let open = workspace.open_file(&parsed.path)?;
    let start = parsed.start_line.unwrap_or(1);
    let end = parsed.end_line.unwrap_or(u64::MAX);
    let mut reader = BufReader::new(open.file.take(MAX_SCANNED_BYTES));
    let (mut text, mut number, mut last, mut cut) = (Vec::new(), 0, start.saturating_sub(1), false);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|error| {
            ToolError::new(ToolErrorCode::Io, format!("reading {}: {error}", parsed.path))
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
            // A single line may exceed the limit.
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
        let message = format!("{} has {number} lines, line {start} was asked for", parsed.path);
        return Err(ToolError::new(ToolErrorCode::BadArgs, message));
    }
    let text = decode_text(&parsed.path, text)?;
    let mut result = ToolResult::success(json!({
        "path": open.place,
        "text": text,
        "start_line": start,
        "end_line": last,
        "total_lines": number,
        "truncated": cut,
    }));
    if cut {
        result = result.with_explanation(format!(
            "only lines {start} to {last} fit; ask for the rest by line numbers"
        ));
    }
    Ok(result)
}
