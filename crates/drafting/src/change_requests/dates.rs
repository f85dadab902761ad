//! Days, spans of days and times on a day, as people write them in change requests.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday as CivilWeekday};

use crate::calendar_names::MONTHS;
use planwright_model::PlanDate;
use planwright_schedule::calendar::monday_of;

use super::amounts::{parse_date, parse_number, parse_time};
use super::open_reason::OpenReason;
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};

/// Parses a day or a span that has a name: "24 December", "next week", "January". Both days are included.
pub(super) fn parse_day_span(text: &str, today: Date) -> Option<(Date, Date)> {
    let text = strip_phrase_prefix(text, &["all of", "the whole of", "the", "on", "in", "during"])
        .unwrap_or(text);
    let lower = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    let monday = monday_of(today);
    let span = |from: Date, days: i64| Some((from, from.checked_add(days.days()).ok()?));
    match lower.as_str() {
        "today" | "now" => return Some((today, today)),
        "this week" => return Some((today, monday.checked_add(6.days()).ok()?)),
        "next week" => return span(monday.checked_add(7.days()).ok()?, 6),
        "this weekend" | "weekend" => return span(monday.checked_add(5.days()).ok()?, 1),
        "next weekend" => return span(monday.checked_add(12.days()).ok()?, 1),
        "this month" => return Some((today, today.last_of_month())),
        "next month" => {
            let first = today.first_of_month().checked_add(1.month()).ok()?;
            return Some((first, first.last_of_month()));
        }
        "christmas" | "xmas" | "christmas days" => {
            return Some((parse_date("24 December", today)?, parse_date("26 December", today)?));
        }
        "new year" | "new year's" | "new year's day" => {
            let day = parse_date("1 January", today)?;
            return Some((day, day));
        }
        _ => {}
    }
    if let Some(count) = strip_phrase_prefix(&lower, &["next", "coming"]).and_then(parse_days) {
        return span(today.tomorrow().ok()?, count - 1);
    }
    if let Some(day) = strip_phrase_prefix(&lower, &["week of", "week from", "week starting"]) {
        let (day, _) = parse_day_span(day, today)?;
        return span(monday_of(day), 6);
    }
    parse_month(&lower, today).or_else(|| parse_part_of_month(&lower, today)).or_else(|| {
        let day = parse_date(text, today)?;
        Some((day, day))
    })
}

/// Parses the name of a month, with or without a year: the next such month, or the present one from today on.
fn parse_month(lower: &str, today: Date) -> Option<(Date, Date)> {
    let mut words = lower.split_whitespace();
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| {
        *month == name || (name.len() == 3 && month.starts_with(name) && *month != "may")
    })?;
    let month = i8::try_from(month).ok()? + 1;
    let year = match words.next() {
        Some(year) => year.parse().ok().filter(|year: &i16| (1900..3000).contains(year))?,
        None if month < today.month() => today.year() + 1,
        None => today.year(),
    };
    let first = Date::new(year, month, 1).ok().filter(|_| words.next().is_none())?;
    Some((first.max(today).min(first.last_of_month()), first.last_of_month()))
}

/// Parses a part of a month: "first two weeks of January", "last week of March", "mid February", "second half of May".
fn parse_part_of_month(lower: &str, today: Date) -> Option<(Date, Date)> {
    let (part, month) = lower.split_once(" of ").or_else(|| lower.split_once([' ', '-']))?;
    let (_, last) = parse_month(month.trim(), today)?;
    let first = last.first_of_month();
    let day = |number: i8| Date::new(last.year(), last.month(), number).ok();
    let part = part.trim_start_matches("the ").trim();
    let (from, to) = match part {
        "early" | "beginning" | "start" => (first, day(10)?),
        "mid" | "middle" => (day(11)?, day(20)?),
        "late" => (day(21)?, last),
        "first half" => (first, day(15)?),
        "second half" => (day(16)?, last),
        _ => {
            let (which, length) = part.split_once(' ').unwrap_or((part, "week"));
            let length =
                if length.contains(' ') { length.to_owned() } else { format!("one {length}") };
            let days = parse_days(&length)? - 1;
            match which {
                "first" => (first, first.checked_add(days.days()).ok()?),
                "last" => (last.checked_sub(days.days()).ok()?, last),
                _ => return None,
            }
        }
    };
    (to >= today).then_some((from.max(today), to))
}

/// Parses two days with a word between them: "from December 20 to January 3", "20 to 27 December", "Dec 20 - 27".
pub(super) fn parse_date_range(text: &str, today: Date) -> Option<(Date, Date)> {
    let rest = strip_phrase_prefix(text, &["from", "between", "starting"]).unwrap_or(text);
    let spaced = rest.replace(['–', '—'], "-");
    let words = ["to", "until", "till", "through", "and", "up to", "-"];
    let mut cuts: Vec<(&str, &str)> = split_at_words(&spaced, &words);
    // "20-27 December", but not the hyphens of "2026-12-24".
    if spaced.matches('-').count() == 1 {
        cuts.extend(spaced.split_once('-'));
    }
    let (from, to) = cuts.into_iter().find_map(|(from, to)| parse_range_ends(from, to, today))?;
    if from <= to {
        return Some((from, to));
    }
    // It has begun: "December 20 to January 3", said on December 28.
    let earlier = from.checked_sub(1.year()).ok()?;
    (earlier <= to && from > today).then_some((earlier, to))
}

fn parse_range_ends(from: &str, to: &str, today: Date) -> Option<(Date, Date)> {
    let (from, to) = (from.trim(), to.trim());
    let day_number = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '.');
        digits.parse::<u8>().ok().filter(|day| (1..=31).contains(day))
    };
    if let (Some(day), Some(month)) = (day_number(from), month_name(to)) {
        let last = parse_day_span(to, today)?.1;
        return Some((parse_date(&format!("{day} {month} {}", last.year()), today)?, last));
    }
    if let (Some(day), Some(month)) = (day_number(to), month_name(from)) {
        let first = parse_day_span(from, today)?.0;
        return Some((first, parse_date(&format!("{day} {month} {}", first.year()), today)?));
    }
    let first = parse_day_span(from, today)?.0;
    let last = parse_day_span(to, today)?.1;
    Some((first, last))
}

/// Returns the month that a phrase names.
fn month_name(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let named =
        |word: &str| MONTHS.into_iter().find(|month| word.len() >= 3 && month.starts_with(word));
    lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).find_map(named)
}

/// Parses a day, with or without a time: "January 12 at 14:00", "12 January, 2 pm".
pub(super) fn parse_plan_date(text: &str, today: Date) -> Option<PlanDate> {
    let text = strip_phrase_prefix(text, &["on", "for", "the"]).unwrap_or(text);
    let day = |text: &str| {
        let text = text.trim().trim_end_matches(',');
        let (from, to) = parse_day_span(text, today)?;
        (from == to).then_some(from)
    };
    if let Some(day) = day(text) {
        return Some(PlanDate::on_day(day));
    }
    let at_word = split_at_words(text, &["at", "from", "@"]);
    let at_comma = text.rsplit_once(", ");
    let at_space = text.rsplit_once(' ').filter(|(_, time)| time.contains(':'));
    let cuts = at_word.into_iter().chain(at_comma).chain(at_space);
    let timed = cuts.into_iter().find_map(|(on, time)| {
        let time = strip_phrase_suffix(time, &["o'clock", "h", "sharp"]).unwrap_or(time);
        Some(PlanDate { day: day(on)?, time: Some(parse_time(time)?) })
    });
    // "at 14:00 on January 12"
    timed.or_else(|| {
        let rest = strip_phrase_prefix(text, &["at"])?;
        split_at_words(rest, &["on"])
            .into_iter()
            .find_map(|(time, on)| Some(PlanDate { day: day(on)?, time: Some(parse_time(time)?) }))
    })
}

/// Parses a number of calendar days: "two weeks", "10 days", "a month".
pub(super) fn parse_days(text: &str) -> Option<i64> {
    let mut words = text.split_whitespace();
    let (count, unit, end) = (words.next()?, words.next()?, words.next());
    let (count, unit) = match (count, unit, end) {
        ("a" | "the", "couple", Some("of")) => ("two", words.next()?),
        ("a", "few", Some(unit)) => ("three", unit),
        (count, unit, None) => (count, unit),
        _ => return None,
    };
    let each = match unit.trim_end_matches('s') {
        "day" => 1.0,
        "week" => 7.0,
        "month" => 30.0,
        "fortnight" => 14.0,
        _ => return None,
    };
    let days = (parse_number(&count.to_lowercase())? * each).round();
    (1.0..=3660.0).contains(&days).then_some(days as i64)
}

/// Returns whether words are a date and nothing else, be it possible or not: "31 June", "2026-02-30".
pub(super) fn looks_like_date(text: &str) -> bool {
    let is_part = |word: &str| {
        let word = word.trim_matches([',', '.']);
        let numeric = word.split(['-', '.', '/']).all(|part| part.parse::<u16>().is_ok());
        let counted = word.trim_end_matches(char::is_alphabetic).parse::<u16>().is_ok();
        numeric || counted || month_name(word).is_some() || ["the", "of"].contains(&word)
    };
    text.contains(|c: char| c.is_ascii_digit()) && text.split_whitespace().all(is_part)
}

/// Why a date is not one.
pub(super) fn no_such_day(text: &str) -> OpenReason {
    OpenReason::because(format!("\"{}\" is not a day to come", text.trim()))
}

/// Returns whether a single word names a day of the week, which may mean the next one or each one.
pub(super) fn is_lone_weekday(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    (0..7).any(|offset| {
        let day = CivilWeekday::Monday.wrapping_add(offset);
        format!("{day:?}").to_lowercase() == lower
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 6, 5);

    #[test]
    fn spans_of_days_are_read() {
        let span = |text: &str| parse_day_span(text, TODAY);
        assert_eq!(span("next week"), Some((date(2026, 6, 8), date(2026, 6, 14))));
        assert_eq!(span("January"), Some((date(2027, 1, 1), date(2027, 1, 31))));
        assert_eq!(span("june"), Some((TODAY, date(2026, 6, 30))));
        assert_eq!(span("the next two weeks"), Some((date(2026, 6, 6), date(2026, 6, 19))));
        assert_eq!(span("24 December"), Some((date(2026, 12, 24), date(2026, 12, 24))));
        assert_eq!(span("the week of July 8"), Some((date(2026, 7, 6), date(2026, 7, 12))));
        assert_eq!(span("31 June"), None);
        assert_eq!(span("whenever"), None);
    }

    #[test]
    fn ranges_are_read_with_one_or_two_months() {
        let range = |text: &str| parse_date_range(text, TODAY);
        let winter = Some((date(2026, 12, 20), date(2027, 1, 3)));
        assert_eq!(range("from December 20 to January 3"), winter);
        assert_eq!(range("20 Dec – 3 Jan"), winter);
        let july = Some((date(2026, 7, 1), date(2026, 7, 10)));
        for text in ["1 to 10 July", "July 1 to 10", "between 1 July and 10 July", "1-10 July"] {
            assert_eq!(range(text), july, "{text}");
        }
        let begun = parse_date_range("December 20 to January 3", date(2026, 12, 28));
        assert_eq!(begun, winter);
        assert_eq!(range("tea to coffee"), None);
    }

    #[test]
    fn a_day_may_have_a_time() {
        let read = |text: &str| parse_plan_date(text, TODAY).map(|date| date.to_string());
        for text in [
            "January 12 at 14:00",
            "on January 12 at 2 pm",
            "12 January, 14:00",
            "2027-01-12 14:00",
            "at 2pm on 12 January",
        ] {
            assert_eq!(read(text).as_deref(), Some("2027-01-12T14:00"), "{text}");
        }
        assert_eq!(read("January 12").as_deref(), Some("2027-01-12"));
        assert_eq!(read("next week"), None);
    }
}
