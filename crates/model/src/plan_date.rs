//! Dates that a person sets on a task by hand: a day, or a local time on a day, in the time zone of the plan.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A day, or a minute of a day, as clocks in the plan's time zone show it. Written as `2026-12-01` or `2026-12-01T09:30`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$"))]
pub struct PlanDate {
    pub day: Date,
    /// Without one, the whole day is meant.
    pub time: Option<Time>,
}

impl PlanDate {
    pub fn on_day(day: Date) -> Self {
        Self { day, time: None }
    }

    /// Seconds are dropped: plans are made of minutes.
    pub fn at_time(at: DateTime) -> Self {
        let time = Time::new(at.hour(), at.minute(), 0, 0).unwrap_or(Time::midnight());
        Self { day: at.date(), time: Some(time) }
    }

    /// The first local minute that it covers.
    pub fn first_minute(self) -> DateTime {
        self.day.to_datetime(self.time.unwrap_or(Time::midnight()))
    }

    /// The local minute before which something due then must end: the end of the day, or the time itself.
    pub fn last_minute(self) -> DateTime {
        match self.time {
            Some(time) => self.day.to_datetime(time),
            None => self.day.tomorrow().unwrap_or(self.day).to_datetime(Time::midnight()),
        }
    }
}

impl fmt::Display for PlanDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.day)?;
        match self.time {
            Some(time) => write!(f, "T{:02}:{:02}", time.hour(), time.minute()),
            None => Ok(()),
        }
    }
}

impl FromStr for PlanDate {
    type Err = jiff::Error;

    /// Reads a date, or a date and a time without an offset; a space may stand for the `T`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.len() > 10 {
            return text.replacen(' ', "T", 1).parse().map(Self::at_time);
        }
        text.parse().map(Self::on_day)
    }
}

impl Serialize for PlanDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PlanDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Which date of a task is meant.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DateField {
    /// The task starts then, whatever else moves.
    FixedStart,
    /// The task ends then, whatever else moves.
    FixedEnd,
    /// The task starts then at the earliest.
    NotBefore,
    /// The task ends then at the latest.
    Due,
}

impl DateField {
    pub const ALL: [Self; 4] = [Self::FixedStart, Self::FixedEnd, Self::NotBefore, Self::Due];

    /// The field's name in plan files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FixedStart => "fixed_start",
            Self::FixedEnd => "fixed_end",
            Self::NotBefore => "not_before",
            Self::Due => "due",
        }
    }

    /// What the field says about a task, as words before the date.
    pub fn words(self) -> &'static str {
        match self {
            Self::FixedStart => "starts",
            Self::FixedEnd => "ends",
            Self::NotBefore => "not before",
            Self::Due => "due",
        }
    }
}

/// Who chose the fixed start of a task. What the planner chose gives way to what the person states later.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StartSource {
    /// The person stated it.
    #[default]
    Stated,
    /// The person stated the day; the planner chose the time of day.
    StatedDay,
    /// The day of the thing itself, which the planner assumed because nobody stated it.
    AssumedDay,
    /// A day that the kind of plan proposes, such as two days before the thing itself.
    Proposed,
}

impl StartSource {
    /// Whether the person stated the day.
    pub fn has_stated_day(self) -> bool {
        matches!(self, Self::Stated | Self::StatedDay)
    }
}

/// The dates of a task that were set by hand; the scheduler obeys them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeDates {
    pub fixed_start: Option<PlanDate>,
    pub fixed_end: Option<PlanDate>,
    pub not_before: Option<PlanDate>,
    pub due: Option<PlanDate>,
}

impl NodeDates {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn get(&self, field: DateField) -> Option<PlanDate> {
        match field {
            DateField::FixedStart => self.fixed_start,
            DateField::FixedEnd => self.fixed_end,
            DateField::NotBefore => self.not_before,
            DateField::Due => self.due,
        }
    }

    pub fn set(&mut self, field: DateField, date: Option<PlanDate>) {
        *match field {
            DateField::FixedStart => &mut self.fixed_start,
            DateField::FixedEnd => &mut self.fixed_end,
            DateField::NotBefore => &mut self.not_before,
            DateField::Due => &mut self.due,
        } = date;
    }

    /// The dates that are set, in a fixed order.
    pub fn stated(&self) -> impl Iterator<Item = (DateField, PlanDate)> + '_ {
        DateField::ALL.into_iter().filter_map(|field| Some((field, self.get(field)?)))
    }

    /// The first pair that cannot both be kept: the second one is before the first.
    pub fn contradiction(&self) -> Option<(DateField, DateField)> {
        use DateField::{Due, FixedEnd, FixedStart, NotBefore};
        let pairs = [
            (FixedStart, FixedEnd),
            (FixedStart, Due),
            (NotBefore, FixedStart),
            (NotBefore, FixedEnd),
            (NotBefore, Due),
            (FixedEnd, Due),
        ];
        pairs.into_iter().find(|(first, second)| {
            let (Some(early), Some(late)) = (self.get(*first), self.get(*second)) else {
                return false;
            };
            let end = late.last_minute();
            // A fixed start later on the day that "not before" names is fine, as is an end on the same day.
            if *second == FixedStart {
                late.time
                    .map_or(late.day < early.day, |_| late.first_minute() < early.first_minute())
            } else if *first == FixedEnd {
                early.time.map_or(early.day > late.day, |_| early.first_minute() > end)
            } else {
                end <= early.first_minute()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> PlanDate {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_and_a_minute_are_read_and_written_alike() {
        for text in ["2026-12-01", "2026-12-01T09:30"] {
            assert_eq!(date(text).to_string(), text);
            let json = serde_json::to_string(&date(text)).unwrap();
            assert_eq!(serde_json::from_str::<PlanDate>(&json).unwrap(), date(text));
        }
        assert_eq!(date("2026-12-01 09:30:15"), date("2026-12-01T09:30"));
        for text in ["", "2026-13-01", "Tuesday", "2026-12-01T25:00", "09:30"] {
            assert!(text.parse::<PlanDate>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_day_lasts_until_midnight_and_a_time_until_itself() {
        assert_eq!(date("2026-12-01").last_minute().to_string(), "2026-12-02T00:00:00");
        assert_eq!(date("2026-12-01T09:30").last_minute().to_string(), "2026-12-01T09:30:00");
    }

    #[test]
    fn contradicting_dates_are_noticed() {
        use DateField::{Due, FixedEnd, FixedStart, NotBefore};
        let dates = |pairs: &[(DateField, &str)]| {
            let mut dates = NodeDates::default();
            for (field, text) in pairs {
                dates.set(*field, Some(date(text)));
            }
            dates.contradiction()
        };
        assert_eq!(dates(&[(NotBefore, "2026-12-01"), (Due, "2026-12-01")]), None);
        assert_eq!(dates(&[(FixedStart, "2026-12-01"), (FixedEnd, "2026-12-01")]), None);
        assert_eq!(dates(&[(FixedEnd, "2026-12-01"), (Due, "2026-12-01")]), None);
        assert_eq!(dates(&[(NotBefore, "2026-12-01"), (FixedStart, "2026-12-01T09:00")]), None);
        assert_eq!(
            dates(&[(NotBefore, "2026-12-02"), (Due, "2026-12-01")]),
            Some((NotBefore, Due))
        );
        assert_eq!(
            dates(&[(NotBefore, "2026-12-02"), (FixedStart, "2026-12-01")]),
            Some((NotBefore, FixedStart))
        );
        assert_eq!(
            dates(&[(FixedEnd, "2026-12-01T12:00"), (Due, "2026-12-01T11:00")]),
            Some((FixedEnd, Due))
        );
    }
}
