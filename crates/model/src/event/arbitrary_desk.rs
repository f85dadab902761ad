//! Any event of the approval desk.

use std::sync::Arc;

use proptest::prelude::*;

use super::DeskEvent;
use super::arbitrary::task_id;
use crate::{
    CommentOutcome, DeskChannel, Digest, LineComment, NodeLines, PlanSubmission, ProgressReport,
    ReportedTaskState, Severity, SubmissionFormat, SubmittingAgent, TaskId, Violation,
};

fn outcome() -> impl Strategy<Value = CommentOutcome> {
    prop_oneof![
        "[ -~]{0,12}".prop_map(|how| CommentOutcome::Addressed { how }),
        "[ -~]{0,12}".prop_map(|why| CommentOutcome::Declined { why }),
        Just(CommentOutcome::Stale),
    ]
}

fn submission(revision: u32, text: String, node: TaskId) -> DeskEvent {
    let finding = Violation::new("bad_value", Severity::Warning, "no steps", "Number the steps.");
    let submission = PlanSubmission {
        revision,
        hash: Digest::from_json(&serde_json::json!(revision)),
        format: SubmissionFormat::Markdown,
        text,
        node_lines: vec![NodeLines { node: node.clone(), first: 1, last: 2 }],
        findings: vec![finding.with_nodes([node])],
    };
    DeskEvent::Submitted { submission: Arc::new(submission) }
}

/// Any event of the desk, about one of the tasks that plans in tests have.
pub(super) fn desk_event() -> impl Strategy<Value = DeskEvent> {
    let states = prop_oneof![
        Just(ReportedTaskState::Started),
        Just(ReportedTaskState::Done),
        Just(ReportedTaskState::Failed),
        Just(ReportedTaskState::Skipped),
    ];
    let evidence = prop::collection::vec("[ -~]{0,12}", 0..3);
    prop_oneof![
        1 => ("[ -~]{0,12}", any::<bool>()).prop_map(|(name, hook)| DeskEvent::Opened {
            agent: SubmittingAgent {
                name,
                version: "1".into(),
                channel: if hook { DeskChannel::Hook } else { DeskChannel::Mcp },
                conversation: String::new(),
            },
        }),
        1 => (1..4u32, "[ -~\n]{0,40}", task_id())
            .prop_map(|(revision, text, node)| submission(revision, text, node)),
        1 => (1..4u32, 1..9u32, "[ -~]{1,12}", prop::option::of(task_id())).prop_map(
            |(id, line, text, node)| DeskEvent::LineCommented {
                comment: LineComment {
                    id,
                    revision: 1,
                    line,
                    quote: "- step".into(),
                    text,
                    node,
                    outcome: None,
                },
            }
        ),
        1 => (1..4u32, outcome())
            .prop_map(|(id, outcome)| DeskEvent::LineCommentSettled { id, outcome }),
        1 => (1..4u32).prop_map(|revision| DeskEvent::DecisionRead { revision }),
        3 => (task_id(), states, evidence, 1..4u32).prop_map(|(task, state, evidence, hash)| {
            let hash = Digest::from_json(&serde_json::json!(hash));
            DeskEvent::Reported { report: ProgressReport { task, state, evidence, hash } }
        }),
    ]
}
