//! Settings about planning: its limits, what a model may propose, and how the person wants to be talked to.

use serde::Serialize;

use super::SourcedSetting;
use planwright_model::{PlanLimits, PolicyOverride};

/// Everything about planning that can be set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanningSettings {
    /// Drafts between two words of the person's.
    pub turn_limit: SourcedSetting<u64>,
    pub retry_limit_per_stage: SourcedSetting<u64>,
    pub clarify_round_limit: SourcedSetting<u64>,
    pub continue_limit: SourcedSetting<u64>,
    pub unparsed_limit: SourcedSetting<u64>,
    pub revision_limit: SourcedSetting<u64>,
    pub escalation_round_limit: SourcedSetting<u64>,
    /// Seconds of work between two words of the person's.
    pub segment_max_sec: SourcedSetting<u64>,
    /// Whether a subtype that is not known may be proposed.
    pub allow_new_subtype_proposals: SourcedSetting<bool>,
    /// Off uses a proposed subtype at once and flags it on the next card.
    pub require_rfc_for_new_subtype: SourcedSetting<bool>,
    /// What the person wants wherever they stored or said nothing else.
    pub policy: SourcedSetting<PolicyOverride>,
}

impl Default for PlanningSettings {
    fn default() -> Self {
        let limits = PlanLimits::default();
        Self {
            turn_limit: SourcedSetting::built_in(limits.turn_limit.into()),
            retry_limit_per_stage: SourcedSetting::built_in(limits.retry_limit_per_stage.into()),
            clarify_round_limit: SourcedSetting::built_in(limits.clarify_round_limit.into()),
            continue_limit: SourcedSetting::built_in(limits.continue_limit.into()),
            unparsed_limit: SourcedSetting::built_in(limits.unparsed_limit.into()),
            revision_limit: SourcedSetting::built_in(limits.revision_limit.into()),
            escalation_round_limit: SourcedSetting::built_in(limits.escalation_round_limit.into()),
            segment_max_sec: SourcedSetting::built_in(limits.segment_max_sec),
            allow_new_subtype_proposals: SourcedSetting::built_in(true),
            require_rfc_for_new_subtype: SourcedSetting::built_in(true),
            policy: SourcedSetting::built_in(PolicyOverride::default()),
        }
    }
}

impl PlanningSettings {
    /// The limits of a conversation.
    pub fn limits(&self) -> PlanLimits {
        let small =
            |setting: &SourcedSetting<u64>| u32::try_from(setting.value).unwrap_or(u32::MAX);
        PlanLimits {
            turn_limit: small(&self.turn_limit),
            retry_limit_per_stage: small(&self.retry_limit_per_stage),
            clarify_round_limit: small(&self.clarify_round_limit),
            continue_limit: small(&self.continue_limit),
            unparsed_limit: small(&self.unparsed_limit),
            revision_limit: small(&self.revision_limit),
            escalation_round_limit: small(&self.escalation_round_limit),
            wall_time_sec: None,
            segment_max_sec: self.segment_max_sec.value,
        }
    }
}
