//! Amounts of time in words: "6 weeks", "half an hour", "a couple of months".

use super::words::Words;

/// A unit of time that people plan in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// Weeks in a month, as every horizon in months is counted.
pub(super) const WEEKS_PER_MONTH: f64 = 4.345;

impl Unit {
    pub(super) fn named(text: &str) -> Option<Self> {
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

    /// The unit in weeks; nothing for what is shorter than a day.
    pub(super) fn weeks(self) -> Option<f64> {
        Some(match self {
            Self::Minute | Self::Hour => return None,
            Self::Day => 1.0 / 7.0,
            Self::Week => 1.0,
            Self::Month => WEEKS_PER_MONTH,
            Self::Quarter => 13.0,
            Self::Year => 52.0,
        })
    }

    pub(super) fn minutes(self) -> Option<f64> {
        match self {
            Self::Minute => Some(1.0),
            Self::Hour => Some(60.0),
            _ => None,
        }
    }
}

/// So much of a unit, and the index after its last word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount {
    pub(super) count: f64,
    pub(super) unit: Unit,
    pub(super) end: usize,
}

/// Whether a bare article counts as one ("in a month"), which it must not where any noun may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Article {
    Counts,
    Ignored,
}

/// Reads an amount that begins at `index`.
pub(super) fn amount(words: &Words<'_>, index: usize, article: Article) -> Option<Amount> {
    let (count, next) = count(words, index, article)?;
    let next = words.skip(next, &["more", "full", "whole"]);
    let unit = Unit::named(words.at(next))?;
    Some(Amount { count, unit, end: next + 1 })
}

fn count(words: &Words<'_>, index: usize, article: Article) -> Option<(f64, usize)> {
    if words.starts(index, "half an") || words.starts(index, "half a") {
        return Some((0.5, index + 2));
    }
    if words.starts(index, "a couple of") {
        return Some((2.0, index + 3));
    }
    if words.is(index, &["a", "an"]) {
        return (article == Article::Counts).then_some((1.0, index + 1));
    }
    number(words.at(index)).map(|number| (number, index + 1))
}

const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// A number in digits or in words. Of a range such as "5-6" the lower end counts, since a plan should fit the lean week.
pub(super) fn number(text: &str) -> Option<f64> {
    if let Some(place) = NUMBERS.iter().position(|name| *name == text) {
        return Some(place as f64);
    }
    match text {
        "fifteen" => return Some(15.0),
        "sixteen" => return Some(16.0),
        "twenty" => return Some(20.0),
        "thirty" => return Some(30.0),
        "forty" => return Some(40.0),
        "sixty" => return Some(60.0),
        "ninety" => return Some(90.0),
        _ => {}
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

    fn read(text: &str) -> Option<(f64, Unit)> {
        amount(&Words::new(text), 0, Article::Counts).map(|amount| (amount.count, amount.unit))
    }

    #[test]
    fn amounts_come_in_digits_and_words() {
        assert_eq!(read("6 weeks"), Some((6.0, Unit::Week)));
        assert_eq!(read("six months"), Some((6.0, Unit::Month)));
        assert_eq!(read("half an hour"), Some((0.5, Unit::Hour)));
        assert_eq!(read("1.5 hours"), Some((1.5, Unit::Hour)));
        assert_eq!(read("a couple of weeks"), Some((2.0, Unit::Week)));
        assert_eq!(read("5-6 hours"), Some((5.0, Unit::Hour)));
        assert_eq!(read("a newsletter"), None);
        assert_eq!(read("6"), None);
    }
}
