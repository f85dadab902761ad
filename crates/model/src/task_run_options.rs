//! What a task of a plan file states beside its command: values of other tasks, what it leaves behind, on which
//! condition it runs, what it may see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::TaskId;
use crate::task::is_default;

/// A part of a value that is put together when a task starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskOutputSource {
    /// The last line that the command printed.
    LastLine,
    /// The line `KEY=…` that the command wrote to `$PLANWRIGHT_OUTPUT`.
    Key(String),
    /// A file, seen from the task's directory.
    File(String),
}

/// A file that was kept of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KeptArtifact {
    /// Seen from the workspace.
    pub path: String,
    pub bytes: u64,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// What an attempt left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct TaskResults {
    /// Values for other tasks, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<KeptArtifact>,
}

/// Where the value of a secret comes from. The value itself is in no file and in no journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretSource {
    /// A variable of the environment.
    Variable(String),
    /// What a command prints: a program and its arguments.
    Command(Vec<String>),
}

/// How a service is known to be ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceCheck {
    /// A command that succeeds.
    Command(String),
    /// A port of this machine that accepts connections.
    Port(u16),
}

/// The signal that ends a service.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    #[default]
    Terminate,
    Interrupt,
    Quit,
    HangUp,
    Kill,
}

impl StopSignal {
    /// The name of the signal.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
            Self::Quit => "SIGQUIT",
            Self::HangUp => "SIGHUP",
            Self::Kill => "SIGKILL",
        }
    }
}

/// A command that runs while others need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TaskService {
    pub ready: ServiceCheck,
    #[serde(default, skip_serializing_if = "is_default")]
    pub stop: StopSignal,
}

/// What a task states beside its command. Most tasks state nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
    pub outputs: BTreeMap<String, TaskOutputSource>,
    /// Patterns of files that are kept of each attempt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// Files with variables of its command, seen from its directory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_files: Vec<String>,
    /// Variables of the person that its command sees although it would not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
    /// Variables whose values are covered wherever they turn up.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, SecretSource>,
    /// Patterns of the files that its command reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Whether it is left out when nothing has changed since it last succeeded.
    #[serde(skip_serializing_if = "is_default")]
    pub cache: bool,
    /// Set when its command runs while others need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<TaskService>,
    /// Whether its command has the terminal while it runs.
    #[serde(skip_serializing_if = "is_default")]
    pub interactive: bool,
    /// The executor that its command runs on; empty means this machine.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub executor: String,
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
            TaskOutputSource::LastLine => format!("gives {name}: its last line"),
            TaskOutputSource::Key(key) => format!("gives {name}: {key} in $PLANWRIGHT_OUTPUT"),
            TaskOutputSource::File(path) => format!("gives {name}: the file {path}"),
        });
        computed
            .chain(condition.map(|text| format!("if {text}")))
            .chain(outputs)
            .chain(self.artifacts.iter().map(|pattern| format!("keeps {pattern}")))
            .chain(self.source_lines())
            .collect()
    }

    /// Where its variables come from, when it is up to date, and whether it is a service.
    fn source_lines(&self) -> impl Iterator<Item = String> + '_ {
        let files = self.env_files.iter().map(|file| format!("with the variables of {file}"));
        let passed = self.pass_env.iter().map(|name| format!("sees {name}"));
        let secrets = self.secrets.iter().map(|(name, source)| match source {
            SecretSource::Variable(from) => format!("with the secret {name} from ${from}"),
            SecretSource::Command(command) => {
                format!("with the secret {name} from `{}`", command.join(" "))
            }
        });
        let cache =
            self.cache.then(|| format!("left out if {} did not change", self.inputs.join(", ")));
        let service = self.service.as_ref().map(|service| {
            let ready = match &service.ready {
                ServiceCheck::Command(command) => format!("`{command}` succeeds"),
                ServiceCheck::Port(port) => format!("port {port} answers"),
            };
            format!("a service, ready when {ready}, ended with {}", service.stop.name())
        });
        let terminal = self.interactive.then(|| "has the terminal while it runs".to_owned());
        let executor = Some(&self.executor)
            .filter(|name| !name.is_empty())
            .map(|name| format!("runs on {name}"));
        executor
            .into_iter()
            .chain(files)
            .chain(passed)
            .chain(secrets)
            .chain(cache)
            .chain(service)
            .chain(terminal)
    }
}
