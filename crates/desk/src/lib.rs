//! The approval desk: agents of other programs submit their plans, and a person decides in Planwright.
//!
//! A ticket is a session like any other. The desk writes to the store and reads from it; it has no terminal, shows
//! nothing and decides nothing. What an agent sends is foreign text: nothing in it is an answer, and only an answer of
//! a person approves a plan.

mod agent_processes;
mod decision_report;
pub mod hook;
#[cfg(feature = "mcp")]
pub mod mcp;
mod plan_report;
mod progress_reports;
mod submit;
mod ticket_commands;
mod ticket_desk;
mod ticket_list;
mod waiting;

pub use agent_processes::{AgentProcesses, agent_variable};
pub use decision_report::{CommentReport, DecisionReport};
pub use plan_report::{NodeReport, PlanReport, TicketSummary};
pub use progress_reports::ReportedProgress;
pub use submit::{SubmissionReport, SubmitRequest, SubmittedNode};
pub use ticket_commands::CommentPlace;
pub use ticket_desk::{DeskError, StoreOpener, TicketDesk};
pub use waiting::{InquiryOutcome, MAX_WAIT};
