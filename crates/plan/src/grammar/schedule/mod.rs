//! Rules about the schedule: on time, everything placed, links satisfied, no overlaps, within the person's hours, valid
//! times, complete leaves, regular recurrence, slack, dates set by hand (G401 to G412).

mod caps;
mod collisions;
mod hand_set;
mod repetition;
mod timing;

pub(super) use caps::over_limits;
pub(super) use collisions::find_collisions;
pub(super) use hand_set::is_fixed_by_hand;
pub(super) use repetition::{find_drifts, recurring_leaves};
pub(super) use timing::{ScheduleTiming, early_leaves};

use super::artifacts::{RuleScope, display_title_of};
use super::rule_table::rule_violation;
use planwright_model::{
    IsoWeek, NodeStatus, PlanContext, PlanNode, Schedule, ScheduledBlock, TaskId, Violation,
};
use planwright_schedule::calendar::find_zone;
use planwright_text::units;

pub(super) fn check_schedule(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    found: &mut Vec<Violation>,
) {
    check_deadline(scope, schedule, found);
    check_unplaced(scope, schedule, found);
    let timing = ScheduleTiming::new(scope, schedule);
    if let Some(timing) = &timing {
        timing::check_link_timing(scope, timing, found);
    }
    collisions::check_collisions(scope, schedule, found);
    if let Some(timing) = &timing {
        caps::check_limits(scope, schedule, timing, found);
    }
    check_times(scope, schedule, found);
    check_leaf_totals(scope, schedule, found);
    if let Some(timing) = &timing {
        repetition::check_recurrence(scope, schedule, timing, found);
    }
    check_full_weeks(scope, schedule, timing.as_ref(), found);
    collisions::check_other_plans(scope, schedule, found);
    hand_set::check_dates(scope, schedule, found);
}

/// G401.
fn check_deadline(scope: &RuleScope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    let deadline = scope.context().constraints.deadline;
    let (Some(deadline), Some(finish)) = (deadline, schedule.finish_time()) else { return };
    if finish.at > deadline.at && !scope.plan.surroundings.accepted_late {
        let minutes = deadline.minutes_until(finish).max(1);
        found.push(rule_violation(
            "G401",
            [scope.root_id.clone()],
            &[("d", &units::format_span(minutes.unsigned_abs()))],
        ));
    }
}

/// G402.
fn check_unplaced(scope: &RuleScope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    for left in schedule.unplaced.iter().filter(|left| left.minutes > 0) {
        let values = [
            ("n", &*units::format_planned(left.minutes.into())),
            ("title", &*display_title_of(scope, &left.plan_node_id)),
        ];
        found.push(rule_violation("G402", [left.plan_node_id.clone()], &values));
    }
}

/// Returns whether a block violates G406.
pub(super) fn has_invalid_time(block: &ScheduledBlock) -> bool {
    let Ok(zone) = find_zone(&block.tz) else { return true };
    let wrong =
        |moment: planwright_model::OffsetDateTime| zone.to_offset(moment.at) != moment.offset;
    block.end.at <= block.start.at || wrong(block.start) || wrong(block.end)
}

/// G406.
fn check_times(scope: &RuleScope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    if find_zone(&schedule.tz).is_err() {
        let title = display_title_of(scope, scope.root_id);
        found.push(rule_violation("G406", [scope.root_id.clone()], &[("title", &title)]));
    }
    let mut ids: Vec<&TaskId> = schedule
        .blocks
        .iter()
        .filter(|block| has_invalid_time(block))
        .map(|block| &block.plan_node_id)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        found.push(rule_violation(
            "G406",
            [id.clone()],
            &[("title", &display_title_of(scope, id))],
        ));
    }
}

pub(super) fn block_minutes(block: &ScheduledBlock) -> u32 {
    u32::try_from(block.start.minutes_until(block.end)).unwrap_or(0)
}

/// A leaf, or one occurrence of it, whose blocks do not add up.
pub(super) struct IncompleteLeaf {
    pub(super) id: TaskId,
    pub(super) occurrence: Option<u32>,
    placed: u32,
    wanted: u32,
}

/// Returns the leaves that violate G407. Minutes that fit nowhere are covered by G402.
pub(super) fn incomplete_leaves(scope: &RuleScope<'_>, schedule: &Schedule) -> Vec<IncompleteLeaf> {
    let mut blocks: std::collections::BTreeMap<(&TaskId, Option<u32>), Vec<u32>> =
        std::collections::BTreeMap::new();
    for block in &schedule.blocks {
        let key = (&block.plan_node_id, block.occurrence);
        blocks.entry(key).or_default().push(block_minutes(block));
    }
    let wanted_leaves = scope.tree.leaves(scope.root_id);
    for leaf in wanted_leaves.iter().filter(|leaf| leaf.status != NodeStatus::Done) {
        let placed =
            blocks.range((&leaf.id, None)..).next().is_some_and(|((id, _), _)| *id == &leaf.id);
        // A recurring leaf without an occurrence in the horizon is complete.
        if !placed && !repetition::is_recurring(scope, leaf) {
            blocks.insert((&leaf.id, None), Vec::new());
        }
    }
    let mut found = Vec::new();
    for ((id, occurrence), minutes) in blocks {
        let leaf = scope.tree.get(id).filter(|_| scope.tree.is_leaf(id));
        let wanted = leaf.map_or(0, PlanNode::work_minutes);
        let placed = minutes.iter().fold(0_u32, |sum, one| sum.saturating_add(*one));
        let unplaced = schedule.unplaced.iter().filter(|left| left.plan_node_id == *id);
        let missing = unplaced.fold(0_u32, |sum, left| sum.saturating_add(left.minutes));
        let least = scope.context().user_prefs.min_block_minutes.min(wanted);
        let short = minutes.iter().any(|one| *one < least);
        let done = leaf.is_some_and(|leaf| leaf.status == NodeStatus::Done);
        let adds_up =
            placed.saturating_add(missing) == wanted || (occurrence.is_some() && missing > 0);
        if !done && (!adds_up || short) {
            found.push(IncompleteLeaf { id: id.clone(), occurrence, placed, wanted });
        }
    }
    found
}

/// G407.
fn check_leaf_totals(scope: &RuleScope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    for leaf in incomplete_leaves(scope, schedule) {
        let values = [
            ("title", &*display_title_of(scope, &leaf.id)),
            ("x", &*units::format_planned(leaf.placed.into())),
            ("y", &*units::format_planned(leaf.wanted.into())),
        ];
        found.push(rule_violation("G407", [leaf.id.clone()], &values));
    }
}

/// Returns the weeks that are fuller than the strategy's target.
pub(super) fn full_weeks(context: &PlanContext, schedule: &Schedule) -> Vec<(IsoWeek, f64)> {
    // A fraction such as .8 has no exact percentage.
    let target = context.strategy_profile.target_utilization * 100.0 + 1e-9;
    let rows = schedule.capacity.iter().filter(|row| row.utilization > target);
    rows.map(|row| (row.week, row.utilization)).collect()
}

/// G409.
fn check_full_weeks(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    timing: Option<&ScheduleTiming<'_>>,
    found: &mut Vec<Violation>,
) {
    let weeks = full_weeks(scope.context(), schedule);
    let crowded = timing.and_then(|timing| timing.crowded_finish(scope, schedule));
    if let Some(week) = crowded.filter(|week| weeks.iter().all(|(full, _)| full != week)) {
        let named = describe_week(week);
        let mut near = rule_violation("G409", [], &[("w", &*named)]);
        near.message =
            format!("The plan ends in the week {named}, with little time left for delays.");
        "Start earlier, leave out an optional task, or move the end."
            .clone_into(&mut near.suggested_fix);
        found.push(near);
    }
    for (week, utilization) in weeks {
        let percent = format!("{utilization:.0}");
        found.push(rule_violation("G409", [], &[("w", &*describe_week(week)), ("p", &*percent)]));
    }
}

/// A week by its Monday, as people name it: `of Mon 1 Jun`.
pub(super) fn describe_week(week: IsoWeek) -> String {
    let monday = week.monday().map(|monday| planwright_text::dates::format_date(monday, monday));
    monday.map_or_else(|| week.to_string(), |monday| format!("of {monday}"))
}
