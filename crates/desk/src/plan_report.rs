//! A ticket as an agent reads it: where it stands, its steps, its text.

use serde::Serialize;

use crate::decision_report::{CommentReport, DecisionReport, open_comments, plan_markdown};
use planwright_model::SessionId;
use planwright_state::SessionState;

/// A ticket in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TicketSummary {
    pub ticket: String,
    pub title: String,
    pub workspace: String,
    pub revision: u32,
    pub hash: String,
    pub decision: DecisionReport,
    pub done: u32,
    pub total: u32,
}

impl TicketSummary {
    pub(crate) fn from_state(id: &SessionId, state: &SessionState) -> Self {
        let current = state.plan.current.as_deref();
        let counts = state.tasks.work_counts();
        Self {
            ticket: id.to_string(),
            title: state.session.title.clone(),
            workspace: state.session.workspace.clone(),
            revision: current.map_or(0, |current| current.revision),
            hash: current.map(|current| current.hash.to_string()).unwrap_or_default(),
            decision: DecisionReport::from_state(state),
            done: counts.done,
            total: counts.total(),
        }
    }
}

/// A step of the plan and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeReport {
    pub id: String,
    pub title: String,
    pub state: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What was noted about it, evidence of reports included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A ticket with everything that its agent may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanReport {
    pub ticket: TicketSummary,
    pub nodes: Vec<NodeReport>,
    pub comments: Vec<CommentReport>,
    /// The text that the agent submitted last.
    pub submitted_text: String,
    /// The current plan as Markdown.
    pub plan: String,
}

impl PlanReport {
    pub(crate) fn from_state(id: &SessionId, state: &SessionState) -> Self {
        let submission = state.desk.submission.as_deref();
        let tasks = state.plan.current.iter().flat_map(|current| &current.plan.tasks);
        let nodes = tasks.map(|task| {
            let row = state.tasks.get(&task.id);
            NodeReport {
                id: task.id.to_string(),
                title: task.description.clone(),
                state: row.map_or("waiting", |row| row.status.label()),
                after: task.dependencies.iter().map(|link| link.task.to_string()).collect(),
                line: submission.and_then(|submission| submission.line_of_node(&task.id)),
                notes: row
                    .map(|row| row.notes.iter().map(|note| note.text.to_string()).collect())
                    .unwrap_or_default(),
            }
        });
        Self {
            ticket: TicketSummary::from_state(id, state),
            nodes: nodes.collect(),
            comments: open_comments(state),
            submitted_text: submission.map(|found| found.text.clone()).unwrap_or_default(),
            plan: plan_markdown(state),
        }
    }
}
