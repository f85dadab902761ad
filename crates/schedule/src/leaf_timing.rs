//! Earliest and latest times, slack and the critical path of a roadmap, ignoring capacity.

use std::collections::HashSet;

use jiff::Timestamp;

use super::horizon::Horizon;
use super::network::{NetworkBuilder, NetworkChanges};
use super::passes::{NetworkTiming, PassClock};
use super::{ScheduleError, ScheduleRequest};
use crate::calendar::{WorkCalendar, WorkHours, WorkSpan};
use planwright_model::{PlanContext, Roadmap, TaskId};

/// When a leaf could run if only links constrained it, in working minutes from the horizon start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafTiming {
    pub id: TaskId,
    pub earliest: WorkSpan,
    pub latest: WorkSpan,
    pub slack_minutes: u64,
    /// Whether it is on the chain that determines the finish.
    pub critical: bool,
}

/// Returns the times of all leaves on the calendar of the plan. A recurring leaf is represented by its first
/// occurrence.
pub fn leaf_timings(
    roadmap: &Roadmap,
    context: &PlanContext,
) -> Result<Vec<LeafTiming>, ScheduleError> {
    let request = ScheduleRequest::new(roadmap, context);
    let (horizon, calendar) = Horizon::new(&request, 0)?;
    let until = horizon.limit;
    let axis = super::axis::WorkAxis::new(
        &calendar,
        until,
        &planwright_model::WeeklyHours::new(),
        &std::collections::BTreeSet::default(),
    );
    Ok(compute_timings(&request, &calendar, horizon.recur_until, PassClock::Working(&axis)).0)
}

/// Returns the longest chain of leaves by minutes, including lags, first leaf first. Recurrence is ignored.
pub fn critical_path(roadmap: &Roadmap) -> Vec<TaskId> {
    let mut once = roadmap.clone();
    once.nodes.iter_mut().for_each(|node| node.recurrence = None);
    let start = jiff::civil::date(2000, 1, 3);
    let context = PlanContext::new("", start, "UTC");
    let request = ScheduleRequest::new(&once, &context);
    let Ok(calendar) = WorkCalendar::new(WorkHours::office_hours("UTC"), Timestamp::UNIX_EPOCH)
    else {
        return Vec::new();
    };
    compute_timings(&request, &calendar, start, PassClock::Plain).1
}

fn compute_timings(
    request: &ScheduleRequest<'_>,
    calendar: &WorkCalendar,
    until: jiff::civil::Date,
    clock: PassClock<'_>,
) -> (Vec<LeafTiming>, Vec<TaskId>) {
    let changes = NetworkChanges::default();
    let network = NetworkBuilder::new(request, calendar, &changes, until).build();
    let timing = NetworkTiming::new(&network, clock);
    let id = |item: usize| request.roadmap.nodes.get(network.items[item].node).map(|node| &node.id);
    let mut path: Vec<TaskId> =
        timing.critical.iter().filter_map(|&item| id(item)).cloned().collect();
    path.dedup();
    let critical: HashSet<usize> = timing.critical.iter().copied().collect();
    let first = (0..network.items.len())
        .filter(|&item| network.items[item].occurrence.is_none_or(|at| at == 1));
    let leaves = first.filter_map(|item| {
        Some(LeafTiming {
            id: id(item)?.clone(),
            earliest: timing.earliest[item],
            latest: timing.latest[item],
            slack_minutes: timing.slack(item),
            critical: critical.contains(&item),
        })
    });
    (leaves.collect(), path)
}
