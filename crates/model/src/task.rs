//! A task of the graph, as the contracts of section 1.4 name its fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    AgentRun, NodeDates, PlanDate, RunCondition, TaskCost, TaskId, TaskLink, TaskRetryPolicy,
    TaskRunOptions, other_person,
};

/// How a task is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// A `ReAct` loop with tools, or an agent of the person's own.
    Agent(AgentRun),
    /// A command, byte for byte as it was approved.
    Shell(String),
    /// The person does it and says so.
    Human {},
}

impl Default for RunKind {
    fn default() -> Self {
        Self::agent()
    }
}

impl RunKind {
    /// The built-in agent.
    pub const fn agent() -> Self {
        Self::Agent(AgentRun::BUILT_IN)
    }

    /// The person's own agent that does it, if one does.
    pub fn own_agent(&self) -> Option<&str> {
        match self {
            Self::Agent(run) => run.own_agent(),
            _ => None,
        }
    }

    /// Whether it picks one of the results of several tasks instead of working itself.
    pub fn is_pick(&self) -> bool {
        matches!(self, Self::Agent(run) if run.is_pick())
    }

    /// The task that it is a try of.
    pub fn candidate_of(&self) -> Option<&TaskId> {
        match self {
            Self::Agent(run) => run.candidate_of.as_ref(),
            _ => None,
        }
    }
}

/// Whether an interrupted attempt may simply be run again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepeatPolicy {
    #[default]
    Ask,
    Safe,
}

/// Whether a person's own command runs confined to the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxChoice {
    #[default]
    None,
    Workspace,
}

/// Who wrote a node. What a model wrote is asked about more often than what the person wrote.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeOrigin {
    #[default]
    System,
    UserFeedback,
    AiAdaptation,
}

/// One condition under which a task has succeeded or failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExitCriterion {
    /// Plain words, judged by whoever does the task.
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "is_default")]
        on: CriterionEffect,
    },
    FileExists {
        path: String,
        #[serde(default, skip_serializing_if = "is_default")]
        on: CriterionEffect,
    },
    Command {
        command: String,
        #[serde(default, skip_serializing_if = "is_default")]
        on: CriterionEffect,
    },
    JsonPath {
        path: String,
        equals: Value,
        #[serde(default, skip_serializing_if = "is_default")]
        on: CriterionEffect,
    },
    Judged {
        text: String,
        #[serde(default, skip_serializing_if = "is_default")]
        on: CriterionEffect,
    },
}

impl ExitCriterion {
    /// Whether something outside can find out that it is met, without anybody's judgment.
    pub fn is_checkable(&self) -> bool {
        !matches!(self, Self::Text { .. } | Self::Judged { .. })
    }
}

/// What a met criterion means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionEffect {
    #[default]
    Success,
    Failure,
}

/// The lowest affinity with which a task may use a tool.
pub const MIN_AFFINITY: f64 = 0.30;
/// What a task is assumed to cost when nobody said.
pub const DEFAULT_TOKENS: u64 = 500;
pub const DEFAULT_ROLE: &str = "worker";
pub const DEFAULT_TYPE: &str = "generic";

/// One unit of work in the task graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TaskNode {
    pub id: TaskId,
    pub description: String,
    #[serde(default)]
    pub run: RunKind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<TaskLink>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_affinity: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exit_criteria: Vec<ExitCriterion>,
    #[serde(default = "default_tokens", skip_serializing_if = "is_default_tokens")]
    pub estimated_tokens: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: i64,
    #[serde(default = "default_role", skip_serializing_if = "is_default_role")]
    pub agent_role: String,
    #[serde(default = "default_type", skip_serializing_if = "is_default_type")]
    pub task_type: String,
    /// Kept as the author wrote it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// The program that its command is given to, with its arguments; empty means `sh -c`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shell: Vec<String>,
    /// Variables that its command sees beside those of the person.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The directory its command runs in, seen from the workspace; empty means the workspace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<TaskRetryPolicy>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub when: RunCondition,
    /// A failure counts as done for whatever depends on it, and for the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub continue_on_error: bool,
    /// What it belongs to, for people and for choosing what to run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Words by which it can be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What a plan file states beside all that.
    #[serde(default, skip_serializing_if = "TaskRunOptions::is_empty")]
    pub options: TaskRunOptions,
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeat: RepeatPolicy,
    #[serde(default, skip_serializing_if = "is_default")]
    pub sandbox: SandboxChoice,
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_scheduled_time: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub origin: NodeOrigin,
    /// The name or role of whoever answers for it; empty means that `run` says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The task starts then, whatever else moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_start: Option<PlanDate>,
    /// The task ends then, whatever else moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_end: Option<PlanDate>,
    /// The task starts then at the earliest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<PlanDate>,
    /// The task ends then at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<PlanDate>,
    /// Why it is in the plan, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What may go wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<String>,
    /// What was taken for granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Where it comes from: what the person said, or files with lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What it costs, apart from time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<TaskCost>,
}

impl TaskNode {
    /// A task with every field at its default.
    pub fn new(id: impl Into<TaskId>, description: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            description: description.into(),
            run: RunKind::default(),
            dependencies: Vec::new(),
            tools: Vec::new(),
            tool_affinity: BTreeMap::new(),
            exit_criteria: Vec::new(),
            estimated_tokens: DEFAULT_TOKENS,
            priority: 0,
            agent_role: DEFAULT_ROLE.to_owned(),
            task_type: DEFAULT_TYPE.to_owned(),
            metadata: Map::new(),
            duration_minutes: None,
            resources: BTreeMap::new(),
            timeout_seconds: None,
            shell: Vec::new(),
            env: BTreeMap::new(),
            cwd: String::new(),
            retries: None,
            when: RunCondition::default(),
            continue_on_error: false,
            group: String::new(),
            tags: Vec::new(),
            options: TaskRunOptions::default(),
            repeat: RepeatPolicy::default(),
            sandbox: SandboxChoice::default(),
            at_scheduled_time: false,
            origin: NodeOrigin::default(),
            owner: String::new(),
            fixed_start: None,
            fixed_end: None,
            not_before: None,
            due: None,
            why: String::new(),
            risks: Vec::new(),
            assumptions: Vec::new(),
            evidence: Vec::new(),
            cost: None,
        }
    }

    /// The owner, where that is somebody other than the person.
    pub fn other_owner(&self) -> Option<&str> {
        other_person(&self.owner)
    }

    /// The dates that were set by hand.
    pub fn dates(&self) -> NodeDates {
        NodeDates {
            fixed_start: self.fixed_start,
            fixed_end: self.fixed_end,
            not_before: self.not_before,
            due: self.due,
        }
    }

    pub fn set_dates(&mut self, dates: NodeDates) {
        let NodeDates { fixed_start, fixed_end, not_before, due } = dates;
        (self.fixed_start, self.fixed_end) = (fixed_start, fixed_end);
        (self.not_before, self.due) = (not_before, due);
    }

    /// Whether the affinity for `tool` reaches `MIN_AFFINITY`.
    pub fn can_use_tool(&self, tool: &str) -> bool {
        self.tool_affinity.get(tool).is_some_and(|score| *score >= MIN_AFFINITY)
    }

    /// The highest affinity over the tools that `available` admits; 0 if there is none.
    pub fn best_affinity(&self, available: impl Fn(&str) -> bool) -> f64 {
        self.tool_affinity
            .iter()
            .filter(|(tool, _)| available(tool))
            .map(|(_, score)| *score)
            .fold(0.0, f64::max)
    }

    /// By how much the best affinity that the plan gives exceeds that of the tool in use; 0 where nothing is said about tools.
    /// Plans name the tool of commands `shell.run`, and the record of a command's call says `shell`.
    pub fn affinity_gap(&self, tool: &str) -> f64 {
        if self.tool_affinity.is_empty() {
            return 0.0;
        }
        let given = |name: &str| self.tool_affinity.get(name).copied();
        let own = given(tool).or_else(|| given("shell.run").filter(|_| tool == "shell"));
        (self.best_affinity(|_| true) - own.unwrap_or(0.0)).max(0.0)
    }

    /// Whether its command is followed by checks of its exit criteria.
    pub fn has_checks(&self) -> bool {
        matches!(self.run, RunKind::Shell(_))
            && self.exit_criteria.iter().any(ExitCriterion::is_checkable)
    }

    /// What is special about how its command runs, one line each: its directory, its variables, its shell, how
    /// often.
    pub fn command_settings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.cwd.is_empty() {
            lines.push(format!("in {}", self.cwd));
        }
        if !self.shell.is_empty() {
            lines.push(format!("shell {}", self.shell.join(" ")));
        }
        lines.extend(self.env.iter().map(|(name, value)| format!("with {name}={value}")));
        lines.extend(self.options.setting_lines());
        match self.when {
            RunCondition::Success => {}
            RunCondition::Failed => lines.push("only after a failure of what it depends on".into()),
            RunCondition::Always => lines.push("also after a failure of what it depends on".into()),
        }
        if self.continue_on_error {
            lines.push("its failure does not fail the run".into());
        }
        if let Some(retries) = self.retries.as_ref().filter(|retries| retries.max > 0) {
            let attempts = if retries.max == 1 { "attempt" } else { "attempts" };
            lines.push(format!("up to {} more {attempts} after a failure", retries.max));
        }
        lines
    }

    /// Whether a failure of this task ends the whole run.
    pub fn aborts_on_failure(&self) -> bool {
        self.metadata.get("abort_on_failure") == Some(&Value::Bool(true))
    }

    /// Whether it marks a point in time instead of taking any: a milestone or a gate.
    pub fn marks_point(&self) -> bool {
        ["milestone", "gate"]
            .iter()
            .any(|name| self.metadata.get(*name) == Some(&Value::Bool(true)))
    }

    /// The one character that tells how it is run: `$` shell, `@` human, a space for an agent.
    pub fn kind_glyph(&self) -> char {
        match self.run {
            RunKind::Agent(_) => ' ',
            RunKind::Shell(_) => '$',
            RunKind::Human {} => '@',
        }
    }
}

fn default_tokens() -> u64 {
    DEFAULT_TOKENS
}
fn default_role() -> String {
    DEFAULT_ROLE.to_owned()
}
fn default_type() -> String {
    DEFAULT_TYPE.to_owned()
}
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default_tokens(tokens: &u64) -> bool {
    *tokens == DEFAULT_TOKENS
}
fn is_default_role(role: &str) -> bool {
    role == DEFAULT_ROLE
}
fn is_default_type(kind: &str) -> bool {
    kind == DEFAULT_TYPE
}
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimal_task_is_written_small_and_read_back_whole() {
        let task = TaskNode::new("a", "Do it");
        let json = serde_json::to_string(&task).unwrap();
        assert_eq!(json, r#"{"id":"a","description":"Do it","run":{"agent":{}}}"#);
        assert_eq!(serde_json::from_str::<TaskNode>(&json).unwrap(), task);
    }

    #[test]
    fn a_tool_needs_an_affinity_of_at_least_thirty_hundredths() {
        let mut task = TaskNode::new("a", "x");
        task.tool_affinity =
            BTreeMap::from([("file.read".into(), 0.30), ("shell.run".into(), 0.29)]);
        assert!(task.can_use_tool("file.read"));
        assert!(!task.can_use_tool("shell.run"));
        assert!(!task.can_use_tool("web.fetch"));
    }
}
