//! Rules about the tree: one goal at the top, everything attached, every container with an action (G101 to G109).

use std::collections::{BTreeMap, BTreeSet};

use super::artifacts::{RuleScope, display_title};
use super::rule_table::rule_violation;
use planwright_model::{NodeType, PlanNode, TaskId, Violation};

pub(super) fn check_structure(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    check_not_empty(scope, found);
    if scope.nodes.is_empty() {
        return;
    }
    check_root(scope, found);
    check_single_goal(scope, found);
    check_goal_placement(scope, found);
    check_attachment(scope, found);
    check_parent_loops(scope, found);
    check_levels(scope, found);
    check_positions(scope, found);
    check_kinds(scope, found);
    check_actions(scope, found);
}

/// G101.
fn check_not_empty(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    if scope.nodes.is_empty() || scope.context().goal_text.trim().is_empty() {
        found.push(rule_violation("G101", [], &[]));
    }
}

/// G102.
fn check_root(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    if !scope.tree.contains(scope.root_id) {
        found.push(rule_violation("G102", [], &[]));
    }
}

/// Returns the top-level nodes without a parent. A goal with a parent is misplaced (G104), not a goal of its own.
pub(super) fn top_nodes<'a>(nodes: &'a [PlanNode]) -> Vec<&'a PlanNode> {
    let mut seen = BTreeSet::new();
    let top =
        nodes.iter().filter(|node: &&'a PlanNode| node.level == 1 && node.parent_id.is_none());
    top.filter(|node| seen.insert(&node.id)).collect()
}

/// G103.
fn check_single_goal(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let top = top_nodes(scope.nodes);
    if top.len() < 2 {
        return;
    }
    let kept = top.iter().find(|node| node.id == *scope.root_id).unwrap_or(&top[0]);
    let ids = top.iter().map(|node| node.id.clone());
    let values = [("n", &*top.len().to_string()), ("title", &*display_title(kept))];
    found.push(rule_violation("G103", ids, &values));
}

/// Returns whether a node violates G104.
pub(super) fn is_misplaced(node: &PlanNode, root_id: &TaskId) -> bool {
    let top = node.level == 1 || node.id == *root_id;
    if top {
        node.node_type != NodeType::Goal || node.parent_id.is_some()
    } else {
        node.node_type == NodeType::Goal
    }
}

/// G104.
fn check_goal_placement(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for node in scope.nodes.iter().filter(|node| is_misplaced(node, scope.root_id)) {
        found.push(rule_violation("G104", [node.id.clone()], &[("title", &display_title(node))]));
    }
}

/// Returns whether a node below the root has no existing parent.
pub(super) fn is_detached(scope: &RuleScope<'_>, node: &PlanNode) -> bool {
    match &node.parent_id {
        Some(parent) => !scope.tree.contains(parent),
        None => node.level != 1 && node.id != *scope.root_id,
    }
}

/// G105.
fn check_attachment(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let mut seen = BTreeSet::new();
    for node in scope.nodes {
        let repeated = !seen.insert(&node.id);
        if repeated || is_detached(scope, node) {
            found.push(rule_violation(
                "G105",
                [node.id.clone()],
                &[("title", &display_title(node))],
            ));
        }
    }
}

/// Returns every cycle of parents, each as the ids on it.
pub(super) fn find_parent_loops<'a>(scope: &RuleScope<'a>) -> Vec<Vec<&'a TaskId>> {
    let mut done: BTreeSet<&TaskId> = BTreeSet::new();
    let mut loops = Vec::new();
    for node in scope.nodes {
        let mut path: Vec<&TaskId> = Vec::new();
        let mut on_path: BTreeMap<&TaskId, usize> = BTreeMap::new();
        let mut next = scope.tree.get(&node.id);
        while let Some(current) = next.filter(|current| !done.contains(&current.id)) {
            if let Some(&start) = on_path.get(&current.id) {
                loops.push(path[start..].to_vec());
                break;
            }
            on_path.insert(&current.id, path.len());
            path.push(&current.id);
            next = scope.tree.parent(current);
        }
        done.extend(path);
    }
    loops
}

/// G106.
fn check_parent_loops(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for ids in find_parent_loops(scope) {
        let listed = ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
        found.push(rule_violation("G106", ids.into_iter().cloned(), &[("ids", &listed)]));
    }
}

/// Returns the level that a node's position requires, if its position is known.
fn expected_level(scope: &RuleScope<'_>, node: &PlanNode) -> Option<u8> {
    if node.id == *scope.root_id && node.parent_id.is_none() {
        return Some(1);
    }
    scope.tree.parent(node).map(|parent| parent.level.saturating_add(1))
}

/// G107, levels.
fn check_levels(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for node in scope.nodes {
        let Some(expected) = expected_level(scope, node).filter(|level| *level != node.level)
        else {
            continue;
        };
        let message =
            format!("\"{}\" is at level {}, expected {expected}.", display_title(node), node.level);
        found.push(level_violation(node, message));
    }
}

/// G107, positions.
fn check_positions(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let mut taken = BTreeSet::new();
    for node in scope.nodes {
        let Some(parent) = &node.parent_id else { continue };
        if !taken.insert((parent, &node.stream, node.position)) {
            let message = format!("\"{}\" shares position {}.", display_title(node), node.position);
            found.push(level_violation(node, message));
        }
    }
}

fn level_violation(node: &PlanNode, message: String) -> Violation {
    Violation { message, ..rule_violation("G107", [node.id.clone()], &[]) }
}

/// Returns whether a node's kind is allowed at its position. Phases and cycles may alternate once on the way down.
pub(super) fn is_kind_allowed(scope: &RuleScope<'_>, node: &PlanNode) -> bool {
    let Some(parent) = scope.tree.parent(node) else { return true };
    if !parent.node_type.can_contain(node.node_type) {
        return false;
    }
    let alternates = |above: NodeType, below: NodeType| {
        use NodeType::{Cycle, Phase};
        matches!((above, below), (Phase, Cycle) | (Cycle, Phase))
    };
    if !alternates(parent.node_type, node.node_type) {
        return true;
    }
    let mut chain = vec![parent];
    chain.extend(scope.tree.ancestors(&parent.id));
    !chain.windows(2).any(|pair| alternates(pair[1].node_type, pair[0].node_type))
}

/// G108. A goal below the top is covered by G104.
fn check_kinds(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let below = scope.nodes.iter().filter(|node| node.node_type != NodeType::Goal);
    for node in below.filter(|node| !is_kind_allowed(scope, node)) {
        let parent = scope.tree.parent(node).map_or("goal", |parent| parent.node_type.as_str());
        let values = [("child", node.node_type.as_str()), ("parent", parent)];
        found.push(rule_violation("G108", [node.id.clone()], &values));
    }
}

/// Returns whether a goal or container has no task anywhere below it.
pub(super) fn is_idle(scope: &RuleScope<'_>, node: &PlanNode) -> bool {
    let is_task = |below: &&PlanNode| below.node_type == NodeType::Task;
    node.node_type.is_container() && !scope.tree.subtree(&node.id).iter().any(is_task)
}

/// G109.
fn check_actions(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for node in scope.nodes.iter().filter(|node| is_idle(scope, node)) {
        found.push(rule_violation("G109", [node.id.clone()], &[("title", &display_title(node))]));
    }
}
