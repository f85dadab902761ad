//! What is learned about tools from calls, and why one was chosen.

use serde::{Deserialize, Serialize};

use crate::affinity::{self, RankedTool};
use planwright_model::tool_choice::ToolSelection;

/// What was learned about a tool from one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolObservation {
    pub tool: String,
    /// The score at the time of selection, if there was a choice.
    pub affinity: Option<f64>,
    pub ok: bool,
    pub confidence: f64,
    pub latency_ms: f64,
    /// The code of the error, if there was one.
    pub code: Option<String>,
}

/// How many of the next best tools are kept with a choice.
const OTHERS: usize = 5;

/// Chooses the best tool at or above the threshold whose breaker is not open. None where no tool will do.
pub fn select_ranked_tool(
    ranked: &[RankedTool],
    breaker_open: impl Fn(&str) -> bool,
) -> Option<ToolSelection> {
    let (chosen, left_out) = affinity::choose_tool(ranked, breaker_open);
    let chosen = chosen?;
    let others = ranked.iter().filter(|other| other.tool != chosen.tool);
    Some(ToolSelection {
        tool: chosen.tool.clone(),
        affinity: chosen.affinity,
        given: chosen.given,
        others: others
            .take(OTHERS)
            .map(|other| (other.tool.clone(), other.affinity.score))
            .collect(),
        left_out,
    })
}

#[cfg(test)]
mod tests {
    use planwright_model::tool_choice::ToolAffinity;

    use super::*;

    #[test]
    fn a_selection_records_alternatives_and_exclusions() {
        let ranked = |tool: &str, fit: f64| RankedTool {
            tool: tool.into(),
            affinity: ToolAffinity::from_parts(fit, fit, fit, fit),
            given: false,
        };
        let all = [ranked("broken", 0.9), ranked("good", 0.8), ranked("poor", 0.1)];
        let choice = select_ranked_tool(&all, |tool| tool == "broken").unwrap();
        assert_eq!(choice.tool, "good");
        assert_eq!(
            choice.left_out,
            [("broken".into(), "breaker_open".into()), ("poor".into(), "below_threshold".into())]
        );
        assert_eq!(choice.others.len(), 2);
        assert_eq!(select_ranked_tool(&all[2..], |_| false), None);
    }
}
