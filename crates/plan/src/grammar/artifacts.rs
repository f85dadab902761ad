//! The input of the rules: the existing artifacts of a plan, and its surroundings.

use std::collections::BTreeSet;

use crate::plan_file::escape_for_message;
use planwright_model::{
    AdaptationLogEntry, Fact, FixedEvent, NodeDependency, NodeTree, PatternSpec, PlanContext,
    PlanNode, PlanOutline, Roadmap, Schedule, ScheduledBlock, TaskId,
};

/// External constraints of a plan, and what the person allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanSurroundings {
    pub fixed_events: Vec<FixedEvent>,
    /// Blocks of other plans. Locked ones are treated as fixed.
    pub other_blocks: Vec<ScheduledBlock>,
    /// Whether the person accepted a finish after the deadline.
    pub accepted_late: bool,
    /// Whether new subtypes may be proposed.
    pub allow_proposals: bool,
    /// What was said and has to be respected.
    pub facts: Vec<Fact>,
}

impl Default for PlanSurroundings {
    fn default() -> Self {
        Self {
            fixed_events: Vec::new(),
            other_blocks: Vec::new(),
            accepted_late: false,
            allow_proposals: true,
            facts: Vec::new(),
        }
    }
}

/// A plan at any stage.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanArtifacts {
    pub outline: PlanOutline,
    /// Links drafted before there is a roadmap; afterward the roadmap's own apply. Empty means not drafted yet.
    pub draft_links: Vec<NodeDependency>,
    pub roadmap: Option<Roadmap>,
    pub schedule: Option<Schedule>,
    pub adaptation_log: Vec<AdaptationLogEntry>,
    pub surroundings: PlanSurroundings,
}

impl PlanArtifacts {
    /// Creates a plan that has only its outline.
    pub fn new(outline: PlanOutline) -> Self {
        Self {
            outline,
            draft_links: Vec::new(),
            roadmap: None,
            schedule: None,
            adaptation_log: Vec::new(),
            surroundings: PlanSurroundings::default(),
        }
    }

    pub fn context(&self) -> &PlanContext {
        &self.outline.plan_context
    }

    /// Returns what the outline's rules examine while there is no roadmap.
    pub(super) fn outline_scope(&self) -> RuleScope<'_> {
        let links = Some(self.draft_links.as_slice()).filter(|links| !links.is_empty());
        RuleScope {
            plan: self,
            root_id: &self.outline.root_id,
            nodes: &self.outline.nodes,
            tree: self.outline.node_tree(),
            links,
            pattern: self.outline.pattern.clone(),
        }
    }

    /// Returns what the rules examine once there is a roadmap.
    pub(super) fn roadmap_scope(&self) -> Option<RuleScope<'_>> {
        let roadmap = self.roadmap.as_ref()?;
        Some(RuleScope {
            plan: self,
            root_id: &roadmap.root_id,
            nodes: &roadmap.nodes,
            tree: roadmap.node_tree(),
            links: Some(&roadmap.dependencies),
            pattern: roadmap.effective_pattern().or_else(|| self.outline.pattern.clone()),
        })
    }

    /// Returns the roadmap's scope, or else the outline's.
    pub(super) fn scope(&self) -> RuleScope<'_> {
        self.roadmap_scope().unwrap_or_else(|| self.outline_scope())
    }

    /// Returns whether a log entry names the node.
    pub(super) fn is_logged(&self, id: &TaskId) -> bool {
        self.adaptation_log.iter().any(|entry| entry.node_ids.contains(id))
    }
}

/// One tree of nodes with its links.
pub(super) struct RuleScope<'a> {
    pub(super) plan: &'a PlanArtifacts,
    pub(super) root_id: &'a TaskId,
    pub(super) nodes: &'a [PlanNode],
    pub(super) tree: NodeTree<'a>,
    /// `None` while there are no links.
    pub(super) links: Option<&'a [NodeDependency]>,
    pub(super) pattern: Option<PatternSpec>,
}

impl<'a> RuleScope<'a> {
    pub(super) fn context(&self) -> &'a PlanContext {
        &self.plan.outline.plan_context
    }

    pub(super) fn links(&self) -> &'a [NodeDependency] {
        self.links.unwrap_or_default()
    }

    /// Returns the nodes below the root, including the root.
    pub(super) fn reachable_ids(&self) -> BTreeSet<&'a TaskId> {
        self.tree.subtree(self.root_id).into_iter().map(|node| &node.id).collect()
    }

    /// Returns the children of the root of one type, in order.
    pub(super) fn root_children(&self, wanted: planwright_model::NodeType) -> Vec<&'a PlanNode> {
        self.tree.children(self.root_id).filter(|node| node.node_type == wanted).collect()
    }

    /// Returns whether `to` waits for `from`, by one link or by a chain of them.
    pub(super) fn is_reached(&self, from: &TaskId, to: &TaskId) -> bool {
        let within = |id: &TaskId, top: &TaskId| id == top || self.tree.is_ancestor(top, id);
        let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
        while let Some(id) = next.pop() {
            if within(id, to) {
                return true;
            }
            // A link from a group is one from each of its nodes, and the other way round.
            let leads_on =
                |link: &&NodeDependency| within(&link.from, id) || within(id, &link.from);
            for link in self.links().iter().filter(leads_on) {
                if seen.insert(&link.to) {
                    next.push(&link.to);
                }
            }
        }
        false
    }
}

/// Returns the title of a node as messages show it, or else its id.
pub(super) fn display_title(node: &PlanNode) -> String {
    if node.title.trim().is_empty() {
        escape_for_message(node.id.as_str())
    } else {
        escape_for_message(&node.title)
    }
}

/// Returns the title of the node with this id, or else the id.
pub(super) fn display_title_of(scope: &RuleScope<'_>, id: &TaskId) -> String {
    scope.tree.get(id).map_or_else(|| escape_for_message(id.as_str()), display_title)
}
