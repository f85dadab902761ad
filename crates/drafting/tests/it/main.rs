//! Tests of the underlying crates with plans that were drafted offline.

mod moved_blocks;
mod plan_diffs;
mod plan_edits;
mod task_plans;
