//! Tests of the underlying crates with plans that were drafted offline.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod kept_facts;
mod moved_blocks;
mod plan_diffs;
mod plan_edits;
mod plan_operations;
mod task_plans;
