//! The roadmap of a plan: the outline's nodes with estimates and links, and the options that were compared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::task::is_default;
use super::{NodeDependency, NodeTree, PatternSpec, PatternType, PlanNode, PlanOutline, TaskId};

/// How likely an option is to go wrong.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    High,
}

impl Risk {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One way to do it that was compared with the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoadmapOption {
    pub id: String,
    pub label: String,
    pub summary: String,
    /// Which tasks it leaves out or adds, in words; empty for the one that the others are compared with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tasks: String,
    pub effort_minutes: u32,
    pub span_weeks: u16,
    pub risk: Risk,
    pub score: f64,
    pub chosen: bool,
    #[serde(default)]
    pub rationale: String,
}

/// Free text about the setting of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoadmapContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cadence: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub venue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_horizon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Present for backward compatibility, source of truth is `pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternSpec>,
}

/// The outline with estimates and links. Node ids equal the outline's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roadmap {
    pub root_id: TaskId,
    pub nodes: Vec<PlanNode>,
    #[serde(default)]
    pub dependencies: Vec<NodeDependency>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternSpec>,
    /// Read from older files, where it stood in for `pattern`; never written.
    #[serde(default, rename = "pattern_type", skip_serializing)]
    pub legacy_pattern_type: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub context: RoadmapContext,
    /// Two or three; exactly one of them is chosen.
    #[serde(default)]
    pub options_tried: Vec<RoadmapOption>,
    /// The longest chain by minutes, lags included.
    #[serde(default)]
    pub critical_path: Vec<TaskId>,
    /// The sum of all leaves.
    #[serde(default)]
    pub total_minutes: u32,
    /// Capacities of shared resources.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u32>,
}

impl Roadmap {
    /// A roadmap with the outline's nodes and pattern and the given links; options and path are left to the builder.
    pub fn new(outline: &PlanOutline, dependencies: Vec<NodeDependency>) -> Self {
        let context = RoadmapContext {
            pattern_type: outline.pattern.as_ref().map(|spec| spec.pattern_type.to_string()),
            pattern: outline.pattern.clone(),
            ..RoadmapContext::default()
        };
        let mut roadmap = Self {
            root_id: outline.root_id.clone(),
            nodes: outline.nodes.clone(),
            dependencies,
            pattern: outline.pattern.clone(),
            legacy_pattern_type: None,
            context,
            options_tried: Vec::new(),
            critical_path: Vec::new(),
            total_minutes: 0,
            resources: BTreeMap::new(),
        };
        roadmap.total_minutes = roadmap.node_tree().total_minutes(&roadmap.root_id);
        roadmap
    }

    pub fn find_node(&self, id: &TaskId) -> Option<&PlanNode> {
        self.nodes.iter().find(|node| node.id == *id)
    }

    /// The nodes as a tree that can be asked for children, leaves and parents.
    pub fn node_tree(&self) -> NodeTree<'_> {
        NodeTree::new(&self.nodes)
    }

    pub fn chosen_option(&self) -> Option<&RoadmapOption> {
        self.options_tried.iter().find(|option| option.chosen)
    }

    /// The pattern, or what older files wrote in its place.
    pub fn effective_pattern(&self) -> Option<PatternSpec> {
        let legacy = || {
            let name = self.legacy_pattern_type.as_ref().or(self.context.pattern_type.as_ref())?;
            PatternType::from_name(name).map(PatternSpec::new)
        };
        self.pattern.clone().or_else(|| self.context.pattern.clone()).or_else(legacy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanContext;

    fn roadmap() -> Roadmap {
        let context =
            PlanContext::new("move house", jiff::civil::date(2026, 6, 8), "Europe/Berlin");
        Roadmap::new(&PlanOutline::new("goal", context), Vec::new())
    }

    #[test]
    fn a_roadmap_round_trips() {
        let mut roadmap = roadmap();
        roadmap.options_tried.push(RoadmapOption {
            id: "balanced".into(),
            label: "Balanced".into(),
            summary: "As drafted".into(),
            tasks: String::new(),
            effort_minutes: 60,
            span_weeks: 1,
            risk: Risk::Low,
            score: 0.8,
            chosen: true,
            rationale: "fits".into(),
        });
        let json = serde_json::to_string(&roadmap).unwrap();
        assert_eq!(serde_json::from_str::<Roadmap>(&json).unwrap(), roadmap);
        assert_eq!(roadmap.chosen_option().unwrap().id, "balanced");
    }

    #[test]
    fn every_artifact_has_a_schema() {
        let schemas = [
            schemars::schema_for!(PlanOutline),
            schemars::schema_for!(Roadmap),
            schemars::schema_for!(crate::Schedule),
            schemars::schema_for!(crate::InteractionPolicy),
            schemars::schema_for!(crate::AdaptationLogEntry),
        ];
        let texts = schemas.map(|schema| schema.to_value().to_string());
        for name in ["strategic_transformation", "buffer_ratio", "max_daily_minutes", "micro_goal"]
        {
            assert!(texts[0].contains(name), "{name} is not in {}", texts[0]);
        }
        assert!(texts[1].contains("source of truth is `pattern`"));
        assert!(texts[2].contains("date-time"));
    }

    #[test]
    fn a_pattern_wins_over_its_older_name() {
        let mut old: Roadmap =
            serde_json::from_str(r#"{"root_id":"g","nodes":[],"pattern_type":"recurring_cycle"}"#)
                .unwrap();
        assert_eq!(old.effective_pattern(), Some(PatternSpec::new(PatternType::RecurringCycle)));
        old.pattern = Some(PatternSpec::new(PatternType::MilestoneProject));
        assert_eq!(old.effective_pattern(), old.pattern);
    }
}
