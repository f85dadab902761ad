//! Days that count from the day of a plan, written as "event - 12w", and spans of calendar time, written as "2w".

use serde::{Deserialize, Deserializer, de};

/// The unit of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanUnit {
    Hour,
    Day,
    Week,
    Month,
}

/// A span of calendar time: `3d`, `2w`, `1m`, `12h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarSpan {
    pub count: u16,
    pub unit: SpanUnit,
}

impl CalendarSpan {
    /// The number of days; a month has 30. Hours are part of a day.
    pub fn in_days(self) -> u32 {
        let count = u32::from(self.count);
        match self.unit {
            SpanUnit::Hour => count.div_ceil(24),
            SpanUnit::Day => count,
            SpanUnit::Week => count * 7,
            SpanUnit::Month => count * 30,
        }
    }

    /// The number of elapsed minutes.
    pub fn in_minutes(self) -> u32 {
        match self.unit {
            SpanUnit::Hour => u32::from(self.count) * 60,
            _ => self.in_days() * 24 * 60,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let count = text[..digits].parse().ok()?;
        let unit = match text[digits..].trim() {
            "h" | "hour" | "hours" => SpanUnit::Hour,
            "d" | "day" | "days" => SpanUnit::Day,
            "w" | "week" | "weeks" => SpanUnit::Week,
            "m" | "month" | "months" => SpanUnit::Month,
            _ => return None,
        };
        Some(Self { count, unit })
    }
}

impl<'de> Deserialize<'de> for CalendarSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "\"{text}\" is not a span of time; write \"12h\", \"3d\", \"2w\" or \"1m\""
            ))
        })
    }
}

/// The anchor of the last day of a thing that takes several days, beside that of its first day.
pub const LAST_DAY: &str = "last";

/// A day that counts from an anchor: `event`, `event - 12w`, `event + 1d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorDate {
    /// The name of the anchor: that of the blueprint's day, or `start`, `end` or `last`.
    pub anchor: String,
    /// Days after it; negative before it.
    pub days: i32,
}

impl AnchorDate {
    fn parse(text: &str) -> Option<Self> {
        let (anchor, span, sign) = match (text.split_once('-'), text.split_once('+')) {
            (Some((anchor, span)), _) => (anchor, Some(span), -1),
            (None, Some((anchor, span))) => (anchor, Some(span), 1),
            (None, None) => (text, None, 0),
        };
        let anchor = anchor.trim();
        let plain = !anchor.is_empty()
            && anchor.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !plain {
            return None;
        }
        let days = match span {
            Some(span) => i32::try_from(CalendarSpan::parse(span)?.in_days()).ok()? * sign,
            None => 0,
        };
        Some(Self { anchor: anchor.to_owned(), days })
    }
}

impl<'de> Deserialize<'de> for AnchorDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "\"{text}\" is not a day; write \"event\", \"event - 12w\" or \"event + 1d\" with the name after day ="
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(text: &str) -> Option<(String, i32)> {
        AnchorDate::parse(text).map(|found| (found.anchor, found.days))
    }

    #[test]
    fn days_count_from_an_anchor() {
        assert_eq!(days("event"), Some(("event".to_owned(), 0)));
        assert_eq!(days("event - 26w"), Some(("event".to_owned(), -182)));
        assert_eq!(days("race+1d"), Some(("race".to_owned(), 1)));
        assert_eq!(days("move_in - 2m"), Some(("move_in".to_owned(), -60)));
        for wrong in ["", "Event", "event - soon", "event - 3", "- 3d", "event + 2 fortnights"] {
            assert_eq!(days(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn spans_have_a_number_and_a_unit() {
        assert_eq!(CalendarSpan::parse("12h").map(CalendarSpan::in_minutes), Some(720));
        assert_eq!(CalendarSpan::parse("2w").map(CalendarSpan::in_days), Some(14));
        assert_eq!(CalendarSpan::parse("1m").map(CalendarSpan::in_days), Some(30));
        assert_eq!(CalendarSpan::parse("w"), None);
    }
}
