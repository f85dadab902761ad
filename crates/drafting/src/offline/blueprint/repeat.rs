//! How often a part of a blueprint recurs: "cadence", "week" or "13 weeks", and on which days.

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use planwright_model::Weekday;

/// The unit of a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlueprintRepeatUnit {
    /// The rhythm of the goal; weekly if it names none.
    Cadence,
    /// The period of the goal's "one thing per period"; monthly if it names none.
    Period,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// Every `count` units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlueprintRepeat {
    pub count: u16,
    pub unit: BlueprintRepeatUnit,
}

impl<'de> Deserialize<'de> for BlueprintRepeat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_repeat(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "\"{text}\" does not say how often; write \"cadence\", \"period\", \"day\", \"week\", \"month\", \
                 \"quarter\", \"year\" or a number of them such as \"13 weeks\""
            ))
        })
    }
}

fn parse_repeat(text: &str) -> Option<BlueprintRepeat> {
    let (count, unit) = match text.trim().split_once(' ') {
        Some((count, unit)) => (count.parse().ok().filter(|count| *count > 0)?, unit.trim()),
        None => (1, text.trim()),
    };
    let unit = match unit.strip_suffix('s').unwrap_or(unit) {
        "cadence" => BlueprintRepeatUnit::Cadence,
        "period" => BlueprintRepeatUnit::Period,
        "day" => BlueprintRepeatUnit::Day,
        "week" => BlueprintRepeatUnit::Week,
        "month" => BlueprintRepeatUnit::Month,
        "quarter" => BlueprintRepeatUnit::Quarter,
        "year" => BlueprintRepeatUnit::Year,
        _ => return None,
    };
    Some(BlueprintRepeat { count, unit })
}

/// The days of the week on which something recurs: one day, or a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatDays(pub Vec<Weekday>);

impl<'de> Deserialize<'de> for RepeatDays {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RepeatDaysVisitor)
    }
}

#[derive(Clone, Copy)]
struct RepeatDaysVisitor;

impl<'de> Visitor<'de> for RepeatDaysVisitor {
    type Value = RepeatDays;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a day such as \"Sat\" or a list of days")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<RepeatDays, E> {
        parse_weekday(name).map(|day| RepeatDays(vec![day])).ok_or_else(|| {
            de::Error::custom(format!(
                "\"{name}\" is not a day of the week; write \"Mon\" to \"Sun\""
            ))
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RepeatDays, A::Error> {
        let names: Vec<String> = Vec::deserialize(SeqAccessDeserializer::new(list))?;
        let mut days = Vec::new();
        for name in names {
            let RepeatDays(day) = self.visit_str(&name)?;
            days.extend(day);
        }
        days.sort_unstable();
        days.dedup();
        Ok(RepeatDays(days))
    }
}

fn parse_weekday(name: &str) -> Option<Weekday> {
    let start: String = name.trim().to_lowercase().chars().take(3).collect();
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let place = names.iter().position(|known| *known == start)?;
    Weekday::ALL.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_a_count_and_a_unit() {
        let every = |count, unit| Some(BlueprintRepeat { count, unit });
        assert_eq!(parse_repeat("cadence"), every(1, BlueprintRepeatUnit::Cadence));
        assert_eq!(parse_repeat("13 weeks"), every(13, BlueprintRepeatUnit::Week));
        assert_eq!(parse_repeat("day"), every(1, BlueprintRepeatUnit::Day));
        assert_eq!(parse_repeat("0 weeks"), None);
        assert_eq!(parse_repeat("often"), None);
    }

    #[test]
    fn days_are_one_or_a_list() {
        #[derive(Deserialize)]
        struct DaysFile {
            on: RepeatDays,
        }
        let read = |text: &str| toml::from_str::<DaysFile>(text).map(|file| file.on.0);
        assert_eq!(read("on = \"Sat\"").unwrap(), [Weekday::Sat]);
        assert_eq!(read("on = [\"thursday\", \"Tue\"]").unwrap(), [Weekday::Tue, Weekday::Thu]);
        assert!(read("on = \"someday\"").is_err());
    }
}
