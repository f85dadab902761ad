//! What an agent is told about the person's decision.

use serde::Serialize;

use planwright_model::TaskId;
use planwright_plan::export::markdown_escape;
use planwright_state::{DeskDecision, SessionState};

/// A comment of the person's that nobody has addressed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommentReport {
    pub id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The title of the node.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The line of the submitted text, counted from 1, and what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub quote: String,
    pub text: String,
}

/// The person's decision about the current revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum DecisionReport {
    Pending {
        revision: u32,
        hash: String,
        next: &'static str,
    },
    Approved {
        revision: u32,
        hash: String,
        /// Who carries the plan out: `you`, or `planwright`.
        carried_out_by: &'static str,
        /// The plan as it was approved, where the person edited it.
        #[serde(skip_serializing_if = "Option::is_none")]
        edited_plan: Option<String>,
        next: &'static str,
    },
    Changes {
        revision: u32,
        text: String,
        comments: Vec<CommentReport>,
        /// The nodes that the request is limited to; empty if it is about the whole plan.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<String>,
        next: &'static str,
    },
    Rejected {
        revision: u32,
        reason: String,
        next: &'static str,
    },
}

impl DecisionReport {
    pub fn from_state(state: &SessionState) -> Self {
        let current = state.plan.current.as_deref();
        let revision = current.map_or(0, |current| current.revision);
        match state.desk_decision() {
            DeskDecision::Pending => Self::Pending {
                revision,
                hash: current.map(|current| current.hash.to_string()).unwrap_or_default(),
                next: "The person has not decided. Call wait_for_decision again; do not start.",
            },
            DeskDecision::Approved { hash, runs_here } => Self::Approved {
                revision,
                hash: hash.to_string(),
                carried_out_by: if runs_here { "planwright" } else { "you" },
                edited_plan: edited_plan(state),
                next: if runs_here {
                    "Planwright carries out the plan. Do not carry it out yourself."
                } else {
                    "Carry out the plan as approved and report each task with report_progress and \
                     this hash. A changed plan must be submitted with revise_plan first."
                },
            },
            DeskDecision::Changes { text, nodes } => Self::Changes {
                revision,
                text: text.to_owned(),
                comments: open_comments(state),
                nodes: nodes.iter().map(TaskId::to_string).collect(),
                next: "Change the plan and submit all of it with revise_plan, with a reply to each \
                       comment. Do not start.",
            },
            DeskDecision::Rejected { reason } => Self::Rejected {
                revision,
                reason: reason.to_owned(),
                next: "The person does not want this plan. Do not carry it out.",
            },
        }
    }

    /// Whether the person has decided.
    pub fn is_decided(&self) -> bool {
        !matches!(self, Self::Pending { .. })
    }

    /// The revision that it is about.
    pub fn revision(&self) -> u32 {
        match self {
            Self::Pending { revision, .. }
            | Self::Approved { revision, .. }
            | Self::Changes { revision, .. }
            | Self::Rejected { revision, .. } => *revision,
        }
    }
}

/// The approved plan as Markdown, if it is not the one that the agent submitted.
fn edited_plan(state: &SessionState) -> Option<String> {
    let current = state.plan.current.as_deref()?;
    let submitted = state.desk.submission.as_deref()?;
    (submitted.hash != current.hash).then(|| plan_markdown(state))
}

/// The plan as a checklist in Markdown, each step with its id.
pub(crate) fn plan_markdown(state: &SessionState) -> String {
    let Some(current) = state.plan.current.as_deref() else { return String::new() };
    let mut text = format!("# {}\n\n", markdown_escape(&current.plan.title));
    for id in &current.facts.execution_order {
        let Some(task) = current.plan.tasks.iter().find(|task| task.id == *id) else { continue };
        let line = format!("- [ ] {} ({})\n", markdown_escape(&task.description), task.id);
        text.push_str(&line);
    }
    text
}

/// The comments that the agent should act on.
pub(crate) fn open_comments(state: &SessionState) -> Vec<CommentReport> {
    let title = |node: &TaskId| state.row_title(node).unwrap_or_default().to_owned();
    let submission = state.desk.submission.as_deref();
    let on_nodes = state.planning.comments.iter().filter(|comment| comment.outcome.is_none());
    let mut reports: Vec<CommentReport> = on_nodes
        .map(|comment| CommentReport {
            id: comment.id,
            node: Some(comment.node.to_string()),
            title: title(&comment.node),
            line: submission.and_then(|submission| submission.line_of_node(&comment.node)),
            quote: String::new(),
            text: comment.text.clone(),
        })
        .collect();
    let on_lines = state.desk.line_comments.iter().filter(|comment| comment.outcome.is_none());
    reports.extend(on_lines.map(|comment| CommentReport {
        id: comment.id,
        node: comment.node.as_ref().map(TaskId::to_string),
        title: comment.node.as_ref().map(title).unwrap_or_default(),
        line: Some(comment.line),
        quote: comment.quote.clone(),
        text: comment.text.clone(),
    }));
    reports.sort_by_key(|report| report.id);
    reports
}
