//! How often a part of a template repeats, written as "cadence", "week" or "13 weeks".

use serde::{Deserialize, Deserializer, de};

/// What a template counts repetitions in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The cadence of the goal; weekly where it names none.
    Cadence,
    /// The period of the goal's "one thing per period"; monthly where it names none.
    Period,
    Day,
    Week,
    Month,
    Quarter,
}

/// Every so many units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    pub count: u16,
    pub unit: Unit,
}

impl<'de> Deserialize<'de> for Every {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "\"{text}\" does not say how often; write \"cadence\", \"period\", \"week\" or \"13 weeks\""
            ))
        })
    }
}

fn parse(text: &str) -> Option<Every> {
    let (count, unit) = match text.split_once(' ') {
        Some((count, unit)) => (count.parse().ok().filter(|count| *count > 0)?, unit),
        None => (1, text),
    };
    let unit = match unit.strip_suffix('s').unwrap_or(unit) {
        "cadence" => Unit::Cadence,
        "period" => Unit::Period,
        "day" => Unit::Day,
        "week" => Unit::Week,
        "month" => Unit::Month,
        "quarter" => Unit::Quarter,
        _ => return None,
    };
    Some(Every { count, unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_a_count_and_a_unit() {
        assert_eq!(parse("cadence"), Some(Every { count: 1, unit: Unit::Cadence }));
        assert_eq!(parse("13 weeks"), Some(Every { count: 13, unit: Unit::Week }));
        assert_eq!(parse("0 weeks"), None);
        assert_eq!(parse("often"), None);
    }
}
