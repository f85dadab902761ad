//! Checks a schedule against the person's other plans and fixed events: what collides, how full the weeks get, and where
//! a block could move.

mod shift;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::calendar::{CalendarError, WorkCalendar, monday_of, plus_days};
use crate::{OtherBlock, weeks};
use planwright_model::{
    FixedEvent, IsoWeek, Moment, PlanContext, Roadmap, Schedule, ScheduledBlock, WeekCapacity,
};

/// How bad a conflict is.
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

/// Two things at the same time, or too much in a day or week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub kind: ConflictKind,
    /// This plan's block; none for an overload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// The event, the other plan's block, the date or the week.
    pub with: String,
    pub start: Moment,
    pub end: Moment,
    /// Overlapped or excess minutes.
    pub severity_minutes: u32,
}

/// Where a block could go instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedShift {
    pub block_id: String,
    pub from: Moment,
    pub to: Moment,
    pub delta_minutes: i64,
    /// What it would no longer collide with.
    pub resolves: Vec<String>,
}

/// What to do about the conflicts of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shift", rename_all = "snake_case")]
pub enum Shift {
    Suggested(SuggestedShift),
    /// There is no gap that keeps links, caps and deadline.
    NoShift {
        block_id: String,
        conflicts: Vec<String>,
    },
}

/// What the probe found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortfolioReport {
    pub conflicts: Vec<Conflict>,
    pub utilization: Vec<WeekCapacity>,
    pub shifts: Vec<Shift>,
}

/// A schedule and what stands beside it.
#[derive(Clone, Copy, Debug)]
pub struct PortfolioProbe<'a> {
    pub schedule: &'a Schedule,
    pub context: &'a PlanContext,
    /// For links when a block moves; without it only caps and the deadline count.
    pub roadmap: Option<&'a Roadmap>,
    /// How much this plan counts; the lighter plan's block moves, on a tie this plan's.
    pub priority_weight: f64,
    pub others: &'a [OtherBlock],
    pub events: &'a [FixedEvent],
}

/// A plan of the same person that is stored, as far as the probe needs it.
#[derive(Clone, Copy, Debug)]
pub struct StoredPlan<'a> {
    /// The session's id; the plan that is being probed is left out by it.
    pub session: &'a str,
    pub title: &'a str,
    pub schedule: &'a Schedule,
    pub priority_weight: f64,
}

/// The blocks of other stored plans that reach into a span of time, in the order of their start.
pub fn other_blocks(
    stored: &[StoredPlan<'_>],
    own_session: Option<&str>,
    from: Moment,
    to: Moment,
) -> Vec<OtherBlock> {
    let mut blocks: Vec<OtherBlock> = stored
        .iter()
        .filter(|plan| Some(plan.session) != own_session)
        .flat_map(|plan| {
            let within = plan.schedule.blocks.iter().filter(|b| b.start < to && b.end > from);
            within.map(|block| OtherBlock {
                plan: plan.title.to_owned(),
                priority_weight: plan.priority_weight,
                // Two plans may use the same ids for their own blocks.
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
    /// Looks for conflicts, fills in the weeks, and suggests shifts.
    pub fn report(&self) -> Result<PortfolioReport, CalendarError> {
        let monday = monday_of(self.schedule.horizon_start.date());
        let calendar = WorkCalendar::of_plan(&self.context.calendar, monday)?;
        let mut conflicts = self.overlaps();
        let shifts = self.shifts(&calendar, &conflicts);
        conflicts.extend(self.overloads(&calendar));
        let (start, end) = (self.schedule.horizon_start.at, self.schedule.horizon_end.at);
        let others: Vec<&OtherBlock> = self.others.iter().collect();
        let utilization = weeks(&calendar, start, end, &self.schedule.blocks, &others, self.events);
        Ok(PortfolioReport { conflicts, utilization, shifts })
    }

    fn overlaps(&self) -> Vec<Conflict> {
        let mut found = Vec::new();
        for block in &self.schedule.blocks {
            for event in self.events {
                let kind = ConflictKind::Hard;
                found.extend(overlap(block, kind, &event.title, event.start, event.end));
            }
            for other in self.others {
                let locked = other.block.locked || block.locked;
                let kind = if locked { ConflictKind::Hard } else { ConflictKind::Soft };
                found.extend(overlap(
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

    /// Days and weeks whose own and other minutes exceed the cap.
    fn overloads(&self, calendar: &WorkCalendar) -> Vec<Conflict> {
        let mut days: BTreeMap<Date, u32> = BTreeMap::new();
        let mut weeks: BTreeMap<IsoWeek, u32> = BTreeMap::new();
        for block in self.all_blocks() {
            let date = calendar.local_date(block.start.at);
            *days.entry(date).or_default() += minutes(block);
            *weeks.entry(IsoWeek::of(date)).or_default() += minutes(block);
        }
        let moment = |date: Date| Moment::in_zone(calendar.day_start(date), calendar.zone());
        let over = |with: String, first: Date, days: i64, sum: u32, cap: u32| Conflict {
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

    /// The working minutes of a week, which no sum of plans can exceed.
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

fn minutes(block: &ScheduledBlock) -> u32 {
    u32::try_from(block.start.minutes_until(block.end)).unwrap_or(0)
}

fn overlap(
    block: &ScheduledBlock,
    kind: ConflictKind,
    with: &str,
    start: Moment,
    end: Moment,
) -> Option<Conflict> {
    let (from, to) = (block.start.max(start), block.end.min(end));
    (from < to).then(|| Conflict {
        kind,
        block_id: Some(block.id.clone()),
        with: with.to_owned(),
        start: from,
        end: to,
        severity_minutes: u32::try_from(from.minutes_until(to)).unwrap_or(0),
    })
}
