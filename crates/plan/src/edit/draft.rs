//! The plan during an edit: outline and roadmap together, so that no change affects only one of them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use planwright_model::{NodeDependency, NodeTree, PlanNode, PlanOutline, Roadmap, TaskId};
use planwright_text::nearest_name;

use super::{EditError, mark_user_origin};

/// Copies of the edited artifacts, and the parts that must not change.
#[derive(Debug)]
pub(super) struct PlanEditDraft<'a> {
    pub(super) outline: PlanOutline,
    pub(super) roadmap: Option<Roadmap>,
    locked: Cow<'a, BTreeSet<TaskId>>,
    comments: Vec<(TaskId, String)>,
    /// Whether new and moved nodes join the chain of their lane.
    pub(super) joins_chains: bool,
}

/// What an edited draft comes apart into: outline, roadmap, locks and comments.
pub(super) type DraftParts =
    (PlanOutline, Option<Roadmap>, BTreeSet<TaskId>, Vec<(TaskId, String)>);

impl<'a> PlanEditDraft<'a> {
    pub(super) fn new(
        outline: &PlanOutline,
        roadmap: Option<&Roadmap>,
        locked: &'a BTreeSet<TaskId>,
    ) -> Self {
        let (outline, roadmap) = (outline.clone(), roadmap.cloned());
        let (locked, comments) = (Cow::Borrowed(locked), Vec::new());
        Self { outline, roadmap, locked, comments, joins_chains: true }
    }

    /// The same with links only where they are drawn.
    pub(super) fn with_links_as_given(mut self) -> Self {
        self.joins_chains = false;
        self
    }

    pub(super) fn into_parts(self) -> DraftParts {
        (self.outline, self.roadmap, self.locked.into_owned(), self.comments)
    }

    /// Locks a node; from the next edit on it stays as it is.
    pub(super) fn lock_node(&mut self, id: &TaskId) -> Result<(), EditError> {
        self.find_node(id)?;
        let new = self.locked.to_mut().insert(id.clone());
        if new { Ok(()) } else { Err(EditError::NothingChanges) }
    }

    pub(super) fn unlock_node(&mut self, id: &TaskId) -> Result<(), EditError> {
        let held = self.locked.to_mut().remove(id);
        if held { Ok(()) } else { Err(EditError::NothingChanges) }
    }

    pub(super) fn comment_node(&mut self, id: &TaskId, text: &str) -> Result<(), EditError> {
        self.find_node(id)?;
        let text = text.trim();
        if text.is_empty() {
            return Err(EditError::EmptyComment);
        }
        self.comments.push((id.clone(), text.to_owned()));
        Ok(())
    }

    /// Returns the minutes of everything at or below a node.
    pub(super) fn minutes_of(&self, id: &TaskId) -> u32 {
        self.tree().total_minutes(id)
    }

    /// Returns the authoritative nodes: the roadmap's, which have the estimates, or else the outline's.
    pub(super) fn nodes(&self) -> &[PlanNode] {
        self.roadmap.as_ref().map_or(&self.outline.nodes, |roadmap| &roadmap.nodes)
    }

    pub(super) fn tree(&self) -> NodeTree<'_> {
        NodeTree::new(self.nodes())
    }

    /// Returns a node of either side. The roadmap may lack optional nodes and may have checks of its own.
    pub(super) fn find_node(&self, id: &TaskId) -> Result<&PlanNode, EditError> {
        let mut both = self.nodes().iter().chain(&self.outline.nodes);
        both.find(|node| node.id == *id).ok_or_else(|| {
            let ids = self.nodes().iter().map(|node| node.id.as_str());
            let nearest = nearest_name(id.as_str(), ids).map(str::to_owned);
            EditError::UnknownNode { id: id.clone(), nearest }
        })
    }

    /// Rejects a node that the roadmap omits.
    pub(super) fn require_in_roadmap(&self, id: &TaskId) -> Result<(), EditError> {
        let roadmap = self.roadmap.as_ref().ok_or(EditError::NoRoadmap)?;
        match roadmap.find_node(id) {
            Some(_) => Ok(()),
            None => Err(EditError::UnknownNode { id: id.clone(), nearest: None }),
        }
    }

    pub(super) fn require_unlocked(&self, id: &TaskId) -> Result<(), EditError> {
        if self.locked.contains(id) {
            return Err(EditError::Locked { node: id.clone(), title: self.title(id) });
        }
        Ok(())
    }

    /// Rejects the edit if anything at or below a node is locked.
    pub(super) fn require_unlocked_below(&self, id: &TaskId) -> Result<(), EditError> {
        let below = [self.tree().subtree(id), self.outline.node_tree().subtree(id)].concat();
        below.iter().try_for_each(|node| self.require_unlocked(&node.id))
    }

    /// Rejects changes to the parts of a locked task, since its time and assignee move between the task and its parts.
    pub(super) fn require_parts_editable(&self, id: &TaskId) -> Result<(), EditError> {
        if self.find_node(id)?.node_type.is_container() {
            Ok(())
        } else {
            self.require_unlocked(id)
        }
    }

    pub(super) fn title(&self, id: &TaskId) -> String {
        self.find_node(id).map_or_else(|_| id.to_string(), |node| node.title.clone())
    }

    pub(super) fn is_root(&self, id: &TaskId) -> bool {
        *id == self.outline.root_id
    }

    /// Changes a node on both sides and marks it as edited by the person.
    pub(super) fn update_node(&mut self, id: &TaskId, change: impl Fn(&mut PlanNode)) {
        self.update_node_lists(|nodes| {
            for node in nodes.iter_mut().filter(|node| node.id == *id) {
                change(node);
                mark_user_origin(node);
            }
        });
    }

    /// Applies the same change to the nodes of both sides.
    pub(super) fn update_node_lists(&mut self, mut change: impl FnMut(&mut Vec<PlanNode>)) {
        change(&mut self.outline.nodes);
        if let Some(roadmap) = &mut self.roadmap {
            change(&mut roadmap.nodes);
        }
    }

    pub(super) fn links_mut(&mut self) -> Result<&mut Vec<NodeDependency>, EditError> {
        self.roadmap.as_mut().map(|roadmap| &mut roadmap.dependencies).ok_or(EditError::NoRoadmap)
    }
}
