//! What the example goals of the built-in kinds say about a goal.
//!
//! Match words look for what names a kind; a side word ("move our piano to Leeds") can mislead them. Here every word of a
//! goal counts, by how much more often it stands in the examples of one kind than in those of the others: naive Bayes over
//! word stems, pairs of neighbors and the first telling word, with rare features weighing more. It ranks kinds and never
//! names one alone: the ranking confirms or questions what the match words found, and fills the list that is asked about.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::super::blueprint::TemplateLibrary;
use crate::change_requests::stem_goal_word;
use crate::kind_words::BUILT_IN;

const EXAMPLES: &str = include_str!("../../../../../assets/blueprints/examples.txt");

/// Words that stand in goals of every kind.
const COMMON_WORDS: [&str; 44] = [
    "a", "an", "the", "to", "of", "in", "on", "at", "for", "and", "or", "with", "my", "our",
    "your", "we", "i", "me", "us", "it", "is", "are", "be", "that", "this", "by", "from", "before",
    "after", "until", "want", "need", "have", "has", "help", "get", "as", "so", "not", "i'd",
    "like", "would", "i'm", "i've",
];

/// How much a feature weighs: a word, the first telling word, a pair of neighbors.
const WORD: f32 = 1.0;
const FIRST_WORD: f32 = 0.7;
const PAIR: f32 = 0.6;
/// What is added to every count, and the sum of that over the features of a kind.
const SMOOTHING: f32 = 0.05;
const SMOOTHED_TOTAL: f32 = 100.0;
/// The most that rarity counts.
const MAX_RARITY: f32 = 6.0;

static MODEL: LazyLock<ExampleModel> = LazyLock::new(|| ExampleModel::train(EXAMPLES, &BUILT_IN));

/// The counts of all features by kind.
struct ExampleModel {
    kinds: Vec<&'static str>,
    /// Where a feature occurs, and how often.
    features: HashMap<String, Vec<(u16, f32)>>,
    totals: Vec<f32>,
}

/// Kinds by how well the words of a goal fit their examples, best first.
pub(super) struct ExampleRanking {
    order: Vec<&'static str>,
}

impl ExampleRanking {
    /// The place of a kind, from 0; `None` for a kind without examples, and for goals whose words no example has.
    pub(super) fn place(&self, kind: &str) -> Option<usize> {
        self.order.iter().position(|known| *known == kind)
    }

    pub(super) fn best_names(&self, count: usize) -> &[&'static str] {
        &self.order[..count.min(self.order.len())]
    }
}

/// Ranks the built-in kinds for a goal.
pub(super) fn rank_by_examples(text: &str) -> ExampleRanking {
    MODEL.rank(text)
}

impl ExampleModel {
    fn train(examples: &str, library: &'static TemplateLibrary) -> Self {
        let mut goals: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut kind = "";
        for line in examples.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix("= ") {
                Some(name) => kind = name,
                None => goals.entry(kind).or_default().push(line),
            }
        }
        let mut model = Self { kinds: Vec::new(), features: HashMap::new(), totals: Vec::new() };
        for file in library.all_blueprints() {
            model.kinds.push(&file.name);
            model.totals.push(0.0);
            model.count(file.label.get_ref(), 1.0);
            for (words, points) in file.match_words.get_ref() {
                model.count(words, (*points).min(12) as f32 / 5.0);
            }
            for goal in goals.get(file.name.as_str()).into_iter().flatten() {
                model.count(goal, 1.0);
            }
        }
        model
    }

    /// Counts the features of a text for the last kind.
    fn count(&mut self, text: &str, weight: f32) {
        let Some(last) = self.kinds.len().checked_sub(1) else { return };
        for (feature, share) in features(text) {
            let counts = self.features.entry(feature).or_default();
            match counts.last_mut().filter(|(kind, _)| usize::from(*kind) == last) {
                Some((_, count)) => *count += share * weight,
                None => counts.push((last as u16, share * weight)),
            }
            self.totals[last] += share * weight;
        }
    }

    fn rank(&self, text: &str) -> ExampleRanking {
        let mut scores = vec![0.0f32; self.kinds.len()];
        let mut known = 0.0;
        for (feature, share) in features(text) {
            let Some(counts) = self.features.get(&feature) else { continue };
            let rarity = (1.0 + self.kinds.len() as f32 / counts.len() as f32).ln();
            let weight = share * rarity.min(MAX_RARITY) / 3.0;
            known += weight;
            for (kind, count) in counts {
                scores[usize::from(*kind)] += weight * ((count + SMOOTHING).ln() - SMOOTHING.ln());
            }
        }
        for (score, total) in scores.iter_mut().zip(&self.totals) {
            *score -= known * (total + SMOOTHED_TOTAL).ln();
        }
        let mut order: Vec<usize> =
            if known > 0.0 { (0..self.kinds.len()).collect() } else { Vec::new() };
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        ExampleRanking { order: order.into_iter().map(|at| self.kinds[at]).collect() }
    }
}

/// The features of a text, each with its weight.
fn features(text: &str) -> BTreeMap<String, f32> {
    let lower = text.to_lowercase();
    let inner = |c: char| c.is_alphabetic() || matches!(c, '\'' | '+' | '#' | '-' | '.');
    let words = lower
        .split(|c: char| !inner(c))
        .map(|word| word.trim_matches(['\'', '-', '.']))
        .filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let stems: Vec<String> = words.iter().map(|word| stem_goal_word(word)).collect();
    let mut found = BTreeMap::new();
    let telling = words.iter().zip(&stems).filter(|(word, _)| !COMMON_WORDS.contains(word));
    for (at, (_, stem)) in telling.enumerate() {
        *found.entry(stem.clone()).or_insert(0.0) += WORD;
        if at == 0 {
            *found.entry(format!("^{stem}")).or_insert(0.0) += FIRST_WORD;
        }
    }
    for pair in stems.windows(2) {
        *found.entry(format!("{} {}", pair[0], pair[1])).or_insert(0.0) += PAIR;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_kind_has_examples_and_no_other_is_named() {
        let named: Vec<&str> =
            EXAMPLES.lines().filter_map(|line| line.strip_prefix("= ")).collect();
        for name in &named {
            assert!(MODEL.kinds.contains(name), "examples of an unknown kind {name}");
        }
        let missing: Vec<&&str> = MODEL.kinds.iter().filter(|kind| !named.contains(kind)).collect();
        assert!(missing.is_empty(), "no examples of {missing:?}");
    }

    #[test]
    fn side_words_do_not_decide() {
        let best = |goal: &str| rank_by_examples(goal).best_names(3).to_vec();
        assert!(best("move our piano and three kids to a bigger house").contains(&"move_house"));
        assert!(best("learn Japanese before my trip to Osaka").contains(&"learn_language"));
        assert!(rank_by_examples("qwertz 12 !!").best_names(6).is_empty());
    }
}
