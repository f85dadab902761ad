//! Answers to the questions of a blueprint, as far as the goal gives them.

use planwright_model::{Assumption, AssumptionOrigin, PlanContext};

use super::super::blueprint::{Blueprint, BlueprintQuestion};
use super::super::fitting_choices;
use super::super::goal::Goal;
use super::super::kind::is_form_of;
use super::{add_assumption, set_stated};

/// Lists the questions of the file that are remarks, with what is assumed for them.
pub(super) fn fill_remarks(
    context: &mut PlanContext,
    goal: &Goal,
    file: &Blueprint,
    notes: &mut Vec<String>,
) {
    for question in &file.questions {
        let key = question.key.get_ref();
        if file.counts.contains_key(key) || question.default.trim().is_empty() {
            continue;
        }
        settle_answer(context, question, notes);
        if let Some(choice) = stated_choice(goal, &question.choices) {
            set_stated(context, key, choice);
            continue;
        }
        let fitting = fitting_choices::find_fitting_choice(
            context,
            goal,
            &question.choices,
            &question.default,
        );
        let assumed = fitting.unwrap_or(&question.default);
        add_assumption(context, key, assumed, Some(question.text.clone()));
    }
}

/// Takes the choice that an answer in other words means: "we rent a room" is "a rented room". An answer that means none
/// of them decides nothing, so what is assumed without one applies, and the plan says so.
fn settle_answer(context: &mut PlanContext, question: &BlueprintQuestion, notes: &mut Vec<String>) {
    let key = question.key.get_ref();
    let stated = |found: &&mut Assumption| {
        found.key == *key && found.origin == AssumptionOrigin::User && !question.choices.is_empty()
    };
    let Some(found) = context.assumptions.iter_mut().find(stated) else { return };
    let answer = found.value.trim().to_lowercase();
    let same = |choice: &&String| choice.to_lowercase() == answer;
    if question.choices.iter().any(|choice| same(&choice)) || answer == question.default {
        return;
    }
    if let Some(choice) = meant_choice(&answer, &question.choices) {
        choice.clone_into(&mut found.value);
        return;
    }
    notes.push(format!(
        "\"{}\" is none of the answers to \"{}\" ({}); \"{}\" is assumed.",
        found.value,
        question.text,
        question.choices.join(", "),
        question.default
    ));
    found.value.clone_from(&question.default);
    found.origin = AssumptionOrigin::Template;
}

/// Returns the choice that shares the most words with an answer, if one does.
fn meant_choice<'a>(answer: &str, choices: &'a [String]) -> Option<&'a str> {
    let stems = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty() && !LINK_WORDS.contains(word))
            .map(|word| word.chars().take(4).collect())
            .collect()
    };
    let own = stems(answer);
    let shared = |choice: &str| stems(choice).iter().filter(|stem| own.contains(stem)).count();
    let most = choices.iter().map(|choice| shared(choice)).max().filter(|most| *most > 0)?;
    let mut best = choices.iter().filter(|choice| shared(choice) == most);
    let first = best.next()?;
    best.next().is_none().then_some(first.as_str())
}

/// Questions about details come after the one about the hours.
pub(super) fn move_remarks_last(context: &mut PlanContext, file: &Blueprint) {
    let is_remark = |known: &Assumption| {
        known.origin == AssumptionOrigin::Template
            && !file.counts.contains_key(&known.key)
            && file.questions.iter().any(|question| *question.key.get_ref() == known.key)
    };
    let (remarks, mut others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut context.assumptions).into_iter().partition(is_remark);
    others.extend(remarks);
    context.assumptions = others;
}

/// Answers that mean nothing outside of their question.
const BARE_ANSWERS: [&str; 14] = [
    "yes",
    "no",
    "none",
    "some",
    "both",
    "mixed",
    "either",
    "good",
    "more",
    "nothing",
    "nobody",
    "everything",
    "i do",
    "you",
];

/// Words of an answer that carry nothing: "from an app store" is said by "app store".
const LINK_WORDS: [&str; 22] = [
    "a", "an", "the", "from", "with", "by", "at", "in", "on", "to", "of", "my", "our", "we", "it",
    "they", "is", "are", "as", "and", "or", "for",
];

/// Words that stand in goals for other reasons than to answer a question.
const COMMON_WORDS: [&str; 12] = [
    "day", "days", "week", "weeks", "weekend", "hour", "minutes", "month", "year", "time",
    "people", "team",
];

/// Returns whether the goal has all words of an answer that carry something.
fn states_choice(goal: &Goal, choice: &str) -> bool {
    let words: Vec<&str> = choice
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty() && !LINK_WORDS.contains(word))
        .collect();
    let is_telling = |word: &&str| {
        word.chars().count() > 2 && word.parse::<u32>().is_err() && !COMMON_WORDS.contains(word)
    };
    words.iter().any(is_telling)
        && words.iter().all(|word| goal.folded_words().iter().any(|own| is_same_word(own, word)))
        && !matches!(words.as_slice(), [word] if is_part_of_name(goal, word))
}

/// Returns whether two words are forms of one: "bed" and "beds".
fn is_same_word(one: &str, other: &str) -> bool {
    is_form_of(one, other) || is_form_of(other, one)
}

/// Returns whether a word of the goal only belongs to the noun after it: "our new office manager" is no office.
fn is_part_of_name(goal: &Goal, word: &str) -> bool {
    let all = goal.folded_words();
    let names = |place: usize| {
        let next = all.get(place + 1).filter(|_| !goal.is_clause_start(place + 1));
        next.is_some_and(|next| {
            !LINK_WORDS.contains(&next.as_str())
                && !COMMON_WORDS.contains(&next.as_str())
                && next.chars().all(char::is_alphabetic)
                && next.chars().count() > 3
                && !["this", "next", "before", "until", "without", "within", "only", "starting"]
                    .contains(&next.as_str())
        })
    };
    let mut places = (0..all.len()).filter(|place| all[*place] == word).peekable();
    places.peek().is_some() && places.all(names)
}

/// Returns the only choice whose words stand in the goal; of two that overlap, the longer.
fn stated_choice<'a>(goal: &Goal, choices: &'a [String]) -> Option<&'a str> {
    let mut found: Vec<&str> = choices
        .iter()
        .map(String::as_str)
        .filter(|choice| {
            let lower = choice.to_lowercase();
            !BARE_ANSWERS.contains(&lower.as_str()) && states_choice(goal, &lower)
        })
        .collect();
    found.sort_by_key(|choice| std::cmp::Reverse(choice.len()));
    let (first, rest) = found.split_first()?;
    let inside = |other: &&str| first.to_lowercase().contains(&other.to_lowercase());
    rest.iter().all(inside).then_some(*first)
}
