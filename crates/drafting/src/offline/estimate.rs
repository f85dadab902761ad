//! Minutes of the leaves of a plan, and their sum over its span.

use std::collections::BTreeMap;

use planwright_model::{NodeTree, PlanNode, TaskId};

use super::blueprint::EffortRange;
use super::draft::OWN_STEP_MINUTES;
use super::instance::BlueprintInstance;
use super::span::leaf_occurrences;

/// The range of a leaf that has no range of its own, in percent.
const USUAL_RANGE: EffortRange = EffortRange(75, 100, 150);

/// Fills in the minutes of leaves that have none: those of the blueprint, or else as long as their siblings.
pub(super) fn estimate_nodes(nodes: &mut [PlanNode], root: &TaskId, plan: &BlueprintInstance) {
    let mut minutes: BTreeMap<TaskId, u32> = BTreeMap::new();
    let tree = NodeTree::new(nodes);
    let leaves = tree.leaves(root);
    let own = |leaf: &PlanNode| {
        let set = leaf.estimate_minutes.filter(|minutes| *minutes > 0);
        set.or_else(|| plan.efforts.get(&leaf.id).map(|effort| effort.likely()))
    };
    for leaf in &leaves {
        let found = if leaf.milestone { Some(0) } else { own(leaf) };
        let found = found.unwrap_or_else(|| {
            let siblings = leaf.parent_id.iter().flat_map(|parent| tree.children(parent));
            let known: Vec<u32> = siblings
                .filter(|node| !node.milestone)
                .filter_map(own)
                .filter(|minutes| *minutes > 0)
                .collect();
            lower_median(&known).unwrap_or(OWN_STEP_MINUTES)
        });
        minutes.insert(leaf.id.clone(), found);
    }
    for node in nodes {
        if let Some(minutes) = minutes.get(&node.id) {
            node.estimate_minutes = Some(*minutes);
        }
    }
}

/// Returns the least, likely and most minutes over the entire span.
pub(super) fn effort_range(
    nodes: &[PlanNode],
    root: &TaskId,
    plan: &BlueprintInstance,
    weeks: u16,
) -> EffortRange {
    let tree = NodeTree::new(nodes);
    let mut sum = EffortRange::default();
    for leaf in tree.leaves(root) {
        let likely = leaf.work_minutes();
        let range = plan.efforts.get(&leaf.id).copied().unwrap_or(USUAL_RANGE).around(likely);
        let times = leaf_occurrences(leaf, &tree, weeks);
        sum.0 = sum.0.saturating_add(range.low().saturating_mul(times));
        sum.1 = sum.1.saturating_add(likely.saturating_mul(times));
        sum.2 = sum.2.saturating_add(range.high().saturating_mul(times));
    }
    sum
}

/// Returns the median, the lower one of two.
fn lower_median(values: &[u32]) -> Option<u32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}
