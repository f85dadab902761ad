//! Facts about what a model was asked and what an agent does within a task.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent_conversation::{ConversationOpening, PromptSource};
use crate::agent_decision::AgentDecision;
use crate::agent_work::{AgentWork, ChildState};
use crate::gate::GateDecision;
use crate::permission::PermissionRule;
use crate::{
    Actor, AgentSession, AgentTodo, Digest, ExecutionFailure, MicroDollars, ReActStep,
    ReasoningItem, StepAction, TaskId,
};

/// A call that a model asked for in its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnsweredCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
    /// Why it cannot be made as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What was changed in its arguments before it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The arguments held a secret and are not those that were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// Facts about an agent's work. `task` is none for planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
        /// What it thought, as its provider wants it back with the results of its calls.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<ReasoningItem>,
        /// The answer ended at its length limit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_off: bool,
        /// Why an answer without calls says nothing that could be used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
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
        /// It belongs to what the model thinks, not to what it says.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        thought: bool,
    },
    /// An answer is still being waited for. Said ever more seldom; how long it is by now, the clock says.
    ModelWaiting {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        ask: u32,
        /// The model's name on screens.
        model: String,
        elapsed_sec: u64,
        /// Tokens that have come so far, estimated.
        tokens: u64,
        /// It has begun with its answer; before that it thinks.
        writing: bool,
    },
    /// A provider failed or asked to be left alone for a while; it is asked again after the wait.
    ModelDelayed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        ask: u32,
        /// The model's name on screens.
        model: String,
        why: String,
        wait_sec: u64,
    },
    /// A model is talked to in a lesser protocol than its provider's own tool calls, and why.
    ProtocolDemoted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        ask: u32,
        what: String,
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
    /// A conversation about a task opened; what follows is appended to it.
    ConversationOpened { task: TaskId, attempt: u32, opening: Box<ConversationOpening> },
    /// Something was said to the model besides results.
    Prompted {
        task: TaskId,
        attempt: u32,
        source: PromptSource,
        text: String,
        /// The number of the person's message that is delivered by this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<u32>,
    },
    /// Results of calls up to this number are shown shortened from now on.
    ResultsCompacted { task: TaskId, attempt: u32, through: u32 },
    /// The person lets the task continue past its limits; they count anew.
    BudgetRenewed { task: TaskId, attempt: u32 },
    /// The person wrote to the agent of a task. It is delivered before its next turn.
    MessageSent {
        task: TaskId,
        number: u32,
        text: String,
        by: Actor,
        /// The agent's turn ends for it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupt: bool,
    },
    /// An agent of the person's own opened its session for a task.
    SessionOpened { task: TaskId, attempt: u32, session: Box<AgentSession> },
    /// The agent's own to-do list, as it is now.
    TodoListed { task: TaskId, attempt: u32, items: Vec<AgentTodo> },
    /// What an agent of the person's own says its session has used so far. What it does not say is not known.
    UsageReported {
        task: TaskId,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<MicroDollars>,
    },
    /// The agent says that it is done. The result counts once its changes are applied.
    HandedIn {
        task: TaskId,
        attempt: u32,
        answer: String,
        tokens: u64,
        /// Exit criteria were checked and are met.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        criteria_met: bool,
    },
    /// One of the results that several agents brought is taken for the task; the others are given up.
    CandidatePicked {
        task: TaskId,
        attempt: u32,
        /// The task whose result it is.
        candidate: TaskId,
        /// The agent that brought it, and that does the task from now on.
        agent: String,
        /// None where the policy picked it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
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
            Self::ModelWaiting { .. } => "agent.model_waiting",
            Self::ModelDelayed { .. } => "agent.model_delayed",
            Self::ProtocolDemoted { .. } => "agent.protocol_demoted",
            Self::Thought { .. } => "agent.thought",
            Self::Acted { .. } => "agent.acted",
            Self::Observed { .. } => "agent.observed",
            Self::StateSaved { .. } => "agent.state_saved",
            Self::Decided { .. } => "agent.decided",
            Self::Gated { .. } => "agent.gated",
            Self::Granted { .. } => "agent.granted",
            Self::Revoked { .. } => "agent.revoked",
            Self::ChildMoved { .. } => "agent.child_moved",
            Self::ConversationOpened { .. } => "agent.conversation_opened",
            Self::Prompted { .. } => "agent.prompted",
            Self::ResultsCompacted { .. } => "agent.results_compacted",
            Self::BudgetRenewed { .. } => "agent.budget_renewed",
            Self::MessageSent { .. } => "agent.message_sent",
            Self::SessionOpened { .. } => "agent.session_opened",
            Self::TodoListed { .. } => "agent.todo_listed",
            Self::UsageReported { .. } => "agent.usage_reported",
            Self::HandedIn { .. } => "agent.handed_in",
            Self::CandidatePicked { .. } => "agent.candidate_picked",
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
            | Self::Partial { task, .. }
            | Self::ModelWaiting { task, .. }
            | Self::ModelDelayed { task, .. }
            | Self::ProtocolDemoted { task, .. } => task.as_ref(),
            Self::Thought { task, .. }
            | Self::Acted { task, .. }
            | Self::Observed { task, .. }
            | Self::StateSaved { task, .. }
            | Self::Decided { task, .. }
            | Self::ChildMoved { task, .. }
            | Self::ConversationOpened { task, .. }
            | Self::Prompted { task, .. }
            | Self::ResultsCompacted { task, .. }
            | Self::BudgetRenewed { task, .. }
            | Self::MessageSent { task, .. }
            | Self::SessionOpened { task, .. }
            | Self::TodoListed { task, .. }
            | Self::UsageReported { task, .. }
            | Self::HandedIn { task, .. }
            | Self::CandidatePicked { task, .. }
            | Self::Concluded { task, .. } => Some(task),
            Self::Gated { .. } | Self::Granted { .. } | Self::Revoked { .. } => None,
        }
    }
}
