//! Plans: resolving task graphs, the grammar, confidence, plan files, edits, diffs and exports.
//!
//! Pure: nothing here reads a clock, the environment, a file or the network.

pub mod check;
pub mod condition;
pub mod confidence;
pub mod content_key;
pub mod critical_path;
pub mod diff;
pub mod edit;
pub mod export;
pub mod grammar;
pub mod graph;
pub mod plan_file;
pub mod plan_file_schedule;
pub mod roadmap_to_plan;
pub mod sizing;
pub mod submission;
pub mod task_selection;
