//! Which words of a goal were read, and as what.

use std::ops::Range;

use super::words::GoalWords;

/// What a phrase of a goal was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalPhraseKind {
    Deadline,
    Day,
    /// A length of days or weeks.
    Span,
    /// How long the thing itself lasts.
    Stay,
    Start,
    WorkingTimes,
    /// Days of the week without work.
    WeekdaysOff,
    /// The absence with this place in the list.
    Absence(usize),
    WeeklyHours,
    Occurrence,
    Rhythm,
    TimeOfDay,
    /// The time of the last day.
    DueTime,
    /// The people who take part.
    Companions,
    /// The count with this place in the list.
    Count(usize),
    Money,
    Place,
    Direction,
    Given,
    /// What a number is to reach.
    Target,
}

/// A phrase of a goal that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalPhrase {
    pub kind: GoalPhraseKind,
    /// As it was typed.
    pub text: String,
    /// Where it stands in the goal, in bytes.
    pub span: Range<usize>,
}

impl GoalPhrase {
    pub(super) fn new(kind: GoalPhraseKind, words: &GoalWords<'_>, range: Range<usize>) -> Self {
        let span = words.byte_span(range);
        let text = words.source()[span.clone()].to_owned();
        Self { kind, text, span }
    }
}

/// Runs a reader and returns what it read, with the phrases whose words it used.
pub(super) fn read_phrases<'a, T>(
    words: &mut GoalWords<'a>,
    kind: GoalPhraseKind,
    read: impl FnOnce(&mut GoalWords<'a>) -> T,
) -> (T, Vec<GoalPhrase>) {
    let before = words.used_flags();
    let found = read(words);
    let phrases = words
        .newly_used(&before)
        .into_iter()
        .map(|range| GoalPhrase::new(kind, words, range))
        .collect();
    (found, phrases)
}
