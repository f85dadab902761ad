//! Checks a schedule against the person's other plans and fixed events: what conflicts, how full the weeks get, and
//! where a block could move.

mod overlaps;
mod shift;
#[cfg(test)]
mod tests;

pub use overlaps::OverlapRequest;

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::calendar::{CalendarError, WorkCalendar, monday_of, plus_days};
use crate::{OtherBlock, week_capacities};
use planwright_model::{
    FixedEvent, IsoWeek, OffsetDateTime, PlanContext, Roadmap, Schedule, ScheduledBlock,
    WeekCapacity,
};

/// The severity of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// With a fixed event or a locked block.
    Hard,
    /// With a movable block of another plan.
    Soft,
    /// A day or a week over its cap.
    Overload,
}

/// Two blocks at the same time, or too much in a day or week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortfolioConflict {
    pub kind: ConflictKind,
    /// This plan's block; `None` for an overload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// The event, the other plan's block, the date or the week.
    pub with: String,
    pub start: OffsetDateTime,
    pub end: OffsetDateTime,
    /// Overlapped or excess minutes.
    pub severity_minutes: u32,
}

/// An alternative time for a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedShift {
    pub block_id: String,
    pub from: OffsetDateTime,
    pub to: OffsetDateTime,
    pub delta_minutes: i64,
    /// The conflicts it would resolve.
    pub resolves: Vec<String>,
}

/// How to resolve the conflicts of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shift", rename_all = "snake_case")]
pub enum ShiftSuggestion {
    Suggested(SuggestedShift),
    /// There is no gap that satisfies links, caps and deadline.
    NoShift {
        block_id: String,
        conflicts: Vec<String>,
    },
}

/// The result of the probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortfolioReport {
    pub conflicts: Vec<PortfolioConflict>,
    pub utilization: Vec<WeekCapacity>,
    pub shifts: Vec<ShiftSuggestion>,
}

/// A schedule and what to check it against.
#[derive(Clone, Copy, Debug)]
pub struct PortfolioProbe<'a> {
    pub schedule: &'a Schedule,
    pub context: &'a PlanContext,
    /// Provides the links for moving a block; without it only caps and the deadline apply.
    pub roadmap: Option<&'a Roadmap>,
    /// The priority weight of this plan; the block of the plan with the lower weight moves, on a tie this plan's.
    pub priority_weight: f64,
    pub others: &'a [OtherBlock],
    pub events: &'a [FixedEvent],
}

/// A stored plan of the same person, reduced to what the probe needs.
#[derive(Clone, Copy, Debug)]
pub struct StoredPlan<'a> {
    /// The session's id, used to exclude the plan being probed.
    pub session: &'a str,
    pub title: &'a str,
    pub schedule: &'a Schedule,
    pub priority_weight: f64,
}

/// Returns the blocks of other stored plans that overlap a span of time, ordered by start.
pub fn other_blocks(
    stored: &[StoredPlan<'_>],
    own_session: Option<&str>,
    from: OffsetDateTime,
    to: OffsetDateTime,
) -> Vec<OtherBlock> {
    let mut blocks: Vec<OtherBlock> = stored
        .iter()
        .filter(|plan| Some(plan.session) != own_session)
        .flat_map(|plan| {
            let within = plan.schedule.blocks.iter().filter(|b| b.start < to && b.end > from);
            within.map(|block| OtherBlock {
                plan: plan.title.to_owned(),
                priority_weight: plan.priority_weight,
                // Two plans may use the same block ids.
                block: ScheduledBlock {
                    id: format!("{}/{}", plan.session, block.id),
                    ..block.clone()
                },
            })
        })
        .collect();
    blocks.sort_by(|a, b| (a.block.start, &a.block.id).cmp(&(b.block.start, &b.block.id)));
    blocks
}

impl PortfolioProbe<'_> {
    /// Finds conflicts, fills in the weeks, and suggests shifts.
    pub fn build_report(&self) -> Result<PortfolioReport, CalendarError> {
        let monday = monday_of(self.schedule.horizon_start.local_date());
        let calendar = WorkCalendar::from_plan(&self.context.calendar, monday)?;
        let mut conflicts = self.find_overlaps();
        let shifts = self.suggest_shifts(&calendar, &conflicts);
        conflicts.extend(self.find_overloads(&calendar));
        let (start, end) = (self.schedule.horizon_start.at, self.schedule.horizon_end.at);
        let others: Vec<&OtherBlock> = self.others.iter().collect();
        let utilization =
            week_capacities(&calendar, start, end, &self.schedule.blocks, &others, self.events);
        Ok(PortfolioReport { conflicts, utilization, shifts })
    }

    fn find_overlaps(&self) -> Vec<PortfolioConflict> {
        let mut found = Vec::new();
        for block in self.schedule.blocks.iter().filter(|block| !block.is_brief_habit()) {
            for event in self.events {
                let kind = ConflictKind::Hard;
                found.extend(overlap_conflict(block, kind, &event.title, event.start, event.end));
            }
            for other in self.others.iter().filter(|other| !other.block.is_brief_habit()) {
                let locked = other.block.locked || block.locked;
                let kind = if locked { ConflictKind::Hard } else { ConflictKind::Soft };
                found.extend(overlap_conflict(
                    block,
                    kind,
                    &other.block.id,
                    other.block.start,
                    other.block.end,
                ));
            }
        }
        found
    }

    /// Finds days and weeks in which the minutes of this plan and others exceed the cap.
    fn find_overloads(&self, calendar: &WorkCalendar) -> Vec<PortfolioConflict> {
        let mut days: BTreeMap<Date, u32> = BTreeMap::new();
        let mut weeks: BTreeMap<IsoWeek, u32> = BTreeMap::new();
        for block in self.all_blocks() {
            let date = calendar.local_date(block.start.at);
            *days.entry(date).or_default() += block_minutes(block);
            *weeks.entry(IsoWeek::from_date(date)).or_default() += block_minutes(block);
        }
        let moment =
            |date: Date| OffsetDateTime::in_zone(calendar.day_start(date), calendar.zone());
        let over = |with: String, first: Date, days: i64, sum: u32, cap: u32| PortfolioConflict {
            kind: ConflictKind::Overload,
            block_id: None,
            with,
            start: moment(first),
            end: moment(plus_days(first, days)),
            severity_minutes: sum - cap,
        };
        let daily = self.context.constraints.max_daily_minutes;
        let by_day = days.into_iter().filter(|(_, sum)| *sum > daily);
        let mut found: Vec<_> =
            by_day.map(|(date, sum)| over(date.to_string(), date, 1, sum, daily)).collect();
        for (week, sum) in weeks {
            let Some(monday) = week.monday() else { continue };
            let cap = self.weekly_cap(calendar, monday);
            if sum > cap {
                found.push(over(week.to_string(), monday, 7, sum, cap));
            }
        }
        found
    }

    /// Returns the working minutes of a week, which no sum of plans can exceed.
    fn weekly_cap(&self, calendar: &WorkCalendar, monday: Date) -> u32 {
        let (from, to) = (calendar.day_start(monday), calendar.day_start(plus_days(monday, 7)));
        let busy = self
            .events
            .iter()
            .map(|event| calendar.working_between(event.start.at.max(from), event.end.at.min(to)));
        let free = calendar.working_between(from, to).saturating_sub(busy.sum());
        u32::try_from(free).unwrap_or(u32::MAX)
    }

    fn all_blocks(&self) -> impl Iterator<Item = &ScheduledBlock> {
        self.schedule.blocks.iter().chain(self.others.iter().map(|other| &other.block))
    }
}

fn block_minutes(block: &ScheduledBlock) -> u32 {
    u32::try_from(block.start.minutes_until(block.end)).unwrap_or(0)
}

fn overlap_conflict(
    block: &ScheduledBlock,
    kind: ConflictKind,
    with: &str,
    start: OffsetDateTime,
    end: OffsetDateTime,
) -> Option<PortfolioConflict> {
    let (from, to) = (block.start.max(start), block.end.min(end));
    (from < to).then(|| PortfolioConflict {
        kind,
        block_id: Some(block.id.clone()),
        with: with.to_owned(),
        start: from,
        end: to,
        severity_minutes: u32::try_from(from.minutes_until(to)).unwrap_or(0),
    })
}
