//! Dates as people write them, relative to a given today.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use super::words::GoalWords;

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

/// A date phrase and the index after its last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DateMatch {
    pub(super) reading: DateReading,
    pub(super) end: usize,
}

impl DateMatch {
    fn from_day(date: Date, end: usize) -> Self {
        Self { reading: DateReading::Day(date), end }
    }

    fn from_span(from: Date, to: Date, end: usize) -> Self {
        Self { reading: DateReading::Span { from, to }, end }
    }
}

/// Parses a date phrase that starts at `index`; `None` if there is none.
pub(super) fn parse_date_at(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let index = words.skip_fillers(index, &["the", "on"]);
    calendar_date(words, index, today).or_else(|| relative_date(words, index, today))
}

/// A date phrase without a word such as "by", and whether it states the end of the work rather than the day itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BareDate {
    pub(super) found: DateMatch,
    pub(super) is_end: bool,
}

/// Parses a date that needs no word before it ("tomorrow", "next Saturday", "this quarter"), or one after "on", "in" or
/// "at".
pub(super) fn bare_date(words: &GoalWords<'_>, index: usize, today: Date) -> Option<BareDate> {
    let text = words.text_at(index);
    if matches!(text, "at" | "end") {
        let place = if text == "at" { words.skip_fillers(index + 1, &["the"]) } else { index };
        return Some(BareDate { found: end_of_span(words, place, today)?, is_end: true });
    }
    let found = match text {
        "on" => {
            let place = words.skip_fillers(index + 1, &["the"]);
            calendar_date(words, place, today).or_else(|| named_day(words, place, today))
        }
        "in" => span_in(words, words.skip_fillers(index + 1, &["the"]), today),
        "today" | "tonight" | "tomorrow" => named_day(words, index, today),
        "next" => named_day(words, index, today).or_else(|| next_span(words, index, today)),
        "this" => named_day(words, index, today).or_else(|| this_span(words, index + 1, today)),
        "mid" => mid_month(words, index, today),
        text if text.starts_with("mid-") => mid_month(words, index, today),
        _ => calendar_date(words, index, today),
    }?;
    Some(BareDate { found, is_end: false })
}

/// "in March", "in summer", "in 2027", "in mid February": done within that span.
fn span_in(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    if let Some(season) = Season::from_name(words.text_at(index)) {
        let (from, to) = season.next_span(today)?;
        return Some(DateMatch::from_span(from, to, index + 1));
    }
    if let Some(year) = year_number(words.text_at(index)).filter(|year| *year >= 2000) {
        let first = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
        return Some(DateMatch::from_span(first, first.last_of_year(), index + 1));
    }
    mid_month(words, index, today).or_else(|| {
        let (first, end) = month_first(words, index, today)?;
        Some(DateMatch::from_span(first, first.last_of_month(), end))
    })
}

/// "this week", "this quarter", "this weekend", "this summer".
fn this_span(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let text = words.text_at(index);
    if let Some(season) = Season::from_name(text) {
        let (from, to) = season.next_span(today)?;
        return Some(DateMatch::from_span(from, to, index + 1));
    }
    if text == "weekend" {
        let sunday = next_or_same_weekday(today, Weekday::Sunday)?;
        let saturday = sunday.yesterday().ok()?.max(today);
        return Some(DateMatch::from_span(saturday, sunday, index + 1));
    }
    if !matches!(text, "week" | "month" | "quarter" | "year") {
        return None;
    }
    let (_, to, end) = span_days(words, index, today)?;
    Some(DateMatch::from_span(today.min(to), to, end))
}

/// "mid February", "mid-February", "the middle of February": its 15th.
fn mid_month(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let (month, end) = match words.text_at(index) {
        "mid" => (words.text_at(index + 1), index + 2),
        "middle" if words.is_any_of(index + 1, &["of"]) => (words.text_at(index + 2), index + 3),
        text => (text.strip_prefix("mid-")?, index + 1),
    };
    let month = parse_month(month)?;
    Some(DateMatch::from_day(next_yearly_date(today, month, 15)?, end))
}

/// A season of the northern half of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

impl Season {
    fn from_name(text: &str) -> Option<Self> {
        Some(match text {
            "spring" => Self::Spring,
            "summer" => Self::Summer,
            "autumn" | "fall" => Self::Autumn,
            "winter" => Self::Winter,
            _ => return None,
        })
    }

    fn first_day(self) -> (i8, i8) {
        match self {
            Self::Spring => (3, 1),
            Self::Summer => (6, 1),
            Self::Autumn => (9, 1),
            Self::Winter => (12, 1),
        }
    }

    /// Returns the last day before the season starts next.
    fn next_eve(self, today: Date) -> Option<Date> {
        let (month, day) = self.first_day();
        next_yearly_date(today.tomorrow().ok()?, month, day)?.yesterday().ok()
    }

    /// Returns the days that are left of the season that is on, or those of the next one.
    fn next_span(self, today: Date) -> Option<(Date, Date)> {
        let next = match self {
            Self::Spring => Self::Summer,
            Self::Summer => Self::Autumn,
            Self::Autumn => Self::Winter,
            Self::Winter => Self::Spring,
        };
        let last = next.next_eve(today)?;
        let first = last.first_of_month().checked_sub(2.months()).ok()?;
        Some((first.max(today), last))
    }
}

/// Returns whether a phrase names a season, which depends on the half of the world.
pub(super) fn names_season(text: &str) -> bool {
    text.split_whitespace().any(|word| Season::from_name(&word.to_lowercase()).is_some())
}

/// Returns Easter Sunday of a year, by the Gregorian computus as Meeus gives it.
fn easter_sunday(year: i16) -> Option<Date> {
    let number = i32::from(year);
    let (golden, century, rest) = (number % 19, number / 100, number % 100);
    let correction = (8 * century + 13) / 25;
    let moon = (19 * golden + century - century / 4 - correction + 15) % 30;
    let to_sunday = (32 + 2 * (century % 4) + 2 * (rest / 4) - moon - rest % 4) % 7;
    let shift = (golden + 11 * moon + 19 * to_sunday) / 433;
    let month = (moon + to_sunday - 7 * shift + 90) / 25;
    let day = (moon + to_sunday - 7 * shift + 33 * month + 19) % 32;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn next_easter(today: Date) -> Option<Date> {
    easter_sunday(today.year())
        .filter(|day| *day >= today)
        .or_else(|| easter_sunday(today.year() + 1))
}

/// Parses a date that names its day: ISO, "10.7.2026", "10 July", "July 10 2026".
pub(super) fn calendar_date(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    numeric_date(words.text_at(index), index)
        .or_else(|| day_then_month(words, index, today))
        .or_else(|| month_then_day(words, index, today))
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
    Some(DateMatch { reading, end: index + 1 })
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
            MONTHS[first.month() as usize - 1],
            first.days_in_month()
        )),
        None => DateReading::Impossible(format!(
            "\"{typed}\" is not a date; write it as year-month-day"
        )),
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn parse_month(text: &str) -> Option<i8> {
    let short = text.len() == 3 || text == "sept";
    let place = MONTHS.iter().position(|name| {
        name.eq_ignore_ascii_case(text)
            || (short && text.is_ascii() && name[..3].eq_ignore_ascii_case(&text[..3]))
    })?;
    i8::try_from(place + 1).ok()
}

fn day_number(text: &str) -> Option<i32> {
    let digits =
        ["st", "nd", "rd", "th"].iter().find_map(|tail| text.strip_suffix(tail)).unwrap_or(text);
    (1..=2).contains(&digits.len()).then(|| digits.parse().ok()).flatten()
}

fn year_number(text: &str) -> Option<i32> {
    (text.len() == 4)
        .then(|| text.parse().ok())
        .flatten()
        .filter(|year| (1000..=9999).contains(year))
}

fn day_then_month(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let day = day_number(words.text_at(index))?;
    let next = words.skip_fillers(index + 1, &["of"]);
    Some(named_date(words, index, next + 1, (day, parse_month(words.text_at(next))?), today))
}

fn month_then_day(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let month = parse_month(words.text_at(index))?;
    let next = words.skip_fillers(index + 1, &["the"]);
    Some(named_date(words, index, next + 1, (day_number(words.text_at(next))?, month), today))
}

/// Parses a date by month name; without a year it is the next such day.
fn named_date(
    words: &GoalWords<'_>,
    start: usize,
    next: usize,
    day: (i32, i8),
    today: Date,
) -> DateMatch {
    let (day, month) = day;
    let year = year_number(words.text_at(next));
    let end = next + usize::from(year.is_some());
    let typed = words.typed_text(start..end);
    let this = i32::from(today.year());
    let reading = match year {
        Some(year) => checked_date(year, i32::from(month), day, typed),
        None => match checked_date(this, i32::from(month), day, typed) {
            DateReading::Day(date) if date < today => {
                checked_date(this + 1, i32::from(month), day, typed)
            }
            reading => reading,
        },
    };
    DateMatch { reading, end }
}

fn relative_date(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    named_day(words, index, today)
        .or_else(|| end_of_span(words, index, today))
        .or_else(|| next_span(words, index, today))
        .or_else(|| season_eve(words, index, today))
        .or_else(|| mid_month(words, index, today))
        .or_else(|| parse_bare_month(words, index, today))
}

/// "by summer" means that it is done when summer starts.
fn season_eve(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let later = words.is_any_of(index, &["next"]);
    let place = index + usize::from(later || words.is_any_of(index, &["this"]));
    let season = Season::from_name(words.text_at(place))?;
    let eve = season.next_eve(today)?;
    Some(DateMatch::from_span(eve, eve, place + 1))
}

pub(super) fn parse_weekday(text: &str) -> Option<Weekday> {
    Some(match text.strip_suffix('s').unwrap_or(text) {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" | "tues" => Weekday::Tuesday,
        "wednesday" | "wed" | "weds" => Weekday::Wednesday,
        "thursday" | "thu" | "thur" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    })
}

fn named_day(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let day = match words.text_at(index) {
        "today" | "tonight" => today,
        "tomorrow" => today.checked_add(1.day()).ok()?,
        "christmas" => next_yearly_date(today, 12, 25)?,
        "easter" => next_easter(today)?,
        "new" if words.is_any_of(index + 1, &["year", "year's", "years"]) => {
            return Some(DateMatch::from_day(next_yearly_date(today, 12, 31)?, index + 2));
        }
        "next" => {
            let day = parse_weekday(words.text_at(index + 1))?;
            let monday = today.checked_add(7.days()).ok()?;
            let back = i32::from(monday.weekday().to_monday_zero_offset());
            let date = monday.checked_sub(back.days()).ok()?;
            let offset = i32::from(day.to_monday_zero_offset());
            return Some(DateMatch::from_day(date.checked_add(offset.days()).ok()?, index + 2));
        }
        "this" => {
            return Some(DateMatch::from_day(
                next_weekday(today, parse_weekday(words.text_at(index + 1))?)?,
                index + 2,
            ));
        }
        text => next_weekday(today, parse_weekday(text)?)?,
    };
    Some(DateMatch::from_day(day, index + 1))
}

/// Returns today if it is such a weekday, or the next one.
fn next_or_same_weekday(today: Date, day: Weekday) -> Option<Date> {
    today.checked_add(i32::from(today.weekday().until(day)).days()).ok()
}

/// Returns the next such weekday after today.
fn next_weekday(today: Date, day: Weekday) -> Option<Date> {
    let ahead = i32::from(today.weekday().until(day));
    today.checked_add(if ahead == 0 { 7 } else { ahead }.days()).ok()
}

fn next_yearly_date(today: Date, month: i8, day: i8) -> Option<Date> {
    let date = Date::new(today.year(), month, day).ok()?;
    if date >= today { Some(date) } else { Date::new(today.year() + 1, month, day).ok() }
}

fn end_of_span(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    let date = match words.text_at(index) {
        "eow" => week_end(today)?,
        "eom" | "month-end" => today.last_of_month(),
        "eoy" | "year-end" => today.last_of_year(),
        "end" => {
            let next = words.skip_fillers(index + 1, &["of", "the", "this"]);
            let (_, date, end) = span_days(words, next, today)?;
            return Some(DateMatch::from_span(date, date, end));
        }
        _ => return None,
    };
    Some(DateMatch::from_span(date, date, index + 1))
}

/// Returns the first and the last day of the span named at `index`, and the index after it.
fn span_days(words: &GoalWords<'_>, index: usize, today: Date) -> Option<(Date, Date, usize)> {
    let later = words.is_any_of(index, &["next"]);
    let place = index + usize::from(later);
    let shift = i32::from(later);
    let (from, to) = match words.text_at(place) {
        "day" => (today, today),
        "week" => {
            let day = today.checked_add((7 * shift).days()).ok()?;
            let back = i32::from(day.weekday().to_monday_zero_offset());
            (day.checked_sub(back.days()).ok()?, week_end(day)?)
        }
        "month" => {
            let first = today.first_of_month().checked_add(shift.months()).ok()?;
            (first, first.last_of_month())
        }
        "quarter" => {
            let last = quarter_end(today.year(), (today.month() - 1) / 3 + 1)?
                .checked_add((3 * shift).months())
                .ok()?
                .last_of_month();
            (last.first_of_month().checked_sub(2.months()).ok()?, last)
        }
        "year" => {
            let day = today.checked_add(shift.years()).ok()?;
            (day.first_of_year(), day.last_of_year())
        }
        text => {
            if let Some(quarter) = parse_quarter(text) {
                let (from, to) = next_quarter(quarter, today)?;
                return Some((from, to, place + 1));
            }
            let (first, end) = month_first(words, place, today)?;
            return Some((first, first.last_of_month(), end));
        }
    };
    Some((from, to, place + 1))
}

/// Returns the days of this year's quarter, or of next year's if it has passed.
fn next_quarter(quarter: i8, today: Date) -> Option<(Date, Date)> {
    let last = quarter_end(today.year(), quarter)?;
    let last = if last < today { quarter_end(today.year() + 1, quarter)? } else { last };
    Some((last.first_of_month().checked_sub(2.months()).ok()?, last))
}

fn parse_quarter(text: &str) -> Option<i8> {
    text.strip_prefix('q')?.parse().ok().filter(|quarter| (1..=4).contains(quarter))
}

fn quarter_end(year: i16, quarter: i8) -> Option<Date> {
    Date::new(year, quarter * 3, 1).ok().map(Date::last_of_month)
}

/// Returns the Friday of the week of `day`, or the Sunday if that has passed.
fn week_end(day: Date) -> Option<Date> {
    let friday = i32::from(Weekday::Friday.to_monday_zero_offset())
        - i32::from(day.weekday().to_monday_zero_offset());
    let ahead = if friday >= 0 { friday } else { friday + 2 };
    day.checked_add(ahead.days()).ok()
}

fn next_span(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    if let Some(quarter) = parse_quarter(words.text_at(index)) {
        let (from, to) = next_quarter(quarter, today)?;
        return Some(DateMatch::from_span(from.max(today), to, index + 1));
    }
    let next = words.is_any_of(index, &["next"])
        && words.is_any_of(index + 1, &["week", "month", "quarter", "year"]);
    let (from, to, end) = if next { span_days(words, index, today)? } else { return None };
    Some(DateMatch::from_span(from, to, end))
}

/// "by July" means that it is done when July starts.
fn parse_bare_month(words: &GoalWords<'_>, index: usize, today: Date) -> Option<DateMatch> {
    // "may" is more often a verb than a month if nothing else indicates one.
    if words.is_any_of(index, &["may", "mar", "sun"]) {
        return None;
    }
    month_first(words, index, today).map(|(date, end)| DateMatch::from_day(date, end))
}

fn month_first(words: &GoalWords<'_>, index: usize, today: Date) -> Option<(Date, usize)> {
    let month = parse_month(words.text_at(index))?;
    if let Some(year) = year_number(words.text_at(index + 1)) {
        return Date::new(i16::try_from(year).ok()?, month, 1).ok().map(|date| (date, index + 2));
    }
    let year = today.year() + i16::from(month < today.month());
    Date::new(year, month, 1).ok().map(|date| (date, index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    /// 2026-06-05 is a Friday.
    fn read(text: &str) -> Option<DateReading> {
        parse_date_at(&GoalWords::new(text), 0, date(2026, 6, 5)).map(|found| found.reading)
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
        falls_on("next month", 2026, 7, 31);
        falls_on("end of Q3", 2026, 9, 30);
        falls_on("year-end", 2026, 12, 31);
        falls_on("Christmas", 2026, 12, 25);
        falls_on("July", 2026, 7, 1);
        falls_on("February 2027", 2027, 2, 1);
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
        assert_eq!(easter_sunday(2026), Some(date(2026, 4, 5)));
        assert_eq!(easter_sunday(2025), Some(date(2025, 4, 20)));
    }

    #[test]
    fn other_words_are_not_dates() {
        assert_eq!(read("hand"), None);
        assert_eq!(read("may be"), None);
        assert_eq!(read("v1.2.3"), None);
    }
}
