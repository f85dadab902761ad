//! What a task of a plan file states beside its command: values of other tasks, what it leaves behind, on which
//! condition it runs, what it may see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::TaskId;
use crate::task::is_default;

/// A part of a value that is put together when a task starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValuePart {
    Text(String),
    /// What another task gave out under a name.
    Output {
        task: TaskId,
        name: String,
    },
}

/// Where an output of a task comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputSource {
    /// The last line that the command printed.
    LastLine,
    /// The line `KEY=…` that the command wrote to `$PLANWRIGHT_OUTPUT`.
    Key(String),
    /// A file, seen from the task's directory.
    File(String),
}

/// A file that was kept of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptArtifact {
    /// Seen from the workspace.
    pub path: String,
    pub bytes: u64,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// What an attempt left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskResults {
    /// Values for other tasks, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<KeptArtifact>,
}

/// What a task states beside its command. Most tasks state nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskRunOptions {
    /// Variables of its command whose values come from other tasks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub computed_env: BTreeMap<String, Vec<ValuePart>>,
    /// The condition it runs on, in the language of `when = { if = "…" }`; empty means none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run_if: String,
    /// What it gives to other tasks, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, OutputSource>,
    /// Patterns of files that are kept of each attempt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
}

impl TaskRunOptions {
    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        is_default(self)
    }

    /// Whether anything is collected after its command succeeded.
    pub fn leaves_results(&self) -> bool {
        !self.outputs.is_empty() || !self.artifacts.is_empty()
    }

    /// What a person should see of it, one line each.
    pub fn setting_lines(&self) -> Vec<String> {
        let value = |part: &ValuePart| match part {
            ValuePart::Text(text) => text.clone(),
            ValuePart::Output { task, name } => format!("(output {name} of {task})"),
        };
        let computed = self.computed_env.iter().map(|(name, parts)| {
            format!("with {name}={}", parts.iter().map(value).collect::<String>())
        });
        let condition = Some(&self.run_if).filter(|text| !text.is_empty());
        let outputs = self.outputs.iter().map(|(name, source)| match source {
            OutputSource::LastLine => format!("gives {name}: its last line"),
            OutputSource::Key(key) => format!("gives {name}: {key} in $PLANWRIGHT_OUTPUT"),
            OutputSource::File(path) => format!("gives {name}: the file {path}"),
        });
        computed
            .chain(condition.map(|text| format!("if {text}")))
            .chain(outputs)
            .chain(self.artifacts.iter().map(|pattern| format!("keeps {pattern}")))
            .collect()
    }
}
