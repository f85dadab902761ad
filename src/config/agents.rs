//! Settings about how agents think: how much before they act, and when something small skips ceremony.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Sourced;
use planwright_model::ReasoningMode;

/// Everything about agents that can be set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentSettings {
    /// `auto`, `direct` or `dialectical`.
    pub reasoning_mode: Sourced<ReasoningMode>,
    /// The most rounds of proposal, critique and synthesis.
    pub loops: Sourced<u64>,
    /// Calls that only look and cost nothing, for each step.
    pub lookups_per_step: Sourced<u64>,
    pub gate: GateSettings,
}

/// When the full run is worth its tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateSettings {
    /// Off means no gating: always the full run.
    pub policy_enabled: Sourced<bool>,
    pub retrieval_overlap_threshold: Sourced<f64>,
    pub nli_conflict_threshold: Sourced<f64>,
    pub complexity_threshold: Sourced<f64>,
    pub user_overrides: Sourced<GateOverrides>,
}

/// A decision made beforehand, or signals pinned to a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GateOverrides {
    /// `force_exit` or `force_full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub signals: BTreeMap<String, f64>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            reasoning_mode: Sourced::built_in(ReasoningMode::default()),
            loops: Sourced::built_in(3),
            lookups_per_step: Sourced::built_in(12),
            gate: GateSettings {
                policy_enabled: Sourced::built_in(true),
                retrieval_overlap_threshold: Sourced::built_in(0.60),
                nli_conflict_threshold: Sourced::built_in(0.30),
                complexity_threshold: Sourced::built_in(0.50),
                user_overrides: Sourced::built_in(GateOverrides::default()),
            },
        }
    }
}
