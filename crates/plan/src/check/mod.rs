//! Checks a plan file for `planwright check`: all violations at once, and the resolved graph.
//!
//! The report serializes the way the command prints it. The available tools are an argument, so that the result does
//! not depend on the machine.

mod render;
mod rules;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use rules::{fill_estimates, find_oversized_tasks};

use super::graph::resolve_graph;
use super::plan_file::{self, PlanFileFormat, PlanFileInputs};
use crate::plan_file_schedule::{LocalContext, schedule_plan_file};
use planwright_model::{
    CriticalPathMeasure, NormalizationChange, OffsetDateTime, Plan, Severity, TaskId, Violation,
};
use planwright_schedule::ScheduleError;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Whether all violations are warnings.
    pub valid: bool,
    pub violations: Vec<Violation>,
    pub normalization: Vec<NormalizationChange>,
    pub root_tasks: Vec<TaskId>,
    /// Empty if there is a cycle.
    pub execution_order: Vec<TaskId>,
    pub critical_path: Vec<TaskId>,
    pub critical_path_by: CriticalPathMeasure,
    pub estimated_total_tokens: u64,
    pub layers: u32,
    /// Only if tasks have durations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleReport>,
    /// The plan as far as it could be read, with missing estimates filled in.
    #[serde(skip)]
    pub plan: Plan,
    /// Line and column of the calendar.
    #[serde(skip)]
    calendar_place: Option<(u32, u32)>,
}

/// When every task runs, in minutes from the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleReport {
    pub makespan_minutes: u64,
    pub lower_bound_minutes: u64,
    /// The zone of the instants, if the plan has a calendar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    pub blocks: Vec<BlockReport>,
}

/// When one task runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockReport {
    pub task: TaskId,
    pub start: u64,
    pub finish: u64,
    /// The start as an instant, if the plan has a calendar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<OffsetDateTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_at: Option<OffsetDateTime>,
}

impl CheckReport {
    /// Schedules a valid plan, and compares its effort with its calendar.
    pub fn add_schedule(&mut self, local: &LocalContext) -> Result<(), ScheduleError> {
        if self.valid {
            self.schedule = schedule_plan_file(&self.plan, local)?;
            self.violations.extend(rules::check_dates(&self.plan, self.schedule.as_ref()));
            self.violations.extend(rules::check_total_effort(
                &self.plan,
                local,
                self.calendar_place,
            ));
        }
        Ok(())
    }
}

/// Checks the text of a plan file, with the built-in task types.
pub fn check_plan_text(
    text: &str,
    format: PlanFileFormat,
    name: &str,
    available: impl Fn(&str) -> bool,
) -> CheckReport {
    check_with_inputs(text, format, name, &PlanFileInputs::default(), available)
}

/// Checks the text of a plan file with the values that were given for it.
pub fn check_with_inputs(
    text: &str,
    format: PlanFileFormat,
    name: &str,
    inputs: &PlanFileInputs<'_>,
    available: impl Fn(&str) -> bool,
) -> CheckReport {
    let mut decoded = plan_file::decode_plan_file(text, format, name, inputs);
    rules::apply_duration_rules(&mut decoded);
    let plan = decoded.plan;
    let facts = match resolve_graph(&plan.tasks, available) {
        Ok(resolved) => resolved.to_facts(&plan.tasks),
        Err(_) => planwright_model::GraphFacts {
            estimated_total_tokens: plan
                .tasks
                .iter()
                .fold(0, |sum, task| sum.saturating_add(task.estimated_tokens)),
            ..Default::default()
        },
    };
    let mut violations = decoded.violations;
    violations.sort_by_key(|violation| (violation.line, violation.column));
    CheckReport {
        valid: violations.iter().all(|violation| violation.severity == Severity::Warning),
        violations,
        normalization: decoded.normalization,
        root_tasks: facts.root_tasks,
        execution_order: facts.execution_order,
        critical_path: facts.critical_path,
        critical_path_by: facts.critical_path_by,
        estimated_total_tokens: facts.estimated_total_tokens,
        layers: facts.layers,
        schedule: None,
        plan,
        calendar_place: decoded.calendar_place,
    }
}
