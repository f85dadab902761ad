//! Recurrence rules as `RRULE` and back.

use jiff::civil::{Date, Weekday};

use planwright_schedule::calendar::{DayOf, Every, Rule};

const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// A rule as `RRULE`, if the standard can say exactly the same; `count` occurrences from `first` on.
pub(super) fn written(rule: &Rule, first: Date, count: usize) -> Option<String> {
    let (freq, interval) = match rule.every {
        Every::Days(step) => ("DAILY", step),
        Every::Weeks(step) => ("WEEKLY", step),
        Every::Months(step) if step % 12 == 0 && rule.days.is_empty() && first.day() <= 28 => {
            ("YEARLY", step / 12)
        }
        Every::Months(step) => ("MONTHLY", step),
    };
    let mut parts = vec![format!("FREQ={freq}")];
    if interval > 1 {
        parts.push(format!("INTERVAL={interval}"));
    }
    let days = match rule.every {
        // The standard skips a month without the day; ours takes the last.
        Every::Months(_) if rule.days.is_empty() && first.day() > 28 => {
            vec![DayOf::Date(first.day())]
        }
        _ => rule.days.clone(),
    };
    parts.extend(day_parts(&days, rule.every)?);
    parts.push(format!("COUNT={count}"));
    Some(parts.join(";"))
}

fn day_parts(days: &[DayOf], every: Every) -> Option<Vec<String>> {
    let name = |weekday: i8| usize::try_from(weekday).ok().and_then(|day| DAYS.get(day));
    let months = matches!(every, Every::Months(_));
    match days {
        [] => Some(Vec::new()),
        [DayOf::Date(day)] if months && *day > 28 => {
            let all: Vec<String> = (28..=*day).map(|day| day.to_string()).collect();
            Some(vec![format!("BYMONTHDAY={}", all.join(",")), "BYSETPOS=-1".to_owned()])
        }
        days if days.iter().all(|day| matches!(day, DayOf::Date(1..=28))) && months => {
            let list = days.iter().filter_map(|day| match day {
                DayOf::Date(day) => Some(day.to_string()),
                _ => None,
            });
            Some(vec![format!("BYMONTHDAY={}", list.collect::<Vec<_>>().join(","))])
        }
        days => {
            let list: Option<Vec<String>> = days
                .iter()
                .map(|day| match day {
                    DayOf::Each(weekday) if !months => Some((*name(*weekday)?).to_owned()),
                    DayOf::Nth(nth, weekday) if months => Some(format!("{nth}{}", name(*weekday)?)),
                    _ => None,
                })
                .collect();
            Some(vec![format!("BYDAY={}", list?.join(","))])
        }
    }
}

/// A rule that was read; an end that is an instant is left to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadRule {
    pub rule: Rule,
    pub until: Option<String>,
}

/// Reads the simple forms of `RRULE`; none for the others.
pub(super) fn read(value: &str, first: Date) -> Option<ReadRule> {
    let (mut freq, mut step, mut count, mut until) = (None, 1u32, None, None);
    let (mut days, mut month_days, mut last_only) = (Vec::new(), Vec::new(), false);
    for part in value.split(';').filter(|part| !part.trim().is_empty()) {
        let (name, value) = part.split_once('=')?;
        match (name.trim().to_ascii_uppercase().as_str(), value.trim()) {
            ("FREQ", value) => freq = Some(value.to_ascii_uppercase()),
            ("INTERVAL", value) => step = value.parse::<u32>().ok()?.max(1),
            ("COUNT", value) => count = Some(value.parse().ok()?),
            ("UNTIL", value) => until = Some(value.to_owned()),
            ("BYDAY", value) => days = value.split(',').map(by_day).collect::<Option<_>>()?,
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
        // The last of the 28th to the nth is the nth or the end of the month.
        month_days = vec![month_days.iter().copied().max().filter(|_| days.is_empty())?];
    }
    let every = match freq?.as_str() {
        "DAILY" => Every::Days(step),
        "WEEKLY" => Every::Weeks(step),
        "MONTHLY" => Every::Months(step),
        "YEARLY" => Every::Months(step.checked_mul(12)?),
        _ => return None,
    };
    for day in month_days {
        days.push(match day {
            1..=31 => DayOf::Date(day),
            // The last day of every month.
            -1 => DayOf::Date(31),
            _ => return None,
        });
    }
    Some(ReadRule { rule: Rule { every, days, count, until: None }, until })
}

fn by_day(text: &str) -> Option<DayOf> {
    let text = text.trim().to_ascii_uppercase();
    let split = text.len().checked_sub(2)?;
    let (nth, name) = (text.get(..split)?, text.get(split..)?);
    let offset = DAYS.iter().position(|day| *day == name)?;
    let weekday = Weekday::from_monday_zero_offset(i8::try_from(offset).ok()?).ok()?;
    match nth {
        "" => Some(DayOf::each(weekday)),
        nth => nth
            .parse()
            .ok()
            .filter(|nth| (-5..=5).contains(nth) && *nth != 0)
            .map(|nth| DayOf::nth(nth, weekday)),
    }
}
