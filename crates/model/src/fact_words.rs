//! Readings of facts in words, as cards and lists show them.

use jiff::civil::{Date, Time};

use super::{FactLength, FactReading, FactSubject, FactWorkingTime, Weekday};
use planwright_text::dates::{format_date, format_date_range, format_time, format_time_range};
use planwright_text::units;

impl FactReading {
    /// What was understood, in words: "until Mon 31 May 2027", "80 guests".
    pub fn describe(&self, today: Date) -> String {
        let day = |date: Date| format_date(date, today);
        match self {
            Self::Deadline { on } => format!("until {}", day(*on)),
            Self::Start { on } => format!("not before {}", day(*on)),
            Self::FixedDate { subject, on } => format!("{}on {}", lead(subject), day(*on)),
            Self::Window { subject, from, to } => {
                format!("{}{}", lead(subject), format_date_range(*from, *to, today))
            }
            Self::Absence { person, from, to } => {
                let days = format_date_range(*from, *to, today);
                match person {
                    Some(name) => format!("{name} away {days}"),
                    None => format!("no work {days}"),
                }
            }
            Self::Capacity { person, weekly_minutes } => {
                let hours = units::format_planned((*weekly_minutes).into());
                match person {
                    Some(name) => format!("{name} at most {hours} a week"),
                    None => format!("at most {hours} a week"),
                }
            }
            Self::WeekdaysOff { person, days } => {
                let days: Vec<String> = days.iter().map(|day| format!("{day:?}")).collect();
                let days = days.join(", ");
                match person {
                    Some(name) => format!("{name} not on {days}"),
                    None => format!("no work on {days}"),
                }
            }
            Self::DailyCapacity { minutes } => {
                format!("at most {} a day", units::format_planned((*minutes).into()))
            }
            Self::WorkingTimes { person, times } => {
                let parts: Vec<String> = times.iter().map(describe_time).collect();
                let parts = parts.join(" and ");
                match person {
                    Some(name) => format!("{name} only {parts}"),
                    None => format!("only {parts}"),
                }
            }
            Self::Person { name, role: None } => format!("{name} takes part"),
            Self::Person { name, role: Some(role) } => format!("{name}: {role}"),
            Self::Budget { subject, amount, currency } => {
                let amount = units::format_count(*amount);
                let currency = currency.as_deref().map(|code| format!(" {code}"));
                let lead = subject.as_ref().map(lead).unwrap_or_default();
                format!("{lead}at most {amount}{}", currency.unwrap_or_default())
            }
            Self::Duration { subject, length } => {
                format!("{}{}", lead(subject), describe_length(*length))
            }
            Self::Order { first, then } => {
                format!("{} before {}", name(first), name(then))
            }
            Self::Count { noun, amount } => {
                let count = units::format_count((*amount).into());
                match (noun.as_str(), *amount) {
                    ("person", 2..) => format!("{count} people"),
                    ("child", 2..) => format!("{count} children"),
                    (noun, 2..) if !is_measure(noun) => format!("{count} {}", to_plural(noun)),
                    (noun, _) => format!("{count} {noun}"),
                }
            }
            Self::Place { name } if says_where(name) => name.clone(),
            Self::Place { name } => format!("in {name}"),
            Self::EventDays { days } => {
                format!("it takes {}", units::format_counted(*days as usize, "day"))
            }
        }
    }
}

/// Whether a place has its own preposition.
fn says_where(place: &str) -> bool {
    const PREPOSITIONS: [&str; 16] = [
        "above", "around", "at", "behind", "below", "between", "by", "in", "inside", "near",
        "next", "on", "opposite", "outside", "under", "within",
    ];
    let first = place.split_whitespace().next().unwrap_or_default().to_lowercase();
    PREPOSITIONS.contains(&first.as_str())
}

fn name(subject: &FactSubject) -> String {
    match subject {
        FactSubject::Plan => "the plan".to_owned(),
        FactSubject::Node(id) => id.to_string(),
        FactSubject::Words(words) => words.clone(),
    }
}

/// The subject before its date; the plan needs no name.
fn lead(subject: &FactSubject) -> String {
    match subject {
        FactSubject::Plan => String::new(),
        other => format!("{}: ", name(other)),
    }
}

fn describe_length(length: FactLength) -> String {
    match length {
        FactLength::Minutes(minutes) => units::format_planned(minutes.into()),
        FactLength::Days(days) if days % 7 == 0 => {
            format!("at most {}", units::format_counted(days as usize / 7, "week"))
        }
        FactLength::Days(days) => {
            format!("at most {}", units::format_counted(days as usize, "day"))
        }
    }
}

fn describe_time(time: &FactWorkingTime) -> String {
    let days = match time.days.as_slice() {
        [] => String::new(),
        [Weekday::Sat, Weekday::Sun] => "weekends".to_owned(),
        days => days.iter().map(|day| format!("{day:?}")).collect::<Vec<_>>().join(", "),
    };
    let hours = time.hours.map(|hours| match (hours.start, hours.end) {
        (start, end) if end == Time::midnight() => format!("from {} on", format_time(start)),
        (start, end) => format_time_range(start, end),
    });
    [Some(days).filter(|days| !days.is_empty()), hours]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

fn is_measure(noun: &str) -> bool {
    matches!(noun, "kg" | "km" | "lb" | "gb" | "tb")
}

fn to_plural(noun: &str) -> String {
    let ends = |tails: &[&str]| tails.iter().any(|tail| noun.ends_with(tail));
    if ends(&["s", "sh", "ch", "x"]) {
        return format!("{noun}es");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LocalTimeInterval;
    use jiff::civil::{date, time};

    #[test]
    fn readings_are_said_in_words() {
        let today = date(2026, 11, 17);
        let said = |reading: FactReading| reading.describe(today);
        let (from, to) = (date(2027, 3, 1), date(2027, 3, 31));
        assert_eq!(said(FactReading::Deadline { on: date(2027, 5, 31) }), "until Mon 31 May 2027");
        let window = FactReading::Window { subject: FactSubject::Plan, from, to };
        assert_eq!(said(window), "Mon 1 – Wed 31 Mar 2027");
        let count = |noun: &str, amount| said(FactReading::Count { noun: noun.into(), amount });
        assert_eq!(count("guest", 80), "80 guests");
        assert_eq!(count("dish", 10), "10 dishes");
        assert_eq!(count("person", 40), "40 people");
        assert_eq!(count("kg", 5), "5 kg");
        let only = |person: Option<&str>, start, end| FactReading::WorkingTimes {
            person: person.map(str::to_owned),
            times: vec![FactWorkingTime {
                days: Vec::new(),
                hours: Some(LocalTimeInterval::new(start, end)),
            }],
        };
        let evenings = only(None, time(17, 0, 0, 0), Time::midnight());
        assert_eq!(said(evenings), "only from 17:00 on");
        let mornings = only(Some("Ben"), time(8, 0, 0, 0), time(12, 0, 0, 0));
        assert_eq!(said(mornings), "Ben only 08:00 – 12:00");
        let budget =
            FactReading::Budget { subject: None, amount: 20_000, currency: Some("EUR".into()) };
        assert_eq!(said(budget), "at most 20,000 EUR");
        let weeks =
            FactReading::Duration { subject: FactSubject::Plan, length: FactLength::Days(42) };
        assert_eq!(said(weeks), "at most 6 weeks");
    }
}
