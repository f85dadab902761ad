//! What happens at the approval desk, as entries of the trace.

use super::{EntryProjection, TraceEntryKind};
use planwright_model::event::DeskEvent;
use planwright_model::{
    CommentOutcome, DeskChannel, LineComment, ProgressReport, ReportedTaskState, SubmittingAgent,
};
use planwright_text::units::format_counted;

pub(super) fn entry_kind(event: &DeskEvent) -> TraceEntryKind {
    match event {
        DeskEvent::Opened { .. } => TraceEntryKind::Session,
        DeskEvent::Submitted { .. } => TraceEntryKind::Plan,
        DeskEvent::LineCommented { .. } | DeskEvent::LineCommentSettled { .. } => {
            TraceEntryKind::Answered
        }
        DeskEvent::DecisionRead { .. } => TraceEntryKind::Observed,
        DeskEvent::Reported { report } => match report.state {
            ReportedTaskState::Started => TraceEntryKind::Started,
            ReportedTaskState::Done => TraceEntryKind::Done,
            ReportedTaskState::Failed => TraceEntryKind::Failed,
            ReportedTaskState::Skipped => TraceEntryKind::Skipped,
        },
    }
}

pub(super) fn project_desk(event: &DeskEvent) -> EntryProjection {
    let kind = entry_kind(event);
    let mut body = None;
    let text = match event {
        DeskEvent::Opened { agent } => describe_agent(agent),
        DeskEvent::Submitted { submission } => {
            body = Some(submission.text.clone());
            let lines = format_counted(submission.text.lines().count(), "line");
            format!("draft {} submitted, {lines}", submission.revision)
        }
        DeskEvent::LineCommented { comment } => {
            body = Some(comment.quote.clone());
            describe_comment(comment)
        }
        DeskEvent::LineCommentSettled { id, outcome } => match outcome {
            CommentOutcome::Addressed { how } => format!("comment {id} addressed: {how}"),
            CommentOutcome::Declined { why } => format!("comment {id} declined: {why}"),
            CommentOutcome::Stale => format!("comment {id} is stale: its line is gone"),
        },
        DeskEvent::DecisionRead { revision } => {
            format!("the agent has read your decision about draft {revision}")
        }
        DeskEvent::Reported { report } => {
            body = (report.evidence.len() > 1).then(|| report.evidence.join("\n"));
            describe_report(report)
        }
    };
    (kind, text, body)
}

fn describe_agent(agent: &SubmittingAgent) -> String {
    let name = if agent.name.is_empty() { "an agent" } else { &agent.name };
    let version = if agent.version.is_empty() { "" } else { " " };
    let how = match agent.channel {
        DeskChannel::Mcp => "over MCP",
        DeskChannel::Hook => "through its hook",
    };
    format!("opened by {name}{version}{} {how}", agent.version)
}

fn describe_comment(comment: &LineComment) -> String {
    format!("comment on line {}: {}", comment.line, comment.text)
}

/// The agent's claim with the first of its evidence.
fn describe_report(report: &ProgressReport) -> String {
    let state = report.state.label();
    match report.evidence.first() {
        Some(evidence) => format!("{state}, says the agent: {evidence}"),
        None => format!("{state}, says the agent"),
    }
}
