//! A plan written for other programs: Markdown, Mermaid, DOT, iCalendar, JSON; and fixed events read from iCalendar.
//!
//! Everything is text in, text out: no clock (time stamps are arguments) and no files. Untrusted titles are escaped for
//! the format they go to.

mod dot;
mod graph;
mod ical;
mod json;
mod markdown;
mod mermaid;
#[cfg(test)]
mod tests;

pub use dot::dot;
pub use graph::{graph_dot, graph_flowchart, graph_gantt, graph_markdown};
pub use ical::{IcalImport, ical, read_ical};
pub use json::json;
pub use markdown::{escape as markdown_escape, markdown};
pub use mermaid::{flowchart, gantt};

use planwright_model::{
    Dependency, LagBasis, LinkKind, NodeTree, PlanContext, Roadmap, Schedule, TaskId,
};

/// A plan with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct PlanExport<'a> {
    pub context: &'a PlanContext,
    pub roadmap: &'a Roadmap,
    pub schedule: Option<&'a Schedule>,
}

impl<'a> PlanExport<'a> {
    pub(super) fn title(&self) -> &'a str {
        let root = self.roadmap.node(&self.roadmap.root_id);
        root.map_or(self.context.goal_text.as_str(), |node| node.title.as_str())
    }

    pub(super) fn tree(&self) -> NodeTree<'a> {
        self.roadmap.tree()
    }

    pub(super) fn is_critical(&self, id: &TaskId) -> bool {
        self.roadmap.critical_path.contains(id)
    }
}

/// Minutes as people say them.
pub(super) fn duration(minutes: u32) -> String {
    planwright_text::units::planned(minutes.into())
}

/// What a link says beyond "first this, then that"; empty for a plain one.
pub(super) fn link_label(link: &Dependency) -> String {
    label(link.kind, link.lag_minutes, link.lag_basis)
}

pub(super) fn label(kind: LinkKind, lag: i32, basis: LagBasis) -> String {
    if kind == LinkKind::FS && lag == 0 {
        return String::new();
    }
    let lag = match (lag, basis) {
        (0, _) => String::new(),
        (lag, LagBasis::Working) => format!(" {lag:+} min"),
        (lag, LagBasis::Elapsed) => format!(" {lag:+} min elapsed"),
    };
    format!("{kind:?}{lag}")
}

/// A text on one line: control characters and line breaks become spaces.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}
