//! Days that the goal names: they count for more than the usual hours. Also the days on which nobody works by custom.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time, time};

use planwright_model::{
    Assumption, AssumptionOrigin, LocalTimeInterval, PlanCalendar, PlanContext, Weekday,
};

use super::blueprint::{Blueprint, BlueprintSizing};
use super::facts;
use super::goal::{CadencePeriod, Goal, GoalDay, GoalPhraseKind};
use super::instance::{BlueprintInstance, InstanceLag, add_days, days_between};
use super::span;
use crate::change_requests::DayPart;
use planwright_text::dates::{format_date, format_date_range, format_time_range};

/// Days that were given hours because the goal names them.
pub(super) const OPENED_DAYS: &str = "opened_days";
/// Days off that nobody stated.
pub(super) const DAYS_OFF: &str = "days_off";
/// Public holidays of the person's country, which replace the assumed days off.
pub(crate) const HOLIDAYS: &str = "holidays";

/// When a day that the goal names ends at the latest.
const LATE: Time = time(23, 45, 0, 0);
/// The longest window that is a stated time for the work, and not just its end.
const MAX_WINDOW: u32 = 2;
/// A plan may go on for this share of its days after its last one, for what follows.
const FOLLOW_UP_SHARE: u32 = 8;

/// Verbs that a last day goes with: "finish the report on Friday" may begin before.
const FINISHING: [&str; 9] =
    ["finish", "complete", "submit", "deliver", "release", "ship", "launch", "publish", "hand"];

/// Returns the day or weekend that the goal names for the work.
fn stated_days(goal: &Goal) -> Option<(Date, Date)> {
    match goal.day {
        Some(GoalDay::On(day)) => Some((day, day)),
        Some(GoalDay::Within { from, to }) => {
            (days_between(from, to) < MAX_WINDOW).then_some((from, to))
        }
        None => None,
    }
}

/// Takes back the hours and days off that an earlier draft assumed.
pub(super) fn clear_assumed_days(context: &mut PlanContext) {
    let assumed = |context: &PlanContext, key: &str| {
        context.find_assumption(key).is_some_and(|found| found.origin == AssumptionOrigin::Template)
    };
    if assumed(context, OPENED_DAYS) {
        context.calendar.extra_working.clear();
    }
    let told = context.find_assumption(DAYS_OFF).map(|found| found.value.clone());
    if let Some(told) = told.filter(|_| assumed(context, DAYS_OFF)) {
        // Days that the person has off by themselves stay.
        let listed =
            |day: &Date| told.contains('–') || told.contains(&day.strftime("%-d %b").to_string());
        context.calendar.days_off.retain(|day| !(is_customary(*day) && listed(day)));
    }
}

/// Opens the days that the goal names for work, and lists them. What is stated for today starts today.
pub(super) fn open_stated_days(context: &mut PlanContext, goal: &Goal, file: Option<&Blueprint>) {
    let today = goal.read_on;
    let ends_today = goal.last_day() == Some(today);
    let own_start = |found: &Assumption| found.origin != AssumptionOrigin::Template;
    if ends_today && !context.find_assumption("start").is_some_and(own_start) {
        context.constraints.start = today;
    }
    let has_day = file.is_some_and(|file| file.day.is_some());
    let days = match stated_days(goal) {
        Some(days) if !has_day || days.1 == today => Some(days),
        _ => None,
    };
    if let Some((_, last)) = stated_days(goal).filter(|_| has_day)
        && open_near_days(context, goal, last)
    {
        return;
    }
    let by = goal.deadline.filter(|last| *last == today || goal.day_part.is_some());
    let (first, last) = match (days, by) {
        (Some(days), _) => days,
        (None, Some(by)) => (by, by),
        (None, None) => {
            open_last_days(context, goal, file);
            return;
        }
    };
    let opened: Vec<Date> = first.series(1.day()).take_while(|day| *day <= last).collect();
    open_days(context, goal, file, &opened);
}

/// Starts the work of a window when the window comes, with the time before it that the kind needs: "in the last week of
/// July". What goes on "over the summer" or "from February to April", and every routine, starts with it.
pub(super) fn start_with_window(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    let own_start = |found: &Assumption| found.origin != AssumptionOrigin::Template;
    let Some(GoalDay::Within { from, to }) = goal.day.filter(|_| goal.deadline.is_none()) else {
        return;
    };
    // What is done at the end of March is prepared before.
    let closing = goal.phrases().iter().any(|phrase| {
        phrase.kind == GoalPhraseKind::Day && phrase.text.to_lowercase().contains("end of")
    });
    if closing {
        return;
    }
    let start = context.constraints.start;
    let length = days_between(from, to) + 1;
    let range = is_range(goal);
    let whole = range || file.is_routine() || goal.contains_any(&["over", "during", "throughout"]);
    let needed = u32::from(*file.weeks.get_ref()) * 7;
    let room = days_between(start, to);
    let near = days_between(start, from) < FAR_DAYS && !range;
    // A window that is far away is waited for; one that is nearer is worked for from now on.
    let far = room > needed + needed / 2 + SHORT_WINDOW && file.weekly.is_none();
    let short = length <= SHORT_WINDOW && super::usual_hours::is_private(file);
    if file.day.is_some()
        || from <= start
        || context.find_assumption("start").is_some_and(own_start)
        || near
        || !(whole || short || far)
    {
        return;
    }
    let before = if whole { 0 } else { needed.saturating_sub(length) };
    context.constraints.start = add_days(from, -i64::from(before)).max(start);
    // Holidays are free days.
    if whole && length <= SHORT_WINDOW && super::usual_hours::is_private(file) {
        let free_day = LocalTimeInterval::new(time(10, 0, 0, 0), time(17, 0, 0, 0));
        let days = from.series(1.day()).take_while(|day| *day <= to);
        for day in days.filter(|day| !is_customary(*day)) {
            context.calendar.extra_working.entry(day).or_insert_with(|| vec![free_day]);
        }
        let told = format_date_range(from, to, goal.read_on);
        let times = format_time_range(free_day.start, free_day.end);
        facts::add_assumption(context, OPENED_DAYS, &format!("{told} {times}"), None);
    }
}

/// Returns whether the goal names the first and the last day of the work: "from February to April".
fn is_range(goal: &Goal) -> bool {
    let mut days = goal.phrases().iter().filter(|phrase| phrase.kind == GoalPhraseKind::Day);
    days.any(|phrase| {
        let text = phrase.text.to_lowercase();
        text.starts_with("from ") || text.starts_with("between ")
    })
}

/// A day nearer than this many days opens the days before it.
const NEAR_WINDOW: u32 = 7;
/// A window that begins sooner is worked for from now on.
const FAR_DAYS: u32 = 14;
/// A longer window is an end rather than a time for the work.
const SHORT_WINDOW: u32 = 14;

/// A party tomorrow is prepared all day long: opens the days before a day that is very near. Returns whether it is.
fn open_near_days(context: &mut PlanContext, goal: &Goal, last: Date) -> bool {
    let start = context.constraints.start;
    // Evenings alone do not suffice for a day of this week; the hours are only assumed.
    let most = if super::usual_hours::has_usual_hours(context) { NEAR_WINDOW } else { MAX_WINDOW };
    if days_between(start, last) >= most || last < start {
        return false;
    }
    let own_start = |found: &Assumption| found.origin != AssumptionOrigin::Template;
    let tomorrow = days_between(goal.read_on, last) <= 1;
    if tomorrow && !context.find_assumption("start").is_some_and(own_start) {
        context.constraints.start = goal.read_on;
    }
    let start = context.constraints.start;
    let all_day = LocalTimeInterval::new(time(8, 0, 0, 0), time(22, 0, 0, 0));
    let rests =
        |day: &Date| *day != last && (is_feast(*day) || context.calendar.days_off.contains(day));
    let opened: Vec<Date> =
        start.series(1.day()).take_while(|day| *day <= last).filter(|day| !rests(day)).collect();
    for day in &opened {
        context.calendar.extra_working.entry(*day).or_insert_with(|| vec![all_day]);
    }
    let first = opened.first().copied().unwrap_or(last);
    let days = format_date_range(first, last, goal.read_on);
    let times = format_time_range(all_day.start, all_day.end);
    facts::add_assumption(context, OPENED_DAYS, &format!("{days} {times}"), None);
    true
}

/// Opens the days until the end if there are no hours at all before it: a Friday evening with work until Sunday.
fn open_last_days(context: &mut PlanContext, goal: &Goal, file: Option<&Blueprint>) {
    let start = context.constraints.start;
    let Some(last) = goal.last_day().filter(|last| days_between(start, *last) <= MAX_WINDOW) else {
        return;
    };
    let days: Vec<Date> = start.series(1.day()).take_while(|day| *day <= last).collect();
    if days.iter().all(|day| !context.calendar.has_hours_on(*day)) {
        open_days(context, goal, file, &days);
    }
}

/// The hours that office work may go on after its usual end: nobody reviews or answers at ten at night.
const OVERTIME_HOURS: i64 = 3;

/// Ends the hours of an office day in the early evening.
fn close_office(
    hours: Vec<LocalTimeInterval>,
    usual: &[LocalTimeInterval],
) -> Vec<LocalTimeInterval> {
    let Some(end) = usual.last().map(|span| span.end) else { return hours };
    let last = end.checked_add(OVERTIME_HOURS.hours()).unwrap_or(LATE).max(end);
    let cut = hours.into_iter().map(|span| LocalTimeInterval::new(span.start, span.end.min(last)));
    cut.filter(|span| span.start < span.end).collect()
}

fn open_days(context: &mut PlanContext, goal: &Goal, file: Option<&Blueprint>, days: &[Date]) {
    let late_part = matches!(goal.day_part, Some(DayPart::Evening));
    let in_office = file.is_some_and(|file| !super::usual_hours::is_private(file) && !file.small);
    let in_office = in_office && !late_part;
    let mut told: Vec<String> = Vec::new();
    for day in days {
        if context.calendar.extra_working.contains_key(day) {
            continue;
        }
        let usual = context.calendar.hours_on(*day).to_vec();
        let hours = wanted_hours(&context.calendar, goal, *day, &usual);
        let hours = if in_office { close_office(hours, &usual) } else { hours };
        if hours == usual {
            continue;
        }
        let times = hours.iter().map(|span| format_time_range(span.start, span.end));
        let times = times.collect::<Vec<String>>().join(", ");
        told.push(format!("{} {times}", format_date(*day, goal.read_on)));
        context.calendar.extra_working.insert(*day, hours);
    }
    if !told.is_empty() {
        facts::add_assumption(context, OPENED_DAYS, &told.join(" and "), None);
    }
}

/// Returns the hours of a day that the goal names: those of the part it names, else the usual ones, else those of other
/// days. Today lasts until late.
fn wanted_hours(
    calendar: &PlanCalendar,
    goal: &Goal,
    day: Date,
    usual: &[LocalTimeInterval],
) -> Vec<LocalTimeInterval> {
    let is_today = day == goal.read_on;
    let usual_start = usual.first().map_or(time(9, 0, 0, 0), |span| span.start);
    match goal.day_part.map(DayPart::interval) {
        Some(part) if goal.day.is_none() => {
            let end = if is_today { LATE } else { part.end };
            vec![LocalTimeInterval::new(usual_start.min(part.start), end)]
        }
        Some(part) => {
            let inside = usual.iter().find(|span| span.start < part.end && span.end > part.start);
            let start = inside.map_or(part.start, |span| span.start.max(part.start));
            vec![LocalTimeInterval::new(start, if is_today { LATE } else { part.end })]
        }
        None if is_today => vec![LocalTimeInterval::new(usual_start, LATE)],
        None if !usual.is_empty() => usual.to_vec(),
        None => {
            let same = calendar.working.get(&Weekday::from_date(day));
            if let Some(hours) = same.filter(|hours| !hours.is_empty()) {
                return hours.clone();
            }
            let other = calendar.working.values().find(|hours| !hours.is_empty()).cloned();
            other.unwrap_or_else(|| PlanCalendar::new("UTC").working[&Weekday::Mon].clone())
        }
    }
}

/// Starts the plan on the stated day if all of its work fits there: a small task, or a day that was opened for it.
/// Returns whether that changed anything.
pub(super) fn keep_to_stated_days(
    context: &mut PlanContext,
    goal: &Goal,
    file: &Blueprint,
    planned: &BlueprintInstance,
    total: u32,
) -> bool {
    let Some((first, last)) = stated_days(goal).filter(|_| goal.deadline.is_none()) else {
        return false;
    };
    let own_start = |found: &Assumption| found.origin != AssumptionOrigin::Template;
    if file.day.is_some()
        || file.is_routine()
        || first <= context.constraints.start
        // Whatever waits for something else needs more than a day.
        || planned.links.iter().any(|link| link.lag != InstanceLag::None)
        || context.find_assumption("start").is_some_and(own_start)
    {
        return false;
    }
    let days: Vec<Date> = first.series(1.day()).take_while(|day| *day <= last).collect();
    let weekend = |day: &Date| matches!(Weekday::from_date(*day), Weekday::Sat | Weekday::Sun);
    // What is booked for March is booked now.
    let near = days_between(goal.read_on, first) <= NEAR_WINDOW;
    let opened = days.iter().any(|day| context.calendar.extra_working.contains_key(day)) && near
        || (days.iter().all(weekend) && !goal.contains_any(&FINISHING));
    let small = file.small && near && !goal.contains_any(&FINISHING);
    let room: u32 = days
        .iter()
        .flat_map(|day| context.calendar.hours_on(*day))
        .map(|span| span.duration_minutes())
        .sum();
    if !(opened || small) || total > room {
        return false;
    }
    context.constraints.start = first;
    for found in context.assumptions.iter_mut().filter(|found| found.key == "start") {
        found.value = first.to_string();
    }
    facts::raise_daily_limit(context, total.div_ceil(days.len().max(1) as u32));
    true
}

/// Whether a day is one of the two on which everybody rests.
fn is_feast(day: Date) -> bool {
    matches!((day.month(), day.day()), (12, 25) | (1, 1))
}

/// What takes no longer is finished on the day that the goal names.
const DAY_OF_WORK: u32 = 240;

/// Returns whether a plan of so many minutes begins on a day that the goal names: "this weekend" is not the evening before,
/// and a report to finish tomorrow is not sent today. Nor does work begin on a feast.
pub fn waits_for_its_day(context: &PlanContext, today: Date, minutes: u32) -> bool {
    let goal = facts::read_goal(context, today);
    let finishes = goal.contains_any(&FINISHING);
    let named = stated_days(&goal).is_some_and(|(first, _)| {
        let near = days_between(today, first) <= 1 && minutes <= DAY_OF_WORK;
        first > today && context.constraints.start == first && (near || !finishes)
    });
    named || is_feast(today)
}

/// Whether nobody works on a day by custom: between Christmas Eve and New Year's Day.
fn is_customary(day: Date) -> bool {
    matches!((day.month(), day.day()), (12, 24..=31) | (1, 1))
}

/// Returns the customary days off of a kind: offices are closed between the years, private work rests on the feasts, and a
/// rhythm on the two days on which everybody does.
fn customary_days(file: &Blueprint, year: i16) -> Vec<Date> {
    let rhythm = !file.cycles.is_empty() || file.sizing == BlueprintSizing::Training;
    let december: &[i8] = if file.is_routine() || rhythm {
        &[25]
    } else if super::usual_hours::is_private(file) {
        &[24, 25, 26, 31]
    } else {
        &[24, 25, 26, 27, 28, 29, 30, 31]
    };
    let days = december.iter().filter_map(|day| Date::new(year, 12, *day).ok());
    Date::new(year, 1, 1).ok().into_iter().chain(days).collect()
}

/// Takes the customary days off, unless the goal is about them or the person's country has other holidays.
pub(super) fn fill_days_off(context: &mut PlanContext, goal: &Goal, file: &Blueprint) {
    // What happens every day happens on holidays as well.
    let daily = file.is_routine() && facts::goal_cadence(goal, file).every == CadencePeriod::Day;
    if daily || file.on_holidays || context.find_assumption(HOLIDAYS).is_some() {
        return;
    }
    let start = context.constraints.start;
    let size = span::measure_span(context, file);
    let end = add_days(size.last_day, i64::from(size.days / FOLLOW_UP_SHARE));
    // Who names a day between the years, or has own days off there, decides that; only the two days on which everybody
    // rests stay free.
    let own = context.calendar.days_off.iter().any(|day| is_customary(*day));
    let named =
        goal.last_day().or(size.day).is_some_and(is_customary) || is_customary(start) || own;
    let rests = |day: &Date| !named || is_feast(*day);
    let years = start.year()..=end.year();
    let free: Vec<Date> = years
        .flat_map(|year| customary_days(file, year))
        .filter(|day| (start..=end).contains(day) && rests(day) && !is_stated(goal, *day))
        .filter(|day| context.calendar.has_hours_on(*day))
        .filter(|day| !context.calendar.extra_working.contains_key(day))
        .collect();
    if free.is_empty() {
        return;
    }
    let told = describe_days(&free, start);
    context.calendar.days_off.extend(free);
    facts::add_assumption(context, DAYS_OFF, &told, None);
}

/// Returns whether the goal is about a day.
fn is_stated(goal: &Goal, day: Date) -> bool {
    match goal.day {
        Some(GoalDay::On(on)) => on == day,
        Some(GoalDay::Within { from, to }) => {
            (from..=to).contains(&day) && days_between(from, to) < MAX_WINDOW
        }
        None => goal.deadline == Some(day) && goal.read_on == day,
    }
}

/// Lists days in order; those with only a weekend in between are one range.
fn describe_days(days: &[Date], today: Date) -> String {
    let mut ranges: Vec<(Date, Date)> = Vec::new();
    for day in days {
        match ranges.last_mut() {
            Some((_, last)) if days_between(*last, *day) <= 3 && *last < *day => *last = *day,
            _ => ranges.push((*day, *day)),
        }
    }
    let told = ranges.iter().map(|(first, last)| match days_between(*first, *last) {
        0 => format_date(*first, today),
        1 => format!("{}, {}", format_date(*first, today), format_date(*last, today)),
        _ => format_date_range(*first, *last, today),
    });
    told.collect::<Vec<String>>().join(", ")
}
