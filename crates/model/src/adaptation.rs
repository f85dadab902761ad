//! The log of changes to a plan: what was changed after the first validation, by whom and why.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NodeOrigin, TaskId};

/// What kind of change was made.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AdaptationAction {
    Add,
    Remove,
    Move,
    Rename,
    ReEstimate,
    Relink,
    Reschedule,
    Repair,
    Relax,
    PatternChange,
    LoopGuard,
}

/// What a change means for the person's other plans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortfolioImpact {
    pub affected_plans: Vec<String>,
    pub minutes_shifted: i64,
}

/// One change to nodes, links, estimates or dates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdaptationLogEntry {
    pub id: String,
    #[schemars(with = "String")]
    pub timestamp: Timestamp,
    pub node_ids: Vec<TaskId>,
    pub action: AdaptationAction,
    pub reason: String,
    #[serde(default)]
    pub origin: NodeOrigin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy_applied: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub portfolio_impact: Option<PortfolioImpact>,
    pub from_version: u32,
    pub to_version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_round_trips() {
        let entry = AdaptationLogEntry {
            id: "a1".into(),
            timestamp: "2026-06-08T07:00:00Z".parse().unwrap(),
            node_ids: vec!["p1".into()],
            action: AdaptationAction::ReEstimate,
            reason: "took longer".into(),
            origin: NodeOrigin::UserFeedback,
            strategy_applied: None,
            portfolio_impact: Some(PortfolioImpact::default()),
            from_version: 1,
            to_version: 2,
        };
        let json = serde_json::to_string(&entry).unwrap();
        assert!(json.contains(r#""action":"re_estimate""#));
        assert_eq!(serde_json::from_str::<AdaptationLogEntry>(&json).unwrap(), entry);
    }
}
