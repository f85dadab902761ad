//! Where a planning conversation stands: states, outcomes, counters, questions, comments and traces.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Confidence, Digest, PatternSpec, PlanningToolName, TaskId};

/// The three stages of drafting a plan.
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
pub enum Stage {
    Outline,
    Roadmap,
    Schedule,
}

impl Stage {
    pub const ALL: [Self; 3] = [Self::Outline, Self::Roadmap, Self::Schedule];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outline => "outline",
            Self::Roadmap => "roadmap",
            Self::Schedule => "schedule",
        }
    }

    /// The state in which it is drafted.
    pub fn draft_state(self) -> PlanState {
        match self {
            Self::Outline => PlanState::DraftOutline,
            Self::Roadmap => PlanState::DraftRoadmap,
            Self::Schedule => PlanState::DraftSchedule,
        }
    }

    /// The state in which it is checked.
    pub fn validation_state(self) -> PlanState {
        match self {
            Self::Outline => PlanState::ValidateOutline,
            Self::Roadmap => PlanState::ValidateRoadmap,
            Self::Schedule => PlanState::ValidateSchedule,
        }
    }
}

/// A state of the planning controller.
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
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlanState {
    CollectContext,
    DraftOutline,
    ValidateOutline,
    DraftRoadmap,
    ValidateRoadmap,
    DraftSchedule,
    ValidateSchedule,
    SeekApproval,
    NeedsClarification,
    NeedsSchedEscalation,
    Complete,
    Aborted,
}

impl PlanState {
    pub const ALL: [Self; 12] = [
        Self::CollectContext,
        Self::DraftOutline,
        Self::ValidateOutline,
        Self::DraftRoadmap,
        Self::ValidateRoadmap,
        Self::DraftSchedule,
        Self::ValidateSchedule,
        Self::SeekApproval,
        Self::NeedsClarification,
        Self::NeedsSchedEscalation,
        Self::Complete,
        Self::Aborted,
    ];

    /// The name in the contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CollectContext => "COLLECT_CONTEXT",
            Self::DraftOutline => "DRAFT_OUTLINE",
            Self::ValidateOutline => "VALIDATE_OUTLINE",
            Self::DraftRoadmap => "DRAFT_ROADMAP",
            Self::ValidateRoadmap => "VALIDATE_ROADMAP",
            Self::DraftSchedule => "DRAFT_SCHEDULE",
            Self::ValidateSchedule => "VALIDATE_SCHEDULE",
            Self::SeekApproval => "SEEK_APPROVAL",
            Self::NeedsClarification => "NEEDS_CLARIFICATION",
            Self::NeedsSchedEscalation => "NEEDS_SCHED_ESCALATION",
            Self::Complete => "COMPLETE",
            Self::Aborted => "ABORTED",
        }
    }

    /// Whether the agent works in it, without the person.
    pub fn is_working(self) -> bool {
        self.costs_turn() || self.validated_stage().is_some()
    }

    /// Whether entering it costs a turn.
    pub fn costs_turn(self) -> bool {
        self == Self::CollectContext || self.drafted_stage().is_some()
    }

    /// The stage that is drafted in it.
    pub fn drafted_stage(self) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.draft_state() == self)
    }

    /// The stage that is checked in it.
    pub fn validated_stage(self) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.validation_state() == self)
    }

    /// The stage it belongs to.
    pub fn stage(self) -> Option<Stage> {
        self.drafted_stage().or(self.validated_stage())
    }

    /// What the rest of the world is told.
    pub fn planning_status(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::NeedsClarification => "needs_clarification",
            Self::NeedsSchedEscalation => "needs_scheduling_escalation",
            Self::Aborted => "aborted",
            Self::SeekApproval => "seek_approval",
            _ => "planning",
        }
    }
}

impl fmt::Display for PlanState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an approval is sought for.
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
pub enum ApprovalTarget {
    Pattern,
    Outline,
    Roadmap,
    Final,
}

impl ApprovalTarget {
    pub const ALL: [Self; 4] = [Self::Pattern, Self::Outline, Self::Roadmap, Self::Final];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Outline => "outline",
            Self::Roadmap => "roadmap",
            Self::Final => "final",
        }
    }
}

/// Why the conversation waits for the person.
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
pub enum PauseKind {
    Questions,
    Goal,
    Rfc,
    LowConfidence,
    Validation,
    Approval,
    Cap,
    Budget,
    /// The model that drafts failed.
    Model,
}

impl PauseKind {
    pub const ALL: [Self; 9] = [
        Self::Questions,
        Self::Goal,
        Self::Rfc,
        Self::LowConfidence,
        Self::Validation,
        Self::Approval,
        Self::Cap,
        Self::Budget,
        Self::Model,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Questions => "questions",
            Self::Goal => "goal",
            Self::Rfc => "rfc",
            Self::LowConfidence => "low_confidence",
            Self::Validation => "validation",
            Self::Approval => "approval",
            Self::Cap => "cap",
            Self::Budget => "budget",
            Self::Model => "model",
        }
    }
}

/// A state with what it is about.
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
pub struct PlanningPosition {
    pub state: PlanState,
    /// Set in `NEEDS_CLARIFICATION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseKind>,
    /// Set in `SEEK_APPROVAL`, and while an approval is overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ApprovalTarget>,
}

impl PlanningPosition {
    pub fn from_state(state: PlanState) -> Self {
        Self { state, pause: None, target: None }
    }

    pub fn paused_for(pause: PauseKind) -> Self {
        Self { state: PlanState::NeedsClarification, pause: Some(pause), target: None }
    }

    pub fn seeking_approval(target: ApprovalTarget) -> Self {
        Self { state: PlanState::SeekApproval, pause: None, target: Some(target) }
    }
}

impl Default for PlanningPosition {
    fn default() -> Self {
        Self::from_state(PlanState::CollectContext)
    }
}

impl fmt::Display for PlanningPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pause, self.target) {
            (Some(pause), _) => write!(f, "{}({})", self.state, pause.as_str()),
            (None, Some(target)) => write!(f, "{}({})", self.state, target.as_str()),
            (None, None) => write!(f, "{}", self.state),
        }
    }
}

/// What a transition changes beside the place.
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
pub enum PlanEffect {
    /// A stage is drafted again.
    Retry(Stage),
    /// Retries of a stage and of those after it count from 0 again.
    ClearRetries(Stage),
    /// Approvals of a stage and of those after it no longer hold.
    ClearApprovals(Stage),
    Approve(ApprovalTarget),
    ClarifyRound,
    /// Context is collected once more in this segment.
    CollectAgain,
    Revision,
    Escalation,
    Continue,
    Unparsed,
    AutoRelax,
    /// The offline implementation takes over after a failing tool.
    Offline,
    /// A new segment begins: turns and time count from 0.
    NewSegment,
    /// The counter that was at its limit starts again.
    ResetLimits,
    /// The result goes on although it is not sure.
    FlagLowConfidence,
}

/// Counters of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct PlanCounters {
    /// Entries into working states since the person last spoke.
    pub turns: u32,
    pub retries: BTreeMap<Stage, u32>,
    pub clarify_rounds: u32,
    pub revisions: u32,
    pub escalations: u32,
    pub continues: u32,
    pub unparsed: u32,
    pub auto_relaxed: u32,
    /// Whether context was already collected again in this segment.
    pub collected_again: bool,
}

impl PlanCounters {
    pub fn stage_retries(&self, stage: Stage) -> u32 {
        self.retries.get(&stage).copied().unwrap_or(0)
    }
}

/// What ends or pauses a conversation, as a closed list.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EscalationReason {
    UserCancelled,
    CapWallTime,
    CapTurns,
    CapRevisions,
    CapEscalations,
    CapContinues,
    Budget,
    PatternRfc(String),
    LowConfidence,
    Validation,
    Infeasible,
    NoResponse,
    GoalMissing,
    Questions,
    ToolError,
}

/// The limits of a planning conversation, each under the name it has in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct PlanLimits {
    pub turn_limit: u32,
    pub retry_limit_per_stage: u32,
    pub clarify_round_limit: u32,
    pub continue_limit: u32,
    pub unparsed_limit: u32,
    pub revision_limit: u32,
    pub escalation_round_limit: u32,
    /// In journals before `model_call_limit_sec` replaced it; kept so that they are exported as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_time_sec: Option<u64>,
    pub segment_max_sec: u64,
}

impl Default for PlanLimits {
    fn default() -> Self {
        Self {
            turn_limit: 10,
            retry_limit_per_stage: 2,
            clarify_round_limit: 3,
            continue_limit: 3,
            unparsed_limit: 2,
            revision_limit: 5,
            escalation_round_limit: 3,
            wall_time_sec: None,
            segment_max_sec: 3_600,
        }
    }
}

/// A question about a missing fact, with the value that stands in for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlanQuestion {
    pub key: String,
    pub text: String,
    pub assumed: String,
    /// What the answer changes, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub changes: String,
    /// Answers to pick from; any other can be typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<QuestionChoice>,
}

/// An answer to a question and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QuestionChoice {
    pub answer: String,
    pub effect: String,
}

/// What became of a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum CommentOutcome {
    Addressed {
        how: String,
    },
    Declined {
        why: String,
    },
    /// Its node is gone.
    Stale,
}

/// A remark of the person's on one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Comment {
    pub id: u32,
    pub node: TaskId,
    pub text: String,
    /// The version of the outline it was made on.
    pub version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CommentOutcome>,
}

/// What happened in one tool call or transition of planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StepTrace {
    pub seq: u32,
    pub session_id: String,
    pub stage: String,
    pub tool: PlanningToolName,
    pub duration_ms: u64,
    pub confidence: Option<f64>,
    /// In micro-dollars.
    pub cost_delta: u64,
    /// Ids of broken rules.
    #[serde(default)]
    pub violations: Vec<String>,
    /// Ids of log entries.
    #[serde(default)]
    pub adaptations: Vec<String>,
    pub outcome: String,
    #[serde(default)]
    pub cache_hit: bool,
    #[serde(default)]
    pub explanations: Vec<String>,
    /// On transitions: rule ids, C and its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
}

/// An entry of the log of reasoning that exports carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReactLogEntry {
    pub seq: u32,
    /// `planner.trace`, `planner.normalization`, `coordinator.unlock` or `affinity.decision`.
    pub kind: String,
    /// Hash of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_ref: Option<Digest>,
    /// Its redacted text. A prompt of a conversation is not repeated here: the events of the conversation are its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_response: Option<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The pattern of a plan with what else was close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PatternChoice {
    pub pattern: PatternSpec,
    /// How sure the selector was; not part of the plan.
    pub confidence: f64,
    /// The lead over the second.
    pub margin: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<PatternSpec>,
    #[serde(default)]
    pub explanations: Vec<String>,
    /// Kinds that may be meant instead, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<super::requests::OfferedKind>,
    /// A new top-level pattern that was proposed instead; the plan itself uses the canonical one above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_pattern: Option<String>,
}

/// How a stage was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StageAssessment {
    pub confidence: Confidence,
    pub violations: Vec<super::Violation>,
}
