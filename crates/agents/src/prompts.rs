//! The prompts: built in, versioned, and replaceable by files of the same path in the config directory.

use std::collections::BTreeMap;
use std::path::Path;

use planwright_files::{self as files, FileLimit};
use planwright_model::Digest;
use planwright_model::task::DEFAULT_ROLE;

/// One prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    pub version: u32,
    pub hash: Digest,
    /// The tools that a role is limited to; none means no limit.
    pub tools: Option<Vec<String>>,
}

/// All prompts by their path, such as `executor/task_executor.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptLibrary(BTreeMap<String, Prompt>);

macro_rules! built_in {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!("../../../assets/prompts/", $path)))),+]
    };
}

const BUILT_IN: [(&str, &str); 17] = built_in!(
    "agent_system.md",
    "pattern_selector.md",
    "roadmap_builder.md",
    "summarizer.md",
    "brainstormer.md",
    "option_crafter.md",
    "executor/open_agent.md",
    "executor/task_executor.md",
    "executor/subtask.md",
    "planner/task_planner.md",
    "roles/worker.md",
    "roles/researcher.md",
    "roles/coder.md",
    "roles/reviewer.md",
    "roles/proposer.md",
    "roles/critic.md",
    "roles/synthesizer.md",
);

impl PromptLibrary {
    pub fn built_in() -> Self {
        Self(BUILT_IN.iter().map(|(path, text)| ((*path).to_owned(), parse_prompt(text))).collect())
    }

    /// The built-in prompts with the files below a directory over them. What cannot be read is told.
    pub fn with_directory(directory: &Path) -> (Self, Vec<String>) {
        let mut prompts = Self::built_in();
        let mut troubles = Vec::new();
        let roles = directory.join("roles");
        // Most people have no such directory.
        let own_roles =
            std::fs::read_dir(roles).into_iter().flatten().flatten().filter_map(|entry| {
                let (path, name) = (entry.path(), entry.file_name().into_string().ok()?);
                let wanted = path.extension().is_some_and(|extension| extension == "md");
                wanted.then(|| format!("roles/{name}"))
            });
        let paths: Vec<String> = prompts.0.keys().cloned().chain(own_roles).collect();
        for path in paths {
            match files::read_text(&directory.join(&path), FileLimit::PROMPT) {
                Ok(text) => prompts.replace_prompt(&path, &text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => troubles.push(format!("{path}: {error}")),
            }
        }
        (prompts, troubles)
    }

    /// Puts a prompt in the place of another.
    pub fn replace_prompt(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), parse_prompt(text));
    }

    pub fn get(&self, path: &str) -> Option<&Prompt> {
        self.0.get(path)
    }

    /// The prompt of a role, or of `worker` where there is no such role.
    pub fn role_prompt(&self, role: &str) -> (&str, &Prompt) {
        let known = self.0.get_key_value(format!("roles/{role}.md").as_str());
        let found =
            known.or_else(|| self.0.get_key_value(format!("roles/{DEFAULT_ROLE}.md").as_str()));
        let (path, prompt) = found.expect("the built-in prompts hold the role `worker`");
        let name = path.trim_start_matches("roles/").trim_end_matches(".md");
        (name, prompt)
    }
}

/// Reads the lines of comments at the top: version and tools.
fn parse_prompt(text: &str) -> Prompt {
    let hash = Digest::from_json(&text.into());
    let (mut version, mut tools) = (0, None);
    let mut rest = text.trim_start();
    while let Some((comment, after)) =
        rest.strip_prefix("<!--").and_then(|inner| inner.split_once("-->"))
    {
        match comment.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
            Some(("version", value)) => version = value.parse().unwrap_or(0),
            Some(("tools", value)) => {
                let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
                tools = Some(names.map(str::to_owned).collect());
            }
            _ => {}
        }
        rest = after.trim_start();
    }
    Prompt { text: rest.trim_end().to_owned(), version, hash, tools }
}
