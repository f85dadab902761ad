//! The days off of a person as they write and read them: `25 – 26 Dec, 1 Jan, 2027-08-02 to 2027-08-13`. Days without a
//! year are off every year.

use std::collections::BTreeSet;

use jiff::civil::{Date, date};

use crate::calendar_names::find_month;
use planwright_schedule::calendar::{HolidayCountry, plus_days};

/// What can be written, for messages.
pub const DAYS_OFF_EXAMPLE: &str = "such as \"25 – 26 Dec, 1 Jan, 2027-08-02 to 2027-08-13\"";
/// The longest span of days off.
const MAX_DAYS: i64 = 366;
/// A day of a year, or of every year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CalendarDay {
    year: Option<i16>,
    month: i8,
    day: i8,
}

/// Days off, the first and the last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DaysOffSpan {
    from: CalendarDay,
    to: CalendarDay,
}

/// Days off and the country whose public holidays are off as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnDaysOff {
    pub spans: Vec<DaysOffSpan>,
    pub country: Option<HolidayCountry>,
}

impl OwnDaysOff {
    /// Reads days separated by commas, and "public holidays in" a country. `Err` names what was not understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found = Self::default();
        for part in text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
            match read_country(part)? {
                Some(country) => found.country = Some(country),
                None => found.spans.push(DaysOffSpan::parse(part)?),
            }
        }
        Ok(found)
    }

    /// Says the days and the country; empty if there is neither.
    pub fn describe(&self) -> String {
        let mut texts: Vec<String> = self.spans.iter().map(DaysOffSpan::describe).collect();
        texts.extend(self.country.map(|country| format!("public holidays in {}", country.name())));
        texts.join(", ")
    }

    /// Returns every day off from a date on, for so many years.
    pub fn dates(&self, from: Date, years: i16) -> BTreeSet<Date> {
        let mut days = BTreeSet::new();
        if let Some(country) = self.country {
            days.extend(planwright_schedule::calendar::public_holidays(country, from, years));
        }
        let last = from.year().saturating_add(years).min(9998);
        for span in &self.spans {
            // A span that began last year may reach into this one.
            for year in from.year().saturating_sub(1)..=last {
                days.extend(span.dates_in(year).into_iter().filter(|day| *day >= from));
            }
        }
        days
    }
}

/// Reads `public holidays in Germany`; a country that is not known is named with those that are.
fn read_country(part: &str) -> Result<Option<HolidayCountry>, String> {
    let lower = part.to_lowercase();
    let name = ["public holidays in", "public holidays", "holidays in"]
        .iter()
        .find_map(|words| lower.strip_prefix(words));
    name.map(parse_country).transpose()
}

/// Reads a country by code or name.
pub fn parse_country(name: &str) -> Result<HolidayCountry, String> {
    HolidayCountry::parse(name).ok_or_else(|| {
        let codes: Vec<&str> = HolidayCountry::ALL.iter().map(|country| country.code()).collect();
        format!("the holidays of \"{}\" are not known; known are {}", name.trim(), codes.join(", "))
    })
}

impl DaysOffSpan {
    /// Reads a day or a span of days.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = || format!("\"{text}\" is not a day or a span of days");
        let plain = text.to_lowercase().replace(['–', '—'], " to ");
        let parts = plain.split_once(" to ").or_else(|| split_day_range(&plain));
        let (first, last) = parts.unwrap_or((&plain, &plain));
        let to = CalendarDay::parse(last, None).ok_or_else(fault)?;
        let from = CalendarDay::parse(first, Some(to)).ok_or_else(fault)?;
        // The year of the end is that of the start: "27 Dec to 30 Dec 2026".
        let year = from.year.or(to.year.filter(|_| (from.month, from.day) <= (to.month, to.day)));
        let from = CalendarDay { year, ..from };
        let span = Self { from, to: CalendarDay { year: to.year.or(year), ..to } };
        let ordered = match (span.from.year, span.to.year) {
            (Some(_), Some(_)) => span.from <= span.to,
            (None, None) => true,
            _ => false,
        };
        if ordered { Ok(span) } else { Err(format!("\"{text}\" ends before it starts")) }
    }

    fn describe(&self) -> String {
        if self.from == self.to {
            return self.from.describe();
        }
        if (self.from.year, self.from.month) == (self.to.year, self.to.month) {
            return format!("{} – {}", self.from.day, self.to.describe());
        }
        format!("{} – {}", self.from.describe(), self.to.describe())
    }

    /// The days of the span that begins in a year.
    fn dates_in(&self, year: i16) -> Vec<Date> {
        let starts = self.from.year.unwrap_or(year);
        let wraps = (self.to.month, self.to.day) < (self.from.month, self.from.day);
        let ends = self.to.year.unwrap_or(if wraps { starts.saturating_add(1) } else { starts });
        let (Some(first), Some(last)) = (self.from.on(starts), self.to.on(ends)) else {
            return Vec::new();
        };
        if starts != year {
            return Vec::new();
        }
        let days = (0..MAX_DAYS).map(|days| plus_days(first, days));
        days.take_while(|day| *day <= last).collect()
    }
}

/// Splits `25-26 dec`, but not `2026-12-25`.
fn split_day_range(text: &str) -> Option<(&str, &str)> {
    let (first, last) = text.split_once('-')?;
    (first.trim().len() <= 2 && last.contains(char::is_alphabetic)).then_some((first, last))
}

impl CalendarDay {
    /// Reads `2026-12-25`, `12-25`, `25 dec 2026`, `dec 25`, or `25` before a day that names the month.
    fn parse(text: &str, end: Option<Self>) -> Option<Self> {
        let text = text.trim();
        if let Ok(date) = text.parse::<Date>() {
            return Some(Self { year: Some(date.year()), month: date.month(), day: date.day() });
        }
        let mut found = Self { year: None, month: 0, day: 0 };
        if let Some((month, day)) = text.split_once('-') {
            found.month = month.trim().parse().ok()?;
            found.day = day.trim().parse().ok()?;
            return found.valid();
        }
        for word in text.split_whitespace() {
            let word = word.trim_end_matches(['.', ',']);
            let short = word.get(..3).unwrap_or(word);
            match (word.parse::<i16>(), find_month(short)) {
                (Ok(day @ 1..=31), _) if found.day == 0 => found.day = day as i8,
                (Ok(year @ 1900..=9998), _) => found.year = Some(year),
                (Err(_), Some(month)) if found.month == 0 => found.month = month as i8 + 1,
                _ => return None,
            }
        }
        if let Some(end) = end.filter(|_| found.month == 0) {
            (found.month, found.year) = (end.month, found.year.or(end.year));
        }
        found.valid()
    }

    fn valid(self) -> Option<Self> {
        // 2028 has a 29 February.
        let year = self.year.unwrap_or(2028);
        Date::new(year, self.month, self.day).ok().map(|_| self)
    }

    /// The day in a year; 29 February is the 28th where there is none.
    fn on(self, year: i16) -> Option<Date> {
        let exact = Date::new(year, self.month, self.day);
        exact.or_else(|_| Date::new(year, self.month, self.day - 1)).ok()
    }

    fn describe(self) -> String {
        let year = self.year.map(|year| format!(" {year}")).unwrap_or_default();
        let day = date(2028, 1, 1).with().month(self.month).day(self.day).build();
        let text = day.map_or_else(|_| String::new(), |day| day.strftime("%-d %b").to_string());
        format!("{text}{year}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_written_in_the_same_words() {
        for (text, expected) in [
            ("25-26 Dec, 1 Jan", "25 – 26 Dec, 1 Jan"),
            ("25 – 26 Dec", "25 – 26 Dec"),
            ("2027-08-02 to 2027-08-13", "2 – 13 Aug 2027"),
            ("27 Dec to 3 Jan", "27 Dec – 3 Jan"),
            ("12-24, December 31 2026", "24 Dec, 31 Dec 2026"),
            ("24 Dec, public holidays in germany", "24 Dec, public holidays in Germany"),
            ("public holidays in the UK", "public holidays in the United Kingdom"),
            ("", ""),
        ] {
            let read = OwnDaysOff::parse(text).unwrap();
            assert_eq!(read.describe(), expected, "{text}");
            assert_eq!(OwnDaysOff::parse(&read.describe()), Ok(read), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_day_is_named() {
        let why = |text: &str| OwnDaysOff::parse(text).unwrap_err();
        assert_eq!(why("30 Feb"), "\"30 Feb\" is not a day or a span of days");
        assert_eq!(why("1 Jan, soon"), "\"soon\" is not a day or a span of days");
        assert_eq!(
            why("2027-02-03 to 2027-02-01"),
            "\"2027-02-03 to 2027-02-01\" ends before it starts"
        );
        assert!(
            why("public holidays in Atlantis")
                .starts_with("the holidays of \"atlantis\" are not known")
        );
    }

    #[test]
    fn days_without_a_year_are_off_every_year() {
        let off = OwnDaysOff::parse("27 Dec to 2 Jan, 2027-06-01").unwrap();
        let days = off.dates(date(2026, 12, 30), 1);
        let expected = [
            date(2026, 12, 30),
            date(2026, 12, 31),
            date(2027, 1, 1),
            date(2027, 1, 2),
            date(2027, 6, 1),
        ];
        assert_eq!(days.into_iter().take(5).collect::<Vec<_>>(), expected);
        let german = OwnDaysOff::parse("public holidays in DE").unwrap();
        assert!(german.dates(date(2026, 11, 17), 1).contains(&date(2026, 12, 25)));
    }
}
