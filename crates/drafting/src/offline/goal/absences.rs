//! Days on which nobody works: "I'm away 20 to 27 December", "on vacation in August".

use jiff::civil::Date;

use super::date_spans;
use super::dates::{self, DateContext, DateReading};
use super::words::GoalWords;

/// Words before an absence that belong to it.
const LEADS: [&str; 14] =
    ["i'm", "i", "am", "we're", "we", "are", "but", "will", "be", "on", "out", "of", "not", "and"];

/// Finds days without work, and marks the words as read.
pub(super) fn find_absences(words: &mut GoalWords<'_>, at: DateContext) -> Vec<(Date, Date)> {
    let mut found = Vec::new();
    for index in 0..words.len() {
        let off = absence_at(words, index, at).or_else(|| date_off_at(words, index, at));
        let Some((days, end)) = off else { continue };
        let mut start = index;
        while start > 0 && words.is_any_of(start - 1, &LEADS) && !words.clause_starts_at(start) {
            start -= 1;
        }
        words.mark_used(start..end);
        found.push(days);
    }
    found
}

/// Reads a date that is left out: "not on December 26", "except 24 to 26 December", "no work on Christmas".
fn date_off_at(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<((Date, Date), usize)> {
    let next = match words.text_at(index) {
        "not" if words.is_any_of(index + 1, &["on", "from", "between", "over"]) => index + 1,
        "except" => index + 1,
        "no" if words.is_any_of(index + 1, &["work"]) => index + 2,
        _ => return None,
    };
    let next = words.skip_fillers(next, &["on", "from", "between", "for", "over", "the"]);
    let found = dates::date_range(words, next, at)
        .or_else(|| dates::calendar_date(words, next, at))
        .or_else(|| dates::named_holiday(words, next, at))?;
    let days = stated_days(&found.reading)?;
    (days.1 >= at.today).then_some((days, found.end))
}

fn stated_days(reading: &DateReading) -> Option<(Date, Date)> {
    match reading {
        DateReading::Day(day) => Some((*day, *day)),
        DateReading::Span { from, to } => Some((*from, *to)),
        DateReading::Impossible(_) => None,
    }
}

fn absence_at(
    words: &GoalWords<'_>,
    index: usize,
    at: DateContext,
) -> Option<((Date, Date), usize)> {
    let said = |lead: &[&str]| index > 0 && words.is_any_of(index - 1, lead);
    let away = match words.text_at(index) {
        "away" | "unavailable" | "absent" => true,
        "vacation" | "holiday" | "leave" => said(&["on"]),
        "available" => said(&["not"]),
        "office" => said(&["of"]),
        "off" => said(&["i'm", "am", "we're", "are"]),
        _ => false,
    };
    // "before I go on holiday on December 18" is an end.
    let clause = words.clause_start(index);
    if !away || words.contains_word(clause.max(index.saturating_sub(5))..index, &["before"]) {
        return None;
    }
    let next =
        words.skip_fillers(index + 1, &["from", "between", "on", "during", "the", "for", "over"]);
    let inside = words.skip_fillers(next, &["in", "the"]);
    let found = dates::date_range(words, next, at)
        .or_else(|| dates::calendar_date(words, next, at))
        .or_else(|| dates::bare_date(words, next, at).map(|bare| bare.found))
        .or_else(|| date_spans::span_in(words, inside, at))?;
    let days = stated_days(&found.reading)?;
    (days.1 >= at.today).then_some((days, found.end))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::{Goal, GoalParseContext};
    use super::*;

    fn absences(text: &str) -> Vec<(Date, Date)> {
        Goal::parse(text, GoalParseContext::new(date(2026, 11, 19), 5)).absences
    }

    #[test]
    fn a_date_that_is_left_out_is_a_day_off_and_not_the_end() {
        let off = date(2026, 12, 26);
        let goal = "declutter the basement, Saturdays only, not on December 26";
        assert_eq!(absences(goal), [(off, off)]);
        assert_eq!(absences("paint the fence, except 26 December"), [(off, off)]);
        let first = date(2026, 12, 24);
        assert_eq!(absences("learn Greek, no work from 24 to 26 December"), [(first, off)]);
        let parsed = Goal::parse(goal, GoalParseContext::new(date(2026, 11, 19), 5));
        assert_eq!(parsed.last_day(), None);
    }

    #[test]
    fn a_date_that_something_waits_for_is_no_day_off() {
        for text in
            ["plant bulbs, not before March", "train, not on Mondays", "race on 26 December"]
        {
            assert_eq!(absences(text), [], "{text}");
        }
    }
}
