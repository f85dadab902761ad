//! What a screen asks of the application beside the commands to its session.
//!
//! Marks, forks and comparisons are about saved sessions, and only the application knows where those are kept. Wishes
//! are answered at once; a refusal is one line for the person.

use planwright_model::{Seq, SessionId};
use planwright_state::replay::History;
use planwright_state::replay::compare::RunComparison;
use planwright_state::replay::fork::ForkPlan;

/// An event that the person marked, and what they noted about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventBookmark {
    pub seq: Seq,
    pub note: String,
}

/// Two sessions to look at side by side.
#[derive(Debug)]
pub struct CompareView {
    pub comparison: RunComparison,
    pub a: History,
    pub b: History,
}

/// Whoever answers the requests of screens.
pub trait SessionActions: Send + Sync + std::fmt::Debug {
    /// Marks an event, or takes its mark away when there is no note, not even an empty one.
    fn set_bookmark(&self, session: &SessionId, at: Seq, note: Option<&str>) -> Result<(), String>;
    /// What a fork after an event would do again and what it would take over.
    fn plan_fork(&self, session: &SessionId, at: Seq) -> Result<ForkPlan, String>;
    /// Makes that fork.
    fn create_fork(&self, session: &SessionId, at: Seq) -> Result<SessionId, String>;
    /// Compares a session with the one that the person named.
    fn compare_sessions(&self, session: &SessionId, with: &str) -> Result<CompareView, String>;
    /// Writes a comparison to a file, and says where.
    fn export_comparison(&self, comparison: &RunComparison) -> Result<String, String>;
}
