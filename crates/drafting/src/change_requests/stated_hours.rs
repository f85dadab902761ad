//! Change requests that name the hours of a plan: "evenings from 19:00 to 22:00", "my hours are every day 18 to 20".

use planwright_model::Weekday;

use super::context_change::ContextChange;
use super::phrase::strip_phrase_prefix;
use crate::own_hours::parse_own_hours;

/// Words before hours that replace those of the plan.
const OWN: [&str; 16] = [
    "my hours are now",
    "my hours are",
    "my working hours are",
    "my free hours are",
    "the hours are",
    "set my hours to",
    "set the hours to",
    "change my hours to",
    "change the hours to",
    "use the hours",
    "i have time",
    "i am free",
    "i'm free",
    "work",
    "only",
    "hours",
];
/// Parts of a day whose own times follow.
const PARTS: [&str; 8] = [
    "in the evenings",
    "in the mornings",
    "in the afternoons",
    "evenings",
    "mornings",
    "afternoons",
    "every evening",
    "every morning",
];

/// Parses hours with times of the day. A part of the day is one on every day that has hours.
pub(super) fn parse_stated_hours(text: &str) -> Option<Vec<ContextChange>> {
    let lower = text.trim().trim_end_matches('.').to_lowercase();
    let led = strip_phrase_prefix(&lower, &OWN);
    let rest = led.unwrap_or(&lower);
    let part = strip_phrase_prefix(rest, &PARTS);
    let times = part.unwrap_or(rest);
    let days = times.find(|letter: char| letter.is_ascii_digit())?;
    let named = times[..days].trim();
    // Without days, "from 9 to 5" may be about anything; a part of the day or "my hours" make it clear.
    if (led.is_none() || led == Some(rest) && lower.starts_with("work")) && part.is_none() {
        return None;
    }
    let plain = times
        .replace("every day", "daily")
        .replace("each day", "daily")
        .replace("all days", "daily")
        .replace("between ", "");
    let plain =
        if named.starts_with("between") { plain.replacen(" and ", " to ", 1) } else { plain };
    let plain = plain.strip_prefix("from ").unwrap_or(&plain).to_owned();
    let week = parse_own_hours(&plain).ok()?;
    let mut spans: Vec<_> = week.values().cloned().collect();
    spans.dedup();
    let [span] = spans.into_iter().next()?[..] else { return None };
    if week.values().any(|hours| hours[..] != [span]) {
        return None;
    }
    let between = ContextChange::WorkBetween(span);
    let anywhere = part.is_some() && ["", "from", "between"].contains(&named)
        || led.is_some() && ["", "from", "between"].contains(&named);
    if anywhere {
        return Some(vec![between]);
    }
    let days: Vec<Weekday> = week.keys().copied().collect();
    Some(vec![ContextChange::OnlyOn(days), between])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        parse_stated_hours(text)
            .unwrap_or_default()
            .iter()
            .map(|change| change.describe(jiff::civil::date(2026, 11, 17)))
            .collect()
    }

    #[test]
    fn hours_are_read_with_and_without_days() {
        assert_eq!(read("evenings from 19:00 to 22:00"), ["only 19:00 – 22:00"]);
        assert_eq!(read("mornings 6-8"), ["only 06:00 – 08:00"]);
        assert_eq!(read("in the evenings between 18 and 20"), ["only 18:00 – 20:00"]);
        assert_eq!(read("my hours are 9 to 12"), ["only 09:00 – 12:00"]);
        let every = read("my hours are every day 18 to 20");
        assert_eq!((every.len(), every[1].as_str()), (2, "only 18:00 – 20:00"));
        assert_eq!(read("set my hours to Tue and Thu 17:30 - 19:00").len(), 2);
    }

    #[test]
    fn other_times_are_left_alone() {
        for text in ["the visit is at 14:00", "p1.t1 takes 30 minutes", "8 hours a week"] {
            assert_eq!(read(text), [""; 0], "{text}");
        }
    }
}
