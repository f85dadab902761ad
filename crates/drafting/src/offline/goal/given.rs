//! What exists already and need not be planned: "we have a venue", "the venue is booked".

use super::counts::to_singular;
use super::dates::{self, DateContext};
use super::words::GoalWords;

/// Participles that say that something is settled.
const SETTLED: [&str; 12] = [
    "booked", "reserved", "done", "paid", "bought", "ready", "settled", "signed", "hired",
    "ordered", "arranged", "rented",
];
const DETERMINERS: [&str; 8] = ["a", "an", "the", "our", "my", "some", "all", "already"];

/// Finds the nouns of what is given, and marks the words as read.
pub(super) fn find_given(words: &mut GoalWords<'_>, at: DateContext) -> Vec<String> {
    let mut given = Vec::new();
    for index in 0..words.len() {
        let Some((nouns, start, end)) = owned_at(words, index).or_else(|| settled_at(words, index))
        else {
            continue;
        };
        // "I have my theory test next month" is still to come.
        if dates::bare_date(words, end, at).is_some() {
            continue;
        }
        words.mark_used(start..end);
        given.extend(nouns);
    }
    given
}

/// The nouns of a phrase with the range of its words.
type GivenPhrase = (Vec<String>, usize, usize);

/// "we have a venue", "I already have the tickets", "we've got a caterer and a band".
fn owned_at(words: &GoalWords<'_>, index: usize) -> Option<GivenPhrase> {
    let verb = match words.text_at(index) {
        "i" | "we" => words.skip_fillers(index + 1, &["already"]),
        "already" => index + 1,
        "i've" | "we've" => index,
        _ => return None,
    };
    let mut next = verb + 1;
    if words.text_at(verb) == "have" || verb == index {
        next += usize::from(words.is_any_of(next, &["got"]));
    } else if !words.is_any_of(verb, &["booked", "bought", "hired", "own", "rented", "reserved"]) {
        return None;
    }
    // "we have to", "we have 3 weeks" are not about things.
    let (nouns, end) = noun_list(words, next)?;
    Some((nouns, index, end))
}

/// "the venue is booked", "venue and caterer already booked".
fn settled_at(words: &GoalWords<'_>, index: usize) -> Option<GivenPhrase> {
    if !words.is_any_of(index, &SETTLED) || index == 0 {
        return None;
    }
    let mut end = index;
    while end > 0 && words.is_any_of(end - 1, &["is", "are", "already", "been", "has", "have"]) {
        end -= 1;
    }
    let clause = (0..end).rev().find(|place| words.clause_starts_at(*place)).unwrap_or(0);
    // A participle in the first clause belongs to the goal itself ("get the cottage booked").
    if clause == 0 && end == index {
        return None;
    }
    let first = words.skip_fillers(clause, &["and", "but"]);
    let (nouns, stop) = noun_list(words, first)?;
    (stop == end).then_some((nouns, clause, index + 1))
}

/// Parses "a venue", "a venue and a caterer"; a noun may have one word before it ("a wedding venue").
fn noun_list(words: &GoalWords<'_>, index: usize) -> Option<(Vec<String>, usize)> {
    let mut nouns = Vec::new();
    let mut place = index;
    loop {
        let first = words.skip_fillers(place, &DETERMINERS);
        let mut end = first;
        while end < first + 3
            && is_noun(words, end)
            && (end == first || !words.clause_starts_at(end))
        {
            end += 1;
        }
        if end == first {
            break;
        }
        nouns.push(to_singular(words.text_at(end - 1)));
        place = end;
        if !words.is_any_of(end, &["and"]) {
            break;
        }
        place += 1;
    }
    (!nouns.is_empty()).then_some((nouns, place))
}

fn is_noun(words: &GoalWords<'_>, index: usize) -> bool {
    const NOT: [&str; 24] = [
        "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "of", "is", "are",
        "been", "that", "which", "so", "but", "no", "not", "until", "only", "about", "already",
    ];
    let text = words.text_at(index);
    !text.is_empty()
        && text.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\''))
        && super::amount::parse_number(text).is_none()
        && !NOT.contains(&text)
        && !SETTLED.contains(&text)
}
