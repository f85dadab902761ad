//! Pushing a plan back: every open block moves by the same number of days, so that the rhythm of the plan stays.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::catch_up::{CatchUpRequest, tasks_too_early};
use super::open_work::{next_start, waiting_tasks};
use crate::calendar::{WorkCalendar, monday_of, plus_days, resolve_local};
use planwright_model::catch_up::{OpenWork, TaskOccurrence};
use planwright_model::{NodeTree, OffsetDateTime, Schedule, ScheduledBlock, TaskId};

/// The most days that are tried beyond the fewest that would do: with weekly hours a whole week always comes by.
const MOST_DAYS: i64 = 56;
/// The longest time that a plan can have been left alone: ten years.
const MOST_SHIFT_DAYS: i64 = 3_660;

/// Returns the schedule with everything open later by the fewest whole days that fit, and how many those are. `None` if
/// no number does, or if a task repeats and its times would leave their rule.
pub(crate) fn shift_open_work(
    request: &CatchUpRequest<'_>,
    work: &OpenWork,
) -> Option<(Schedule, u32)> {
    if work.late.iter().any(|late| late.occurrence.is_some()) {
        return None;
    }
    let shift = ShiftRoom::new(request, work)?;
    let first = shift.moving.iter().map(|at| request.schedule.blocks[*at].start.at).min()?;
    let from = next_start(request.now);
    let fewest = (1..=MOST_SHIFT_DAYS).find(|days| shift.moved_moment(first, *days) >= from)?;
    let mut days = fewest..=fewest + MOST_DAYS;
    days.find_map(|days| Some((shift.schedule_after(days)?, u32::try_from(days).ok()?)))
}

/// What moves, and around what.
struct ShiftRoom<'a> {
    request: &'a CatchUpRequest<'a>,
    work: &'a OpenWork,
    zone: TimeZone,
    calendar: WorkCalendar,
    /// The blocks that move, by their place in the schedule.
    moving: Vec<usize>,
    /// Time that is taken by what stays and by other plans.
    taken: Vec<(Timestamp, Timestamp)>,
}

impl<'a> ShiftRoom<'a> {
    fn new(request: &'a CatchUpRequest<'a>, work: &'a OpenWork) -> Option<Self> {
        let first_day = request.context.constraints.start;
        let calendar = WorkCalendar::from_plan(&request.context.calendar, first_day).ok()?;
        let tree = NodeTree::new(&request.roadmap.nodes);
        let waiting = waiting_tasks(request.roadmap, work);
        let fixed = |id: &TaskId| {
            tree.get(id).is_some_and(|node| node.fixed_start.is_some() || node.fixed_end.is_some())
        };
        let moves = |block: &ScheduledBlock| {
            let (task, occurrence) = (&block.plan_node_id, block.occurrence);
            let out = request.left_out.contains(&TaskOccurrence::new(task.clone(), occurrence));
            let open = work.is_late(task, occurrence)
                || block.end.at > request.now
                || waiting.contains(task);
            open && !out
                && occurrence.is_none()
                && !fixed(task)
                && !work.is_settled(task, occurrence)
        };
        let blocks = &request.schedule.blocks;
        let moving: Vec<usize> = (0..blocks.len()).filter(|at| moves(&blocks[*at])).collect();
        let own = blocks.iter().enumerate().filter(|(at, block)| {
            !moving.contains(at) && !work.is_settled(&block.plan_node_id, block.occurrence)
        });
        let mut taken: Vec<(Timestamp, Timestamp)> =
            own.map(|(_, block)| (block.start.at, block.end.at)).collect();
        taken.extend(request.busy.iter().map(|event| (event.start.at, event.end.at)));
        let zone = calendar.zone().clone();
        Some(Self { request, work, zone, calendar, moving, taken })
    }

    /// The same time of day, so many days later.
    fn moved_moment(&self, at: Timestamp, days: i64) -> Timestamp {
        let local = self.zone.to_datetime(at);
        resolve_local(plus_days(local.date(), days).to_datetime(local.time()), &self.zone)
    }

    /// The whole schedule after a shift, if every block of it is possible there.
    fn schedule_after(&self, days: i64) -> Option<Schedule> {
        let mut schedule = self.request.schedule.clone();
        for at in &self.moving {
            let block = &mut schedule.blocks[*at];
            let (start, end) =
                (self.moved_moment(block.start.at, days), self.moved_moment(block.end.at, days));
            // What a person put outside their hours stays outside.
            let kept_hours = self.is_working(block.start.at, block.end.at);
            if kept_hours && !self.is_working(start, end) || self.is_taken(start, end) {
                return None;
            }
            block.start = OffsetDateTime::in_zone(start, &self.zone);
            block.end = OffsetDateTime::in_zone(end, &self.zone);
        }
        let holds = self.keeps_weekly_hours(&schedule)
            && self.keeps_due_dates(&schedule)
            && self.keeps_links(&schedule);
        if !holds {
            return None;
        }
        let last = schedule.blocks.iter().map(|block| block.end).max();
        schedule.horizon_end = schedule.horizon_end.max(last.unwrap_or(schedule.horizon_end));
        schedule.sort_blocks();
        Some(schedule)
    }

    /// Whether a block lies in working hours.
    fn is_working(&self, start: Timestamp, end: Timestamp) -> bool {
        let minutes = end.duration_since(start).as_mins();
        let works = self.calendar.working_between(start, end);
        i64::try_from(works).is_ok_and(|works| works >= minutes)
    }

    fn is_taken(&self, start: Timestamp, end: Timestamp) -> bool {
        self.taken.iter().any(|span| span.0 < end && start < span.1)
    }

    /// Whether nothing that stays begins before what moves is done. What moves keeps its order.
    fn keeps_links(&self, schedule: &Schedule) -> bool {
        let blocks = &self.request.schedule.blocks;
        let moves = |id: &TaskId| self.moving.iter().any(|at| blocks[*at].plan_node_id == *id);
        tasks_too_early(self.request, self.work, schedule, &[].into()).iter().all(moves)
    }

    /// Whether no week holds more work than the plan allows, unless it did before.
    fn keeps_weekly_hours(&self, schedule: &Schedule) -> bool {
        let Some(most) = self.request.context.constraints.weekly_minutes else { return true };
        let (before, after) =
            (self.minutes_by_week(self.request.schedule), self.minutes_by_week(schedule));
        after
            .iter()
            .all(|(week, minutes)| *minutes <= most.max(before.get(week).copied().unwrap_or(0)))
    }

    fn minutes_by_week(&self, schedule: &Schedule) -> BTreeMap<Date, u32> {
        let mut weeks = BTreeMap::new();
        for block in &schedule.blocks {
            let week = monday_of(self.calendar.local_date(block.start.at));
            *weeks.entry(week).or_default() += block.estimated_minutes;
        }
        weeks
    }

    fn keeps_due_dates(&self, schedule: &Schedule) -> bool {
        let tree = NodeTree::new(&self.request.roadmap.nodes);
        self.moving.iter().all(|at| {
            let id = &self.request.schedule.blocks[*at].plan_node_id;
            let due =
                tree.get(id).and_then(|node| super::hand_set::effective_dates(node, &tree).due);
            let Some(due) = due else { return true };
            let last = resolve_local(due.last_minute(), &self.zone);
            schedule.blocks_for_node(id).all(|block| block.end.at <= last)
        })
    }
}
