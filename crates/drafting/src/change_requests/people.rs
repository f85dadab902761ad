//! Change requests about who works on the plan, and how much time they have.

use super::amounts::parse_minutes;
use super::assignments::parse_name;
use super::context_change::ContextChange;
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};

const A_WEEK: [&str; 6] = ["a week", "per week", "each week", "every week", "weekly", "/week"];

/// "Anna and I work on it, she has 10 hours a week", "Anna helps with 5 hours a week", "Anna has 10 hours a week".
pub(super) fn parse_people(text: &str) -> Option<Vec<ContextChange>> {
    let (who, weekly_minutes) = split_hours(text);
    let names = parse_helpers(who, weekly_minutes.is_some())?;
    let hours = weekly_minutes.filter(|_| names.len() == 1 || !who.is_empty());
    let person = |name: String| ContextChange::Person { name, weekly_minutes: hours };
    Some(names.into_iter().map(person).collect())
}

/// Splits the hours off the end: ", she has 10 hours a week", "with 10 hours a week", "(10 h a week)".
fn split_hours(text: &str) -> (&str, Option<u32>) {
    let bare = text.trim().trim_end_matches(')');
    let bare = strip_phrase_suffix(bare, &["for it", "for this", "each"]).unwrap_or(bare);
    let Some(before) = strip_phrase_suffix(bare, &A_WEEK) else { return (text, None) };
    // The amount is the longest end that reads as one.
    let starts = before.char_indices().filter(|(_, c)| matches!(c, ' ' | '(' | ':'));
    for (at, c) in starts {
        if let Some(minutes) = parse_minutes(&before[at + c.len_utf8()..]) {
            return (strip_having(&before[..at]), Some(minutes));
        }
    }
    (text, None)
}

/// Removes the words that join a person and their hours.
fn strip_having(text: &str) -> &str {
    const HAVING: [&str; 26] = [
        "at most",
        "up to",
        "about",
        "only",
        "around",
        "with",
        "for",
        "has",
        "have",
        "she has",
        "he has",
        "they have",
        "she can give",
        "he can give",
        "can give",
        "can spend",
        "can work",
        "she works",
        "he works",
        "gives",
        "puts in",
        "contributes",
        "she",
        "he",
        "works",
        "is there",
    ];
    let mut text = text.trim().trim_end_matches(['(', ':', ',']).trim();
    while let Some(rest) = strip_phrase_suffix(text, &HAVING) {
        let rest = rest.trim().trim_end_matches(['(', ':', ',']).trim();
        let rest = strip_phrase_suffix(rest, &["and", "who"]).unwrap_or(rest);
        // "Anna helps me for": the name itself is never removed.
        if rest.is_empty() {
            break;
        }
        text = rest;
    }
    text
}

/// Reads who works on it. With hours, a name alone is enough.
fn parse_helpers(text: &str, timed: bool) -> Option<Vec<String>> {
    const JOINING: [&str; 27] = [
        "share the work",
        "share it",
        "do the work together",
        "work on it together",
        "work on this together",
        "are working on it",
        "work on it",
        "work on this",
        "works on it too",
        "works on it with me",
        "works on it",
        "works with me",
        "do it together",
        "do this together",
        "will help me",
        "will help",
        "helps me",
        "helps out",
        "helps",
        "can help me",
        "can help",
        "joins me",
        "joins in",
        "joins",
        "is in too",
        "is on the team",
        "together",
    ];
    const OPENINGS: [&str; 9] = [
        "there are two of us",
        "there are three of us",
        "we are two",
        "i work with",
        "i work together with",
        "i do it with",
        "the team is",
        "with",
        "add",
    ];
    let joined = strip_phrase_suffix(text, &JOINING);
    let opened = strip_phrase_prefix(text, &OPENINGS);
    let adds = strip_phrase_prefix(text, &["add", "with"]).is_some();
    let people = match (joined, opened) {
        (Some(people), _) => people,
        (None, Some(people)) if timed || !adds => people,
        (None, None) if timed => text,
        _ => return None,
    };
    let people = strip_phrase_suffix(people, &["as a helper", "to the team", "to the plan", "too"])
        .unwrap_or(people);
    let mut names = Vec::new();
    for part in people.split(',').flat_map(split_names) {
        let own = ["i", "me", "myself", "us"].contains(&part.to_lowercase().as_str());
        if !own && !part.is_empty() {
            names.push(parse_name(part)?);
        }
    }
    (!names.is_empty()).then_some(names)
}

fn split_names(text: &str) -> Vec<&str> {
    match split_at_words(text, &["and"]).into_iter().next() {
        Some((first, rest)) => [first.trim(), rest.trim()].into(),
        None => vec![text.trim()],
    }
}
