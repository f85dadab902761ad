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
const MEASURES: [&str; 20] = [
    "kg",
    "km",
    "lb",
    "lbs",
    "kilos",
    "kilometers",
    "kilometres",
    "miles",
    "gb",
    "tb",
    "meters",
    "metres",
    "pounds",
    "liters",
    "litres",
    "feet",
    "inches",
    "sqm",
    "m²",
    "grams",
];
/// Plurals that say nothing about what is counted.
const EMPTY_NOUNS: [&str; 6] = ["times", "things", "ways", "others", "steps", "percent"];

/// Nouns of which a number with a hyphen makes a name: "two-factor", "three-tier".
const DESCRIBING: [&str; 12] = [
    "factor",
    "step",
    "way",
    "part",
    "tier",
    "phase",
    "stage",
    "dimensional",
    "sided",
    "piece",
    "star",
    "speed",
];

/// Nouns of groups that are counted by their people: "a team of 8".
pub(super) const GROUPS: [&str; 8] =
    ["team", "department", "group", "class", "crew", "staff", "family", "company"];

/// Finds everything that is counted, and where. The words stay for the other readers: they may be the subject of the
/// goal.
pub(super) fn find_counts(words: &GoalWords<'_>) -> Vec<(GoalCount, Range<usize>)> {
    let mut found: Vec<(GoalCount, Range<usize>)> = Vec::new();
    for index in 0..words.len() {
        if let Some((count, end)) = count_at(words, index)
            && found.iter().all(|(known, _)| known.noun != count.noun)
            && !is_rate(words, end)
            && !is_present(words, index, end)
        {
            found.push((count, index..end));
        }
    }
    found
}

/// Returns whether a count is one of every day or week, and not of the plan: "10 words a day".
fn is_rate(words: &GoalWords<'_>, end: usize) -> bool {
    let led = words.is_any_of(end, &["a", "an", "per", "each", "every"]);
    (led && TimeUnit::from_name(words.text_at(end + 1)).is_some())
        || words.is_any_of(end, &["daily", "weekly", "monthly"])
}

/// Returns whether a count says how things are now: "I can run 8 km now".
fn is_present(words: &GoalWords<'_>, index: usize, end: usize) -> bool {
    let start = words.clause_start(index);
    let now = ["now", "currently", "already", "today", "moment", "present"];
    words.contains_word(start..index, &["currently", "already", "now"])
        || words.phrase_starts_at(start, "i can")
        || (words.contains_word(end..end + 3, &now)
            && words.contains_word(start..index, &["i", "we", "can", "do"]))
}

/// Returns whether a noun is a measure, which a plan may exceed in a step: a run of 10 km on the way to 8 km.
pub fn is_measure(noun: &str) -> bool {
    let last = noun.rsplit(' ').next().unwrap_or(noun);
    MEASURES.iter().any(|known| to_singular(known) == last)
}

fn count_at(words: &GoalWords<'_>, index: usize) -> Option<(GoalCount, usize)> {
    let text = words.text_at(index);
    if let Some((number, noun)) = text.split_once('-')
        && let Some(amount) = whole_number(number)
    {
        // "a 40-person offsite"; a "5-6 hours" range and a date have a number on both sides.
        let is_noun = noun.chars().all(char::is_alphabetic)
            && TimeUnit::from_name(noun).is_none()
            && !DESCRIBING.contains(&noun);
        return is_noun.then(|| (GoalCount { noun: to_singular(noun), amount }, index + 1));
    }
    if GROUPS.contains(&text) && words.is_any_of(index + 1, &["of"]) {
        let amount = whole_number(words.text_at(index + 2))?;
        return Some((GoalCount { noun: "person".to_owned(), amount }, index + 3));
    }
    let (amount, next) = amount_at(words, index)?;
    if bare_people(words, index).is_some() || words.phrase_starts_at(next, "of us") {
        return Some((GoalCount { noun: "person".to_owned(), amount }, next));
    }
    let place = counted_noun(words, next)?;
    let noun = to_singular(words.text_at(place));
    // "20 square meters".
    let shape = words.text_at(place.saturating_sub(1));
    let noun = match shape {
        "square" | "cubic" if place > next => format!("{shape} {noun}"),
        _ => noun,
    };
    Some((GoalCount { noun, amount }, place + 1))
}

/// Meals, parties and stays that are for a number of people: "dinner for 14".
const FOR_PEOPLE: [&str; 30] = [
    "dinner",
    "lunch",
    "brunch",
    "breakfast",
    "meal",
    "supper",
    "feast",
    "barbecue",
    "bbq",
    "picnic",
    "potluck",
    "party",
    "reception",
    "buffet",
    "catering",
    "cater",
    "cook",
    "cooking",
    "table",
    "gathering",
    "thanksgiving",
    "wedding",
    "trip",
    "cabin",
    "offsite",
    "retreat",
    "workshop",
    "game",
    "banquet",
    "tea",
];

/// Returns where "for 14" starts, if it counts people without a noun.
pub(super) fn bare_people(words: &GoalWords<'_>, index: usize) -> Option<usize> {
    const FOLLOWS: [&str; 16] = [
        "on", "in", "at", "by", "next", "this", "tonight", "tomorrow", "with", "before", "for",
        "and", "today", "every", "of", "under",
    ];
    let number = whole_number(words.text_at(index)).filter(|number| (2..=500).contains(number))?;
    let start = index.checked_sub(1).filter(|start| words.is_any_of(*start, &["for"]))?;
    let ends = words.clause_starts_at(index + 1) || words.is_any_of(index + 1, &FOLLOWS);
    let paid = words.char_before(index).is_some_and(|sign| matches!(sign, '$' | '€' | '£' | '¥'))
        || words.char_right_after(index).is_some_and(|sign| matches!(sign, '$' | '€' | '£' | '%'));
    let eaten = words.contains_word(0..index, &FOR_PEOPLE);
    (number > 1 && ends && eaten && !paid).then_some(start)
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
pub(super) fn counted_noun(words: &GoalWords<'_>, index: usize) -> Option<usize> {
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
            // "40 sales people": a plural before another is a modifier.
            let next = words.text_at(place + 1);
            let modifies = place < index + MAX_MODIFIERS
                && is_plural(next)
                && !words.clause_starts_at(place + 1)
                && TimeUnit::from_name(next).is_none();
            return Some(place + usize::from(modifies));
        }
    }
    None
}

/// Words that no counted phrase contains.
const ENDS: [&str; 22] = [
    "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "of", "a", "an", "the",
    "per", "every", "each", "is", "this", "next", "until", "before",
];

const IRREGULAR: [(&str, &str); 19] = [
    ("gäste", "guest"),
    ("personen", "person"),
    ("leute", "person"),
    ("invités", "guest"),
    ("personnes", "person"),
    ("invitados", "guest"),
    ("personas", "person"),
    ("ospiti", "guest"),
    ("people", "person"),
    ("persons", "person"),
    ("ppl", "person"),
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
