//! What calls teach about tools, and why one was chosen.

use serde::{Deserialize, Serialize};

use crate::planning::affinity::Affinity;

/// What one call taught about its tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub tool: String,
    /// The score at the time of choice, where there was a choice.
    pub affinity: Option<f64>,
    pub ok: bool,
    pub confidence: f64,
    pub latency_ms: f64,
    /// The code of the error, if there was one.
    pub code: Option<String>,
}

/// Why this tool and no other: data of every action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolChoice {
    pub tool: String,
    pub affinity: Affinity,
    /// Whether the score was given in the plan.
    #[serde(default)]
    pub given: bool,
    /// The next best ones, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<(String, f64)>,
    /// Tools that were not considered, and why: `breaker_open`, `below_threshold`, `not_permitted`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<(String, String)>,
}
