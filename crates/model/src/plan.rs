//! A plan that can be approved and run: its tasks in the author's order, and what resolving them found.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use super::{Digest, PlanCalendar, PlanNotification, TaskId, TaskNode};

/// What is approved and run. Its hash is the plan's revision hash; anything that changes it voids an approval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Plan {
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Shown on request, never parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// Capacities of shared resources.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u32>,
    /// When its work may happen; without one, time is plain minutes from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<FileCalendar>,
    /// The first failure ends the run.
    #[serde(default, skip_serializing_if = "crate::task::is_default")]
    pub fail_fast: bool,
    /// The parameters that it was read with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Those of its resources that all runs of the machine share.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub machine_pools: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify: Option<PlanNotification>,
    pub tasks: Vec<TaskNode>,
}

impl Plan {
    /// The revision hash.
    pub fn digest(&self) -> Result<Digest, serde_json::Error> {
        Digest::from_value(self)
    }
}

/// The calendar of a plan file: when work may happen, from when on and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileCalendar {
    /// A zone that is not named is that of the place where the plan is read.
    #[serde(flatten)]
    pub hours: PlanCalendar,
    /// The first day; tomorrow where the plan does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Date>,
    /// Local time in the calendar's zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DateTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon_weeks: Option<u16>,
}

impl Default for FileCalendar {
    fn default() -> Self {
        Self { hours: PlanCalendar::new(""), start: None, deadline: None, horizon_weeks: None }
    }
}

/// What the longest chain was measured in.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CriticalPathMeasure {
    Minutes,
    #[default]
    Tokens,
}

/// What resolving a plan found. Carried with the plan, so that a replay never resolves anything again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GraphFacts {
    pub root_tasks: Vec<TaskId>,
    pub execution_order: Vec<TaskId>,
    pub critical_path: Vec<TaskId>,
    pub critical_path_by: CriticalPathMeasure,
    /// Longest chain of predecessors of each task, in the order of the plan's tasks; roots have 0.
    pub depth: Vec<u32>,
    pub layers: u32,
    pub estimated_total_tokens: u64,
    /// When the tasks start that wait for their scheduled time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scheduled_starts: BTreeMap<TaskId, Timestamp>,
    /// The time zone of dates and hours where the plan's calendar names none, as an IANA id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub time_zone: String,
}

/// A change that normalisation made to what was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NormalizationChange {
    pub code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub detail: String,
}
