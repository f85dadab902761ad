//! Tests of the underlying crates with plans that were drafted offline.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod changed_days;
mod goal_readings;
mod kept_facts;
mod misread_goals;
mod moved_blocks;
mod plan_days;
mod plan_diffs;
mod plan_edits;
mod plan_operations;
mod plan_order;
mod plan_rhythms;
mod plan_rules;
mod task_plans;
