//! How often a part of a template recurs, written as "cadence", "week" or "13 weeks".

use serde::{Deserialize, Deserializer, de};

/// The unit of a template's repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateRepeatUnit {
    /// The cadence of the goal; weekly if it names none.
    Cadence,
    /// The period of the goal's "one thing per period"; monthly if it names none.
    Period,
    Day,
    Week,
    Month,
    Quarter,
}

/// Every `n` units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateRepeat {
    pub count: u16,
    pub unit: TemplateRepeatUnit,
}

impl<'de> Deserialize<'de> for TemplateRepeat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_repeat(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "\"{text}\" does not say how often; write \"cadence\", \"period\", \"week\" or \"13 weeks\""
            ))
        })
    }
}

fn parse_repeat(text: &str) -> Option<TemplateRepeat> {
    let (count, unit) = match text.split_once(' ') {
        Some((count, unit)) => (count.parse().ok().filter(|count| *count > 0)?, unit),
        None => (1, text),
    };
    let unit = match unit.strip_suffix('s').unwrap_or(unit) {
        "cadence" => TemplateRepeatUnit::Cadence,
        "period" => TemplateRepeatUnit::Period,
        "day" => TemplateRepeatUnit::Day,
        "week" => TemplateRepeatUnit::Week,
        "month" => TemplateRepeatUnit::Month,
        "quarter" => TemplateRepeatUnit::Quarter,
        _ => return None,
    };
    Some(TemplateRepeat { count, unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_a_count_and_a_unit() {
        assert_eq!(
            parse_repeat("cadence"),
            Some(TemplateRepeat { count: 1, unit: TemplateRepeatUnit::Cadence })
        );
        assert_eq!(
            parse_repeat("13 weeks"),
            Some(TemplateRepeat { count: 13, unit: TemplateRepeatUnit::Week })
        );
        assert_eq!(parse_repeat("0 weeks"), None);
        assert_eq!(parse_repeat("often"), None);
    }
}
