//! One side of a comparison as an ordered list, and the nodes whose position in it changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use planwright_model::{NodeTree, PlanNode, TaskId};

use super::TreePosition;

/// The nodes of one side, each id once, depth first; detached nodes come last.
pub(super) struct DiffSide<'a> {
    tree: NodeTree<'a>,
    root: &'a TaskId,
    order: Vec<&'a PlanNode>,
}

impl<'a> DiffSide<'a> {
    pub(super) fn new(nodes: &'a [PlanNode], root: &'a TaskId) -> Self {
        let tree = NodeTree::new(nodes);
        let mut seen = BTreeSet::new();
        let listed = tree.subtree(root).into_iter().chain(nodes);
        let order = listed.filter(|node| seen.insert(&node.id)).collect();
        Self { tree, root, order }
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &'a PlanNode> {
        self.order.iter().copied()
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<&'a PlanNode> {
        self.tree.get(id)
    }

    pub(super) fn ancestors(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        self.tree.ancestors(id)
    }

    pub(super) fn is_leaf(&self, id: &TaskId) -> bool {
        self.tree.is_leaf(id)
    }

    /// Minutes of everything at or below a node; 0 for one that is not there.
    pub(super) fn total_minutes(&self, id: &TaskId) -> u32 {
        self.tree.total_minutes(id)
    }

    pub(super) fn root(&self) -> Option<&'a PlanNode> {
        self.tree.get(self.root)
    }

    pub(super) fn tree_position(&self, node: &PlanNode) -> TreePosition {
        let siblings = node.parent_id.as_ref().map(|parent| self.tree.children(parent));
        let place = siblings.and_then(|mut list| list.position(|sibling| sibling.id == node.id));
        TreePosition {
            parent: node.parent_id.clone(),
            parent_title: self.tree.parent(node).map(|node| node.title.clone()).unwrap_or_default(),
            stream: node.stream.clone(),
            place: place.map_or(1, |place| place + 1),
        }
    }
}

/// A parent and a stream.
type SiblingLane<'a> = (Option<&'a TaskId>, &'a str);

/// Returns the nodes that kept parent and stream but not their order among the others that did. This is the smallest
/// set that explains the new order: all except a longest increasing subsequence.
pub(super) fn reordered_nodes(before: &DiffSide<'_>, after: &DiffSide<'_>) -> BTreeSet<TaskId> {
    let ranks: HashMap<&TaskId, usize> =
        before.nodes().enumerate().map(|(rank, node)| (&node.id, rank)).collect();
    let mut lanes: BTreeMap<SiblingLane<'_>, Vec<(usize, &TaskId)>> = BTreeMap::new();
    for node in after.nodes() {
        let stayed = before
            .get(&node.id)
            .filter(|old| old.parent_id == node.parent_id && old.stream == node.stream);
        if let (Some(_), Some(rank)) = (stayed, ranks.get(&node.id)) {
            let lane = (node.parent_id.as_ref(), node.stream.as_str());
            lanes.entry(lane).or_default().push((*rank, &node.id));
        }
    }
    let mut moved = BTreeSet::new();
    for lane in lanes.values() {
        let ranks: Vec<usize> = lane.iter().map(|(rank, _)| *rank).collect();
        let kept: BTreeSet<usize> = longest_rising_run(&ranks).into_iter().collect();
        let restless = lane.iter().enumerate().filter(|(place, _)| !kept.contains(place));
        moved.extend(restless.map(|(_, (_, id))| (*id).clone()));
    }
    moved
}

/// Returns the indices of a longest increasing subsequence of distinct numbers.
pub fn longest_rising_run(numbers: &[usize]) -> Vec<usize> {
    // The index of the smallest number that ends a subsequence of each length.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![None; numbers.len()];
    for (place, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        previous[place] = length.checked_sub(1).map(|shorter| ends[shorter]);
        if length == ends.len() {
            ends.push(place);
        } else {
            ends[length] = place;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(place) = next {
        run.push(place);
        next = previous[place];
    }
    run.reverse();
    run
}

/// Merges the ids of both sides into one list: the later side's order, with each removed node after its old
/// predecessor.
pub(super) fn merge_node_order(before: &DiffSide<'_>, after: &DiffSide<'_>) -> Vec<TaskId> {
    let mut behind: BTreeMap<Option<&TaskId>, Vec<&TaskId>> = BTreeMap::new();
    let mut anchor = None;
    for node in before.nodes() {
        if after.get(&node.id).is_some() {
            anchor = Some(&node.id);
        } else {
            behind.entry(anchor).or_default().push(&node.id);
        }
    }
    let first = behind.get(&None).into_iter().flatten().copied();
    let mut list: Vec<TaskId> = first.cloned().collect();
    for node in after.nodes() {
        list.push(node.id.clone());
        list.extend(behind.get(&Some(&node.id)).into_iter().flatten().map(|id| (*id).clone()));
    }
    list
}
