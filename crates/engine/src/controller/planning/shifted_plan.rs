//! Moving blocks of this plan because another plan of the person's asks for their time.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::DecisionBuilder;
use super::overlaps::record_adaptation;
use crate::controller::DecisionResult;
use planwright_model::event::{CommandRefusal, PlanningEvent};
use planwright_model::{
    FixedEvent, OverlapShift, PlanDrafter, PortfolioImpact, Schedule, ScheduledBlock, Severity,
    TaskId, Violation,
};
use planwright_plan::grammar::{PlanArtifacts, validate_schedule};
use planwright_schedule::{ScheduleRequest, schedule_roadmap};
use planwright_state::{MOVED_FOR_OTHER_PLAN, SessionState};
use planwright_text::units::format_counted;

/// The number of generated schedules for blocks that go elsewhere, which are few; everything else is fixed.
const ITERATIONS: u64 = 40;

/// What another plan asks for.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ShiftRequest<'a> {
    pub(in super::super) shifts: &'a [OverlapShift],
    pub(in super::super) other_plan: &'a str,
    pub(in super::super) moved_there: i64,
    pub(in super::super) busy: &'a [FixedEvent],
}

/// Moves blocks out of the way of another plan, or notes that blocks of that plan moved.
pub(in super::super) fn shift_blocks(
    state: &SessionState,
    request: ShiftRequest<'_>,
    now: Timestamp,
) -> DecisionResult {
    let ShiftRequest { shifts, other_plan, moved_there, .. } = request;
    let mut draft = DecisionBuilder::new(state, now);
    let Some(schedule) = draft.planning().schedule.clone() else {
        return Err(refusal("this plan has no schedule; its tasks have no time to move"));
    };
    let impact = |minutes_shifted: i64| PortfolioImpact {
        affected_plans: vec![other_plan.to_owned()],
        minutes_shifted,
    };
    if shifts.is_empty() {
        let reason = format!("\"{other_plan}\" moved out of the way of this plan");
        record_adaptation(&mut draft, Vec::new(), reason, impact(moved_there), "portfolio_shift");
        return Ok(draft.into_decision());
    }
    if state.planning.asks_before_moves() {
        return Err(refusal("this plan asks before anything of it moves; move its tasks by hand"));
    }
    require_open(state, &schedule, shifts)?;
    let direct = shifted_schedule(&schedule, shifts)?;
    // The other plan does not know what waits for what here: where its times do not do, the blocks go elsewhere.
    let moved = if require_unbroken(state, &schedule, &direct).is_ok() {
        direct
    } else {
        let placed = place_elsewhere(state, &schedule, &request, now)?;
        require_unbroken(state, &schedule, &placed)?;
        placed
    };
    let changed = changed_blocks(&schedule, &moved);
    let what = format_counted(changed.len(), "block");
    let reason = format!("{what} moved out of the way of \"{other_plan}\"");
    let minutes = changed.iter().map(|(old, new)| old.start.minutes_until(new.start).abs()).sum();
    let mut nodes: Vec<TaskId> = changed.iter().map(|(old, _)| old.plan_node_id.clone()).collect();
    nodes.dedup();
    record_adaptation(&mut draft, nodes, reason, impact(minutes), MOVED_FOR_OTHER_PLAN);
    draft.record(PlanningEvent::ScheduleDrafted {
        schedule: Arc::new(moved),
        by: PlanDrafter::Person,
    });
    Ok(draft.into_decision())
}

/// The schedule with the blocks, and what waits for them, at the next times that nothing else takes.
fn place_elsewhere(
    state: &SessionState,
    schedule: &Schedule,
    request: &ShiftRequest<'_>,
    now: Timestamp,
) -> Result<Schedule, CommandRefusal> {
    let talk = &state.planning;
    let (Some(roadmap), Some(context)) = (talk.roadmap.as_deref(), talk.context.as_deref()) else {
        return Err(refusal("this plan has no roadmap to place its tasks by"));
    };
    let mut nodes: BTreeSet<TaskId> = shifted_nodes(schedule, request.shifts).into_iter().collect();
    for node in nodes.clone() {
        let after = state.tasks.position(&node).map(|task| state.tasks.descendants(task));
        nodes.extend(after.into_iter().flatten().map(|task| state.tasks.id(task).clone()));
    }
    let is_settled = |block: &ScheduledBlock| {
        let row = state.tasks.get(&block.plan_node_id);
        row.is_some_and(|row| {
            row.status.is_settled()
                || block.occurrence.is_some_and(|time| row.occurrences.contains_key(&time))
        })
    };
    let stays = |block: &&ScheduledBlock| {
        block.locked || is_settled(block) || !nodes.contains(&block.plan_node_id)
    };
    let kept: Vec<ScheduledBlock> = schedule.blocks.iter().filter(stays).cloned().collect();
    let mut placing = ScheduleRequest::new(roadmap, context);
    (placing.locked, placing.events, placing.before) = (&kept, request.busy, &schedule.blocks);
    (placing.not_before, placing.iterations) = (Some(now), ITERATIONS);
    let mut placed = schedule_roadmap(&placing).map_err(|error| refusal(error.to_string()))?;
    // Everything was locked for this run; blocks that the person had not locked stay movable.
    for block in &mut placed.blocks {
        let before = kept.iter().find(|before| before.id == block.id);
        block.locked = before.is_some_and(|before| before.locked);
    }
    Ok(placed)
}

/// Blocks that are at another time, before and after.
fn changed_blocks<'a>(
    before: &'a Schedule,
    after: &'a Schedule,
) -> Vec<(&'a ScheduledBlock, &'a ScheduledBlock)> {
    let is_same = |old: &ScheduledBlock, new: &ScheduledBlock| {
        (&old.plan_node_id, old.occurrence, old.sequence)
            == (&new.plan_node_id, new.occurrence, new.sequence)
    };
    let pair = |old: &'a ScheduledBlock| {
        let new = after.blocks.iter().find(|new| is_same(old, new))?;
        (new.start != old.start).then_some((old, new))
    };
    before.blocks.iter().filter_map(pair).collect()
}

/// Refuses a schedule that breaks more of the plan's rules than the one before: a link, a limit or a date.
fn require_unbroken(
    state: &SessionState,
    before: &Schedule,
    moved: &Schedule,
) -> Result<(), CommandRefusal> {
    let talk = &state.planning;
    let Some(outline) = talk.outline.as_deref() else { return Ok(()) };
    let mut plan = PlanArtifacts::new(outline.clone());
    plan.roadmap = talk.roadmap.as_deref().cloned();
    plan.surroundings.accepted_late = talk.accepted_late;
    plan.surroundings.facts = talk.facts.active().cloned().collect();
    let mut errors = |schedule: &Schedule| -> Vec<Violation> {
        plan.schedule = Some(schedule.clone());
        let found = validate_schedule(&plan).into_iter();
        found.filter(|one| one.severity != Severity::Warning).collect()
    };
    let (known, found) = (errors(before), errors(moved));
    let is_new = |one: &&Violation| {
        !known.iter().any(|old| old.rule == one.rule && old.node_ids == one.node_ids)
    };
    match found.iter().find(is_new) {
        Some(first) => {
            Err(refusal(format!("the plan would break its own rules: {}", first.message)))
        }
        None => Ok(()),
    }
}

pub(super) fn refusal(what: impl Into<String>) -> CommandRefusal {
    CommandRefusal::OutOfRange { what: what.into() }
}

/// Refuses to move what is done.
fn require_open(
    state: &SessionState,
    schedule: &Schedule,
    shifts: &[OverlapShift],
) -> Result<(), CommandRefusal> {
    for node in shifted_nodes(schedule, shifts) {
        if state.tasks.get(&node).is_some_and(|row| row.status.is_settled()) {
            return Err(refusal(format!("{node} is settled; there is nothing to move")));
        }
    }
    Ok(())
}

pub(super) fn shifted_nodes(schedule: &Schedule, shifts: &[OverlapShift]) -> Vec<TaskId> {
    let mut nodes = Vec::new();
    for shift in shifts {
        let block = schedule.blocks.iter().find(|block| block.id == shift.block);
        if let Some(block) = block.filter(|block| !nodes.contains(&block.plan_node_id)) {
            nodes.push(block.plan_node_id.clone());
        }
    }
    nodes
}

/// The schedule with blocks at their new times. A block that is not where it was when the move was found stays.
pub(super) fn shifted_schedule(
    schedule: &Schedule,
    shifts: &[OverlapShift],
) -> Result<Schedule, CommandRefusal> {
    let mut moved = schedule.clone();
    for shift in shifts {
        let block = moved
            .blocks
            .iter_mut()
            .find(|block| block.id == shift.block && block.start == shift.from && !block.locked)
            .ok_or_else(|| refusal(format!("\"{}\" is not at its time any more", shift.title)))?;
        let minutes = block.start.minutes_until(block.end);
        (block.start, block.end) = (shift.to, shift.to.plus_minutes(minutes));
        moved.horizon_end = moved.horizon_end.max(block.end);
    }
    moved.sort_blocks();
    Ok(moved)
}
