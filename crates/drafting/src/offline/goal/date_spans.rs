//! Spans of days that goals name: months, seasons, quarters, weeks, and their ends.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use super::dates::{
    self, DateContext, DateDoubt, DateMatch, DateReading, next_or_same_weekday, parse_month,
    parse_weekday, year_number,
};
use super::region::YearSeason;
use super::words::GoalWords;

/// "in March", "in summer", "in 2027", "in mid February", "in Q2": within that span.
pub(super) fn span_in(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    if let Some(season) = YearSeason::from_name(words.text_at(index)) {
        return season_days(words, season, index + 1, at);
    }
    if let Some(year) = year_number(words.text_at(index)).filter(|year| *year >= 2000) {
        let first = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
        return Some(DateMatch::from_span(first, first.last_of_year(), index + 1));
    }
    if words.phrase_starts_at(index, "week of") {
        let found = dates::calendar_date(words, index + 2, at)?;
        let DateReading::Day(day) = found.reading else { return Some(found) };
        let back = i32::from(day.weekday().to_monday_zero_offset());
        let monday = day.checked_sub(back.days()).ok()?;
        let from = monday.max(at.today);
        return Some(DateMatch::from_span(from, monday.checked_add(6.days()).ok()?, found.end));
    }
    part_of_month(words, index, at)
        .or_else(|| week_of_month(words, index, at))
        .or_else(|| quarter(words, index, at))
        .or_else(|| {
            let (first, end) = month_first(words, index, at.today)?;
            Some(DateMatch::from_span(first, first.last_of_month(), end))
        })
}

/// "over Christmas" is until New Year, and "over Easter" from Friday to Monday; other holidays are one day.
pub(super) fn holiday_days(
    words: &GoalWords<'_>,
    name: &str,
    found: &DateMatch,
) -> Option<DateMatch> {
    let DateReading::Day(day) = found.reading else { return Some(found.clone()) };
    let end = found.end + usize::from(words.is_any_of(found.end, &["weekend", "holidays"]));
    let (before, after) = match name {
        "christmas" | "xmas" => (1, 7),
        "easter" => (2, 1),
        "thanksgiving" => (0, 3),
        _ => return Some(found.clone()),
    };
    let from = day.checked_sub(before.days()).ok()?;
    Some(DateMatch::from_span(from, day.checked_add(after.days()).ok()?, end))
}

/// "the summer" after "over".
pub(super) fn season_of(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    season_days(words, YearSeason::from_name(words.text_at(index))?, index + 1, at)
}

/// "the last week of July", "the first weekend in May", "the first Sunday in June": seven days of the month, its Saturday
/// and Sunday, or that day.
pub(super) fn week_of_month(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let place = match words.text_at(index) {
        "first" => Some(0),
        "second" => Some(1),
        "third" => Some(2),
        "fourth" => Some(3),
        "last" => None,
        _ => return None,
    };
    if let Some(day) = parse_weekday(words.text_at(index + 1)) {
        let month = words.skip_fillers(index + 2, &["of", "in"]);
        let (first, end) = month_first(words, month, at.today).filter(|_| month > index + 2)?;
        return Some(DateMatch::from_day(nth_weekday(first, day, place)?, end));
    }
    let weekend = words.is_any_of(index + 1, &["weekend"]);
    if !weekend && !words.is_any_of(index + 1, &["week"]) {
        return None;
    }
    let month = words.skip_fillers(index + 2, &["of", "in"]);
    let (first, end) = month_first(words, month, at.today).filter(|_| month > index + 2)?;
    let last = first.last_of_month();
    let (from, to) = if weekend {
        let saturday = match place {
            Some(place) => next_or_same_weekday(first, Weekday::Saturday)?
                .checked_add((7 * place).days())
                .ok()?,
            None => {
                last.checked_sub(i32::from(last.weekday().since(Weekday::Saturday)).days()).ok()?
            }
        };
        (saturday, saturday.tomorrow().ok()?)
    } else {
        let from = match place {
            Some(place) => first.checked_add((7 * place).days()).ok()?,
            None => last.checked_sub(6.days()).ok()?,
        };
        (from, from.checked_add(6.days()).ok()?)
    };
    Some(DateMatch::from_span(from, to, end))
}

/// Returns the first, second … or last such day of the week in a month.
fn nth_weekday(first: Date, day: Weekday, place: Option<i32>) -> Option<Date> {
    let Some(place) = place else {
        let last = first.last_of_month();
        return last.checked_sub(i32::from(last.weekday().since(day)).days()).ok();
    };
    let found = next_or_same_weekday(first, day)?.checked_add((7 * place).days()).ok()?;
    (found.month() == first.month()).then_some(found)
}

/// "next September", "this September": the month itself; `index` is the month. The month that is on is not the next.
fn named_month(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let (first, end) = later_month(words, index, at.today)?;
    Some(DateMatch::from_span(first, first.last_of_month(), end))
}

/// Returns the first day of the month after "next": never this month's.
pub(super) fn later_month(
    words: &GoalWords<'_>,
    index: usize,
    today: Date,
) -> Option<(Date, usize)> {
    let (first, end) = month_first(words, index, today)?;
    let first = if first <= today { first.checked_add(1.year()).ok()? } else { first };
    Some((first, end))
}

/// Returns the days of a season, of the year that follows its name if there is one: "summer 2028".
fn season_days(
    words: &GoalWords<'_>,
    season: YearSeason,
    end: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let year = year_number(words.text_at(end)).and_then(|year| i16::try_from(year).ok());
    let later = year.filter(|year| *year > at.today.year());
    // From the middle of January on, no season of the year before is left.
    let today = match later {
        Some(year) => Date::new(year, 3, 15).ok()?,
        None => at.today,
    };
    let end = end + usize::from(later.is_some() || year == Some(at.today.year()));
    // School decides when exactly: "in the summer holidays".
    let end = end + usize::from(words.is_any_of(end, &["holidays", "vacation", "break"]));
    let (from, to) = season.next_days(today, at.region)?;
    let from = later.map_or(from, |_| season_start(from, to));
    Some(DateMatch::from_span(from, to, end).with_doubt(DateDoubt::Season))
}

/// Returns the first day of the three months that end with a season.
fn season_start(from: Date, to: Date) -> Date {
    to.first_of_month().checked_sub(2.months()).unwrap_or(from)
}

/// "this week", "this quarter", "this weekend", "this summer"; `index` is the word after "this".
pub(super) fn this_span(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let text = words.text_at(index);
    if let Some(season) = YearSeason::from_name(text) {
        return season_days(words, season, index + 1, at);
    }
    if text == "weekend" {
        let (saturday, sunday) = weekend(at.today, 0)?;
        return Some(DateMatch::from_span(saturday, sunday, index + 1));
    }
    // "this may be": a verb.
    let is_month = text != "may" || words.is_capitalized(index);
    if let Some((first, end)) = month_first(words, index, at.today).filter(|_| is_month) {
        return Some(DateMatch::from_span(first.max(at.today), first.last_of_month(), end));
    }
    if !matches!(text, "week" | "month" | "quarter" | "year") {
        return None;
    }
    let (_, to, end) = span_days(words, index, at.today)?;
    Some(DateMatch::from_span(at.today.min(to), to, end))
}

/// Returns the days that are left of this weekend, or those of a later one.
fn weekend(today: Date, weeks_later: i32) -> Option<(Date, Date)> {
    let sunday = next_or_same_weekday(today, Weekday::Sunday)?;
    let sunday = sunday.checked_add((7 * weeks_later).days()).ok()?;
    Some((sunday.yesterday().ok()?.max(today), sunday))
}

/// A season that begins in fewer days is "this" one.
pub(super) const ABOUT_TO_BEGIN: i32 = 42;

/// "next week", "next quarter", "next weekend", "Q3", "Q2 2027".
pub(super) fn next_span(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    if let Some(found) = quarter(words, index, at) {
        return Some(found);
    }
    if !words.is_any_of(index, &["next"]) {
        return None;
    }
    if words.is_any_of(index + 1, &["weekend"]) {
        let (saturday, sunday) = weekend(at.today, 1)?;
        return Some(DateMatch::from_span(saturday, sunday, index + 2));
    }
    if let Some(season) = YearSeason::from_name(words.text_at(index + 1)) {
        // The season that is on is not the next one, nor is the one that is about to begin.
        let (from, _) = season.coming_days(at.today, at.region)?;
        let near = at.today.until(from).is_ok_and(|span| span.get_days() < ABOUT_TO_BEGIN);
        let asked = if near { from } else { at.today };
        let (from, to) = season.coming_days(asked, at.region)?;
        let found = DateMatch::from_span(from, to, index + 2);
        return Some(found.with_doubt(DateDoubt::Season));
    }
    if let Some(found) = named_month(words, index + 1, at) {
        return Some(found);
    }
    if !words.is_any_of(index + 1, &["week", "month", "quarter", "year"]) {
        return None;
    }
    let (from, to, end) = span_days(words, index, at.today)?;
    Some(DateMatch::from_span(from, to, end))
}

fn quarter(words: &GoalWords<'_>, index: usize, at: DateContext) -> Option<DateMatch> {
    let quarter = parse_quarter(words.text_at(index))?;
    if let Some(year) = year_number(words.text_at(index + 1)) {
        let last = quarter_end(i16::try_from(year).ok()?, quarter)?;
        let first = last.first_of_month().checked_sub(2.months()).ok()?;
        return Some(DateMatch::from_span(first, last, index + 2));
    }
    let (from, to) = next_quarter(quarter, at.today)?;
    Some(DateMatch::from_span(from.max(at.today), to, index + 1))
}

/// "mid February", "the middle of February": its 15th. "early March", "late March": its first or last ten days.
pub(super) fn part_of_month(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let text = words.text_at(index);
    if let Some(month) = text.strip_prefix("mid-").and_then(parse_month) {
        return Some(DateMatch::from_day(next_month_day(at.today, month, 15)?, index + 1));
    }
    let place = match text {
        "mid" | "early" | "late" => index + 1,
        "middle" | "beginning" | "start" if words.is_any_of(index + 1, &["of"]) => index + 2,
        _ => return None,
    };
    let (first, end) = month_first(words, place, at.today)?;
    let day = |day: i8| Date::new(first.year(), first.month(), day).ok();
    Some(match text {
        "mid" | "middle" => DateMatch::from_day(day(15)?, end),
        "late" => DateMatch::from_span(day(21)?, first.last_of_month(), end),
        _ => DateMatch::from_span(first, day(10)?, end),
    })
}

fn next_month_day(today: Date, month: i8, day: i8) -> Option<Date> {
    let date = Date::new(today.year(), month, day).ok()?;
    if date >= today { Some(date) } else { Date::new(today.year() + 1, month, day).ok() }
}

/// "March 2027" without a word before it.
pub(super) fn month_of_year(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    year_number(words.text_at(index + 1))?;
    let (first, end) = month_first(words, index, at.today)?;
    Some(DateMatch::from_span(first, first.last_of_month(), end))
}

/// "end of June", "eow", "year-end".
pub(super) fn end_of_span(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    let today = at.today;
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

/// The days that "at the end of March" means.
const LAST_DAYS: i32 = 7;

/// "at the end of March": its last days, on one of which the thing itself happens. The end of a week is one day.
pub(super) fn last_days_of_span(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<DateMatch> {
    if !words.is_any_of(index, &["end"]) {
        return None;
    }
    let next = words.skip_fillers(index + 1, &["of", "the", "this"]);
    let (from, to, end) = span_days(words, next, at.today)?;
    let first = to.checked_sub((LAST_DAYS - 1).days()).ok()?;
    let long = from < first && to.since(from).is_ok_and(|span| span.get_days() >= 27);
    long.then(|| DateMatch::from_span(first.max(at.today), to, end))
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

/// Returns the first day of the month named at `index`, the next one if no year follows, and the index after it.
pub(super) fn month_first(
    words: &GoalWords<'_>,
    index: usize,
    today: Date,
) -> Option<(Date, usize)> {
    let month = parse_month(words.text_at(index))?;
    if let Some(year) = year_number(words.text_at(index + 1)) {
        return Date::new(i16::try_from(year).ok()?, month, 1).ok().map(|date| (date, index + 2));
    }
    let year = today.year() + i16::from(month < today.month());
    Date::new(year, month, 1).ok().map(|date| (date, index + 1))
}
