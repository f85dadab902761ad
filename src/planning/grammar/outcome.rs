//! What the violations of a stage mean for the stage.

use serde::{Deserialize, Serialize};

use super::table::is_infeasible;
use crate::model::{Severity, Violation};

/// The three stages of drafting a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Outline,
    Roadmap,
    Schedule,
}

impl Stage {
    /// The first digits of the rules that are its own to mend.
    fn owns(self, rule: &str) -> bool {
        match self {
            Self::Outline => rule.starts_with("G1") || rule.starts_with("G2"),
            Self::Roadmap => rule.starts_with("G3"),
            Self::Schedule => rule.starts_with("G4"),
        }
    }
}

/// What a validation comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Valid,
    InvalidRetryable,
    /// An earlier stage must be mended first.
    InvalidUpstream,
    InvalidFatal,
    /// Sound, but it does not fit.
    Infeasible,
}

/// What the violations of a stage come to. Infeasible is judged before everything else but a fatal fault.
pub fn outcome(stage: Stage, violations: &[Violation]) -> Outcome {
    let with = |severity| violations.iter().filter(move |found| found.severity == severity);
    if with(Severity::Fatal).any(|found| !is_infeasible(found)) {
        Outcome::InvalidFatal
    } else if with(Severity::Fatal).next().is_some() {
        Outcome::Infeasible
    } else if with(Severity::Repairable).any(|found| !stage.owns(&found.rule)) {
        Outcome::InvalidUpstream
    } else if with(Severity::Repairable).next().is_some() {
        Outcome::InvalidRetryable
    } else {
        Outcome::Valid
    }
}
