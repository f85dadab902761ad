//! Amounts of time in words: "6 weeks", "half an hour", "a couple of months".

use super::words::GoalWords;
use crate::number_names::parse_number_word;

/// A unit of time that people plan in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TimeUnit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// Weeks in a month, used for every horizon in months.
pub(super) const WEEKS_PER_MONTH: f64 = 4.345;

impl TimeUnit {
    pub(super) fn from_name(text: &str) -> Option<Self> {
        Some(match text {
            "minute" | "minutes" | "min" | "mins" | "m" => Self::Minute,
            "hour" | "hours" | "h" | "hr" | "hrs" => Self::Hour,
            "day" | "days" | "d" => Self::Day,
            "week" | "weeks" | "w" | "wk" | "wks" => Self::Week,
            "month" | "months" | "mo" => Self::Month,
            "quarter" | "quarters" => Self::Quarter,
            "year" | "years" | "y" | "yr" | "yrs" => Self::Year,
            _ => return None,
        })
    }

    /// Returns the unit in weeks, or `None` if it is shorter than a day.
    pub(super) fn in_weeks(self) -> Option<f64> {
        Some(match self {
            Self::Minute | Self::Hour => return None,
            Self::Day => 1.0 / 7.0,
            Self::Week => 1.0,
            Self::Month => WEEKS_PER_MONTH,
            Self::Quarter => 13.0,
            Self::Year => 52.0,
        })
    }

    pub(super) fn in_minutes(self) -> Option<f64> {
        match self {
            Self::Minute => Some(1.0),
            Self::Hour => Some(60.0),
            _ => None,
        }
    }
}

/// An amount of a unit, and the index after its last word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnitAmount {
    pub(super) count: f64,
    pub(super) unit: TimeUnit,
    pub(super) end: usize,
}

/// Whether a bare article means one ("in a month"), which it must not where any noun may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArticlePolicy {
    CountsAsOne,
    Ignored,
}

/// Parses an amount that starts at `index`.
pub(super) fn parse_amount(
    words: &GoalWords<'_>,
    index: usize,
    article: ArticlePolicy,
) -> Option<UnitAmount> {
    let (count, next) = parse_count(words, index, article)?;
    let next = words.skip_fillers(next, &["more", "full", "whole"]);
    let unit = TimeUnit::from_name(words.text_at(next))?;
    // "a 6 year old" has an age, and what was two years ago has passed.
    if words.is_any_of(next + 1, &["old", "older", "ago"]) {
        return None;
    }
    // "10 h 30 min" is one length.
    let minutes = (unit == TimeUnit::Hour && !words.clause_starts_at(next + 1))
        .then(|| parse_number(words.text_at(next + 1)))
        .flatten()
        .filter(|_| TimeUnit::from_name(words.text_at(next + 2)) == Some(TimeUnit::Minute));
    match minutes {
        Some(minutes) => Some(UnitAmount { count: count + minutes / 60.0, unit, end: next + 3 }),
        None => Some(UnitAmount { count, unit, end: next + 1 }),
    }
}

fn parse_count(
    words: &GoalWords<'_>,
    index: usize,
    article: ArticlePolicy,
) -> Option<(f64, usize)> {
    if words.phrase_starts_at(index, "half an") || words.phrase_starts_at(index, "half a") {
        return Some((0.5, index + 2));
    }
    if words.phrase_starts_at(index, "a couple") {
        return Some((2.0, words.skip_fillers(index + 2, &["of"])));
    }
    if words.phrase_starts_at(index, "a few") {
        return Some((3.0, index + 2));
    }
    if words.is_any_of(index, &["a", "an"]) {
        return (article == ArticlePolicy::CountsAsOne).then_some((1.0, index + 1));
    }
    parse_number(words.text_at(index)).map(|number| (number, index + 1))
}

/// Parses a number in digits or in words. Of a range such as "5-6" the lower end is used, since a plan should fit a
/// slow week.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    if let Some(number) = parse_number_word(text) {
        return Some(number);
    }
    let low = text.split_once('-').map_or(text, |(low, _)| low);
    let digits = low.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (digits && low.starts_with(|first: char| first.is_ascii_digit()))
        .then(|| low.parse::<f64>().ok())
        .flatten()
        .filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(f64, TimeUnit)> {
        parse_amount(&GoalWords::new(text), 0, ArticlePolicy::CountsAsOne)
            .map(|amount| (amount.count, amount.unit))
    }

    #[test]
    fn amounts_are_parsed_in_digits_and_words() {
        assert_eq!(read("6 weeks"), Some((6.0, TimeUnit::Week)));
        assert_eq!(read("six months"), Some((6.0, TimeUnit::Month)));
        assert_eq!(read("half an hour"), Some((0.5, TimeUnit::Hour)));
        assert_eq!(read("1.5 hours"), Some((1.5, TimeUnit::Hour)));
        assert_eq!(read("a couple of weeks"), Some((2.0, TimeUnit::Week)));
        assert_eq!(read("5-6 hours"), Some((5.0, TimeUnit::Hour)));
        assert_eq!(read("10 h 30 min"), Some((10.5, TimeUnit::Hour)));
        assert_eq!(read("2 hours 15 minutes"), Some((2.25, TimeUnit::Hour)));
        assert_eq!(read("fifty minutes"), Some((50.0, TimeUnit::Minute)));
        assert_eq!(read("a few weeks"), Some((3.0, TimeUnit::Week)));
        assert_eq!(read("6 year old"), None, "an age");
        assert_eq!(read("a newsletter"), None);
        assert_eq!(read("6"), None);
    }
}
