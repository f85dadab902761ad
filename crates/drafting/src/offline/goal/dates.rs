//! Dates as people write them, relative to a given today.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use super::date_spans;
use super::day_parts;
use super::foreign_dates;
use super::quantities;
use super::region::{CalendarRegion, NamedHoliday, YearSeason};
use super::words::GoalWords;
use crate::calendar_names::MONTHS;

/// Today, and what dates depend on besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateContext {
    pub(super) today: Date,
    pub(super) region: CalendarRegion,
}

/// The result of parsing a date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DateReading {
    /// A day.
    Day(Date),
    /// A span of days: "before the end of the month" still includes its last day.
    Span { from: Date, to: Date },
    /// It looks like a date, but does not exist.
    Impossible(String),
}

/// Why a date may be meant otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateDoubt {
    /// "next Saturday" is this week's for some and next week's for others.
    NextWeekday,
    /// A season depends on the half of the world.
    Season,
}

/// A date phrase and the index after its last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DateMatch {
    pub(super) reading: DateReading,
    pub(super) end: usize,
    pub(super) doubt: Option<DateDoubt>,
}

impl DateMatch {
    pub(super) fn from_reading(reading: DateReading, end: usize) -> Self {
        Self { reading, end, doubt: None }
    }

    pub(super) fn from_day(date: Date, end: usize) -> Self {
        Self::from_reading(DateReading::Day(date), end)
    }

    pub(super) fn from_span(from: Date, to: Date, end: usize) -> Self {
        Self::from_reading(DateReading::Span { from, to }, end)
    }

    pub(super) fn with_doubt(self, doubt: DateDoubt) -> Self {
        Self { doubt: Some(doubt), ..self }
    }
}

/// Parses a date phrase that starts at `index`; `None` if there is none.
pub(super) fn parse_date_at(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let index = words.skip_fillers(index, &["the", "on"]);
    calendar_date(words, index, at)
        .or_else(|| relative_date(words, index, at))
        .or_else(|| day_of_month(words, index, at))
}

/// A date phrase without a word such as "by", and whether it states the end of the work rather than the day itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BareDate {
    pub(super) found: DateMatch,
    pub(super) is_end: bool,
}

/// Parses a date that needs no word before it ("tomorrow", "next Saturday", "this quarter", "June 12"), or one after
/// "on", "in", "at" or "from".
pub(super) fn bare_date(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<BareDate> {
    let text = words.text_at(index);
    let after = words.skip_fillers(index + 1, &["the"]);
    if matches!(text, "at" | "end") {
        let place = if text == "at" { after } else { index };
        // What is finished at the end of June is due then; what happens then has its day there.
        let finished = words.contains_word(0..index, &FINISHING);
        if let Some(found) = date_spans::last_days_of_span(words, place, at).filter(|_| !finished) {
            return Some(BareDate { found, is_end: false });
        }
        if let Some(found) = date_spans::end_of_span(words, place, at) {
            return Some(BareDate { found, is_end: true });
        }
    }
    let found = match text {
        "on" | "at" | "over" | "for" => date_spans::week_of_month(words, after, at)
            .or_else(|| date_after(words, text, after, at)),
        "in" | "during" | "throughout" => date_spans::span_in(words, after, at),
        "from" | "between" => date_range(words, index + 1, at),
        "today" | "tonight" | "tomorrow" | "tmrw" | "tomorow" | "tommorow" | "tommorrow" => {
            named_day(words, index, at)
        }
        "next" => named_day(words, index, at).or_else(|| date_spans::next_span(words, index, at)),
        "day" => named_day(words, index, at),
        "this" => {
            named_day(words, index, at).or_else(|| date_spans::this_span(words, index + 1, at))
        }
        "mid" | "early" | "late" => date_spans::part_of_month(words, index, at),
        "first" | "last" | "second" | "third" | "fourth" => {
            date_spans::week_of_month(words, index, at)
        }
        text if text.starts_with("mid-") => date_spans::part_of_month(words, index, at),
        _ => date_range(words, index, at)
            .or_else(|| calendar_date(words, index, at))
            .or_else(|| date_spans::month_of_year(words, index, at))
            .or_else(|| closing_weekday(words, index, at)),
    }?;
    Some(BareDate { found, is_end: false })
}

/// Words that follow a holiday which is a day: "at Christmas with my parents".
const AFTER_HOLIDAYS: [&str; 24] = [
    "with", "in", "at", "for", "and", "by", "on", "to", "from", "this", "next", "day", "weekend",
    "or", "without", "when", "break", "holidays", "vacation", "time", "before", "after", "as",
    "season",
];

/// Verbs of what is over by a date.
const FINISHING: [&str; 10] = [
    "finish", "complete", "submit", "deliver", "done", "finished", "finalize", "wrap", "close",
    "hand",
];

/// Parses what follows "on" (any day), or "at", "over" and "for" (a holiday or a weekend, as in "at Christmas").
fn date_after(
    words: &GoalWords<'_>,
    lead: &str,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let weekend = || {
        words
            .is_any_of(index, &["weekend"])
            .then(|| date_spans::this_span(words, index, at))
            .flatten()
    };
    let season = || date_spans::season_of(words, index, at).filter(|_| lead == "over");
    if let Some(found) = named_holiday(words, index, at)
        && (lead == "over" || words.is_any_of(found.end, &["weekend"]))
    {
        return date_spans::holiday_days(words, words.text_at(index), &found);
    }
    if lead != "on" {
        // "at the Christmas market" is no day.
        let holiday = named_holiday(words, index, at);
        let holiday = holiday.filter(|found| {
            words.clause_starts_at(found.end)
                || words.get(found.end).is_some_and(|word| word.used)
                || AFTER_HOLIDAYS.contains(&words.text_at(found.end))
        });
        return holiday.or_else(weekend).or_else(season);
    }
    date_range(words, index, at)
        .or_else(|| calendar_date(words, index, at))
        .or_else(|| named_day(words, index, at).filter(|_| !is_plural_day(words, index)))
        .or_else(|| day_of_month(words, index, at))
        .or_else(weekend)
}

/// A weekday that closes a clause: "finish the report Friday", but not "cook a Sunday roast".
fn closing_weekday(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let recurs = index > 0 && words.is_any_of(index - 1, &["every", "each", "and", "or"]);
    if let Some(found) = date_of_week(words, index, at.today).filter(|_| !recurs) {
        return Some(found);
    }
    // "Friday 8pm": the time has been read.
    let ends = words.clause_starts_at(index + 1)
        || words.get(index + 1).is_some_and(|word| word.used)
        || day_parts::part_named(words.text_at(index + 1)).is_some();
    let closes = ends && index > 0 && !is_plural_day(words, index);
    let closes = closes && !recurs;
    let day = parse_weekday(words.text_at(index)).filter(|_| closes)?;
    Some(DateMatch::from_day(next_weekday(at.today, day)?, index + 1))
}

fn is_plural_day(words: &GoalWords<'_>, index: usize) -> bool {
    words.text_at(index).ends_with("days")
}

/// Parses a date that names its day: ISO, "10.7.2026", "10 July", "July 10 2026".
pub(super) fn calendar_date(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let dated = |index: usize| {
        numeric_date(words.text_at(index), index)
            .or_else(|| short_numeric_date(words, index, at))
            .or_else(|| written_date(words, index, at))
            .or_else(|| day_then_month(words, index, at))
            .or_else(|| month_then_day(words, index, at))
    };
    // Before a date a weekday says nothing more: "Saturday 12 December", "Sat 12 Dec".
    let weekday = parse_weekday(words.text_at(index)).and_then(|_| dated(index + 1));
    weekday.or_else(|| dated(index))
}

fn numeric_date(text: &str, index: usize) -> Option<DateMatch> {
    let mark = ['-', '.', '/'].into_iter().find(|mark| text.matches(*mark).count() == 2)?;
    let parts: Option<Vec<i32>> = text.split(mark).map(|part| part.parse().ok()).collect();
    let [first, second, third] = parts?.try_into().ok()?;
    let reading = if first > 31 {
        checked_date(first, second, third, text)
    } else if mark == '/' && first <= 12 && second <= 12 && first != second {
        DateReading::Impossible(format!(
            "\"{text}\" can be read in two ways; write it as year-month-day"
        ))
    } else if mark == '/' && second > 12 {
        checked_date(third, first, second, text)
    } else {
        checked_date(third, second, first, text)
    };
    Some(DateMatch::from_reading(reading, index + 1))
}

/// "12.6." is the 12th of June; without the last point it may be any number.
fn short_numeric_date(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let (day, month) = words.text_at(index).split_once('.')?;
    if words.char_right_after(index) != Some('.') || month.len() > 2 {
        return None;
    }
    let (day, month) = (day_number(day)?, month.parse().ok()?);
    let typed = words.typed_text(index..index + 1);
    let year = next_year_of(day, month, at.today);
    let reading = checked_date(year, i32::from(month), day, typed);
    matches!(reading, DateReading::Day(_)).then(|| DateMatch::from_reading(reading, index + 1))
}

/// "6月12日".
fn written_date(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let text = words.text_at(index);
    let (year, month, day) = foreign_dates::parse_written_date(text)?;
    let year = year.unwrap_or_else(|| next_year_of(day, month, at.today));
    Some(DateMatch::from_reading(checked_date(year, i32::from(month), day, text), index + 1))
}

/// Returns a date from its numbers, or why it is invalid.
fn checked_date(year: i32, month: i32, day: i32, typed: &str) -> DateReading {
    let year = if (0..100).contains(&year) { year + 2000 } else { year };
    let date = i16::try_from(year).ok().zip(i8::try_from(month).ok()).zip(i8::try_from(day).ok());
    if let Some(date) = date.and_then(|((year, month), day)| Date::new(year, month, day).ok()) {
        return DateReading::Day(date);
    }
    let first = i16::try_from(year).ok().zip(i8::try_from(month).ok());
    match first.and_then(|(year, month)| Date::new(year, month, 1).ok()) {
        Some(first) => DateReading::Impossible(format!(
            "\"{typed}\" is not a date: {} {year} has {} days",
            first.strftime("%B"),
            first.days_in_month()
        )),
        None => DateReading::Impossible(format!(
            "\"{typed}\" is not a date; write it as year-month-day"
        )),
    }
}

pub(super) fn parse_month(text: &str) -> Option<i8> {
    let short = text.len() == 3 || text == "sept";
    let place = MONTHS.iter().position(|name| {
        name.eq_ignore_ascii_case(text)
            || (short && text.is_ascii() && name[..3].eq_ignore_ascii_case(&text[..3]))
    });
    place.and_then(|place| i8::try_from(place + 1).ok())
}

/// Parses a month beside the number of a day, in any of the languages whose dates are read.
fn parse_dated_month(text: &str) -> Option<i8> {
    parse_month(text).or_else(|| foreign_dates::find_foreign_month(text))
}

fn day_number(text: &str) -> Option<i32> {
    let digits = strip_ordinal(text).unwrap_or(text);
    (1..=2).contains(&digits.len()).then(|| digits.parse().ok()).flatten()
}

fn strip_ordinal(text: &str) -> Option<&str> {
    ["st", "nd", "rd", "th"].iter().find_map(|tail| text.strip_suffix(tail))
}

pub(super) fn year_number(text: &str) -> Option<i32> {
    (text.len() == 4)
        .then(|| text.parse().ok())
        .flatten()
        .filter(|year| (1900..=2199).contains(year))
}

/// Returns whether a word is part of a date that names its day: the 8 of "on May 8, budget 3500". Which words are a
/// date does not depend on today.
pub(super) fn is_in_calendar_date(words: &GoalWords<'_>, index: usize) -> bool {
    let any_day =
        DateContext { today: Date::constant(2000, 1, 1), region: CalendarRegion::NORTHERN };
    let reaches =
        |start: usize| calendar_date(words, start, any_day).is_some_and(|found| found.end > index);
    (index.saturating_sub(3)..=index).any(reaches)
}

fn day_then_month(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let day = day_number(words.text_at(index))?;
    let next = words.skip_fillers(index + 1, &foreign_dates::DAY_LINKS);
    let month = parse_dated_month(words.text_at(next))?;
    Some(named_date(words, index, next + 1, (day, month), at.today))
}

fn month_then_day(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let month = parse_month(words.text_at(index))?;
    let next = words.skip_fillers(index + 1, &["the"]);
    Some(named_date(words, index, next + 1, (day_number(words.text_at(next))?, month), at.today))
}

/// Parses a date by month name; without a year it is the next such day.
fn named_date(
    words: &GoalWords<'_>,
    start: usize,
    next: usize,
    (day, month): (i32, i8),
    today: Date,
) -> DateMatch {
    // "on May 8, 2000 euros" has an amount and no year.
    let is_amount = quantities::is_currency(words.text_at(next + 1))
        || [words.char_before(next), words.char_right_after(next)]
            .into_iter()
            .any(|sign| sign.is_some_and(quantities::is_currency_sign));
    let year = year_number(words.text_at(next)).filter(|_| !is_amount);
    let end = next + usize::from(year.is_some());
    let typed = words.typed_text(start..end);
    let year = year.unwrap_or_else(|| next_year_of(day, month, today));
    DateMatch::from_reading(checked_date(year, i32::from(month), day, typed), end)
}

/// Returns the year of the next such day of a month, whether the month has that day or not.
fn next_year_of(day: i32, month: i8, today: Date) -> i32 {
    let passed = (i32::from(month), day) < (i32::from(today.month()), i32::from(today.day()));
    i32::from(today.year()) + i32::from(passed)
}

/// "the 15th": the next such day of a month.
fn day_of_month(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let day: i8 = strip_ordinal(words.text_at(index))?.parse().ok()?;
    // "the 30th birthday" counts years.
    if words.is_any_of(index + 1, &["birthday", "anniversary", "floor", "edition", "grade", "time"])
    {
        return None;
    }
    let this = Date::new(at.today.year(), at.today.month(), day).ok();
    let date = this.filter(|date| *date >= at.today).or_else(|| {
        let next = at.today.first_of_month().checked_add(1.month()).ok()?;
        Date::new(next.year(), next.month(), day).ok()
    })?;
    Some(DateMatch::from_day(date, index + 1))
}

/// Parses "3 to 10 March", "March 3-10", "3 March to 10 March": the days of something that takes several.
pub(super) fn date_range(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let day_of = |found: DateMatch| match found.reading {
        DateReading::Day(day) => Some((day, found.end)),
        _ => None,
    };
    let joins = |place: usize| {
        if words.is_any_of(place, &["to", "until", "till", "and", "through"]) {
            return Some(place + 1);
        }
        words.is_dash_before(place).then_some(place)
    };
    let text = words.text_at(index);
    // "3-10 March".
    if let Some((low, high)) = split_days(text) {
        let (last, end) = day_of(named_date(
            words,
            index + 1,
            index + 2,
            (high, parse_month(words.text_at(index + 1))?),
            at.today,
        ))?;
        return days_of_month(low, last, end);
    }
    // "March 3-10".
    if let (Some(month), Some((low, high))) =
        (parse_month(text), split_days(words.text_at(index + 1)))
    {
        let (last, end) = day_of(named_date(words, index, index + 2, (high, month), at.today))?;
        return days_of_month(low, last, end);
    }
    // "March 13 and 14", "March 13 to 15".
    if let Some(month) = parse_month(text)
        && let Some(low) = day_number(words.text_at(index + 1))
        && let Some(next) = joins(index + 2)
        && let Some(high) = day_number(words.text_at(next)).filter(|high| low < *high)
        && parse_month(words.text_at(next + 1)).is_none()
        && (!words.is_any_of(index + 2, &["and"]) || high == low + 1)
        && let Some((last, end)) =
            day_of(named_date(words, index, next + 1, (high, month), at.today))
    {
        return days_of_month(low, last, end);
    }
    // "3 to 10 March".
    if let Some(low) = day_number(text)
        && let Some(next) = joins(index + 1)
        && let Some((last, end)) = day_then_month(words, next, at).and_then(day_of)
    {
        return days_of_month(low, last, end);
    }
    // "from January to June".
    if let Some((first, next)) = date_spans::month_first(words, index, at.today)
        && let Some(next) = joins(next)
        && let Some(found) = date_spans::month_first(words, next, first)
    {
        let (last, end) = (found.0.last_of_month(), found.1);
        return (first < last).then(|| DateMatch::from_span(first, last, end));
    }
    let (first, next) = day_of(calendar_date(words, index, at)?)?;
    let (last, end) = day_of(calendar_date(words, joins(next)?, at)?)?;
    (first < last).then(|| DateMatch::from_span(first, last, end))
}

/// "3-10" as two days of a month.
fn split_days(text: &str) -> Option<(i32, i32)> {
    let (low, high) = text.split_once(['-', '–'])?;
    let (low, high) = (day_number(low)?, day_number(high)?);
    (low < high).then_some((low, high))
}

fn days_of_month(low: i32, last: Date, end: usize) -> Option<DateMatch> {
    let first = Date::new(last.year(), last.month(), i8::try_from(low).ok()?).ok()?;
    (first < last).then(|| DateMatch::from_span(first, last, end))
}

fn relative_date(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    named_day(words, index, at)
        .or_else(|| date_spans::end_of_span(words, index, at))
        .or_else(|| season_eve(words, index, at))
        .or_else(|| parse_bare_month(words, index, at))
        .or_else(|| date_spans::next_span(words, index, at))
        .or_else(|| this_week_or_month(words, index, at))
        .or_else(|| date_spans::part_of_month(words, index, at))
        .or_else(|| bare_year(words, index))
}

/// "by summer" means that it is done when summer starts.
fn season_eve(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let later = words.is_any_of(index, &["next"]);
    let place = index + usize::from(later || words.is_any_of(index, &["this"]));
    let season = YearSeason::from_name(words.text_at(place))?;
    let mut eve = season.next_eve(at.today, at.region)?;
    // In November "next winter" is not the one of December.
    let near = at.today.until(eve).is_ok_and(|span| span.get_days() < date_spans::ABOUT_TO_BEGIN);
    if later && near {
        eve = season.next_eve(eve.tomorrow().ok()?, at.region)?;
    }
    Some(DateMatch::from_span(eve, eve, place + 1).with_doubt(DateDoubt::Season))
}

/// "by this weekend", "before this quarter".
fn this_week_or_month(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let this = words.is_any_of(index, &["this"]);
    let place = index + usize::from(this);
    let named = this || words.is_any_of(place, &["weekend"]);
    named.then(|| date_spans::this_span(words, place, at)).flatten()
}

/// "by 2028" means that it is done when 2028 starts.
fn bare_year(words: &GoalWords<'_>, index: usize) -> Option<DateMatch> {
    let year = year_number(words.text_at(index)).filter(|year| *year >= 2000)?;
    let eve = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?.yesterday().ok()?;
    Some(DateMatch::from_span(eve, eve, index + 1))
}

pub(super) fn parse_weekday(text: &str) -> Option<Weekday> {
    Some(match text.strip_suffix('s').unwrap_or(text) {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" | "thur" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    })
}

fn named_day(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let today = at.today;
    if let Some(found) = date_of_week(words, index, today) {
        return Some(found);
    }
    let day = match words.text_at(index) {
        "today" | "tonight" => today,
        "day" if words.phrase_starts_at(index, "day after tomorrow") => {
            return Some(DateMatch::from_day(today.checked_add(2.days()).ok()?, index + 3));
        }
        "yesterday" => today.yesterday().ok()?,
        "tomorrow" | "tmrw" | "tomorow" | "tommorow" | "tommorrow" => today.tomorrow().ok()?,
        "next" => {
            let day = next_named_weekday(today, parse_weekday(words.text_at(index + 1))?)?;
            return Some(DateMatch::from_day(day, index + 2).with_doubt(DateDoubt::NextWeekday));
        }
        "this" if day_parts::part_named(words.text_at(index + 1)).is_some() => {
            return Some(DateMatch::from_day(today, index + 2));
        }
        "this" => {
            let day = parse_weekday(words.text_at(index + 1))?;
            return Some(DateMatch::from_day(next_or_same_weekday(today, day)?, index + 2));
        }
        text => match parse_weekday(text) {
            Some(day) => next_weekday(today, day)?,
            None => return named_holiday(words, index, at),
        },
    };
    Some(DateMatch::from_day(day, index + 1))
}

/// "Friday next week", "Friday of this week", "next week on Friday": the week says which Friday.
fn date_of_week(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let week_at = |place: usize| {
        let weeks = match (words.text_at(place), words.text_at(place + 1)) {
            ("next", "week") => 1,
            ("this", "week") => 0,
            _ => return None,
        };
        let monday = today.checked_sub(today.weekday().to_monday_zero_offset().days()).ok()?;
        monday.checked_add(weeks.weeks()).ok()
    };
    let (weekday, monday, end) = if let Some(day) = parse_weekday(words.text_at(index)) {
        let place = words.skip_fillers(index + 1, &["of", "in"]);
        (day, week_at(place)?, place + 2)
    } else {
        let monday = week_at(index)?;
        let place = words.skip_fillers(index + 2, &["on"]);
        (parse_weekday(words.text_at(place))?, monday, place + 1)
    };
    let date = monday.checked_add(weekday.to_monday_zero_offset().days()).ok()?;
    Some(DateMatch::from_day(date, end))
}

pub(super) fn named_holiday(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let (holiday, count) = match words.text_at(index) {
        "christmas" | "xmas" if words.is_any_of(index + 1, &["eve"]) => {
            (NamedHoliday::ChristmasEve, 2)
        }
        "christmas" | "xmas" => (NamedHoliday::Christmas, 1),
        "easter" => (NamedHoliday::Easter, 1),
        "thanksgiving" => (NamedHoliday::Thanksgiving, 1),
        "halloween" => (NamedHoliday::Halloween, 1),
        "valentine's" | "valentines" | "valentine" => {
            (NamedHoliday::ValentinesDay, 1 + usize::from(words.is_any_of(index + 1, &["day"])))
        }
        "mother's" | "mothers" if words.is_any_of(index + 1, &["day"]) => {
            (NamedHoliday::MothersDay, 2)
        }
        "father's" | "fathers" if words.is_any_of(index + 1, &["day"]) => {
            (NamedHoliday::FathersDay, 2)
        }
        "boxing" if words.is_any_of(index + 1, &["day"]) => (NamedHoliday::BoxingDay, 2),
        "labor" | "labour" if words.is_any_of(index + 1, &["day"]) => (NamedHoliday::LaborDay, 2),
        "memorial" if words.is_any_of(index + 1, &["day"]) => (NamedHoliday::MemorialDay, 2),
        "black" if words.is_any_of(index + 1, &["friday"]) => (NamedHoliday::BlackFriday, 2),
        "patrick's" | "patricks" if words.is_any_of(index + 1, &["day"]) => {
            (NamedHoliday::StPatricksDay, 2)
        }
        "new"
            if words.is_any_of(index + 1, &["year", "year's", "years"])
                && words.is_any_of(index + 2, &["day"]) =>
        {
            (NamedHoliday::NewYearsDay, 3)
        }
        "new" if words.is_any_of(index + 1, &["year", "year's", "years"]) => {
            (NamedHoliday::NewYearsEve, 2 + usize::from(words.is_any_of(index + 2, &["eve"])))
        }
        _ => return None,
    };
    let day = at.region.next_holiday(holiday, at.today)?;
    // "by Christmas 2027".
    let year = year_number(words.text_at(index + count))
        .and_then(|year| Date::new(i16::try_from(year).ok()?, 1, 1).ok())
        .filter(|first| first.year() > day.year());
    match year {
        Some(first) => {
            let later = at.region.next_holiday(holiday, first)?;
            Some(DateMatch::from_day(later, index + count + 1))
        }
        None => Some(DateMatch::from_day(day, index + count)),
    }
}

/// A day of the week that is nearer than this is "this Saturday", or "tomorrow".
const NEXT_DAYS: i32 = 3;

/// Returns what "next Saturday" means: the coming one if it is at least three days away, else the one after. On a Thursday
/// the coming one is "this Saturday".
fn next_named_weekday(today: Date, day: Weekday) -> Option<Date> {
    let ahead = i32::from(today.weekday().until(day));
    today.checked_add(if ahead < NEXT_DAYS { ahead + 7 } else { ahead }.days()).ok()
}

/// Returns today if it is such a weekday, or the next one.
pub(super) fn next_or_same_weekday(today: Date, day: Weekday) -> Option<Date> {
    today.checked_add(i32::from(today.weekday().until(day)).days()).ok()
}

/// Returns the next such weekday after today.
fn next_weekday(today: Date, day: Weekday) -> Option<Date> {
    let ahead = i32::from(today.weekday().until(day));
    today.checked_add(if ahead == 0 { 7 } else { ahead }.days()).ok()
}

/// "by July" means that it is done when July starts.
fn parse_bare_month(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    if words.is_any_of(index, &["next"]) {
        let found = date_spans::later_month(words, index + 1, at.today);
        return found.map(|(date, end)| DateMatch::from_day(date, end));
    }
    let index = index + usize::from(words.is_any_of(index, &["this"]));
    // "may" is more often a verb than a month if nothing else indicates one.
    if words.is_any_of(index, &["may", "mar", "sun"]) && !words.is_capitalized(index) {
        return None;
    }
    date_spans::month_first(words, index, at.today)
        .map(|(date, end)| DateMatch::from_day(date, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn read_on(text: &str, today: Date) -> Option<DateReading> {
        let at = DateContext { today, region: CalendarRegion::default() };
        parse_date_at(&GoalWords::new(text), 0, at).map(|found| found.reading)
    }

    /// 2026-06-05 is a Friday.
    fn read(text: &str) -> Option<DateReading> {
        read_on(text, date(2026, 6, 5))
    }

    #[track_caller]
    fn falls_on(text: &str, year: i16, month: i8, day: i8) {
        match read(text) {
            Some(DateReading::Day(found) | DateReading::Span { to: found, .. }) => {
                assert_eq!(found, date(year, month, day), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_weekday_before_a_date_says_nothing_more() {
        falls_on("Saturday 12 December", 2026, 12, 12);
        falls_on("Sat 12 Dec", 2026, 12, 12);
        falls_on("Friday, 27 November", 2026, 11, 27);
        falls_on("Sat, December 12", 2026, 12, 12);
    }

    #[test]
    fn parses_calendar_dates_in_many_forms() {
        falls_on("2026-07-10", 2026, 7, 10);
        falls_on("10 July", 2026, 7, 10);
        falls_on("the 10th of July", 2026, 7, 10);
        falls_on("July 10 2026", 2026, 7, 10);
        falls_on("July 10, 2027", 2027, 7, 10);
        falls_on("10.7.2026", 2026, 7, 10);
        falls_on("7/31/2026", 2026, 7, 31);
        falls_on("3 March", 2027, 3, 3);
        falls_on("5 June", 2026, 6, 5);
        falls_on("the 15th", 2026, 6, 15);
        falls_on("the 3rd", 2026, 7, 3);
    }

    #[test]
    fn relative_dates_are_resolved_from_today() {
        falls_on("Friday", 2026, 6, 12);
        falls_on("Monday", 2026, 6, 8);
        falls_on("next Friday", 2026, 6, 12);
        falls_on("next Monday", 2026, 6, 8);
        falls_on("tomorrow", 2026, 6, 6);
        falls_on("the end of the month", 2026, 6, 30);
        falls_on("end of next month", 2026, 7, 31);
        falls_on("end of July", 2026, 7, 31);
        falls_on("end of the week", 2026, 6, 5);
        falls_on("next week", 2026, 6, 12);
        falls_on("Friday next week", 2026, 6, 12);
        falls_on("the Tuesday of next week", 2026, 6, 9);
        falls_on("next week on Wednesday", 2026, 6, 10);
        falls_on("Saturday this week", 2026, 6, 6);
        falls_on("next month", 2026, 7, 31);
        falls_on("end of Q3", 2026, 9, 30);
        falls_on("Q2 2027", 2027, 6, 30);
        falls_on("year-end", 2026, 12, 31);
        falls_on("Christmas", 2026, 12, 25);
        falls_on("Thanksgiving", 2026, 11, 26);
        falls_on("July", 2026, 7, 1);
        falls_on("May", 2027, 5, 1);
        falls_on("February 2027", 2027, 2, 1);
        falls_on("2028", 2027, 12, 31);
    }

    #[test]
    fn next_saturday_is_the_coming_one_unless_it_is_very_near() {
        let tuesday = date(2026, 11, 17);
        let day = |text: &str, today| read_on(text, today).unwrap();
        assert_eq!(day("next Saturday", tuesday), DateReading::Day(date(2026, 11, 21)));
        assert_eq!(day("this Saturday", tuesday), DateReading::Day(date(2026, 11, 21)));
        let thursday = date(2026, 11, 19);
        assert_eq!(day("next Saturday", thursday), DateReading::Day(date(2026, 11, 28)));
        assert_eq!(day("this Saturday", thursday), DateReading::Day(date(2026, 11, 21)));
        let friday = date(2026, 11, 20);
        assert_eq!(day("next Saturday", friday), DateReading::Day(date(2026, 11, 28)));
        assert_eq!(day("this Saturday", friday), DateReading::Day(date(2026, 11, 21)));
        let saturday = date(2026, 11, 21);
        assert_eq!(day("next Saturday", saturday), DateReading::Day(date(2026, 11, 28)));
    }

    #[test]
    fn impossible_dates_are_explained() {
        let explanation = |text: &str| match read(text) {
            Some(DateReading::Impossible(why)) => why,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(
            explanation("2026-02-30"),
            "\"2026-02-30\" is not a date: February 2026 has 28 days"
        );
        assert_eq!(
            explanation("February 30"),
            "\"February 30\" is not a date: February 2027 has 28 days"
        );
        assert_eq!(explanation("31 June"), "\"31 June\" is not a date: June 2026 has 30 days");
        assert_eq!(
            explanation("2026-13-01"),
            "\"2026-13-01\" is not a date; write it as year-month-day"
        );
        assert_eq!(
            explanation("3/4/2026"),
            "\"3/4/2026\" can be read in two ways; write it as year-month-day"
        );
    }

    #[test]
    fn seasons_holidays_and_the_middle_of_a_month_are_dates() {
        falls_on("summer", 2027, 5, 31);
        falls_on("the spring", 2027, 2, 28);
        falls_on("Easter", 2027, 3, 28);
        falls_on("mid February", 2027, 2, 15);
        falls_on("mid-February", 2027, 2, 15);
        falls_on("early March", 2027, 3, 10);
    }

    #[test]
    fn days_from_one_to_another_are_a_span() {
        let at = DateContext { today: date(2026, 6, 5), region: CalendarRegion::default() };
        for text in [
            "3 to 10 March",
            "3-10 March",
            "March 3-10",
            "3 – 10 March",
            "3 March to 10 March",
            "2027-03-03 until 2027-03-10",
        ] {
            let found = date_range(&GoalWords::new(text), 0, at).map(|found| found.reading);
            let span = DateReading::Span { from: date(2027, 3, 3), to: date(2027, 3, 10) };
            assert_eq!(found, Some(span), "{text}");
        }
        assert_eq!(date_range(&GoalWords::new("5 to 10 guests"), 0, at), None);
    }

    #[test]
    fn other_words_are_not_dates() {
        assert_eq!(read("hand"), None);
        assert_eq!(read("may be"), None);
        assert_eq!(read("v1.2.3"), None);
    }
}
