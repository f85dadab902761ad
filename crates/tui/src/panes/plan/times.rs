//! When each row is planned: by the schedule where there is one, else by the links and estimates alone.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use super::rows::PlanTreeRows;
use planwright_model::{
    CriticalPathMeasure, GraphFacts, Plan, PlanContext, Roadmap, Schedule, TaskId,
};
use planwright_plan::graph::resolve_graph;
use planwright_schedule::leaf_timings;

const MINUTES_A_WEEK: u64 = 7 * 24 * 60;

/// A stretch of time, the end not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedSpan {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

/// When one row is planned.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlannedRow {
    /// The blocks it is worked on, in order.
    pub(crate) blocks: Vec<PlannedSpan>,
    pub(crate) critical: bool,
    /// How much later it may end without moving the end of the plan, in minutes.
    pub(crate) slack: Option<u64>,
    /// Where that slack ends on the clock.
    pub(crate) until: Option<Timestamp>,
    pub(crate) locked: bool,
}

impl PlannedRow {
    pub(crate) fn start(&self) -> Option<Timestamp> {
        self.blocks.iter().map(|block| block.start).min()
    }

    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.blocks.iter().map(|block| block.end).max()
    }

    /// Where the slack ends, if there is any.
    pub(crate) fn slack_end(&self) -> Option<Timestamp> {
        self.until.filter(|until| Some(*until) > self.end())
    }
}

/// What the lengths of bars mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BarMeasure {
    /// Blocks of a schedule.
    Schedule,
    /// Estimates in minutes.
    Minutes,
    /// Nobody said how long anything takes: one minute for each layer, to show the order.
    #[default]
    Layers,
}

/// Earliest start, length and slack of each task in minutes, worked out once for each revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChartOffsets {
    pub(crate) measure: BarMeasure,
    tasks: Vec<TaskOffset>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TaskOffset {
    start: u64,
    length: u64,
    slack: u64,
    critical: bool,
}

impl ChartOffsets {
    pub(crate) fn from_plan(plan: &Plan, facts: &GraphFacts) -> Self {
        let path: HashSet<&TaskId> = facts.critical_path.iter().collect();
        let on_path = |index: usize| path.contains(&plan.tasks[index].id);
        match resolve_graph(&plan.tasks, |_| true) {
            Ok(resolved) if resolved.critical_path_by == CriticalPathMeasure::Minutes => {
                let task = |index: usize| TaskOffset {
                    start: resolved.earliest_start(index as u32),
                    length: plan.tasks[index].duration_minutes.unwrap_or(0).into(),
                    slack: resolved.slack(index as u32),
                    critical: resolved.slack(index as u32) == 0,
                };
                Self {
                    measure: BarMeasure::Minutes,
                    tasks: (0..plan.tasks.len()).map(task).collect(),
                }
            }
            _ => {
                let depth = |index: usize| facts.depth.get(index).copied().unwrap_or(0).into();
                let task = |index: usize| TaskOffset {
                    start: depth(index),
                    length: 1,
                    slack: 0,
                    critical: on_path(index),
                };
                Self {
                    measure: BarMeasure::Layers,
                    tasks: (0..plan.tasks.len()).map(task).collect(),
                }
            }
        }
    }

    /// Slack of a task in minutes; `None` where nothing was measured in minutes.
    pub(crate) fn task_slack(&self, task: usize) -> Option<u64> {
        let found = self.tasks.get(task)?;
        (self.measure == BarMeasure::Minutes).then_some(found.slack)
    }

    /// The plan from `start` on, each row where its links put it. Containers span what is below them.
    pub(crate) fn planned_rows(&self, rows: &PlanTreeRows, start: Timestamp) -> Vec<PlannedRow> {
        let planned = |task: usize| {
            let Some(found) = self.tasks.get(task) else { return PlannedRow::default() };
            let begin = add_minutes(start, found.start);
            let end = add_minutes(begin, found.length);
            PlannedRow {
                blocks: vec![PlannedSpan { start: begin, end }],
                until: self.task_slack(task).map(|slack| add_minutes(end, slack)),
                critical: found.critical,
                slack: self.task_slack(task),
                locked: false,
            }
        };
        let leaves = rows.all.iter().map(|row| row.task.map(planned).unwrap_or_default());
        span_containers(rows, leaves.collect())
    }
}

/// The blocks of a schedule by row, with the slack that the links leave.
pub(crate) fn scheduled_rows(
    rows: &PlanTreeRows,
    schedule: &Schedule,
    roadmap: &Roadmap,
    context: &PlanContext,
) -> Vec<PlannedRow> {
    let mut planned = vec![PlannedRow::default(); rows.all.len()];
    for block in &schedule.blocks {
        if let Some(row) = rows.position(&block.plan_node_id) {
            let stretch = PlannedSpan { start: block.start.at, end: block.end.at };
            planned[row].blocks.push(stretch);
            planned[row].locked |= block.locked;
        }
    }
    // Slack counts working minutes; on the chart it covers the days in which they are worked.
    let stretch = MINUTES_A_WEEK / u64::from(context.calendar.weekly_minutes().max(1));
    // A roadmap whose links make no order has no slack to show; its card says what is wrong with it.
    for timing in leaf_timings(roadmap, context).unwrap_or_default() {
        let Some(row) = rows.position(&timing.id) else { continue };
        let found = &mut planned[row];
        found.critical = timing.critical;
        found.slack = Some(timing.slack_minutes);
        let minutes = timing.slack_minutes.saturating_mul(stretch.max(1));
        found.until = found.end().map(|end| add_minutes(end, minutes));
    }
    place_milestones(rows, roadmap, &mut planned);
    span_containers(rows, planned)
}

/// Rows of a plan file with the times of its calendar in the place of those that its links alone lead to.
pub(crate) fn dated_rows(
    rows: &PlanTreeRows,
    mut planned: Vec<PlannedRow>,
    times: &HashMap<TaskId, (Timestamp, Timestamp)>,
) -> Vec<PlannedRow> {
    for (row, found) in rows.all.iter().zip(&mut planned) {
        let time = times.get(&row.id);
        found.blocks = time.map(|&(start, end)| PlannedSpan { start, end }).into_iter().collect();
        found.until = None;
    }
    span_containers(rows, planned)
}

/// A milestone takes no time and has no block: it stands where the last thing it waits for ends.
fn place_milestones(rows: &PlanTreeRows, roadmap: &Roadmap, planned: &mut [PlannedRow]) {
    for (row, found) in rows.all.iter().enumerate() {
        if !found.milestone || !planned[row].blocks.is_empty() {
            continue;
        }
        let before = roadmap.dependencies.iter().filter(|link| link.to == found.id);
        let ends = before.filter_map(|link| last_end(rows, planned, rows.position(&link.from)?));
        // Without a link it closes what stands above it in its phase, or the plan.
        let above = || {
            let first = found.parent.map_or(0, |parent| parent + 1);
            (first..row).filter_map(|above| planned[above].end()).max()
        };
        // What opens a phase stands where the work after it begins.
        let after = || {
            let links = roadmap.dependencies.iter().filter(|link| link.from == found.id);
            let rest = found.parent.map_or(row..row, |parent| row..rows.all[parent].end);
            let next = links.filter_map(|link| rows.position(&link.to));
            let starts = next.chain(rest).filter_map(|next| planned[next].start());
            starts.min()
        };
        if let Some(at) = ends.max().or_else(above).or_else(after) {
            planned[row].blocks = vec![PlannedSpan { start: at, end: at }];
        }
    }
}

/// When a row ends; of a container, the last thing below it.
fn last_end(rows: &PlanTreeRows, planned: &[PlannedRow], row: usize) -> Option<Timestamp> {
    planned[row..rows.all[row].end.max(row + 1)].iter().filter_map(PlannedRow::end).max()
}

/// Gives every container the span of what is below it.
fn span_containers(rows: &PlanTreeRows, mut planned: Vec<PlannedRow>) -> Vec<PlannedRow> {
    for row in (0..rows.all.len()).rev() {
        if !rows.is_group(row) {
            continue;
        }
        let below = &planned[row + 1..rows.all[row].end];
        let start = below.iter().filter_map(PlannedRow::start).min();
        let end = below.iter().filter_map(PlannedRow::end).max();
        if let (Some(start), Some(end)) = (start, end) {
            planned[row].blocks = vec![PlannedSpan { start, end }];
        }
    }
    planned
}

fn add_minutes(at: Timestamp, minutes: u64) -> Timestamp {
    let seconds = i64::try_from(minutes).unwrap_or(i64::MAX).saturating_mul(60);
    at.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{facts, release_plan};

    fn start() -> Timestamp {
        "2026-06-08T14:00:00Z".parse().unwrap()
    }

    fn planned(id: &str) -> PlannedRow {
        let plan = release_plan();
        let facts = facts(&plan);
        let rows = PlanTreeRows::from_plan(&plan, &facts.execution_order);
        let offsets = ChartOffsets::from_plan(&plan, &facts);
        assert_eq!(offsets.measure, BarMeasure::Minutes);
        let row = rows.position(&id.into()).unwrap();
        offsets.planned_rows(&rows, start()).swap_remove(row)
    }

    #[test]
    fn a_task_starts_when_what_it_needs_has_ended() {
        // audit 3, api 5, then port: 8 minutes after the start, 9 long.
        let port = planned("port");
        assert_eq!(port.start().unwrap(), add_minutes(start(), 8));
        assert_eq!(port.end().unwrap(), add_minutes(start(), 17));
        assert!(port.critical);
        assert_eq!(port.slack_end(), None);
    }

    #[test]
    fn slack_is_what_is_left_before_the_end_moves() {
        // The path is 24 minutes; corpus ends after 1 + 2 + 4.
        let corpus = planned("corpus");
        assert_eq!(corpus.slack, Some(17));
        assert_eq!(corpus.slack_end().unwrap(), add_minutes(start(), 24));
        assert!(!corpus.critical);
    }

    #[test]
    fn a_schedule_puts_blocks_on_their_rows_and_phases_around_them() {
        use planwright_drafting::goal_plan::{GoalRequest, plan_goal};
        let made = plan_goal(&GoalRequest {
            goal: "launch a newsletter in 6 weeks",
            today: jiff::civil::date(2026, 6, 7),
            time_zone: "Europe/Berlin",
            now: Timestamp::UNIX_EPOCH,
            library: &planwright_drafting::offline::TemplateLibrary::fixture(),
            events: &[],
        })
        .unwrap()
        .artifacts;
        let (roadmap, schedule) = (made.roadmap.clone().unwrap(), made.schedule.clone().unwrap());
        let rows = PlanTreeRows::from_outline(&roadmap.nodes, &roadmap.root_id, None);
        let planned = scheduled_rows(&rows, &schedule, &roadmap, made.context());
        let blocks: usize = (0..rows.all.len())
            .filter(|row| !rows.is_group(*row) && !rows.all[*row].milestone)
            .map(|row| planned[row].blocks.len())
            .sum();
        assert_eq!(blocks, schedule.blocks.len());
        assert!(planned.iter().any(|row| row.critical));
        let phase = (0..rows.all.len()).find(|row| rows.is_group(*row)).unwrap();
        let below = &planned[phase + 1..rows.all[phase].end];
        assert_eq!(planned[phase].start(), below.iter().filter_map(PlannedRow::start).min());
    }

    #[test]
    fn without_estimates_the_order_is_drawn_by_layer() {
        let mut plan = release_plan();
        plan.tasks.iter_mut().for_each(|task| task.duration_minutes = None);
        let facts = facts(&plan);
        let rows = PlanTreeRows::from_plan(&plan, &facts.execution_order);
        let offsets = ChartOffsets::from_plan(&plan, &facts);
        assert_eq!(offsets.measure, BarMeasure::Layers);
        assert_eq!(offsets.task_slack(0), None);
        let tests = rows.position(&"tests".into()).unwrap();
        let planned = offsets.planned_rows(&rows, start());
        assert_eq!(planned[tests].start().unwrap(), add_minutes(start(), 3));
    }
}
