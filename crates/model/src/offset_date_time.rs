//! Instants that keep the offset they were written with, and ISO weeks.
//!
//! A plain timestamp forgets its offset and a zoned one writes more than RFC 3339 allows, so blocks and deadlines use
//! [`OffsetDateTime`]: the order is that of the instants, and a wrong offset can still be noticed.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, ISOWeekDate, Weekday as CivilWeekday};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An instant with the offset it is shown in, written as RFC 3339.
#[derive(Clone, Copy, Debug, JsonSchema)]
#[schemars(with = "String", extend("format" = "date-time"))]
pub struct OffsetDateTime {
    pub at: Timestamp,
    pub offset: Offset,
}

/// Two moments are the same when they are the same instant, whatever their offsets: around a clock change one instant
/// is written in two ways.
impl PartialEq for OffsetDateTime {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for OffsetDateTime {}

impl PartialOrd for OffsetDateTime {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OffsetDateTime {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl std::hash::Hash for OffsetDateTime {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.at.hash(state);
    }
}

impl OffsetDateTime {
    pub fn new(at: Timestamp, offset: Offset) -> Self {
        Self { at, offset }
    }

    /// The instant as clocks in `zone` show it.
    pub fn in_zone(at: Timestamp, zone: &TimeZone) -> Self {
        Self { at, offset: zone.to_offset(at) }
    }

    /// Whole minutes from this instant to `later`; negative if `later` is earlier.
    pub fn minutes_until(self, later: Self) -> i64 {
        later.at.duration_since(self.at).as_mins()
    }

    /// The instant `minutes` later on the clock, with the same offset. Stops at the ends of representable time.
    pub fn plus_minutes(self, minutes: i64) -> Self {
        let seconds = minutes.saturating_mul(60);
        let at = self
            .at
            .checked_add(SignedDuration::from_secs(seconds))
            .unwrap_or(if minutes < 0 { Timestamp::MIN } else { Timestamp::MAX });
        Self { at, ..self }
    }

    /// The date that its own offset shows.
    pub fn local_date(self) -> Date {
        self.offset.to_datetime(self.at).date()
    }
}

impl fmt::Display for OffsetDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.display_with_offset(self.offset).fmt(f)
    }
}

impl FromStr for OffsetDateTime {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let at: Timestamp = text.parse()?;
        let offset = Pieces::parse(text)?.to_numeric_offset().unwrap_or(Offset::UTC);
        Ok(Self { at, offset })
    }
}

impl Serialize for OffsetDateTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OffsetDateTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// A week from Monday to Sunday, written as `2026-W24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct IsoWeek {
    pub year: i16,
    pub week: i8,
}

impl IsoWeek {
    /// The week that holds `date`.
    pub fn from_date(date: Date) -> Self {
        let week = date.iso_week_date();
        Self { year: week.year(), week: week.week() }
    }

    /// Its first day, unless the week does not exist.
    pub fn monday(self) -> Option<Date> {
        ISOWeekDate::new(self.year, self.week, CivilWeekday::Monday).ok().map(ISOWeekDate::date)
    }
}

impl fmt::Display for IsoWeek {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-W{:02}", self.year, self.week)
    }
}

impl FromStr for IsoWeek {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once("-W").and_then(|(year, week)| {
            let found = Self { year: year.parse().ok()?, week: week.parse().ok()? };
            found.monday().map(|_| found)
        });
        parsed.ok_or_else(|| format!("`{text}` is not an ISO week such as 2026-W24"))
    }
}

impl Serialize for IsoWeek {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IsoWeek {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_written_in_two_ways_is_one_moment() {
        let winter: OffsetDateTime = "2026-03-30T08:01:00+01:00".parse().unwrap();
        let summer: OffsetDateTime = "2026-03-30T09:01:00+02:00".parse().unwrap();
        assert_eq!(winter, summer);
        assert_eq!(winter.cmp(&summer), std::cmp::Ordering::Equal);
    }

    #[test]
    fn a_moment_keeps_its_offset_through_json() {
        for text in ["2026-06-08T09:00:00+02:00", "2026-06-08T07:00:00-05:30"] {
            let moment: OffsetDateTime = text.parse().unwrap();
            assert_eq!(serde_json::to_string(&moment).unwrap(), format!("\"{text}\""));
        }
        let zulu: OffsetDateTime = serde_json::from_str(r#""2026-06-08T07:00:00Z""#).unwrap();
        assert_eq!(zulu.offset, Offset::UTC);
    }

    #[test]
    fn moments_order_by_instant_and_add_up() {
        let early: OffsetDateTime = "2026-06-08T09:00:00+02:00".parse().unwrap();
        let late: OffsetDateTime = "2026-06-08T08:00:00Z".parse().unwrap();
        assert!(early < late);
        assert_eq!(early.minutes_until(late), 60);
        assert_eq!(early.plus_minutes(60).at, late.at);
        assert_eq!(early.plus_minutes(i64::MAX).at, Timestamp::MAX);
    }

    #[test]
    fn weeks_are_iso_weeks() {
        let week = IsoWeek::from_date(jiff::civil::date(2026, 1, 1));
        assert_eq!(week.to_string(), "2026-W01");
        assert_eq!(week.monday(), Some(jiff::civil::date(2025, 12, 29)));
        assert_eq!("2026-W01".parse(), Ok(week));
        assert!("2026-W54".parse::<IsoWeek>().is_err());
    }
}
