//! Facts about a session that another program's agent opened to have its plans approved.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{CommentOutcome, LineComment, PlanSubmission, ProgressReport, SubmittingAgent};

/// What happens at the approval desk, beside plans, questions and answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DeskEvent {
    /// An agent opened the session. It comes right after the first event and makes the session a ticket: what is in
    /// it came from elsewhere.
    Opened {
        agent: SubmittingAgent,
    },
    /// The text that the next revision of the plan was read from.
    Submitted {
        submission: Arc<PlanSubmission>,
    },
    /// The person left a remark on a line of the submitted text.
    LineCommented {
        comment: LineComment,
    },
    LineCommentSettled {
        id: u32,
        outcome: CommentOutcome,
    },
    /// The agent has been given the decision about a revision.
    DecisionRead {
        revision: u32,
    },
    /// The agent says how far a task has come. It is a claim with evidence, and nothing ran here.
    Reported {
        report: ProgressReport,
    },
}

impl DeskEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "desk.opened",
            Self::Submitted { .. } => "desk.submitted",
            Self::LineCommented { .. } => "desk.line_commented",
            Self::LineCommentSettled { .. } => "desk.line_comment_settled",
            Self::DecisionRead { .. } => "desk.decision_read",
            Self::Reported { .. } => "desk.reported",
        }
    }

    /// The task it is about, if it is about one.
    pub fn task_id(&self) -> Option<&crate::TaskId> {
        match self {
            Self::Reported { report } => Some(&report.task),
            _ => None,
        }
    }
}
