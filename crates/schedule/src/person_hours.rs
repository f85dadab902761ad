//! The hours of the people of a plan. Time is laid out in the hours of all of them together; each of them is kept to
//! their own.

use jiff::civil::Date;

use super::schedule_run::merge_spans;
use crate::calendar::{HourRange, WorkCalendar, WorkHours, minute_of, plus_days};
use planwright_model::{LocalTimeInterval, PlanCalendar, PlanContext, Weekday};

/// How far ahead the hours of people are laid out, at least.
const DAYS_AHEAD: i64 = 730;

/// Returns whether somebody has other hours than the plan.
pub(super) fn has_own_hours(context: &PlanContext) -> bool {
    context.people.iter().any(|person| !person.hours.is_empty())
}

/// Returns the hours of somebody on a day; nobody named is the person. Others have the person's unless theirs were stated.
fn hours_on<'a>(
    context: &'a PlanContext,
    name: Option<&str>,
    day: Date,
) -> &'a [LocalTimeInterval] {
    let person = name.and_then(|name| context.find_person(name));
    match person.filter(|person| !person.hours.is_empty()) {
        Some(person) => person.hours.get(&Weekday::from_date(day)).map_or(&[], Vec::as_slice),
        None => context.calendar.hours_on(day),
    }
}

/// Returns the time outside somebody's hours, in minutes: sorted, never overlapping. Empty where all have the same hours.
pub(super) fn time_outside_hours(
    context: &PlanContext,
    calendar: &WorkCalendar,
    name: Option<&str>,
    until: Date,
) -> Vec<(i64, i64)> {
    if !has_own_hours(context) {
        return Vec::new();
    }
    let first = calendar.local_date(calendar.horizon_start());
    let last = until.max(plus_days(first, DAYS_AHEAD));
    let days = first.series(jiff::Span::new().days(1)).take_while(|day| *day < last);
    let mut outside = Vec::new();
    for day in days {
        let [mut from, end] =
            [day, plus_days(day, 1)].map(|day| minute_of(calendar.day_start(day)));
        let hours = hours_on(context, name, day).iter().copied().map(HourRange::from);
        let spans = merge_spans(hours.map(|hours| calendar.clock_minutes(day, hours)));
        for (start, stop) in spans {
            outside.push((from, start));
            from = stop;
        }
        outside.push((from, end));
    }
    merge_spans(outside.into_iter())
}

/// Returns the working time of whoever does a leaf, if it is not that of everybody.
pub(super) fn owner_calendar(
    context: &PlanContext,
    calendar: &WorkCalendar,
    name: Option<&str>,
) -> Option<WorkCalendar> {
    if !has_own_hours(context) {
        return None;
    }
    let person = name.and_then(|name| context.find_person(name));
    let hours = match person.filter(|person| !person.hours.is_empty()) {
        Some(person) => {
            let working = person.hours.clone();
            let own = PlanCalendar { working, ..context.calendar.clone() };
            WorkHours::from(&own)
        }
        None => WorkHours::from(&context.calendar),
    };
    // The same zone as the calendar of everybody has, so that it exists.
    WorkCalendar::new(hours, calendar.horizon_start()).ok()
}
