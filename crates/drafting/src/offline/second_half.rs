//! Goals of two halves: "sell our car and buy an electric one". A kind plans one of them; the plan names the other.

use super::blueprint::Blueprint;
use super::goal::Goal;
use super::kind::is_match_word;

/// Verbs after "and" that begin another half, rather than go on with the first.
const VERBS: [&str; 44] = [
    "add",
    "adopt",
    "apply",
    "bake",
    "become",
    "book",
    "build",
    "buy",
    "clean",
    "close",
    "cook",
    "create",
    "cut",
    "find",
    "finish",
    "fix",
    "get",
    "grow",
    "have",
    "hire",
    "introduce",
    "launch",
    "learn",
    "lose",
    "make",
    "migrate",
    "move",
    "open",
    "organize",
    "paint",
    "plan",
    "prepare",
    "publish",
    "remove",
    "rent",
    "sell",
    "ship",
    "start",
    "stop",
    "teach",
    "train",
    "visit",
    "win",
    "write",
];
/// Words that say nothing about what is done.
const PLAIN: [&str; 26] = [
    "a", "an", "the", "my", "our", "your", "it", "them", "to", "in", "on", "of", "for", "with",
    "and", "is", "get", "have", "make", "done", "used", "there", "again", "out", "up", "one",
];

/// Says which half of a goal the plan leaves out.
pub(super) fn name_other_half(goal: &Goal, file: &Blueprint) -> Option<String> {
    let words = goal.folded_words();
    let starts = |place: &usize| {
        words[*place] == "and"
            && words.get(place + 1).is_some_and(|next| VERBS.contains(&next.as_str()))
    };
    let place = (1..words.len()).find(starts)?;
    let end = (place + 1..words.len()).find(|at| goal.is_clause_start(*at)).unwrap_or(words.len());
    let telling = |word: &&String| {
        word.chars().count() > 2
            && !PLAIN.contains(&word.as_str())
            && word.chars().all(|letter| letter.is_alphabetic() || letter == '-')
    };
    let known = |half: &[String]| half.iter().filter(telling).any(|word| is_match_word(word, file));
    let (first, other) = (&words[..place], &words[place + 1..end]);
    // Where only the second half leads to the kind, the first is the one that is left out.
    let left = match (known(first), known(other)) {
        (_, false) => other,
        (false, true) => first,
        (true, true) => return None,
    };
    let has_object = left.iter().skip(1).any(|word| telling(&word));
    has_object.then(|| {
        format!(
            "Only one half of the goal is planned. Not planned: \"{}\". Make a plan of its own for it, or add its \
             steps.",
            left.join(" ")
        )
    })
}
