//! The steps of a `ReAct` loop and the trace they add up to.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{StepMetadata, TaskId};

/// What a step is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StepAction {
    Thought,
    Action,
    Observation,
}

/// One step of a task's reasoning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReActStep {
    pub timestamp: Timestamp,
    pub task_id: TaskId,
    pub action: StepAction,
    pub content: String,
    #[serde(default)]
    pub tool_used: Option<String>,
    #[serde(default)]
    pub tool_input: Option<Value>,
    #[serde(default)]
    pub tool_output: Option<Value>,
    #[serde(default)]
    pub confidence_score: Option<f64>,
    #[serde(default)]
    pub metadata: StepMetadata,
}

impl ReActStep {
    pub fn is_thought_step(&self) -> bool {
        self.action == StepAction::Thought
    }

    pub fn is_action_step(&self) -> bool {
        self.action == StepAction::Action
    }

    pub fn is_observation_step(&self) -> bool {
        self.action == StepAction::Observation
    }
}

/// All steps of one attempt at a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReActTrace {
    /// `<task_id>_<start unix ms>_<attempt>`.
    pub trace_id: String,
    pub task_id: TaskId,
    pub steps: Vec<ReActStep>,
    pub final_answer: Option<String>,
    pub total_tokens_used: u64,
    pub execution_time_ms: f64,
    pub success: bool,
    pub error_message: Option<String>,
}

impl ReActTrace {
    pub fn get_thought_steps(&self) -> impl Iterator<Item = &ReActStep> {
        self.steps.iter().filter(|step| step.is_thought_step())
    }

    pub fn get_action_steps(&self) -> impl Iterator<Item = &ReActStep> {
        self.steps.iter().filter(|step| step.is_action_step())
    }

    pub fn get_observation_steps(&self) -> impl Iterator<Item = &ReActStep> {
        self.steps.iter().filter(|step| step.is_observation_step())
    }

    /// The mean of the scored observations; 0 if there are none.
    pub fn calculate_confidence(&self) -> f64 {
        let scores: Vec<f64> =
            self.get_observation_steps().filter_map(|step| step.confidence_score).collect();
        if scores.is_empty() {
            return 0.0;
        }
        scores.iter().sum::<f64>() / scores.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(confidence_score: Option<f64>) -> ReActStep {
        ReActStep {
            timestamp: Timestamp::UNIX_EPOCH,
            task_id: "a".into(),
            action: StepAction::Observation,
            content: String::new(),
            tool_used: None,
            tool_input: None,
            tool_output: None,
            confidence_score,
            metadata: StepMetadata::default(),
        }
    }

    fn trace(steps: Vec<ReActStep>) -> ReActTrace {
        ReActTrace {
            trace_id: "a_0_1".into(),
            task_id: "a".into(),
            steps,
            final_answer: None,
            total_tokens_used: 0,
            execution_time_ms: 0.0,
            success: true,
            error_message: None,
        }
    }

    #[test]
    fn confidence_is_the_mean_of_scored_observations() {
        let steps = vec![observation(Some(0.8)), observation(None), observation(Some(0.6))];
        assert!((trace(steps).calculate_confidence() - 0.70).abs() < 1e-9);
        assert!(trace(vec![]).calculate_confidence().abs() < f64::EPSILON);
    }
}
