//! The tactical tier: how a task of a known type is done, step by step, and what keeps it within bounds.
//!
//! Task types, recipes and budgets are data. Everything here is pure: a model's proposal and a tool's result come in as
//! values, a ruling comes out. The caller makes the calls and keeps the [`AgentWork`] between them.
//!
//! [`AgentWork`]: planwright_model::agent_work::AgentWork

pub mod criteria;
pub mod decision;
pub mod recipe;
pub mod rules;
pub mod task_type;

#[cfg(test)]
mod tests;
mod work;

pub use decision::{find_executor_decision, parse_planner_decision};
pub use recipe::{Recipe, RecipeLibrary};
pub use rules::{
    ExecutorLimits, ExecutorRules, ExecutorRuling, ModelProposal, ObservedCall, ToolFacts,
};
pub use task_type::{AssetError, AssetSource, LocalStep, TaskType, TaskTypeLibrary, TaskTypeStep};
pub use work::{start_next_work, start_work};
