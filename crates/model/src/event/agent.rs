//! Facts about what a model was asked and what an agent does within a task.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent_decision::AgentDecision;
use crate::agent_work::{AgentWork, ChildState};
use crate::gate::GateDecision;
use crate::permission::PermissionRule;
use crate::{Digest, ExecutionFailure, MicroDollars, ReActStep, StepAction, TaskId};

/// A call that a model asked for in its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnsweredCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
}

/// Facts about an agent's work. `task` is none for planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentEvent {
    /// A model is about to be asked; the estimate is what it may cost at most.
    ModelAsked {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Counts the questions of the session.
        ask: u32,
        purpose: String,
        provider: String,
        model: String,
        prompt_ref: Digest,
        estimated_tokens: u64,
        /// None where the price is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        estimated_cost: Option<MicroDollars>,
    },
    /// What it said, and what that cost.
    ModelAnswered {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        ask: u32,
        text: String,
        /// None where tools were not offered, or nothing is kept of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        calls: Option<Vec<AnsweredCall>>,
        tokens: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<MicroDollars>,
        elapsed_ms: u64,
    },
    /// It did not answer, or not usably.
    ModelFailed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        ask: u32,
        failure: ExecutionFailure,
        #[serde(default)]
        tokens: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<MicroDollars>,
    },
    /// A piece of an answer that is still coming, coalesced.
    Partial {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        ask: u32,
        text: String,
    },
    /// A step of a `ReAct` loop: what the agent thinks,
    Thought { task: TaskId, attempt: u32, step: Box<ReActStep> },
    /// what it does,
    Acted { task: TaskId, attempt: u32, step: Box<ReActStep> },
    /// and what came of it.
    Observed { task: TaskId, attempt: u32, step: Box<ReActStep> },
    /// What an executor keeps between its steps.
    StateSaved { task: TaskId, attempt: u32, state: Box<AgentWork> },
    /// A decision of the executor or the planner above it.
    Decided { task: TaskId, attempt: u32, decision: Box<AgentDecision> },
    /// Whether a single pass is enough.
    Gated { decision: Box<GateDecision> },
    /// The person allowed something for the rest of the session.
    Granted { rule: PermissionRule, words: String },
    /// A grant was taken back.
    Revoked { rule: PermissionRule },
    /// A subtask of a call moved; it is shown as a child of the task.
    ChildMoved { task: TaskId, child: TaskId, title: String, state: ChildState },
    /// The result of a task in words, which its dependents read.
    Concluded { task: TaskId, attempt: u32, answer: String, tokens: u64 },
}

impl AgentEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ModelAsked { .. } => "agent.model_asked",
            Self::ModelAnswered { .. } => "agent.model_answered",
            Self::ModelFailed { .. } => "agent.model_failed",
            Self::Partial { .. } => "agent.partial",
            Self::Thought { .. } => "agent.thought",
            Self::Acted { .. } => "agent.acted",
            Self::Observed { .. } => "agent.observed",
            Self::StateSaved { .. } => "agent.state_saved",
            Self::Decided { .. } => "agent.decided",
            Self::Gated { .. } => "agent.gated",
            Self::Granted { .. } => "agent.granted",
            Self::Revoked { .. } => "agent.revoked",
            Self::ChildMoved { .. } => "agent.child_moved",
            Self::Concluded { .. } => "agent.concluded",
        }
    }

    /// The event of a step, by what the step is.
    pub fn from_step(task: TaskId, attempt: u32, step: ReActStep) -> Self {
        let action = step.action;
        let step = Box::new(step);
        match action {
            StepAction::Thought => Self::Thought { task, attempt, step },
            StepAction::Action => Self::Acted { task, attempt, step },
            StepAction::Observation => Self::Observed { task, attempt, step },
        }
    }

    /// The step it is about, if it is one.
    pub fn react_step(&self) -> Option<&ReActStep> {
        match self {
            Self::Thought { step, .. } | Self::Acted { step, .. } | Self::Observed { step, .. } => {
                Some(step)
            }
            _ => None,
        }
    }

    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::ModelAsked { task, .. }
            | Self::ModelAnswered { task, .. }
            | Self::ModelFailed { task, .. }
            | Self::Partial { task, .. } => task.as_ref(),
            Self::Thought { task, .. }
            | Self::Acted { task, .. }
            | Self::Observed { task, .. }
            | Self::StateSaved { task, .. }
            | Self::Decided { task, .. }
            | Self::ChildMoved { task, .. }
            | Self::Concluded { task, .. } => Some(task),
            Self::Gated { .. } | Self::Granted { .. } | Self::Revoked { .. } => None,
        }
    }
}
