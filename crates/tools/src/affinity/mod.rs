//! How well a tool fits a task: features of the task description compared with the profile of the tool.

mod correlation;
mod derived_profile;
mod profiles;
mod rank;

use std::collections::BTreeSet;

pub use correlation::rank_correlation;
pub use derived_profile::derive_profile;
pub use profiles::{ProfileError, ToolProfiles};
pub use rank::{RankedTool, THRESHOLD, choose_tool, rank_tools};

use serde::{Deserialize, Serialize};

use planwright_model::tool_choice::ToolAffinity;

/// What is known about a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolProfile {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub supported_data_types: BTreeSet<String>,
    #[serde(default)]
    pub domains: BTreeSet<String>,
    /// The lowest and the highest complexity it supports, 1 to 5.
    #[serde(default = "any_complexity")]
    pub complexity_support: (u8, u8),
    #[serde(default = "unknown_share")]
    pub historical_accuracy: f64,
    #[serde(default)]
    pub average_latency_ms: f64,
    #[serde(default)]
    pub cost_per_token: f64,
    #[serde(default = "unknown_share")]
    pub reliability_score: f64,
    /// When the profile was last updated from a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<jiff::Timestamp>,
}

fn any_complexity() -> (u8, u8) {
    (1, 5)
}

/// Accuracy and reliability of a tool without any history.
fn unknown_share() -> f64 {
    0.5
}

impl ToolProfile {
    /// A profile without any history.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: String::new(),
            supported_data_types: BTreeSet::new(),
            domains: BTreeSet::new(),
            complexity_support: any_complexity(),
            historical_accuracy: unknown_share(),
            average_latency_ms: 0.0,
            cost_per_token: 0.0,
            reliability_score: unknown_share(),
            last_updated: None,
        }
    }

    /// Learns from a well-formed call. A call with invalid arguments shows nothing about the tool and is not passed
    /// here.
    pub fn learn_from_call(&mut self, ok: bool, confidence: f64, latency_ms: f64) {
        let blend = |old: f64, new: f64| 0.8 * old + 0.2 * new;
        self.historical_accuracy =
            blend(self.historical_accuracy, if ok { confidence.clamp(0.0, 1.0) } else { 0.0 });
        self.reliability_score = blend(self.reliability_score, if ok { 1.0 } else { 0.0 });
        self.average_latency_ms = blend(self.average_latency_ms, latency_ms);
    }
}

/// The features a task description requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionFeatures {
    pub data_types: BTreeSet<&'static str>,
    pub domains: BTreeSet<&'static str>,
    pub complexity: u8,
    /// `current` or `historical`, if the description implies it.
    pub tags: BTreeSet<&'static str>,
}

const DATA_TYPES: [(&str, &[&str]); 4] = [
    ("code", &["code", "function", "refactor", "compile", "test", "bug"]),
    ("table", &["csv", "dataset", "figures"]),
    ("image", &["picture", "diagram"]),
    ("web", &["search", "online", "latest", "current", "today"]),
];
const DOMAINS: [(&str, &[&str]); 4] = [
    ("technical", &["code", "api", "server", "deploy"]),
    ("scientific", &["study", "paper", "experiment", "data"]),
    ("business", &["market", "customer", "budget", "launch"]),
    ("personal", &["habit", "training", "family"]),
];
const HARD: [&str; 5] = ["compare", "analyse", "design", "prove", "migrate"];
const NOW: [&str; 3] = ["latest", "current", "today"];
const PAST: [&str; 4] = ["since", "history", "archive", "previously"];

/// Extracts the features of a description. `year` is the current one: an earlier year in the text means the past.
pub fn extract_features(description: &str, year: i16) -> DescriptionFeatures {
    let lower = description.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let any = |table: &[&str]| words.iter().any(|word| table.contains(word));
    let named = |table: &[(&'static str, &[&str])], otherwise: &'static str| {
        let found: BTreeSet<&'static str> =
            table.iter().filter(|(_, cues)| any(cues)).map(|(name, _)| *name).collect();
        if found.is_empty() { BTreeSet::from([otherwise]) } else { found }
    };
    let data_types = named(&DATA_TYPES, "text");
    let steps = [words.len() > 12, words.len() > 25, any(&HARD), data_types.len() >= 2];
    let complexity = 1 + steps.into_iter().filter(|step| *step).count() as u8;
    let mut tags = BTreeSet::new();
    if any(&NOW) {
        tags.insert("current");
    }
    if any(&PAST) || words.iter().any(|word| is_past_year(word, year)) {
        tags.insert("historical");
    }
    DescriptionFeatures {
        data_types,
        domains: named(&DOMAINS, "general"),
        complexity: complexity.clamp(1, 5),
        tags,
    }
}

/// Whether a word is a past year, and recent enough to be meant as one.
fn is_past_year(word: &str, year: i16) -> bool {
    word.len() == 4 && word.parse().is_ok_and(|found: i16| (1900..year).contains(&found))
}

/// Scores a tool for a task. `dearest` is the highest cost per token of all tools.
pub fn score_tool(
    features: &DescriptionFeatures,
    profile: &ToolProfile,
    context_tags: &[&str],
    dearest: f64,
) -> ToolAffinity {
    let types = supported_share(&features.data_types, &profile.supported_data_types);
    let domains = supported_share(&features.domains, &profile.domains);
    let fit = feature_fit(
        types,
        domains,
        complexity_fit(features.complexity, profile.complexity_support),
    );
    let past = 0.6 * profile.historical_accuracy + 0.4 * profile.reliability_score;
    ToolAffinity::from_parts(
        fit,
        past,
        context_share(context_tags, profile),
        cost_share(profile.cost_per_token, dearest),
    )
}

fn feature_fit(types: f64, domains: f64, complexity: f64) -> f64 {
    0.5 * types + 0.3 * domains + 0.2 * complexity
}

/// The supported fraction of the required features; 1 if nothing is required.
fn supported_share(needed: &BTreeSet<&'static str>, supported: &BTreeSet<String>) -> f64 {
    if needed.is_empty() {
        return 1.0;
    }
    needed.iter().filter(|name| supported.contains(**name)).count() as f64 / needed.len() as f64
}

fn complexity_fit(complexity: u8, (low, high): (u8, u8)) -> f64 {
    let distance = low.saturating_sub(complexity).max(complexity.saturating_sub(high));
    (1.0 - 0.25 * f64::from(distance)).max(0.0)
}

fn context_share(tags: &[&str], profile: &ToolProfile) -> f64 {
    if tags.is_empty() {
        return 0.5;
    }
    let knows = |tag: &&&str| {
        profile.supported_data_types.contains(**tag) || profile.domains.contains(**tag)
    };
    tags.iter().filter(knows).count() as f64 / tags.len() as f64
}

fn cost_share(cost: f64, dearest: f64) -> f64 {
    if dearest > 0.0 { 1.0 - cost / dearest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn example_15_the_score_of_a_tool_and_its_update() {
        let fit = feature_fit(1.0, 0.5, 1.0);
        let mut profile = ToolProfile::new("file.edit");
        profile.historical_accuracy = 0.8;
        profile.reliability_score = 0.9;
        let past = 0.6 * profile.historical_accuracy + 0.4 * profile.reliability_score;
        let affinity = ToolAffinity::from_parts(fit, past, 0.5, 0.75);
        assert!(
            near(affinity.fit, 0.85) && near(affinity.past, 0.84) && near(affinity.score, 0.767)
        );
        profile.learn_from_call(true, 1.0, 10.0);
        assert!(near(profile.historical_accuracy, 0.84) && near(profile.reliability_score, 0.92));
    }

    #[test]
    fn features_follow_the_keyword_tables() {
        let code = extract_features("Refactor the parser function and compile it", 2026);
        assert_eq!(code.data_types, BTreeSet::from(["code"]));
        assert_eq!((code.domains, code.complexity), (BTreeSet::from(["general"]), 1));
        let news = extract_features("Compare the latest market figures since 2020", 2026);
        assert_eq!(news.data_types, BTreeSet::from(["table", "web"]));
        assert_eq!(news.tags, BTreeSet::from(["current", "historical"]));
        assert_eq!(news.complexity, 3);
        assert_eq!(extract_features("", 2026).data_types, BTreeSet::from(["text"]));
    }

    #[test]
    fn a_past_year_is_history_and_the_present_one_is_not() {
        assert!(extract_features("Sales of 2019", 2026).tags.contains("historical"));
        assert!(extract_features("Sales of 2026", 2026).tags.is_empty());
        assert!(extract_features("Room 1234", 2026).tags.is_empty());
    }

    #[test]
    fn words_for_the_present_require_the_web() {
        let now = extract_features("What is the weather today", 2026);
        assert!(now.tags.contains("current") && now.data_types.contains("web"));
    }

    #[test]
    fn each_step_from_the_supported_complexity_costs_a_quarter() {
        assert!(near(complexity_fit(3, (2, 4)), 1.0));
        assert!(near(complexity_fit(1, (3, 4)), 0.5));
        assert!(near(complexity_fit(5, (1, 1)), 0.0));
    }

    proptest! {
        #[test]
        fn scores_stay_between_zero_and_one(text in ".{0,120}", accuracy in 0.0..1.0f64, cost in 0.0..9.0f64) {
            let mut profile = ToolProfile::new("x");
            profile.historical_accuracy = accuracy;
            profile.cost_per_token = cost;
            let affinity = score_tool(&extract_features(&text, 2026), &profile, &["web"], 9.0);
            prop_assert!((0.0..=1.0).contains(&affinity.score));
        }
    }
}
