//! Everything a goal counts: "80 guests", "200 servers", "two backend engineers", "a team of 8".

use std::ops::Range;

use super::amount::{TimeUnit, parse_number};
use super::quantities;
use super::words::GoalWords;

/// A number of things, with the noun that the goal uses for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalCount {
    /// Singular, in lower case: "guest".
    pub noun: String,
    pub amount: u32,
}

/// How many words may stand between the number and its noun: "two senior backend engineers".
const MAX_MODIFIERS: usize = 2;
/// Measures whose plural has no ending.
const MEASURES: [&str; 10] =
    ["kg", "km", "lb", "lbs", "kilos", "kilometers", "kilometres", "miles", "gb", "tb"];
/// Plurals that say nothing about what is counted.
const EMPTY_NOUNS: [&str; 6] = ["times", "things", "ways", "others", "steps", "percent"];

/// Finds everything that is counted, and where. The words stay for the other readers: they may be the subject of the
/// goal.
pub(super) fn find_counts(words: &GoalWords<'_>) -> Vec<(GoalCount, Range<usize>)> {
    let mut found: Vec<(GoalCount, Range<usize>)> = Vec::new();
    for index in 0..words.len() {
        if let Some((count, end)) = count_at(words, index)
            && found.iter().all(|(known, _)| known.noun != count.noun)
        {
            found.push((count, index..end));
        }
    }
    found
}

fn count_at(words: &GoalWords<'_>, index: usize) -> Option<(GoalCount, usize)> {
    let text = words.text_at(index);
    if let Some((number, noun)) = text.split_once('-')
        && let Some(amount) = whole_number(number)
    {
        // "a 40-person offsite"; a "5-6 hours" range and a date have a number on both sides.
        let is_noun = noun.chars().all(char::is_alphabetic) && TimeUnit::from_name(noun).is_none();
        return is_noun.then(|| (GoalCount { noun: to_singular(noun), amount }, index + 1));
    }
    if text == "team" && words.is_any_of(index + 1, &["of"]) {
        let amount = whole_number(words.text_at(index + 2))?;
        return Some((GoalCount { noun: "person".to_owned(), amount }, index + 3));
    }
    let (amount, next) = amount_at(words, index)?;
    let place = counted_noun(words, next)?;
    Some((GoalCount { noun: to_singular(words.text_at(place)), amount }, place + 1))
}

/// Parses a whole number in digits or words, "1,200" included, and returns the index after it.
fn amount_at(words: &GoalWords<'_>, index: usize) -> Option<(u32, usize)> {
    let mut amount = whole_number(words.text_at(index))?;
    let mut end = index + 1;
    while words.char_after(end - 1) == Some(',') {
        let group = words.text_at(end);
        if group.len() != 3 || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        amount = amount.checked_mul(1000)?.checked_add(group.parse().ok()?)?;
        end += 1;
    }
    // The groups of "1,200" are not numbers of their own.
    let inside = index > 0
        && words.char_after(index - 1) == Some(',')
        && words.text_at(index).len() == 3
        && whole_number(words.text_at(index - 1)).is_some();
    (!inside && amount <= 1_000_000).then_some((amount, end))
}

fn whole_number(text: &str) -> Option<u32> {
    let number = parse_number(text).filter(|_| !text.contains(['-', '.']))?;
    (1.0..=1e6).contains(&number).then_some(number as u32)
}

/// Returns where the noun stands that a number counts: the first plural after it, before the phrase ends.
fn counted_noun(words: &GoalWords<'_>, index: usize) -> Option<usize> {
    for place in index..=index + MAX_MODIFIERS {
        let text = words.text_at(place);
        if text.is_empty() || words.clause_starts_at(place) {
            return None;
        }
        if TimeUnit::from_name(text).is_some()
            || quantities::is_currency(text)
            || EMPTY_NOUNS.contains(&text)
            || words.is_any_of(place, &ENDS)
        {
            return None;
        }
        if MEASURES.contains(&text) || is_plural(text) {
            return Some(place);
        }
    }
    None
}

/// Words that no counted phrase contains.
const ENDS: [&str; 22] = [
    "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "of", "a", "an", "the",
    "per", "every", "each", "is", "this", "next", "until", "before",
];

const IRREGULAR: [(&str, &str); 10] = [
    ("people", "person"),
    ("persons", "person"),
    ("children", "child"),
    ("women", "woman"),
    ("men", "man"),
    ("mice", "mouse"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("theses", "thesis"),
    ("movies", "movie"),
];

fn is_plural(text: &str) -> bool {
    IRREGULAR.iter().any(|(plural, _)| *plural == text)
        || (text.len() > 3
            && text.ends_with('s')
            && !["ss", "us", "is", "'s"].iter().any(|tail| text.ends_with(tail))
            && super::dates::parse_weekday(text).is_none())
}

/// Returns the singular of an English noun in lower case.
pub(super) fn to_singular(text: &str) -> String {
    if let Some((_, singular)) = IRREGULAR.iter().find(|(plural, _)| *plural == text) {
        return (*singular).to_owned();
    }
    if let Some(stem) = text.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for tail in ["shes", "ches", "sses", "xes", "zzes"] {
        if text.ends_with(tail) {
            return text[..text.len() - 2].to_owned();
        }
    }
    if ["ss", "us", "is"].iter().any(|tail| text.ends_with(tail)) {
        return text.to_owned();
    }
    text.strip_suffix('s').filter(|stem| stem.len() > 1).unwrap_or(text).to_owned()
}
