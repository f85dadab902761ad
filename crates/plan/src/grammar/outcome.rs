//! The effect of violations on a stage.

use serde::{Deserialize, Serialize};

use super::rule_table::is_infeasible;
pub use planwright_model::Stage;
use planwright_model::{Severity, Violation};

/// Returns whether a stage can fix a broken rule itself.
fn owns_rule(stage: Stage, rule: &str) -> bool {
    match stage {
        Stage::Outline => rule.starts_with("G1") || rule.starts_with("G2"),
        Stage::Roadmap => rule.starts_with("G3"),
        Stage::Schedule => rule.starts_with("G4") || rule.starts_with("G5"),
    }
}

/// The result of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationOutcome {
    Valid,
    InvalidRetryable,
    /// An earlier stage must be fixed first.
    InvalidUpstream,
    InvalidFatal,
    /// Valid, but it does not fit.
    Infeasible,
}

/// Returns the outcome for the violations of a stage. Infeasible takes precedence over everything except a fatal
/// violation.
pub fn validation_outcome(stage: Stage, violations: &[Violation]) -> ValidationOutcome {
    let with = |severity| violations.iter().filter(move |found| found.severity == severity);
    if with(Severity::Fatal).any(|found| !is_infeasible(found)) {
        ValidationOutcome::InvalidFatal
    } else if with(Severity::Fatal).next().is_some() {
        ValidationOutcome::Infeasible
    } else if with(Severity::Repairable).any(|found| !owns_rule(stage, &found.rule)) {
        ValidationOutcome::InvalidUpstream
    } else if with(Severity::Repairable).next().is_some() {
        ValidationOutcome::InvalidRetryable
    } else {
        ValidationOutcome::Valid
    }
}
