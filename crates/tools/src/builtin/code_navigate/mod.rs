//! `code.navigate`: the outline of a file, the definition of a name, and its references.

mod outline;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::glob::files_below;
use super::{decode_text, parse_args, run_blocking};
use crate::context::ToolContext;
use crate::file_walk::HiddenFiles;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use outline::SourceLanguage;
use planwright_model::ToolResult;

const MOST: usize = 300;
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NavigateAction {
    Outline,
    Definition,
    References,
}

#[derive(Deserialize, JsonSchema)]
struct NavigateArgs {
    action: NavigateAction,
    /// File for an outline; file or directory to look in otherwise
    #[serde(default = "default_path")]
    path: String,
    /// Name to find, for definition and references
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
}

fn default_path() -> String {
    ".".to_owned()
}

pub(super) struct CodeNavigateTool(ToolMeta);

impl CodeNavigateTool {
    pub(super) fn new() -> Self {
        let about = "Find your way in code: the outline of a file, the definition of a name, references to a name. Knows Rust, Python, JavaScript, TypeScript and Go; other files by text.";
        Self(
            ToolMeta::built_in::<NavigateArgs>("code.navigate", ToolEffect::Look, about)
                .with_alias("code_navigator"),
        )
    }
}

impl Tool for CodeNavigateTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: NavigateArgs = parse_args(args)?;
        if parsed.action != NavigateAction::Outline && parsed.name.is_none() {
            return Err(ToolError::new(ToolErrorCode::BadArgs, "`name` is missing"));
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
            let (resolved, context) = (resolved.clone(), context.clone());
            run_blocking(move || {
                let parsed: NavigateArgs = parse_args(&resolved.args)?;
                match (parsed.action, parsed.name.as_deref()) {
                    (NavigateAction::Outline, _) => outline_file(&parsed.path, &context),
                    (NavigateAction::Definition, Some(name)) => {
                        find_definitions(name, &resolved, &context)
                    }
                    (_, name) => find_references(name.unwrap_or_default(), &resolved, &context),
                }
            })
            .await
        })
    }
}

fn outline_file(path: &str, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let text = decode_text(path, context.toolbox.workspace().read(path, LARGEST_FILE)?)?;
    let Some(language) = SourceLanguage::from_path(path) else {
        let message = format!("{path} is in a language that has no outline here; use grep");
        return Err(ToolError::new(ToolErrorCode::BadArgs, message));
    };
    let symbols = outline::list_symbols(&text, language);
    let lines: Vec<String> = symbols
        .iter()
        .map(|symbol| {
            let indent = "  ".repeat(symbol.depth);
            format!("{}: {indent}{} {}", symbol.line, symbol.kind, symbol.name)
        })
        .collect();
    Ok(ToolResult::success(json!({ "path": path, "symbols": lines, "count": symbols.len() })))
}

fn find_definitions(
    name: &str,
    resolved: &ResolvedCall,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    // `Type::method` and `module.function` are found by their last part.
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    let mut found = Vec::new();
    scan_files(resolved, context, |path, text| {
        if let Some(language) = SourceLanguage::from_path(path) {
            let lines: Vec<&str> = text.lines().collect();
            for symbol in outline::list_symbols(text, language)
                .into_iter()
                .filter(|symbol| symbol.name == last)
            {
                let line = lines.get(symbol.line - 1).map_or("", |line| line.trim());
                found.push(format!(
                    "{path}:{}: {} {}",
                    symbol.line,
                    symbol.kind,
                    text_limit::truncate_chars(line, 300)
                ));
            }
        }
        found.len() < MOST
    })?;
    let sure = if found.is_empty() { 0.3 } else { 0.9 };
    Ok(ToolResult::success(json!({ "name": name, "count": found.len(), "definitions": found }))
        .with_confidence(sure))
}

fn find_references(
    name: &str,
    resolved: &ResolvedCall,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let mut found = Vec::new();
    scan_files(resolved, context, |path, text| {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| has_word(line, name)) {
            found.push(format!(
                "{path}:{}: {}",
                number + 1,
                text_limit::truncate_chars(line.trim(), 300)
            ));
        }
        found.len() < MOST
    })?;
    let more = found.len() >= MOST;
    found.truncate(MOST);
    Ok(ToolResult::success(
        json!({ "name": name, "count": found.len(), "references": found, "truncated": more }),
    ))
}

/// Passes every text file below the path to `visit`, until it stops.
fn scan_files(
    resolved: &ResolvedCall,
    context: &ToolContext,
    mut visit: impl FnMut(&str, &str) -> bool,
) -> Result<(), ToolError> {
    let workspace = context.toolbox.workspace();
    let base = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
    for path in files_below(workspace, base, HiddenFiles::Excluded) {
        if context.cancel.is_cancelled() {
            return Err(ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled"));
        }
        // A file that vanished or is no text has no names in it.
        let Ok(text) =
            workspace.read(&path, LARGEST_FILE).and_then(|bytes| decode_text(&path, bytes))
        else {
            continue;
        };
        if !visit(&path, &text) {
            break;
        }
    }
    Ok(())
}

/// Whether a line contains the name as a separate word.
fn has_word(line: &str, name: &str) -> bool {
    let part = |c: char| c == '_' || c.is_alphanumeric();
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}
