//! `grep`: lines of the workspace that match a pattern.

use futures_util::future::BoxFuture;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::glob::{compile_glob, files_below};
use super::{parse_args, run_blocking};
use crate::context::ToolContext;
use crate::file_walk::HiddenFiles;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::ToolResult;

/// Longer lines are truncated.
const LONGEST_LINE: usize = 400;
/// Larger files are skipped.
const LARGEST_FILE: u64 = 32 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
struct GrepArgs {
    /// Regular expression
    #[schemars(length(min = 1))]
    pattern: String,
    /// File or directory to look in, relative to the workspace
    #[serde(default = "default_path")]
    path: String,
    /// Only files whose path fits this pattern, such as `**/*.rs`
    glob: Option<String>,
    /// Ignore case
    #[serde(default)]
    ignore_case: bool,
    /// Lines to show before and after each match
    #[serde(default)]
    #[schemars(range(min = 0, max = 5))]
    context: u8,
    /// The most matches to return
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 2000))]
    limit: usize,
    /// Look at names that begin with a dot too
    #[serde(default)]
    hidden: bool,
}

fn default_path() -> String {
    ".".to_owned()
}

fn default_limit() -> usize {
    200
}

pub(super) struct GrepTool(ToolMeta);

impl GrepTool {
    pub(super) fn new() -> Self {
        let about = "Find lines in files of the workspace by a regular expression. What git ignores and what is not text is left out.";
        Self(ToolMeta::built_in::<GrepArgs>("grep", ToolEffect::Look, about))
    }
}

impl Tool for GrepTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: GrepArgs = parse_args(args)?;
        build_regex(&parsed)?;
        parsed.glob.as_deref().map(compile_glob).transpose()?;
        let touched = context.toolbox.workspace().resolve_touched(&parsed.path)?;
        Ok(ResolvedCall::new(ToolEffect::Look, args.clone()).with_path(touched))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let context = context.clone();
            let resolved = resolved.clone();
            run_blocking(move || search_files(&resolved, &context)).await
        })
    }
}

fn build_regex(parsed: &GrepArgs) -> Result<grep_regex::RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(parsed.ignore_case)
        .size_limit(10 << 20)
        .build(&parsed.pattern)
        .map_err(|error| {
            ToolError::new(ToolErrorCode::BadArgs, format!("the pattern cannot be used: {error}"))
        })
}

fn search_files(resolved: &ResolvedCall, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let parsed: GrepArgs = parse_args(&resolved.args)?;
    let workspace = context.toolbox.workspace();
    let base = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
    let (regex, glob) =
        (build_regex(&parsed)?, parsed.glob.as_deref().map(compile_glob).transpose()?);
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .before_context(usize::from(parsed.context))
        .after_context(usize::from(parsed.context))
        .build();
    let hidden = if parsed.hidden { HiddenFiles::Included } else { HiddenFiles::Excluded };
    let mut lines =
        GrepSink { path: String::new(), lines: Vec::new(), matches: 0, limit: parsed.limit };
    let mut searched = 0_u64;
    for path in files_below(workspace, base, hidden) {
        if context.cancel.is_cancelled() {
            return Err(ToolError::new(ToolErrorCode::Cancelled, "the task was cancelled"));
        }
        if glob.as_ref().is_some_and(|glob| !glob.is_match(&path)) {
            continue;
        }
        // Skips a file that was removed, is a link, or is outside the workspace by now.
        let Ok(open) = workspace.open_file(&path) else { continue };
        if open.length > LARGEST_FILE {
            continue;
        }
        searched += 1;
        lines.path = path;
        // An unreadable file is not text.
        let _ = searcher.search_file(&regex, &open.file, &mut lines);
        if lines.matches >= lines.limit {
            break;
        }
    }
    let full = lines.matches >= lines.limit;
    Ok(ToolResult::success(json!({
        "matches": lines.matches,
        "lines": lines.lines,
        "files_searched": searched,
        "truncated": full,
    })))
}

struct GrepSink {
    path: String,
    lines: Vec<String>,
    matches: usize,
    limit: usize,
}

impl GrepSink {
    fn push_line(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text =
            crate::text_limit::truncate_chars(text.trim_end_matches(['\n', '\r']), LONGEST_LINE);
        let number = number.unwrap_or(0);
        self.lines.push(format!("{}{mark}{number}{mark} {text}", self.path));
    }
}

impl Sink for GrepSink {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.push_line(found.line_number(), ':', found.bytes());
        self.matches += 1;
        Ok(self.matches < self.limit)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.push_line(found.line_number(), '-', found.bytes());
        Ok(true)
    }
}
