//! Rules about the schedule: in time, everything placed, links kept, no collisions, within the person's hours, valid
//! times, whole leaves, steady repetition, room to breathe (G401 to G410).

mod caps;
mod collisions;
mod repetition;
mod timing;

pub(super) use caps::over_limits;
pub(super) use collisions::collisions;
pub(super) use repetition::{drifts, followers};
pub(super) use timing::{Timing, early_leaves};

use super::artifacts::{Scope, title_of};
use super::table::broken;
use planwright_model::{
    IsoWeek, NodeStatus, PlanContext, PlanNode, Schedule, ScheduledBlock, TaskId, Violation,
};
use planwright_schedule::calendar::zone;

pub(super) fn check(scope: &Scope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    late(scope, schedule, found);
    fit_nowhere(scope, schedule, found);
    let timing = Timing::new(scope, schedule);
    if let Some(timing) = &timing {
        timing::check(scope, timing, found);
    }
    collisions::check(scope, schedule, found);
    if let Some(timing) = &timing {
        caps::check(scope, schedule, timing, found);
    }
    invalid_times(scope, schedule, found);
    incomplete(scope, schedule, found);
    if let Some(timing) = &timing {
        repetition::check(scope, schedule, timing, found);
    }
    too_full(scope, schedule, timing.as_ref(), found);
    collisions::clashes(scope, schedule, found);
}

/// G401.
fn late(scope: &Scope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    let deadline = scope.context().constraints.deadline;
    let (Some(deadline), Some(finish)) = (deadline, schedule.finish()) else { return };
    if finish.at > deadline.at && !scope.plan.surroundings.accepted_late {
        let minutes = deadline.minutes_until(finish).max(1);
        found.push(broken("G401", [scope.root_id.clone()], &[("d", &span_text(minutes))]));
    }
}

/// Minutes as a person would say them: the two largest units.
fn span_text(minutes: i64) -> String {
    let parts = [(minutes / 1440, "d"), (minutes / 60 % 24, "h"), (minutes % 60, "min")];
    let shown: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .take(2)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    shown.join(" ")
}

/// G402.
fn fit_nowhere(scope: &Scope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    for left in schedule.unplaced.iter().filter(|left| left.minutes > 0) {
        let values =
            [("n", &*left.minutes.to_string()), ("title", &*title_of(scope, &left.plan_node_id))];
        found.push(broken("G402", [left.plan_node_id.clone()], &values));
    }
}

/// Whether G406 holds of a block.
pub(super) fn has_invalid_time(block: &ScheduledBlock) -> bool {
    let Ok(zone) = zone(&block.tz) else { return true };
    let wrong = |moment: planwright_model::Moment| zone.to_offset(moment.at) != moment.offset;
    block.end.at <= block.start.at || wrong(block.start) || wrong(block.end)
}

/// G406.
fn invalid_times(scope: &Scope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    if zone(&schedule.tz).is_err() {
        let title = title_of(scope, scope.root_id);
        found.push(broken("G406", [scope.root_id.clone()], &[("title", &title)]));
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
        found.push(broken("G406", [id.clone()], &[("title", &title_of(scope, id))]));
    }
}

pub(super) fn block_minutes(block: &ScheduledBlock) -> u32 {
    u32::try_from(block.start.minutes_until(block.end)).unwrap_or(0)
}

/// A leaf, or one occurrence of it, whose blocks do not add up.
pub(super) struct Incomplete {
    pub(super) id: TaskId,
    pub(super) occurrence: Option<u32>,
    placed: u32,
    wanted: u32,
}

/// The leaves for which G407 does not hold. Minutes that fit nowhere are G402's business.
pub(super) fn incomplete_leaves(scope: &Scope<'_>, schedule: &Schedule) -> Vec<Incomplete> {
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
        // A leaf that repeats and has no occurrence in the horizon is complete.
        if !placed && !repetition::repeats(scope, leaf) {
            blocks.insert((&leaf.id, None), Vec::new());
        }
    }
    let mut found = Vec::new();
    for ((id, occurrence), minutes) in blocks {
        let leaf = scope.tree.get(id).filter(|_| scope.tree.is_leaf(id));
        let wanted = leaf.map_or(0, PlanNode::minutes);
        let placed = minutes.iter().fold(0_u32, |sum, one| sum.saturating_add(*one));
        let unplaced = schedule.unplaced.iter().filter(|left| left.plan_node_id == *id);
        let missing = unplaced.fold(0_u32, |sum, left| sum.saturating_add(left.minutes));
        let least = scope.context().user_prefs.min_block_minutes.min(wanted);
        let short = minutes.iter().any(|one| *one < least);
        let done = leaf.is_some_and(|leaf| leaf.status == NodeStatus::Done);
        let adds_up =
            placed.saturating_add(missing) == wanted || (occurrence.is_some() && missing > 0);
        if !done && (!adds_up || short) {
            found.push(Incomplete { id: id.clone(), occurrence, placed, wanted });
        }
    }
    found
}

/// G407.
fn incomplete(scope: &Scope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    for leaf in incomplete_leaves(scope, schedule) {
        let values = [
            ("title", &*title_of(scope, &leaf.id)),
            ("x", &*leaf.placed.to_string()),
            ("y", &*leaf.wanted.to_string()),
        ];
        found.push(broken("G407", [leaf.id.clone()], &values));
    }
}

/// The weeks that are fuller than the strategy wants.
pub(super) fn full_weeks(context: &PlanContext, schedule: &Schedule) -> Vec<(IsoWeek, f64)> {
    // A share such as .8 has no exact percentage.
    let target = context.strategy_profile.target_utilization * 100.0 + 1e-9;
    let rows = schedule.capacity.iter().filter(|row| row.utilization > target);
    rows.map(|row| (row.week, row.utilization)).collect()
}

/// G409.
fn too_full(
    scope: &Scope<'_>,
    schedule: &Schedule,
    timing: Option<&Timing<'_>>,
    found: &mut Vec<Violation>,
) {
    let mut weeks = full_weeks(scope.context(), schedule);
    let crowded = timing.and_then(|timing| timing.crowded_finish(scope.context(), schedule));
    if let Some(week) = crowded.filter(|week| weeks.iter().all(|(full, _)| full != week)) {
        let row = schedule.capacity.iter().find(|row| row.week == week);
        weeks.push((week, row.map_or(0.0, |row| row.utilization)));
    }
    for (week, utilization) in weeks {
        let percent = format!("{utilization:.1}");
        let percent = percent.strip_suffix(".0").unwrap_or(&percent);
        found.push(broken("G409", [], &[("w", &*week.to_string()), ("p", percent)]));
    }
}
