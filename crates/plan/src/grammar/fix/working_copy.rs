//! A working copy of a plan's nodes and links. Changes to a roadmap's nodes are also made to the outline's, so that a
//! repair never makes the two differ.

use std::collections::{BTreeMap, BTreeSet};

use super::super::PlanArtifacts;
use planwright_model::{NodeDependency, NodeTree, NodeType, PlanNode, TaskId};

/// The nodes and links that a fix works on.
pub(super) struct PlanWorkingCopy {
    pub(super) root_id: TaskId,
    pub(super) nodes: Vec<PlanNode>,
    pub(super) links: Vec<NodeDependency>,
    /// Whether links exist; if not, none are added.
    has_links: bool,
    /// Whether leaves have estimates at this stage.
    pub(super) estimated: bool,
}

/// Lets `work` change a copy of the plan, and keeps the copy if it reports a change.
pub(super) fn edit_plan<T>(
    plan: &mut PlanArtifacts,
    work: impl FnOnce(&mut PlanWorkingCopy) -> Option<T>,
) -> Option<T> {
    let mut sketch = copy_plan(plan);
    let before = sketch.nodes.clone();
    let done = work(&mut sketch)?;
    if let Some(roadmap) = &mut plan.roadmap {
        mirror_to_outline(&before, &sketch.nodes, &mut plan.outline.nodes);
        roadmap.nodes = sketch.nodes;
        roadmap.dependencies = sketch.links;
        roadmap.root_id = sketch.root_id.clone();
        roadmap.total_minutes = roadmap.node_tree().total_minutes(&roadmap.root_id);
    } else {
        plan.outline.nodes = sketch.nodes;
        plan.draft_links = sketch.links;
    }
    plan.outline.root_id = sketch.root_id;
    Some(done)
}

fn copy_plan(plan: &PlanArtifacts) -> PlanWorkingCopy {
    let scope = plan.scope();
    PlanWorkingCopy {
        root_id: scope.root_id.clone(),
        nodes: scope.nodes.to_vec(),
        links: scope.links().to_vec(),
        has_links: scope.links.is_some(),
        estimated: plan.roadmap.is_some(),
    }
}

/// Repeats on `outline` the changes from `before` to `after`. Estimates stay in the roadmap only.
fn mirror_to_outline(before: &[PlanNode], after: &[PlanNode], outline: &mut Vec<PlanNode>) {
    let ids = |nodes: &[PlanNode]| -> BTreeSet<TaskId> {
        nodes.iter().map(|node| node.id.clone()).collect()
    };
    let old: BTreeMap<&TaskId, &PlanNode> = before.iter().map(|node| (&node.id, node)).collect();
    let (kept, known) = (ids(after), ids(outline));
    outline.retain(|node| kept.contains(&node.id) || !old.contains_key(&node.id));
    for node in after {
        match old.get(&node.id) {
            None if !known.contains(&node.id) => {
                outline.push(PlanNode { estimate_minutes: None, ..node.clone() });
            }
            Some(same) if *same != node => {
                for own in outline.iter_mut().filter(|own| own.id == node.id) {
                    let estimate_minutes = own.estimate_minutes;
                    *own = PlanNode { estimate_minutes, ..node.clone() };
                }
            }
            _ => {}
        }
    }
}

impl PlanWorkingCopy {
    pub(super) fn tree(&self) -> NodeTree<'_> {
        NodeTree::new(&self.nodes)
    }

    pub(super) fn node_mut(&mut self, id: &TaskId) -> Option<&mut PlanNode> {
        self.nodes.iter_mut().find(|node| node.id == *id)
    }

    /// Returns an id that no node has: `base`, or else `base-2` and so on.
    pub(super) fn fresh_id(&self, base: &str) -> TaskId {
        let taken = |id: &str| self.nodes.iter().any(|node| node.id.as_str() == id);
        let numbered = (2_u64..).map(|number| format!("{base}-{number}"));
        let mut ids = std::iter::once(base.to_owned()).chain(numbered);
        ids.find(|id| !taken(id)).map_or_else(|| base.into(), TaskId::from)
    }

    /// Returns the first free position after the siblings of a stream.
    pub(super) fn next_position(&self, parent: &TaskId, stream: &str) -> u16 {
        let siblings = self
            .nodes
            .iter()
            .filter(|node| node.parent_id.as_ref() == Some(parent) && node.stream == stream);
        siblings.map(|node| node.position.saturating_add(1)).max().unwrap_or(0)
    }

    /// Adds a node as the last child of `parent` in its main stream.
    pub(super) fn add_node(
        &mut self,
        parent: &TaskId,
        node_type: NodeType,
        base: &str,
        title: &str,
    ) -> Option<TaskId> {
        let title: String = title.chars().take(PlanNode::MAX_TITLE_CHARS).collect();
        let id = self.fresh_id(base);
        let mut node = PlanNode::new_child(
            self.nodes.iter().find(|node| node.id == *parent)?,
            id,
            node_type,
            title,
        );
        node.position = self.next_position(parent, &node.stream);
        let id = node.id.clone();
        self.nodes.push(node);
        Some(id)
    }

    /// Makes a node the last child of another.
    pub(super) fn move_under(&mut self, id: &TaskId, parent: &TaskId) {
        let stream = self.nodes.iter().find(|node| node.id == *id).map(|node| node.stream.clone());
        let position = stream.map(|stream| self.next_position(parent, &stream));
        if let (Some(position), Some(node)) = (position, self.node_mut(id)) {
            node.parent_id = Some(parent.clone());
            node.position = position;
        }
        self.recompute_levels();
    }

    /// Links two nodes finish to start, if links exist at all.
    pub(super) fn link_nodes(&mut self, from: &TaskId, to: &TaskId) {
        if self.has_links {
            self.links.push(NodeDependency::finish_to_start(from.clone(), to.clone()));
        }
    }

    /// Recomputes all levels from the root, and the positions of siblings that share one.
    pub(super) fn recompute_levels(&mut self) {
        let mut levels: Vec<(TaskId, u8)> = Vec::new();
        let mut positions: Vec<(TaskId, u16)> = Vec::new();
        let tree = self.tree();
        let mut level_of: BTreeMap<&TaskId, u8> = BTreeMap::new();
        for node in tree.subtree(&self.root_id) {
            let above = tree.parent(node).filter(|_| node.id != self.root_id);
            let level = above
                .and_then(|parent| level_of.get(&parent.id))
                .map_or(1, |level| level.saturating_add(1));
            level_of.insert(&node.id, level);
            levels.push((node.id.clone(), level));
            let mut streams: BTreeMap<&str, Vec<&PlanNode>> = BTreeMap::new();
            for child in tree.children(&node.id) {
                streams.entry(&child.stream).or_default().push(child);
            }
            for siblings in streams.into_values() {
                if siblings.windows(2).any(|pair| pair[0].position == pair[1].position) {
                    let places = siblings.iter().zip(0..=u16::MAX);
                    positions.extend(places.map(|(child, place)| (child.id.clone(), place)));
                }
            }
        }
        let (levels, positions): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (levels.into_iter().collect(), positions.into_iter().collect());
        for node in &mut self.nodes {
            node.level = levels.get(&node.id).copied().unwrap_or(node.level);
            node.position = positions.get(&node.id).copied().unwrap_or(node.position);
        }
    }
}
