//! The calendar span of a plan: its first and last day, the day everything counts from, and the time there is.

use std::collections::BTreeMap;

use jiff::civil::Date;

use planwright_model::{
    AssumptionOrigin, IsoWeek, LocalTimeInterval, NodeTree, PlanContext, PlanNode, PreferredTime,
    TaskId, Weekday,
};

use super::blueprint::Blueprint;
use super::facts::{DAY, WEEKLY};
use super::goal::{Goal, GoalDay};
use super::instance::{add_days, count_occurrences, days_between};

/// The length and capacity of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlanSpan {
    pub(super) start: Date,
    pub(super) last_day: Date,
    pub(super) days: u32,
    /// The day of the thing itself, for kinds that have one.
    pub(super) day: Option<Date>,
    /// Weeks that a weekly rhythm counts, whatever hours the person has.
    rhythm: u16,
    pub(super) weekly_minutes: u32,
    /// The minutes that the calendar and the limits allow over the entire span.
    pub(super) capacity: u32,
}

impl PlanSpan {
    pub(super) fn weeks(&self) -> u16 {
        u16::try_from(self.days.div_ceil(7)).unwrap_or(u16::MAX).max(1)
    }

    pub(super) fn rhythm_weeks(&self) -> u16 {
        self.rhythm.max(1)
    }
}

/// Computes the span of a context whose dates are filled in.
pub(super) fn measure_span(context: &PlanContext, file: &Blueprint) -> PlanSpan {
    let limits = &context.constraints;
    let days = span_days(context, file);
    let room = weekly_capacity(context);
    let weekly_minutes = limits.weekly_minutes.unwrap_or(room);
    let capacity = span_capacity(context, days, weekly_minutes);
    let day = context.find_assumption(DAY).and_then(|found| found.value.parse().ok());
    let weeks = u16::try_from(days.div_ceil(7)).unwrap_or(u16::MAX);
    PlanSpan {
        start: limits.start,
        last_day: add_days(limits.start, i64::from(days) - 1),
        days,
        day: day.filter(|_| file.day.is_some()),
        rhythm: if has_stretched_span(context, file) { *file.weeks.get_ref() } else { weeks },
        weekly_minutes,
        capacity,
    }
}

/// Returns the minutes of all days of the span: what the hours of each day hold, up to the limits of day and week.
fn span_capacity(context: &PlanContext, days: u32, weekly: u32) -> u32 {
    let calendar = &context.calendar;
    let mut weeks: BTreeMap<IsoWeek, u32> = BTreeMap::new();
    for offset in 0..days {
        let date = add_days(context.constraints.start, i64::from(offset));
        let usual = calendar.working.get(&Weekday::from_date(date));
        let hours = match calendar.extra_working.get(&date) {
            Some(extra) => Some(extra),
            None if calendar.days_off.contains(&date) => None,
            None => usual,
        };
        let minutes: u32 = hours.into_iter().flatten().map(|span| span.duration_minutes()).sum();
        let week = weeks.entry(IsoWeek::from_date(date)).or_default();
        *week = (*week + minutes.min(context.constraints.max_daily_minutes)).min(weekly);
    }
    weeks.into_values().fold(0, u32::saturating_add)
}

/// Returns whether the span is only as long as it is because of the hours that the person has.
fn has_stretched_span(context: &PlanContext, file: &Blueprint) -> bool {
    stretched_weeks(context, file)
        .is_some_and(|weeks| context.constraints.horizon_weeks == Some(weeks))
        && context.constraints.deadline.is_none()
}

/// Returns the weeks that a course of a fixed amount takes with the hours that the person states. A course that
/// consists of repeated sessions lasts as long as it lasts.
pub(super) fn stretched_weeks(context: &PlanContext, file: &Blueprint) -> Option<u16> {
    let stated = context
        .find_assumption(WEEKLY)
        .is_none_or(|found| found.origin != AssumptionOrigin::Template);
    let hours = context.constraints.weekly_minutes.filter(|hours| stated && *hours > 0)?;
    let weekly = *file.weekly.as_ref()?.get_ref();
    let repeats = file.all_tasks().iter().any(|task| task.every.is_some());
    if repeats || file.sizing != super::blueprint::BlueprintSizing::Tasks {
        return None;
    }
    let total = u32::from(*file.weeks.get_ref()) * weekly;
    u16::try_from(total.div_ceil(hours)).ok().map(|weeks| weeks.clamp(1, 520))
}

fn span_days(context: &PlanContext, file: &Blueprint) -> u32 {
    let limits = &context.constraints;
    match limits.deadline {
        Some(deadline) => (days_between(limits.start, deadline.local_date()) + 1).max(1),
        None => u32::from(limits.horizon_weeks.unwrap_or(*file.weeks.get_ref())) * 7,
    }
}

/// Returns the minutes of an ordinary week that hours and daily limit allow.
pub(super) fn weekly_capacity(context: &PlanContext) -> u32 {
    let most = context.constraints.max_daily_minutes;
    let day = |hours: &Vec<LocalTimeInterval>| {
        hours.iter().map(|span| span.duration_minutes()).sum::<u32>().min(most)
    };
    context.calendar.working.values().map(day).sum()
}

/// Returns the day of the thing itself if the goal does not name exactly one: inside the window, or at the end of the
/// time there is.
pub(super) fn assume_day(
    goal: &Goal,
    file: &Blueprint,
    start: Date,
    horizon_weeks: Option<u16>,
) -> Date {
    if let Some(GoalDay::Within { from, to }) = goal.day {
        let first = from.max(start);
        let middle = add_days(first, i64::from(days_between(first, to) / 2));
        return suitable_day(file, middle, first, to);
    }
    let weeks = horizon_weeks.unwrap_or(*file.weeks.get_ref());
    let last = goal.deadline.unwrap_or_else(|| add_days(start, i64::from(weeks) * 7 - 1));
    suitable_day(file, last, add_days(last, -6).max(start), last)
}

/// Returns the nearest day of the kind: a weekend for parties and races, else a working day.
fn suitable_day(file: &Blueprint, wanted: Date, from: Date, to: Date) -> Date {
    let free = matches!(
        file.prefer.to_preferred_time(),
        Some(PreferredTime::Weekends | PreferredTime::EveningsAndWeekends)
    );
    let on_weekend = free && ["event", "training_arc"].contains(&file.subtype.get_ref().as_str());
    let fits = |day: Date| {
        let weekend = matches!(Weekday::from_date(day), Weekday::Sat | Weekday::Sun);
        weekend == on_weekend
    };
    let steps = [0, -1, 1, -2, 2, -3, 3, -4, -5, -6];
    let near = steps.into_iter().map(|step| add_days(wanted, step));
    near.into_iter().find(|day| fits(*day) && (from..=to).contains(day)).unwrap_or(wanted)
}

/// Returns the minutes of a leaf over the entire span: as often as it occurs.
pub(super) fn leaf_total(leaf: &PlanNode, tree: &NodeTree<'_>, weeks: u16) -> u32 {
    leaf.work_minutes().saturating_mul(leaf_occurrences(leaf, tree, weeks))
}

/// Returns how often a leaf occurs: by its own recurrence, or else by that of its container.
pub(super) fn leaf_occurrences(leaf: &PlanNode, tree: &NodeTree<'_>, weeks: u16) -> u32 {
    let above = tree.ancestors(&leaf.id).into_iter().find_map(|node| node.recurrence.as_ref());
    leaf.recurrence.as_ref().or(above).map_or(1, |found| count_occurrences(found, weeks))
}

/// Returns the minutes over the entire span.
pub(super) fn total_effort(nodes: &[PlanNode], root: &TaskId, weeks: u16) -> u32 {
    let tree = NodeTree::new(nodes);
    tree.leaves(root)
        .iter()
        .fold(0, |sum: u32, leaf| sum.saturating_add(leaf_total(leaf, &tree, weeks)))
}
