//! Splits a request into sentences, pieces and phrases. Case is ignored, quotation marks keep their words together.

use std::ops::Range;

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”')
}

/// Returns positions outside quotation marks, each with the rest of the text from there.
fn unquoted_positions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut quoted = false;
    // An unclosed quotation mark has no effect.
    let balanced = text.chars().filter(|c| is_quote(*c)).count() % 2 == 0;
    text.char_indices().filter_map(move |(at, c)| {
        if is_quote(c) && balanced {
            quoted = !quoted;
        }
        (!quoted).then(|| (at, &text[at..]))
    })
}

/// Sentences end at a semicolon, a line ending, or a period before a space.
pub(super) fn split_sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, rest) in unquoted_positions(text) {
        let ends = rest.starts_with(". ") || rest.starts_with(".\n");
        let stop = (ends && !ends_with_abbreviation(&text[start..at]))
            || rest.starts_with("! ")
            || rest.starts_with("? ");
        if rest.starts_with([';', '\n', '\r']) || stop {
            found.push(&text[start..at]);
            start = at + 1;
        }
    }
    found.push(&text[start..]);
    found.retain(|sentence| !sentence.trim().is_empty());
    found
}

/// Returns whether a period belongs to an abbreviation: "Dec. 24".
fn ends_with_abbreviation(text: &str) -> bool {
    const SHORT: [&str; 14] = [
        "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
        "approx", "min",
    ];
    let last = text.rsplit(' ').next().unwrap_or_default().to_lowercase();
    SHORT.contains(&last.as_str())
}

/// Returns the pieces of a sentence between commas and "and".
pub(super) fn split_pieces(sentence: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, rest) in unquoted_positions(sentence) {
        let comma = rest.starts_with(", ") || rest == ",";
        let and = starts_ignoring_case(rest, " and ") || starts_ignoring_case(rest, " then ");
        if at >= start && (comma || and) {
            found.push(start..at);
            start = at + if comma { 1 } else { rest[1..].find(' ').map_or(1, |end| end + 1) };
        }
    }
    found.push(start..sentence.len());
    found.retain(|piece| sentence[piece.clone()].chars().any(char::is_alphanumeric));
    found
}

fn starts_ignoring_case(text: &str, with: &str) -> bool {
    text.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with))
}

/// Returns the rest of a text after one of these phrases, which must end at a word boundary. Longer phrases come first.
pub(super) fn strip_phrase_prefix<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    let text = text.trim();
    let found = phrases.iter().find(|phrase| {
        starts_ignoring_case(text, phrase)
            && !text[phrase.len()..].starts_with(|c: char| c.is_alphanumeric())
    })?;
    Some(text[found.len()..].trim_start_matches([' ', ':', ',']).trim())
}

/// Returns the text before one of these phrases at its end.
pub(super) fn strip_phrase_suffix<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    let text = text.trim();
    phrases.iter().find_map(|phrase| {
        let at = text.len().checked_sub(phrase.len())?;
        let matches = text.get(at..)?.eq_ignore_ascii_case(phrase)
            && !text[..at].ends_with(|c: char| c.is_alphanumeric());
        matches.then(|| text[..at].trim_end_matches([' ', ',']))
    })
}

/// Returns every way to split a text at one of these words; the words themselves are removed.
pub(super) fn split_at_words<'a>(text: &'a str, words: &[&str]) -> Vec<(&'a str, &'a str)> {
    let cut = |(at, rest): (usize, &'a str)| {
        let inner = rest.strip_prefix(' ')?;
        let word = words.iter().find(|word| {
            starts_ignoring_case(inner, word) && inner[word.len()..].starts_with([' ', ':'])
        })?;
        let right = inner[word.len()..].trim_start_matches([' ', ':']).trim();
        Some((text[..at].trim().trim_end_matches(',').trim(), right))
    };
    unquoted_positions(text).filter_map(cut).collect()
}

/// Returns a clause without polite filler words.
pub(super) fn strip_politeness(text: &str) -> &str {
    const OPENINGS: [&str; 36] = [
        "please",
        "can we",
        "could we",
        "we need to",
        "we have to",
        "i think we should",
        "i think",
        "i'd rather",
        "i would rather",
        "i'd prefer to",
        "ok",
        "okay",
        "no,",
        "well",
        "oh",
        "hey",
        "hmm",
        "can you",
        "could you",
        "would you",
        "i want you to",
        "i want to",
        "i would like to",
        "i'd like to",
        "we should",
        "you should",
        "let's",
        "let us",
        "also",
        "then",
        "and",
        "but",
        "so",
        "maybe",
        "instead",
        "actually",
    ];
    let mut text = text.trim().trim_end_matches(['.', '!', '?', ',', ' ']).trim();
    while let Some(rest) = strip_phrase_prefix(text, &OPENINGS).filter(|rest| !rest.is_empty()) {
        // The "also" in "also on Saturdays" is significant.
        if starts_ignoring_case(text, "also on ") {
            break;
        }
        text = rest;
    }
    strip_phrase_suffix(text, &["please", "instead", "thanks", "thank you", "if possible please"])
        .filter(|rest| !rest.is_empty())
        .unwrap_or(text)
}

/// Returns a title without the quotation marks around it.
pub(super) fn strip_quotes(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix(is_quote).and_then(|text| text.strip_suffix(is_quote));
    inner
        .or_else(|| text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')))
        .unwrap_or(text)
        .trim()
}

/// Returns a text with its first letter as a capital.
pub(super) fn capitalize(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// Returns a text with its first letter in lower case, unless its first word is written in capitals.
pub(super) fn decapitalize(text: &str) -> String {
    let mut rest = text.chars();
    let Some(first) = rest.next() else { return String::new() };
    if rest.clone().next().is_some_and(char::is_uppercase) {
        return text.to_owned();
    }
    first.to_lowercase().chain(rest).collect()
}
