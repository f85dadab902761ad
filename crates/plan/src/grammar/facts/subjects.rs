//! Which nodes words mean, and which numbers a title has.

use super::super::artifacts::RuleScope;
use planwright_model::PlanNode;

/// Words that a name does not need.
const FILLERS: [&str; 12] =
    ["the", "a", "an", "my", "our", "of", "for", "to", "and", "task", "phase", "with"];

/// Returns the nodes below the goal whose titles contain all words of a name.
pub(super) fn nodes_named<'a>(scope: &RuleScope<'a>, name: &str) -> Vec<&'a PlanNode> {
    let wanted = fold_words(name);
    if wanted.is_empty() {
        return Vec::new();
    }
    let named = |node: &&PlanNode| {
        let title = fold_words(&node.title);
        node.id != *scope.root_id && wanted.iter().all(|word| title.contains(word))
    };
    scope.nodes.iter().filter(named).collect()
}

fn fold_words(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .map(|word| singular(&word.to_lowercase()).to_owned())
        .filter(|word| !word.is_empty() && !FILLERS.contains(&word.as_str()))
        .collect()
}

fn singular(word: &str) -> &str {
    let keeps = word.len() < 4 || word.ends_with("ss");
    if keeps { word } else { word.strip_suffix('s').unwrap_or(word) }
}

/// Returns the largest number that stands before a noun in a text: 60 in "chairs for 60 guests".
pub(super) fn largest_count(text: &str, noun: &str) -> Option<u32> {
    let words: Vec<String> = text
        .split(|letter: char| !(letter.is_alphanumeric() || letter == ','))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let pairs = words.windows(2);
    pairs
        .filter(|pair| is_noun(&pair[1], noun))
        .filter_map(|pair| pair[0].replace(',', "").parse().ok())
        .max()
}

fn is_noun(word: &str, noun: &str) -> bool {
    let people = noun == "person" && matches!(word, "people" | "persons");
    let children = noun == "child" && word == "children";
    let tail = word.strip_prefix(noun);
    people || children || tail.is_some_and(|tail| matches!(tail, "" | "s" | "es"))
}
