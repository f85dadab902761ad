//! Answers that a person can choose instead of typing one: the assumed value, less and more of it, each with its
//! effect.

use std::fmt::Write as _;

use jiff::ToSpan as _;
use jiff::civil::Date;

use planwright_model::{AssumptionOrigin, PlanContext, QuestionChoice};
use planwright_text::{dates, units};

use super::facts::{AT, CADENCE, DAY, HORIZON, LEVEL, OCCURRENCE, WEEKLY};
use planwright_plan::sizing;

/// Returns the choices of a question, smallest first; empty if no sensible list exists.
pub(super) fn question_choices(
    context: &PlanContext,
    key: &str,
    assumed: &str,
    effort: u32,
) -> Vec<QuestionChoice> {
    let number = assumed.parse::<u32>().ok().filter(|number| *number > 0);
    let plain = |answers: &[&str]| {
        answers
            .iter()
            .map(|answer| build_choice(*answer, String::new(), *answer == assumed))
            .collect()
    };
    match (key, number) {
        (WEEKLY, Some(minutes)) => values_around(minutes, 2 * sizing::EFFORT_UNIT_MINUTES)
            .map(|some| {
                build_choice(
                    units::format_planned(some.into()),
                    describe_finish(context, effort, some),
                    some == minutes,
                )
            })
            .collect(),
        (HORIZON, Some(weeks)) => values_around(weeks, 1)
            .map(|some| {
                let answer = units::format_counted(some as usize, "week");
                build_choice(answer, describe_end_date(context, some), some == weeks)
            })
            .collect(),
        (OCCURRENCE, Some(minutes)) => values_around(minutes, 5)
            .map(|some| {
                build_choice(format_duration(some), "each time".to_owned(), some == minutes)
            })
            .collect(),
        (CADENCE, _) => plain(&["every day", "3 times a week", "every week", "every month"]),
        (LEVEL, _) => plain(&["beginner", "intermediate", "advanced"]),
        (DAY, _) => day_choices(context, assumed),
        (AT, _) => plain(&["07:00", "12:00", "18:00"]),
        (_, Some(number)) => values_around(number, 1)
            .map(|some| build_choice(some.to_string(), String::new(), some == number))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the choices that a blueprint lists.
pub(super) fn listed_choices(answers: &[String], assumed: &str) -> Vec<QuestionChoice> {
    answers.iter().map(|answer| build_choice(answer, String::new(), answer == assumed)).collect()
}

/// Returns the assumed day and those a week before and after it.
fn day_choices(context: &PlanContext, assumed: &str) -> Vec<QuestionChoice> {
    let Ok(day) = assumed.parse::<Date>() else { return Vec::new() };
    let start = context.constraints.start;
    let near = [-7, 0, 7].into_iter().filter_map(|days: i64| day.checked_add(days.days()).ok());
    near.filter(|near| *near >= start)
        .map(|near| {
            let weeks = (near - start).get_days().max(0).unsigned_abs() as usize / 7;
            let effect = match weeks {
                0 => "less than a week to prepare".to_owned(),
                weeks => format!("{} to prepare", units::format_counted(weeks, "week")),
            };
            build_choice(dates::format_date(near, start), effect, near == day)
        })
        .collect()
}

/// Puts what an answer leads to before what a choice says already.
pub(super) fn prepend_effect(choice: &mut QuestionChoice, words: &str) {
    choice.effect = match (words.is_empty(), choice.effect.is_empty()) {
        (true, _) => return,
        (false, true) => words.to_owned(),
        (false, false) => format!("{words}, {}", choice.effect),
    };
}

fn build_choice(answer: impl Into<String>, effect: String, assumed: bool) -> QuestionChoice {
    let effect = match (effect.is_empty(), assumed) {
        (_, false) => effect,
        (true, true) => "assumed if you skip".to_owned(),
        (false, true) => format!("{effect}, assumed if you skip"),
    };
    QuestionChoice { answer: answer.into(), effect }
}

/// Returns half of a value, the value, and one and a half times the value, in multiples of `step`.
fn values_around(value: u32, step: u32) -> impl Iterator<Item = u32> {
    let rounded = |some: u32| (some / step).max(1) * step;
    let (less, more) = (rounded(value / 2), rounded(value.saturating_add(value.div_ceil(2))));
    let mut all = vec![less, value, more];
    all.dedup();
    all.into_iter()
}

/// Formats a duration for people.
fn format_duration(minutes: u32) -> String {
    match (minutes / 60, minutes % 60) {
        (hours @ 1.., 0) => units::format_counted(hours as usize, "hour"),
        (hours @ 1.., 30) => format!("{hours}.5 hours"),
        _ => format!("{minutes} minutes"),
    }
}

/// Describes when the work would be done with a number of minutes a week: `9 weeks, until about Tue 19 Jan`.
fn describe_finish(context: &PlanContext, effort: u32, weekly: u32) -> String {
    let weeks = effort.div_ceil(weekly.max(1)).max(1);
    let limits = &context.constraints;
    let mut words = units::format_counted(weeks as usize, "week");
    let Ok(end) = limits.start.checked_add(i64::from(weeks).weeks()) else { return words };
    let _ = write!(words, ", until about {}", dates::format_date(end, limits.start));
    let deadline = limits.deadline.map(planwright_model::OffsetDateTime::local_date);
    let late = deadline
        .or_else(|| stated_day(context))
        .map_or(0, |stated| (end - stated).get_days().max(0) / 7);
    if late > 0 {
        let late = units::format_counted(late.unsigned_abs() as usize, "week");
        let _ = write!(words, ", {late} later than you said");
    }
    words
}

/// Returns the day of the thing itself, if the person said it.
fn stated_day(context: &PlanContext) -> Option<Date> {
    let day = context.find_assumption(DAY)?;
    let stated = day.origin != AssumptionOrigin::Template;
    day.value.parse().ok().filter(|_| stated)
}

/// Describes the day on which this many weeks end.
fn describe_end_date(context: &PlanContext, weeks: u32) -> String {
    let start = context.constraints.start;
    let Ok(end) = start.checked_add(i64::from(weeks).weeks()) else { return String::new() };
    format!("until {}", dates::format_date(end, start))
}
