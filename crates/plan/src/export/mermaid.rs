//! Mermaid diagrams: a Gantt chart of the schedule and a flowchart of the links.

use std::collections::HashMap;
use std::fmt::Write;

use jiff::tz::TimeZone;

use super::diagram_parts::{FlowBox, FlowGraph, FlowLink, fits_one_diagram, render_gantt_parts};
use super::task_graph::write_status_classes;
use super::{PlanExport, link_label, to_one_line};
use planwright_model::{NodeTree, OffsetDateTime, PlanNode, Schedule, TaskId};
use planwright_schedule::calendar::find_zone;

/// The deepest nesting of boxes.
const MAX_DEPTH: usize = 12;

/// Renders the schedule as a Gantt chart, one section per part of the goal. Without a schedule it has no bars.
pub fn render_gantt(plan: &PlanExport<'_>) -> String {
    let head = format!(
        "gantt\n    title {}\n    dateFormat YYYY-MM-DDTHH:mm\n    axisFormat %d %b\n",
        escape_gantt(plan.title())
    );
    let Some(schedule) = plan.schedule else { return head };
    let tree = plan.tree();
    let mut text = String::new();
    for part in tree.children(&plan.roadmap.root_id) {
        let bars = gantt_bars(plan, &tree, schedule, part);
        if !bars.is_empty() {
            let _ = write!(text, "    section {}\n{bars}", escape_gantt(&part.title));
        }
    }
    render_gantt_parts(plan.title(), &head, &text)
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
            let _ = writeln!(text, "    {} :{critical}{start}, {end}", escape_gantt(&leaf.title));
        }
        if leaf.milestone
            && let Some(at) = milestone_moment(plan, tree, schedule, &leaf.id)
        {
            let _ = writeln!(
                text,
                "    {} :{critical}milestone, {}, 0m",
                escape_gantt(&leaf.title),
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

/// Renders the roadmap as a flowchart: containers as boxes around their leaves, links as arrows. A large one is
/// several diagrams without boxes around boxes.
pub fn render_flowchart(plan: &PlanExport<'_>) -> String {
    let nodes = &plan.roadmap.nodes;
    let names: HashMap<&TaskId, String> = nodes
        .iter()
        .enumerate()
        .rev()
        .map(|(index, node)| (&node.id, format!("n{index}")))
        .collect();
    let tree = plan.tree();
    let mut text = format!("{FLOWCHART}\n");
    for child in tree.children(&plan.roadmap.root_id) {
        write_node(plan, &tree, &names, child, 1, &mut text);
    }
    for link in &plan.roadmap.dependencies {
        let (Some(from), Some(to)) = (names.get(&link.from), names.get(&link.to)) else { continue };
        let _ = writeln!(text, "    {from} {} {to}", flow_arrow(&link_label(link)));
    }
    text.push_str(&flow_styles(plan, &names, &|_| true));
    if fits_one_diagram(&text, plan.roadmap.dependencies.len()) {
        return text;
    }
    let flat = flat_flowchart(plan, &tree);
    flat.render(&|own| {
        flow_styles(plan, &names, &|id| own.iter().any(|index| nodes[*index].id == *id))
    })
}

const FLOWCHART: &str = "flowchart LR";

/// All nodes side by side.
fn flat_flowchart<'a>(plan: &PlanExport<'a>, tree: &NodeTree<'_>) -> FlowGraph<'a> {
    let nodes = &plan.roadmap.nodes;
    let places: HashMap<&TaskId, usize> =
        nodes.iter().enumerate().rev().map(|(index, node)| (&node.id, index)).collect();
    let boxes = nodes.iter().enumerate().map(|(index, node)| {
        let (name, title) = (format!("n{index}"), escape_label(&node.title));
        let declaration = if node.milestone || tree.is_leaf(&node.id) {
            leaf_declaration(plan, node, &name)
        } else {
            format!("{name}([\"{title}\"])")
        };
        FlowBox { name, declaration, title }
    });
    let links = plan.roadmap.dependencies.iter().filter_map(|link| {
        let (from, to) = (*places.get(&link.from)?, *places.get(&link.to)?);
        Some(FlowLink { from, to, arrow: flow_arrow(&link_label(link)) })
    });
    FlowGraph {
        title: plan.title(),
        head: FLOWCHART,
        boxes: boxes.collect(),
        links: links.collect(),
    }
}

/// An arrow with a label unless that is empty.
pub(super) fn flow_arrow(label: &str) -> String {
    if label.is_empty() { "-->".to_owned() } else { format!("-- \"{label}\" -->") }
}

/// The classes of some nodes: critical ones, and what became of those of a run.
fn flow_styles(
    plan: &PlanExport<'_>,
    names: &HashMap<&TaskId, String>,
    takes: &dyn Fn(&TaskId) -> bool,
) -> String {
    let mut text = String::new();
    let critical = plan.roadmap.critical_path.iter().filter(|id| takes(id));
    let critical: Vec<&str> = critical.filter_map(|id| names.get(id)).map(String::as_str).collect();
    if !critical.is_empty() {
        text.push_str("    classDef critical stroke-width:3px\n");
        let _ = writeln!(text, "    class {} critical", critical.join(","));
    }
    if let Some(run) = plan.run {
        write_status_classes(names, run, takes, &mut text);
    }
    text
}

/// The declaration of a leaf: its title, how long it takes, who does it, when, and what became of it.
fn leaf_declaration(plan: &PlanExport<'_>, node: &PlanNode, name: &str) -> String {
    let title = escape_label(&node.title);
    if node.milestone {
        return format!("{name}{{{{\"{title}\"}}}}");
    }
    let lines: Vec<String> =
        plan.leaf_lines(node).iter().map(|line| format!("<br/>{}", escape_label(line))).collect();
    format!("{name}[\"{title}{}\"]", lines.concat())
}

fn write_node(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    names: &HashMap<&TaskId, String>,
    node: &PlanNode,
    depth: usize,
    text: &mut String,
) {
    let indent = "    ".repeat(depth);
    let Some(name) = names.get(&node.id) else { return };
    if node.milestone || tree.is_leaf(&node.id) {
        let _ = writeln!(text, "{indent}{}", leaf_declaration(plan, node, name));
    } else if depth <= MAX_DEPTH {
        let _ = writeln!(text, "{indent}subgraph {name}[\"{}\"]", escape_label(&node.title));
        for child in tree.children(&node.id) {
            write_node(plan, tree, names, child, depth + 1, text);
        }
        let _ = writeln!(text, "{indent}end");
    }
}

/// The words with which a line of a Gantt chart is no task.
const GANTT_WORDS: [&str; 16] = [
    "title",
    "section",
    "gantt",
    "click",
    "call",
    "href",
    "dateformat",
    "axisformat",
    "tickinterval",
    "topaxis",
    "includes",
    "excludes",
    "inclusiveenddates",
    "todaymarker",
    "week",
    "acc",
];

/// Returns a title for a line of a Gantt chart: what Mermaid would read as something else has an entity code.
pub(super) fn escape_gantt(text: &str) -> String {
    let words = to_one_line(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = words.to_lowercase();
    let starts_line = lower.starts_with(|c: char| c.is_ascii_digit())
        || GANTT_WORDS.iter().any(|word| lower.starts_with(word));
    let mut escaped = String::with_capacity(words.len());
    for (index, c) in words.chars().enumerate() {
        let special = matches!(
            c,
            ':' | ';' | '#' | '%' | '"' | '<' | '>' | '&' | '`' | '\\' | '{' | '}' | '-'
        ) && (c != '-' || index == 0);
        if special || (index == 0 && starts_line) {
            let _ = write!(escaped, "#{};", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    if escaped.is_empty() { "untitled".to_owned() } else { escaped }
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
