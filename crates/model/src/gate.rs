//! What the scout gate saw and decided, as it is journaled. How it decides is for drafting.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ScoutGateMode;

/// What a draft looked like. A signal that was not measured does not trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GateSignals {
    /// How much the samples agree; needs at least two of them.
    pub overlap: Option<f64>,
    /// The share of stated constraints that the draft breaks.
    pub conflict: Option<f64>,
    pub complexity: Option<f64>,
}

/// When a signal asks for the full run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct GateThresholds {
    /// `gate_retrieval_overlap_threshold`.
    pub overlap: f64,
    /// `gate_nli_conflict_threshold`.
    pub conflict: f64,
    /// `gate_complexity_threshold`.
    pub complexity: f64,
}

impl Default for GateThresholds {
    fn default() -> Self {
        Self { overlap: 0.60, conflict: 0.30, complexity: 0.50 }
    }
}

/// Why one signal did or did not ask for the full run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GateRationale {
    pub value: Option<f64>,
    pub threshold: f64,
    pub comparator: String,
    pub triggered: bool,
}

/// What the gate decided and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct GateDecision {
    pub should_escalate: bool,
    pub target_loops: u64,
    pub heuristics: GateSignals,
    pub thresholds: GateThresholds,
    /// `policy_disabled`, `force_exit`, `force_full`, the signals that triggered, or `no_signal`.
    pub reason: String,
    pub tokens_saved: u64,
    pub rationales: BTreeMap<String, GateRationale>,
}

impl Default for GateDecision {
    /// A row that does not say whether a single pass is enough must not skip anything: the full run is the safe reading.
    fn default() -> Self {
        Self {
            should_escalate: true,
            target_loops: 0,
            heuristics: GateSignals::default(),
            thresholds: GateThresholds::default(),
            reason: String::new(),
            tokens_saved: 0,
            rationales: BTreeMap::new(),
        }
    }
}

impl GateDecision {
    /// What the person had set when it was made.
    pub fn gate_mode(&self) -> ScoutGateMode {
        match self.reason.as_str() {
            "policy_disabled" => ScoutGateMode::Off,
            "force_exit" => ScoutGateMode::ForceExit,
            "force_full" => ScoutGateMode::ForceFull,
            _ => ScoutGateMode::Auto,
        }
    }
}
