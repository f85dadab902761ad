//! What changed between two revisions of a plan, node by node, and whether a change requires a new approval.
//!
//! Nodes are identified by their id alone. A node whose neighbors are added or removed has not moved: only another
//! parent, another stream or another order among the remaining nodes is a move.

mod draft_diff;
mod fields;
mod lines;
mod order;
mod row_fields;
mod widening;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use draft_diff::{
    DraftChangeKind, DraftDiff, DraftView, OldAndNew, RowChange, RowChangeCounts, RowSpan,
    diff_drafts,
};
pub use lines::{DiffLine, DiffSign};
pub use row_fields::{
    DiffField, DiffFieldChange, describe_recurrence, format_plan_date, owner_words,
};
pub use widening::{ApprovalWidening, assess_widening};

pub use order::longest_rising_run;
use order::{DiffSide, merge_node_order, reordered_nodes};
use planwright_model::{NodeDependency, PlanNode, PlanOutline, Roadmap, TaskId};

/// A node that exists on one side only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeName {
    pub node: TaskId,
    pub title: String,
}

/// The position of a node in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreePosition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The parent's title, as displayed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parent_title: String,
    pub stream: String,
    /// Its position among its siblings, counted from 1.
    pub place: usize,
}

/// A node under another parent, in another stream or in another order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMove {
    pub node: TaskId,
    pub title: String,
    pub from: TreePosition,
    pub to: TreePosition,
}

/// A field with a different value. Limits of the plan are fields of its goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    pub node: TaskId,
    pub title: String,
    pub field: String,
    pub from: String,
    pub to: String,
}

/// A segment of the merged list of nodes, in display order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffSegment {
    /// A node that was added, removed, moved or changed.
    Node(TaskId),
    /// A number of unchanged nodes.
    Unchanged(usize),
}

/// What changed between two revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanDiff {
    pub added: Vec<NodeName>,
    pub removed: Vec<NodeName>,
    pub moved: Vec<NodeMove>,
    pub changed: Vec<FieldChange>,
    pub links_added: Vec<NodeDependency>,
    pub links_removed: Vec<NodeDependency>,
    /// The number of unchanged nodes.
    pub unchanged: usize,
    /// Both sides as one list: removed nodes appear at their old position.
    pub stretches: Vec<DiffSegment>,
}

impl PlanDiff {
    /// Returns whether no visible change exists.
    pub fn is_empty(&self) -> bool {
        self.touched_nodes().is_empty()
            && self.links_added.is_empty()
            && self.links_removed.is_empty()
    }

    /// Returns every node that was added, removed, moved or changed.
    pub fn touched_nodes(&self) -> BTreeSet<&TaskId> {
        let named = self.added.iter().chain(&self.removed).map(|name| &name.node);
        let moved = self.moved.iter().map(|found| &found.node);
        named.chain(moved).chain(self.changed.iter().map(|change| &change.node)).collect()
    }
}

/// Compares two outlines: nodes, pattern and the limits in their contexts.
pub fn diff_outlines(before: &PlanOutline, after: &PlanOutline) -> PlanDiff {
    let mut diff = diff_nodes(
        &DiffSide::new(&before.nodes, &before.root_id),
        &DiffSide::new(&after.nodes, &after.root_id),
        |changes| {
            fields::compare_patterns(changes, before.pattern.as_ref(), after.pattern.as_ref());
            fields::compare_contexts(changes, &before.plan_context, &after.plan_context);
        },
    );
    diff.fold_unchanged();
    diff
}

/// Compares two roadmaps: nodes, pattern and links.
pub fn diff_roadmaps(before: &Roadmap, after: &Roadmap) -> PlanDiff {
    let mut diff = diff_nodes(
        &DiffSide::new(&before.nodes, &before.root_id),
        &DiffSide::new(&after.nodes, &after.root_id),
        |changes| {
            fields::compare_patterns(changes, before.pattern.as_ref(), after.pattern.as_ref());
        },
    );
    diff.links_added = links_missing_from(&after.dependencies, &before.dependencies);
    diff.links_removed = links_missing_from(&before.dependencies, &after.dependencies);
    diff.fold_unchanged();
    diff
}

/// Returns the links of `list` that `other` does not have. The origin and reason of a link are not compared.
fn links_missing_from(list: &[NodeDependency], other: &[NodeDependency]) -> Vec<NodeDependency> {
    let key = |link: &NodeDependency| {
        (link.from.clone(), link.to.clone(), link.kind, link.lag_minutes, link.lag_basis)
    };
    let known: BTreeSet<_> = other.iter().map(key).collect();
    list.iter().filter(|link| !known.contains(&key(link))).cloned().collect()
}

/// Compares the nodes; `of_plan` adds the changes of the plan itself, which are listed as fields of its goal.
fn diff_nodes(
    before: &DiffSide<'_>,
    after: &DiffSide<'_>,
    of_plan: impl FnOnce(&mut fields::FieldChangeCollector<'_>),
) -> PlanDiff {
    let mut diff = PlanDiff::default();
    let restless = reordered_nodes(before, after);
    for node in after.nodes() {
        let Some(old) = before.get(&node.id) else {
            diff.added.push(node_name(node));
            continue;
        };
        let elsewhere = old.parent_id != node.parent_id || old.stream != node.stream;
        if elsewhere || restless.contains(&node.id) {
            diff.moved.push(NodeMove {
                node: node.id.clone(),
                title: node.title.clone(),
                from: before.tree_position(old),
                to: after.tree_position(node),
            });
        }
        let mut changes = fields::FieldChangeCollector::new(node);
        fields::compare_nodes(&mut changes, old, node);
        diff.changed.extend(changes.found);
    }
    if let Some(root) = after.root().filter(|root| before.get(&root.id).is_some()) {
        let mut changes = fields::FieldChangeCollector::new(root);
        of_plan(&mut changes);
        diff.changed.extend(changes.found);
    }
    let gone = before.nodes().filter(|node| after.get(&node.id).is_none());
    diff.removed = gone.map(node_name).collect();
    diff.stretches = merge_node_order(before, after).into_iter().map(DiffSegment::Node).collect();
    diff
}

impl PlanDiff {
    /// Folds and counts the unchanged nodes.
    fn fold_unchanged(&mut self) {
        let touched: BTreeSet<TaskId> = self.touched_nodes().into_iter().cloned().collect();
        let mut folded: Vec<DiffSegment> = Vec::new();
        for stretch in std::mem::take(&mut self.stretches) {
            match (stretch, folded.last_mut()) {
                (DiffSegment::Node(id), _) if touched.contains(&id) => {
                    folded.push(DiffSegment::Node(id));
                }
                (_, Some(DiffSegment::Unchanged(count))) => *count += 1,
                _ => folded.push(DiffSegment::Unchanged(1)),
            }
        }
        self.unchanged = folded
            .iter()
            .map(|stretch| if let DiffSegment::Unchanged(count) = stretch { *count } else { 0 })
            .sum();
        self.stretches = folded;
    }

    /// Returns the titles of the nodes in the diff.
    fn node_titles(&self) -> BTreeMap<&TaskId, &str> {
        let named = self.added.iter().chain(&self.removed);
        named.map(|name| (&name.node, name.title.as_str())).collect()
    }
}

fn node_name(node: &PlanNode) -> NodeName {
    NodeName { node: node.id.clone(), title: node.title.clone() }
}
