//! A diff as lines that can be drawn or printed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use planwright_model::{LagBasis, NodeDependency, TaskId};
use planwright_text::units;

use super::{DiffSegment, PlanDiff, TreePosition};

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffSign {
    Added,
    Removed,
    Moved,
    Changed,
    Unchanged,
}

impl DiffSign {
    /// Returns the character in front of the line, so that the meaning never depends on color alone.
    pub fn glyph(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::Moved => '>',
            Self::Changed => '~',
            Self::Unchanged => ' ',
        }
    }
}

/// One line of a diff. Its text is not cleaned yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    pub sign: DiffSign,
    /// The node it describes; `None` for folded ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<TaskId>,
    pub text: String,
}

impl PlanDiff {
    /// Returns the nodes in the order of the plan, with unchanged ones folded, then the links.
    pub fn to_lines(&self) -> Vec<DiffLine> {
        if self.is_empty() {
            return Vec::new();
        }
        let titles = self.node_titles();
        let mut lines = Vec::new();
        for stretch in &self.stretches {
            match stretch {
                DiffSegment::Unchanged(count) => lines.push(DiffLine {
                    sign: DiffSign::Unchanged,
                    node: None,
                    text: format!("… {count} unchanged"),
                }),
                DiffSegment::Node(id) => self.push_node_lines(id, &titles, &mut lines),
            }
        }
        let added = self.links_added.iter().map(|link| (DiffSign::Added, link));
        let removed = self.links_removed.iter().map(|link| (DiffSign::Removed, link));
        lines.extend(removed.chain(added).map(|(sign, link)| DiffLine {
            sign,
            node: Some(link.to.clone()),
            text: describe_link(link),
        }));
        lines
    }

    fn push_node_lines(
        &self,
        id: &TaskId,
        titles: &BTreeMap<&TaskId, &str>,
        lines: &mut Vec<DiffLine>,
    ) {
        let mut push = |sign: DiffSign, text: String| {
            lines.push(DiffLine { sign, node: Some(id.clone()), text });
        };
        let title = titles.get(id).copied().unwrap_or_default().to_owned();
        if self.added.iter().any(|name| name.node == *id) {
            push(DiffSign::Added, title);
        } else if self.removed.iter().any(|name| name.node == *id) {
            push(DiffSign::Removed, title);
        }
        if let Some(found) = self.moved.iter().find(|found| found.node == *id) {
            push(
                DiffSign::Moved,
                format!("{}: {}", found.title, describe_move(&found.from, &found.to)),
            );
        }
        for change in self.changed.iter().filter(|change| change.node == *id) {
            let field = change.field.replace('_', " ");
            let text = format!("{}: {field} {} → {}", change.title, change.from, change.to);
            push(DiffSign::Changed, text);
        }
    }
}

/// Describes a move, mentioning only what differs.
fn describe_move(from: &TreePosition, to: &TreePosition) -> String {
    if from.parent != to.parent {
        return format!("from \"{}\" to \"{}\"", from.parent_title, to.parent_title);
    }
    if from.stream != to.stream {
        return format!("from stream {} to {}", from.stream, to.stream);
    }
    format!("from place {} to {}", from.place, to.place)
}

fn describe_link(link: &NodeDependency) -> String {
    let basis = match link.lag_basis {
        LagBasis::Working => "",
        LagBasis::Elapsed => " on the clock",
    };
    let lag = match link.lag_minutes {
        0 => String::new(),
        lag => {
            let sign = if lag < 0 { '-' } else { '+' };
            format!(" {sign}{}{basis}", units::format_planned(lag.unsigned_abs().into()))
        }
    };
    format!("link {} → {} ({:?}{lag})", link.from, link.to, link.kind)
}
