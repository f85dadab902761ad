//! The possible results of a state's work or of the person's reply.

use planwright_model::{ConfidenceVerdict, StageAssessment};
use planwright_plan::grammar::{self, Stage};

macro_rules! outcomes {
    ($($(#[$meta:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// The result of a state, by its serialized name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ControllerOutcome { $($(#[$meta])* $variant),+ }

        impl ControllerOutcome {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

outcomes! {
    SufficientContext = "sufficient_context",
    NeedsClarification = "needs_clarification",
    AssumedContext = "assumed_context",
    /// Nobody can say which kind of plan the goal asks for.
    KindUnknown = "kind_unknown",
    GoalMissing = "goal_missing",
    FatalError = "fatal_error",
    Success = "success",
    RfcPending = "rfc_pending",
    /// A pattern was chosen and the policy requires approval of it.
    PatternChosen = "pattern_chosen",
    LowConfidence = "low_confidence",
    MissingPrerequisite = "missing_prerequisite",
    /// A tool or a provider failed.
    ToolError = "tool_error",
    /// The model cannot be used now, and an immediate retry would change nothing.
    ModelUnavailable = "model_unavailable",
    /// A model answered, but not in a usable form.
    InvalidOutput = "invalid_output",
    /// The work showed no progress for too long, or took too long in total.
    WallTime = "wall_time",
    /// The next call would exceed a budget.
    Budget = "budget",
    Valid = "valid",
    /// No rule is broken, but the confidence is between the two thresholds.
    Unsure = "unsure",
    /// The confidence is below the lower threshold.
    TooUnsure = "too_unsure",
    InvalidRetryable = "invalid_retryable",
    /// An earlier stage must be fixed: the outline.
    InvalidOutlineUpstream = "invalid_upstream_outline",
    /// An earlier stage must be fixed: the roadmap.
    InvalidRoadmapUpstream = "invalid_upstream_roadmap",
    InvalidFatal = "invalid_fatal",
    Infeasible = "infeasible",
    Approved = "approved",
    Revise = "revise",
    Rejected = "rejected",
    OptionPicked = "option_picked",
    NoResponse = "no_response",
    Answered = "answered",
    Skipped = "skipped",
    RfcApproved = "rfc_approved",
    RfcDeclined = "rfc_declined",
    RfcChanged = "rfc_changed",
    Continue = "continue",
    /// Continue past a limit with its counter reset to 0.
    ContinuePastLimit = "go_on",
    RaiseOnce = "raise_once",
    RaiseForSession = "raise_for_the_session",
    GoOffline = "go_on_offline",
    Stop = "stop",
    Unparsed = "unparsed",
    /// A relaxation of dates or hours.
    UseRelaxation = "use_relaxation",
    /// A relaxation that changes tasks or links.
    UseStructuralRelaxation = "use_structural_relaxation",
    AcceptLate = "accept_late",
    /// The person changed the draft by hand.
    Edited = "edited",
    /// The person corrected or withdrew what they had said.
    Restated = "restated",
    Cancel = "cancel",
}

/// Returns the outcome of assessing a stage. Infeasibility takes precedence over the confidence.
pub fn stage_outcome(stage: Stage, assessment: &StageAssessment) -> ControllerOutcome {
    let too_unsure = assessment.confidence.verdict == ConfidenceVerdict::Escalate;
    match grammar::validation_outcome(stage, &assessment.violations) {
        grammar::ValidationOutcome::Infeasible => ControllerOutcome::Infeasible,
        grammar::ValidationOutcome::InvalidFatal => ControllerOutcome::InvalidFatal,
        _ if too_unsure => ControllerOutcome::TooUnsure,
        grammar::ValidationOutcome::InvalidRetryable => ControllerOutcome::InvalidRetryable,
        grammar::ValidationOutcome::InvalidUpstream => {
            let outline_rule = |rule: &str| rule.starts_with("G1") || rule.starts_with("G2");
            let outline = assessment.violations.iter().any(|found| outline_rule(&found.rule));
            if outline {
                ControllerOutcome::InvalidOutlineUpstream
            } else {
                ControllerOutcome::InvalidRoadmapUpstream
            }
        }
        grammar::ValidationOutcome::Valid => match assessment.confidence.verdict {
            ConfidenceVerdict::Continue => ControllerOutcome::Valid,
            ConfidenceVerdict::Retry => ControllerOutcome::Unsure,
            ConfidenceVerdict::Escalate => ControllerOutcome::TooUnsure,
        },
    }
}
