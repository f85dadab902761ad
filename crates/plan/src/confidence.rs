//! The confidence of a planning stage in its result: the tool's own score, the rules, and measurable heuristics.

use serde::{Deserialize, Serialize};

use super::grammar::{PlanArtifacts, Stage, is_infeasible};
use planwright_model::{Severity, StrategyWeights, Violation};

mod terms;
#[cfg(test)]
mod tests;
mod words;

pub use terms::{ConfidenceFacts, needed_facts};
pub use words::{
    ConfidenceEvidence, ConfidenceLevel, ConfidenceSentence, DraftAuthor, describe_confidence,
    is_refuted,
};

pub use planwright_model::confidence::{Confidence, ConfidenceTerm, ConfidenceVerdict};

/// The thresholds and weights of this module, each under its name in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfidenceSettings {
    /// At or above this value a stage continues.
    pub confidence_continue: f64,
    /// Below this value a person is asked.
    pub confidence_escalate: f64,
    pub confidence_weights: ConfidenceWeights,
}

impl Default for ConfidenceSettings {
    fn default() -> Self {
        Self {
            confidence_continue: 0.70,
            confidence_escalate: 0.40,
            confidence_weights: ConfidenceWeights::default(),
        }
    }
}

/// The weight of each part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfidenceWeights {
    pub self_score: f64,
    pub rules: f64,
    pub heuristics: f64,
    /// The weight of the rules if no model was asked.
    pub offline_rules: f64,
    pub offline_heuristics: f64,
}

impl Default for ConfidenceWeights {
    fn default() -> Self {
        Self {
            self_score: 0.50,
            rules: 0.30,
            heuristics: 0.20,
            offline_rules: 0.60,
            offline_heuristics: 0.40,
        }
    }
}

fn build_term(name: &str, weight: f64, value: f64) -> ConfidenceTerm {
    ConfidenceTerm { name: name.to_owned(), weight, value: clamp_to_unit(value) }
}

/// Computes the confidence of a stage from its violations and its heuristics.
pub fn judge_stage(
    stage: Stage,
    plan: &PlanArtifacts,
    facts: &ConfidenceFacts,
    violations: &[Violation],
    self_score: Option<f64>,
    settings: &ConfidenceSettings,
) -> Confidence {
    let terms = terms::stage_terms(stage, plan, facts);
    let heuristics = clamp_to_unit(terms.iter().map(|term| term.weight * term.value).sum());
    Confidence { terms, ..combine_scores(stage, self_score, violations, heuristics, settings) }
}

/// Combines the parts into C.
pub fn combine_scores(
    stage: Stage,
    self_score: Option<f64>,
    violations: &[Violation],
    heuristics: f64,
    settings: &ConfidenceSettings,
) -> Confidence {
    let weights = settings.confidence_weights;
    let self_score = self_score.map(clamp_to_unit);
    let (rules, heuristics) = (rule_score(violations), clamp_to_unit(heuristics));
    let sum = match self_score {
        Some(own) => {
            weights.self_score * own + weights.rules * rules + weights.heuristics * heuristics
        }
        None => weights.offline_rules * rules + weights.offline_heuristics * heuristics,
    };
    let value = round_to_thousandth(sum);
    let verdict = confidence_verdict(value, settings);
    let clean = violations.iter().all(|found| found.severity == Severity::Warning);
    Confidence {
        stage,
        value,
        self_score,
        rules,
        heuristics,
        terms: Vec::new(),
        verdict,
        may_advance: clean && verdict == ConfidenceVerdict::Continue,
    }
}

/// Returns the verdict for a confidence, after rounding.
pub fn confidence_verdict(value: f64, settings: &ConfidenceSettings) -> ConfidenceVerdict {
    let value = round_to_thousandth(value);
    if value >= settings.confidence_continue {
        ConfidenceVerdict::Continue
    } else if value >= settings.confidence_escalate {
        ConfidenceVerdict::Retry
    } else {
        ConfidenceVerdict::Escalate
    }
}

/// R: 0 with any fatal violation, otherwise 1 minus a share for every broken rule and node.
pub fn rule_score(violations: &[Violation]) -> f64 {
    if violations.iter().any(|found| found.severity == Severity::Fatal || is_infeasible(found)) {
        return 0.0;
    }
    let count = |severity| {
        let found = violations.iter().filter(|found| found.severity == severity);
        let distinct: std::collections::BTreeSet<_> =
            found.map(|found| (&found.rule, &found.node_ids)).collect();
        distinct.len() as f64
    };
    let warnings = (0.03 * count(Severity::Warning)).min(0.15);
    (1.0 - 0.15 * count(Severity::Repairable) - warnings).max(0.0)
}

/// Returns the score of an option: what it achieves, how much slack it leaves, how little it affects other plans.
///
/// `conflict` is the share of planned minutes that overlap with other plans.
pub fn option_score(weights: &StrategyWeights, effort: f64, capacity: f64, conflict: f64) -> f64 {
    let weights = weights.normalized();
    let peak = if capacity > 0.0 { effort / capacity } else { f64::from(u8::from(effort > 0.0)) };
    weights.achievement * terms::effort_fit(effort, capacity)
        + weights.wellbeing * clamp_to_unit(1.0 - peak)
        + weights.portfolio * clamp_to_unit(1.0 - conflict)
}

fn clamp_to_unit(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

fn round_to_thousandth(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
