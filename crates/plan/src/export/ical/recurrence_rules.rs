//! Converts recurrence rules to `RRULE` and back.

use jiff::civil::{Date, Weekday};

use planwright_schedule::calendar::{RecurrenceInterval, RecurrenceRule, RecurrenceRuleDay};

const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// Formats a rule as `RRULE`, if the standard can express exactly the same; `count` occurrences from `first` on.
pub(super) fn format_rrule(rule: &RecurrenceRule, first: Date, count: usize) -> Option<String> {
    let (freq, interval) = match rule.every {
        RecurrenceInterval::Days(step) => ("DAILY", step),
        RecurrenceInterval::Weeks(step) => ("WEEKLY", step),
        RecurrenceInterval::Months(step)
            if step % 12 == 0 && rule.days.is_empty() && first.day() <= 28 =>
        {
            ("YEARLY", step / 12)
        }
        RecurrenceInterval::Months(step) => ("MONTHLY", step),
    };
    let mut parts = vec![format!("FREQ={freq}")];
    if interval > 1 {
        parts.push(format!("INTERVAL={interval}"));
    }
    let days = match rule.every {
        // The standard skips a month without the day; ours uses the last day.
        RecurrenceInterval::Months(_) if rule.days.is_empty() && first.day() > 28 => {
            vec![RecurrenceRuleDay::Date(first.day())]
        }
        _ => rule.days.clone(),
    };
    parts.extend(day_parts(&days, rule.every)?);
    parts.push(format!("COUNT={count}"));
    Some(parts.join(";"))
}

fn day_parts(days: &[RecurrenceRuleDay], every: RecurrenceInterval) -> Option<Vec<String>> {
    let name = |weekday: i8| usize::try_from(weekday).ok().and_then(|day| DAYS.get(day));
    let months = matches!(every, RecurrenceInterval::Months(_));
    match days {
        [] => Some(Vec::new()),
        [RecurrenceRuleDay::Date(day)] if months && *day > 28 => {
            let all: Vec<String> = (28..=*day).map(|day| day.to_string()).collect();
            Some(vec![format!("BYMONTHDAY={}", all.join(",")), "BYSETPOS=-1".to_owned()])
        }
        days if days.iter().all(|day| matches!(day, RecurrenceRuleDay::Date(1..=28))) && months => {
            let list = days.iter().filter_map(|day| match day {
                RecurrenceRuleDay::Date(day) => Some(day.to_string()),
                _ => None,
            });
            Some(vec![format!("BYMONTHDAY={}", list.collect::<Vec<_>>().join(","))])
        }
        days => {
            let list: Option<Vec<String>> = days
                .iter()
                .map(|day| match day {
                    RecurrenceRuleDay::Each(weekday) if !months => {
                        Some((*name(*weekday)?).to_owned())
                    }
                    RecurrenceRuleDay::Nth(nth, weekday) if months => {
                        Some(format!("{nth}{}", name(*weekday)?))
                    }
                    _ => None,
                })
                .collect();
            Some(vec![format!("BYDAY={}", list?.join(","))])
        }
    }
}

/// A parsed rule; an end given as an instant is left to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParsedRrule {
    pub rule: RecurrenceRule,
    pub until: Option<String>,
}

/// Parses the simple forms of `RRULE`; returns `None` for the others.
pub(super) fn parse_rrule(value: &str, first: Date) -> Option<ParsedRrule> {
    let (mut freq, mut step, mut count, mut until) = (None, 1u32, None, None);
    let (mut days, mut month_days, mut last_only) = (Vec::new(), Vec::new(), false);
    for part in value.split(';').filter(|part| !part.trim().is_empty()) {
        let (name, value) = part.split_once('=')?;
        match (name.trim().to_ascii_uppercase().as_str(), value.trim()) {
            ("FREQ", value) => freq = Some(value.to_ascii_uppercase()),
            ("INTERVAL", value) => step = value.parse::<u32>().ok()?.max(1),
            ("COUNT", value) => count = Some(value.parse().ok()?),
            ("UNTIL", value) => until = Some(value.to_owned()),
            ("BYDAY", value) => days = value.split(',').map(parse_by_day).collect::<Option<_>>()?,
            ("BYMONTHDAY", value) => {
                month_days = value
                    .split(',')
                    .map(|day| day.trim().parse::<i8>().ok())
                    .collect::<Option<_>>()?;
            }
            ("BYSETPOS", "-1") => last_only = true,
            ("BYMONTH", value) if value.parse() == Ok(first.month()) => {}
            ("WKST", "MO") => {}
            _ => return None,
        }
    }
    if last_only {
        // The last day among the 28th to the nth is the nth or the end of the month.
        month_days = vec![month_days.iter().copied().max().filter(|_| days.is_empty())?];
    }
    let every = match freq?.as_str() {
        "DAILY" => RecurrenceInterval::Days(step),
        "WEEKLY" => RecurrenceInterval::Weeks(step),
        "MONTHLY" => RecurrenceInterval::Months(step),
        "YEARLY" => RecurrenceInterval::Months(step.checked_mul(12)?),
        _ => return None,
    };
    for day in month_days {
        days.push(match day {
            1..=31 => RecurrenceRuleDay::Date(day),
            // The last day of every month.
            -1 => RecurrenceRuleDay::Date(31),
            _ => return None,
        });
    }
    Some(ParsedRrule {
        rule: RecurrenceRule { every, days, count, from: None, until: None },
        until,
    })
}

fn parse_by_day(text: &str) -> Option<RecurrenceRuleDay> {
    let text = text.trim().to_ascii_uppercase();
    let split = text.len().checked_sub(2)?;
    let (nth, name) = (text.get(..split)?, text.get(split..)?);
    let offset = DAYS.iter().position(|day| *day == name)?;
    let weekday = Weekday::from_monday_zero_offset(i8::try_from(offset).ok()?).ok()?;
    match nth {
        "" => Some(RecurrenceRuleDay::each_weekday(weekday)),
        nth => nth
            .parse()
            .ok()
            .filter(|nth| (-5..=5).contains(nth) && *nth != 0)
            .map(|nth| RecurrenceRuleDay::nth_weekday(nth, weekday)),
    }
}
