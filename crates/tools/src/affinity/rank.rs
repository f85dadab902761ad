//! Ranks tools for a task and chooses one.

use std::collections::{BTreeMap, BTreeSet};

use super::{DescriptionFeatures, ToolProfile, score_tool};
use planwright_model::tool_choice::ToolAffinity;

/// The lowest score with which a tool may be used.
pub const THRESHOLD: f64 = 0.30;

/// A tool with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedTool {
    pub tool: String,
    pub affinity: ToolAffinity,
    /// The score was given by the plan.
    pub given: bool,
}

/// Scores tools, best first, ties by name. A score given by the plan overrides the computed one; if the plan names
/// tools, only those and the scored ones are considered.
pub fn rank_tools(
    features: &DescriptionFeatures,
    profiles: &[&ToolProfile],
    given: &BTreeMap<String, f64>,
    only: &[String],
) -> Vec<RankedTool> {
    let only: BTreeSet<&String> = only.iter().collect();
    let dearest = profiles.iter().map(|profile| profile.cost_per_token).fold(0.0, f64::max);
    let tags: Vec<&str> = features.tags.iter().copied().collect();
    let mut ranked: Vec<RankedTool> = profiles
        .iter()
        .filter(|profile| {
            only.is_empty() || only.contains(&profile.name) || given.contains_key(&profile.name)
        })
        .map(|profile| {
            let mut affinity = score_tool(features, profile, &tags, dearest);
            let stated = given.get(&profile.name).filter(|score| !score.is_nan());
            if let Some(score) = stated {
                affinity.score = score.clamp(0.0, 1.0);
            }
            RankedTool { tool: profile.name.clone(), affinity, given: stated.is_some() }
        })
        .collect();
    ranked.sort_by(|one, other| {
        other.affinity.score.total_cmp(&one.affinity.score).then_with(|| one.tool.cmp(&other.tool))
    });
    ranked
}

/// The best tool at or above the threshold whose breaker is not open, and why others were excluded.
pub fn choose_tool(
    ranked: &[RankedTool],
    breaker_open: impl Fn(&str) -> bool,
) -> (Option<&RankedTool>, Vec<(String, String)>) {
    let mut left_out = Vec::new();
    let mut chosen = None;
    for candidate in ranked {
        let reason = if breaker_open(&candidate.tool) {
            "breaker_open"
        } else if candidate.affinity.score < THRESHOLD {
            "below_threshold"
        } else {
            chosen = chosen.or(Some(candidate));
            continue;
        };
        left_out.push((candidate.tool.clone(), reason.to_owned()));
    }
    (chosen, left_out)
}

#[cfg(test)]
mod tests {
    use super::super::{extract_features, rank_correlation};
    use super::*;

    fn profile(name: &str) -> ToolProfile {
        let mut profile = ToolProfile::new(name);
        profile.supported_data_types.insert("text".into());
        profile.domains.insert("general".into());
        profile
    }

    #[test]
    fn a_given_score_wins_and_named_tools_limit_the_choice() {
        let (a, b, c) = (profile("a"), profile("b"), profile("c"));
        let all = [&a, &b, &c];
        let features = extract_features("Tidy up", 2026);
        let given = BTreeMap::from([("c".to_owned(), 0.95)]);
        let ranked = rank_tools(&features, &all, &given, &[]);
        assert_eq!((ranked[0].tool.as_str(), ranked[0].given), ("c", true));
        assert_eq!(ranked[1].tool, "a");
        let limited = rank_tools(&features, &all, &BTreeMap::new(), &["b".to_owned()]);
        assert_eq!(limited.iter().map(|ranked| ranked.tool.as_str()).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn an_open_breaker_and_a_low_score_exclude_a_tool() {
        let (a, b) = (profile("a"), profile("b"));
        let given = BTreeMap::from([("a".to_owned(), 0.9), ("b".to_owned(), 0.2)]);
        let ranked = rank_tools(&extract_features("x", 2026), &[&a, &b], &given, &[]);
        let (chosen, left_out) = choose_tool(&ranked, |tool| tool == "a");
        assert_eq!(chosen, None);
        assert_eq!(
            left_out,
            [("a".into(), "breaker_open".into()), ("b".into(), "below_threshold".into())]
        );
        assert_eq!(choose_tool(&ranked, |_| false).0.map(|ranked| ranked.tool.as_str()), Some("a"));
    }

    #[test]
    fn after_twenty_calls_with_one_tool_failing_the_other_is_preferred() {
        let (mut a, mut b) = (profile("a"), profile("b"));
        let features = extract_features("Tidy up", 2026);
        let first = |a: &ToolProfile, b: &ToolProfile| {
            rank_tools(&features, &[a, b], &BTreeMap::new(), &[])[0].tool.clone()
        };
        assert_eq!(first(&a, &b), "a");
        for _ in 0..10 {
            a.learn_from_call(false, 0.0, 10.0);
            b.learn_from_call(true, 0.9, 10.0);
        }
        assert_eq!(first(&a, &b), "b");
    }

    /// Row 50: 200 calls of tools with different quality, on tasks that suit them to different degrees.
    #[test]
    fn the_rank_correlation_is_higher_with_history() {
        let quality = [0.05, 0.3, 0.55, 0.8, 1.0];
        let mut learning: Vec<ToolProfile> = (0..5).map(|at| profile(&format!("t{at}"))).collect();
        let still = learning.clone();
        let texts = [
            "Tidy up the notes",
            "Compare the latest figures online",
            "Fix the bug in the parser function",
        ];
        let (mut with, mut without) = (Vec::new(), Vec::new());
        // A fixed generator, so that the history is always the same.
        let mut seed = 7_u64;
        for call in 0..200 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let luck = ((seed >> 33) % 1000) as f64 / 1000.0 - 0.5;
            let at = call % 5;
            let features = extract_features(texts[call % 3], 2026);
            let score = |profile: &ToolProfile| score_tool(&features, profile, &[], 0.0);
            let fit = score(&still[at]).fit;
            let came_out = (0.6 * quality[at] + 0.4 * fit + 0.4 * luck).clamp(0.0, 1.0);
            let ok = came_out > 0.35;
            with.push((score(&learning[at]).score, if ok { came_out } else { 0.0 }));
            without.push((score(&still[at]).score, if ok { came_out } else { 0.0 }));
            learning[at].learn_from_call(ok, came_out, 10.0);
        }
        let with = rank_correlation(&with).unwrap();
        let without = rank_correlation(&without).unwrap();
        assert!(with >= 0.5 && with > without, "{with} with history, {without} without");
    }
}
