//! Assigns minutes to every leaf of a plan.

use std::collections::BTreeMap;

use planwright_model::{NodeOrigin, NodeTree, PlanNode, TaskId};

use super::blueprint::{Blueprint, BlueprintInputs, BlueprintWeight, count_occurrences};
use super::template::TemplateSizing;
use planwright_plan::sizing::{self, EFFORT_UNIT_MINUTES, WeightedPart};

/// The assumed duration of an unknown leaf without siblings.
const DEFAULT_MINUTES: u32 = 60;

/// Fills in the estimates of `nodes`, which share `effort` minutes over the entire horizon.
pub(super) fn estimate_nodes(
    nodes: &mut [PlanNode],
    root: &TaskId,
    plan: &Blueprint,
    inputs: BlueprintInputs<'_>,
    effort: u32,
) {
    let minutes = {
        let tree = NodeTree::new(nodes);
        let mut estimator = LeafEstimator { tree: &tree, plan, minutes: BTreeMap::new() };
        estimator.assign_fixed(root);
        match inputs.template.sizing {
            TemplateSizing::Shares | TemplateSizing::Rounds => {
                let pool = estimator.shareable_minutes(root, inputs, effort);
                estimator.share_units(root, pool / EFFORT_UNIT_MINUTES);
            }
            TemplateSizing::ByTasks | TemplateSizing::Training => {
                estimator.estimate_from_siblings(root);
            }
        }
        estimator.minutes
    };
    for node in nodes {
        if let Some(minutes) = minutes.get(&node.id) {
            node.estimate_minutes = Some(*minutes);
        }
    }
}

/// Returns the minutes over the entire horizon: every leaf as often as it occurs.
pub(super) fn total_effort(nodes: &[PlanNode], root: &TaskId, weeks: u16) -> u32 {
    let tree = NodeTree::new(nodes);
    tree.leaves(root).iter().fold(0, |sum: u32, leaf| {
        sum.saturating_add(leaf.work_minutes().saturating_mul(leaf_occurrences(leaf, &tree, weeks)))
    })
}

/// Returns how often a leaf occurs in the horizon: by its own recurrence, or else by that of its container.
fn leaf_occurrences(leaf: &PlanNode, tree: &NodeTree<'_>, weeks: u16) -> u32 {
    let above = tree.ancestors(&leaf.id).into_iter().find_map(|node| node.recurrence.as_ref());
    leaf.recurrence
        .as_ref()
        .or(above)
        .map_or(1, |found| found.count.unwrap_or_else(|| count_occurrences(found, weeks)).max(1))
}

struct LeafEstimator<'a> {
    tree: &'a NodeTree<'a>,
    plan: &'a Blueprint,
    minutes: BTreeMap<TaskId, u32>,
}

impl LeafEstimator<'_> {
    /// Assigns the leaves whose minutes do not depend on the others: milestones, fixed ones, those set by a person.
    fn assign_fixed(&mut self, root: &TaskId) {
        for leaf in self.tree.leaves(root) {
            let set = leaf
                .estimate_minutes
                .filter(|minutes| *minutes > 0 && leaf.origin != NodeOrigin::System);
            let found = match self.plan.weights.get(&leaf.id) {
                _ if leaf.milestone => Some(0),
                _ if set.is_some() => set,
                Some(BlueprintWeight::Minutes(minutes)) => Some(*minutes),
                _ => None,
            };
            if let Some(minutes) = found {
                self.minutes.insert(leaf.id.clone(), minutes);
            }
        }
    }

    /// Returns the remaining minutes to distribute; for rounds, those of one round.
    fn shareable_minutes(&self, root: &TaskId, inputs: BlueprintInputs<'_>, effort: u32) -> u32 {
        let weeks = inputs.size.weeks();
        let leaves = self.tree.leaves(root);
        let fixed = leaves.iter().fold(0, |sum: u32, leaf| {
            let minutes = self.minutes.get(&leaf.id).copied().unwrap_or(0);
            sum.saturating_add(minutes.saturating_mul(leaf_occurrences(leaf, self.tree, weeks)))
        });
        let rounds = leaves
            .iter()
            .filter(|leaf| self.is_open(leaf))
            .map(|leaf| leaf_occurrences(leaf, self.tree, weeks))
            .max();
        let least =
            leaves.iter().filter(|leaf| self.is_open(leaf)).count() as u32 * EFFORT_UNIT_MINUTES;
        sizing::round_down_to_unit(effort.saturating_sub(fixed) / rounds.unwrap_or(1)).max(least)
    }

    fn is_open(&self, leaf: &PlanNode) -> bool {
        !self.minutes.contains_key(&leaf.id)
    }

    fn open_leaves(&self, id: &TaskId) -> u32 {
        self.tree.leaves(id).iter().filter(|leaf| self.is_open(leaf)).count() as u32
    }

    /// Distributes units among the children of a container, then inside each of them.
    fn share_units(&mut self, id: &TaskId, units: u32) {
        let children: Vec<&PlanNode> =
            self.tree.children(id).filter(|child| self.open_leaves(&child.id) > 0).collect();
        let known: Vec<u32> =
            children.iter().filter_map(|child| self.share_weight(&child.id)).collect();
        let usual = lower_median(&known).unwrap_or(1);
        let parts: Vec<WeightedPart> = children
            .iter()
            .map(|child| WeightedPart {
                weight: self.share_weight(&child.id).unwrap_or(usual),
                floor: self.open_leaves(&child.id),
            })
            .collect();
        for (child, units) in children.iter().zip(sizing::apportion_units(units, &parts)) {
            if self.tree.is_leaf(&child.id) {
                self.minutes.insert(child.id.clone(), units * EFFORT_UNIT_MINUTES);
            } else {
                self.share_units(&child.id, units);
            }
        }
    }

    fn share_weight(&self, id: &TaskId) -> Option<u32> {
        match self.plan.weights.get(id) {
            Some(BlueprintWeight::Share(share)) => Some((*share).max(1)),
            _ => None,
        }
    }

    /// If nothing is distributed, a leaf that a person added takes as long as its siblings.
    fn estimate_from_siblings(&mut self, root: &TaskId) {
        for leaf in self.tree.leaves(root) {
            if !self.is_open(leaf) {
                continue;
            }
            let siblings = leaf
                .parent_id
                .as_ref()
                .map(|parent| self.tree.children(parent))
                .into_iter()
                .flatten();
            let known: Vec<u32> = siblings
                .filter_map(|node| self.minutes.get(&node.id).copied())
                .filter(|minutes| *minutes > 0)
                .collect();
            self.minutes.insert(leaf.id.clone(), lower_median(&known).unwrap_or(DEFAULT_MINUTES));
        }
    }
}

/// Returns the median, the lower one of two.
fn lower_median(values: &[u32]) -> Option<u32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}
