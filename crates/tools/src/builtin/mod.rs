//! The built-in tools, one file each.

mod file_edit;
mod file_list;
mod file_read;
mod file_write;
mod find;
mod grep;
mod memory;
mod navigate;
mod parallel;
mod shell;
mod skill;
mod test_run;
#[cfg(test)]
mod tests;
mod todo_list;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) use parallel::Questions;
pub use parallel::infer_edges;
pub use skill::check as check_skill;

use super::registry::Registry;
use super::tool::{Answer, Code, Tool, ToolError};
use super::web;

/// All built-in tools.
pub fn registry() -> Registry {
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(file_read::FileRead::new()),
        Arc::new(file_write::FileWrite::new()),
        Arc::new(file_edit::FileEdit::new()),
        Arc::new(file_list::FileList::new()),
        Arc::new(find::Glob::new()),
        Arc::new(grep::Grep::new()),
        Arc::new(navigate::Navigate::new()),
        Arc::new(shell::ShellRun::new()),
        Arc::new(test_run::TestRun::new()),
        Arc::new(web::fetch::WebFetch::new()),
        Arc::new(web::search::WebSearch::new()),
        Arc::new(web::research::Research::new()),
        Arc::new(memory::MemorySearch::new()),
        Arc::new(memory::MemorySave::new()),
        Arc::new(skill::SkillGenerator::new()),
        Arc::new(todo_list::ManageTodoList::new()),
        Arc::new(parallel::ExploreContext::new()),
        Arc::new(parallel::ParallelExecute::new()),
    ];
    let mut registry = Registry::default();
    for tool in tools {
        registry.register(tool).expect("built-in tools have names of their own");
    }
    registry
}

/// Reads arguments that fit the schema into their type.
pub(super) fn read<T: DeserializeOwned>(args: &Value) -> Result<T, ToolError> {
    serde_json::from_value(args.clone()).map_err(|error| {
        ToolError::new(Code::BadArgs, format!("the arguments do not fit: {error}"))
    })
}

/// Runs work that blocks where blocking is fine.
pub(super) async fn blocking<T: Into<Answer> + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Answer {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.into(),
        Err(error) => ToolError::new(Code::Internal, format!("the tool stopped: {error}")).into(),
    }
}

/// Text of a file, or a plain statement that it is none.
pub(super) fn as_text(path: &str, bytes: Vec<u8>) -> Result<String, ToolError> {
    if bytes.contains(&0) {
        return Err(ToolError::new(Code::NotText, format!("{path} is not a text file")));
    }
    String::from_utf8(bytes)
        .map_err(|_| ToolError::new(Code::NotText, format!("{path} is not text in UTF-8")))
}

/// A change as lines with `+` and `-`.
pub(super) fn diff(path: &str, old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}
