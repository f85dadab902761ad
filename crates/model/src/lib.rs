//! The nouns of the domain: typed ids, tasks, plans, outlines, roadmaps, schedules, requests, failures, amounts.
//!
//! Nothing here reads a clock, touches a file or knows how it is drawn. Every type round-trips through JSON.

pub mod adaptation;
pub mod agent_work;
pub mod amount;
pub mod breaker;
pub mod cap;
pub mod confidence;
pub mod context;
pub mod edit;
pub mod event;
pub mod failure;
pub mod gate;
pub mod hash;
pub mod ids;
pub mod limits;
pub mod link;
pub mod moment;
pub mod outline;
pub mod pattern;
pub mod plan;
pub mod planning;
pub mod policy;
pub mod recurrence;
pub mod request;
pub mod roadmap;
pub mod schedule;
pub mod setting;
pub mod step;
pub mod task;
pub mod task_state;
pub mod tool_result;
pub mod tree;
pub mod violation;

pub use adaptation::{AdaptationAction, AdaptationLogEntry, PortfolioImpact};
pub use amount::MicroDollars;
pub use cap::{Cap, Caps};
pub use confidence::{Confidence, Term, Verdict};
pub use context::{
    Assumption, AssumptionOrigin, Constraints, Interval, PlanCalendar, PlanContext, UserPrefs,
    Weekday, WeeklyHours,
};
pub use edit::{Doer, PlanEdit};
pub use failure::{Category, Failure, SkipReason};
pub use hash::{Digest, canonical_json};
pub use ids::{CallId, RequestId, Seq, SessionId, TaskId};
pub use limits::{GateWhen, Limits, ReasoningMode};
pub use link::{LagBasis, Link, LinkKind, LinkOrigin};
pub use moment::{IsoWeek, Moment};
pub use outline::{Dependency, NodeStatus, NodeType, PlanNode, PlanOutline, Role};
pub use pattern::{PatternSpec, PatternType};
pub use plan::{CriticalPathBy, FileCalendar, GraphFacts, Normalization, Plan};
pub use planning::{
    ApprovalTarget, Comment, CommentOutcome, EscalateReason, PatternChoice, PauseKind, Place,
    PlanCounters, PlanEffect, PlanLimits, PlanQuestion, PlanState, QuestionChoice, ReactLogEntry,
    Stage, StageJudgement, StepTrace,
};
pub use policy::{
    ApprovalPolicy, Autonomy, BrainstormingPreference, CatchUp, ConversationStyle,
    InteractionPolicy, PolicyOverride, StrategyMode, StrategyProfile, Tone, Weights,
};
pub use recurrence::{ByDay, Frequency, Recurrence};
pub use request::{Actor, Answer, Choice, ChoiceAction, Request, RequestKind};
pub use roadmap::{Risk, Roadmap, RoadmapContext, RoadmapOption};
pub use schedule::{
    FixedEvent, LeverChange, Relaxation, Schedule, ScheduledBlock, Unplaced, WeekCapacity,
};
pub use step::{ReActStep, ReActTrace, StepAction};
pub use task::{ExitCriterion, Origin, Repeat, RunKind, SandboxChoice, TaskNode};
pub use tool_result::ToolResult;
pub use tree::NodeTree;
pub use violation::{Severity, Violation};
