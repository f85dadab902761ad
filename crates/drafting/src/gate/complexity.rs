//! Estimates the complexity of a goal from its words alone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Words that chain one step to another.
const CHAINS: [&str; 3] = ["then", "after", "before"];
/// Verbs that each represent a piece of work.
const CUES: [&str; 48] = [
    "add",
    "analyse",
    "analyze",
    "announce",
    "audit",
    "book",
    "build",
    "buy",
    "check",
    "clean",
    "collect",
    "compare",
    "create",
    "deploy",
    "design",
    "document",
    "draft",
    "find",
    "fix",
    "implement",
    "improve",
    "install",
    "launch",
    "learn",
    "measure",
    "migrate",
    "move",
    "organise",
    "organize",
    "plan",
    "port",
    "practise",
    "prepare",
    "prove",
    "publish",
    "read",
    "refactor",
    "release",
    "remove",
    "research",
    "review",
    "run",
    "send",
    "ship",
    "test",
    "train",
    "update",
    "write",
];

/// The features counted in a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalFeatures {
    /// "then", "after" and "before", and listed items except the first.
    pub steps_chained: usize,
    /// Distinct capitalized, quoted or path-like tokens.
    pub entities: usize,
    /// Verbs of the cue table.
    pub clauses: usize,
    pub tokens: usize,
}

/// Returns the complexity of a goal, from 0 to 1.
pub fn score_complexity(features: GoalFeatures) -> f64 {
    let share = |count: usize, full: f64| (count as f64 / full).min(1.0);
    0.4 * share(features.steps_chained, 3.0)
        + 0.3 * share(features.entities, 10.0)
        + 0.2 * share(features.clauses, 5.0)
        + 0.1 * share(features.tokens, 200.0)
}

/// Counts the features of a goal.
pub fn count_features(goal: &str) -> GoalFeatures {
    let tokens: Vec<&str> = goal.split_whitespace().collect();
    let words: Vec<String> =
        tokens.iter().map(|token| trim_punctuation(token).to_lowercase()).collect();
    let links = words.iter().filter(|word| CHAINS.contains(&word.as_str())).count();
    GoalFeatures {
        steps_chained: links + count_list_items(goal).saturating_sub(1),
        entities: find_entities(goal, &tokens).len(),
        clauses: words.iter().filter(|word| CUES.contains(&word.as_str())).count(),
        tokens: tokens.len(),
    }
}

fn trim_punctuation(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Counts the lines that start with a bullet or a number.
fn count_list_items(goal: &str) -> usize {
    goal.lines().filter(|line| is_list_item(line.trim_start())).count()
}

fn is_list_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if digits > 0 {
        line[digits..].strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+'])
    };
    rest.is_some_and(|rest| rest.starts_with(' '))
}

fn find_entities(goal: &str, tokens: &[&str]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = quoted_texts(goal).map(str::to_lowercase).collect();
    let mut starts_sentence = true;
    for token in tokens {
        let word = trim_punctuation(token);
        let capitalized = word.starts_with(char::is_uppercase) && !starts_sentence;
        if !word.is_empty()
            && (capitalized
                || is_path_like(token.trim_matches(['"', '\'', '`', ',', ';', ':', '.'])))
        {
            found.insert(word.to_lowercase());
        }
        starts_sentence = token.ends_with(['.', '!', '?']) || (word.is_empty() && starts_sentence);
    }
    found
}

/// Returns the texts between pairs of double quotes or backticks.
fn quoted_texts(goal: &str) -> impl Iterator<Item = &str> {
    let between = |quote: char| goal.split(quote).skip(1).step_by(2);
    let closed = |quote: char| goal.matches(quote).count() / 2;
    let double = between('"').take(closed('"'));
    double.chain(between('`').take(closed('`'))).map(str::trim).filter(|text| !text.is_empty())
}

/// Matches `src/main.rs`, `notes.md` or `crate::module`, but not "and/or." at the end of a sentence.
fn is_path_like(token: &str) -> bool {
    let separated = token.contains('/') || token.contains("::");
    let named = token.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.chars().all(char::is_alphanumeric)
    });
    (separated || named) && token.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_the_features_of_a_goal() {
        let goal = "Build the parser, then test it on Linux and \"old files\" in src/main.rs before the release";
        assert_eq!(
            count_features(goal),
            GoalFeatures { steps_chained: 2, entities: 3, clauses: 3, tokens: 16 }
        );
    }

    #[test]
    fn listed_items_except_the_first_are_steps() {
        assert_eq!(count_features("Do:\n- one\n- two\n3. three\n").steps_chained, 2);
        assert_eq!(count_features("- one").steps_chained, 0);
    }

    #[test]
    fn a_short_goal_is_simple_and_a_long_one_complex() {
        assert!(score_complexity(count_features("call the dentist")) < 0.1);
        let full = GoalFeatures { steps_chained: 9, entities: 99, clauses: 9, tokens: 999 };
        assert!((score_complexity(full) - 1.0).abs() < 1e-9);
        let half = GoalFeatures { steps_chained: 3, entities: 0, clauses: 2, tokens: 40 };
        assert!((score_complexity(half) - 0.5).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn any_goal_has_a_complexity_from_zero_to_one(goal in "\\PC{0,200}|([a-zA-Z\"`./: \n-]){0,200}") {
            let score = score_complexity(count_features(&goal));
            prop_assert!((0.0..=1.0 + 1e-9).contains(&score));
        }
    }
}
