//! The first and the last day of a plan, and the day of the thing itself.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use planwright_model::{
    Assumption, AssumptionOrigin, OffsetDateTime, PlanCalendar, PlanContext, Weekday,
};

use super::super::blueprint::{Blueprint, BlueprintSizing};
use super::super::goal::{Goal, GoalDay};
use super::super::{plan_day, span};
use super::counts::weeks_of_rounds;
use super::{DAY, HORIZON, add_assumption, set_stated};

/// Returns whether more weeks change nothing but dates: nobody stated them, and no day or rhythm depends on them.
pub(in super::super) fn can_lengthen_span(context: &PlanContext, file: &Blueprint) -> bool {
    let assumed = context
        .find_assumption(HORIZON)
        .is_some_and(|found| found.origin == AssumptionOrigin::Template);
    assumed && !file.is_routine() && file.day.is_none() && file.weekly.is_none()
}

/// Lengthens a span that nobody stated. Returns whether it was assumed.
pub(in super::super) fn lengthen_span(context: &mut PlanContext, weeks: u16) -> bool {
    let assumed = |found: &&mut Assumption| {
        found.key == HORIZON && found.origin == AssumptionOrigin::Template
    };
    let Some(found) = context.assumptions.iter_mut().find(assumed) else { return false };
    context.constraints.horizon_weeks = Some(weeks);
    found.value = weeks.to_string();
    true
}

pub(super) fn fill_dates(
    context: &mut PlanContext,
    goal: &Goal,
    file: &Blueprint,
    notes: &mut Vec<String>,
) {
    let weeks = *file.weeks.get_ref();
    let end = goal.deadline.or(match (&file.day, goal.day) {
        (None, Some(day)) if goal.ends_before_day => {
            Some(super::super::instance::add_days(day.last_day(), -1))
        }
        (None, Some(day)) => Some(day.last_day()),
        _ => None,
    });
    let limits = &mut context.constraints;
    if let (None, Some(date)) = (limits.deadline, end) {
        let end = working_day_end(&context.calendar, date, notes);
        limits.deadline = Some(match goal.due_time {
            Some(time) => at_time_of_day(end, date, time),
            None if has_evening_times(file) => {
                at_time_of_day(end, date, Time::constant(23, 0, 0, 0)).max(end)
            }
            None => end,
        });
    }
    // Where a day decides the length, the weeks of an earlier draft do not.
    let fixed = context.assumptions.iter().any(|known| known.key == HORIZON);
    let before = limits.horizon_weeks.filter(|_| fixed || file.day.is_none());
    limits.horizon_weeks = before.or(goal.horizon_weeks).map(|weeks| weeks.max(1));
    if file.day.is_some() {
        fill_day(context, goal, file);
        return;
    }
    let limits = &context.constraints;
    if limits.deadline.is_none() && limits.horizon_weeks.is_none() {
        let assumed = span::stretched_weeks(context, file)
            .or_else(|| weeks_of_rounds(goal, file))
            .unwrap_or(weeks);
        context.constraints.horizon_weeks = Some(assumed);
        // A routine has no end, and a small task is not worth a question.
        let asks =
            !file.is_routine() && !file.small && span::stretched_weeks(context, file).is_none();
        let question = asks.then(|| "By when should it be done?".to_owned());
        add_assumption(context, HORIZON, &assumed.to_string(), question);
    }
}

/// Fills in the day of the thing itself. Without a deadline the plan ends two weeks after it, for what follows.
fn fill_day(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    let start = context.constraints.start;
    let known = context.find_assumption(DAY).and_then(|found| found.value.parse::<Date>().ok());
    let stated = known.or(match goal.day {
        Some(GoalDay::On(day)) => Some(day),
        _ => None,
    });
    let day = if let Some(day) = stated {
        set_stated(context, DAY, &day.to_string());
        day
    } else {
        let day = plan_day::assume_day(goal, file, context);
        let asks = file.day_question.as_ref().map(|text| text.get_ref().clone());
        add_assumption(context, DAY, &day.to_string(), asks);
        day
    };
    if context.constraints.deadline.is_none() {
        let until = super::super::instance::days_between(start, day) + 1;
        let weeks = u16::try_from(until.div_ceil(7)).unwrap_or(u16::MAX);
        let lasts = super::super::instance::event_length(goal, context, file) - 1;
        let lasts = u16::try_from(lasts.div_ceil(7)).unwrap_or(0);
        let after = weeks.saturating_add(follow_up_weeks(file)).saturating_add(lasts).max(1);
        // Stated weeks hold what follows as well, except the rest after a race.
        let stated = goal.horizon_weeks.filter(|_| file.sizing == BlueprintSizing::Tasks);
        context.constraints.horizon_weeks = Some(stated.map_or(after, |stated| stated.max(weeks)));
    }
}

/// Lets a plan go on until its last task, if that comes long after its day. Returns whether that changed anything.
pub(in super::super) fn extend_past_day(
    context: &mut PlanContext,
    goal: &Goal,
    file: &Blueprint,
    days: f64,
) -> bool {
    if goal.horizon_weeks.is_some() && file.sizing == BlueprintSizing::Tasks {
        return false;
    }
    let limits = &mut context.constraints;
    let Some(weeks) =
        limits.horizon_weeks.filter(|_| file.day.is_some() && limits.deadline.is_none())
    else {
        return false;
    };
    let needed = (days / 7.0).ceil().clamp(0.0, 520.0) as u16;
    let stretched = needed > weeks;
    limits.horizon_weeks = Some(weeks.max(needed));
    stretched
}

/// Returns the weeks that a plan goes on after its day, for thanks, payments and rest.
fn follow_up_weeks(file: &Blueprint) -> u16 {
    let tasks = file.all_tasks();
    let dates = tasks.iter().flat_map(|task| [&task.at, &task.by, &task.until]).flatten();
    let last = dates.map(|date| date.get_ref().days).max().unwrap_or(0);
    let main =
        tasks.iter().rposition(|task| task.at.as_ref().is_some_and(|at| at.get_ref().days == 0));
    let follows = main.is_some_and(|main| main + 1 < tasks.len());
    match u16::try_from(last) {
        Ok(days @ 1..) => days.div_ceil(7) + 1,
        _ if follows => 1,
        _ => 0,
    }
}

/// Returns the end of the working day; a day without hours ends when the others do.
pub(super) fn working_day_end(
    calendar: &PlanCalendar,
    date: Date,
    notes: &mut Vec<String>,
) -> OffsetDateTime {
    let zone = TimeZone::get(&calendar.tz).unwrap_or_else(|_| {
        notes.push(format!(
            "the time zone \"{}\" does not exist; UTC was used, name one such as Europe/Berlin",
            calendar.tz
        ));
        TimeZone::UTC
    });
    let hours = calendar
        .extra_working
        .get(&date)
        .or_else(|| calendar.working.get(&Weekday::from_date(date)));
    let end = hours
        .and_then(|hours| hours.last())
        .map(|interval| interval.end)
        .or_else(|| working_week_end(calendar));
    let local = date.to_datetime(end.unwrap_or(Time::constant(17, 0, 0, 0)));
    let at = zone.to_ambiguous_timestamp(local).compatible().unwrap_or(jiff::Timestamp::MAX);
    OffsetDateTime::in_zone(at, &zone)
}

/// Returns whether something of a kind repeats at a time of day, which may be after the working hours.
fn has_evening_times(file: &Blueprint) -> bool {
    file.cycles.iter().any(|cycle| cycle.at_time.is_some())
        || file.all_tasks().iter().any(|task| task.every.is_some() && task.at_time.is_some())
}

/// Returns a time of a day, in the offset that its working day ends in.
pub(super) fn at_time_of_day(end: OffsetDateTime, date: Date, time: Time) -> OffsetDateTime {
    let local = end.offset.to_datetime(end.at);
    let wanted = date.to_datetime(time);
    let minutes = local.until(wanted).ok().and_then(|span| span.total(jiff::Unit::Minute).ok());
    end.plus_minutes(minutes.map_or(0, |minutes| minutes as i64))
}

/// Returns when the last working day of the week ends.
fn working_week_end(calendar: &PlanCalendar) -> Option<Time> {
    let day = last_working_day(calendar)?;
    calendar.working.get(&day)?.last().map(|interval| interval.end)
}

fn last_working_day(calendar: &PlanCalendar) -> Option<Weekday> {
    calendar.working.iter().rev().find(|(_, hours)| !hours.is_empty()).map(|(day, _)| *day)
}
