//! Mermaid diagrams: a Gantt chart of the schedule and a flowchart of the links.

use std::collections::HashMap;
use std::fmt::Write;

use jiff::tz::TimeZone;

use super::{PlanExport, format_duration, link_label, to_one_line};
use planwright_model::{NodeTree, OffsetDateTime, PlanNode, Schedule, TaskId};
use planwright_schedule::calendar::find_zone;

/// The deepest nesting of boxes.
const MAX_DEPTH: usize = 12;

/// Renders the schedule as a Gantt chart, one section per part of the goal. Without a schedule it has no bars.
pub fn render_gantt(plan: &PlanExport<'_>) -> String {
    let mut text = String::from("gantt\n");
    let _ = writeln!(text, "    title {}", strip_punctuation(plan.title()));
    text.push_str("    dateFormat YYYY-MM-DDTHH:mm\n    axisFormat %d %b\n");
    let Some(schedule) = plan.schedule else { return text };
    let tree = plan.tree();
    for part in tree.children(&plan.roadmap.root_id) {
        let bars = gantt_bars(plan, &tree, schedule, part);
        if !bars.is_empty() {
            let _ = write!(text, "    section {}\n{bars}", strip_punctuation(&part.title));
        }
    }
    text
}

fn gantt_bars(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    schedule: &Schedule,
    part: &PlanNode,
) -> String {
    let zone = find_zone(&schedule.tz).unwrap_or(TimeZone::UTC);
    let local =
        |moment: OffsetDateTime| zone.to_datetime(moment.at).strftime("%Y-%m-%dT%H:%M").to_string();
    let mut text = String::new();
    for leaf in tree.leaves(&part.id) {
        let critical = if plan.is_critical(&leaf.id) { "crit, " } else { "" };
        for block in schedule.blocks_for_node(&leaf.id) {
            let (start, end) = (local(block.start), local(block.end));
            let _ =
                writeln!(text, "    {} :{critical}{start}, {end}", strip_punctuation(&leaf.title));
        }
        if leaf.milestone
            && let Some(at) = milestone_moment(plan, tree, schedule, &leaf.id)
        {
            let _ = writeln!(
                text,
                "    {} :{critical}milestone, {}, 0m",
                strip_punctuation(&leaf.title),
                local(at)
            );
        }
    }
    text
}

/// Returns when a milestone is reached: at the last end of its predecessors.
fn milestone_moment(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    schedule: &Schedule,
    id: &TaskId,
) -> Option<OffsetDateTime> {
    let links = plan.roadmap.dependencies.iter().filter(|link| link.to == *id);
    let leaves = links.flat_map(|link| tree.leaves(&link.from));
    let ends = leaves.flat_map(|leaf| schedule.blocks_for_node(&leaf.id).map(|block| block.end));
    // What comes in between has no block of its own, so the end of the plan is the best guess.
    ends.max().or_else(|| schedule.finish_time())
}

/// Renders the roadmap as a flowchart: containers as boxes around their leaves, links as arrows.
pub fn render_flowchart(plan: &PlanExport<'_>) -> String {
    let mut text = String::from("flowchart LR\n");
    let names: HashMap<&TaskId, String> = plan
        .roadmap
        .nodes
        .iter()
        .enumerate()
        .rev()
        .map(|(index, node)| (&node.id, format!("n{index}")))
        .collect();
    let tree = plan.tree();
    for child in tree.children(&plan.roadmap.root_id) {
        write_node(&tree, &names, child, 1, &mut text);
    }
    for link in &plan.roadmap.dependencies {
        let (Some(from), Some(to)) = (names.get(&link.from), names.get(&link.to)) else { continue };
        let label = link_label(link);
        let arrow = if label.is_empty() { "-->".to_owned() } else { format!("-- \"{label}\" -->") };
        let _ = writeln!(text, "    {from} {arrow} {to}");
    }
    let critical = plan.roadmap.critical_path.iter().filter_map(|id| names.get(id));
    let critical: Vec<&str> = critical.map(String::as_str).collect();
    if !critical.is_empty() {
        text.push_str("    classDef critical stroke-width:3px\n");
        let _ = writeln!(text, "    class {} critical", critical.join(","));
    }
    text
}

fn write_node(
    tree: &NodeTree<'_>,
    names: &HashMap<&TaskId, String>,
    node: &PlanNode,
    depth: usize,
    text: &mut String,
) {
    let indent = "    ".repeat(depth);
    let Some(name) = names.get(&node.id) else { return };
    let title = escape_label(&node.title);
    if node.milestone {
        let _ = writeln!(text, "{indent}{name}{{{{\"{title}\"}}}}");
    } else if tree.is_leaf(&node.id) {
        let owner = node.other_owner().map(|owner| format!(", {}", escape_label(owner)));
        let _ = writeln!(
            text,
            "{indent}{name}[\"{title}<br/>{}{}\"]",
            format_duration(node.work_minutes()),
            owner.unwrap_or_default()
        );
    } else if depth <= MAX_DEPTH {
        let _ = writeln!(text, "{indent}subgraph {name}[\"{title}\"]");
        for child in tree.children(&node.id) {
            write_node(tree, names, child, depth + 1, text);
        }
        let _ = writeln!(text, "{indent}end");
    }
}

/// Returns a title for a line in which punctuation is significant.
pub(super) fn strip_punctuation(text: &str) -> String {
    let text = to_one_line(text);
    let plain: String = text
        .chars()
        .map(|c| if matches!(c, ':' | ';' | '#' | '%' | ',') { ' ' } else { c })
        .collect();
    let joined = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.is_empty() { "untitled".to_owned() } else { joined }
}

/// Returns a text for use inside quotation marks, with entity codes for characters that would end or change it.
pub(super) fn escape_label(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in to_one_line(text).chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' => {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}
