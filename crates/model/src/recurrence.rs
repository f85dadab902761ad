//! How a node repeats.

use jiff::civil::{Date, Time};
use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::context::Weekday;

/// The unit that a recurrence counts in.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RecurrenceFrequency {
    Daily,
    Weekly,
    Monthly,
    Quarterly,
    Yearly,
}

impl RecurrenceFrequency {
    /// The days of one unit; a month has 30.
    pub fn in_days(self) -> u32 {
        match self {
            Self::Daily => 1,
            Self::Weekly => 7,
            Self::Monthly => 30,
            Self::Quarterly => 91,
            Self::Yearly => 365,
        }
    }
}

/// A day on which a recurrence falls: of the week, or of the month. The 31st of a shorter month is its last day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(untagged)]
pub enum RecurrenceByDay {
    Weekday(Weekday),
    MonthDay(u8),
}

impl Serialize for RecurrenceByDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Weekday(day) => day.serialize(serializer),
            Self::MonthDay(day) => serializer.serialize_u8(*day),
        }
    }
}

impl<'de> Deserialize<'de> for RecurrenceByDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RecurrenceByDayVisitor)
    }
}

struct RecurrenceByDayVisitor;

impl Visitor<'_> for RecurrenceByDayVisitor {
    type Value = RecurrenceByDay;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a weekday such as \"fri\" or a day of the month from 1 to 31")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<RecurrenceByDay, E> {
        Weekday::deserialize(de::value::StrDeserializer::new(name)).map(RecurrenceByDay::Weekday)
    }

    fn visit_u64<E: de::Error>(self, day: u64) -> Result<RecurrenceByDay, E> {
        match u8::try_from(day) {
            Ok(day @ 1..=31) => Ok(RecurrenceByDay::MonthDay(day)),
            _ => Err(de::Error::invalid_value(de::Unexpected::Unsigned(day), &self)),
        }
    }

    fn visit_i64<E: de::Error>(self, day: i64) -> Result<RecurrenceByDay, E> {
        self.visit_u64(u64::try_from(day).unwrap_or(0))
    }
}

/// How a node repeats, in local time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recurrence {
    pub freq: RecurrenceFrequency,
    /// Every how many units; at least 1.
    #[serde(default = "default_interval")]
    #[schemars(range(min = 1))]
    pub interval: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_day: Vec<RecurrenceByDay>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub at_local: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The first day on which it may fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub from: Option<Date>,
    /// The last day on which it may fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Date>,
}

impl Recurrence {
    /// Once in every unit, without an end.
    pub fn every(freq: RecurrenceFrequency) -> Self {
        Self {
            freq,
            interval: 1,
            by_day: Vec::new(),
            at_local: None,
            count: None,
            from: None,
            until: None,
        }
    }
}

fn default_interval() -> u16 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_week_and_of_the_month_round_trip() {
        let json = r#"{"freq":"monthly","interval":2,"by_day":["fri",31],"at_local":"09:00:00"}"#;
        let recurrence: Recurrence = serde_json::from_str(json).unwrap();
        assert_eq!(
            recurrence.by_day,
            [RecurrenceByDay::Weekday(Weekday::Fri), RecurrenceByDay::MonthDay(31)]
        );
        assert_eq!(serde_json::to_string(&recurrence).unwrap(), json);
    }

    #[test]
    fn a_day_outside_the_month_is_refused() {
        assert!(serde_json::from_str::<RecurrenceByDay>("32").is_err());
        assert!(serde_json::from_str::<RecurrenceByDay>("-1").is_err());
        assert!(serde_json::from_str::<RecurrenceByDay>("\"noday\"").is_err());
    }
}
