//! Gives every leaf of a plan its minutes.

use std::collections::BTreeMap;

use planwright_model::{NodeTree, Origin, PlanNode, TaskId};

use super::blueprint::{Blueprint, Ground, Weight, occurrences};
use super::template::Sizing;
use planwright_plan::sizing::{self, Part, UNIT};

/// What an unknown leaf takes when it has no siblings to go by.
const DEFAULT_MINUTES: u32 = 60;

/// Fills in the estimates of `nodes`, which share `effort` minutes over the whole horizon.
pub(super) fn estimate(
    nodes: &mut [PlanNode],
    root: &TaskId,
    plan: &Blueprint,
    ground: Ground<'_>,
    effort: u32,
) {
    let minutes = {
        let tree = NodeTree::new(nodes);
        let mut desk = Desk { tree: &tree, plan, minutes: BTreeMap::new() };
        desk.fixed(root);
        match ground.template.sizing {
            Sizing::Shares | Sizing::Rounds => {
                let pool = desk.pool(root, ground, effort);
                desk.share(root, pool / UNIT);
            }
            Sizing::ByTasks | Sizing::Training => desk.by_siblings(root),
        }
        desk.minutes
    };
    for node in nodes {
        if let Some(minutes) = minutes.get(&node.id) {
            node.estimate_minutes = Some(*minutes);
        }
    }
}

/// Minutes over the whole horizon: every leaf as often as it comes.
pub(super) fn whole_effort(nodes: &[PlanNode], root: &TaskId, weeks: u16) -> u32 {
    let tree = NodeTree::new(nodes);
    tree.leaves(root).iter().fold(0, |sum: u32, leaf| {
        sum.saturating_add(leaf.minutes().saturating_mul(times(leaf, &tree, weeks)))
    })
}

/// How often a leaf comes in the horizon: by its own recurrence, else by that of what holds it.
fn times(leaf: &PlanNode, tree: &NodeTree<'_>, weeks: u16) -> u32 {
    let above = tree.ancestors(&leaf.id).into_iter().find_map(|node| node.recurrence.as_ref());
    leaf.recurrence
        .as_ref()
        .or(above)
        .map_or(1, |found| found.count.unwrap_or_else(|| occurrences(found, weeks)).max(1))
}

struct Desk<'a> {
    tree: &'a NodeTree<'a>,
    plan: &'a Blueprint,
    minutes: BTreeMap<TaskId, u32>,
}

impl Desk<'_> {
    /// Settles the leaves whose minutes do not depend on the others: milestones, fixed ones, those set by a person.
    fn fixed(&mut self, root: &TaskId) {
        for leaf in self.tree.leaves(root) {
            let set = leaf
                .estimate_minutes
                .filter(|minutes| *minutes > 0 && leaf.origin != Origin::System);
            let found = match self.plan.weights.get(&leaf.id) {
                _ if leaf.milestone => Some(0),
                _ if set.is_some() => set,
                Some(Weight::Minutes(minutes)) => Some(*minutes),
                _ => None,
            };
            if let Some(minutes) = found {
                self.minutes.insert(leaf.id.clone(), minutes);
            }
        }
    }

    /// What is left to share: in rounds it is that of one round.
    fn pool(&self, root: &TaskId, ground: Ground<'_>, effort: u32) -> u32 {
        let weeks = ground.size.weeks();
        let leaves = self.tree.leaves(root);
        let fixed = leaves.iter().fold(0, |sum: u32, leaf| {
            let minutes = self.minutes.get(&leaf.id).copied().unwrap_or(0);
            sum.saturating_add(minutes.saturating_mul(times(leaf, self.tree, weeks)))
        });
        let rounds = leaves
            .iter()
            .filter(|leaf| self.is_open(leaf))
            .map(|leaf| times(leaf, self.tree, weeks))
            .max();
        let least = leaves.iter().filter(|leaf| self.is_open(leaf)).count() as u32 * UNIT;
        sizing::cut(effort.saturating_sub(fixed) / rounds.unwrap_or(1)).max(least)
    }

    fn is_open(&self, leaf: &PlanNode) -> bool {
        !self.minutes.contains_key(&leaf.id)
    }

    fn open_leaves(&self, id: &TaskId) -> u32 {
        self.tree.leaves(id).iter().filter(|leaf| self.is_open(leaf)).count() as u32
    }

    /// Shares units among the children of a container, then inside each of them.
    fn share(&mut self, id: &TaskId, units: u32) {
        let children: Vec<&PlanNode> =
            self.tree.children(id).filter(|child| self.open_leaves(&child.id) > 0).collect();
        let known: Vec<u32> = children.iter().filter_map(|child| self.weight(&child.id)).collect();
        let usual = middle(&known).unwrap_or(1);
        let parts: Vec<Part> = children
            .iter()
            .map(|child| Part {
                weight: self.weight(&child.id).unwrap_or(usual),
                floor: self.open_leaves(&child.id),
            })
            .collect();
        for (child, units) in children.iter().zip(sizing::apportion(units, &parts)) {
            if self.tree.is_leaf(&child.id) {
                self.minutes.insert(child.id.clone(), units * UNIT);
            } else {
                self.share(&child.id, units);
            }
        }
    }

    fn weight(&self, id: &TaskId) -> Option<u32> {
        match self.plan.weights.get(id) {
            Some(Weight::Share(share)) => Some((*share).max(1)),
            _ => None,
        }
    }

    /// Where nothing is shared a leaf that a person added takes as long as its siblings.
    fn by_siblings(&mut self, root: &TaskId) {
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
            self.minutes.insert(leaf.id.clone(), middle(&known).unwrap_or(DEFAULT_MINUTES));
        }
    }
}

/// The median, the lower one of two.
fn middle(values: &[u32]) -> Option<u32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}
