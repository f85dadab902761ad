//! Mermaid diagrams: a gantt chart of the schedule and a flowchart of the links.

use std::collections::HashMap;
use std::fmt::Write;

use jiff::tz::TimeZone;

use super::{PlanExport, duration, link_label, one_line};
use planwright_model::{Moment, NodeTree, PlanNode, Schedule, TaskId};
use planwright_schedule::calendar::zone;

/// The deepest nesting of boxes.
const MAX_DEPTH: usize = 12;

/// The schedule as a gantt chart, one section for each part of the goal. Without a schedule it has no bars.
pub fn gantt(plan: &PlanExport<'_>) -> String {
    let mut text = String::from("gantt\n");
    let _ = writeln!(text, "    title {}", plain(plan.title()));
    text.push_str("    dateFormat YYYY-MM-DDTHH:mm\n    axisFormat %d %b\n");
    let Some(schedule) = plan.schedule else { return text };
    let tree = plan.tree();
    for part in tree.children(&plan.roadmap.root_id) {
        let bars = bars(plan, &tree, schedule, part);
        if !bars.is_empty() {
            let _ = write!(text, "    section {}\n{bars}", plain(&part.title));
        }
    }
    text
}

fn bars(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    schedule: &Schedule,
    part: &PlanNode,
) -> String {
    let zone = zone(&schedule.tz).unwrap_or(TimeZone::UTC);
    let local = |moment: Moment| zone.to_datetime(moment.at).strftime("%Y-%m-%dT%H:%M").to_string();
    let mut text = String::new();
    for leaf in tree.leaves(&part.id) {
        let critical = if plan.is_critical(&leaf.id) { "crit, " } else { "" };
        for block in schedule.blocks_of(&leaf.id) {
            let (start, end) = (local(block.start), local(block.end));
            let _ = writeln!(text, "    {} :{critical}{start}, {end}", plain(&leaf.title));
        }
        if leaf.milestone
            && let Some(at) = reached(plan, tree, schedule, &leaf.id)
        {
            let _ = writeln!(
                text,
                "    {} :{critical}milestone, {}, 0m",
                plain(&leaf.title),
                local(at)
            );
        }
    }
    text
}

/// When a milestone is reached: at the last end of what it waits for.
fn reached(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    schedule: &Schedule,
    id: &TaskId,
) -> Option<Moment> {
    let links = plan.roadmap.dependencies.iter().filter(|link| link.to == *id);
    let leaves = links.flat_map(|link| tree.leaves(&link.from));
    let ends = leaves.flat_map(|leaf| schedule.blocks_of(&leaf.id).map(|block| block.end));
    // What comes in between has no block of its own, so the whole plan's end is the best guess.
    ends.max().or_else(|| schedule.finish())
}

/// The roadmap as a flowchart: containers as boxes around their leaves, links as arrows.
pub fn flowchart(plan: &PlanExport<'_>) -> String {
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
        shape(&tree, &names, child, 1, &mut text);
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

fn shape(
    tree: &NodeTree<'_>,
    names: &HashMap<&TaskId, String>,
    node: &PlanNode,
    depth: usize,
    text: &mut String,
) {
    let indent = "    ".repeat(depth);
    let Some(name) = names.get(&node.id) else { return };
    let title = quoted(&node.title);
    if node.milestone {
        let _ = writeln!(text, "{indent}{name}{{{{\"{title}\"}}}}");
    } else if tree.is_leaf(&node.id) {
        let _ = writeln!(text, "{indent}{name}[\"{title}<br/>{}\"]", duration(node.minutes()));
    } else if depth <= MAX_DEPTH {
        let _ = writeln!(text, "{indent}subgraph {name}[\"{title}\"]");
        for child in tree.children(&node.id) {
            shape(tree, names, child, depth + 1, text);
        }
        let _ = writeln!(text, "{indent}end");
    }
}

/// A title for a line whose punctuation has a meaning.
pub(super) fn plain(text: &str) -> String {
    let text = one_line(text);
    let plain: String = text
        .chars()
        .map(|c| if matches!(c, ':' | ';' | '#' | '%' | ',') { ' ' } else { c })
        .collect();
    let joined = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.is_empty() { "untitled".to_owned() } else { joined }
}

/// A text for inside quotation marks, with entity codes for what would end or change it.
pub(super) fn quoted(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' => {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}
