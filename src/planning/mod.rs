//! Pure algorithms over the model: graph resolving, plan files, checks, the circuit breaker, budgets.
//!
//! Nothing here reads a clock, the environment or the network. The one file that is opened is a plan file, in
//! [`plan_file::read`].

pub mod breaker;
pub mod check;
pub mod gate;
pub mod graph;
pub mod plan_file;
pub mod token_budget;
