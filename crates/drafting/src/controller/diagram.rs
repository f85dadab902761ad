//! The table as a diagram, with the path that a session took.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::transition_table::{ROWS, TransitionRow, TransitionSource, TransitionTarget};
use planwright_model::{PauseKind, PlanState, Stage};

/// An edge of the diagram.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ControllerEdge {
    from: &'static str,
    to: &'static str,
    label: String,
    walked: bool,
}

fn source_states(row: &TransitionRow) -> Vec<PlanState> {
    match row.from {
        TransitionSource::Any => Vec::new(),
        TransitionSource::AnyDraft => Stage::ALL.map(Stage::draft_state).into(),
        TransitionSource::At(state) => vec![state],
        TransitionSource::Seeking(_) | TransitionSource::AnySeeking => {
            vec![PlanState::SeekApproval]
        }
        TransitionSource::Paused(_) => vec![PlanState::NeedsClarification],
    }
}

fn target_states(row: &TransitionRow, from: PlanState) -> Vec<PlanState> {
    match row.to {
        TransitionTarget::To(state) => vec![state],
        TransitionTarget::Pause(_) | TransitionTarget::Overdue => {
            vec![PlanState::NeedsClarification]
        }
        TransitionTarget::Seek(_) => vec![PlanState::SeekApproval],
        TransitionTarget::Stay => vec![from],
        TransitionTarget::Scope | TransitionTarget::Resume => {
            Stage::ALL.map(Stage::draft_state).into()
        }
    }
}

fn collect_edges(walked: &BTreeSet<String>) -> Vec<ControllerEdge> {
    let mut arrows: Vec<ControllerEdge> = Vec::new();
    for row in ROWS {
        for from in source_states(row) {
            for to in target_states(row, from) {
                let label = match row.to {
                    TransitionTarget::Pause(pause) => {
                        format!("{} ({})", row.outcome.as_str(), pause.as_str())
                    }
                    TransitionTarget::Overdue => {
                        format!("{} ({})", row.outcome.as_str(), PauseKind::Approval.as_str())
                    }
                    TransitionTarget::Seek(target) => {
                        format!("{} ({})", row.outcome.as_str(), target.as_str())
                    }
                    _ => row.outcome.as_str().to_owned(),
                };
                let walked = walked.contains(row.id);
                let same = |arrow: &ControllerEdge| {
                    arrow.from == from.as_str() && arrow.to == to.as_str() && arrow.label == label
                };
                match arrows.iter_mut().find(|arrow| same(arrow)) {
                    Some(arrow) => arrow.walked |= walked,
                    None => {
                        arrows.push(ControllerEdge {
                            from: from.as_str(),
                            to: to.as_str(),
                            label,
                            walked,
                        });
                    }
                }
            }
        }
    }
    arrows
}

/// Renders the table as a Mermaid state diagram. `walked` contains the rows that a session went through.
pub fn render_mermaid(walked: &BTreeSet<String>) -> String {
    let mut out = "stateDiagram-v2\n    [*] --> COLLECT_CONTEXT\n".to_owned();
    for arrow in collect_edges(walked) {
        let mark = if arrow.walked { " *" } else { "" };
        let _ = writeln!(out, "    {} --> {} : {}{mark}", arrow.from, arrow.to, arrow.label);
    }
    out.push_str("    COMPLETE --> [*]\n    ABORTED --> [*]\n");
    out
}

/// Renders the table as a Graphviz graph.
pub fn render_dot(walked: &BTreeSet<String>) -> String {
    let mut out = "digraph controller {\n    rankdir=LR;\n    node [shape=box];\n".to_owned();
    for arrow in collect_edges(walked) {
        let style = if arrow.walked { ", penwidth=3" } else { "" };
        let _ =
            writeln!(out, "    {} -> {} [label=\"{}\"{style}];", arrow.from, arrow.to, arrow.label);
    }
    out.push_str("}\n");
    out
}
