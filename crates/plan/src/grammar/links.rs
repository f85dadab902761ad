//! Rules about links: each between two nodes that can depend on each other, no cycles, nothing that never starts (G110
//! to G112).

use std::collections::{BTreeSet, HashMap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::artifacts::{RuleScope, display_title_of};
use super::rule_table::rule_violation;
use super::structure::find_parent_loops;
use planwright_model::{
    AdaptationAction, LinkKind, LinkOrigin, NodeDependency, NodeStatus, Severity, TaskId, Violation,
};

pub(super) fn check_links(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    check_impossible_links(scope, found);
    // A cycle of parents has no leaves to expand to, and is fatal anyway.
    if find_parent_loops(scope).is_empty() {
        check_link_loops(scope, found);
    }
    check_never_starting(scope, found);
}

/// Returns whether a predecessor was part of the plan and was dropped on purpose.
fn was_dropped(scope: &RuleScope<'_>, id: &TaskId) -> bool {
    let removed = |action| matches!(action, AdaptationAction::Remove | AdaptationAction::Relax);
    let mut log = scope.plan.adaptation_log.iter();
    !scope.tree.contains(id)
        && log.any(|entry| removed(entry.action) && entry.node_ids.contains(id))
}

/// Returns whether a link violates G110.
pub(super) fn is_impossible(scope: &RuleScope<'_>, link: &NodeDependency) -> bool {
    let (from, to) = (&link.from, &link.to);
    let unknown =
        !scope.tree.contains(to) || (!scope.tree.contains(from) && !was_dropped(scope, from));
    unknown || from == to || scope.tree.is_ancestor(from, to) || scope.tree.is_ancestor(to, from)
}

/// G110.
fn check_impossible_links(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for link in scope.links().iter().filter(|link| is_impossible(scope, link)) {
        let (a, b) = (display_title_of(scope, &link.from), display_title_of(scope, &link.to));
        let values = [("a", &*a), ("b", &*b)];
        found.push(rule_violation("G110", [link.from.clone(), link.to.clone()], &values));
    }
}

/// A cycle of links, as indices into the scope's links, and the ids on it in order.
pub(super) struct LinkLoop {
    pub(super) links: Vec<usize>,
    pub(super) ids: Vec<TaskId>,
}

/// Less trusted origins come first; the person's own links last.
fn trust_rank(origin: LinkOrigin) -> u8 {
    match origin {
        LinkOrigin::Inferred => 0,
        LinkOrigin::System => 1,
        LinkOrigin::AiAdaptation => 2,
        LinkOrigin::UserFeedback => 3,
    }
}

/// Returns the link of a cycle to remove first: the least trusted, newest first. Never one of the person's.
pub(super) fn least_trusted(scope: &RuleScope<'_>, found: &LinkLoop) -> Option<usize> {
    let removable = found.links.iter().copied();
    removable
        .filter(|&index| scope.links()[index].origin != LinkOrigin::UserFeedback)
        .min_by_key(|&index| (trust_rank(scope.links()[index].origin), std::cmp::Reverse(index)))
}

/// The start (even) and end (odd) of each node; the plan's links run from an end to a start.
type ExpandedLinkGraph = DiGraph<(), Option<usize>>;

/// Expands containers without a link for every pair of leaves: a container starts before its children and ends after.
fn expand_links(
    scope: &RuleScope<'_>,
    admit: impl Fn(&NodeDependency) -> bool,
) -> ExpandedLinkGraph {
    let mut graph = ExpandedLinkGraph::with_capacity(scope.nodes.len() * 2, scope.nodes.len() * 2);
    let mut place: HashMap<&str, usize> = HashMap::new();
    for (index, node) in scope.nodes.iter().enumerate() {
        graph.add_node(());
        graph.add_node(());
        place.entry(node.id.as_str()).or_insert(index);
    }
    let begin = |index: usize| NodeIndex::new(index * 2);
    let end = |index: usize| NodeIndex::new(index * 2 + 1);
    for (index, node) in scope.nodes.iter().enumerate() {
        if scope.tree.is_leaf(&node.id) {
            graph.add_edge(begin(index), end(index), None);
        }
        let parent = node.parent_id.as_ref().and_then(|parent| place.get(parent.as_str()));
        if let Some(&parent) = parent {
            graph.add_edge(begin(parent), begin(index), None);
            graph.add_edge(end(index), end(parent), None);
        }
    }
    for (index, link) in scope.links().iter().enumerate().filter(|(_, link)| admit(link)) {
        let ends = (place.get(link.from.as_str()), place.get(link.to.as_str()));
        if let (Some(&from), Some(&to)) = ends {
            graph.add_edge(end(from), begin(to), Some(index));
        }
    }
    graph
}

/// Returns one cycle in every strongly connected component of the links that `admit` accepts, each through the least
/// trusted link of its component.
fn loops_among(scope: &RuleScope<'_>, admit: impl Fn(&NodeDependency) -> bool) -> Vec<LinkLoop> {
    let graph = expand_links(scope, |link| admit(link) && !is_impossible(scope, link));
    let mut knot_of = vec![0; graph.node_count()];
    for (knot, members) in kosaraju_scc(&graph).iter().enumerate() {
        for member in members {
            knot_of[member.index()] = knot;
        }
    }
    let mut closing: HashMap<usize, (u8, std::cmp::Reverse<usize>, NodeIndex, NodeIndex)> =
        HashMap::new();
    for edge in graph.edge_indices() {
        let (Some(&Some(link)), Some((from, to))) =
            (graph.edge_weight(edge), graph.edge_endpoints(edge))
        else {
            continue;
        };
        let knot = knot_of[from.index()];
        if knot == knot_of[to.index()] {
            let candidate =
                (trust_rank(scope.links()[link].origin), std::cmp::Reverse(link), from, to);
            let best = closing.entry(knot).or_insert(candidate);
            *best = (*best).min(candidate);
        }
    }
    let mut edges: Vec<_> = closing.into_values().collect();
    edges.sort_unstable_by_key(|(_, link, ..)| link.0);
    edges
        .into_iter()
        .filter_map(|(_, link, from, to)| close_loop(scope, &graph, link.0, from, to))
        .collect()
}

/// Returns the shortest path from the target of a link back to its source.
fn close_loop(
    scope: &RuleScope<'_>,
    graph: &ExpandedLinkGraph,
    link: usize,
    from: NodeIndex,
    to: NodeIndex,
) -> Option<LinkLoop> {
    let mut came: HashMap<NodeIndex, (NodeIndex, Option<usize>)> = HashMap::new();
    let mut queue = VecDeque::from([to]);
    while let Some(at) = queue.pop_front().filter(|_| !came.contains_key(&from)) {
        let mut steps: Vec<_> =
            graph.edge_indices_from(at).map(|(next, weight)| (weight, next)).collect();
        steps.sort_unstable();
        for (weight, next) in steps {
            if next != to && !came.contains_key(&next) {
                came.insert(next, (at, weight));
                queue.push_back(next);
            }
        }
    }
    let mut links = Vec::new();
    let mut at = from;
    while at != to {
        let (before, weight) = *came.get(&at)?;
        links.extend(weight);
        at = before;
    }
    links.reverse();
    links.push(link);
    let ids = links.iter().map(|&index| scope.links()[index].from.clone()).collect();
    Some(LinkLoop { links, ids })
}

/// Access to the outgoing edges of a node with their weights.
trait OutgoingEdges {
    fn edge_indices_from(&self, at: NodeIndex) -> impl Iterator<Item = (NodeIndex, Option<usize>)>;
}

impl OutgoingEdges for ExpandedLinkGraph {
    fn edge_indices_from(&self, at: NodeIndex) -> impl Iterator<Item = (NodeIndex, Option<usize>)> {
        use petgraph::visit::EdgeRef;
        self.edges(at).map(|edge| (edge.target(), *edge.weight()))
    }
}

/// Returns all reported cycles: those of the person's links alone, and those that another link closes.
pub(super) fn find_loops(scope: &RuleScope<'_>) -> Vec<LinkLoop> {
    let is_users = |link: &NodeDependency| link.origin == LinkOrigin::UserFeedback;
    let mut found = loops_among(scope, is_users);
    let mixed = loops_among(scope, |_| true);
    found.extend(
        mixed
            .into_iter()
            .filter(|one| one.links.iter().any(|&index| !is_users(&scope.links()[index]))),
    );
    found
}

/// G111.
fn check_link_loops(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    for one in find_loops(scope) {
        let names: Vec<&str> = one.ids.iter().chain(one.ids.first()).map(TaskId::as_str).collect();
        let mut violation =
            rule_violation("G111", one.ids.clone(), &[("loop", &names.join(" → "))]);
        if least_trusted(scope, &one).is_none() {
            violation.severity = Severity::Fatal;
        }
        found.push(violation);
    }
}

/// Returns whether a blocked node has something that would unblock it: a predecessor that is still open.
fn can_be_unblocked(scope: &RuleScope<'_>, id: &TaskId) -> bool {
    let pending = |id: &TaskId| {
        let open = |status| matches!(status, NodeStatus::Pending | NodeStatus::InProgress);
        scope.tree.get(id).is_some_and(|node| open(node.status))
    };
    scope.links().iter().any(|link| link.to == *id && pending(&link.from))
}

/// Returns whether a link violates G112.
pub(super) fn never_starts(
    scope: &RuleScope<'_>,
    reachable: &BTreeSet<&TaskId>,
    link: &NodeDependency,
) -> bool {
    if is_impossible(scope, link) || !matches!(link.kind, LinkKind::FS | LinkKind::SS) {
        return false;
    }
    let blocked = scope.tree.get(&link.from).is_some_and(|node| node.status == NodeStatus::Blocked);
    reachable.contains(&link.to)
        && (!reachable.contains(&link.from) || (blocked && !can_be_unblocked(scope, &link.from)))
}

/// G112.
fn check_never_starting(scope: &RuleScope<'_>, found: &mut Vec<Violation>) {
    let reachable = scope.reachable_ids();
    for link in scope.links().iter().filter(|link| never_starts(scope, &reachable, link)) {
        let values = [
            ("title", &*display_title_of(scope, &link.to)),
            ("pred", &*display_title_of(scope, &link.from)),
        ];
        found.push(rule_violation("G112", [link.to.clone(), link.from.clone()], &values));
    }
}
