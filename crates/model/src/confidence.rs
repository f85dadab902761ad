//! How sure a stage of planning is of its result, with the parts it was made of.

use serde::{Deserialize, Serialize};

use super::Stage;

/// What a confidence means for its stage.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceVerdict {
    Continue,
    Retry,
    Escalate,
}

/// One term of the heuristics, for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConfidenceTerm {
    pub name: String,
    pub weight: f64,
    /// From 0 to 1.
    pub value: f64,
}

/// How sure a stage is, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Confidence {
    pub stage: Stage,
    /// C, rounded to 3 decimals.
    pub value: f64,
    /// L; none without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_score: Option<f64>,
    /// R.
    pub rules: f64,
    /// Hs.
    pub heuristics: f64,
    pub terms: Vec<ConfidenceTerm>,
    pub verdict: ConfidenceVerdict,
    /// Whether the stage may go on: sure enough, and no fatal or repairable violation.
    pub may_advance: bool,
}
