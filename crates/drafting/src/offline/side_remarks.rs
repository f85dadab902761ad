//! What a goal says beside its facts: "she is vegetarian", "some fly in". Rules cannot check it, so it stands in the
//! step that it concerns, where whoever does the step reads it.

use std::ops::Range;

use planwright_model::{NodeType, PlanNode};

use super::blueprint::Blueprint;
use super::facts;
use super::goal::{Goal, GoalCount, GoalPhraseKind, UnreadWord, is_measure};
use super::kind::{is_form_of, is_match_word};

/// Words that say nothing by themselves.
const EMPTY_WORDS: [&str; 74] = [
    "a", "an", "the", "my", "our", "your", "their", "his", "her", "this", "that", "it", "its", "i",
    "we", "me", "us", "you", "want", "wants", "need", "would", "to", "help", "please", "let's",
    "and", "or", "of", "for", "in", "on", "at", "by", "with", "be", "is", "are", "am", "will",
    "can", "could", "should", "do", "get", "make", "plan", "start", "starting", "set", "up", "go",
    "so", "some", "about", "all", "from", "into", "then", "also", "as", "only", "he", "she",
    "they", "has", "have", "had", "who", "which", "it's", "i'm", "we're", "there",
];

/// Returns the part of a run of unread words that is worth naming, as typed.
pub(crate) fn leftover(
    goal: &Goal,
    run: &[UnreadWord],
    file: Option<&Blueprint>,
) -> Option<String> {
    let says = |word: &UnreadWord| {
        !EMPTY_WORDS.contains(&word.text.as_str())
            && !file.is_some_and(|file| is_known_word(&word.text, file))
    };
    // A verb before the subject is part of the goal, not something that was left out.
    let opens = run.first().is_some_and(|word| word.span.start == 0);
    if run.iter().filter(|word| says(word)).count() < if opens { 3 } else { 1 } {
        return None;
    }
    let joins = |word: &UnreadWord| ["and", "or", "the", "a", "an"].contains(&word.text.as_str());
    let empty = |word: &UnreadWord| EMPTY_WORDS.contains(&word.text.as_str());
    let first = run.iter().position(|word| !joins(word))?;
    let last = run.iter().rposition(|word| !empty(word))?;
    let span: Range<usize> = run.get(first)?.span.start..run.get(last)?.span.end;
    goal.text.get(span).map(str::to_owned)
}

/// The letters from which on a word that stands in a step says what the step is about.
const TITLE_WORD: usize = 5;

/// Returns whether a kind uses a word: to be chosen, in the title of a step, to answer one of its questions, or to
/// decide about a task.
fn is_known_word(word: &str, file: &Blueprint) -> bool {
    let same = |other: &str| is_form_of(word, other) || is_form_of(other, word);
    let among = |text: &str| text.split(|letter: char| !letter.is_alphanumeric()).any(same);
    let choices = file.questions.iter().flat_map(|question| &question.choices);
    let tasks = file.all_tasks();
    let quoted = |condition: &str| condition.starts_with('\'') && among(condition);
    is_match_word(word, file)
        || (word.len() >= TITLE_WORD
            && tasks.iter().any(|task| among(&task.title.get_ref().to_lowercase())))
        || choices.into_iter().any(|choice| among(&choice.to_lowercase()))
        || tasks.iter().any(|task| {
            task.when.iter().any(|condition| quoted(condition.get_ref()))
                || task.unless.iter().any(|condition| quoted(condition))
        })
}

/// Returns the remarks of a goal that a step of the plan takes in.
pub(crate) fn find_remarks(goal: &Goal, file: &Blueprint) -> Vec<String> {
    // The steps of a small task are the goal itself.
    if file.small {
        return Vec::new();
    }
    let telling = |word: &UnreadWord| !EMPTY_WORDS.contains(&word.text.as_str());
    let remarks = goal.unread_runs().iter().filter(|run| {
        let words = run.iter().filter(|word| telling(word)).count();
        let opens = run.first().is_some_and(|word| word.span.start == 0);
        // One word that stands alone says too little.
        !opens && (words > 1 || (words == 1 && run.len() > 2))
    });
    let mut found: Vec<String> =
        remarks.filter_map(|run| leftover(goal, run, Some(file))).collect();
    for (place, count) in goal.counts.iter().enumerate() {
        let phrase =
            goal.phrases().iter().find(|phrase| phrase.kind == GoalPhraseKind::Count(place));
        let Some(phrase) = phrase.filter(|_| is_unknown_count(goal, count, file)) else { continue };
        if !found.iter().any(|known| known.contains(&phrase.text)) {
            found.push(phrase.text.clone());
        }
    }
    found
}

/// Returns whether a count is worth a remark: the kind does not count it, and it is not part of the name of the thing.
fn is_unknown_count(goal: &Goal, count: &GoalCount, file: &Blueprint) -> bool {
    let people = goal.quantities.people.as_ref().map(|people| people.count);
    let in_name = goal.subject.name.contains(&count.amount.to_string());
    let nights = count.noun == "night" && goal.event_days.is_some();
    count.amount > 1
        && people != Some(count.amount)
        && !in_name
        && !nights
        && !is_measure(&count.noun)
        && !facts::counts_noun(file, &count.noun)
}

/// Returns whether words name a count: "two cats".
pub(crate) fn names_count(words: &str, count: &GoalCount) -> bool {
    let noun = count.noun.rsplit(' ').next().unwrap_or(&count.noun);
    let stem: String = noun.chars().take(4).collect();
    words.to_lowercase().split(' ').any(|word| word.starts_with(&stem))
}

/// Words of remarks, and words of the steps that they concern.
const CONCERNS: [(&[&str], &[&str]); 7] = [
    (
        &[
            "vegetarian",
            "vegan",
            "allergic",
            "allergy",
            "allergies",
            "gluten",
            "lactose",
            "halal",
            "kosher",
            "eat",
            "eats",
            "diet",
            "diabetic",
            "nuts",
            "celiac",
            "food",
            "meat",
        ],
        &["food", "menu", "dish", "meal", "dinner", "table", "eat", "diet", "cook", "cater"],
    ),
    (
        &[
            "fly",
            "flies",
            "flying",
            "arrive",
            "arrives",
            "arriving",
            "abroad",
            "airport",
            "drive",
            "driving",
            "train",
            "travel",
            "overnight",
            "hotel",
        ],
        &["travel", "arriv", "hotel", "ticket", "transfer", "invite", "sleep", "way"],
    ),
    (&["dog", "cat", "pet", "pets", "rabbit", "hamster"], &["pet", "animal", "dog", "cat", "care"]),
    (
        &["kid", "kids", "child", "children", "baby", "toddler", "son", "daughter", "twins"],
        &["child", "kid", "school", "care", "family"],
    ),
    (
        &["wheelchair", "stroller", "deaf", "blind", "crutches", "walker", "elderly"],
        &["place", "venue", "room", "visit", "access", "hotel"],
    ),
    (
        &[
            "afraid",
            "fear",
            "scared",
            "injury",
            "injured",
            "knee",
            "pain",
            "asthma",
            "pregnant",
            "diabetes",
            "heart",
            "overweight",
            "beginner",
            "years",
            "old",
        ],
        &["doctor", "teacher", "trainer", "lesson", "course", "level", "aim"],
    ),
    (
        &["expensive", "cheap", "money", "afford", "pay", "loan", "salary", "debt"],
        &["budget", "cost", "price", "money", "quote"],
    ),
];

/// Lets the step that a remark concerns take it in: one about the same, or else the first one.
pub(super) fn add_remarks(nodes: &mut [PlanNode], goal: &Goal, file: &Blueprint) {
    for remark in find_remarks(goal, file) {
        let words: Vec<String> = remark
            .to_lowercase()
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.chars().count() > 2 && !EMPTY_WORDS.contains(word))
            .map(str::to_owned)
            .collect();
        let place = concerned_step(nodes, &words);
        if let Some(node) = place.and_then(|place| nodes.get_mut(place)) {
            let done_when = node.done_when.trim_end_matches('.');
            node.done_when = format!("{done_when}; \"{remark}\" is taken into account");
        }
    }
}

fn concerned_step(nodes: &[PlanNode], words: &[String]) -> Option<usize> {
    let open = |node: &PlanNode| {
        node.node_type == NodeType::Task
            && !node.milestone
            && node.recurrence.is_none()
            && node.fixed_start.is_none()
    };
    let topics = CONCERNS
        .iter()
        .filter(|(cues, _)| words.iter().any(|word| cues.contains(&word.as_str())))
        .flat_map(|(_, steps)| steps.iter().copied());
    let topics: Vec<&str> = topics.collect();
    let fits = |node: &PlanNode| {
        let title = node.title.to_lowercase();
        let names = |word: &str| {
            title.split(|letter: char| !letter.is_alphanumeric()).any(|own| own.starts_with(word))
        };
        topics.iter().any(|topic| names(topic)) || words.iter().any(|word| names(word))
    };
    let found = nodes.iter().position(|node| open(node) && fits(node));
    found.or_else(|| nodes.iter().position(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_in_every_script_name_a_count() {
        for (noun, words) in [("café", "two cafés"), ("cat", "two cats"), ("猫", "two 猫")] {
            let count = GoalCount { noun: noun.to_owned(), amount: 2 };
            assert!(names_count(words, &count), "{noun}");
            assert!(!names_count("two dogs", &count), "{noun}");
        }
    }
}
