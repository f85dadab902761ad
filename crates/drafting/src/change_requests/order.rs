//! Which tasks come before which, by links, and which links stand in the way of another order.

use std::collections::BTreeSet;

use planwright_model::{LinkKind, LinkOrigin, NodeDependency, PlanEdit, PlanNode, TaskId};

use super::ClauseContext;

impl ClauseContext<'_> {
    fn links(&self) -> &[NodeDependency] {
        self.roadmap.map(|roadmap| roadmap.dependencies.as_slice()).unwrap_or_default()
    }

    /// Returns the leaves that can only start once a node is done.
    fn later_leaves(&self, node: &TaskId) -> BTreeSet<&TaskId> {
        let tree = &self.finder.tree;
        let mut found: BTreeSet<&TaskId> = BTreeSet::new();
        let own = tree.leaves(node).into_iter().map(|leaf| &leaf.id);
        let mut open: Vec<&TaskId> = own.collect();
        while let Some(leaf) = open.pop() {
            let above = tree.ancestors(leaf);
            let starts_at = |link: &&NodeDependency| {
                link.kind == LinkKind::FS
                    && (link.from == *leaf || above.iter().any(|node| node.id == link.from))
            };
            for link in self.links().iter().filter(starts_at) {
                for next in tree.leaves(&link.to) {
                    if found.insert(&next.id) {
                        open.push(&next.id);
                    }
                }
            }
        }
        found
    }

    /// Returns whether everything of one node is done before anything of another starts.
    pub(super) fn comes_before(&self, first: &PlanNode, second: &PlanNode) -> bool {
        let tree = &self.finder.tree;
        let wanted = tree.leaves(&second.id);
        let firsts = tree.leaves(&first.id);
        !wanted.is_empty()
            && firsts.iter().all(|leaf| {
                let later = self.later_leaves(&leaf.id);
                wanted.iter().all(|other| later.contains(&other.id))
            })
    }

    /// Returns operations that drop the links which keep `first` from coming before `second`, apart from those of the
    /// order of siblings, which follow the rows.
    pub(super) fn unlink_contradictions(
        &self,
        first: &PlanNode,
        second: &PlanNode,
    ) -> Vec<PlanEdit> {
        let tree = &self.finder.tree;
        let within = |id: &TaskId, top: &PlanNode| *id == top.id || tree.is_ancestor(&top.id, id);
        let later = self.later_leaves(&second.id);
        let from_later = |id: &TaskId| {
            within(id, second) || tree.leaves(id).iter().any(|leaf| later.contains(&leaf.id))
        };
        let found = self.links().iter().filter(|link| {
            within(&link.to, first)
                && !within(&link.from, first)
                && from_later(&link.from)
                && !self.follows_rows(link)
        });
        unlink_all(found)
    }

    /// Returns operations that drop every link into a node from outside, apart from those that follow the rows.
    pub(super) fn unlink_needs(&self, node: &PlanNode) -> Vec<PlanEdit> {
        unlink_all(self.links_across(node).filter(|link| self.is_within(&link.to, node)))
    }

    /// Returns operations that drop every link out of a node, apart from those that follow the rows.
    pub(super) fn unlink_dependents(&self, node: &PlanNode) -> Vec<PlanEdit> {
        unlink_all(self.links_across(node).filter(|link| self.is_within(&link.from, node)))
    }

    fn links_across(&self, node: &PlanNode) -> impl Iterator<Item = &NodeDependency> {
        self.links().iter().filter(move |link| {
            self.is_within(&link.from, node) != self.is_within(&link.to, node)
                && !self.follows_rows(link)
        })
    }

    fn is_within(&self, id: &TaskId, top: &PlanNode) -> bool {
        *id == top.id || self.finder.tree.is_ancestor(&top.id, id)
    }

    /// Returns whether a link only states the order of siblings: moving a row moves it as well.
    fn follows_rows(&self, link: &NodeDependency) -> bool {
        let tree = &self.finder.tree;
        let parent = |id: &TaskId| tree.get(id).and_then(|node| node.parent_id.as_ref());
        link.origin != LinkOrigin::UserFeedback && parent(&link.from) == parent(&link.to)
    }
}

/// One operation drops every link between two nodes.
fn unlink_all<'a>(links: impl Iterator<Item = &'a NodeDependency>) -> Vec<PlanEdit> {
    let mut edits: Vec<PlanEdit> = Vec::new();
    for link in links {
        let edit = PlanEdit::Unlink { from: link.from.clone(), to: link.to.clone() };
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    edits
}
