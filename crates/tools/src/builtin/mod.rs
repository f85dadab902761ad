//! The built-in tools, one file each.

mod code_navigate;
mod file_edit;
mod file_list;
mod file_read;
mod file_write;
mod git;
mod glob;
mod grep;
mod memory;
mod parallel;
mod shell_run;
mod skill_generator;
mod test_run;
#[cfg(test)]
mod tests;
mod todo_list;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) use parallel::QuestionCache;
pub use parallel::infer_edges;
pub use skill_generator::check_skill;

use super::registry::ToolRegistry;
use super::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
#[cfg(feature = "web")]
use super::web;

/// Tools of the feature `web`, by name: plans and task types may name them in any build.
const WEB_TOOLS: [&str; 3] = ["internet.research", "web.fetch", "web.search"];

/// Whether a build with all features has this tool.
pub fn is_known_builtin(registry: &ToolRegistry, name: &str) -> bool {
    registry.get(name).is_some() || WEB_TOOLS.contains(&name)
}

/// Why a tool that other builds have is missing in this one.
pub fn missing_feature_text(name: &str) -> Option<&'static str> {
    let is_missing = cfg!(not(feature = "web")) && WEB_TOOLS.contains(&name);
    is_missing.then_some("this build has no web tools; rebuild with --features web")
}

/// All built-in tools.
pub fn builtin_registry() -> ToolRegistry {
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(file_read::FileReadTool::new()),
        Arc::new(file_write::FileWriteTool::new()),
        Arc::new(file_edit::FileEditTool::new()),
        Arc::new(file_list::FileListTool::new()),
        Arc::new(glob::GlobTool::new()),
        Arc::new(grep::GrepTool::new()),
        Arc::new(code_navigate::CodeNavigateTool::new()),
        Arc::new(git::GitTool::log()),
        Arc::new(git::GitTool::status()),
        Arc::new(git::GitTool::diff()),
        Arc::new(shell_run::ShellRunTool::new()),
        Arc::new(test_run::TestRunTool::new()),
        #[cfg(feature = "web")]
        Arc::new(web::fetch::WebFetchTool::new()),
        #[cfg(feature = "web")]
        Arc::new(web::search::WebSearchTool::new()),
        #[cfg(feature = "web")]
        Arc::new(web::research::InternetResearchTool::new()),
        Arc::new(memory::MemorySearchTool::new()),
        Arc::new(memory::MemorySaveTool::new()),
        Arc::new(skill_generator::SkillGeneratorTool::new()),
        Arc::new(todo_list::ManageTodoListTool::new()),
        Arc::new(parallel::ExploreContextTool::new()),
        Arc::new(parallel::ParallelExecuteTool::new()),
    ];
    let mut registry = ToolRegistry::default();
    for tool in tools {
        registry.register(tool).expect("built-in tools have names of their own");
    }
    registry
}

/// Deserializes arguments that match the schema.
pub(super) fn parse_args<T: DeserializeOwned>(args: &Value) -> Result<T, ToolError> {
    serde_json::from_value(args.clone()).map_err(|error| {
        ToolError::new(ToolErrorCode::BadArgs, format!("the arguments do not fit: {error}"))
    })
}

/// Runs blocking work on a thread where blocking is allowed.
pub(super) async fn run_blocking<T: Into<ToolAnswer> + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> ToolAnswer {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.into(),
        Err(error) => {
            ToolError::new(ToolErrorCode::Internal, format!("the tool stopped: {error}")).into()
        }
    }
}

/// The text of a file, or an error if it is not text.
pub(super) fn decode_text(path: &str, bytes: Vec<u8>) -> Result<String, ToolError> {
    if bytes.contains(&0) {
        return Err(ToolError::new(ToolErrorCode::NotText, format!("{path} is not a text file")));
    }
    String::from_utf8(bytes)
        .map_err(|_| ToolError::new(ToolErrorCode::NotText, format!("{path} is not text in UTF-8")))
}

/// Quotes a text as one word for the shell.
pub(crate) fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A change as lines with `+` and `-`.
pub fn unified_diff(path: &str, old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}
