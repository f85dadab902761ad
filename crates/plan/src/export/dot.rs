//! DOT for Graphviz: containers as clusters, links as edges.

use std::fmt::Write;

use super::run_progress::ExportedStatus;
use super::{PlanExport, link_label, to_one_line};
use planwright_model::{NodeTree, PlanNode, TaskId};

/// The deepest nesting of clusters.
const MAX_DEPTH: usize = 12;

/// Renders the roadmap as a directed graph.
pub fn render_dot(plan: &PlanExport<'_>) -> String {
    let mut text = format!(
        "digraph plan {{\n    label={};\n    rankdir=LR;\n    compound=true;\n    node [shape=box];\n",
        quote_dot(plan.title())
    );
    let tree = plan.tree();
    for child in tree.children(&plan.roadmap.root_id) {
        write_node(plan, &tree, child, 1, &mut text);
    }
    for link in &plan.roadmap.dependencies {
        write_edge(&tree, link, &mut text);
    }
    text.push_str("}\n");
    text
}

fn write_node(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    node: &PlanNode,
    depth: usize,
    text: &mut String,
) {
    let indent = "    ".repeat(depth);
    let id = quote_dot(node.id.as_str());
    let bold = plan.is_critical(&node.id);
    if node.milestone {
        let style = node_style(bold, None);
        let label = quote_dot(&node.title);
        let _ = writeln!(text, "{indent}{id} [label={label}, shape=diamond{style}];");
    } else if tree.is_leaf(&node.id) {
        let status = plan.run.and_then(|run| run.get(&node.id)).map(|task| task.status);
        let style = node_style(bold, status);
        let label = format!("{}\n{}", to_one_line(&node.title), plan.leaf_lines(node).join("\n"));
        let _ = writeln!(text, "{indent}{id} [label={}{style}];", quote_dot(&label));
    } else if depth <= MAX_DEPTH {
        let cluster = quote_dot(&format!("cluster_{}", node.id));
        let _ = writeln!(
            text,
            "{indent}subgraph {cluster} {{\n{indent}    label={};",
            quote_dot(&node.title)
        );
        for child in tree.children(&node.id) {
            write_node(plan, tree, child, depth + 1, text);
        }
        let _ = writeln!(text, "{indent}}}");
    }
}

/// Writes an edge; one that ends at a container is drawn to its box, through a leaf in it.
fn write_edge(tree: &NodeTree<'_>, link: &planwright_model::NodeDependency, text: &mut String) {
    let end = |id: &TaskId, last: bool| {
        let leaves = tree.leaves(id);
        if last { leaves.last().copied() } else { leaves.first().copied() }
    };
    let (Some(from), Some(to)) = (end(&link.from, true), end(&link.to, false)) else { return };
    let mut attributes = Vec::new();
    let label = link_label(link);
    if !label.is_empty() {
        attributes.push(format!("label={}", quote_dot(&label)));
    }
    for (name, id, leaf) in [("ltail", &link.from, from), ("lhead", &link.to, to)] {
        if *id != leaf.id {
            attributes.push(format!("{name}={}", quote_dot(&format!("cluster_{id}"))));
        }
    }
    let attributes =
        if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
    let (from, to) = (quote_dot(from.id.as_str()), quote_dot(to.id.as_str()));
    let _ = writeln!(text, "    {from} -> {to}{attributes};");
}

/// The colors of a task of a run, and a bold border on the critical path, as further attributes.
pub(super) fn node_style(bold: bool, status: Option<ExportedStatus>) -> String {
    match (status.filter(|status| *status != ExportedStatus::Open), bold) {
        (None, false) => String::new(),
        (None, true) => ", style=bold".to_owned(),
        (Some(status), bold) => {
            let (fill, border) = status.colors();
            let style = if bold { "\"filled,bold\"" } else { "filled" };
            format!(", style={style}, fillcolor=\"{fill}\", color=\"{border}\"")
        }
    }
}

/// Returns a quoted string. Line breaks are kept, other control characters are removed.
pub(super) fn quote_dot(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
