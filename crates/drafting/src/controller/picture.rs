//! The table as a picture, with the path that a session took.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::table::{ROWS, Row, Source, Target};
use planwright_model::{PauseKind, PlanState, Stage};

/// An edge of the picture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: &'static str,
    to: &'static str,
    label: String,
    walked: bool,
}

fn sources(row: &Row) -> Vec<PlanState> {
    match row.from {
        Source::Any => Vec::new(),
        Source::AnyDraft => Stage::ALL.map(Stage::draft).into(),
        Source::At(state) => vec![state],
        Source::Seeking(_) | Source::AnySeeking => vec![PlanState::SeekApproval],
        Source::Paused(_) => vec![PlanState::NeedsClarification],
    }
}

fn targets(row: &Row, from: PlanState) -> Vec<PlanState> {
    match row.to {
        Target::To(state) => vec![state],
        Target::Pause(_) | Target::Overdue => vec![PlanState::NeedsClarification],
        Target::Seek(_) => vec![PlanState::SeekApproval],
        Target::Stay => vec![from],
        Target::Scope | Target::Resume => Stage::ALL.map(Stage::draft).into(),
    }
}

fn arrows(walked: &BTreeSet<String>) -> Vec<Arrow> {
    let mut arrows: Vec<Arrow> = Vec::new();
    for row in ROWS {
        for from in sources(row) {
            for to in targets(row, from) {
                let label = match row.to {
                    Target::Pause(pause) => {
                        format!("{} ({})", row.outcome.as_str(), pause.as_str())
                    }
                    Target::Overdue => {
                        format!("{} ({})", row.outcome.as_str(), PauseKind::Approval.as_str())
                    }
                    Target::Seek(target) => {
                        format!("{} ({})", row.outcome.as_str(), target.as_str())
                    }
                    _ => row.outcome.as_str().to_owned(),
                };
                let walked = walked.contains(row.id);
                let same = |arrow: &Arrow| {
                    arrow.from == from.as_str() && arrow.to == to.as_str() && arrow.label == label
                };
                match arrows.iter_mut().find(|arrow| same(arrow)) {
                    Some(arrow) => arrow.walked |= walked,
                    None => {
                        arrows.push(Arrow { from: from.as_str(), to: to.as_str(), label, walked });
                    }
                }
            }
        }
    }
    arrows
}

/// The table as a Mermaid state diagram. `walked` names the rows that a session went through.
pub fn mermaid(walked: &BTreeSet<String>) -> String {
    let mut out = "stateDiagram-v2\n    [*] --> COLLECT_CONTEXT\n".to_owned();
    for arrow in arrows(walked) {
        let mark = if arrow.walked { " *" } else { "" };
        let _ = writeln!(out, "    {} --> {} : {}{mark}", arrow.from, arrow.to, arrow.label);
    }
    out.push_str("    COMPLETE --> [*]\n    ABORTED --> [*]\n");
    out
}

/// The table as a Graphviz graph.
pub fn dot(walked: &BTreeSet<String>) -> String {
    let mut out = "digraph controller {\n    rankdir=LR;\n    node [shape=box];\n".to_owned();
    for arrow in arrows(walked) {
        let style = if arrow.walked { ", penwidth=3" } else { "" };
        let _ =
            writeln!(out, "    {} -> {} [label=\"{}\"{style}];", arrow.from, arrow.to, arrow.label);
    }
    out.push_str("}\n");
    out
}
