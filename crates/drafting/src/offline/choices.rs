//! Answers that a person can choose instead of typing one: the assumed value, less and more of it, each with its
//! effect.

use jiff::ToSpan as _;

use planwright_model::{PlanContext, QuestionChoice};
use planwright_text::{dates, units};

use super::facts::{AT, CADENCE, HORIZON, LEVEL, OCCURRENCE, WEEKLY};
use planwright_plan::sizing;

/// Returns the choices of a question, smallest first; empty if no sensible list exists.
pub(super) fn question_choices(
    context: &PlanContext,
    key: &str,
    assumed: &str,
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
                    format_duration(some),
                    describe_total_work(context, some),
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
        (AT, _) => plain(&["07:00", "12:00", "18:00"]),
        _ => Vec::new(),
    }
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

/// Describes the total work for a number of minutes per week.
fn describe_total_work(context: &PlanContext, weekly: u32) -> String {
    let limits = &context.constraints;
    let days = limits.deadline.and_then(|deadline| {
        let until = limits.start.until(deadline.local_date()).ok()?;
        u32::try_from(until.get_days()).ok()
    });
    let weeks = days.map(|days| days.div_ceil(7)).or(limits.horizon_weeks.map(u32::from));
    match weeks {
        Some(weeks @ 1..) => {
            let minutes = u64::from(weekly) * u64::from(weeks);
            let span = units::format_counted(weeks as usize, "week");
            format!("{} of work in {span}", units::format_planned(minutes))
        }
        _ => "a week".to_owned(),
    }
}

/// Describes the day on which this many weeks end.
fn describe_end_date(context: &PlanContext, weeks: u32) -> String {
    let start = context.constraints.start;
    let Ok(end) = start.checked_add(i64::from(weeks).weeks()) else { return String::new() };
    format!("until {}", dates::format_date(end, start))
}
