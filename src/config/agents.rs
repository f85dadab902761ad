//! Settings about how agents think: how much before they act, and when something small skips ceremony.

use std::collections::BTreeMap;

use serde::Serialize;

use super::SourcedSetting;
use planwright_model::ReasoningMode;

/// Everything about agents that can be set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentSettings {
    /// `auto`, `direct` or `dialectical`.
    pub reasoning_mode: SourcedSetting<ReasoningMode>,
    /// The most rounds of proposal, critique and synthesis.
    pub loops: SourcedSetting<u64>,
    /// Calls that only look and cost nothing, for each step.
    pub lookups_per_step: SourcedSetting<u64>,
    pub gate: GateSettings,
}

/// When the full run is worth its tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateSettings {
    /// Off means no gating: always the full run.
    pub policy_enabled: SourcedSetting<bool>,
    pub retrieval_overlap_threshold: SourcedSetting<f64>,
    pub nli_conflict_threshold: SourcedSetting<f64>,
    pub complexity_threshold: SourcedSetting<f64>,
    pub user_overrides: SourcedSetting<GateOverrides>,
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
            reasoning_mode: SourcedSetting::built_in(ReasoningMode::default()),
            loops: SourcedSetting::built_in(3),
            lookups_per_step: SourcedSetting::built_in(12),
            gate: GateSettings {
                policy_enabled: SourcedSetting::built_in(true),
                retrieval_overlap_threshold: SourcedSetting::built_in(0.60),
                nli_conflict_threshold: SourcedSetting::built_in(0.30),
                complexity_threshold: SourcedSetting::built_in(0.50),
                user_overrides: SourcedSetting::built_in(GateOverrides::default()),
            },
        }
    }
}
