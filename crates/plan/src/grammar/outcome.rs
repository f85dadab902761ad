//! What the violations of a stage mean for the stage.

use serde::{Deserialize, Serialize};

use super::rule_table::is_infeasible;
pub use planwright_model::Stage;
use planwright_model::{Severity, Violation};

/// Whether a broken rule is the stage's own to mend.
fn owns_rule(stage: Stage, rule: &str) -> bool {
    match stage {
        Stage::Outline => rule.starts_with("G1") || rule.starts_with("G2"),
        Stage::Roadmap => rule.starts_with("G3"),
        Stage::Schedule => rule.starts_with("G4"),
    }
}

/// What a validation comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationOutcome {
    Valid,
    InvalidRetryable,
    /// An earlier stage must be mended first.
    InvalidUpstream,
    InvalidFatal,
    /// Sound, but it does not fit.
    Infeasible,
}

/// What the violations of a stage come to. Infeasible is judged before everything else but a fatal fault.
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
