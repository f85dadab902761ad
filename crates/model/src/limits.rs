//! The numbers that steer execution, each under the name it has in the settings.

use serde::{Deserialize, Serialize};

use crate::MicroDollars;

/// How many attempts wait for an answer of the person without taking a slot. Further ones keep theirs, so that at most
/// this many and as many as there are slots wait at once.
pub const MAX_WAITING_ATTEMPTS: usize = 16;

/// What a session works by. Journaled where it differs from the built-in values, so that a replay under other
/// settings shows what happened and not what would happen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct ExecutionLimits {
    /// How many errors in a row open a tool's breaker.
    pub breaker_threshold: u32,
    /// How long an open breaker refuses calls.
    pub breaker_cooldown_sec: u64,
    /// How often a task may think and act before it must answer, in strict steps.
    pub react_max_iterations: u32,
    /// What one task may use in an open conversation. Journals without it stay as they are.
    #[serde(skip_serializing_if = "TaskBudget::is_usual")]
    pub task_budget: TaskBudget,
    /// How much of a nested result the model reads.
    pub result_char_limit: u32,
    /// How often the planner may be asked again about one task.
    pub planner_rounds: u32,
    /// What a token budget always leaves beside the query.
    pub token_budget_buffer: u64,
    /// A token budget is at most this many times the query.
    pub token_budget_factor: u64,
    /// How many requests to models one attempt at a task may make.
    pub agent_max_requests_per_task: u32,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self {
            breaker_threshold: 3,
            breaker_cooldown_sec: 30,
            react_max_iterations: 10,
            task_budget: TaskBudget::default(),
            result_char_limit: 1_500,
            planner_rounds: 8,
            token_budget_buffer: 10,
            token_budget_factor: 20,
            agent_max_requests_per_task: 120,
        }
    }
}

/// How much is thought before something is done.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningMode {
    /// A scout pass, then whichever of the others the gate picks.
    #[default]
    Auto,
    /// The planner is heard only when the executor asks for it.
    Direct,
    /// Proposal, critique and synthesis before, the planner's word after.
    Dialectical,
}

impl std::str::FromStr for ReasoningMode {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "auto" => Ok(Self::Auto),
            "direct" => Ok(Self::Direct),
            "dialectical" => Ok(Self::Dialectical),
            _ => Err(()),
        }
    }
}

/// When something small skips ceremony.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ScoutGateMode {
    /// By its signals.
    #[default]
    Auto,
    /// Never: always the full run.
    Off,
    ForceExit,
    ForceFull,
}

impl ScoutGateMode {
    pub const ALL: [Self; 4] = [Self::Auto, Self::ForceExit, Self::ForceFull, Self::Off];
}

/// What one task may use in an open conversation before the person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct TaskBudget {
    pub turns: u32,
    pub tokens: u64,
    pub cost: MicroDollars,
    /// Minutes of work.
    pub wall_time_min: u64,
}

impl Default for TaskBudget {
    fn default() -> Self {
        Self { turns: 80, tokens: 1_500_000, cost: MicroDollars(2_000_000), wall_time_min: 60 }
    }
}

impl TaskBudget {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
