//! Places a leaf again: the earliest free working time within the person's limits.
//!
//! This repairs a schedule in place; producing a good one is the scheduler's responsibility.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;

use super::super::PlanArtifacts;
use super::super::schedule::block_minutes;
use planwright_model::{IsoWeek, OffsetDateTime, PatternType, Schedule, ScheduledBlock, TaskId};
use planwright_schedule::calendar::{WorkCalendar, find_zone, resolve_local};

/// The time in which blocks may be placed.
struct FreeTimeFinder {
    calendar: WorkCalendar,
    /// Sorted spans that are occupied.
    busy: Vec<(Timestamp, Timestamp)>,
    days: BTreeMap<Date, u32>,
    weeks: BTreeMap<IsoWeek, u32>,
    daily_cap: u32,
    weekly_cap: u32,
    least: u32,
    most: u32,
    pause: i64,
    end: Timestamp,
}

/// Removes the unlocked blocks of a leaf (or of one occurrence) and places its minutes again from an instant on.
/// Changes nothing and returns false if there is no room before the horizon ends.
pub(super) fn reschedule_leaf(
    plan: &mut PlanArtifacts,
    id: &TaskId,
    occurrence: Option<u32>,
    from: Timestamp,
) -> Option<()> {
    let node = plan.roadmap.as_ref()?.find_node(id)?;
    // A date that was fixed by hand is not given up; the person decides what gives way.
    if node.fixed_start.or(node.fixed_end).is_some() {
        return None;
    }
    let zone = find_zone(&plan.context().calendar.tz).ok()?;
    let from =
        node.not_before.map_or(from, |date| from.max(resolve_local(date.first_minute(), &zone)));
    let (title, wanted) = (node.title.clone(), node.work_minutes());
    let schedule = plan.schedule.as_ref()?;
    let mine = |block: &ScheduledBlock| block.plan_node_id == *id && block.occurrence == occurrence;
    let (own, mut kept): (Vec<_>, Vec<_>) =
        schedule.blocks.iter().cloned().partition(|block| mine(block) && !block.locked);
    let locked: u32 = kept.iter().filter(|block| mine(block)).map(block_minutes).sum();
    let mut room = FreeTimeFinder::new(plan, schedule, &kept)?;
    let spans = room.find_spans(from, wanted.saturating_sub(locked))?;
    let template = own.first().or_else(|| kept.iter().find(|block| mine(block))).cloned();
    let tz = template.as_ref().map_or_else(|| schedule.tz.clone(), |block| block.tz.clone());
    for (start, end) in spans {
        let [start, end] = [start, end].map(|at| OffsetDateTime::in_zone(at, room.calendar.zone()));
        let mut block = ScheduledBlock::new(id.clone(), title.clone(), start, end, tz.clone());
        block.occurrence = occurrence;
        if let Some(template) = &template {
            (block.tags, block.notes) = (template.tags.clone(), template.notes.clone());
        }
        kept.push(block);
    }
    let schedule = plan.schedule.as_mut()?;
    schedule.blocks = kept;
    schedule.sort_blocks();
    number_blocks(schedule, id);
    recount_weeks(schedule, &room.calendar);
    Some(())
}

/// Numbers the blocks of a leaf within each occurrence, and updates their ids.
pub(super) fn number_blocks(schedule: &mut Schedule, id: &TaskId) {
    let mut next: BTreeMap<Option<u32>, u32> = BTreeMap::new();
    for block in schedule.blocks.iter_mut().filter(|block| block.plan_node_id == *id) {
        let sequence = next.entry(block.occurrence).or_default();
        *sequence += 1;
        block.sequence = *sequence;
        block.id = match block.occurrence {
            Some(occurrence) => format!("{id}#{occurrence}.{sequence}"),
            None => format!("{id}#{sequence}"),
        };
    }
}

/// Recomputes the planned minutes of each week.
pub(super) fn recount_weeks(schedule: &mut Schedule, calendar: &WorkCalendar) {
    let mut planned: BTreeMap<IsoWeek, u32> = BTreeMap::new();
    for block in &schedule.blocks {
        let week = IsoWeek::from_date(calendar.local_date(block.start.at));
        let sum = planned.entry(week).or_default();
        *sum = sum.saturating_add(block_minutes(block));
    }
    for row in &mut schedule.capacity {
        let minutes = planned.get(&row.week).copied().unwrap_or(0);
        *row = planwright_model::WeekCapacity::new(
            row.week,
            row.available_minutes,
            minutes,
            row.other_minutes,
        );
    }
}

impl FreeTimeFinder {
    fn new(plan: &PlanArtifacts, schedule: &Schedule, kept: &[ScheduledBlock]) -> Option<Self> {
        let context = plan.context();
        let calendar =
            WorkCalendar::new((&context.calendar).into(), schedule.horizon_start.at).ok()?;
        let routine = plan
            .scope()
            .pattern
            .is_some_and(|spec| spec.pattern_type == PatternType::RecurringCycle);
        let weekly = context.constraints.weekly_minutes.filter(|_| !routine);
        let mut room = Self {
            busy: Vec::new(),
            days: BTreeMap::new(),
            weeks: BTreeMap::new(),
            daily_cap: context.constraints.max_daily_minutes,
            weekly_cap: weekly.unwrap_or(u32::MAX),
            least: context.user_prefs.min_block_minutes.max(1),
            most: context
                .user_prefs
                .max_block_minutes
                .max(context.user_prefs.min_block_minutes)
                .max(1),
            pause: i64::from(context.user_prefs.break_minutes),
            end: schedule.horizon_end.at,
            calendar,
        };
        for block in kept {
            room.busy.push((block.start.at, block.end.at));
            room.book_minutes(block.start.at, block_minutes(block));
        }
        let around = &plan.surroundings;
        room.busy.extend(around.fixed_events.iter().map(|event| (event.start.at, event.end.at)));
        let locked = around.other_blocks.iter().filter(|block| block.locked);
        room.busy.extend(locked.map(|block| (block.start.at, block.end.at)));
        room.busy.retain(|(start, end)| start < end);
        room.busy.sort_unstable();
        Some(room)
    }

    fn book_minutes(&mut self, at: Timestamp, minutes: u32) {
        let date = self.calendar.local_date(at);
        let day = self.days.entry(date).or_default();
        *day = day.saturating_add(minutes);
        let week = self.weeks.entry(IsoWeek::from_date(date)).or_default();
        *week = week.saturating_add(minutes);
    }

    /// Returns what the caps still allow on the date of an instant.
    fn remaining_allowance(&self, at: Timestamp) -> u32 {
        let date = self.calendar.local_date(at);
        let day = self.days.get(&date).copied().unwrap_or(0);
        let week = self.weeks.get(&IsoWeek::from_date(date)).copied().unwrap_or(0);
        self.daily_cap.saturating_sub(day).min(self.weekly_cap.saturating_sub(week))
    }

    /// Finds spans of working time for this many minutes, from an instant on.
    fn find_spans(&mut self, from: Timestamp, minutes: u32) -> Option<Vec<(Timestamp, Timestamp)>> {
        let mut left = minutes;
        let mut spans = Vec::new();
        let low = self.calendar.working_minutes(from);
        let high = self.calendar.working_minutes(self.end);
        let pieces: Vec<_> = self.calendar.work_pieces(low, high).collect();
        for (_, start, length) in pieces {
            let end = add_minutes(start, i64::try_from(length).ok()?);
            for (gap_start, gap_end) in self.free_gaps(start, end) {
                left = self.fill_gap(gap_start, gap_end, left, &mut spans);
                if left == 0 {
                    return Some(spans);
                }
            }
        }
        (left == 0).then_some(spans)
    }

    /// Returns the free spans between two instants.
    fn free_gaps(&self, start: Timestamp, end: Timestamp) -> Vec<(Timestamp, Timestamp)> {
        let mut gaps = Vec::new();
        let mut at = start;
        for &(from, to) in self.busy.iter().filter(|(from, to)| *from < end && *to > start) {
            if from > at {
                gaps.push((at, from));
            }
            at = at.max(to);
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }

    /// Places as much as fits into a gap and returns the remainder.
    fn fill_gap(
        &mut self,
        mut at: Timestamp,
        end: Timestamp,
        mut left: u32,
        spans: &mut Vec<(Timestamp, Timestamp)>,
    ) -> u32 {
        while left > 0 {
            let gap = u32::try_from(end.duration_since(at).as_mins()).unwrap_or(0);
            let mut length = left.min(gap).min(self.most).min(self.remaining_allowance(at));
            let rest = left - length;
            // A remainder too short for a block of its own could never be placed.
            if rest > 0 && rest < self.least {
                length = left.saturating_sub(self.least).min(length);
            }
            if length < self.least.min(left) || length == 0 {
                break;
            }
            let until = add_minutes(at, i64::from(length));
            spans.push((at, until));
            self.book_minutes(at, length);
            left -= length;
            at = add_minutes(until, self.pause);
        }
        left
    }
}

/// Returns the instant some minutes later.
fn add_minutes(at: Timestamp, minutes: i64) -> Timestamp {
    OffsetDateTime::new(at, jiff::tz::Offset::UTC).plus_minutes(minutes).at
}
