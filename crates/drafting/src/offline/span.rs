//! The calendar span of a plan: its first and last day, the day everything counts from, and the time there is.

use std::collections::BTreeMap;

use jiff::civil::Date;

use planwright_model::{
    AssumptionOrigin, IsoWeek, LocalTimeInterval, NodeTree, PlanContext, PlanNode, TaskId,
};

use super::blueprint::{Blueprint, BlueprintGroup};
use super::facts::{DAY, HORIZON, WEEKLY};
use super::instance::{add_days, count_occurrences, days_between};

/// How many times its own length a kind with repeated work is spread over at most.
const MOST_STRETCH: u32 = 3;

/// The length and capacity of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlanSpan {
    pub(super) start: Date,
    pub(super) last_day: Date,
    pub(super) days: u32,
    /// The last day that the kind itself would have, if nobody stated another.
    pub(super) usual_last: Date,
    /// The day of the thing itself, for kinds that have one.
    pub(super) day: Option<Date>,
    /// Weeks that a weekly rhythm counts, whatever hours the person has.
    rhythm: u16,
    pub(super) weekly_minutes: u32,
    /// The stated minutes a week of a span that is stated as well.
    pub(super) stated_rhythm: Option<u32>,
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
    let usual = *file.weeks.get_ref();
    let fixed_amount = has_stretched_span(context, file) || has_own_amount(file) && weeks > usual;
    let last_day = add_days(limits.start, i64::from(days) - 1);
    let assumed = context
        .find_assumption(HORIZON)
        .is_some_and(|found| found.origin == AssumptionOrigin::Template);
    let usual_last = add_days(limits.start, i64::from(usual) * 7 - 1).min(last_day);
    PlanSpan {
        start: limits.start,
        last_day,
        days,
        usual_last: if assumed { usual_last } else { last_day },
        day: day.filter(|_| file.day.is_some()),
        rhythm: if fixed_amount { usual } else { weeks },
        weekly_minutes,
        stated_rhythm: stated_hours(context).filter(|hours| {
            // Days off take their part of stated hours.
            let open = (u64::from(capacity) * 7 / u64::from(days.max(1))).min(u64::from(*hours));
            let open = u32::try_from(open).unwrap_or(*hours);
            has_stated_span(context) && is_short_for(file, days, open)
        }),
        capacity,
    }
}

/// Returns the minutes of all days of the span: what the hours of each day hold, up to the limits of day and week.
fn span_capacity(context: &PlanContext, days: u32, weekly: u32) -> u32 {
    let calendar = &context.calendar;
    let mut weeks: BTreeMap<IsoWeek, u32> = BTreeMap::new();
    for offset in 0..days {
        let date = add_days(context.constraints.start, i64::from(offset));
        let hours = calendar.hours_on(date);
        let minutes: u32 = hours.iter().map(|span| span.duration_minutes()).sum();
        let week = weeks.entry(IsoWeek::from_date(date)).or_default();
        *week = (*week + minutes.min(context.constraints.max_daily_minutes)).min(weekly);
    }
    weeks.into_values().fold(0, u32::saturating_add)
}

/// Returns whether the stated hours of the stated days hold less than a kind with a weekly rhythm wants.
fn is_short_for(file: &Blueprint, days: u32, hours: u32) -> bool {
    let Some(weekly) = file.weekly.as_ref().map(|weekly| u64::from(*weekly.get_ref())) else {
        return true;
    };
    // A course is as much as it is; any other rhythm goes on as long as there is time.
    let usual = u64::from(*file.weeks.get_ref()) * 7;
    let wanted = if has_own_amount(file) { usual.min(days.into()) } else { days.into() };
    u64::from(hours) * u64::from(days) < weekly * wanted
}

/// Returns whether a kind teaches a certain amount, however much time there is.
fn has_own_amount(file: &Blueprint) -> bool {
    file.weekly.is_some() && file.subtype.get_ref() == "learning_arc"
}

/// Returns the days after which a course is over, if there is more time than it needs.
pub(super) fn course_days(context: &PlanContext, file: &Blueprint) -> Option<u32> {
    // Where a day decides the end, the course leads up to it.
    if file.day.is_some() {
        return None;
    }
    if !has_own_amount(file) {
        return longest_repetition_days(file);
    }
    let weekly = file.weekly.as_ref()?;
    let total = u32::from(*file.weeks.get_ref()) * *weekly.get_ref();
    let hours = context.constraints.weekly_minutes.unwrap_or(*weekly.get_ref()).max(1);
    let weeks = total.div_ceil(hours).max(u32::from(*file.weeks.get_ref()));
    Some(weeks * 7)
}

/// Returns the days after which work that repeats within phases is enough, if it does: a book is not written for five
/// years because it is due in five years.
fn longest_repetition_days(file: &Blueprint) -> Option<u32> {
    let repeats = |phase: &BlueprintGroup| {
        phase.weeks_share.is_some() && phase.all_tasks().iter().any(|task| task.every.is_some())
    };
    let weeks = u32::from(*file.weeks.get_ref()) * MOST_STRETCH;
    file.phases.iter().any(repeats).then_some(weeks * 7)
}

/// Returns the minutes a week that the person states.
fn stated_hours(context: &PlanContext) -> Option<u32> {
    let assumed = |found: &planwright_model::Assumption| found.origin == AssumptionOrigin::Template;
    let hours = context.constraints.weekly_minutes.filter(|hours| *hours > 0);
    hours.filter(|_| !context.find_assumption(WEEKLY).is_some_and(assumed))
}

fn has_stated_span(context: &PlanContext) -> bool {
    let limits = &context.constraints;
    let weeks = limits.horizon_weeks.is_some() && context.find_assumption(HORIZON).is_none();
    limits.deadline.is_some() || weeks && context.find_assumption(DAY).is_none()
}

/// Returns whether the span is only as long as it is because of the hours that the person has.
fn has_stretched_span(context: &PlanContext, file: &Blueprint) -> bool {
    stretched_weeks(context, file)
        .is_some_and(|weeks| context.constraints.horizon_weeks == Some(weeks))
        && context.constraints.deadline.is_none()
}

/// Returns the weeks that a course of a fixed amount takes with the hours that the person states.
pub(super) fn stretched_weeks(context: &PlanContext, file: &Blueprint) -> Option<u16> {
    let hours = stated_hours(context)?;
    let weekly = *file.weekly.as_ref()?.get_ref();
    if file.sizing != super::blueprint::BlueprintSizing::Tasks {
        return None;
    }
    let weeks = u32::from(*file.weeks.get_ref());
    let stretched = if repeats_work(file) {
        // Sessions come less often; a third of the hours is for what does not repeat.
        thinning(hours, weekly).filter(|times| *times > 1)?;
        (weeks * weekly * 3).div_ceil(hours * 2)
    } else {
        (weeks * weekly).div_ceil(hours)
    };
    Some(u16::try_from(stretched).unwrap_or(520).clamp(1, 520))
}

fn repeats_work(file: &Blueprint) -> bool {
    file.all_tasks().iter().any(|task| task.every.is_some())
}

/// Returns by how many times less often sessions come if the stated hours are fewer than those of the kind.
fn thinning(hours: u32, weekly: u32) -> Option<u32> {
    let usable = hours / 10 * 9;
    (usable > 0).then(|| weekly.div_ceil(usable).max(1))
}

/// Returns by how many times less often repeated work comes than its kind says, so that it fits the stated hours.
pub(super) fn session_thinning(context: &PlanContext, file: &Blueprint) -> u32 {
    let short = |hours: u32| {
        has_stated_span(context) && is_short_for(file, span_days(context, file), hours)
    };
    let stretched = (has_stretched_span(context, file) || stated_hours(context).is_some_and(short))
        && repeats_work(file)
        && file.sizing == super::blueprint::BlueprintSizing::Tasks;
    let weekly = file.weekly.as_ref().map(|weekly| *weekly.get_ref());
    let times =
        stated_hours(context).zip(weekly).and_then(|(hours, weekly)| thinning(hours, weekly));
    times.filter(|_| stretched).unwrap_or(1)
}

fn span_days(context: &PlanContext, file: &Blueprint) -> u32 {
    let limits = &context.constraints;
    if let Some(deadline) = limits.deadline {
        let days = (days_between(limits.start, deadline.local_date()) + 1).max(1);
        return course_days(context, file).map_or(days, |needed| days.min(needed));
    }
    let days = u32::from(limits.horizon_weeks.unwrap_or(*file.weeks.get_ref())) * 7;
    let most = longest_repetition_days(file)
        .filter(|_| file.day.is_none() && !has_stretched_span(context, file));
    most.map_or(days, |most| days.min(most))
}

/// Returns the minutes of an ordinary week that hours and daily limit allow.
pub(super) fn weekly_capacity(context: &PlanContext) -> u32 {
    let most = context.constraints.max_daily_minutes;
    let day = |hours: &Vec<LocalTimeInterval>| {
        hours.iter().map(|span| span.duration_minutes()).sum::<u32>().min(most)
    };
    context.calendar.working.values().map(day).sum()
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
