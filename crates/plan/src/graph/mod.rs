//! The task graph: normalizes loosely structured payloads, orders tasks, reports cycles.
//!
//! [`normalize_payload`] turns the output of a model into tasks and reports every change. [`resolve_graph`] orders
//! tasks by the selection key and finds depth, critical path and slack; it never repairs a cycle. [`TaskGraph`] is the
//! representation for exports and prompts; everything else works on indices into the plan's own list of tasks.

mod adjacency;
mod cycle;
mod fields;
mod gather;
mod id_table;
pub mod infer;
mod normalize;
mod order;
#[cfg(test)]
mod properties;
mod prune;
mod rank_set;
mod resolve;
mod selection;
mod selection_columns;
mod task_graph;
pub(crate) mod text_lists;
mod timing;
mod vocabulary;

pub use adjacency::TaskAdjacency;
pub use cycle::TaskCycle;
pub use normalize::normalize_payload;

pub use prune::prune_missing;
pub use rank_set::RankSet;
pub use resolve::{ResolvedGraph, resolve_graph};
pub use selection::SelectionKey;
pub use task_graph::TaskGraph;
pub use vocabulary::TaskVocabulary;
