//! Which kind of plan a person means, in their words: "it is a writing project, not a course".

use planwright_model::requests::{OFFERED_KINDS, OfferedKind};
use planwright_model::{PatternSpec, PatternType};

/// Words for kinds, the more telling ones first: a "writing project" is a text.
const WORDS: [(&str, &str); 47] = [
    ("writing", "writing"),
    ("text", "writing"),
    ("book", "writing"),
    ("novel", "writing"),
    ("thesis", "writing"),
    ("essay", "writing"),
    ("article", "writing"),
    ("report", "writing"),
    ("blog", "writing"),
    ("event", "event"),
    ("party", "event"),
    ("wedding", "event"),
    ("conference", "event"),
    ("offsite", "event"),
    ("trip", "event"),
    ("training", "training_arc"),
    ("workout", "training_arc"),
    ("race", "training_arc"),
    ("course", "learning_arc"),
    ("learning", "learning_arc"),
    ("study", "learning_arc"),
    ("studies", "learning_arc"),
    ("habit", "habit"),
    ("routine", "habit"),
    ("ritual", "habit"),
    ("software", "build"),
    ("app", "build"),
    ("program", "build"),
    ("website", "build"),
    ("build", "build"),
    ("migration", "migration"),
    ("launch", "launch"),
    ("purchase", "purchase"),
    ("buying", "purchase"),
    ("move", "purchase"),
    ("savings", "financial_arc"),
    ("saving", "financial_arc"),
    ("career", "career_arc"),
    ("recovery", "therapeutic_arc"),
    ("practice", "creative_arc"),
    ("series", "content_series"),
    ("sprint", "sprint_cadence"),
    ("review", "review_routine"),
    ("maintenance", "maintenance"),
    ("reorganization", "organisation_change"),
    ("project", "generic"),
    ("task", "quick"),
];

/// Words after which a kind is the wrong one.
const NEGATIONS: [&str; 5] = ["not", "no", "isn't", "never", "without"];

/// Finds the kind that the words ask for. A kind after "not" is not meant, and neither is what follows "instead of".
pub fn find_kind(text: &str) -> Option<PatternSpec> {
    let lower = text.to_lowercase();
    let positive = lower.split("instead of").next().unwrap_or_default();
    let words: Vec<&str> = positive
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    let mut meant: Vec<&str> = Vec::new();
    let mut negated = false;
    for word in words {
        if NEGATIONS.contains(&word) {
            negated = true;
        } else if ["but", "it", "this", "is", "as"].contains(&word) {
            negated = false;
        } else if !negated {
            meant.push(word);
        }
    }
    let (_, subtype) = WORDS.iter().find(|(word, _)| {
        meant.iter().any(|own| own == word || own.strip_suffix('s') == Some(word))
    })?;
    spec_of_subtype(subtype)
}

fn spec_of_subtype(subtype: &str) -> Option<PatternSpec> {
    let pattern =
        PatternType::ALL.into_iter().find(|pattern| pattern.subtypes().contains(&subtype))?;
    Some(PatternSpec::with_subtype(pattern, subtype))
}

/// Returns whether a sentence does nothing but name a kind.
pub fn names_only_kind(text: &str) -> bool {
    const FRAME: [&str; 26] = [
        "it", "it's", "is", "its", "a", "an", "the", "this", "that", "not", "no", "rather", "more",
        "like", "make", "plan", "as", "kind", "of", "project", "isn't", "but", "should", "be",
        "instead", "please",
    ];
    let lower = text.to_lowercase();
    let words =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    let known = |word: &str| {
        FRAME.contains(&word)
            || WORDS.iter().any(|(name, _)| *name == word || word.strip_suffix('s') == Some(name))
    };
    find_kind(text).is_some() && words.into_iter().all(known)
}

/// Returns the first kind of the list that is none of these.
pub fn next_kind(turned_down: impl Fn(&PatternSpec) -> bool) -> Option<PatternSpec> {
    OFFERED_KINDS.iter().copied().map(OfferedKind::to_pattern).find(|spec| !turned_down(spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(text: &str, subtype: &str) {
        let found = find_kind(text).and_then(|spec| spec.subtype);
        assert_eq!(found.as_deref(), Some(subtype), "{text}");
    }

    #[test]
    fn kinds_are_found_in_ordinary_sentences() {
        expect("it is a writing project, not a course", "writing");
        expect("not a course, it is a text", "writing");
        expect("this is an event", "event");
        expect("more like a habit", "habit");
        expect("a project instead of a habit", "generic");
        expect("training", "training_arc");
        assert_eq!(find_kind("make it shorter"), None);
        assert_eq!(find_kind("it is not a course"), None);
    }

    #[test]
    fn other_requests_are_not_about_the_kind_alone() {
        assert!(names_only_kind("it is a writing project, not a course"));
        assert!(!names_only_kind("drop the review of the book"));
        assert!(!names_only_kind("add a launch party on Friday"));
    }

    #[test]
    fn the_next_kind_is_never_one_that_was_turned_down() {
        let next = next_kind(|spec| spec.is_subtype("habit")).unwrap();
        assert_eq!(next.subtype.as_deref(), Some("training_arc"));
        assert_eq!(next_kind(|_| true), None);
    }
}
