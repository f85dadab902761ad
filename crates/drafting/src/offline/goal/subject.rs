//! The subject of a goal: the longest noun phrase that nothing else has used, and the ends of "from A to B".

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::amount::parse_number;
use super::dates::{parse_month, parse_weekday};
use super::opening_verbs;
use super::words::GoalWords;

/// The maximum length of a subject, in graphemes, so that titles stay readable around it.
const MAX_GRAPHEMES: usize = 60;

/// The subject of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalSubject {
    /// The bare phrase: "newsletter".
    pub name: String,
    /// The phrase as the plan refers to it: "the newsletter", or just the name if the goal used no article.
    pub definite: String,
}

impl GoalSubject {
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }
}

/// The ends of "from A to B" and the range of the words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GoalDirection {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) range: Range<usize>,
}

/// Words that end the B of "from A to B".
const ENDS: [&str; 25] = [
    "in", "by", "before", "over", "within", "for", "until", "and", "with", "during", "on", "at",
    "every", "each", "using", "without", "so", "while", "this", "next", "today", "tomorrow",
    "tonight", "after", "because",
];

/// Finds "from A to B" if both are names, not times, numbers or weekdays.
pub(super) fn find_direction(words: &GoalWords<'_>) -> Option<GoalDirection> {
    (0..words.len()).find_map(|index| direction_at(words, index))
}

fn direction_at(words: &GoalWords<'_>, index: usize) -> Option<GoalDirection> {
    if words.is_any_of(index, &["replace", "replacing"]) {
        return replacement_at(words, index);
    }
    if words.text_at(index) != "from" {
        return None;
    }
    let to = (index + 2..index + 6).find(|place| words.text_at(*place) == "to")?;
    let end = (to + 1..=words.len().min(to + 5)).find(|place| {
        *place > to + 1
            && (words.get(*place).is_none_or(|word| word.breaks) || words.is_any_of(*place, &ENDS))
    });
    let end = end.unwrap_or(words.len().min(to + 5));
    let names = (index + 1..to).chain(to + 1..end);
    // A version such as "Debian 11" has a number after its name; "from 9 to 5" has none.
    let is_version = |place: usize| place > index + 1 && place != to + 1;
    let counted = names.clone().any(|place| {
        let text = words.text_at(place);
        let number = parse_number(text).is_some() && !is_version(place);
        let later_version =
            number && place == to + 1 && parse_number(words.text_at(to - 1)).is_some();
        text.is_empty()
            || (matches!(text, "and" | "back" | "go" | "get") && !words.is_capitalized(place))
            || (number && !(later_version && to > index + 2))
            || parse_weekday(text).is_some()
            || (parse_month(text).is_some() && text != "may" && text != "march")
            || is_clock_time(text)
    });
    if counted || end <= to + 1 || parse_month(words.text_at(to - 1)).is_some() {
        return None;
    }
    let source = skip_article(words, index + 1..to);
    let from = shorten_phrase(words.typed_text(source.clone()));
    let later = shorten_phrase(words.typed_text(skip_article(words, to + 1..end)));
    // "from Debian 11 to 12" names the other end by its number alone.
    let to = match (later.starts_with(|c: char| c.is_ascii_digit()), source.len()) {
        (true, 2..) => {
            let name = words.typed_text(source.start..source.end - 1);
            format!("{name} {later}")
        }
        _ => later,
    };
    (!from.is_empty() && !to.is_empty()).then_some(GoalDirection { from, to, range: index..end })
}

/// Parses "replace Jira with Linear" if the new thing has a name.
fn replacement_at(words: &GoalWords<'_>, index: usize) -> Option<GoalDirection> {
    let with = (index + 2..index + 7).find(|place| words.text_at(*place) == "with")?;
    let inside = |range: Range<usize>| {
        range.clone().all(|place| !words.text_at(place).is_empty())
            && !range.clone().any(|place| words.clause_starts_at(place))
    };
    let end = (with + 1..=words.len().min(with + 5)).find(|place| {
        *place > with + 1 && (words.clause_starts_at(*place) || words.is_any_of(*place, &ENDS))
    })?;
    let (old, new) = (skip_article(words, index + 1..with), skip_article(words, with + 1..end));
    let named = new.clone().any(|place| words.is_capitalized(place));
    if old.is_empty() || !named || !inside(index + 1..end) {
        return None;
    }
    let from = shorten_phrase(words.typed_text(old));
    let to = shorten_phrase(words.typed_text(new));
    Some(GoalDirection { from, to, range: index..end })
}

fn is_clock_time(text: &str) -> bool {
    text.contains(':') && text.starts_with(|first: char| first.is_ascii_digit())
}

fn skip_article(words: &GoalWords<'_>, range: Range<usize>) -> Range<usize> {
    let start = words.skip_fillers(range.start, &ARTICLES).min(range.end);
    start..range.end
}

const ARTICLES: [&str; 10] = ["a", "an", "the", "my", "our", "your", "their", "his", "her", "this"];

/// Words that start a goal without being its subject.
const OPENERS: [&str; 78] = [
    "i",
    "we",
    "want",
    "wants",
    "need",
    "would",
    "like",
    "help",
    "me",
    "us",
    "please",
    "to",
    "let's",
    "how",
    "can",
    "could",
    "should",
    "plan",
    "make",
    "do",
    "get",
    "take",
    "start",
    "starting",
    "begin",
    "create",
    "set",
    "up",
    "go",
    "run",
    "keep",
    "try",
    "have",
    "be",
    "becoming",
    "become",
    "launch",
    "launching",
    "build",
    "building",
    "ship",
    "publish",
    "write",
    "writing",
    "organise",
    "organize",
    "buy",
    "buying",
    "move",
    "moving",
    "prepare",
    "finish",
    "migrate",
    "migrating",
    "port",
    "replace",
    "rewrite",
    "learn",
    "learning",
    "study",
    "studying",
    "master",
    "practise",
    "practice",
    "train",
    "improve",
    "transform",
    "play",
    "read",
    "speak",
    "do",
    "a",
    "complete",
    "develop",
    "hold",
    "give",
    "change",
    "transition",
];

/// Words that connect a phrase inside but never occur at its ends.
const CONNECTORS: [&str; 16] = [
    "of", "about", "for", "on", "with", "in", "and", "to", "&", "or", "at", "into", "from", "by",
    "the", "a",
];

/// Words that separate phrases.
const SEPARATORS: [&str; 27] = [
    "so", "that", "which", "because", "while", "when", "then", "but", "is", "are", "am", "will",
    "if", "as", "without", "per", "every", "each", "i", "me", "we", "it", "using", "only",
    "before", "until", "after",
];

/// Finds the longest noun phrase among the remaining words, and which words it is; `fallback` is used if there is none.
pub(super) fn find_subject(
    words: &GoalWords<'_>,
    fallback: Option<&str>,
) -> (GoalSubject, Range<usize>) {
    let mut best: Option<Range<usize>> = None;
    let mut clauses = 0;
    let mut start = 0;
    for index in 0..=words.len() {
        let ends = words.get(index).is_none_or(|word| word.used || word.breaks)
            || words.is_any_of(index, &SEPARATORS);
        if !ends {
            continue;
        }
        // The first part of a goal names it; what follows a comma says more about it.
        clauses += usize::from(start > 0 && words.get(start).is_some_and(|word| word.breaks));
        if clauses > 0 && best.is_some() {
            break;
        }
        let phrase = trim_phrase(words, start..index);
        // ", like last year" compares; it names nothing that is planned.
        let compares = words.get(start).is_some_and(|word| word.breaks && word.text == "like");
        if !compares && phrase.len() > best.as_ref().map_or(0, Range::len) {
            best = Some(phrase);
        }
        // A word after a comma starts the next phrase; a used or separating word belongs to none.
        let kept =
            words.get(index).is_some_and(|word| !word.used) && !words.is_any_of(index, &SEPARATORS);
        start = if kept { index } else { index + 1 };
    }
    match best {
        Some(range) => (subject_from_words(words, range.clone()), range),
        None => (subject_from_text(fallback.unwrap_or_default(), words.source()), 0..words.len()),
    }
}

/// Removes openers and loose connectors from the ends of a phrase.
fn trim_phrase(words: &GoalWords<'_>, range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    let mut named = false;
    while start < end {
        if words.is_any_of(start, &ARTICLES) {
            named = true;
        } else if !named && opening_verbs::is_opening_verb(words, start) {
            // "put up a shelf", "get rid of the sofa": the particle belongs to the verb.
            start = words.skip_fillers(start + 1, &opening_verbs::PARTICLES).min(end);
            continue;
        } else if !words.is_any_of(start, &OPENERS) && !words.is_any_of(start, &CONNECTORS) {
            break;
        }
        start += 1;
    }
    while end > start
        && (words.is_any_of(end - 1, &CONNECTORS)
            || words.is_any_of(end - 1, &ARTICLES)
            // "cut the costs by 30 %": an amount of change.
            || (end > start + 1
                && parse_number(words.text_at(end - 1)).is_some()
                && words.is_any_of(end - 2, &["by"])))
    {
        end -= 1;
    }
    start..end
}

fn subject_from_words(words: &GoalWords<'_>, range: Range<usize>) -> GoalSubject {
    let name = shorten_phrase(words.typed_text(range.clone()));
    let article = range.start > 0 && words.is_any_of(range.start - 1, &ARTICLES);
    let counted = range.start > 0 && words.is_any_of(range.start - 1, &["one"]);
    let definite = if article || counted { format!("the {name}") } else { name.clone() };
    GoalSubject { name, definite }
}

/// A goal made of verbs only is its own subject.
fn subject_from_text(fallback: &str, source: &str) -> GoalSubject {
    let name = shorten_phrase(if fallback.is_empty() { source } else { fallback });
    GoalSubject { definite: name.clone(), name }
}

/// Returns one line of at most [`MAX_GRAPHEMES`], cut at a space if there is one.
pub(super) fn shorten_phrase(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((cut, _)) = line.grapheme_indices(true).nth(MAX_GRAPHEMES) else { return line };
    let head = &line[..cut];
    let head =
        head.rfind(' ').filter(|space| *space > cut / 2).map_or(head, |space| &head[..space]);
    format!("{head}…")
}
