//! Pure algorithms over the model: graph resolving, layout and drawing, plan files, checks, scheduling, the circuit
//! breaker, budgets.
//!
//! Nothing here reads a clock, the environment or the network, and nothing is random beyond a given seed. The one file
//! that is opened is a plan file, in [`plan_file::read`].

pub mod affinity;
pub mod breaker;
pub mod calendar;
pub mod check;
pub mod confidence;
pub mod content_key;
pub mod controller;
pub mod diff;
pub mod drawing;
pub mod edit;
pub mod executor;
pub mod export;
pub mod gate;
#[cfg(test)]
pub(crate) mod goal_plan;
pub mod grammar;
pub mod graph;
pub mod layout;
pub mod offline;
pub mod plan_file;
pub mod policy_words;
pub mod portfolio;
pub mod rcpsp;
pub mod schedule;
pub mod to_plan;
pub mod token_budget;
pub mod voice;
pub mod wishes;
