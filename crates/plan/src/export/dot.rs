//! DOT for Graphviz: containers as clusters, links as edges.

use std::fmt::Write;

use super::{PlanExport, duration, link_label, one_line};
use planwright_model::{NodeTree, PlanNode, TaskId};

/// The deepest nesting of clusters.
const MAX_DEPTH: usize = 12;

/// The roadmap as a directed graph.
pub fn dot(plan: &PlanExport<'_>) -> String {
    let mut text = format!(
        "digraph plan {{\n    label={};\n    rankdir=LR;\n    compound=true;\n    node [shape=box];\n",
        quoted(plan.title())
    );
    let tree = plan.tree();
    for child in tree.children(&plan.roadmap.root_id) {
        shape(plan, &tree, child, 1, &mut text);
    }
    for link in &plan.roadmap.dependencies {
        edge(&tree, link, &mut text);
    }
    text.push_str("}\n");
    text
}

fn shape(
    plan: &PlanExport<'_>,
    tree: &NodeTree<'_>,
    node: &PlanNode,
    depth: usize,
    text: &mut String,
) {
    let indent = "    ".repeat(depth);
    let id = quoted(node.id.as_str());
    let bold = if plan.is_critical(&node.id) { ", style=bold" } else { "" };
    if node.milestone {
        let _ =
            writeln!(text, "{indent}{id} [label={}, shape=diamond{bold}];", quoted(&node.title));
    } else if tree.is_leaf(&node.id) {
        let label = format!("{}\n{}", one_line(&node.title), duration(node.minutes()));
        let _ = writeln!(text, "{indent}{id} [label={}{bold}];", quoted(&label));
    } else if depth <= MAX_DEPTH {
        let cluster = quoted(&format!("cluster_{}", node.id));
        let _ = writeln!(
            text,
            "{indent}subgraph {cluster} {{\n{indent}    label={};",
            quoted(&node.title)
        );
        for child in tree.children(&node.id) {
            shape(plan, tree, child, depth + 1, text);
        }
        let _ = writeln!(text, "{indent}}}");
    }
}

/// An edge; one that ends at a container is drawn to its box, by way of a leaf in it.
fn edge(tree: &NodeTree<'_>, link: &planwright_model::Dependency, text: &mut String) {
    let end = |id: &TaskId, last: bool| {
        let leaves = tree.leaves(id);
        if last { leaves.last().copied() } else { leaves.first().copied() }
    };
    let (Some(from), Some(to)) = (end(&link.from, true), end(&link.to, false)) else { return };
    let mut attributes = Vec::new();
    let label = link_label(link);
    if !label.is_empty() {
        attributes.push(format!("label={}", quoted(&label)));
    }
    for (name, id, leaf) in [("ltail", &link.from, from), ("lhead", &link.to, to)] {
        if *id != leaf.id {
            attributes.push(format!("{name}={}", quoted(&format!("cluster_{id}"))));
        }
    }
    let attributes =
        if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
    let (from, to) = (quoted(from.id.as_str()), quoted(to.id.as_str()));
    let _ = writeln!(text, "    {from} -> {to}{attributes};");
}

/// A quoted string. Line breaks stay, other control characters do not.
pub(super) fn quoted(text: &str) -> String {
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
