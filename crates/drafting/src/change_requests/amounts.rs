//! Times, dates and weekdays as people write them. Each parser consumes its entire text or fails.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time};

use crate::calendar_names::{WEEKDAYS, find_month};
use crate::offline::{Goal, GoalParseContext};
use planwright_model::{LocalTimeInterval, Weekday};
use planwright_schedule::calendar::monday_of;

use super::phrase::{strip_phrase_prefix, strip_phrase_suffix};
use crate::number_names::parse_number_word;

/// A working day in minutes.
const DAY: f64 = 480.0;

pub(super) fn parse_number(text: &str) -> Option<f64> {
    let named = match text {
        "a" | "an" => Some(1.0),
        "half" => Some(0.5),
        _ => parse_number_word(text),
    };
    let digits = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    named.or_else(|| digits.then(|| text.parse().ok()).flatten())
}

fn unit_minutes(text: &str) -> Option<f64> {
    Some(match text {
        "h" | "hr" | "hrs" | "hour" | "hours" => 60.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 1.0,
        "d" | "day" | "days" => DAY,
        _ => return None,
    })
}

/// Separates numbers and letters, so that "3h30" is three words.
fn split_tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut kind = 0;
    for c in text.to_lowercase().chars() {
        let next = if c.is_ascii_digit() || (c == '.' && kind == 1) { 1 } else { 2 };
        match c {
            c if c.is_whitespace() || matches!(c, ',' | '-') => kind = 0,
            c if next == kind => found.last_mut().map_or((), |word| word.push(c)),
            c => {
                found.push(c.to_string());
                kind = next;
            }
        }
    }
    found
}

/// Parses an amount of working time: "3 hours", "1h30", "half an hour", "an hour and a half", "2 days".
pub(super) fn parse_minutes(text: &str) -> Option<u32> {
    let text = strip_phrase_prefix(
        text,
        &["about", "around", "roughly", "only", "just", "exactly", "some"],
    )
    .unwrap_or(text);
    let text = strip_phrase_suffix(text, &["in all", "in total", "of work", "long", "only"])
        .unwrap_or(text);
    let words = split_tokens(text);
    let mut total = 0.0;
    let mut last = None;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if word == "and" && last.is_some() && at < words.len() {
            continue;
        }
        let count = parse_number(word)?;
        if matches!(word.as_str(), "a" | "an") && words.get(at).is_some_and(|next| next == "half") {
            total += last? * 0.5;
            at += 1;
            continue;
        }
        if word == "half" {
            at += usize::from(words.get(at).is_some_and(|next| next == "an" || next == "a"));
        }
        let found = words.get(at).and_then(|word| unit_minutes(word));
        at += usize::from(found.is_some());
        // "1h30": the number after hours is in minutes, without a unit.
        let each = found.or_else(|| (last == Some(60.0) && at == words.len()).then_some(1.0))?;
        total += count * each;
        last = Some(each);
    }
    let total: f64 = total.round();
    (1.0..=1e6).contains(&total).then_some(total as u32)
}

/// Parses a span of weeks: "8 weeks", "two months".
pub(super) fn parse_weeks(text: &str) -> Option<u16> {
    let text = strip_phrase_suffix(text, &["long", "in all"]).unwrap_or(text);
    let words = split_tokens(text);
    let [count, unit] = words.as_slice() else { return None };
    let each = match unit.as_str() {
        "week" | "weeks" => 1.0,
        "month" | "months" => 4.345,
        _ => return None,
    };
    let weeks = (parse_number(count)? * each).round();
    (1.0..=520.0).contains(&weeks).then_some(weeks as u16)
}

/// Words that may occur in dates; a phrase with any other word is not a date.
const DATE_WORDS: [&str; 33] = [
    "the",
    "of",
    "on",
    "end",
    "next",
    "this",
    "week",
    "month",
    "quarter",
    "year",
    "today",
    "tomorrow",
    "st",
    "nd",
    "rd",
    "th",
    "christmas",
    "new",
    "year's",
    "eow",
    "eom",
    "eoy",
    "before",
    "q",
    "mid",
    "middle",
    "easter",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "weekend",
];
/// Parses a day relative to today; for a span, its last day.
pub(super) fn parse_date(text: &str, today: Date) -> Option<Date> {
    let is_date_word = |word: &str| {
        let name = word.to_lowercase();
        let month = name.get(..3).is_some_and(|short| find_month(short).is_some());
        word.chars().all(|c| c.is_ascii_digit())
            || DATE_WORDS.contains(&name.as_str())
            || (month && name.chars().all(char::is_alphabetic))
            || parse_weekday(&name).is_some()
    };
    let numbers = |word: &str| word.split(['-', '.', '/']).all(|part| part.parse::<u16>().is_ok());
    let known = |word: &str| {
        let word = word.trim_matches([',', '.']);
        numbers(word) || split_tokens(word).iter().all(|part| is_date_word(part))
    };
    if text.trim().is_empty() || !text.split_whitespace().all(known) {
        return None;
    }
    let opening =
        if strip_phrase_prefix(text, &["before"]).is_some() { "finish" } else { "finish by" };
    Goal::parse(&format!("{opening} {text}"), GoalParseContext::new(today, 5)).deadline
}

/// Parses the first day of a span: a start "next week" is its Monday.
pub(crate) fn parse_first_day(text: &str, today: Date) -> Option<Date> {
    match text.trim().to_lowercase().as_str() {
        "next week" => monday_of(today).checked_add(7.days()).ok(),
        "next month" => today.first_of_month().checked_add(1.month()).ok(),
        "today" | "now" => Some(today),
        lower if lower.split_whitespace().any(|word| word == "end" || word == "before") => None,
        _ => parse_date(text, today),
    }
}

fn parse_weekday(text: &str) -> Option<Weekday> {
    let is_named = |name: &&str| {
        text == *name
            || text.strip_suffix('s') == Some(name)
            || text.len() == 3 && name.starts_with(text)
    };
    let place = WEEKDAYS.iter().position(is_named)?;
    Some(Weekday::ALL[place])
}

/// Parses days that recur every week, such as "Mondays", but not "Monday and Tuesday mornings". A single day must be
/// plural or preceded by "every", since "Monday" may mean the next one.
pub(super) fn parse_weekdays(text: &str) -> Option<Vec<Weekday>> {
    let lower = text.to_lowercase();
    match lower.trim() {
        "weekends" | "the weekend" | "weekend" => return Some(vec![Weekday::Sat, Weekday::Sun]),
        "weekdays" => return Some(Weekday::ALL[..5].to_vec()),
        _ => {}
    }
    let every = strip_phrase_prefix(&lower, &["every", "each"]);
    let words: Vec<&str> = every
        .unwrap_or(&lower)
        .split([' ', ','])
        .filter(|word| !["", "and", "or"].contains(word))
        .collect();
    let weekly = every.is_some() || words.len() > 1 || words.iter().any(|word| word.ends_with('s'));
    let mut days: Vec<Weekday> = words.into_iter().map(parse_weekday).collect::<Option<_>>()?;
    days.sort_unstable();
    days.dedup();
    (weekly && !days.is_empty()).then_some(days)
}

/// Parses a time of day: "9", "9:30", "18h", "6 pm".
pub(super) fn parse_time(text: &str) -> Option<Time> {
    let lower = text.trim().to_lowercase();
    let (digits, noon) = match (lower.strip_suffix("pm"), lower.strip_suffix("am")) {
        (Some(rest), _) => (rest.trim(), Some(12)),
        (_, Some(rest)) => (rest.trim(), Some(0)),
        _ => (lower.strip_suffix('h').unwrap_or(&lower), None),
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let hour: i8 = hour.trim().parse().ok()?;
    let hour = match noon {
        Some(shift) if (1..=12).contains(&hour) => hour % 12 + shift,
        Some(_) => return None,
        None => hour,
    };
    Time::new(if hour == 24 { 0 } else { hour }, minute.trim().parse().ok()?, 0, 0).ok()
}

/// Parses a span of the day between two times.
pub(super) fn parse_interval(from: &str, to: &str) -> Option<LocalTimeInterval> {
    let interval = LocalTimeInterval::new(parse_time(from)?, parse_time(to)?);
    (interval.duration_minutes() > 0).then_some(interval)
}
