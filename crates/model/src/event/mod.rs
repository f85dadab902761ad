//! The vocabulary: what can happen ([`Event`]), when and in which order it did ([`Record`]), and what people can wish
//! for ([`Command`]).
//!
//! Events are grouped by subject, so that no enum outgrows a screen. A kind that this version does not know is kept
//! verbatim as [`Event::Unknown`]; it is counted and shown, never dropped and never a crash.

mod agent;
#[cfg(any(test, feature = "fixtures"))]
pub mod arbitrary;
#[cfg(any(test, feature = "fixtures"))]
mod arbitrary_agent;
mod call;
mod codec;
mod command;
mod fact;
#[cfg(test)]
mod kept_rows;
mod planning;
mod record;
mod run;
mod schema;
#[cfg(any(test, feature = "fixtures"))]
mod schema_check;
mod session_and_plan;
mod task;
mod worktree;

pub use agent::{AgentEvent, AnsweredCall};
pub use call::{
    CallEvent, CallOutcome, FileChange, OutputStream, RepeatClass, RiskClass, SpoolRange, Usage,
};
pub use codec::{EventDecodeError, UnknownEvent};
pub use command::{Command, CommandRefusal};
pub use fact::FactEvent;
pub use planning::{PlanSketch, PlanningEvent, RevisedDraft};
pub use record::{Record, truncate_to_micros};
pub use run::{PauseCause, RunCounts, RunEvent};
pub use schema::{
    AnsweredLine, DetachedLine, DraftedCommand, WaitingForPerson, WaitingLine, event_line_schema,
};
#[cfg(any(test, feature = "fixtures"))]
pub use schema_check::schema_fault;
pub use session_and_plan::{ApprovalEvent, CloseReason, PlanEvent, SessionEvent};
pub use task::TaskEvent;
pub use worktree::{DiscardCause, WorktreeEvent};

use crate::MicroDollars;

/// The major version of the event format. A journal or export with a greater one is refused.
pub const FORMAT: u32 = 1;

/// A fact. Past tense, never refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Session(SessionEvent),
    Plan(PlanEvent),
    Approval(ApprovalEvent),
    Run(RunEvent),
    Task(TaskEvent),
    Call(CallEvent),
    Planning(PlanningEvent),
    Agent(AgentEvent),
    Fact(FactEvent),
    Worktree(WorktreeEvent),
    /// Written by a newer version, or damaged; kept byte for byte.
    Unknown(UnknownEvent),
}

impl Event {
    /// The kinds whose events may say that money was spent.
    pub const KINDS_WITH_COST: [&str; 3] =
        ["call.concluded", "agent.model_answered", "agent.model_failed"];

    /// The money it says was spent.
    pub fn cost(&self) -> MicroDollars {
        match self {
            Self::Call(CallEvent::Concluded { usage, .. }) => usage.cost,
            Self::Agent(
                AgentEvent::ModelAnswered { cost, .. } | AgentEvent::ModelFailed { cost, .. },
            ) => cost.unwrap_or_default(),
            _ => MicroDollars::ZERO,
        }
    }

    /// The subject, as it stands in the journal.
    pub fn topic(&self) -> &str {
        match self {
            Self::Session(_) => "session",
            Self::Plan(_) => "plan",
            Self::Approval(_) => "approval",
            Self::Run(_) => "run",
            Self::Task(_) => "task",
            Self::Call(_) => "call",
            Self::Planning(_) => "planning",
            Self::Agent(_) => "agent",
            Self::Fact(_) => "fact",
            Self::Worktree(_) => "worktree",
            Self::Unknown(unknown) => unknown.topic(),
        }
    }

    /// The task it is about, if it is about one.
    pub fn task_id(&self) -> Option<&crate::TaskId> {
        match self {
            Self::Task(event) => Some(event.task_id()),
            Self::Call(event) => Some(&event.call_id().task),
            Self::Agent(event) => event.task_id(),
            Self::Worktree(event) => Some(event.task_id()),
            _ => None,
        }
    }
}

macro_rules! from_subject {
    ($($subject:ident => $event:ty),* $(,)?) => {
        $(impl From<$event> for Event {
            fn from(event: $event) -> Self {
                Self::$subject(event)
            }
        })*
    };
}

from_subject! {
    Session => SessionEvent,
    Plan => PlanEvent,
    Approval => ApprovalEvent,
    Run => RunEvent,
    Task => TaskEvent,
    Call => CallEvent,
    Planning => PlanningEvent,
    Agent => AgentEvent,
    Fact => FactEvent,
    Worktree => WorktreeEvent,
}
