//! Recurring amounts: hours a week (a budget), a cadence, and a number of things per period.

use jiff::civil::{Time, Weekday};

use super::amount::{self, ArticlePolicy, TimeUnit, UnitAmount, WEEKS_PER_MONTH, parse_number};
use super::dates::parse_weekday;
use super::described_rhythm;
use super::words::GoalWords;

/// How often something happens: this many times in every `interval` units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalCadence {
    pub every: CadencePeriod,
    pub interval: u16,
    /// Named weekdays, Monday first; empty if the goal names none.
    pub on: Vec<Weekday>,
    /// How often within one period, at least once.
    pub times: u16,
}

/// The unit of a cadence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CadencePeriod {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl CadencePeriod {
    pub(super) fn from_unit(unit: TimeUnit) -> Option<Self> {
        Some(match unit {
            TimeUnit::Minute | TimeUnit::Hour => return None,
            TimeUnit::Day => Self::Day,
            TimeUnit::Week => Self::Week,
            TimeUnit::Month => Self::Month,
            TimeUnit::Quarter => Self::Quarter,
            TimeUnit::Year => Self::Year,
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

    /// Returns the length of the period in weeks.
    pub fn in_weeks(self) -> f64 {
        match self {
            Self::Day => 1.0 / 7.0,
            Self::Week => 1.0,
            Self::Month => WEEKS_PER_MONTH,
            Self::Quarter => 13.0,
            Self::Year => 52.0,
        }
    }
}

impl GoalCadence {
    pub fn once_per(every: CadencePeriod) -> Self {
        Self { every, interval: 1, on: Vec::new(), times: 1 }
    }

    /// Returns the occurrences in an average week.
    pub fn per_week(&self) -> f64 {
        let times = f64::from(self.times).max(self.on.len() as f64);
        times / (f64::from(self.interval) * self.every.in_weeks())
    }

    /// Returns the cadence in words, as in "every 2 weeks".
    pub fn describe(&self) -> String {
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

/// A number of things produced in every period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerPeriod {
    pub count: u16,
    pub noun: String,
    pub period: GoalCadence,
    /// Whether the thing is something that is produced, such as a post or a release.
    pub made: bool,
}

/// Minutes that the goal allocates, per week or per occurrence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GoalTimeBudget {
    /// With the minutes of one day, if they were stated for every day: "10 minutes a day".
    Weekly { minutes: f64, each_day: Option<f64> },
    /// "20 minutes every day": the length of one occurrence.
    Occurrence { minutes: f64, every: CadencePeriod },
}

/// Finds "N hours a week" and similar phrases, and marks the words as read.
pub(super) fn find_budget(words: &mut GoalWords<'_>, working_days: u16) -> Option<GoalTimeBudget> {
    for index in 0..words.len() {
        let Some(found) = amount::parse_amount(words, index, ArticlePolicy::CountsAsOne) else {
            continue;
        };
        let Some(minutes) = found.unit.in_minutes().map(|unit| unit * found.count) else {
            continue;
        };
        // "find a job, 15 hours a week": the hours are those of the job.
        if words.contains_word(0..index, &["job", "position", "work-study"])
            && words.contains_word(0..index, &["find", "get", "search", "look", "want", "need"])
        {
            continue;
        }
        let Some((budget, end)) = budget_for_amount(words, found, minutes, working_days) else {
            continue;
        };
        words.mark_used(index..end);
        return Some(budget);
    }
    None
}

fn budget_for_amount(
    words: &GoalWords<'_>,
    found: UnitAmount,
    minutes: f64,
    days: u16,
) -> Option<(GoalTimeBudget, usize)> {
    let mut link = words.skip_fillers(found.end, &["of", "time", "work"]);
    let adverb = match words.text_at(link) {
        "weekly" => Some(TimeUnit::Week),
        "daily" => Some(TimeUnit::Day),
        _ => None,
    };
    if let Some(unit) = adverb {
        return Some((weekly_budget(unit, minutes, days)?, link + 1));
    }
    let word = words.text_at(link).to_owned();
    if !["a", "an", "per", "each", "every", "in"].contains(&word.as_str()) {
        return None;
    }
    link += 1;
    if words.is_any_of(link, &["weekday", "workday", "working"]) {
        // What follows says when on that day: "every weekday morning".
        let end = link + 1 + usize::from(words.is_any_of(link + 1, &["day"]));
        return Some((weekly_budget(TimeUnit::Day, minutes, days)?, end));
    }
    let unit = match words.text_at(link) {
        "morning" | "evening" | "night" | "afternoon" if word != "in" => TimeUnit::Day,
        text => TimeUnit::from_name(text)?,
    };
    // "in" is accepted only with hours: "10 hours in a week" is a budget, "5 minutes in a day" is not idiomatic.
    if word == "in" {
        return None;
    }
    let occurrence = matches!(word.as_str(), "each" | "every") && unit == TimeUnit::Day;
    let budget = if occurrence {
        GoalTimeBudget::Occurrence { minutes, every: CadencePeriod::Day }
    } else {
        weekly_budget(unit, minutes, days)?
    };
    Some((budget, link + 1))
}

fn weekly_budget(unit: TimeUnit, minutes: f64, working_days: u16) -> Option<GoalTimeBudget> {
    Some(match unit {
        TimeUnit::Day => GoalTimeBudget::Weekly {
            minutes: minutes * f64::from(working_days),
            each_day: Some(minutes),
        },
        unit => GoalTimeBudget::Weekly { minutes: minutes / unit.in_weeks()?, each_day: None },
    })
}

/// Things that are produced, in the singular.
const PRODUCED_THINGS: [&str; 22] = [
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

/// Returns whether a noun in the singular is something that is produced.
pub fn is_produced(noun: &str) -> bool {
    PRODUCED_THINGS.contains(&noun)
}

/// Finds "one project per month", "a blog post every week", and marks the words as read.
pub(super) fn find_per_period(words: &mut GoalWords<'_>) -> Option<PerPeriod> {
    for index in 0..words.len() {
        let count = match words.text_at(index) {
            "a" | "an" => Some(1.0),
            text => parse_number(text),
        };
        let Some(count) = count.filter(|count| *count >= 1.0) else { continue };
        if let Some((found, end)) = parse_per_period_at(words, index, count) {
            if found.made {
                words.mark_used(index..end);
            } else if words.is_any_of(end - 2, &["a", "per"]) {
                // "10 Spanish words a day": the words stay the subject, the rest is the rhythm.
                words.mark_used(end - 2..end);
            }
            return Some(found);
        }
    }
    None
}

fn parse_per_period_at(
    words: &GoalWords<'_>,
    index: usize,
    count: f64,
) -> Option<(PerPeriod, usize)> {
    for link in index + 2..=index + 4 {
        if (index + 1..=link).any(|word| {
            words.text_at(word).is_empty() || words.get(word).is_some_and(|word| word.breaks)
        }) {
            return None;
        }
        if words.is_any_of(link - 1, &["times", "time", "x"])
            || TimeUnit::from_name(words.text_at(link - 1)).is_some()
        {
            return None;
        }
        if !words.is_any_of(link, &["per", "every", "each", "a"]) {
            continue;
        }
        // "a book in a year" has a year for it.
        if words.is_any_of(link - 1, &["in", "for", "over", "within", "of", "to", "at", "on"]) {
            return None;
        }
        if count > 1.0 && is_session_noun(words, link - 1) {
            return None;
        }
        let Some((period, end)) = parse_period(words, link + 1) else { continue };
        let noun = to_singular(words.text_at(link - 1));
        let made = PRODUCED_THINGS.contains(&noun.as_str());
        let noun = words.typed_text(index + 1..link).to_owned();
        return Some((PerPeriod { count: round_count(count), noun, period, made }, end));
    }
    None
}

pub(super) fn to_singular(text: &str) -> String {
    match text.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if text.ends_with("ss") => text.to_owned(),
        None => text.strip_suffix('s').unwrap_or(text).to_owned(),
    }
}

/// Parses "week", "2 weeks", "other week" after "every".
fn parse_period(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    let (interval, at) = match words.text_at(index) {
        "other" | "second" | "2nd" => (2, index + 1),
        "third" | "3rd" => (3, index + 1),
        "fourth" | "4th" => (4, index + 1),
        text => parse_number(text).map_or((1, index), |number| (round_count(number), index + 1)),
    };
    if let Some(day) = parse_weekday(words.text_at(at)).filter(|_| at > index) {
        return Some((GoalCadence { interval, ..weekly_on_days(&[day]) }, at + 1));
    }
    let period = CadencePeriod::from_unit(TimeUnit::from_name(words.text_at(at))?)?;
    Some((GoalCadence { interval, ..GoalCadence::once_per(period) }, at + 1))
}

fn round_count(number: f64) -> u16 {
    number.round().clamp(1.0, 60_000.0) as u16
}

/// Finds how often the goal repeats, and marks the words as read. "weekly" takes its day from an "every Friday" beside it.
pub(super) fn find_cadence(words: &mut GoalWords<'_>) -> Option<GoalCadence> {
    let mut found = find_next_cadence(words, |_| true)?;
    if found.every == CadencePeriod::Week && found.interval == 1 && found.on.is_empty() {
        let dated = |other: &GoalCadence| {
            other.every == CadencePeriod::Week && other.interval == 1 && !other.on.is_empty()
        };
        found = find_next_cadence(words, dated).unwrap_or(found);
    }
    Some(found)
}

fn find_next_cadence(
    words: &mut GoalWords<'_>,
    fits: impl Fn(&GoalCadence) -> bool,
) -> Option<GoalCadence> {
    for index in 0..words.len() {
        let found = parse_times_per_period(words, index)
            .or_else(|| parse_every_period(words, index))
            .or_else(|| parse_round_length(words, index))
            .or_else(|| parse_day_of_month(words, index))
            .or_else(|| parse_cadence_adverb(words, index))
            .or_else(|| parse_plural_days(words, index))
            .or_else(|| parse_listed_days(words, index));
        if let Some((cadence, end)) = found.filter(|(cadence, _)| fits(cadence)) {
            if described_rhythm::is_described(words, index) {
                continue;
            }
            let (cadence, end) = with_named_days(words, cadence, end);
            // The run of "three runs a week" is what the goal is about.
            if words.is_any_of(index + 1, &MOVING_NOUNS) && end > index + 2 {
                words.mark_used(index..index + 1);
                words.mark_used(index + 2..end);
            } else {
                words.mark_used(index..end);
            }
            return Some(cadence);
        }
    }
    None
}

/// Adds the days that follow a weekly rhythm: "every two weeks on Thursday".
fn with_named_days(
    words: &GoalWords<'_>,
    cadence: GoalCadence,
    end: usize,
) -> (GoalCadence, usize) {
    let once = cadence.on.is_empty() && cadence.times == 1;
    let plain = matches!(cadence.every, CadencePeriod::Week | CadencePeriod::Month) && once;
    if !plain || !words.is_any_of(end, &["on"]) {
        return (cadence, end);
    }
    match parse_day_list(words, end + 1) {
        // A month has no weekdays of its own: "once a month on Tuesdays" is every four weeks.
        Some((listed, end)) if cadence.every == CadencePeriod::Month => {
            let interval = cadence.interval.saturating_mul(4);
            (GoalCadence { every: CadencePeriod::Week, interval, on: listed.on, times: 1 }, end)
        }
        Some((listed, end)) => (GoalCadence { on: listed.on, ..cadence }, end),
        None => (cadence, end),
    }
}

/// Parses "two-week sprints", "a 3-week cycle": the length of a round is its rhythm.
fn parse_round_length(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    const ROUNDS: [&str; 8] =
        ["sprint", "sprints", "iteration", "iterations", "cycle", "cycles", "cadence", "rhythm"];
    let found = amount::parse_amount(words, index, ArticlePolicy::Ignored)?;
    let period = CadencePeriod::from_unit(found.unit)?;
    let interval = round_count(found.count);
    words
        .is_any_of(found.end, &ROUNDS)
        .then(|| (GoalCadence { interval, ..GoalCadence::once_per(period) }, found.end))
}

/// Parses "the first Monday of every month": once a month.
fn parse_day_of_month(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    const NTH: [&str; 9] =
        ["first", "second", "third", "fourth", "last", "1st", "2nd", "3rd", "4th"];
    let start = words.skip_fillers(index, &["on", "the", "every", "each"]);
    let day = parse_weekday(words.text_at(start + 1)).is_some()
        || words.is_any_of(start + 1, &["day", "weekday", "workday"]);
    let of = words.skip_fillers(start + 2, &["of", "in", "every", "each", "the", "a"]);
    let monthly = words.is_any_of(start, &NTH) && day && of > start + 2;
    let recurs = words.contains_word(index..of, &["every", "each"]);
    (monthly && recurs && words.is_any_of(of, &["month"]))
        .then(|| (GoalCadence::once_per(CadencePeriod::Month), of + 1))
}

fn parse_cadence_adverb(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    let (period, interval) = match words.text_at(index) {
        "daily" | "nightly" => (CadencePeriod::Day, 1),
        "weekly" => (CadencePeriod::Week, 1),
        "biweekly" | "bi-weekly" | "fortnightly" => (CadencePeriod::Week, 2),
        "monthly" => (CadencePeriod::Month, 1),
        "quarterly" => (CadencePeriod::Quarter, 1),
        "yearly" | "annually" | "annual" => (CadencePeriod::Year, 1),
        _ => return None,
    };
    Some((GoalCadence { interval, ..GoalCadence::once_per(period) }, index + 1))
}

fn parse_every_period(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    if !words.is_any_of(index, &["every", "each"]) {
        return None;
    }
    if let Some(found) = parse_period(words, index + 1) {
        return Some(found);
    }
    match words.text_at(index + 1) {
        "morning" | "evening" | "night" | "afternoon" | "noon" | "lunchtime" => {
            Some((GoalCadence::once_per(CadencePeriod::Day), index + 2))
        }
        "weekday" | "workday" => Some((weekly_on_days(&WORKDAYS), index + 2)),
        "weekend" => Some((weekly_on_days(&[Weekday::Saturday]), index + 2)),
        "fortnight" => Some((
            GoalCadence { interval: 2, ..GoalCadence::once_per(CadencePeriod::Week) },
            index + 2,
        )),
        _ => parse_day_list(words, index + 1),
    }
}

const WORKDAYS: [Weekday; 5] =
    [Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday];

fn weekly_on_days(days: &[Weekday]) -> GoalCadence {
    let mut on = days.to_vec();
    on.sort_by_key(|day| day.to_monday_zero_offset());
    on.dedup();
    GoalCadence { on, ..GoalCadence::once_per(CadencePeriod::Week) }
}

/// Parses "Monday", "Monday and Thursday", "Mon, Wed and Fri".
fn parse_day_list(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    let mut days = vec![parse_weekday(words.text_at(index))?];
    let mut end = index + 1;
    loop {
        let next = words.skip_fillers(end, &["and", "every", "each"]);
        let Some(day) = parse_weekday(words.text_at(next)) else { break };
        days.push(day);
        end = next + 1;
    }
    Some((weekly_on_days(&days), end))
}

/// Parses "Mon, Wed & Fri", "Tue/Thu", "Monday, Wednesday, Friday": a list of days means that it recurs. Two days in
/// full may be one weekend.
fn parse_listed_days(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    let at = words.skip_fillers(index, &["on", "always"]);
    let joined: Option<Vec<Weekday>> =
        words.text_at(at).split(['/', '-', '+', '&']).map(parse_weekday).collect();
    if let Some(days) = joined.filter(|days| days.len() > 1 && !words.text_at(at).contains('-')) {
        return Some((weekly_on_days(&days), at + 1));
    }
    let (cadence, end) = parse_day_list(words, at)?;
    let short = (at..end).any(|place| {
        let text = words.text_at(place);
        text.len() < 5 && parse_weekday(text).is_some()
    });
    let led =
        index > 0 && words.is_any_of(index - 1, &["by", "until", "before", "from", "between"]);
    let enough = cadence.on.len() > if short { 1 } else { 2 };
    (enough && !led).then_some((cadence, end))
}

/// Parses "on Fridays", "weekdays": a plural means that it recurs.
fn parse_plural_days(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    let at = words.skip_fillers(index, &["on"]);
    let text = words.text_at(at);
    if text == "weekdays" {
        return Some((weekly_on_days(&WORKDAYS), at + 1));
    }
    if text == "weekends" {
        return Some((weekly_on_days(&[Weekday::Saturday]), at + 1));
    }
    let plural = text.len() > 4 && text.ends_with("days");
    if plural { parse_day_list(words, at) } else { None }
}

/// What people do so many times a week: "three runs a week".
const MOVING_NOUNS: [&str; 12] = [
    "run", "runs", "workout", "workouts", "ride", "rides", "swim", "swims", "walk", "walks",
    "hike", "hikes",
];
/// What takes place so many times a week and says nothing more.
const SESSION_NOUNS: [&str; 8] = [
    "session",
    "sessions",
    "training",
    "trainings",
    "practices",
    "rehearsals",
    "lesson",
    "lessons",
];

/// Returns whether a word is the noun of "three runs a week".
fn is_session_noun(words: &GoalWords<'_>, index: usize) -> bool {
    words.is_any_of(index, &MOVING_NOUNS) || words.is_any_of(index, &SESSION_NOUNS)
}

fn parse_times_per_period(words: &GoalWords<'_>, index: usize) -> Option<(GoalCadence, usize)> {
    let (times, at) = match words.text_at(index) {
        "once" => (1, index + 1),
        "twice" => (2, index + 1),
        text if words.is_any_of(index + 1, &["times", "x", "time"])
            || is_session_noun(words, index + 1) =>
        {
            (round_count(parse_number(text)?), index + 2)
        }
        _ => return None,
    };
    if !words.is_any_of(at, &["a", "an", "per", "each", "every"]) {
        return None;
    }
    let period = CadencePeriod::from_unit(TimeUnit::from_name(words.text_at(at + 1))?)?;
    let on = if period == CadencePeriod::Week { spread_weekdays(times) } else { Vec::new() };
    Some((GoalCadence { every: period, interval: 1, on, times }, at + 2))
}

/// Returns evenly spaced weekdays for this many times a week.
fn spread_weekdays(times: u16) -> Vec<Weekday> {
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

/// Words before a time that make it one end of a span.
const BOUNDS: [&str; 7] = ["from", "between", "to", "until", "by", "before", "after"];

/// Finds "at 8", "at 7:30 pm", "at noon", "7pm", and marks the words as read.
/// Finds the time by which something is done, and marks the words as read: "by 5 pm", "before 17:30".
pub(super) fn find_due_time(words: &mut GoalWords<'_>) -> Option<Time> {
    for index in 0..words.len() {
        if !words.is_any_of(index, &["by", "before", "until", "till"]) {
            continue;
        }
        let half = match words.text_at(index + 2) {
            "pm" => Some(12),
            "am" => Some(0),
            _ => None,
        };
        let text = words.text_at(index + 1);
        let named = matches!(text, "noon" | "midday" | "midnight");
        let oclock = words.is_any_of(index + 2, &["o'clock", "sharp"]);
        let clock =
            text.contains(':') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
        if half.is_none() && !named && !oclock && !clock {
            continue;
        }
        let Some(time) = parse_clock_time(text, half) else { continue };
        // Midnight is the end of the day, and not its beginning.
        let time = if text == "midnight" { Time::new(23, 45, 0, 0).ok()? } else { time };
        words.mark_used(index..index + 2 + usize::from(half.is_some() || oclock));
        return Some(time);
    }
    None
}

pub(super) fn find_time_of_day(words: &mut GoalWords<'_>) -> Option<Time> {
    for index in 0..words.len() {
        let led = words.text_at(index) == "at";
        let place = index + usize::from(led);
        let half = match words.text_at(place + 1) {
            "pm" => Some(12),
            "am" => Some(0),
            _ => None,
        };
        // Without "at" only "7 pm" and "19:30" are times; one end of a span is none.
        let clear = half.is_some() || words.text_at(place).contains(':');
        let bound = words.is_any_of(index.wrapping_sub(1), &BOUNDS)
            || words.is_any_of(place + 1 + usize::from(half.is_some()), &["to", "until", "and"]);
        if !led && (!clear || bound) {
            continue;
        }
        let Some(time) = parse_clock_time(words.text_at(place), half) else { continue };
        let closes = half.is_some() || words.is_any_of(place + 1, &["o'clock", "sharp"]);
        words.mark_used(index..place + 1 + usize::from(closes));
        return Some(time);
    }
    None
}

fn parse_clock_time(text: &str, half: Option<i8>) -> Option<Time> {
    match text {
        "noon" | "midday" => return Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Time::new(0, 0, 0, 0).ok(),
        _ => {}
    }
    let (text, half) = match (text.strip_suffix("pm"), text.strip_suffix("am")) {
        (Some(text), _) => (text, Some(12)),
        (None, Some(text)) => (text, Some(0)),
        _ => (text, half),
    };
    let (hour, minute) = text.split_once([':', '.']).unwrap_or((text, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some(shift) if (1..=12).contains(&hour) => hour % 12 + shift,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}
