//! Expands links between containers to links between their leaves, using as few as possible.
//!
//! The leaves that end a container are those that nothing inside it depends on; the leaves that start it are those that
//! depend on nothing inside it. A container starts with the first of its leaves, so a start-to-start link starts from
//! that one alone.

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::{LinkKind, NodeDependency, NodeTree, PlanNode, Roadmap, TaskId, TaskLink};

use super::{LeafStarts, recurrence_of};

/// Expands the links of a roadmap.
pub(super) struct LinkExpander<'a> {
    roadmap: &'a Roadmap,
    tree: NodeTree<'a>,
    starts: &'a LeafStarts<'a>,
}

impl<'a> LinkExpander<'a> {
    pub(super) fn new(roadmap: &'a Roadmap, starts: &'a LeafStarts<'a>) -> Self {
        Self { roadmap, tree: roadmap.node_tree(), starts }
    }

    /// Returns the links of each leaf, in the order of the roadmap's links.
    pub(super) fn expand(&self) -> BTreeMap<TaskId, Vec<TaskLink>> {
        let mut found: BTreeMap<TaskId, Vec<TaskLink>> = BTreeMap::new();
        for link in &self.roadmap.dependencies {
            let known = self.tree.contains(&link.from) && self.tree.contains(&link.to);
            if !known || self.are_related(&link.from, &link.to) {
                continue;
            }
            let (from, to) = self.link_ends(link);
            for target in to {
                let list = found.entry(target.id.clone()).or_default();
                for source in &from {
                    merge_link(list, self.leaf_link(source, target, link));
                }
            }
        }
        found
    }

    fn are_related(&self, a: &TaskId, b: &TaskId) -> bool {
        a == b || self.tree.is_ancestor(a, b) || self.tree.is_ancestor(b, a)
    }

    /// Returns the leaves that a link starts from and those that it leads to.
    fn link_ends(&self, link: &NodeDependency) -> (Vec<&'a PlanNode>, Vec<&'a PlanNode>) {
        let from = match link.kind {
            LinkKind::FS | LinkKind::FF => self.ending_leaves(&link.from),
            LinkKind::SS | LinkKind::SF => self.first_leaf(&link.from).into_iter().collect(),
        };
        let to = match link.kind {
            LinkKind::FS | LinkKind::SS => self.starting_leaves(&link.to),
            LinkKind::FF | LinkKind::SF => self.ending_leaves(&link.to).pop().into_iter().collect(),
        };
        (from, to)
    }

    fn leaf_link(&self, from: &PlanNode, to: &PlanNode, link: &NodeDependency) -> TaskLink {
        // In a recurring round, each step follows the previous step of the same round. As a task it completes after its
        // last round, so waiting for that would reverse the order of the rounds.
        let kind = match link.kind {
            LinkKind::FS if self.share_round(from, to) => LinkKind::SS,
            kind => kind,
        };
        TaskLink {
            task: from.id.clone(),
            kind,
            lag_minutes: if kind == link.kind { link.lag_minutes } else { 0 },
            lag_basis: link.lag_basis,
            origin: link.origin,
        }
    }

    fn share_round(&self, a: &PlanNode, b: &PlanNode) -> bool {
        let rounds = |node: &PlanNode| -> Vec<TaskId> {
            let above = self.tree.ancestors(&node.id);
            let rounds = above.iter().filter(|node| node.recurrence.is_some());
            rounds.map(|node| node.id.clone()).collect()
        };
        let own = rounds(a);
        rounds(b).iter().any(|round| own.contains(round))
    }

    /// Returns links with both ends strictly inside a container.
    fn links_inside(&self, container: &TaskId) -> impl Iterator<Item = &'a NodeDependency> {
        let below: BTreeSet<&TaskId> =
            self.tree.subtree(container).into_iter().map(|node| &node.id).collect();
        let container = container.clone();
        self.roadmap.dependencies.iter().filter(move |link| {
            let strictly = |id: &TaskId| *id != container && below.contains(id);
            strictly(&link.from) && strictly(&link.to)
        })
    }

    fn leaves_of<'s>(&'s self, ids: impl Iterator<Item = &'a TaskId> + 's) -> BTreeSet<&'a TaskId> {
        ids.flat_map(|id| self.tree.leaves(id)).map(|leaf| &leaf.id).collect()
    }

    fn ending_leaves(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let holds = |link: &&NodeDependency| link.kind == LinkKind::FS && link.lag_minutes >= 0;
        let followed = self.leaves_of(self.links_inside(id).filter(holds).map(|link| &link.from));
        self.uncovered_leaves(id, &followed, ContainerEnd::Last)
    }

    fn starting_leaves(&self, id: &TaskId) -> Vec<&'a PlanNode> {
        let holds = |link: &&NodeDependency| {
            matches!(link.kind, LinkKind::FS | LinkKind::SS) && link.lag_minutes >= 0
        };
        let waiting = self.leaves_of(self.links_inside(id).filter(holds).map(|link| &link.to));
        self.uncovered_leaves(id, &waiting, ContainerEnd::First)
    }

    /// Returns the leaves that are not among `covered`. Work that recurs alongside the phases does not delay what comes
    /// after it.
    fn uncovered_leaves(
        &self,
        id: &TaskId,
        covered: &BTreeSet<&TaskId>,
        end: ContainerEnd,
    ) -> Vec<&'a PlanNode> {
        let leaves = self.tree.leaves(id);
        let repeats = |leaf: &&PlanNode| recurrence_of(leaf, &self.tree).is_some();
        let beside = end == ContainerEnd::Last && !leaves.iter().all(&repeats);
        leaves
            .into_iter()
            .filter(|leaf| !covered.contains(&leaf.id))
            .filter(|leaf| !(beside && repeats(leaf)))
            .collect()
    }

    /// Returns the leaf that a container starts with: the earliest in the schedule, or else the first in the outline.
    fn first_leaf(&self, id: &TaskId) -> Option<&'a PlanNode> {
        let sources = self.starting_leaves(id);
        let start = |leaf: &&&PlanNode| self.starts.first_block(&leaf.id).map(|block| block.start);
        let timed = sources.iter().filter(|leaf| start(leaf).is_some()).min_by_key(start);
        timed.or_else(|| sources.first()).copied()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerEnd {
    First,
    Last,
}

/// Of equivalent links between the same tasks, keeps the one with the longer lag.
fn merge_link(list: &mut Vec<TaskLink>, link: TaskLink) {
    let same = |old: &&mut TaskLink| {
        old.task == link.task && old.kind == link.kind && old.lag_basis == link.lag_basis
    };
    match list.iter_mut().find(same) {
        Some(old) if old.lag_minutes >= link.lag_minutes => {}
        Some(old) => *old = link,
        None => list.push(link),
    }
}
