//! Why a tool was chosen, as the journal holds it. How tools are scored and ranked is for `tools`.

use serde::{Deserialize, Serialize};

/// The parts of a score, kept so that a person can be told why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct ToolAffinity {
    pub fit: f64,
    pub past: f64,
    pub context: f64,
    pub cost: f64,
    pub score: f64,
}

impl ToolAffinity {
    /// Weighs the parts.
    pub fn from_parts(fit: f64, past: f64, context: f64, cost: f64) -> Self {
        let score = (0.4 * fit + 0.3 * past + 0.2 * context + 0.1 * cost).clamp(0.0, 1.0);
        Self { fit, past, context, cost, score }
    }
}

/// Why this tool and no other: data of every action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolSelection {
    pub tool: String,
    pub affinity: ToolAffinity,
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
