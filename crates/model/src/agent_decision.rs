//! What was decided about a task while an agent worked on it, as the journal holds it.
//!
//! The wire form is older than these types: an object whose `_type` names the kind, or one with `permission` in it. A
//! decision of another kind, or one whose fields do not fit, is kept as the text it was.

use std::collections::BTreeMap;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::TaskId;
use crate::gate::{GateDecision, GateRationale, GateSignals, GateThresholds};
use crate::permission::GrantBasis;
use crate::task_state::TaskState;

/// The longest reasoning that is kept.
pub const MAX_REASONING_CHARS: usize = 400;

/// A decision of the executor, the planner above it, or the rules above both.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentDecision {
    Task(TaskDecision),
    Permitted(PermittedCall),
    Other(RawJsonText),
}

/// JSON that this version does not understand, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJsonText(String);

impl RawJsonText {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A call may be made, and what allows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PermittedCall {
    pub permission: GrantBasis,
    /// `task/attempt/step`.
    #[serde(default)]
    pub call: String,
    #[serde(default)]
    pub tool: String,
}

/// The `action` of a decision that is neither the planner's nor the executor's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionAction {
    Begin,
    Resume,
    Normalise,
    Scout,
    #[serde(rename = "full run")]
    FullRun,
    #[serde(rename = "single pass")]
    SinglePass,
    Shorten,
    LoopGuard,
    Reject,
}

impl DecisionAction {
    /// As the journal has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Resume => "resume",
            Self::Normalise => "normalise",
            Self::Scout => "scout",
            Self::FullRun => "full run",
            Self::SinglePass => "single pass",
            Self::Shorten => "shorten",
            Self::LoopGuard => "loop_guard",
            Self::Reject => "reject",
        }
    }
}

/// A decision about the work on a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "_type", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskDecision {
    /// Work began, or was resumed after an interruption.
    TaskBegun {
        action: DecisionAction,
        #[serde(default)]
        resumed: bool,
        /// The step that comes next.
        #[serde(default)]
        step: Option<String>,
    },
    /// Something in what was given was corrected.
    Normalization {
        action: DecisionAction,
        code: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<TaskId>,
        #[serde(default)]
        detail: String,
        #[serde(default)]
        reasoning: String,
    },
    /// The quick look at the task that the gate decides from.
    ScoutCompleted {
        action: DecisionAction,
        #[serde(default)]
        tokens: u64,
        #[serde(default)]
        cost: u64,
        #[serde(default)]
        elapsed_ms: u64,
        #[serde(default)]
        signals: GateSignals,
    },
    GateDecision(TaskGateDecision),
    /// A part of a prompt was too long.
    Compacted {
        action: DecisionAction,
        part: String,
        tokens: u64,
        kept: u64,
        #[serde(default)]
        reasoning: String,
    },
    /// What the model wanted would have gone in circles; this step is done instead.
    LoopGuard {
        action: DecisionAction,
        #[serde(default)]
        step: Option<String>,
        #[serde(default)]
        reasoning: String,
        /// The call that was not made.
        #[serde(default)]
        replaced: Option<ToolUse>,
    },
    /// What the model wanted is not done.
    Rejected {
        action: DecisionAction,
        #[serde(default)]
        code: String,
        #[serde(default)]
        reasoning: String,
    },
    PlannerDecision(PlannerDecision),
    ExecutorDecision(ExecutorDecision),
}

impl TaskDecision {
    /// Work begins, or goes on where it was interrupted.
    pub fn task_begun(resumed: bool, step: Option<String>) -> Self {
        let action = if resumed { DecisionAction::Resume } else { DecisionAction::Begin };
        Self::TaskBegun { action, resumed, step }
    }

    /// A correction in what was given.
    pub fn normalization(code: &str, detail: &str, task_id: Option<TaskId>) -> Self {
        Self::Normalization {
            action: DecisionAction::Normalise,
            code: code.to_owned(),
            task_id,
            detail: detail.to_owned(),
            reasoning: detail.to_owned(),
        }
    }
}

/// The gate's decision about a single task: a [`GateDecision`] with how it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TaskGateDecision {
    pub should_escalate: bool,
    #[serde(default)]
    pub target_loops: u64,
    #[serde(default)]
    pub heuristics: GateSignals,
    #[serde(default)]
    pub thresholds: GateThresholds,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub tokens_saved: u64,
    #[serde(default)]
    pub rationales: BTreeMap<String, GateRationale>,
    pub action: DecisionAction,
    #[serde(default)]
    pub reasoning: String,
}

impl From<GateDecision> for TaskGateDecision {
    fn from(decision: GateDecision) -> Self {
        let full = decision.should_escalate;
        Self {
            should_escalate: full,
            target_loops: decision.target_loops,
            heuristics: decision.heuristics,
            thresholds: decision.thresholds,
            reasoning: decision.reason.clone(),
            reason: decision.reason,
            tokens_saved: decision.tokens_saved,
            rationales: decision.rationales,
            action: if full { DecisionAction::FullRun } else { DecisionAction::SinglePass },
        }
    }
}

/// What the executor wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExecutorAction {
    CallTool,
    Done,
    Escalate,
}

/// A tool with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolUse {
    pub name: String,
    #[serde(default = "no_args", alias = "arguments", alias = "input")]
    pub args: Value,
}

fn no_args() -> Value {
    Value::Object(serde_json::Map::new())
}

/// One decision of the executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExecutorDecision {
    pub action: ExecutorAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolUse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    #[serde(default)]
    pub reasoning: String,
}

impl ExecutorDecision {
    pub fn new(action: ExecutorAction, reasoning: &str) -> Self {
        let reasoning = truncate_reasoning(reasoning);
        Self { action, step: None, tool: None, state: None, reasoning }
    }

    /// A call for a step.
    pub fn call_tool(step: &str, tool: ToolUse, reasoning: &str) -> Self {
        Self {
            step: Some(step.to_owned()),
            tool: Some(tool),
            ..Self::new(ExecutorAction::CallTool, reasoning)
        }
    }

    pub fn with_state(mut self, state: &TaskState) -> Self {
        self.state = Some(state.clone());
        self
    }
}

/// What the planner wants of the executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlannerAction {
    Execute,
    Complete,
}

/// One decision of the planner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlannerDecision {
    pub action: PlannerAction,
    #[serde(default = "default_task_type")]
    pub task_type: String,
    #[serde(default)]
    pub goals: Vec<String>,
    #[serde(default)]
    pub reasoning: String,
}

fn default_task_type() -> String {
    crate::task::DEFAULT_TYPE.to_owned()
}

impl PlannerDecision {
    pub fn new(action: PlannerAction, task_type: &str, goals: Vec<String>, why: &str) -> Self {
        let task_type = task_type.to_owned();
        Self { action, task_type, goals, reasoning: truncate_reasoning(why) }
    }
}

/// The beginning of a reasoning, as much as is kept.
pub fn truncate_reasoning(text: &str) -> String {
    text.trim().chars().take(MAX_REASONING_CHARS).collect()
}

impl From<TaskDecision> for AgentDecision {
    fn from(decision: TaskDecision) -> Self {
        Self::Task(decision)
    }
}

impl From<PlannerDecision> for AgentDecision {
    fn from(decision: PlannerDecision) -> Self {
        Self::Task(TaskDecision::PlannerDecision(decision))
    }
}

impl From<ExecutorDecision> for AgentDecision {
    fn from(decision: ExecutorDecision) -> Self {
        Self::Task(TaskDecision::ExecutorDecision(decision))
    }
}

impl schemars::JsonSchema for AgentDecision {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AgentDecision".into()
    }

    /// What another program decided is kept as it is, so that it may be anything.
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "What was decided, by its name, with what it was decided by." })
    }
}

impl Serialize for AgentDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Task(decision) => decision.serialize(serializer),
            Self::Permitted(call) => call.serialize(serializer),
            Self::Other(raw) => RawValue::from_string(raw.0.clone())
                .map_err(S::Error::custom)?
                .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AgentDecision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        // A permission is recognized first, whatever else stands beside it, as readers always have.
        let known = if value.get("permission").is_some() {
            PermittedCall::deserialize(&value).map(Self::Permitted)
        } else {
            TaskDecision::deserialize(&value).map(Self::Task)
        };
        Ok(known.unwrap_or_else(|_| Self::Other(RawJsonText(value.to_string()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_kept_as_it_was() {
        for text in [
            r#"{"_type":"OMEN","action":"DANCE","depth":3}"#,
            r#"{"_type":"PLANNER_DECISION","action":"DANCE"}"#,
            r#"{"permission":{"by":"moon"},"tool":"grep"}"#,
            r#"{"action":"CALL_TOOL"}"#,
            r#""words""#,
            "null",
        ] {
            let decision: AgentDecision = serde_json::from_str(text).unwrap();
            let AgentDecision::Other(raw) = &decision else { panic!("{text} fits") };
            assert_eq!(raw.as_str(), text);
            assert_eq!(serde_json::to_string(&decision).unwrap(), text);
        }
    }

    #[test]
    fn missing_fields_are_defaults_and_extra_ones_are_ignored() {
        let text = r#"{"_type":"TASK_BEGUN","action":"begin","resumed":true,"mood":"good"}"#;
        let decision: AgentDecision = serde_json::from_str(text).unwrap();
        let begun =
            TaskDecision::TaskBegun { action: DecisionAction::Begin, resumed: true, step: None };
        assert_eq!(decision, AgentDecision::Task(begun));
    }

    #[test]
    fn an_action_is_written_by_its_name() {
        for action in [DecisionAction::FullRun, DecisionAction::LoopGuard, DecisionAction::Begin] {
            assert_eq!(serde_json::to_value(action).unwrap(), action.as_str());
        }
    }

    #[test]
    fn reasoning_is_cut_and_the_type_is_written() {
        let decision = ExecutorDecision::new(ExecutorAction::Done, &"é".repeat(900));
        assert_eq!(decision.reasoning.chars().count(), MAX_REASONING_CHARS);
        let written = serde_json::to_value(AgentDecision::from(decision)).unwrap();
        assert_eq!(written["_type"], "EXECUTOR_DECISION");
    }
}
