//! Fixes for the schedule (G403 to G410).

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::super::PlanArtifacts;
use super::super::schedule::{
    ScheduleTiming, block_minutes, describe_week, early_leaves, find_collisions, find_drifts,
    full_weeks, has_invalid_time, incomplete_leaves, over_limits, recurring_leaves,
};
use super::AppliedFix;
use super::placement::{number_blocks, recount_weeks, reschedule_leaf};
use planwright_model::AdaptationAction::Reschedule;
use planwright_model::{IsoWeek, OffsetDateTime, ScheduledBlock, TaskId, Violation};
use planwright_schedule::OtherBlock;
use planwright_schedule::calendar::{LinkBound, find_zone, resolve_local};
use planwright_schedule::portfolio::{PortfolioProbe, ShiftSuggestion};

fn reschedule_fix(id: &TaskId, what: &str) -> AppliedFix {
    AppliedFix::new(Reschedule, vec![id.clone()], what)
}

/// G403: moves leaves that are too early to the earliest time that the link allows.
pub(super) fn delay_early_leaves(
    plan: &mut PlanArtifacts,
    from: &TaskId,
    to: &TaskId,
) -> Option<AppliedFix> {
    let scope = plan.roadmap_scope()?;
    let timing = ScheduleTiming::new(&scope, plan.schedule.as_ref()?)?;
    let links = scope.links().iter().filter(|link| link.from == *from && link.to == *to);
    let moves: Vec<(TaskId, Option<u32>, Timestamp)> = links
        .flat_map(|link| early_leaves(&scope, &timing, link))
        .filter_map(|early| {
            let at = match early.bound {
                LinkBound::Start(working) => working,
                // The earliest start of an uninterrupted leaf; if breaks stretch it, it only ends later.
                LinkBound::Finish(working) => {
                    working.saturating_sub(u64::from(scope.tree.get(&early.id)?.work_minutes()))
                }
            };
            Some((early.id, early.occurrence, timing.calendar.start_at(at)?))
        })
        .collect();
    let moved = moves
        .into_iter()
        .filter_map(|(id, occurrence, at)| reschedule_leaf(plan, &id, occurrence, at).map(|()| id));
    let ids: Vec<TaskId> = moved.collect();
    (!ids.is_empty()).then(|| AppliedFix::new(Reschedule, ids, "moved behind what it waits for"))
}

/// G404: moves the unlocked block.
pub(super) fn move_aside(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.roadmap_scope()?;
    let schedule = plan.schedule.as_ref()?;
    let found = find_collisions(&scope, schedule);
    let mut blocks = found.iter().map(|one| &schedule.blocks[one.block]);
    let block = blocks.find(|block| block.plan_node_id == *id && !block.locked)?;
    let (occurrence, first) = (block.occurrence, first_start(&schedule.blocks, block));
    reschedule_leaf(plan, id, occurrence, first)?;
    Some(reschedule_fix(id, "moved to the next gap"))
}

/// Returns when the leaf of a block starts, in the same occurrence.
fn first_start(blocks: &[ScheduledBlock], of: &ScheduledBlock) -> Timestamp {
    let same = blocks
        .iter()
        .filter(|block| block.plan_node_id == of.plan_node_id && block.occurrence == of.occurrence);
    same.map(|block| block.start.at).min().unwrap_or(of.start.at)
}

/// G405: moves the excess to a later time.
pub(super) fn move_into_hours(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.roadmap_scope()?;
    let schedule = plan.schedule.as_ref()?;
    let timing = ScheduleTiming::new(&scope, schedule)?;
    let over = over_limits(&scope, schedule, &timing);
    let mut blocks = over.into_iter().map(|index| &schedule.blocks[index]);
    let block = blocks.find(|block| block.plan_node_id == *id)?;
    let (occurrence, first) = (block.occurrence, first_start(&schedule.blocks, block));
    reschedule_leaf(plan, id, occurrence, first)?;
    Some(reschedule_fix(id, "moved into working hours"))
}

/// G406: keeps the local times as written, in the intended zone.
pub(super) fn recompute_times(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let calendar_tz = plan.context().calendar.tz.clone();
    let root = plan.roadmap_scope()?.root_id.clone();
    let schedule = plan.schedule.as_mut()?;
    let mut changed = false;
    if *id == root && find_zone(&schedule.tz).is_err() && find_zone(&calendar_tz).is_ok() {
        schedule.tz.clone_from(&calendar_tz);
        changed = true;
    }
    let plan_tz = schedule.tz.clone();
    let broken = schedule.blocks.iter_mut().filter(|block| block.plan_node_id == *id);
    for block in broken.filter(|block| has_invalid_time(block)) {
        let names = [block.tz.clone(), plan_tz.clone(), calendar_tz.clone()];
        let known = names.into_iter().find_map(|name| Some((find_zone(&name).ok()?, name)));
        let Some((zone, name)) = known else { continue };
        block.tz = name;
        recompute_block_times(block, &zone);
        changed = true;
    }
    schedule.sort_blocks();
    changed.then(|| reschedule_fix(id, "recomputed from local time"))
}

fn recompute_block_times(block: &mut ScheduledBlock, zone: &TimeZone) {
    let local = |moment: OffsetDateTime| {
        let at = resolve_local(moment.offset.to_datetime(moment.at), zone);
        OffsetDateTime::in_zone(at, zone)
    };
    (block.start, block.end) = (local(block.start), local(block.end));
    if block.end.at <= block.start.at {
        let end = block.start.plus_minutes(i64::from(block.estimated_minutes.max(1)));
        block.end = OffsetDateTime::in_zone(end.at, zone);
    }
    block.estimated_minutes = block_minutes(block);
}

/// G407: places the leaf again from its original start. Blocks of removed nodes are removed.
pub(super) fn resplit_leaf(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.roadmap_scope()?;
    let schedule = plan.schedule.as_ref()?;
    let leaf = incomplete_leaves(&scope, schedule).into_iter().find(|leaf| leaf.id == *id)?;
    let is_work = scope.tree.contains(id) && scope.tree.is_leaf(id);
    let same = schedule.blocks_for_node(id).filter(|block| block.occurrence == leaf.occurrence);
    let first = same.map(|block| block.start.at).min().unwrap_or(schedule.horizon_start.at);
    if is_work {
        reschedule_leaf(plan, id, leaf.occurrence, first)?;
        return Some(reschedule_fix(id, "split again"));
    }
    let schedule = plan.schedule.as_mut()?;
    schedule.blocks.retain(|block| block.plan_node_id != *id);
    Some(reschedule_fix(id, "removed its blocks"))
}

/// G408: creates every date, at the same local time.
pub(super) fn regenerate_occurrences(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let scope = plan.roadmap_scope()?;
    let schedule = plan.schedule.as_ref()?;
    let timing = ScheduleTiming::new(&scope, schedule)?;
    let drift =
        find_drifts(&scope, schedule, &timing).into_iter().find(|drift| drift.node.id == *id)?;
    let leaves: Vec<(TaskId, String, u32)> = recurring_leaves(&scope, id)
        .into_iter()
        .filter(|leaf| leaf.work_minutes() > 0)
        .map(|leaf| (leaf.id.clone(), leaf.title.clone(), leaf.work_minutes()))
        .collect();
    let (missing, drifting, at, calendar) =
        (drift.missing, drift.drifting, drift.at, timing.calendar);
    let own = |block: &ScheduledBlock| leaves.iter().any(|(leaf, ..)| block.plan_node_id == *leaf);
    let zone = calendar.zone().clone();
    let schedule = plan.schedule.as_mut()?;
    for occurrence in drifting {
        let is_part =
            |block: &&mut ScheduledBlock| own(block) && block.occurrence == Some(occurrence);
        let starts = schedule
            .blocks
            .iter()
            .filter(|block| own(block) && block.occurrence == Some(occurrence));
        let Some(start) = starts.map(|block| block.start.at).min() else { continue };
        let target = resolve_local(calendar.local_date(start).to_datetime(at?), &zone);
        let shift = target.duration_since(start).as_mins();
        for block in schedule.blocks.iter_mut().filter(is_part).filter(|block| !block.locked) {
            let moved = |moment: OffsetDateTime| {
                OffsetDateTime::in_zone(moment.plus_minutes(shift).at, &zone)
            };
            (block.start, block.end) = (moved(block.start), moved(block.end));
        }
    }
    let usual = schedule.blocks.iter().filter(|block| own(block)).map(|block| block.start.at).min();
    let usual = usual.map(|start| zone.to_datetime(start).time());
    let time = at.or(usual).unwrap_or(jiff::civil::time(9, 0, 0, 0));
    let numbers =
        schedule.blocks.iter().filter(|block| own(block)).filter_map(|block| block.occurrence);
    let mut next = numbers.max().unwrap_or(0);
    for date in missing {
        next += 1;
        let mut start =
            OffsetDateTime::in_zone(resolve_local(date.to_datetime(time), &zone), &zone);
        for (leaf, title, minutes) in &leaves {
            let end = OffsetDateTime::in_zone(start.plus_minutes(i64::from(*minutes)).at, &zone);
            let mut block =
                ScheduledBlock::new(leaf.clone(), title.clone(), start, end, calendar.tz());
            block.occurrence = Some(next);
            schedule.blocks.push(block);
            start = end;
        }
    }
    schedule.sort_blocks();
    renumber_occurrences(&mut schedule.blocks, own);
    for (leaf, ..) in &leaves {
        number_blocks(schedule, leaf);
    }
    recount_weeks(schedule, &calendar);
    Some(reschedule_fix(id, "repeated in local time"))
}

/// Numbers occurrences in chronological order.
fn renumber_occurrences(blocks: &mut [ScheduledBlock], own: impl Fn(&ScheduledBlock) -> bool) {
    let mut order: Vec<u32> = Vec::new();
    for block in blocks.iter().filter(|block| own(block)) {
        if let Some(old) = block.occurrence.filter(|old| !order.contains(old)) {
            order.push(old);
        }
    }
    for block in blocks.iter_mut().filter(|block| own(block)) {
        let place = order.iter().position(|old| Some(*old) == block.occurrence);
        block.occurrence = place.map(|place| place as u32 + 1).or(block.occurrence);
    }
}

/// G409: moves the latest optional task of the week to a later one, if that does not break the deadline.
pub(super) fn shift_optional(
    plan: &mut PlanArtifacts,
    violation: &Violation,
) -> Option<AppliedFix> {
    let scope = plan.roadmap_scope()?;
    let schedule = plan.schedule.as_ref()?;
    let named = |week: &IsoWeek| violation.message.contains(&describe_week(*week));
    let week =
        full_weeks(scope.context(), schedule).into_iter().map(|(week, _)| week).find(named)?;
    let zone = find_zone(&scope.context().calendar.tz).ok()?;
    let optional = |block: &&ScheduledBlock| {
        let node = scope.tree.get(&block.plan_node_id);
        !block.locked && node.is_some_and(|node| node.optional) && block.occurrence.is_none()
    };
    let within = |block: &&ScheduledBlock| {
        IsoWeek::from_date(zone.to_datetime(block.start.at).date()) == week
    };
    let id = schedule.blocks.iter().rev().filter(within).find(optional)?.plan_node_id.clone();
    let monday = week.monday()?.saturating_add(jiff::Span::new().days(7));
    let next = resolve_local(monday.to_datetime(jiff::civil::Time::midnight()), &zone);
    let before = plan.schedule.clone();
    reschedule_leaf(plan, &id, None, next)?;
    let deadline = plan.context().constraints.deadline;
    let schedule = plan.schedule.as_ref()?;
    let late = deadline.is_some_and(|deadline| {
        schedule.blocks_for_node(&id).any(|block| block.end.at > deadline.at)
    });
    if late {
        plan.schedule = before;
        return None;
    }
    Some(reschedule_fix(&id, &format!("moved out of the week {}", describe_week(week))))
}

/// G410: applies the shift that the probe suggests for a block of the leaf. Other plans are never changed, so it is
/// this plan's block that moves.
pub(super) fn apply_suggested_shift(plan: &mut PlanArtifacts, id: &TaskId) -> Option<AppliedFix> {
    let schedule = plan.schedule.as_ref()?;
    let others: Vec<OtherBlock> = plan
        .surroundings
        .other_blocks
        .iter()
        .map(|block| OtherBlock {
            plan: block.title.clone(),
            priority_weight: 1.0,
            block: block.clone(),
        })
        .collect();
    let probe = PortfolioProbe {
        schedule,
        context: plan.context(),
        roadmap: plan.roadmap.as_ref(),
        priority_weight: 0.0,
        others: &others,
        events: &plan.surroundings.fixed_events,
    };
    let own = |block_id: &str| schedule.blocks_for_node(id).any(|block| block.id == block_id);
    let shift = probe.build_report().ok()?.shifts.into_iter().find_map(|shift| match shift {
        ShiftSuggestion::Suggested(shift) if own(&shift.block_id) => Some(shift),
        _ => None,
    })?;
    let zone = find_zone(&plan.context().calendar.tz).ok()?;
    let schedule = plan.schedule.as_mut()?;
    let block = schedule.blocks.iter_mut().find(|block| block.id == shift.block_id)?;
    let minutes = block.start.minutes_until(block.end);
    block.start = OffsetDateTime::in_zone(shift.to.at, &zone);
    block.end = OffsetDateTime::in_zone(shift.to.plus_minutes(minutes).at, &zone);
    schedule.sort_blocks();
    number_blocks(schedule, id);
    Some(reschedule_fix(id, "moved aside for another plan"))
}
