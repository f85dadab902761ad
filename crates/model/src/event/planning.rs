//! Facts about the planning conversation: where it stands, what was drafted, how it was judged, what the person wished.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent_conversation::{
    ConversationOpening, ConversationTool, PromptSource, RequestReport,
};
use crate::catch_up::{CatchUpWay, TaskOccurrence};
use crate::{
    Actor, AdaptationLogEntry, Comment, CommentOutcome, EscalationReason, OverlapReport,
    PatternChoice, PlanContext, PlanDrafter, PlanEdit, PlanEffect, PlanLimits, PlanNode,
    PlanOutline, PlanQuestion, PlanState, PlanningPosition, PolicyOverride, ReactLogEntry, Roadmap,
    RunCap, Schedule, Stage, StageAssessment, StepTrace, TaskId,
};

/// A plan as operations left it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RevisedDraft {
    pub outline: Arc<PlanOutline>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roadmap: Option<Arc<Roadmap>>,
}

/// The plan as it would be if everything that is missing were assumed. It stands beside the questions and is gone with the
/// first draft.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlanSketch {
    pub root_id: TaskId,
    pub nodes: Vec<PlanNode>,
}

/// Facts about planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanningEvent {
    /// A conversation about a goal began.
    Began {
        goal: String,
        /// `user_<user>:<goal id>`.
        thread_id: String,
        /// What the person had set when it began, stored defaults and flags together.
        policy: PolicyOverride,
        limits: PlanLimits,
        /// Who drafts.
        drafter: PlanDrafter,
    },
    /// The person said what it is about.
    GoalSet {
        goal: String,
    },
    /// The person corrected or withdrew something they had said; the plan follows.
    Restated {
        /// The goal in the words that apply now.
        goal: String,
        /// What was changed, in words.
        what: String,
    },
    /// A change request said a fact of the goal otherwise; the draft follows it as it stands.
    GoalReworded {
        /// The goal in the words that apply now.
        goal: String,
    },
    /// The controller moved by a row of its table.
    Moved {
        row: String,
        from: PlanningPosition,
        outcome: String,
        to: PlanningPosition,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        effects: Vec<PlanEffect>,
        /// Where a pause leads back to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume: Option<PlanningPosition>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<EscalationReason>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        why: Vec<String>,
    },
    /// What is known about the goal, assumptions included.
    ContextSet {
        context: Arc<PlanContext>,
    },
    /// Facts that are still missing.
    QuestionsFound {
        questions: Vec<PlanQuestion>,
        /// What would be drafted without an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sketch: Option<Arc<PlanSketch>>,
    },
    /// Answers of the person's, by the key of the question; an empty one means "assume".
    QuestionsAnswered {
        answers: BTreeMap<String, String>,
    },
    PatternPicked {
        choice: PatternChoice,
    },
    OutlineDrafted {
        outline: Arc<PlanOutline>,
        by: PlanDrafter,
        self_score: Option<f64>,
    },
    RoadmapDrafted {
        roadmap: Arc<Roadmap>,
        by: PlanDrafter,
        self_score: Option<f64>,
    },
    ScheduleDrafted {
        schedule: Arc<Schedule>,
        by: PlanDrafter,
    },
    Judged {
        stage: Stage,
        judgement: StageAssessment,
    },
    Traced {
        step: StepTrace,
    },
    Logged {
        entry: ReactLogEntry,
    },
    Adapted {
        entry: AdaptationLogEntry,
    },
    /// The person asked for changes: of the whole plan, or of the named nodes only.
    ChangesRequested {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<TaskId>,
    },
    /// A draft took the open wishes up; what it could not read stays open.
    WishesMet {
        met: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<String>,
    },
    /// The person picked another option of the roadmap.
    OptionPicked {
        option: String,
    },
    /// Options that the person turned down.
    OptionsExcluded {
        options: Vec<String>,
    },
    /// A relaxation was applied, by the person's choice or automatically.
    Relaxed {
        summary: String,
        by: Option<Actor>,
    },
    /// A finish after the deadline was accepted.
    AcceptedLate {
        by: Actor,
    },
    Commented {
        comment: Comment,
    },
    CommentSettled {
        id: u32,
        outcome: CommentOutcome,
    },
    NodeLocked {
        node: TaskId,
    },
    NodeUnlocked {
        node: TaskId,
    },
    /// The way of talking was changed for this session, and for later ones where `saved`.
    PolicySet {
        set: PolicyOverride,
        #[serde(default)]
        saved: bool,
        by: Actor,
    },
    /// Work that is done or skipped; what is planned from now on leaves it as it is.
    WorkFrozen {
        tasks: Vec<TaskId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        times: Vec<TaskOccurrence>,
    },
    /// Late tasks were planned again. The schedule follows.
    CaughtUp {
        way: CatchUpWay,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<TaskOccurrence>,
        by: Actor,
    },
    /// Catching up was undone. The schedule from before follows.
    CatchUpUndone {},
    /// The person took an idea into the plan.
    IdeaTaken {
        idea: String,
    },
    /// The person said what kind of plan it is.
    KindChosen {
        choice: PatternChoice,
    },
    /// A discarded plan was opened again.
    Restored {
        by: Actor,
    },
    /// What the agent says to the person.
    Said {
        text: String,
    },
    /// Words of a model beside its calls: shown, and otherwise ignored.
    Remarked {
        text: String,
    },
    /// Nobody knows yet how much the person likes to read: the first message asks, which is no question.
    StyleUnknown {},
    /// They were asked, and are not asked again.
    StyleAsked {},
    /// Ideas that were offered.
    IdeasOffered {
        ideas: Vec<String>,
    },
    /// What keeps a stage from being drafted, in words.
    Troubled {
        what: String,
        /// The limit on money that is in the way, if that is what it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cap: Option<RunCap>,
    },
    /// Who drafts from here on.
    DrafterSet {
        drafter: PlanDrafter,
    },
    /// From here on nothing is asked of a model.
    WentOffline {
        why: String,
    },
    /// The person changed the plan by hand.
    Edited {
        edit: Box<PlanEdit>,
        outline: Arc<PlanOutline>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        roadmap: Option<Arc<Roadmap>>,
    },
    /// The plan, its locks or its comments were changed by operations, in one step.
    Revised {
        edits: Vec<PlanEdit>,
        /// What was done, in words.
        what: String,
        /// The plan afterwards; none if only locks and comments changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draft: Option<RevisedDraft>,
        /// Where changes are put back: the same operations on the draft with all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        all_changes: Option<RevisedDraft>,
    },
    /// One change of a draft was put back to what it was in the draft before, or taken again.
    ChangePutBack {
        node: TaskId,
        #[serde(default)]
        again: bool,
        /// Every row that is put back now.
        #[serde(default)]
        put_back: BTreeSet<TaskId>,
        /// What was done, in words.
        what: String,
        draft: RevisedDraft,
    },
    /// The plan was compared with the person's other plans as they are now.
    OverlapsFound {
        report: Box<OverlapReport>,
    },
    /// Blocks of other plans no longer keep their time from this one: they move when it is approved.
    OtherBlocksFreed {
        blocks: Vec<String>,
    },
    /// A change request in words was read as operations, which the next draft contains.
    RequestRead {
        text: String,
        edits: Vec<PlanEdit>,
    },
    /// The last change was undone, or redone.
    Undone {
        again: bool,
    },
    /// The conversation with the model that drafts began. What follows is appended to it.
    ConversationOpened {
        opening: Box<ConversationOpening>,
    },
    /// A stage began in the conversation: what is known and wanted now, and the tools that exist in it.
    StageOpened {
        state: PlanState,
        text: String,
        tools: Vec<ConversationTool>,
    },
    /// Something was said to the model that is neither a result nor its own.
    Prompted {
        source: PromptSource,
        text: String,
    },
    /// What came of a call of the model's.
    ToolAnswered {
        call: u32,
        tool: String,
        ok: bool,
        text: String,
    },
    /// Older results are shown shortened from here on.
    ResultsCompacted {
        through: u32,
    },
    /// The first entries of the conversation are replaced by a summary from here on; each can still be read by its number.
    ConversationSummarized {
        entries: u32,
        text: String,
    },
    /// What became of the change requests of the last draft.
    RequestsReported {
        reports: Vec<RequestReport>,
    },
}

impl PlanningEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Began { .. } => "planning.began",
            Self::GoalSet { .. } => "planning.goal_set",
            Self::Restated { .. } => "planning.restated",
            Self::GoalReworded { .. } => "planning.goal_reworded",
            Self::Moved { .. } => "planning.moved",
            Self::ContextSet { .. } => "planning.context_set",
            Self::QuestionsFound { .. } => "planning.questions_found",
            Self::QuestionsAnswered { .. } => "planning.questions_answered",
            Self::PatternPicked { .. } => "planning.pattern_picked",
            Self::OutlineDrafted { .. } => "planning.outline_drafted",
            Self::RoadmapDrafted { .. } => "planning.roadmap_drafted",
            Self::ScheduleDrafted { .. } => "planning.schedule_drafted",
            Self::Judged { .. } => "planning.judged",
            Self::Traced { .. } => "planning.traced",
            Self::Logged { .. } => "planning.logged",
            Self::Adapted { .. } => "planning.adapted",
            Self::ChangesRequested { .. } => "planning.changes_requested",
            Self::WishesMet { .. } => "planning.wishes_met",
            Self::OptionPicked { .. } => "planning.option_picked",
            Self::OptionsExcluded { .. } => "planning.options_excluded",
            Self::Relaxed { .. } => "planning.relaxed",
            Self::AcceptedLate { .. } => "planning.accepted_late",
            Self::Commented { .. } => "planning.commented",
            Self::CommentSettled { .. } => "planning.comment_settled",
            Self::NodeLocked { .. } => "planning.node_locked",
            Self::NodeUnlocked { .. } => "planning.node_unlocked",
            Self::PolicySet { .. } => "planning.policy_set",
            Self::WorkFrozen { .. } => "planning.work_frozen",
            Self::CaughtUp { .. } => "planning.caught_up",
            Self::CatchUpUndone {} => "planning.catch_up_undone",
            Self::IdeaTaken { .. } => "planning.idea_taken",
            Self::KindChosen { .. } => "planning.kind_chosen",
            Self::Restored { .. } => "planning.restored",
            Self::Said { .. } => "planning.said",
            Self::Remarked { .. } => "planning.remarked",
            Self::StyleUnknown {} => "planning.style_unknown",
            Self::StyleAsked {} => "planning.style_asked",
            Self::IdeasOffered { .. } => "planning.ideas_offered",
            Self::Troubled { .. } => "planning.troubled",
            Self::DrafterSet { .. } => "planning.drafter_set",
            Self::WentOffline { .. } => "planning.went_offline",
            Self::Edited { .. } => "planning.edited",
            Self::Revised { .. } => "planning.revised",
            Self::ChangePutBack { .. } => "planning.change_put_back",
            Self::OverlapsFound { .. } => "planning.overlaps_found",
            Self::OtherBlocksFreed { .. } => "planning.other_blocks_freed",
            Self::RequestRead { .. } => "planning.request_read",
            Self::Undone { .. } => "planning.undone",
            Self::ConversationOpened { .. } => "planning.conversation_opened",
            Self::StageOpened { .. } => "planning.stage_opened",
            Self::Prompted { .. } => "planning.prompted",
            Self::ToolAnswered { .. } => "planning.tool_answered",
            Self::ResultsCompacted { .. } => "planning.results_compacted",
            Self::ConversationSummarized { .. } => "planning.conversation_summarized",
            Self::RequestsReported { .. } => "planning.requests_reported",
        }
    }
}
