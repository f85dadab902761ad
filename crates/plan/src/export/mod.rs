//! Exports a plan for other programs: Markdown, Mermaid, DOT, iCalendar, JSON; and reads fixed events from iCalendar.
//!
//! All functions map text to text: no clock (timestamps are arguments) and no files. Untrusted titles are escaped for
//! the target format.

mod csv;
mod diagram_parts;
mod dot;
mod ical;
mod json;
mod markdown;
mod mermaid;
mod run_progress;
mod task_graph;
#[cfg(test)]
mod tests;

pub use csv::render_csv;
pub use dot::render_dot;
pub use ical::{CalendarEdition, IcalImport, read_ical, render_graph_ical, render_ical};
pub use json::render_json;
pub use markdown::{escape_markdown as markdown_escape, render_markdown};
pub use mermaid::{render_flowchart, render_gantt};
pub use run_progress::{ExportedRun, ExportedStatus, ExportedTask};
pub use task_graph::{
    render_graph_dot, render_graph_flowchart, render_graph_gantt, render_graph_markdown,
    render_run_gantt,
};

use jiff::tz::TimeZone;
use planwright_model::{
    LagBasis, LinkKind, NodeDependency, NodeTree, PlanContext, PlanNode, Roadmap, Schedule, TaskId,
};
use planwright_schedule::calendar::find_zone;

/// A plan with its artifacts.
#[derive(Clone, Copy, Debug)]
pub struct PlanExport<'a> {
    pub context: &'a PlanContext,
    pub roadmap: &'a Roadmap,
    pub schedule: Option<&'a Schedule>,
    /// What became of its tasks, if it runs or ran.
    pub run: Option<&'a ExportedRun>,
}

impl<'a> PlanExport<'a> {
    pub(super) fn title(&self) -> &'a str {
        let root = self.roadmap.find_node(&self.roadmap.root_id);
        root.map_or(self.context.goal_text.as_str(), |node| node.title.as_str())
    }

    pub(super) fn tree(&self) -> NodeTree<'a> {
        self.roadmap.node_tree()
    }

    /// The zone of its dates.
    pub(super) fn zone(&self) -> TimeZone {
        let tz = self.schedule.map_or(&self.context.calendar.tz, |schedule| &schedule.tz);
        find_zone(tz).unwrap_or(TimeZone::UTC)
    }

    /// What a diagram says below the title of a leaf: how long it takes and who does it, when, what became of it.
    pub(super) fn leaf_lines(&self, node: &PlanNode) -> Vec<String> {
        let mut first = format_duration(node.work_minutes());
        if let Some(owner) = node.other_owner() {
            first = format!("{first}, {}", to_one_line(owner));
        }
        let zone = self.zone();
        let ran = self.run.and_then(|run| run.get(&node.id));
        let became = ran.map(|ran| ran.describe_lines(&zone)).unwrap_or_default();
        let planned = self.schedule.and_then(|schedule| schedule.blocks_for_node(&node.id).next());
        let planned = planned
            .filter(|_| became.is_empty())
            .map(|block| zone.to_datetime(block.start.at).strftime("%a %-d %b %H:%M").to_string());
        std::iter::once(first).chain(planned).chain(became).collect()
    }

    pub(super) fn is_critical(&self, id: &TaskId) -> bool {
        self.roadmap.critical_path.contains(id)
    }
}

/// Formats minutes for people.
pub(super) fn format_duration(minutes: u32) -> String {
    planwright_text::units::format_planned(minutes.into())
}

/// Describes a link unless it is a plain finish-to-start link, for which it is empty.
pub(super) fn link_label(link: &NodeDependency) -> String {
    format_link_label(link.kind, link.lag_minutes, link.lag_basis)
}

pub(super) fn format_link_label(kind: LinkKind, lag: i32, basis: LagBasis) -> String {
    if kind == LinkKind::FS && lag == 0 {
        return String::new();
    }
    let lag = match (lag, basis) {
        (0, _) => String::new(),
        (lag, basis) => {
            let sign = if lag < 0 { '-' } else { '+' };
            let elapsed = if basis == LagBasis::Elapsed { " elapsed" } else { "" };
            format!(" {sign}{}{elapsed}", format_duration(lag.unsigned_abs()))
        }
    };
    format!("{kind:?}{lag}")
}

/// Returns a text on one line: control characters and line breaks become spaces.
pub(super) fn to_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}
