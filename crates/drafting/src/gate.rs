//! The scout gate: decides whether one quick draft is enough or a full run is worth its tokens.

mod complexity;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use planwright_model::ScoutGateMode;
use planwright_model::gate::{GateDecision, GateRationale, GateSignals, GateThresholds};

pub use complexity::{GoalFeatures, count_features, score_complexity};

/// The default number of rounds in a full run.
pub const LOOPS: u64 = 3;

/// A decision that the person made in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForcedGateDecision {
    ForceExit,
    /// Also known as `force_debate`.
    #[serde(alias = "force_debate")]
    ForceFull,
}

/// `gate_user_overrides`: a forced decision, or signals pinned to a value. The decision takes precedence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatePolicyOverrides {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ForcedGateDecision>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub signals: BTreeMap<String, f64>,
}

/// The gate's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatePolicy {
    /// `gate_policy_enabled`: if false, there is no gating and always a full run.
    pub enabled: bool,
    pub thresholds: GateThresholds,
    pub overrides: GatePolicyOverrides,
}

impl Default for GatePolicy {
    fn default() -> Self {
        Self {
            enabled: true,
            thresholds: GateThresholds::default(),
            overrides: GatePolicyOverrides::default(),
        }
    }
}

impl GatePolicy {
    /// Returns the same policy with the mode of another decision: forced, disabled, or left to the signals.
    pub fn with_decision(&self, decision: &GateDecision) -> Self {
        let mut policy = self.clone();
        policy.set_mode(decision.gate_mode());
        policy
    }

    /// Replaces the previous mode with the person's decision.
    pub fn set_mode(&mut self, when: ScoutGateMode) {
        self.enabled = when != ScoutGateMode::Off;
        self.overrides.decision = match when {
            ScoutGateMode::Auto | ScoutGateMode::Off => None,
            ScoutGateMode::ForceExit => Some(ForcedGateDecision::ForceExit),
            ScoutGateMode::ForceFull => Some(ForcedGateDecision::ForceFull),
        };
    }
}

/// Decides. `loops` are those of the full run, `budget` its tokens.
pub fn decide_gate(
    policy: &GatePolicy,
    signals: GateSignals,
    loops: u64,
    budget: Option<u64>,
) -> GateDecision {
    let heuristics = pin_signals(signals, &policy.overrides.signals);
    let rationales = build_rationales(heuristics, policy.thresholds);
    let triggered: Vec<&str> = rationales
        .iter()
        .filter(|(_, rationale)| rationale.triggered)
        .map(|(name, _)| name.as_str())
        .collect();
    let (should_escalate, reason) = match (policy.enabled, policy.overrides.decision) {
        (false, _) => (true, "policy_disabled".to_owned()),
        (true, Some(ForcedGateDecision::ForceExit)) => (false, "force_exit".to_owned()),
        (true, Some(ForcedGateDecision::ForceFull)) => (true, "force_full".to_owned()),
        (true, None) if triggered.is_empty() => (false, "no_signal".to_owned()),
        (true, None) => (true, triggered.join(", ")),
    };
    let target_loops = if should_escalate { loops } else { loops.min(1) };
    let share = budget.unwrap_or(0) / loops.max(1);
    GateDecision {
        should_escalate,
        target_loops,
        heuristics,
        thresholds: policy.thresholds,
        reason,
        tokens_saved: (loops - target_loops).saturating_mul(share),
        rationales,
    }
}

/// Decides again using the signals of an earlier decision.
pub fn redecide_gate(decision: &GateDecision, when: ScoutGateMode) -> GateDecision {
    let mut policy = GatePolicy { thresholds: decision.thresholds, ..GatePolicy::default() };
    policy.set_mode(when);
    decide_gate(&policy, decision.heuristics, decision.target_loops.max(LOOPS), None)
}

fn pin_signals(signals: GateSignals, pins: &BTreeMap<String, f64>) -> GateSignals {
    let pin = |name: &str, value| pins.get(name).copied().or(value);
    GateSignals {
        overlap: pin("overlap", signals.overlap),
        conflict: pin("conflict", signals.conflict),
        complexity: pin("complexity", signals.complexity),
    }
}

fn build_rationales(
    signals: GateSignals,
    thresholds: GateThresholds,
) -> BTreeMap<String, GateRationale> {
    let rationale = |value: Option<f64>, threshold: f64, comparator: &str| {
        let triggered = value.is_some_and(|value| match comparator {
            "<" => value < threshold,
            _ => value >= threshold,
        });
        GateRationale { value, threshold, comparator: comparator.to_owned(), triggered }
    };
    BTreeMap::from([
        ("overlap".to_owned(), rationale(signals.overlap, thresholds.overlap, "<")),
        ("conflict".to_owned(), rationale(signals.conflict, thresholds.conflict, ">=")),
        ("complexity".to_owned(), rationale(signals.complexity, thresholds.complexity, ">=")),
    ])
}

/// Returns the mean pairwise Jaccard overlap of samples, each a list of task titles or source ids. One sample is not
/// enough.
pub fn sample_overlap(samples: &[Vec<String>]) -> Option<f64> {
    let sets: Vec<std::collections::BTreeSet<String>> = samples
        .iter()
        .map(|titles| titles.iter().map(|title| normalize_title(title)).collect())
        .collect();
    let mut scores = Vec::new();
    for (position, one) in sets.iter().enumerate() {
        for two in &sets[position + 1..] {
            let union = one.union(two).count();
            let shared = one.intersection(two).count();
            scores.push(if union == 0 { 1.0 } else { shared as f64 / union as f64 });
        }
    }
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

/// Returns lowercase words, separated by single spaces.
fn normalize_title(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the share of stated constraints that a draft breaks; 0 if none were stated.
pub fn conflict_share(broken: usize, stated: usize) -> f64 {
    if stated == 0 { 0.0 } else { broken as f64 / stated as f64 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn signals(overlap: f64, conflict: f64, complexity: f64) -> GateSignals {
        GateSignals {
            overlap: Some(overlap),
            conflict: Some(conflict),
            complexity: Some(complexity),
        }
    }

    fn gate(policy: &GatePolicy, signals: GateSignals) -> GateDecision {
        decide_gate(policy, signals, 3, Some(900))
    }

    #[test]
    fn example_14_gate_exits_or_escalates_by_its_signals() {
        let policy = GatePolicy::default();
        let exit = gate(&policy, signals(0.62, 0.10, 0.30));
        assert_eq!((exit.should_escalate, exit.target_loops, exit.tokens_saved), (false, 1, 600));
        let complex = gate(&policy, signals(0.62, 0.10, 0.50));
        assert_eq!((complex.should_escalate, complex.tokens_saved), (true, 0));
        assert_eq!(complex.reason, "complexity");
        let scattered = gate(&policy, signals(0.59, 0.0, 0.0));
        assert_eq!((scattered.should_escalate, scattered.target_loops), (true, 3));
    }

    #[test]
    fn unmeasured_signals_do_not_trigger() {
        let decision = gate(&GatePolicy::default(), GateSignals::default());
        assert_eq!((decision.should_escalate, decision.reason.as_str()), (false, "no_signal"));
        assert!(!decision.rationales["overlap"].triggered);
    }

    #[test]
    fn without_the_policy_the_run_is_always_full() {
        let policy = GatePolicy { enabled: false, ..GatePolicy::default() };
        let decision = gate(&policy, signals(1.0, 0.0, 0.0));
        assert_eq!((decision.should_escalate, decision.reason.as_str()), (true, "policy_disabled"));
    }

    #[test]
    fn overrides_pin_signals_and_a_decision_takes_precedence() {
        let read = |value| serde_json::from_value::<GatePolicyOverrides>(value).unwrap();
        let with = |overrides| GatePolicy { overrides, ..GatePolicy::default() };
        let calm = signals(0.9, 0.0, 0.0);
        let pinned = with(read(json!({"signals": {"conflict": 0.3}})));
        assert_eq!(gate(&pinned, calm).reason, "conflict");
        let forced = with(read(json!({"decision": "force_exit", "signals": {"conflict": 1.0}})));
        assert!(!gate(&forced, calm).should_escalate);
        let debate = with(read(json!({"decision": "force_debate"})));
        assert_eq!(gate(&debate, calm).reason, "force_full");
    }

    #[test]
    fn overlap_is_the_mean_jaccard_of_titles() {
        let list = |titles: &[&str]| titles.iter().map(|title| (*title).to_owned()).collect();
        assert_eq!(sample_overlap(&[list(&["a"])]), None);
        let score =
            sample_overlap(&[list(&["Write it!", "b"]), list(&["write  it", "c"])]).unwrap();
        assert!((score - 1.0 / 3.0).abs() < 1e-9);
        assert!((conflict_share(1, 4) - 0.25).abs() < 1e-9);
        assert!(conflict_share(0, 0).abs() < 1e-9);
    }
}
