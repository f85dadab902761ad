//! The approval desk: plans that agents of other programs submit, and what the person and the agent say about them.

use serde::{Deserialize, Serialize};

use super::task::is_default;
use super::{CommentOutcome, Digest, TaskId, Violation};

/// How an agent reaches the desk.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DeskChannel {
    /// The tools of the MCP server.
    #[default]
    Mcp,
    /// A hook in the agent's settings.
    Hook,
}

/// The agent that submits plans to a session. What it says of itself is foreign text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SubmittingAgent {
    /// Its product name, such as `Claude Code`.
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    pub channel: DeskChannel,
    /// What the agent calls its own conversation, by which a hook finds its ticket again; empty if it has no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub conversation: String,
}

/// The format that a plan was submitted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionFormat {
    Markdown,
    Toml,
    Json,
}

/// The lines of the submitted text that a node of the plan comes from, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NodeLines {
    pub node: TaskId,
    pub first: u32,
    pub last: u32,
}

/// A plan as it was submitted: the text itself, and where its nodes are in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlanSubmission {
    /// The revision of the plan that was read from it.
    pub revision: u32,
    pub hash: Digest,
    pub format: SubmissionFormat,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_lines: Vec<NodeLines>,
    /// What was found while it was read; nothing of it keeps the plan from being used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Violation>,
}

impl PlanSubmission {
    /// The node that a line belongs to: the one with the fewest lines, where one is inside another.
    pub fn node_at_line(&self, line: u32) -> Option<&TaskId> {
        let around =
            self.node_lines.iter().filter(|lines| (lines.first..=lines.last).contains(&line));
        around.min_by_key(|lines| lines.last - lines.first).map(|lines| &lines.node)
    }

    /// The first line of a node.
    pub fn line_of_node(&self, node: &TaskId) -> Option<u32> {
        self.node_lines.iter().find(|lines| lines.node == *node).map(|lines| lines.first)
    }

    /// A line of the text, counted from 1.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.text.lines().nth(number.checked_sub(1)? as usize)
    }
}

/// A remark of the person's on one line of a submitted plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LineComment {
    /// Counted together with the comments on nodes, so that an id names one of either.
    pub id: u32,
    /// The revision whose text has the line.
    pub revision: u32,
    /// Counted from 1.
    pub line: u32,
    /// The line as it was.
    pub quote: String,
    pub text: String,
    /// The node that the line belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CommentOutcome>,
}

/// What an agent says has become of a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CommentReply {
    pub comment: u32,
    /// Whether the agent did what the comment asks for.
    pub addressed: bool,
    /// How, or why not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// How far an agent says that a task has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedTaskState {
    Started,
    Done,
    Failed,
    Skipped,
}

impl ReportedTaskState {
    /// The word for it in sentences.
    pub fn label(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// What an agent reports about a task of its approved plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProgressReport {
    pub task: TaskId,
    pub state: ReportedTaskState,
    /// What shows it, in the agent's words: files, commands with their result, links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The approved revision that the agent works by.
    pub hash: Digest,
}

/// Something that an agent of another program asks the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "asks", rename_all = "snake_case")]
pub enum DeskInquiry {
    /// A question in words.
    Question {
        question: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// Whether it may use one of its own tools.
    Permission {
        /// The agent's own name for the tool.
        tool: String,
        /// What exactly the tool would do: a command, or the arguments as JSON.
        action: String,
        /// Whether the action is a command.
        #[serde(default, skip_serializing_if = "is_default")]
        is_command: bool,
        /// The directory it would happen in.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        directory: String,
        /// What the agent says it is for.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
}

/// Another revision of a plan, as its agent hands it in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SubmittedRevision {
    pub plan: super::Plan,
    pub facts: super::GraphFacts,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normalization: Vec<super::NormalizationChange>,
    pub format: SubmissionFormat,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_lines: Vec<NodeLines>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Violation>,
    /// What became of the comments on the revision before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<CommentReply>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_innermost_node() {
        let lines = |node: &str, first, last| NodeLines { node: node.into(), first, last };
        let submission = PlanSubmission {
            revision: 1,
            hash: Digest::from_json(&serde_json::json!(1)),
            format: SubmissionFormat::Markdown,
            text: "# A\n\n- b\n  - c\n".into(),
            node_lines: vec![lines("b", 3, 4), lines("c", 4, 4)],
            findings: Vec::new(),
        };
        assert_eq!(submission.node_at_line(3), Some(&"b".into()));
        assert_eq!(submission.node_at_line(4), Some(&"c".into()));
        assert_eq!(submission.node_at_line(1), None);
        assert_eq!(submission.line(4), Some("  - c"));
        assert_eq!((submission.line(0), submission.line(9)), (None, None));
        assert_eq!(submission.line_of_node(&"c".into()), Some(4));
    }
}
