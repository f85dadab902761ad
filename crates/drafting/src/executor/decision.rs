//! Decisions of the executor and of the planner above it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use planwright_model::task_state::TaskState;

/// The maximum length of the stored reasoning.
pub const REASONING: usize = 400;
/// The number of positions in an answer at which an object is tried.
const MAX_POSITIONS: usize = 24;

/// The action that the executor chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExecutorAction {
    CallTool,
    Done,
    Escalate,
}

/// A tool with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    pub name: String,
    #[serde(default = "no_args", alias = "arguments", alias = "input")]
    pub args: Value,
}

fn no_args() -> Value {
    Value::Object(Map::new())
}

/// One decision of the executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutorDecision {
    #[serde(rename = "_type", default)]
    kind: ExecutorKind,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum ExecutorKind {
    #[default]
    #[serde(rename = "EXECUTOR_DECISION")]
    Executor,
}

impl ExecutorDecision {
    pub fn new(action: ExecutorAction, reasoning: &str) -> Self {
        let kind = ExecutorKind::Executor;
        Self {
            kind,
            action,
            step: None,
            tool: None,
            state: None,
            reasoning: truncate_reasoning(reasoning),
        }
    }

    /// Creates a call for a step.
    pub fn call_tool(step: &str, tool: &str, args: Value, reasoning: &str) -> Self {
        Self {
            step: Some(step.to_owned()),
            tool: Some(ToolUse { name: tool.to_owned(), args }),
            ..Self::new(ExecutorAction::CallTool, reasoning)
        }
    }

    pub fn with_state(mut self, state: &TaskState) -> Self {
        self.state = Some(state.clone());
        self
    }

    /// Returns the first decision written out in an answer, if there is one.
    pub fn find_in_text(text: &str) -> Option<Self> {
        find_json_objects(text).find_map(|value| {
            let mut decision: Self = serde_json::from_value(value).ok()?;
            decision.reasoning = truncate_reasoning(&decision.reasoning);
            Some(decision)
        })
    }
}

/// The action that the planner assigns to the executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlannerAction {
    Execute,
    Complete,
}

/// One decision of the planner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannerDecision {
    #[serde(rename = "_type", default)]
    kind: PlannerKind,
    pub action: PlannerAction,
    #[serde(default = "default_task_type")]
    pub task_type: String,
    #[serde(default)]
    pub goals: Vec<String>,
    #[serde(default)]
    pub reasoning: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum PlannerKind {
    #[default]
    #[serde(rename = "PLANNER_DECISION")]
    Planner,
}

fn default_task_type() -> String {
    planwright_model::task::DEFAULT_TYPE.to_owned()
}

impl PlannerDecision {
    pub fn new(action: PlannerAction, task_type: &str, goals: Vec<String>, why: &str) -> Self {
        let (kind, task_type) = (PlannerKind::Planner, task_type.to_owned());
        Self { kind, action, task_type, goals, reasoning: truncate_reasoning(why) }
    }

    /// Parses a decision; the error describes what is invalid.
    pub fn from_json(value: Value) -> Result<Self, String> {
        let mut decision: Self =
            serde_json::from_value(value).map_err(|error| error.to_string())?;
        decision.reasoning = truncate_reasoning(&decision.reasoning);
        Ok(decision)
    }
}

fn truncate_reasoning(text: &str) -> String {
    text.trim().chars().take(REASONING).collect()
}

/// Returns complete JSON objects anywhere in a text, in order.
fn find_json_objects(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.match_indices('{').take(MAX_POSITIONS).filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok().filter(Value::is_object)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_a_decision_inside_other_text() {
        let text = "I will look.\n```json\n{\"_type\":\"EXECUTOR_DECISION\",\"action\":\"CALL_TOOL\",\"step\":\"read\",\"tool\":{\"name\":\"file.read\",\"args\":{\"path\":\"a\"}},\"reasoning\":\"x\"}\n```";
        let decision = ExecutorDecision::find_in_text(text).unwrap();
        assert_eq!(decision.action, ExecutorAction::CallTool);
        assert_eq!(decision.tool.unwrap().args, json!({"path": "a"}));
        assert!(ExecutorDecision::find_in_text("{not json} {\"a\": 1}").is_none());
    }

    #[test]
    fn reasoning_is_truncated_and_the_type_is_written() {
        let decision = ExecutorDecision::new(ExecutorAction::Done, &"é".repeat(900));
        assert_eq!(decision.reasoning.chars().count(), REASONING);
        assert_eq!(serde_json::to_value(&decision).unwrap()["_type"], "EXECUTOR_DECISION");
    }

    #[test]
    fn a_planner_decision_without_a_type_means_generic() {
        let decision = PlannerDecision::from_json(json!({"action": "EXECUTE"})).unwrap();
        assert_eq!((decision.task_type.as_str(), decision.goals.len()), ("generic", 0));
        assert!(PlannerDecision::from_json(json!({"action": "DANCE"})).is_err());
    }
}
