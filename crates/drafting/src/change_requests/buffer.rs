//! Change requests for time in reserve: a task that nothing is planned in, at the end or before something.

use planwright_model::{NodeFields, PlanEdit};

use super::ClauseContext;
use super::additions::{PlaceWord, insert_at, last_place, place_beside};
use super::amounts::{parse_minutes, parse_number};
use super::open_reason::{ClauseReading, OpenReason};
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};

/// Words for time in reserve.
const NAMES: [&str; 9] = [
    "buffer time",
    "buffer",
    "slack",
    "reserve time",
    "reserve",
    "safety margin",
    "spare time",
    "breathing room",
    "padding",
];
const VERBS: [&str; 13] = [
    "add", "leave", "keep", "plan in", "plan for", "plan", "put", "include", "insert", "build in",
    "i want", "i need", "give me",
];

/// "add a week of buffer at the end", "leave 3 days of slack before the launch", "a buffer of 5 hours".
pub(super) fn parse_buffer(
    context: &ClauseContext<'_>,
    text: &str,
) -> ClauseReading<Vec<PlanEdit>> {
    let rest = strip_phrase_prefix(text, &VERBS).unwrap_or(text);
    let (rest, place) = split_place(rest);
    let minutes = parse_buffer_amount(context, rest)?;
    let place = match place {
        None => last_place(context).ok_or(OpenReason::NothingMarked),
        Some((word, anchor)) => {
            context.finder.find_one(anchor).map(|node| place_beside(context, node, word))
        }
    };
    Some(place.map(|place| {
        let fields = NodeFields {
            minutes: Some(minutes),
            done_when: Some("everything that was late before it is done".to_owned()),
            why: Some("Time in reserve: what takes longer does not move the end.".to_owned()),
            ..NodeFields::titled("Buffer")
        };
        vec![insert_at(context, place, fields)]
    }))
}

/// Splits the place off: none for the end of the plan.
fn split_place(text: &str) -> (&str, Option<(PlaceWord, &str)>) {
    const END: [&str; 7] = [
        "at the end of the plan",
        "at the very end",
        "at the end",
        "in the end",
        "to the end of the plan",
        "to the end",
        "to the plan",
    ];
    if let Some(rest) = strip_phrase_suffix(text, &END) {
        return (rest, None);
    }
    if let Some(rest) = strip_phrase_prefix(text, &["at the end"]) {
        return (rest, None);
    }
    let words = [
        ("before", PlaceWord::Before),
        ("after", PlaceWord::After),
        ("at the end of", PlaceWord::After),
        ("to", PlaceWord::After),
        ("in", PlaceWord::After),
    ];
    for (word, place) in words {
        if let Some((rest, anchor)) = split_at_words(text, &[word]).into_iter().last() {
            return (rest, Some((place, anchor)));
        }
    }
    (text, None)
}

/// Parses how much time is kept in reserve. `None` if the words are about something else.
fn parse_buffer_amount(context: &ClauseContext<'_>, text: &str) -> Option<u32> {
    let text = strip_phrase_prefix(text, &["another", "some"]).unwrap_or(text);
    if let Some(before) = strip_phrase_suffix(text, &NAMES) {
        let before = strip_phrase_suffix(before, &["of", "as", "in", "as a"]).unwrap_or(before);
        let before = before.trim_end_matches("'s").trim_end_matches("s'").replace('-', " ");
        return match before.trim() {
            "" | "a" | "some" => Some(context.weekly_minutes),
            amount => parse_work_span(context, amount),
        };
    }
    let after = strip_phrase_prefix(text, &["a", "an", "the"]).unwrap_or(text);
    let amount = strip_phrase_prefix(after, &NAMES)?;
    let amount = strip_phrase_prefix(amount, &["of", "for", ":"]).unwrap_or(amount);
    if amount.is_empty() {
        return Some(context.weekly_minutes);
    }
    parse_work_span(context, amount)
}

/// Parses an amount of the plan's own time: a week is what the person works in one.
fn parse_work_span(context: &ClauseContext<'_>, text: &str) -> Option<u32> {
    let lower = text.trim().to_lowercase();
    let mut words = lower.split_whitespace();
    let (count, unit) = (words.next()?, words.next().unwrap_or_default());
    let each = match unit.trim_end_matches('s') {
        "week" => Some(f64::from(context.weekly_minutes)),
        "day" => Some(f64::from(context.weekly_minutes) / f64::from(context.working_days.max(1))),
        _ => None,
    };
    match each {
        Some(each) if words.next().is_none() => {
            let minutes = (parse_number(count)? * each / 15.0).round() * 15.0;
            (15.0..=1e5).contains(&minutes).then_some(minutes as u32)
        }
        _ => parse_minutes(&lower),
    }
}
