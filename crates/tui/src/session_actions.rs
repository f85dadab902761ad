//! What a screen asks of the application beside the commands to its session.
//!
//! Marks, forks and comparisons are about saved sessions, and only the application knows where those are kept. Wishes
//! are answered at once; a refusal is one line for the person.

use jiff::Timestamp;

use crate::overlays::ViewFormat;
use planwright_model::{Seq, SessionId};
use planwright_schedule::OtherBlock;
use planwright_state::replay::History;
use planwright_state::replay::compare::RunComparison;
use planwright_state::replay::fork::ForkPlan;

/// An event that the person marked, and what they noted about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventBookmark {
    pub seq: Seq,
    pub note: String,
}

/// A session that another one can be compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparableSession {
    pub id: SessionId,
    pub title: String,
    /// When something last happened in it.
    pub at: Timestamp,
    /// The other one was forked from it.
    pub is_parent: bool,
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
    /// The sessions that this one can be compared with: the one it was forked from, then the latest first.
    fn comparable_sessions(&self, session: &SessionId) -> Result<Vec<ComparableSession>, String>;
    /// The blocks of the person's other plans, around which this one is planned.
    fn other_plan_blocks(&self, session: &SessionId) -> Result<Vec<OtherBlock>, String>;
    /// Writes a comparison to a file, and says where.
    fn export_comparison(&self, comparison: &RunComparison) -> Result<String, String>;
    /// Writes what a screen shows to a file, and says where.
    fn export_view(
        &self,
        session: &SessionId,
        format: ViewFormat,
        text: &str,
    ) -> Result<String, String>;
    /// Writes a session to a file, and says where.
    fn export_session(&self, session: &SessionId, export: SessionExport) -> Result<String, String>;
}

/// A form in which a saved session can be written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionExport {
    PlanFile,
    PlanJson,
    PlanFlowchart,
    PlanGantt,
    PlanDot,
    PlanCalendar,
    TaskTable,
    RunReport,
    RunPage,
    RunTraces,
    RunResult,
    RunSpans,
    RunEvents,
}

impl SessionExport {
    /// All of them, the plan first.
    pub const ALL: [Self; 13] = [
        Self::PlanFile,
        Self::PlanCalendar,
        Self::PlanFlowchart,
        Self::PlanGantt,
        Self::PlanJson,
        Self::PlanDot,
        Self::TaskTable,
        Self::RunReport,
        Self::RunPage,
        Self::RunTraces,
        Self::RunResult,
        Self::RunSpans,
        Self::RunEvents,
    ];

    /// Whether it needs a plan and nothing else.
    pub fn is_about_plan(self) -> bool {
        matches!(
            self,
            Self::PlanFile
                | Self::PlanJson
                | Self::PlanFlowchart
                | Self::PlanGantt
                | Self::PlanDot
                | Self::PlanCalendar
                | Self::TaskTable
        )
    }

    /// What it is called among the commands.
    pub fn title(self) -> &'static str {
        match self {
            Self::PlanFile => "Export the plan as TOML",
            Self::PlanJson => "Export the plan as JSON",
            Self::PlanFlowchart => "Export the plan as Mermaid",
            Self::PlanGantt => "Export the plan as a Gantt chart",
            Self::PlanDot => "Export the plan for Graphviz",
            Self::PlanCalendar => "Export the plan as a calendar",
            Self::TaskTable => "Export the tasks as CSV",
            Self::RunReport => "Export a report in Markdown",
            Self::RunPage => "Export the run as a web page",
            Self::RunTraces => "Export the traces as JSON",
            Self::RunResult => "Export the result as JSON",
            Self::RunSpans => "Export the run as OpenTelemetry",
            Self::RunEvents => "Export every event",
        }
    }

    /// What it is good for.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::PlanFile => "a plan file that can be edited and run",
            Self::PlanJson => "every field of the plan",
            Self::PlanFlowchart => "a flowchart for Markdown pages",
            Self::PlanGantt => "a Mermaid chart of the dates",
            Self::PlanDot => "a graph for dot",
            Self::PlanCalendar => "an .ics file for your calendar",
            Self::TaskTable => "status and times for a spreadsheet",
            Self::RunReport => "what was planned, run and decided",
            Self::RunPage => "one page with graph and activity",
            Self::RunTraces => "the ReAct traces of all attempts",
            Self::RunResult => "status, traces and log",
            Self::RunSpans => "OTLP spans as JSON",
            Self::RunEvents => "a .jsonl file that can be imported again",
        }
    }

    /// How the name of its file ends.
    pub fn file_ending(self) -> &'static str {
        match self {
            Self::PlanFile => "toml",
            Self::PlanJson => "plan.json",
            Self::PlanFlowchart => "mmd",
            Self::PlanGantt => "gantt.mmd",
            Self::PlanDot => "dot",
            Self::PlanCalendar => "ics",
            Self::TaskTable => "csv",
            Self::RunReport => "md",
            Self::RunPage => "html",
            Self::RunTraces => "traces.json",
            Self::RunResult => "result.json",
            Self::RunSpans => "otlp.json",
            Self::RunEvents => "jsonl",
        }
    }
}
