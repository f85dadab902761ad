//! Whether blocks stay within the person's hours and limits (G405).

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::{
    IsoWeek, PatternType, PlanNode, Schedule, ScheduledBlock, TaskId, Violation,
};

use super::super::artifacts::{RuleScope, display_title_of};
use super::super::rule_table::rule_violation;
use super::timing::ScheduleTiming;
use super::{block_minutes, repetition};

/// Returns whether the person placed the block: locked, or recurring at a stated time.
fn is_user_placed(scope: &RuleScope<'_>, block: &ScheduledBlock) -> bool {
    let recurrence = repetition::recurrence_of(scope, &block.plan_node_id);
    block.locked
        || super::is_fixed_by_hand(scope, &block.plan_node_id)
        || recurrence.is_some_and(|recurrence| recurrence.at_local.is_some())
}

/// Returns whether somebody other than the person does the work of a block.
fn is_done_by_other(scope: &RuleScope<'_>, block: &ScheduledBlock) -> bool {
    scope.tree.get(&block.plan_node_id).is_some_and(|node| node.other_owner().is_some())
}

/// Returns the blocks, by their index in the schedule, that lie outside working time or exceed a cap.
pub(crate) fn over_limits(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    timing: &ScheduleTiming<'_>,
) -> Vec<usize> {
    let mut over: BTreeSet<usize> = BTreeSet::new();
    let movable = |index: &usize| !is_user_placed(scope, &schedule.blocks[*index]);
    over.extend((0..schedule.blocks.len()).filter(|&index| {
        let block = &schedule.blocks[index];
        let owner = scope.tree.get(&block.plan_node_id).and_then(PlanNode::other_owner);
        let calendar = timing.calendar_for(scope, owner);
        let working = calendar.working_between(block.start.at, block.end.at);
        block.end.at > block.start.at && working != u64::from(block_minutes(block))
    }));
    // Parallel blocks cannot be added up to one person's day.
    let shared = scope.plan.roadmap.as_ref().is_some_and(|roadmap| !roadmap.resources.is_empty());
    if !shared {
        let date = |block: &ScheduledBlock| timing.calendar.local_date(block.start.at);
        let limits = &scope.context().constraints;
        let own = |block: &ScheduledBlock| !is_done_by_other(scope, block);
        // What stays whole may fill a day.
        let cut = |block: &ScheduledBlock| {
            own(block) && !scope.tree.get(&block.plan_node_id).is_some_and(|node| node.in_one_piece)
        };
        over.extend(blocks_beyond_cap(schedule, cut, date, limits.max_daily_minutes));
        let routine = scope
            .pattern
            .as_ref()
            .is_some_and(|spec| spec.pattern_type == PatternType::RecurringCycle);
        if let Some(weekly) = limits.weekly_minutes.filter(|_| !routine) {
            let counted = |block: &ScheduledBlock| {
                own(block)
                    && !scope.tree.get(&block.plan_node_id).is_some_and(PlanNode::has_own_day)
            };
            over.extend(blocks_beyond_cap(
                schedule,
                counted,
                |block| IsoWeek::from_date(date(block)),
                weekly,
            ));
        }
    }
    over.into_iter().filter(movable).collect()
}

/// Returns the blocks with which a period exceeds its cap.
fn blocks_beyond_cap<K: Ord>(
    schedule: &Schedule,
    counts: impl Fn(&ScheduledBlock) -> bool,
    period: impl Fn(&ScheduledBlock) -> K,
    cap: u32,
) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..schedule.blocks.len()).filter(|&index| counts(&schedule.blocks[index])).collect();
    order.sort_by_key(|&index| (!schedule.blocks[index].locked, schedule.blocks[index].start.at));
    let mut used: BTreeMap<K, u32> = BTreeMap::new();
    let mut over = Vec::new();
    for index in order {
        let block = &schedule.blocks[index];
        let sum = used.entry(period(block)).or_default();
        *sum = sum.saturating_add(block_minutes(block));
        if *sum > cap {
            over.push(index);
        }
    }
    over
}

/// G405, once for each leaf.
pub(super) fn check_limits(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    timing: &ScheduleTiming<'_>,
    found: &mut Vec<Violation>,
) {
    let over = over_limits(scope, schedule, timing);
    let ids: BTreeSet<&TaskId> =
        over.into_iter().map(|index| &schedule.blocks[index].plan_node_id).collect();
    for id in ids {
        found.push(rule_violation(
            "G405",
            [id.clone()],
            &[("title", &display_title_of(scope, id))],
        ));
    }
}
