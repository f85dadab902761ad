//! Catching up: what would happen to the late tasks of a plan in each of three ways. Pure, so that every way can be shown
//! before one is applied.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;

use super::open_work::{OpenWorkRequest, busiest_week_minutes, replan_open_work};
use super::uniform_shift::shift_open_work;
use planwright_model::catch_up::{CatchUpWay, OpenWork, TaskOccurrence};
use planwright_model::{
    FixedEvent, LinkKind, NodeDependency, NodeTree, OffsetDateTime, PlanContext, Roadmap, Schedule,
    ScheduledBlock, TaskId,
};
use planwright_text::units::format_counted;

/// The most rounds in which blocks that the person put somewhere are let go because a link would break.
const RELEASE_ROUNDS: usize = 8;

/// A plan that is late, and the moment from which on it is planned again.
#[derive(Clone, Copy, Debug)]
pub struct CatchUpRequest<'a> {
    pub roadmap: &'a Roadmap,
    pub context: &'a PlanContext,
    pub schedule: &'a Schedule,
    pub work: &'a OpenWork,
    /// Late tasks that stay as they are.
    pub left_out: &'a BTreeSet<TaskOccurrence>,
    /// Time that is taken, by other plans of the person for example.
    pub busy: &'a [FixedEvent],
    pub now: Timestamp,
}

/// What happens to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatchUpFate {
    /// It gets a new time; the first block of it.
    Moved {
        to: OffsetDateTime,
    },
    Skipped,
    /// It has no free time before the end of the plan.
    FitsNowhere,
}

/// A task whose time changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatchUpRow {
    pub task: TaskId,
    pub occurrence: Option<u32>,
    pub title: String,
    /// When it was planned: its first block.
    pub from: OffsetDateTime,
    pub fate: CatchUpFate,
    /// Whether it is late; otherwise it only moves along.
    pub late: bool,
}

/// What one way of catching up leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct CatchUpPreview {
    pub way: CatchUpWay,
    pub schedule: Schedule,
    /// Late tasks first, then those that move along, each by its old time.
    pub rows: Vec<CatchUpRow>,
    /// When the next open task starts.
    pub next: Option<OffsetDateTime>,
    /// When the plan ends, and when it ended before.
    pub end: Option<OffsetDateTime>,
    pub end_before: Option<OffsetDateTime>,
    /// The most work in one week from now on.
    pub busiest_week_minutes: u32,
    /// By how many days everything open moves, where it all moves alike.
    pub shift_days: Option<u32>,
    /// Days between the last day that the person gave and the end, if it ends after it.
    pub days_late: u32,
}

impl CatchUpPreview {
    /// By how many days the plan ends later than before.
    pub fn days_later(&self) -> i32 {
        let (Some(before), Some(after)) = (self.end_before, self.end) else { return 0 };
        day_difference(before.local_date(), after.local_date())
    }

    /// Says by how much the plan misses the day that was given, if it does: `This ends 6 days after the day you gave`.
    pub fn describe_lateness(&self) -> Option<String> {
        let days = format_counted(self.days_late as usize, "day");
        (self.days_late > 0).then(|| format!("This ends {days} after the day you gave"))
    }

    /// Late tasks that are skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &CatchUpRow> {
        self.rows.iter().filter(|row| row.fate == CatchUpFate::Skipped)
    }

    /// Tasks that have no free time before the end.
    pub fn unplaced(&self) -> impl Iterator<Item = &CatchUpRow> {
        self.rows.iter().filter(|row| row.fate == CatchUpFate::FitsNowhere)
    }
}

fn day_difference(from: Date, to: Date) -> i32 {
    from.until(to).map_or(0, |span| span.get_days())
}

/// The ways that make sense for a plan: three for one that is late, and planning it again for one that is not, after
/// tasks were done early, moved, skipped or added.
pub fn offered_ways(
    request: &CatchUpRequest<'_>,
) -> Vec<(CatchUpWay, Result<CatchUpPreview, String>)> {
    let preview = |way: CatchUpWay| (way, preview_catch_up(request, way));
    if request.work.late.is_empty() {
        return vec![preview(CatchUpWay::Replan)];
    }
    let push = preview(CatchUpWay::PushBack);
    // Where nothing can move alike, everything open is planned again.
    let push = if push.1.is_ok() { push } else { preview(CatchUpWay::Replan) };
    let mut ways = vec![preview(CatchUpWay::MoveLate), preview(CatchUpWay::SkipLate), push];
    // A way that keeps the day is offered before one that does not.
    ways.sort_by_key(|(_, preview)| preview.as_ref().map_or(u32::MAX, |preview| preview.days_late));
    ways
}

/// Computes what a way of catching up leads to. `Err` says why nothing can be planned.
pub fn preview_catch_up(
    request: &CatchUpRequest<'_>,
    way: CatchUpWay,
) -> Result<CatchUpPreview, String> {
    let mut work = request.work.clone();
    work.late.retain(|late| !request.left_out.contains(late));
    let (schedule, shift_days) = match way {
        CatchUpWay::SkipLate => (request.schedule.clone(), None),
        CatchUpWay::MoveLate => (move_late(request, &work)?, None),
        CatchUpWay::Replan => (replan_all(request, &work)?, None),
        CatchUpWay::PushBack => match shift_open_work(request, &work) {
            Some((schedule, days)) => (schedule, Some(days)),
            None => {
                return Err("no number of days fits everything; plan it again instead".to_owned());
            }
        },
    };
    let mut after = work.clone();
    if way == CatchUpWay::SkipLate {
        for late in &work.late {
            match late.occurrence {
                Some(_) => after.settled_times.insert(late.clone()),
                None => after.settled_tasks.insert(late.task.clone()),
            };
        }
    }
    let open: Vec<ScheduledBlock> = schedule
        .blocks
        .iter()
        .filter(|block| !after.is_settled(&block.plan_node_id, block.occurrence))
        .cloned()
        .collect();
    let next =
        open.iter().filter(|block| block.end.at > request.now).map(|block| block.start).min();
    let end = open.iter().map(|block| block.end).max();
    let last_day = request.context.stated_last_day();
    let days_late = last_day
        .zip(end)
        .map_or(0, |(last_day, end)| day_difference(last_day, end.local_date()).max(0));
    Ok(CatchUpPreview {
        way,
        rows: changed_rows(request, &work, way, &schedule),
        next,
        end,
        end_before: request.schedule.blocks.iter().map(|block| block.end).max(),
        busiest_week_minutes: busiest_week_minutes(&open, request.now),
        shift_days,
        days_late: u32::try_from(days_late).unwrap_or(0),
        schedule,
    })
}

fn open_work_request<'a>(
    request: &CatchUpRequest<'a>,
    context: &'a PlanContext,
    work: &'a OpenWork,
) -> OpenWorkRequest<'a> {
    OpenWorkRequest {
        roadmap: request.roadmap,
        context,
        schedule: request.schedule,
        work,
        events: request.busy,
        others: &[],
        now: request.now,
        seed: 0,
    }
}

/// Late work goes to the next free time, within the hours of each week. What does not depend on it keeps its time; what does moves only if it has to.
fn move_late(request: &CatchUpRequest<'_>, work: &OpenWork) -> Result<Schedule, String> {
    let mut released: BTreeSet<TaskId> = BTreeSet::new();
    for _ in 0..RELEASE_ROUNDS {
        let stays = |block: &ScheduledBlock| !released.contains(&block.plan_node_id);
        let schedule = replan_open_work(&open_work_request(request, request.context, work), &stays)
            .map_err(|error| error.to_string())?;
        let early = tasks_too_early(request, work, &schedule, &released);
        if early.is_empty() {
            return Ok(schedule);
        }
        released.extend(early);
    }
    // Blocks that stay where they are and links that hold go together no further.
    replan_open_work(&open_work_request(request, request.context, work), &|_| false)
        .map_err(|error| error.to_string())
}

/// Everything that is not done is planned again from now on: before the deadline if it fits, else without regard to it.
fn replan_all(request: &CatchUpRequest<'_>, work: &OpenWork) -> Result<Schedule, String> {
    let in_time = replan_open_work(&open_work_request(request, request.context, work), &|_| false);
    if let Ok(schedule) = in_time
        && schedule.unplaced.is_empty()
    {
        return Ok(schedule);
    }
    let mut context = request.context.clone();
    let limits = &mut context.constraints;
    let weeks = |from: Date, to: Date| u16::try_from(day_difference(from, to).max(0) / 7 + 1).ok();
    let last = request.schedule.blocks.iter().map(|block| block.end.local_date()).max();
    // Twice the time that the plan had, so that it is never the limit.
    let span = last.and_then(|last| weeks(limits.start, last)).unwrap_or(8);
    let passed = weeks(limits.start, request.now.to_zoned(jiff::tz::TimeZone::UTC).date());
    limits.deadline = None;
    limits.horizon_weeks = Some(span.saturating_mul(2).saturating_add(passed.unwrap_or(0)));
    replan_open_work(&open_work_request(request, &context, work), &|_| false)
        .map_err(|error| error.to_string())
}

/// Returns tasks with a block before what they wait for ends.
pub(crate) fn tasks_too_early(
    request: &CatchUpRequest<'_>,
    work: &OpenWork,
    schedule: &Schedule,
    released: &BTreeSet<TaskId>,
) -> BTreeSet<TaskId> {
    let tree = NodeTree::new(&request.roadmap.nodes);
    let spans = task_spans(schedule, work, request.now);
    let leaves = |id: &TaskId| -> Vec<TaskId> {
        if tree.is_leaf(id) {
            return vec![id.clone()];
        }
        tree.leaves(id).iter().map(|leaf| leaf.id.clone()).collect()
    };
    let breaks = |link: &NodeDependency| -> Vec<TaskId> {
        let (after_finish, binds_start) = match link.kind {
            LinkKind::FS => (true, true),
            LinkKind::SS => (false, true),
            LinkKind::FF => (true, false),
            LinkKind::SF => (false, false),
        };
        let first = leaves(&link.from);
        let edges = first.iter().filter_map(|id| spans.get(id));
        let latest = edges.map(|span| if after_finish { span.1 } else { span.0 }).max();
        let Some(latest) = latest else { return Vec::new() };
        let latest = latest.plus_minutes(link.lag_minutes.max(0).into());
        let early = |id: &TaskId| {
            spans.get(id).is_some_and(|span| latest > if binds_start { span.0 } else { span.1 })
        };
        leaves(&link.to).into_iter().filter(early).collect()
    };
    let found = request.roadmap.dependencies.iter().flat_map(breaks);
    found.filter(|id| !released.contains(id)).collect()
}

/// Returns start and end of the open blocks of each task.
fn task_spans(
    schedule: &Schedule,
    work: &OpenWork,
    now: Timestamp,
) -> BTreeMap<TaskId, (OffsetDateTime, OffsetDateTime)> {
    let mut spans: BTreeMap<TaskId, (OffsetDateTime, OffsetDateTime)> = BTreeMap::new();
    let open = |block: &&ScheduledBlock| {
        block.occurrence.is_none()
            && block.end.at > now
            && !work.settled_tasks.contains(&block.plan_node_id)
    };
    for block in schedule.blocks.iter().filter(open) {
        let span = spans.entry(block.plan_node_id.clone()).or_insert((block.start, block.end));
        *span = (span.0.min(block.start), span.1.max(block.end));
    }
    spans
}

fn changed_rows(
    request: &CatchUpRequest<'_>,
    work: &OpenWork,
    way: CatchUpWay,
    schedule: &Schedule,
) -> Vec<CatchUpRow> {
    let mut seen: BTreeSet<TaskOccurrence> = BTreeSet::new();
    let mut rows = Vec::new();
    for block in &request.schedule.blocks {
        let key = TaskOccurrence::new(block.plan_node_id.clone(), block.occurrence);
        if work.is_settled(&key.task, key.occurrence) || !seen.insert(key.clone()) {
            continue;
        }
        let late = work.late.contains(&key);
        let own = |other: &&ScheduledBlock| {
            other.plan_node_id == key.task && other.occurrence == key.occurrence
        };
        let open = |other: &&ScheduledBlock| own(other) && (late || other.end.at > request.now);
        let old: Vec<OffsetDateTime> =
            request.schedule.blocks.iter().filter(open).map(|block| block.start).collect();
        let new: Vec<OffsetDateTime> =
            schedule.blocks.iter().filter(open).map(|block| block.start).collect();
        let fate = match (late, way) {
            (true, CatchUpWay::SkipLate) => CatchUpFate::Skipped,
            _ if old == new => continue,
            _ => new.first().map_or(CatchUpFate::FitsNowhere, |to| CatchUpFate::Moved { to: *to }),
        };
        let from = old.first().copied().unwrap_or(block.start);
        let (task, occurrence, title) = (key.task, key.occurrence, block.title.clone());
        rows.push(CatchUpRow { task, occurrence, title, from, fate, late });
    }
    rows.sort_by_key(|row| (!row.late, row.from));
    rows
}
