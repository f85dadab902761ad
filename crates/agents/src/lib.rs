//! Agents at work in tasks: the planner says what is to be done, the executor how, the coordinator does it.
//!
//! A run of [`AgentServices::run_attempt`] is one attempt at a task. Everything it does is said as an [`AgentEvent`]; every call goes
//! through the [`Toolbox`], which asks, journals and limits; what tools bring back is data in prompts and never an
//! instruction. What is needed to go on after an interruption is folded from the same events
//! ([`AgentProgress`]).

#[cfg(feature = "acp")]
mod acp;
#[cfg(not(feature = "acp"))]
mod acp_not_built_in;
mod answer_watch;
mod assets;
mod attempt;
pub mod clock;
mod completion;
mod conversation;
mod dependency_inference;
mod event_sink;
mod executor;
mod framing;
mod model_requests;
mod offline;
mod offline_evidence;
mod own_agent;
mod paused_tool;
mod planner;
mod prompt_docs;
mod prompts;
mod request_pace;
mod scout;
mod subtasks;
#[cfg(test)]
mod tests;
mod tool_calls;
mod tool_selection;

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

#[cfg(feature = "acp")]
pub use acp::{probe_agent, probe_prompt};
#[cfg(not(feature = "acp"))]
pub use acp_not_built_in::{probe_agent, probe_prompt};
pub use answer_watch::AnswerWatch;
pub use assets::AgentAssets;
pub use attempt::TASK_CAP;
pub use conversation::{
    HANDED_OVER, NobodyThere, PersonChannel, WorkClock, answer_room, conversation_request,
    due_compaction, due_summary, plain_summary, project_instructions, read_item, render_result,
    result_share, summary_request,
};
pub use event_sink::redact_value;
pub use framing::{RULE as DATA_RULE, frame_data};
pub use model_requests::{ABILITIES, journaled_reasoning};
pub use offline::{NEEDS_MODEL, offline_model};
pub use own_agent::{AgentProbe, KnownAgent, OwnAgent, OwnAgents, SILENCE, SessionLoading};
pub use prompts::{Prompt, PromptLibrary};
pub use subtasks::{AgentSubtaskRunner, SharedEventCallback, SubtaskParts};
pub use tool_selection::is_tool_configured;

use crate::clock::Clock;
use planwright_drafting::executor::{RecipeLibrary, TaskTypeLibrary};
use planwright_drafting::gate::GatePolicy;
use planwright_drafting::token_budget::TokenBudgetSettings;
use planwright_llm::protocol::ModelDialogue;
pub use planwright_model::ReasoningMode;
use planwright_model::event::AgentEvent;
use planwright_model::{ExecutionFailure, ExecutionLimits, TaskBudget, TaskId, TaskNode};
use planwright_state::AgentProgress;
use planwright_tools::Toolbox;
use planwright_tools::affinity::RankedTool;
use planwright_tools::context::HeldPermit;

/// The numbers an agent works by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    pub react_max_iterations: u32,
    /// What one task may use in an open conversation before the person is asked.
    pub task_budget: TaskBudget,
    pub planner_rounds: u32,
    pub lookups_per_step: u32,
    /// How much of an older result the model reads again.
    pub result_char_limit: usize,
    /// How many rounds of proposal, critique and synthesis there are at most.
    pub loops: u32,
    /// How much a round of a debate may carry on.
    pub token_budget: TokenBudgetSettings,
    /// A model judges exit criteria at most once in so many iterations, and at the end.
    pub judge_every: u32,
    /// How many requests to models one attempt may make.
    pub max_requests: u32,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self::from_limits(&ExecutionLimits::default())
    }
}

impl AgentLimits {
    pub fn from_limits(limits: &ExecutionLimits) -> Self {
        Self {
            react_max_iterations: limits.react_max_iterations,
            task_budget: limits.task_budget,
            planner_rounds: limits.planner_rounds,
            lookups_per_step: 12,
            result_char_limit: limits.result_char_limit as usize,
            loops: 3,
            token_budget: TokenBudgetSettings {
                buffer: limits.token_budget_buffer,
                factor: limits.token_budget_factor,
            },
            judge_every: 3,
            max_requests: limits.agent_max_requests_per_task,
        }
    }
}

/// What came of a task that this one builds on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyResult {
    pub task: TaskId,
    pub title: String,
    /// `done`, `skipped` and the like.
    pub outcome: String,
    pub answer: String,
}

/// Where a task works that has a copy of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeNotice {
    /// What it is a copy of.
    pub workspace: String,
    /// What git ignores and the copy lacks.
    pub left_out: Vec<String>,
    /// Files whose conflict markers are to be resolved.
    pub conflicts: Vec<String>,
}

/// One attempt at a task.
#[derive(Clone, Debug)]
pub struct AgentJob {
    pub task: Arc<TaskNode>,
    pub attempt: u32,
    /// What the whole plan is for.
    pub goal: Option<String>,
    pub context: Vec<DependencyResult>,
    /// The plan around the task, a line for each task that matters to it.
    pub overview: Vec<String>,
    /// Where an interrupted attempt stood.
    pub past: Option<AgentProgress>,
    /// Tools by how well they fit, best first.
    pub affinity: Vec<RankedTool>,
    /// `enable_tool_affinity`: without it no score orders tools or leaves one out.
    pub uses_affinity: bool,
    /// Further iterations that the person granted at a cap.
    pub granted: u32,
    /// The gate as the person set it for the session, where they did.
    pub gate: Option<GatePolicy>,
    /// The permit the task holds, which nested work may borrow.
    pub held: HeldPermit,
    /// Set where the task works in a copy of the workspace; its result counts once its changes are applied.
    pub worktree: Option<WorktreeNotice>,
    /// What the person asked to be different about the work so far.
    pub hint: Option<String>,
    /// What the person said and the plan must respect, verbatim.
    pub facts: Vec<String>,
    /// What the person remarked about the task.
    pub comments: Vec<String>,
    /// What the agent asked before it was interrupted.
    pub open_question: Option<String>,
}

impl AgentJob {
    pub fn new(task: Arc<TaskNode>, attempt: u32) -> Self {
        Self {
            task,
            attempt,
            goal: None,
            context: Vec::new(),
            overview: Vec::new(),
            past: None,
            affinity: Vec::new(),
            uses_affinity: true,
            granted: 0,
            gate: None,
            held: HeldPermit::default(),
            worktree: None,
            hint: None,
            facts: Vec::new(),
            comments: Vec::new(),
            open_question: None,
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEnd {
    /// The final answer, or why there is none.
    pub result: Result<String, ExecutionFailure>,
    pub tokens: u64,
}

/// What agents work with. Cheap to clone and shared by all tasks of a session.
#[derive(Clone)]
pub struct AgentServices {
    /// The executor's model.
    pub dialogue: Arc<ModelDialogue>,
    pub planner: Arc<ModelDialogue>,
    pub judge: Arc<ModelDialogue>,
    pub summarizer: Arc<ModelDialogue>,
    pub toolbox: Toolbox,
    pub types: Arc<TaskTypeLibrary>,
    pub prompts: Arc<PromptLibrary>,
    pub recipes: Arc<RecipeLibrary>,
    pub limits: AgentLimits,
    /// How agents reach the person.
    pub person: Arc<dyn PersonChannel>,
    pub reasoning_mode: ReasoningMode,
    pub gate: GatePolicy,
    pub clock: Clock,
    /// The number of the last question put to a model.
    pub next_ask: Arc<AtomicU32>,
    /// Held while a question gets its number and is said, so that numbers are said in order.
    pub asking: Arc<Mutex<()>>,
}

impl std::fmt::Debug for AgentServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentKit").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Where an agent says what happens.
pub type AgentEventCallback<'a> = &'a (dyn Fn(AgentEvent) + Send + Sync);
