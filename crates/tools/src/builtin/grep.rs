//! `grep`: lines of the workspace that match a pattern.

use futures_util::future::BoxFuture;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::find::{files_below, matcher};
use super::{blocking, read};
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};
use crate::walk::Hidden;
use planwright_model::ToolResult;

/// A line longer than this is cut.
const LONGEST_LINE: usize = 400;
/// A file larger than this is left out.
const LARGEST_FILE: u64 = 32 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Regular expression
    #[schemars(length(min = 1))]
    pattern: String,
    /// File or directory to look in, relative to the workspace
    #[serde(default = "here")]
    path: String,
    /// Only files whose path fits this pattern, such as `**/*.rs`
    glob: Option<String>,
    /// Do not tell capital letters from small ones
    #[serde(default)]
    ignore_case: bool,
    /// Lines to show before and after each match
    #[serde(default)]
    #[schemars(range(min = 0, max = 5))]
    context: u8,
    /// The most matches to return
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = 2000))]
    limit: usize,
    /// Look at names that begin with a dot too
    #[serde(default)]
    hidden: bool,
}

fn here() -> String {
    ".".to_owned()
}

fn most() -> usize {
    200
}

pub(super) struct Grep(ToolMeta);

impl Grep {
    pub(super) fn new() -> Self {
        let about = "Find lines in files of the workspace by a regular expression. What git ignores and what is not text is left out.";
        Self(ToolMeta::built_in::<Args>("grep", Effect::Look, about))
    }
}

impl Tool for Grep {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        regex(&wanted)?;
        wanted.glob.as_deref().map(matcher).transpose()?;
        let place = context.toolbox.workspace().touch(&wanted.path)?;
        Ok(Resolved::new(Effect::Look, args.clone()).touching(place))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let context = context.clone();
            let resolved = resolved.clone();
            blocking(move || search(&resolved, &context)).await
        })
    }
}

fn regex(wanted: &Args) -> Result<grep_regex::RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(wanted.ignore_case)
        .size_limit(10 << 20)
        .build(&wanted.pattern)
        .map_err(|error| {
            ToolError::new(Code::BadArgs, format!("the pattern cannot be used: {error}"))
        })
}

fn search(resolved: &Resolved, context: &ToolContext) -> Result<ToolResult, ToolError> {
    let wanted: Args = read(&resolved.args)?;
    let workspace = context.toolbox.workspace();
    let place = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
    let (regex, glob) = (regex(&wanted)?, wanted.glob.as_deref().map(matcher).transpose()?);
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .before_context(usize::from(wanted.context))
        .after_context(usize::from(wanted.context))
        .build();
    let hidden = if wanted.hidden { Hidden::Shown } else { Hidden::Left };
    let mut lines =
        Found { path: String::new(), lines: Vec::new(), matches: 0, limit: wanted.limit };
    let mut searched = 0_u64;
    for path in files_below(workspace, place, hidden) {
        if context.cancel.is_cancelled() {
            return Err(ToolError::new(Code::Cancelled, "the task was cancelled"));
        }
        if glob.as_ref().is_some_and(|glob| !glob.is_match(&path)) {
            continue;
        }
        // A file that vanished, is a link or lies outside by now is no place to look.
        let Ok(open) = workspace.open_file(&path) else { continue };
        if open.length > LARGEST_FILE {
            continue;
        }
        searched += 1;
        lines.path = path;
        // What cannot be read is not text.
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

struct Found {
    path: String,
    lines: Vec<String>,
    matches: usize,
    limit: usize,
}

impl Found {
    fn push(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = crate::limit::cut(text.trim_end_matches(['\n', '\r']), LONGEST_LINE);
        let number = number.unwrap_or(0);
        self.lines.push(format!("{}{mark}{number}{mark} {text}", self.path));
    }
}

impl Sink for Found {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.push(found.line_number(), ':', found.bytes());
        self.matches += 1;
        Ok(self.matches < self.limit)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.push(found.line_number(), '-', found.bytes());
        Ok(true)
    }
}
