//! Task types as data: the steps of a kind of task, the tools for them, and the limits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use planwright_model::PrdvPhase;
use planwright_model::task::DEFAULT_TYPE;
use planwright_model::task_state::TaskState;

/// A text and the name of the file it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssetSource<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Why a file was skipped; the others are still used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}")]
pub struct AssetError {
    pub file: String,
    pub message: String,
}

/// A step that needs no tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalStep {
    /// The model's text is its result.
    Think,
    /// The skill file that was written parses and has a name and a description.
    SkillFile,
}

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTypeStep {
    pub name: String,
    /// The tools for the step, the usual one first; empty means any tool, unless the step is local.
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    pub local: Option<LocalStep>,
    /// Produces the task's result, rather than gathering information.
    #[serde(default)]
    pub produces: bool,
    /// The maximum number of attempts.
    #[serde(default)]
    pub most: Option<u32>,
    /// Done from the start if the context has results of earlier tasks.
    #[serde(default)]
    pub given_by_context: bool,
    /// The step that replaces a repetition.
    #[serde(default)]
    pub on_repeat: Option<String>,
    /// Steps that are repeated when it fails.
    #[serde(default)]
    pub on_failure: Vec<String>,
    #[serde(default)]
    pub prdv: PrdvPhase,
    /// Default arguments, by tool, with placeholders such as `{task}`.
    #[serde(default)]
    pub offers: BTreeMap<String, Map<String, Value>>,
}

impl TaskTypeStep {
    /// Returns whether a tool is suitable for this step.
    pub fn accepts_tool(&self, tool: &str) -> bool {
        self.local.is_none() && (self.tools.is_empty() || self.tools.iter().any(|own| own == tool))
    }
}

/// When further searching is not worthwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchLimit {
    pub sources: u32,
    /// Consecutive calls that found nothing new.
    pub nothing_new: u32,
}

/// A kind of task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskType {
    pub name: String,
    pub description: String,
    #[serde(default = "default_max_steps")]
    pub max_steps: u32,
    /// The recipe for its prompts.
    #[serde(default = "default_recipe")]
    pub recipe: String,
    /// Its only step repeats until the model reports that it is done.
    #[serde(default)]
    pub until_done: bool,
    #[serde(default)]
    pub enough: Option<SearchLimit>,
    pub steps: Vec<TaskTypeStep>,
}

fn default_max_steps() -> u32 {
    5
}

fn default_recipe() -> String {
    "task_executor".to_owned()
}

impl TaskType {
    pub fn find_step(&self, name: &str) -> Option<&TaskTypeStep> {
        self.steps.iter().find(|step| step.name == name)
    }

    pub fn step_names(&self) -> Vec<String> {
        self.steps.iter().map(|step| step.name.clone()).collect()
    }

    pub fn initial_state(&self) -> TaskState {
        TaskState::new(&self.name, self.max_steps, self.step_names())
    }

    /// Returns the first producing step that is still open.
    pub fn next_producing_step(&self, state: &TaskState) -> Option<&TaskTypeStep> {
        self.steps.iter().find(|step| step.produces && state.is_step_pending(&step.name))
    }

    fn check_steps(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        if self.steps.is_empty() {
            return Err("a task type needs at least one step".to_owned());
        }
        if let Some(twice) = self.steps.iter().find(|step| !names.insert(&step.name)) {
            return Err(format!("the step {} is there twice", twice.name));
        }
        if self.max_steps == 0 {
            return Err("`max_steps` is at least 1".to_owned());
        }
        if self.until_done && self.steps.len() != 1 {
            return Err("a type with `until_done` has one step".to_owned());
        }
        for step in &self.steps {
            if step.local.is_some() && !step.tools.is_empty() {
                return Err(format!("the step {} is local and names tools", step.name));
            }
            for other in step.on_failure.iter().chain(&step.on_repeat) {
                if !names.contains(other) {
                    return Err(format!("the step {} names {other}, which is no step", step.name));
                }
            }
        }
        Ok(())
    }
}

/// All task types by name: the built-in ones, and the person's own overriding them.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskTypeLibrary(BTreeMap<String, TaskType>);

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        [$(AssetSource {
            name: concat!($name, ".toml"),
            text: include_str!(concat!("../../../../assets/task_types/", $name, ".toml")),
        }),+]
    };
}

const BUILT_IN: [AssetSource<'static>; 6] =
    built_in!("skill_build", "code_modify", "code_create", "research", "memory_op", "generic");

impl TaskTypeLibrary {
    pub fn built_in() -> Self {
        let (types, errors) = Self::with_overrides(&[]);
        debug_assert!(errors.is_empty(), "{errors:?}");
        types
    }

    /// Returns the built-in types with overrides. A file with an error is skipped and reported.
    pub fn with_overrides(own: &[AssetSource<'_>]) -> (Self, Vec<AssetError>) {
        let mut types = BTreeMap::new();
        let mut errors = Vec::new();
        for source in BUILT_IN.iter().chain(own) {
            match parse_task_type(source.text) {
                Ok(kind) => {
                    types.insert(kind.name.clone(), kind);
                }
                Err(message) => errors.push(AssetError { file: source.name.to_owned(), message }),
            }
        }
        (Self(types), errors)
    }

    pub fn get(&self, name: &str) -> Option<&TaskType> {
        self.0.get(name)
    }

    /// Returns the type with a name, or `generic` if there is no such type.
    pub fn get_or_generic(&self, name: &str) -> &TaskType {
        self.get(name)
            .or_else(|| self.get(DEFAULT_TYPE))
            .expect("the built-in types hold `generic` and cannot be taken away")
    }

    pub fn iter(&self) -> impl Iterator<Item = &TaskType> {
        self.0.values()
    }
}

fn parse_task_type(text: &str) -> Result<TaskType, String> {
    let kind: TaskType = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    kind.check_steps()?;
    Ok(kind)
}
