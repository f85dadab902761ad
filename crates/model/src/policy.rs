//! How the person wants to be talked to and asked, and how hard a plan may push.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_meta])* $variant),+ }
    };
}

choice! {
    /// How much is said.
    ConversationStyle { Concise, #[default] Standard, Conversational, Coach }
}
choice! {
    /// How much happens without asking.
    Autonomy { High, #[default] Medium, Low }
}
choice! {
    /// When ideas are offered.
    BrainstormingPreference { OnDemand, #[default] SuggestWhenUncertain, AlwaysOffer }
}
choice! {
    /// How often approval is sought.
    ApprovalPolicy { SingleFinal, #[default] MilestoneApprovals, StrictEveryStep }
}
choice! {
    /// How it is said.
    Tone { Neutral, #[default] Friendly, Clinical }
}
choice! {
    /// How hard a plan pushes.
    StrategyMode { Push, Relax, #[default] Hybrid, Manual }
}
choice! {
    /// What happens to missed work.
    CatchUp { Compress, Extend, #[default] CompressThenExtend, Ask }
}

/// How the person wants to be talked to and asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InteractionPolicy {
    pub conversation_style: ConversationStyle,
    /// From 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub talkativeness: f64,
    pub autonomy: Autonomy,
    pub brainstorming_preference: BrainstormingPreference,
    pub approval_policy: ApprovalPolicy,
    /// The most questions in one round, from 0 to 3.
    #[schemars(range(max = 3))]
    pub probing_depth: u8,
    pub tone: Tone,
}

impl Default for InteractionPolicy {
    fn default() -> Self {
        Self {
            conversation_style: ConversationStyle::default(),
            talkativeness: 0.5,
            autonomy: Autonomy::default(),
            brainstorming_preference: BrainstormingPreference::default(),
            approval_policy: ApprovalPolicy::default(),
            probing_depth: 1,
            tone: Tone::default(),
        }
    }
}

/// The fields of a policy that somebody set: a session override, or the person's stored defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PolicyOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_style: Option<ConversationStyle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub talkativeness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autonomy: Option<Autonomy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brainstorming_preference: Option<BrainstormingPreference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<ApprovalPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probing_depth: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tone: Option<Tone>,
}

impl PolicyOverride {
    /// Both together; where both name a field, `later` wins.
    pub fn merged_with(&self, later: &Self) -> Self {
        Self {
            conversation_style: later.conversation_style.or(self.conversation_style),
            talkativeness: later.talkativeness.or(self.talkativeness),
            autonomy: later.autonomy.or(self.autonomy),
            brainstorming_preference: later
                .brainstorming_preference
                .or(self.brainstorming_preference),
            approval_policy: later.approval_policy.or(self.approval_policy),
            probing_depth: later.probing_depth.or(self.probing_depth),
            tone: later.tone.or(self.tone),
        }
    }
}

impl InteractionPolicy {
    /// Takes each field from the session, else from the stored defaults, else the built-in default.
    pub fn resolve(session: &PolicyOverride, stored: &PolicyOverride) -> Self {
        Self::default().with_overrides(stored).with_overrides(session)
    }

    /// Replaces the fields that `set` names; figures are clamped to their range.
    pub fn with_overrides(self, set: &PolicyOverride) -> Self {
        let talkativeness = set.talkativeness.filter(|value| !value.is_nan());
        Self {
            conversation_style: set.conversation_style.unwrap_or(self.conversation_style),
            talkativeness: talkativeness.unwrap_or(self.talkativeness).clamp(0.0, 1.0),
            autonomy: set.autonomy.unwrap_or(self.autonomy),
            brainstorming_preference: set
                .brainstorming_preference
                .unwrap_or(self.brainstorming_preference),
            approval_policy: set.approval_policy.unwrap_or(self.approval_policy),
            probing_depth: set.probing_depth.unwrap_or(self.probing_depth).min(3),
            tone: set.tone.unwrap_or(self.tone),
        }
    }
}

/// What counts how much when options are scored. Never negative; normalised to sum 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StrategyWeights {
    pub achievement: f64,
    pub portfolio: f64,
    pub wellbeing: f64,
}

impl Default for StrategyWeights {
    fn default() -> Self {
        Self { achievement: 0.5, portfolio: 0.2, wellbeing: 0.3 }
    }
}

impl StrategyWeights {
    /// The same proportions with sum 1. Negative and non-finite weights count as 0; if nothing is left, the default.
    pub fn normalized(self) -> Self {
        let usable = |weight: f64| if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        let [achievement, portfolio, wellbeing] =
            [self.achievement, self.portfolio, self.wellbeing].map(usable);
        let sum = achievement + portfolio + wellbeing;
        if sum <= 0.0 || !sum.is_finite() {
            return Self::default();
        }
        Self {
            achievement: achievement / sum,
            portfolio: portfolio / sum,
            wellbeing: wellbeing / sum,
        }
    }
}

/// How hard a plan pushes. What is not stated follows from the mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedStrategy")]
#[schemars(with = "StatedStrategy", rename = "StrategyProfile")]
pub struct StrategyProfile {
    pub mode: StrategyMode,
    pub weights: StrategyWeights,
    /// The share of the available time that may be planned.
    pub target_utilization: f64,
    /// The share of the horizon that is kept free before a deadline.
    pub buffer_ratio: f64,
    pub catch_up: CatchUp,
}

impl StrategyProfile {
    /// A profile with the mode's own figures.
    pub fn from_mode(mode: StrategyMode) -> Self {
        let (target_utilization, buffer_ratio, catch_up) = match mode {
            StrategyMode::Push => (0.90, 0.05, CatchUp::Compress),
            StrategyMode::Relax => (0.65, 0.20, CatchUp::Extend),
            StrategyMode::Hybrid => (0.80, 0.10, CatchUp::CompressThenExtend),
            StrategyMode::Manual => (0.80, 0.10, CatchUp::Ask),
        };
        Self {
            mode,
            weights: StrategyWeights::default(),
            target_utilization,
            buffer_ratio,
            catch_up,
        }
    }
}

impl Default for StrategyProfile {
    fn default() -> Self {
        Self::from_mode(StrategyMode::default())
    }
}

/// A profile as it is written down: everything but the mode may be left out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "StrategyProfile")]
struct StatedStrategy {
    mode: StrategyMode,
    weights: StrategyWeights,
    #[schemars(range(min = 0.0, max = 1.0))]
    target_utilization: Option<f64>,
    #[schemars(range(min = 0.0, max = 1.0))]
    buffer_ratio: Option<f64>,
    catch_up: Option<CatchUp>,
}

impl From<StatedStrategy> for StrategyProfile {
    fn from(stated: StatedStrategy) -> Self {
        let by_mode = Self::from_mode(stated.mode);
        let share = |value: Option<f64>, default: f64| {
            value.filter(|value| value.is_finite()).map_or(default, |value| value.clamp(0.0, 1.0))
        };
        Self {
            weights: stated.weights.normalized(),
            target_utilization: share(stated.target_utilization, by_mode.target_utilization),
            buffer_ratio: share(stated.buffer_ratio, by_mode.buffer_ratio),
            catch_up: stated.catch_up.unwrap_or(by_mode.catch_up),
            mode: stated.mode,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_comes_from_the_session_then_the_stored_default_then_the_built_in_one() {
        let stored = PolicyOverride {
            tone: Some(Tone::Clinical),
            talkativeness: Some(0.9),
            ..PolicyOverride::default()
        };
        let session = PolicyOverride { talkativeness: Some(7.0), ..PolicyOverride::default() };
        let policy = InteractionPolicy::resolve(&session, &stored);
        assert_eq!(policy.tone, Tone::Clinical);
        assert!((policy.talkativeness - 1.0).abs() < 1e-9);
        assert_eq!(policy.approval_policy, ApprovalPolicy::MilestoneApprovals);
    }

    #[test]
    fn a_strategy_takes_its_figures_from_its_mode() {
        let relax: StrategyProfile = serde_json::from_str(r#"{"mode":"relax"}"#).unwrap();
        assert_eq!(relax, StrategyProfile::from_mode(StrategyMode::Relax));
        let own: StrategyProfile =
            serde_json::from_str(r#"{"mode":"push","buffer_ratio":0.3}"#).unwrap();
        assert!((own.buffer_ratio - 0.3).abs() < 1e-9);
        assert!((own.target_utilization - 0.9).abs() < 1e-9);
        let json = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<StrategyProfile>(&json).unwrap(), own);
    }

    #[test]
    fn weights_are_normalised() {
        let weights =
            StrategyWeights { achievement: 2.0, wellbeing: 2.0, portfolio: -1.0 }.normalized();
        assert_eq!(weights, StrategyWeights { achievement: 0.5, wellbeing: 0.5, portfolio: 0.0 });
        let none = StrategyWeights { achievement: 0.0, wellbeing: f64::NAN, portfolio: 0.0 };
        assert_eq!(none.normalized(), StrategyWeights::default());
    }
}
