//! A read-only index over the nodes of a plan. Every question ends, whatever the parent links say.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{PlanNode, TaskId};

/// The nodes of a plan as a tree. Where an id is used twice, the first node with it counts.
#[derive(Clone, Debug)]
pub struct NodeTree<'a> {
    nodes: &'a [PlanNode],
    by_id: HashMap<&'a str, usize>,
    children: HashMap<&'a str, Vec<usize>>,
}

impl<'a> NodeTree<'a> {
    pub fn new(nodes: &'a [PlanNode]) -> Self {
        let mut by_id = HashMap::new();
        let mut children: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            by_id.entry(node.id.as_str()).or_insert(index);
            if let Some(parent) = &node.parent_id {
                children.entry(parent.as_str()).or_default().push(index);
            }
        }
        for siblings in children.values_mut() {
            sort_siblings(nodes, siblings);
        }
        Self { nodes, by_id, children }
    }

    pub fn get(&self, id: &TaskId) -> Option<&'a PlanNode> {
        self.by_id.get(id.as_str()).map(|&index| &self.nodes[index])
    }

    pub fn contains(&self, id: &TaskId) -> bool {
        self.by_id.contains_key(id.as_str())
    }

    pub fn parent(&self, node: &PlanNode) -> Option<&'a PlanNode> {
        self.get(node.parent_id.as_ref()?)
    }

    /// The children of a node: streams in order of appearance, positions within a stream.
    pub fn children(&self, id: &TaskId) -> impl Iterator<Item = &'a PlanNode> + use<'a, '_> {
        self.children.get(id.as_str()).into_iter().flatten().map(|&index| &self.nodes[index])
    }

    pub fn is_leaf(&self, id: &TaskId) -> bool {
        !self.children.contains_key(id.as_str())
    }

    /// Parent, grandparent and so on; stops before a node would come twice.
    pub fn ancestors(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let mut seen = HashSet::from([id.as_str()]);
        let mut chain = Vec::new();
        let mut next = self.get(id).and_then(|node| self.parent(node));
        while let Some(node) = next.filter(|node| seen.insert(node.id.as_str())) {
            chain.push(node);
            next = self.parent(node);
        }
        chain
    }

    pub fn is_ancestor(&self, ancestor: &TaskId, id: &TaskId) -> bool {
        self.ancestors(id).iter().any(|node| node.id == *ancestor)
    }

    /// The node itself and everything below it, depth first.
    pub fn subtree(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut stack: Vec<usize> = self.by_id.get(id.as_str()).copied().into_iter().collect();
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index];
            if seen.insert(index) {
                found.push(node);
                // A duplicate id must not bring the same children twice.
                if self.by_id.get(node.id.as_str()) == Some(&index) {
                    let below = self.children.get(node.id.as_str()).into_iter().flatten();
                    stack.extend(below.rev());
                }
            }
        }
        found
    }

    /// The leaves at or below a node, in depth-first order.
    pub fn leaves(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        self.subtree(id).into_iter().filter(|node| self.is_leaf(&node.id)).collect()
    }

    /// Minutes of all leaves at or below a node, each as often as it is done. What repeats without an end counts once.
    pub fn total_minutes(&self, id: &TaskId) -> u32 {
        let total = |leaf: &&PlanNode| leaf.work_minutes().saturating_mul(self.repetitions(leaf));
        self.leaves(id).iter().fold(0, |sum: u32, leaf| sum.saturating_add(total(leaf)))
    }

    /// How often a leaf is done: by its own recurrence, or else by that of the nearest node above it.
    fn repetitions(&self, leaf: &PlanNode) -> u32 {
        let above =
            || self.ancestors(&leaf.id).into_iter().find_map(|node| node.recurrence.as_ref());
        leaf.recurrence.as_ref().or_else(above).and_then(|found| found.count).unwrap_or(1).max(1)
    }
}

fn sort_siblings(nodes: &[PlanNode], siblings: &mut [usize]) {
    let mut streams: BTreeMap<&str, usize> = BTreeMap::new();
    for &index in siblings.iter() {
        streams.entry(nodes[index].stream.as_str()).or_insert(index);
    }
    siblings.sort_by_key(|&index| {
        (streams[nodes[index].stream.as_str()], nodes[index].position, index)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeType;

    fn nodes() -> Vec<PlanNode> {
        let goal = PlanNode::new_goal("g", "Goal");
        let phase = PlanNode::new_child(&goal, "p", NodeType::Phase, "Phase");
        let mut late = PlanNode::new_child(&phase, "late", NodeType::Task, "Late");
        late.position = 1;
        late.estimate_minutes = Some(30);
        let mut early = PlanNode::new_child(&phase, "early", NodeType::Task, "Early");
        early.estimate_minutes = Some(15);
        vec![goal, phase, late, early]
    }

    fn ids(nodes: &[&PlanNode]) -> Vec<String> {
        nodes.iter().map(|node| node.id.to_string()).collect()
    }

    #[test]
    fn leaves_come_in_order_of_position() {
        let nodes = nodes();
        let tree = NodeTree::new(&nodes);
        assert_eq!(ids(&tree.leaves(&"g".into())), ["early", "late"]);
        assert_eq!(tree.total_minutes(&"g".into()), 45);
        assert_eq!(ids(&tree.ancestors(&"late".into())), ["p", "g"]);
        assert!(tree.is_ancestor(&"g".into(), &"early".into()));
    }

    #[test]
    fn a_loop_of_parents_ends_every_question() {
        let mut nodes = nodes();
        nodes[0].parent_id = Some("p".into());
        let tree = NodeTree::new(&nodes);
        assert_eq!(ids(&tree.ancestors(&"late".into())), ["p", "g"]);
        assert_eq!(tree.subtree(&"g".into()).len(), 4);
    }
}
