//! What people can wish for. A command may be refused; the refusal is an event.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::catch_up::{CatchUpWay, TaskOccurrence};
use crate::{
    Actor, Answer, DeskInquiry, FixedEvent, GraphFacts, NormalizationChange, OverlapShift, Plan,
    PlanEdit, PolicyOverride, ProgressReport, RequestId, ScoutGateMode, Stage, SubmittedRevision,
    TaskId,
};

/// A wish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "command", content = "with", rename_all = "snake_case")]
pub enum Command {
    /// Answers an open request.
    Answer {
        id: RequestId,
        answer: Answer,
        by: Actor,
    },
    /// Runs the approved plan, or goes on with it.
    Run {
        by: Actor,
    },
    /// Puts a new revision in the place of the plan; it asks for approval before it runs.
    Revise {
        plan: Arc<Plan>,
        facts: Arc<GraphFacts>,
        normalization: Vec<NormalizationChange>,
    },
    /// Holds the run: what is running finishes, nothing new starts.
    Pause,
    /// Lets a held run go on.
    Continue,
    /// Says that a task of the person's is done.
    CompleteTask {
        task: TaskId,
        note: Option<String>,
        by: Actor,
    },
    /// Says that a task of the person's, or one occurrence of it, is done or left out. Starts nothing.
    MarkTask {
        task: TaskId,
        occurrence: Option<u32>,
        done: bool,
        note: Option<String>,
        by: Actor,
    },
    /// Opens a task of the person's again that was marked done or skipped, or one occurrence of it.
    ReopenTask {
        task: TaskId,
        occurrence: Option<u32>,
        by: Actor,
    },
    /// Keeps a note with a task.
    NoteTask {
        task: TaskId,
        text: String,
        by: Actor,
    },
    /// Writes to the agent of a task; it is delivered before its next turn, or ends its turn.
    MessageTask {
        task: TaskId,
        text: String,
        by: Actor,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupt: bool,
    },
    /// Restores what the files of a task were before its changes were applied.
    UndoChanges {
        task: TaskId,
        by: Actor,
    },
    /// Moves a block of the schedule to another time; what it displaces finds another place.
    MoveBlock {
        block: String,
        to: Timestamp,
    },
    /// Moves blocks out of the way of another plan of the person's; without any, notes that blocks of that plan moved.
    ShiftBlocks {
        shifts: Vec<OverlapShift>,
        /// The title of the other plan.
        other_plan: String,
        /// Minutes by which blocks of the other plan moved.
        #[serde(default)]
        moved_there: i64,
        /// Time that is taken, should the blocks have to go elsewhere.
        #[serde(default)]
        busy: Vec<FixedEvent>,
        by: Actor,
    },
    /// Plans late tasks of an approved plan again, in one of several ways.
    CatchUp {
        way: CatchUpWay,
        /// Late tasks that stay as they are.
        left_out: Vec<TaskOccurrence>,
        /// Time that the person's other plans take, as it was when the way was shown.
        busy: Vec<FixedEvent>,
        by: Actor,
    },
    /// Opens a plan again that was discarded, with its question.
    RestorePlan {
        by: Actor,
    },
    /// Runs a failed or skipped task again.
    RetryTask {
        task: TaskId,
        with_dependents: bool,
    },
    /// Puts a run that failed aside, so that it no longer waits for the person, or takes that back.
    DismissRun {
        on: bool,
    },
    /// Gives up on a task that has not finished.
    SkipTask {
        task: TaskId,
        with_dependents: bool,
    },
    /// Ends a running task.
    CancelTask {
        task: TaskId,
    },
    /// Changes how many tasks may run at once.
    SetJobs {
        jobs: u32,
    },
    /// Leaves it to the load of the machine how many tasks run at once.
    AdaptJobs,
    /// Changes how the person is talked to and asked: for this session, and for later ones with `save`.
    SetPolicy {
        set: PolicyOverride,
        save: bool,
        by: Actor,
    },
    /// Says for this session when something small skips ceremony.
    SetGate {
        when: ScoutGateMode,
    },
    /// Leaves a remark on a node of the plan.
    Comment {
        node: TaskId,
        text: String,
    },
    /// Keeps a node as it is through redrafts, or lets it go again.
    Lock {
        node: TaskId,
        on: bool,
    },
    /// Changes the plan by operations, all of them or none.
    Edit {
        edits: Vec<PlanEdit>,
    },
    /// Puts one change of the draft back to what it was in the draft before.
    PutBackChange {
        node: TaskId,
    },
    /// Takes a change again that was put back.
    KeepChange {
        node: TaskId,
    },
    /// Undoes the last change of the plan, or redoes it.
    Undo,
    Redo,
    /// Asks for changes of a plan that is complete or running, without an open request.
    RequestChanges {
        text: String,
        nodes: Vec<TaskId>,
        /// The stage to start from, where the person said so.
        stage: Option<Stage>,
    },
    /// Says a fact in other words; the plan follows.
    CorrectFact {
        id: u32,
        text: String,
        by: Actor,
    },
    /// Takes a fact back; the plan no longer has to respect it.
    WithdrawFact {
        id: u32,
        by: Actor,
    },
    /// Gives planning up while the agent is still at work.
    AbandonPlan {
        by: Actor,
    },
    /// Leaves a remark on a line of a plan that another program's agent submitted.
    CommentLine {
        line: u32,
        text: String,
    },
    /// An agent of another program hands in another revision of its plan. It asks for approval like the first.
    SubmitRevision {
        revision: Box<SubmittedRevision>,
    },
    /// An agent of another program says how far a task of its approved plan has come.
    ReportProgress {
        report: ProgressReport,
    },
    /// An agent of another program asks the person something.
    AskPerson {
        inquiry: DeskInquiry,
    },
    /// The agent no longer waits for an answer.
    WithdrawInquiry {
        request: RequestId,
        why: String,
    },
    /// The agent has been given the decision about a revision.
    ReadDecision {
        revision: u32,
    },
    /// Ends this process's work on the session in good order.
    Close {
        why: super::CloseReason,
    },
}

impl Command {
    /// The name a refusal is journaled under.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answer { .. } => "answer",
            Self::Run { .. } => "run",
            Self::Revise { .. } => "revise",
            Self::Pause => "pause",
            Self::Continue => "continue",
            Self::CompleteTask { .. } => "complete_task",
            Self::MarkTask { .. } => "settle",
            Self::ReopenTask { .. } => "reopen_task",
            Self::NoteTask { .. } => "note_task",
            Self::MessageTask { .. } => "message_task",
            Self::UndoChanges { .. } => "undo_changes",
            Self::MoveBlock { .. } => "move_block",
            Self::ShiftBlocks { .. } => "shift_blocks",
            Self::CatchUp { .. } => "catch_up",
            Self::RestorePlan { .. } => "restore_plan",
            Self::RetryTask { .. } => "retry_task",
            Self::DismissRun { .. } => "dismiss_run",
            Self::SkipTask { .. } => "skip_task",
            Self::CancelTask { .. } => "cancel_task",
            Self::SetJobs { .. } => "set_jobs",
            Self::AdaptJobs => "adapt_jobs",
            Self::SetPolicy { .. } => "set_policy",
            Self::SetGate { .. } => "set_gate",
            Self::Comment { .. } => "comment",
            Self::Lock { .. } => "lock",
            Self::Edit { .. } => "edit",
            Self::PutBackChange { .. } => "put_back_change",
            Self::KeepChange { .. } => "keep_change",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::RequestChanges { .. } => "request_changes",
            Self::CorrectFact { .. } => "correct_fact",
            Self::WithdrawFact { .. } => "withdraw_fact",
            Self::AbandonPlan { .. } => "abandon_plan",
            Self::CommentLine { .. } => "comment_line",
            Self::SubmitRevision { .. } => "submit_revision",
            Self::ReportProgress { .. } => "report_progress",
            Self::AskPerson { .. } => "ask_person",
            Self::WithdrawInquiry { .. } => "withdraw_inquiry",
            Self::ReadDecision { .. } => "read_decision",
            Self::Close { .. } => "close",
        }
    }
}

/// Why a command could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum CommandRefusal {
    /// The request is not open (any more).
    NotPending { id: RequestId },
    /// The request does not offer this answer.
    NotOffered { id: RequestId },
    /// Execution needs an approval that names the plan's current hash.
    NotApproved,
    /// There is no plan.
    NoPlan,
    /// No task has this id.
    UnknownTask { task: TaskId },
    /// The task is not in a state in which this makes sense.
    TaskState { task: TaskId, state: String },
    /// The run is not in a state in which this makes sense.
    RunState { state: String },
    /// The node is locked.
    Locked { node: TaskId },
    /// The result would break a rule of plans.
    BreaksRule { rule: String, message: String },
    /// A number is out of its range.
    OutOfRange { what: String },
}

impl CommandRefusal {
    /// The task or row that the reason names by its id.
    pub fn named_task(&self) -> Option<&TaskId> {
        match self {
            Self::TaskState { task, .. } => Some(task),
            Self::Locked { node } => Some(node),
            _ => None,
        }
    }
}

impl std::fmt::Display for CommandRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotPending { id } => write!(f, "question {id} is not open anymore"),
            Self::NotOffered { id } => write!(f, "not one of the answers to question {id}"),
            Self::NotApproved => f.write_str("approve the plan first"),
            Self::NoPlan => f.write_str("there is no plan yet"),
            Self::UnknownTask { task } => write!(f, "there is no task {task}"),
            Self::TaskState { task, state } => write!(f, "{task} is {state}"),
            Self::RunState { state } => write!(f, "the run is {state}"),
            Self::Locked { node } => write!(f, "{node} is locked; unlock it first"),
            Self::BreaksRule { message, .. } => f.write_str(message),
            Self::OutOfRange { what } => write!(f, "{what}"),
        }
    }
}
