//! Whether a goal says enough to plan anything.

use super::super::goal::Goal;
use super::KindVerdict;
use crate::calendar_names::{MONTHS, WEEKDAYS};
use crate::number_names::parse_number_word;

/// Words that say nothing by themselves about what is to be done.
const VAGUE: [&str; 74] = [
    "a",
    "an",
    "the",
    "my",
    "our",
    "your",
    "this",
    "that",
    "it",
    "its",
    "i",
    "we",
    "me",
    "us",
    "you",
    "want",
    "wants",
    "need",
    "would",
    "like",
    "to",
    "help",
    "please",
    "and",
    "or",
    "of",
    "for",
    "in",
    "on",
    "at",
    "by",
    "with",
    "be",
    "being",
    "become",
    "is",
    "are",
    "am",
    "will",
    "can",
    "could",
    "should",
    "do",
    "get",
    "make",
    "go",
    "so",
    "some",
    "all",
    "then",
    "also",
    "as",
    "only",
    "just",
    "better",
    "best",
    "good",
    "great",
    "more",
    "less",
    "things",
    "thing",
    "stuff",
    "something",
    "anything",
    "everything",
    "life",
    "myself",
    "happy",
    "happier",
    "improve",
    "change",
    "succeed",
    "success",
];

/// Words of time and amount, which every kind of goal may contain.
const FRAME: [&str; 50] = [
    "day",
    "days",
    "week",
    "weeks",
    "weekend",
    "month",
    "months",
    "year",
    "years",
    "quarter",
    "hour",
    "hours",
    "minute",
    "minutes",
    "today",
    "tomorrow",
    "tonight",
    "next",
    "until",
    "before",
    "after",
    "due",
    "end",
    "start",
    "starting",
    "early",
    "late",
    "mid",
    "summer",
    "spring",
    "autumn",
    "winter",
    "christmas",
    "easter",
    "budget",
    "euro",
    "euros",
    "dollar",
    "dollars",
    "under",
    "over",
    "about",
    "first",
    "half",
    "people",
    "person",
    "from",
    "into",
    "every",
    "each",
];

/// Returns whether a word of a goal says something about its kind: not its dates, amounts, names of places or articles.
pub(super) fn is_telling(goal: &Goal, word: &str) -> bool {
    let named = [&goal.from, &goal.to, &goal.quantities.place];
    let is_name = |name: &&Option<String>| {
        name.as_ref().is_some_and(|name| name.to_lowercase().split(' ').any(|part| part == word))
    };
    let with =
        goal.companions.iter().any(|name| name.to_lowercase().split(' ').any(|part| part == word));
    let counted = goal.counts.iter().any(|count| word.starts_with(count.noun.as_str()));
    word.chars().count() > 2
        && !VAGUE.contains(&word)
        && !FRAME.contains(&word)
        && !word.starts_with(|first: char| first.is_ascii_digit())
        && !is_month_or_weekday(word)
        && parse_number_word(word).is_none()
        && !named.iter().any(is_name)
        && !counted
        && !with
}

fn is_month_or_weekday(word: &str) -> bool {
    MONTHS.contains(&word) || WEEKDAYS.contains(&word)
}

/// Returns whether every word of the goal is vague.
pub(super) fn is_vague(goal: &Goal) -> bool {
    content_words(goal) == 0
}

/// Returns whether a goal has words enough to offer kinds for.
pub(super) fn says_enough(goal: &Goal) -> bool {
    content_words(goal) > 1
}

fn content_words(goal: &Goal) -> usize {
    goal.folded_words().iter().filter(|word| !VAGUE.contains(&word.as_str())).count()
}

/// Returns what to do with a goal that no kind fits. One unknown word, such as a slip of the keyboard, says too little
/// to offer kinds for; a sentence in another language says enough.
pub(super) fn verdict_without_kind(goal: &Goal) -> KindVerdict {
    let latin =
        goal.text.chars().filter(|letter| letter.is_alphabetic()).all(|letter| letter.is_ascii());
    let letters = goal.text.chars().filter(|letter| letter.is_alphabetic()).count();
    match content_words(goal) {
        0 => KindVerdict::Unclear,
        // Scripts without spaces write a whole sentence as one word.
        1 if latin || letters < 3 => KindVerdict::Unclear,
        _ => KindVerdict::Unsure,
    }
}
