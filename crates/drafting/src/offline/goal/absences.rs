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
        let Some((days, end)) = absence_at(words, index, at) else { continue };
        let mut start = index;
        while start > 0 && words.is_any_of(start - 1, &LEADS) && !words.clause_starts_at(start) {
            start -= 1;
        }
        words.mark_used(start..end);
        found.push(days);
    }
    found
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
    let days = match found.reading {
        DateReading::Day(day) => (day, day),
        DateReading::Span { from, to } => (from, to),
        DateReading::Impossible(_) => return None,
    };
    (days.1 >= at.today).then_some((days, found.end))
}
