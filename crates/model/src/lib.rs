//! The nouns of the domain: typed ids, tasks, plans, outlines, roadmaps, schedules, requests, failures, amounts.
//!
//! Nothing here reads a clock, touches a file or knows how it is drawn. Every type round-trips through JSON.

pub mod adaptation;
pub mod agent_conversation;
pub mod agent_decision;
pub mod agent_product;
pub mod agent_profile;
mod agent_run;
pub mod agent_session;
pub mod agent_work;
pub mod amount;
pub mod breaker;
pub mod cap;
pub mod catch_up;
pub mod confidence;
pub mod context;
pub mod desk;
pub mod digest;
pub mod event;
pub mod fact;
mod fact_words;
pub mod failure;
pub mod gate;
pub mod ids;
pub mod limits;
pub mod link;
pub mod node_details;
pub mod node_tree;
pub mod offset_date_time;
pub mod outline;
mod overlap;
pub mod pattern;
pub mod permission;
pub mod plan;
pub mod plan_date;
pub mod plan_edit;
pub mod planning;
pub mod planning_names;
pub mod policy;
pub mod preferred_time;
pub mod reasoning;
pub mod recurrence;
pub mod request;
pub mod requests;
pub mod roadmap;
mod run_settings;
pub mod schedule;
pub mod setting;
pub mod step;
pub mod step_metadata;
pub mod task;
pub mod task_changes;
mod task_hold;
mod task_run_options;
pub mod task_state;
pub mod tool_choice;
pub mod tool_result;
pub mod trace_ids;
pub mod violation;

pub use adaptation::{AdaptationAction, AdaptationLogEntry, PortfolioImpact};
pub use agent_product::{AgentProduct, agent_title};
pub use agent_profile::{AgentProfile, ProfileChoice};
pub use agent_run::AgentRun;
pub use agent_session::{
    AgentDescription, AgentNetwork, AgentSession, AgentTodo, AgentTodoStatus, AskingHabit,
};
pub use amount::MicroDollars;
pub use cap::{RunCap, RunCapSettings};
pub use confidence::{Confidence, ConfidenceTerm, ConfidenceVerdict};
pub use context::{
    Assumption, AssumptionOrigin, LocalTimeInterval, PlanCalendar, PlanConstraints, PlanContext,
    PlanPerson, UserPrefs, Weekday, WeeklyHours,
};
pub use desk::{
    CommentReply, DeskChannel, DeskInquiry, LineComment, NodeLines, PlanSubmission, ProgressReport,
    ReportedTaskState, SubmissionFormat, SubmittedRevision, SubmittingAgent,
};
pub use digest::{Digest, canonical_json};
pub use fact::{
    Fact, FactLength, FactReading, FactSource, FactStatus, FactSubject, FactWorkingTime,
};
pub use failure::{Category, ExecutionFailure, SkipReason};
pub use ids::{CallId, RequestId, Seq, SessionId, TaskId};
pub use limits::{ExecutionLimits, ReasoningMode, ScoutGateMode, TaskBudget};
pub use link::{LagBasis, LinkKind, LinkOrigin, TaskLink};
pub use node_details::{TaskCost, is_everybody, other_person};
pub use node_tree::NodeTree;
pub use offset_date_time::{IsoWeek, OffsetDateTime};
pub use outline::{NodeDependency, NodeStatus, NodeType, PlanNode, PlanOutline, Role};
pub use overlap::{OverlapReport, OverlapShift, PlanOverlap, shifted_minutes};
pub use pattern::{PatternSpec, PatternType, PlanKind};
pub use plan::{CriticalPathMeasure, FileCalendar, GraphFacts, NormalizationChange, Plan};
pub use plan_date::{DateField, NodeDates, PlanDate, StartSource};
pub use plan_edit::{NodeFields, NodePlace, PlanEdit, SplitPart, TaskAssignee};
pub use planning::{
    ApprovalTarget, Comment, CommentOutcome, EscalationReason, PatternChoice, PauseKind,
    PlanCounters, PlanEffect, PlanLimits, PlanQuestion, PlanState, PlanningPosition,
    QuestionChoice, ReactLogEntry, Stage, StageAssessment, StepTrace,
};
pub use planning_names::{PlanDrafter, PlanningToolName};
pub use policy::{
    ApprovalPolicy, Autonomy, BrainstormingPreference, CatchUp, ConversationStyle,
    InteractionPolicy, PolicyOverride, StrategyMode, StrategyProfile, StrategyWeights, Tone,
};
pub use preferred_time::PreferredTime;
pub use reasoning::{ReasoningFormat, ReasoningItem};
pub use recurrence::{Recurrence, RecurrenceByDay, RecurrenceFrequency};
pub use request::{
    Actor, Answer, Choice, ChoiceAction, OfferedIdea, Request, RequestKind, UnreadAnswer,
};
pub use roadmap::{Risk, Roadmap, RoadmapContext, RoadmapOption};
pub use run_settings::{NotifyCause, PlanNotification, RetryCause, RunCondition, TaskRetryPolicy};
pub use schedule::{
    FixedEvent, LeverChange, RelaxedDates, Schedule, ScheduleRelaxation, ScheduledBlock,
    UnplacedWork, WeekCapacity,
};
pub use step::{ReActStep, ReActTrace, StepAction};
pub use step_metadata::{PrdvPhase, StepMetadata, StepRole};
pub use task::{ExitCriterion, NodeOrigin, RepeatPolicy, RunKind, SandboxChoice, TaskNode};
pub use task_changes::{
    AppliedFile, ApplyConflict, ChangeProposal, FailedCheck, ProposedFile, ProposedFileKind,
    WorktreeOverlap,
};
pub use task_hold::{StartTimeCause, TaskHold};
pub use task_run_options::{
    KeptArtifact, SecretSource, ServiceCheck, StopSignal, TaskOutputSource, TaskResults,
    TaskRunOptions, TaskService, ValuePart,
};
pub use tool_result::ToolResult;
pub use violation::{Severity, Violation};
