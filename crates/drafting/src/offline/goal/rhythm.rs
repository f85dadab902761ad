//! What repeats: hours a week (a budget), a cadence, and so many things per period.

use jiff::civil::{Time, Weekday};

use super::amount::{self, Amount, Article, Unit, WEEKS_PER_MONTH, number};
use super::dates::weekday;
use super::words::Words;

/// How often something happens: so many times in every `interval` units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cadence {
    pub every: Period,
    pub interval: u16,
    /// Named weekdays, Monday first; empty when the goal names none.
    pub on: Vec<Weekday>,
    /// How often within one period, at least once.
    pub times: u16,
}

/// The unit of a cadence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Period {
    fn of(unit: Unit) -> Option<Self> {
        Some(match unit {
            Unit::Minute | Unit::Hour => return None,
            Unit::Day => Self::Day,
            Unit::Week => Self::Week,
            Unit::Month => Self::Month,
            Unit::Quarter => Self::Quarter,
            Unit::Year => Self::Year,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    /// How long the period is in weeks.
    pub fn weeks(self) -> f64 {
        match self {
            Self::Day => 1.0 / 7.0,
            Self::Week => 1.0,
            Self::Month => WEEKS_PER_MONTH,
            Self::Quarter => 13.0,
            Self::Year => 52.0,
        }
    }
}

impl Cadence {
    pub fn each(every: Period) -> Self {
        Self { every, interval: 1, on: Vec::new(), times: 1 }
    }

    /// Occurrences in an average week.
    pub fn per_week(&self) -> f64 {
        let times = f64::from(self.times).max(self.on.len() as f64);
        times / (f64::from(self.interval) * self.every.weeks())
    }

    /// The cadence in words, as in "every 2 weeks".
    pub fn words(&self) -> String {
        let base = match (self.times, self.interval) {
            (1, 1) => format!("every {}", self.every.name()),
            (1, n) => format!("every {n} {}s", self.every.name()),
            (times, _) => format!("{times} times a {}", self.every.name()),
        };
        if self.on.is_empty() {
            return base;
        }
        let days: Vec<String> = self.on.iter().map(|day| format!("{day:?}")).collect();
        format!("{base} on {}", days.join(", "))
    }
}

/// So many things made in every period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerPeriod {
    pub count: u16,
    pub noun: String,
    pub period: Cadence,
    /// The thing is one that gets made, such as a post or a release.
    pub made: bool,
}

/// Minutes that the goal sets aside, in a week or for one occurrence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Budget {
    Weekly(f64),
    /// "20 minutes every day": one occurrence takes so long.
    Occurrence {
        minutes: f64,
        every: Period,
    },
}

/// Finds "N hours a week" and its kin, and marks the words as read.
pub(super) fn budget(words: &mut Words<'_>, working_days: u16) -> Option<Budget> {
    for index in 0..words.len() {
        let Some(found) = amount::amount(words, index, Article::Counts) else { continue };
        let Some(minutes) = found.unit.minutes().map(|unit| unit * found.count) else { continue };
        let Some((budget, end)) = budget_of(words, found, minutes, working_days) else { continue };
        words.mark(index..end);
        return Some(budget);
    }
    None
}

fn budget_of(words: &Words<'_>, found: Amount, minutes: f64, days: u16) -> Option<(Budget, usize)> {
    let mut link = words.skip(found.end, &["of", "time", "work"]);
    let adverb = match words.at(link) {
        "weekly" => Some(Unit::Week),
        "daily" => Some(Unit::Day),
        _ => None,
    };
    if let Some(unit) = adverb {
        return Some((in_a_week(unit, minutes, days)?, link + 1));
    }
    let word = words.at(link).to_owned();
    if !["a", "an", "per", "each", "every", "in"].contains(&word.as_str()) {
        return None;
    }
    link += 1;
    if words.is(link, &["weekday", "workday", "working"]) {
        let end = link + 1 + usize::from(words.is(link + 1, &["day"]));
        return Some((in_a_week(Unit::Day, minutes, days)?, end));
    }
    let unit = match words.at(link) {
        "morning" | "evening" | "night" | "afternoon" if word != "in" => Unit::Day,
        text => Unit::named(text)?,
    };
    // "in" only ties hours to a whole: "10 hours in a week" is a budget, "5 minutes in a day" is not one people say.
    if word == "in" {
        return None;
    }
    let occurrence = matches!(word.as_str(), "each" | "every") && unit == Unit::Day;
    let budget = if occurrence {
        Budget::Occurrence { minutes, every: Period::Day }
    } else {
        in_a_week(unit, minutes, days)?
    };
    Some((budget, link + 1))
}

fn in_a_week(unit: Unit, minutes: f64, working_days: u16) -> Option<Budget> {
    Some(Budget::Weekly(match unit {
        Unit::Day => minutes * f64::from(working_days),
        unit => minutes / unit.weeks()?,
    }))
}

/// Things that get made, in the singular.
const MADE: [&str; 22] = [
    "project",
    "post",
    "release",
    "video",
    "report",
    "article",
    "episode",
    "issue",
    "newsletter",
    "essay",
    "song",
    "painting",
    "drawing",
    "app",
    "game",
    "story",
    "prototype",
    "feature",
    "podcast",
    "tutorial",
    "chapter",
    "sprint",
];

/// Finds "one project per month", "a blog post every week", and marks the words as read.
pub(super) fn per_period(words: &mut Words<'_>) -> Option<PerPeriod> {
    for index in 0..words.len() {
        let count = match words.at(index) {
            "a" | "an" => Some(1.0),
            text => number(text),
        };
        let Some(count) = count.filter(|count| *count >= 1.0) else { continue };
        if let Some((found, end)) = per_period_at(words, index, count) {
            if found.made {
                words.mark(index..end);
            }
            return Some(found);
        }
    }
    None
}

fn per_period_at(words: &Words<'_>, index: usize, count: f64) -> Option<(PerPeriod, usize)> {
    for link in index + 2..=index + 4 {
        if (index + 1..=link).any(|word| {
            words.at(word).is_empty() || words.get(word).is_some_and(|word| word.breaks)
        }) {
            return None;
        }
        if words.is(link - 1, &["times", "time", "x"]) || Unit::named(words.at(link - 1)).is_some()
        {
            return None;
        }
        if !words.is(link, &["per", "every", "each", "a"]) {
            continue;
        }
        let Some((period, end)) = period_after(words, link + 1) else { continue };
        let noun = singular(words.at(link - 1));
        let made = MADE.contains(&noun.as_str());
        let noun = words.typed(index + 1..link).to_owned();
        return Some((PerPeriod { count: whole(count), noun, period, made }, end));
    }
    None
}

pub(super) fn singular(text: &str) -> String {
    match text.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if text.ends_with("ss") => text.to_owned(),
        None => text.strip_suffix('s').unwrap_or(text).to_owned(),
    }
}

/// "week", "2 weeks", "other week" after "every".
fn period_after(words: &Words<'_>, index: usize) -> Option<(Cadence, usize)> {
    let (interval, at) = match words.at(index) {
        "other" | "second" => (2, index + 1),
        "third" => (3, index + 1),
        text => number(text).map_or((1, index), |number| (whole(number), index + 1)),
    };
    let period = Period::of(Unit::named(words.at(at))?)?;
    Some((Cadence { interval, ..Cadence::each(period) }, at + 1))
}

fn whole(number: f64) -> u16 {
    number.round().clamp(1.0, 999.0) as u16
}

/// Finds how often the goal repeats, and marks the words as read.
pub(super) fn cadence(words: &mut Words<'_>) -> Option<Cadence> {
    for index in 0..words.len() {
        let found = times_a_period(words, index)
            .or_else(|| every_period(words, index))
            .or_else(|| adverb(words, index))
            .or_else(|| plural_days(words, index));
        if let Some((cadence, end)) = found {
            words.mark(index..end);
            return Some(cadence);
        }
    }
    None
}

fn adverb(words: &Words<'_>, index: usize) -> Option<(Cadence, usize)> {
    let (period, interval) = match words.at(index) {
        "daily" | "nightly" => (Period::Day, 1),
        "weekly" => (Period::Week, 1),
        "biweekly" | "bi-weekly" | "fortnightly" => (Period::Week, 2),
        "monthly" => (Period::Month, 1),
        "quarterly" => (Period::Quarter, 1),
        "yearly" | "annually" | "annual" => (Period::Year, 1),
        _ => return None,
    };
    Some((Cadence { interval, ..Cadence::each(period) }, index + 1))
}

fn every_period(words: &Words<'_>, index: usize) -> Option<(Cadence, usize)> {
    if !words.is(index, &["every", "each"]) {
        return None;
    }
    if let Some(found) = period_after(words, index + 1) {
        return Some(found);
    }
    match words.at(index + 1) {
        "morning" | "evening" | "night" | "afternoon" | "noon" | "lunchtime" => {
            Some((Cadence::each(Period::Day), index + 2))
        }
        "weekday" | "workday" => Some((on_days(&WORKDAYS), index + 2)),
        "weekend" => Some((on_days(&[Weekday::Saturday]), index + 2)),
        "fortnight" => Some((Cadence { interval: 2, ..Cadence::each(Period::Week) }, index + 2)),
        _ => day_list(words, index + 1),
    }
}

const WORKDAYS: [Weekday; 5] =
    [Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday];

fn on_days(days: &[Weekday]) -> Cadence {
    let mut on = days.to_vec();
    on.sort_by_key(|day| day.to_monday_zero_offset());
    on.dedup();
    Cadence { on, ..Cadence::each(Period::Week) }
}

/// "Monday", "Monday and Thursday", "Mon, Wed and Fri".
fn day_list(words: &Words<'_>, index: usize) -> Option<(Cadence, usize)> {
    let mut days = vec![weekday(words.at(index))?];
    let mut end = index + 1;
    loop {
        let next = words.skip(end, &["and", "every", "each"]);
        let Some(day) = weekday(words.at(next)) else { break };
        days.push(day);
        end = next + 1;
    }
    Some((on_days(&days), end))
}

/// "on Fridays", "weekdays": a plural says that it repeats.
fn plural_days(words: &Words<'_>, index: usize) -> Option<(Cadence, usize)> {
    let at = words.skip(index, &["on"]);
    let text = words.at(at);
    if text == "weekdays" {
        return Some((on_days(&WORKDAYS), at + 1));
    }
    if text == "weekends" {
        return Some((on_days(&[Weekday::Saturday]), at + 1));
    }
    let plural = text.len() > 4 && text.ends_with("days");
    if plural { day_list(words, at) } else { None }
}

fn times_a_period(words: &Words<'_>, index: usize) -> Option<(Cadence, usize)> {
    let (times, at) = match words.at(index) {
        "once" => (1, index + 1),
        "twice" => (2, index + 1),
        text if words.is(index + 1, &["times", "x", "time"]) => (whole(number(text)?), index + 2),
        _ => return None,
    };
    if !words.is(at, &["a", "an", "per", "each", "every"]) {
        return None;
    }
    let period = Period::of(Unit::named(words.at(at + 1))?)?;
    let on = if period == Period::Week { spread(times) } else { Vec::new() };
    Some((Cadence { every: period, interval: 1, on, times }, at + 2))
}

/// Weekdays with even gaps for so many times a week.
fn spread(times: u16) -> Vec<Weekday> {
    use Weekday::{Friday, Monday, Saturday, Thursday, Tuesday, Wednesday};
    match times {
        2 => vec![Tuesday, Thursday],
        3 => vec![Monday, Wednesday, Friday],
        4 => vec![Monday, Tuesday, Thursday, Friday],
        5 => WORKDAYS.to_vec(),
        6 => vec![Monday, Tuesday, Wednesday, Thursday, Friday, Saturday],
        _ => Vec::new(),
    }
}

/// Finds "at 8", "at 7:30 pm", "at noon", and marks the words as read.
pub(super) fn time_of_day(words: &mut Words<'_>) -> Option<Time> {
    for index in 0..words.len() {
        if words.at(index) != "at" {
            continue;
        }
        let half = match words.at(index + 2) {
            "pm" => Some(12),
            "am" => Some(0),
            _ => None,
        };
        let Some(time) = clock(words.at(index + 1), half) else { continue };
        words.mark(
            index
                ..index
                    + 2
                    + usize::from(half.is_some() || words.is(index + 2, &["o'clock", "sharp"])),
        );
        return Some(time);
    }
    None
}

fn clock(text: &str, half: Option<i8>) -> Option<Time> {
    match text {
        "noon" | "midday" => return Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Time::new(0, 0, 0, 0).ok(),
        _ => {}
    }
    let (hour, minute) = text.split_once([':', '.']).unwrap_or((text, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some(shift) if (1..=12).contains(&hour) => hour % 12 + shift,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}
