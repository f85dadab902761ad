//! The task graph: loose payloads made regular, tasks put in order, cycles named.
//!
//! [`normalise`] turns what a model wrote into tasks and reports every change. [`resolve`] orders tasks by the
//! selection key and finds depth, critical path and slack; it never repairs a cycle. [`TaskGraph`] is the contract
//! that exports and prompts see; everything else works on indices into the plan's own list of tasks.

mod adjacency;
mod cycle;
mod fields;
mod gather;
pub mod infer;
mod intern;
mod keys;
pub(crate) mod lists;
mod normalise;
mod order;
#[cfg(test)]
mod properties;
mod prune;
mod rank_set;
mod resolve;
mod selection;
mod task_graph;
mod timing;
mod vocabulary;

pub use adjacency::Adjacency;
pub use cycle::Cycle;
pub use normalise::normalise;

pub use prune::prune_missing;
pub use rank_set::RankSet;
pub use resolve::{Resolved, resolve};
pub use selection::SelectionKey;
pub use task_graph::TaskGraph;
pub use vocabulary::Vocabulary;
