//! Plan patterns: the five shapes a plan can have, their subtypes, and how one was chosen.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NodeOrigin;
use super::task::is_default;

/// The shape of a plan. Nothing else parses; a new shape needs a person's approval.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PatternType {
    /// A one-off project with ordered phases and an end.
    MilestoneProject,
    /// A routine that repeats.
    RecurringCycle,
    /// Phases that build on each other, as in learning or training.
    ProgressiveAccumulationArc,
    /// Rounds, each with stages and a result.
    HybridProjectCycle,
    /// Parallel streams over a long time.
    StrategicTransformation,
}

impl PatternType {
    /// All patterns, in the order that breaks ties.
    pub const ALL: [Self; 5] = [
        Self::MilestoneProject,
        Self::RecurringCycle,
        Self::ProgressiveAccumulationArc,
        Self::HybridProjectCycle,
        Self::StrategicTransformation,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::MilestoneProject => "milestone_project",
            Self::RecurringCycle => "recurring_cycle",
            Self::ProgressiveAccumulationArc => "progressive_accumulation_arc",
            Self::HybridProjectCycle => "hybrid_project_cycle",
            Self::StrategicTransformation => "strategic_transformation",
        }
    }

    /// The pattern with exactly this wire name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pattern| pattern.as_str() == name)
    }

    /// What a plan of this shape is called if its subtype has no name of its own.
    pub fn kind_noun(self) -> &'static str {
        match self {
            Self::MilestoneProject => "project",
            Self::RecurringCycle => "routine",
            Self::ProgressiveAccumulationArc => "course",
            Self::HybridProjectCycle => "series",
            Self::StrategicTransformation => "long-term change",
        }
    }

    /// The built-in subtypes.
    pub fn subtypes(self) -> &'static [&'static str] {
        match self {
            Self::MilestoneProject => &[
                "launch",
                "migration",
                "generic",
                "event",
                "writing",
                "purchase",
                "build",
                "quick",
            ],
            Self::RecurringCycle => &["review_routine", "protocol_routine", "habit", "maintenance"],
            Self::ProgressiveAccumulationArc => &[
                "learning_arc",
                "training_arc",
                "creative_arc",
                "career_arc",
                "therapeutic_arc",
                "financial_arc",
            ],
            Self::HybridProjectCycle => &["project_per_period", "content_series", "sprint_cadence"],
            Self::StrategicTransformation => {
                &["role_change", "organisation_change", "platform_change"]
            }
        }
    }
}

impl fmt::Display for PatternType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What people call the built-in subtypes.
const KIND_NOUNS: [(&str, &str); 24] = [
    ("launch", "launch"),
    ("migration", "migration"),
    ("generic", "project"),
    ("event", "event"),
    ("writing", "text"),
    ("purchase", "purchase"),
    ("build", "build"),
    ("quick", "small task"),
    ("review_routine", "review routine"),
    ("protocol_routine", "health routine"),
    ("habit", "habit"),
    ("maintenance", "maintenance routine"),
    ("learning_arc", "course"),
    ("training_arc", "training"),
    ("creative_arc", "creative practice"),
    ("career_arc", "career plan"),
    ("therapeutic_arc", "recovery plan"),
    ("financial_arc", "savings plan"),
    ("project_per_period", "series of projects"),
    ("content_series", "content series"),
    ("sprint_cadence", "release rhythm"),
    ("role_change", "change of role"),
    ("organisation_change", "organization change"),
    ("platform_change", "platform change"),
];

/// The kind of a plan: the blueprint that it was drafted from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanKind {
    /// The name of the blueprint: `wedding`.
    pub name: String,
    /// What people call it, with its article: "a wedding".
    pub label: String,
}

impl PlanKind {
    /// The name of a plan that consists of the person's own steps.
    pub const OWN_STEPS: &'static str = "own_steps";

    /// The kind of a plan that no blueprint fits: the person writes the steps.
    pub fn own_steps() -> Self {
        Self { name: Self::OWN_STEPS.to_owned(), label: "a plan of your own steps".to_owned() }
    }

    /// The label without its article.
    pub fn noun(&self) -> &str {
        let label = self.label.as_str();
        ["a ", "an ", "the "]
            .iter()
            .find_map(|article| label.strip_prefix(article))
            .unwrap_or(label)
    }
}

/// What marks a subtype that still needs a person's approval.
pub const PROPOSED_PREFIX: &str = "proposed:";

/// Which pattern a plan follows, and how that came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternSpec {
    pub pattern_type: PatternType,
    /// A known subtype, or `proposed:<name>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// The blueprint; a plan drafted by a model or by an earlier version has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PlanKind>,
    /// A free label of at most 40 characters, such as `16w`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
    pub variant: Option<String>,
    /// How sure the selector was, from 0 to 1. For logs and traces; never stored with the plan.
    #[serde(default, skip_serializing)]
    pub confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub introduced_by: NodeOrigin,
    /// What a proposed subtype was derived from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_pattern: Option<String>,
    /// Why a proposed subtype is needed, in 20 to 600 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rfc: Option<String>,
}

impl PatternSpec {
    pub fn new(pattern_type: PatternType) -> Self {
        Self {
            pattern_type,
            subtype: None,
            kind: None,
            variant: None,
            confidence: None,
            introduced_by: NodeOrigin::System,
            source_pattern: None,
            rfc: None,
        }
    }

    pub fn with_subtype(pattern_type: PatternType, subtype: impl Into<String>) -> Self {
        Self { subtype: Some(subtype.into()), ..Self::new(pattern_type) }
    }

    /// The name after `proposed:`, if the subtype is a proposal.
    pub fn proposed_name(&self) -> Option<&str> {
        self.subtype.as_deref()?.strip_prefix(PROPOSED_PREFIX)
    }

    /// What a plan of this kind is called, as a plain noun: "course", "event", "text".
    pub fn kind_noun(&self) -> String {
        if let Some(kind) = &self.kind {
            return kind.noun().to_owned();
        }
        let subtype = self.subtype.as_deref().unwrap_or_default();
        let subtype = subtype.strip_prefix(PROPOSED_PREFIX).unwrap_or(subtype);
        let known = KIND_NOUNS.iter().find(|(name, _)| *name == subtype);
        match known {
            Some((_, noun)) => (*noun).to_owned(),
            None if subtype.is_empty() => self.pattern_type.kind_noun().to_owned(),
            None => subtype.replace('_', " "),
        }
    }

    /// The name of the blueprint.
    pub fn kind_name(&self) -> Option<&str> {
        self.kind.as_ref().map(|kind| kind.name.as_str())
    }

    /// What a plan of this kind is called, with its article: "a wedding".
    pub fn kind_label(&self) -> String {
        if let Some(kind) = &self.kind {
            return kind.label.clone();
        }
        let noun = self.kind_noun();
        let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {noun}")
    }

    /// The name under which a kind that was turned down is remembered.
    pub fn exclusion_key(&self) -> String {
        let name = self.kind_name().or(self.subtype.as_deref()).unwrap_or_default();
        format!("pattern:{}/{name}", self.pattern_type)
    }

    /// Whether the plan consists of steps that the person writes.
    pub fn is_own_steps(&self) -> bool {
        self.kind_name() == Some(PlanKind::OWN_STEPS)
    }

    /// Whether the subtype is `name`.
    pub fn is_subtype(&self, name: &str) -> bool {
        self.subtype.as_deref() == Some(name)
    }

    /// Whether both name the same pattern, however it was chosen.
    pub fn is_same_pattern(&self, other: &Self) -> bool {
        self.pattern_type == other.pattern_type
            && self.subtype == other.subtype
            && self.kind == other.kind
            && self.variant == other.variant
    }
}

/// Whether `name` may follow `proposed:`: a lower-case letter, then 2 to 39 letters, digits or underscores.
pub fn is_valid_subtype_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_lowercase())
        && (3..=40).contains(&name.len())
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_names_are_those_of_the_contract_and_nothing_else_parses() {
        for pattern in PatternType::ALL {
            let json = format!("\"{pattern}\"");
            assert_eq!(serde_json::to_string(&pattern).unwrap(), json);
            assert_eq!(serde_json::from_str::<PatternType>(&json).unwrap(), pattern);
        }
        assert!(serde_json::from_str::<PatternType>("\"spiral\"").is_err());
    }

    #[test]
    fn confidence_is_read_but_never_written() {
        let mut spec: PatternSpec =
            serde_json::from_str(r#"{"pattern_type":"recurring_cycle","confidence":0.9}"#).unwrap();
        assert_eq!(spec.confidence.take(), Some(0.9));
        let json = serde_json::to_string(&PatternSpec { confidence: Some(0.9), ..spec }).unwrap();
        assert_eq!(json, r#"{"pattern_type":"recurring_cycle"}"#);
    }

    #[test]
    fn proposed_names_are_short_and_plain() {
        assert!(is_valid_subtype_name("daily_health_protocol_v2"));
        for bad in ["ab", "Daily", "9lives", "a-b-c", ""] {
            assert!(!is_valid_subtype_name(bad), "{bad}");
        }
    }
}
