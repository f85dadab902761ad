//! An independent check of a schedule; shares no code with placement.

use std::collections::BTreeMap;

use super::*;
use crate::calendar::{WorkCalendar, WorkSpan};
use planwright_model::{IsoWeek, NodeTree, TaskId};

/// Returns the first rule that a schedule breaks.
pub(super) fn verify(request: &ScheduleRequest<'_>, schedule: &Schedule) -> Result<(), String> {
    let calendar =
        WorkCalendar::from_plan(&request.context.calendar, request.context.constraints.start)
            .map_err(|error| error.to_string())?;
    let shared = !request.roadmap.resources.is_empty();
    times(request, &calendar, schedule, shared)?;
    caps(request, &calendar, schedule, shared)?;
    locks(request, schedule)?;
    amounts(request, schedule, shared)?;
    links(request, &calendar, schedule)
}

fn times(
    request: &ScheduleRequest<'_>,
    calendar: &WorkCalendar,
    schedule: &Schedule,
    shared: bool,
) -> Result<(), String> {
    let pause = i64::from(request.context.user_prefs.break_minutes);
    for (index, block) in schedule.blocks.iter().enumerate() {
        let minutes = block.start.minutes_until(block.end);
        if minutes <= 0 || minutes != i64::from(block.estimated_minutes) {
            return Err(format!("{} has {minutes} min", block.id));
        }
        if block.locked {
            continue;
        }
        if calendar.working_between(block.start.at, block.end.at) != minutes.unsigned_abs() {
            return Err(format!("{} at {} is outside working time", block.id, block.start));
        }
        let events = request.events.iter().map(|event| (event.start, event.end));
        let others = request.others.iter().map(|other| (other.block.start, other.block.end));
        if events.chain(others).any(|(start, end)| start < block.end && block.start < end) {
            return Err(format!("{} at {} collides", block.id, block.start));
        }
        for other in schedule.blocks[index + 1..].iter().filter(|_| !shared) {
            let apart = block.end.plus_minutes(pause) <= other.start
                || other.end.plus_minutes(pause) <= block.start;
            if !apart {
                return Err(format!("{} and {} are too close", block.id, other.id));
            }
        }
    }
    Ok(())
}

fn caps(
    request: &ScheduleRequest<'_>,
    calendar: &WorkCalendar,
    schedule: &Schedule,
    shared: bool,
) -> Result<(), String> {
    if shared {
        return resources(request, schedule);
    }
    let mut days: BTreeMap<Date, (u32, bool)> = BTreeMap::new();
    let mut weeks: BTreeMap<IsoWeek, (u32, bool)> = BTreeMap::new();
    for block in &schedule.blocks {
        let date = calendar.local_date(block.start.at);
        for sum in
            [days.entry(date).or_default(), weeks.entry(IsoWeek::from_date(date)).or_default()]
        {
            sum.0 += block.estimated_minutes;
            sum.1 |= block.locked;
        }
    }
    let daily = request.context.constraints.max_daily_minutes;
    if let Some((date, _)) = days.iter().find(|(_, (sum, locked))| *sum > daily && !locked) {
        return Err(format!("{date} is over its cap"));
    }
    let weekly = request.context.constraints.weekly_minutes.unwrap_or(u32::MAX);
    match weeks.iter().find(|(_, (sum, locked))| *sum > weekly && !locked) {
        Some((week, _)) => Err(format!("{week} is over its cap")),
        None => Ok(()),
    }
}

fn resources(request: &ScheduleRequest<'_>, schedule: &Schedule) -> Result<(), String> {
    for (name, &capacity) in &request.roadmap.resources {
        for block in &schedule.blocks {
            let running = schedule
                .blocks
                .iter()
                .filter(|other| other.start <= block.start && block.start < other.end);
            let used: u32 = running
                .filter_map(|other| {
                    request.roadmap.find_node(&other.plan_node_id)?.resources.get(name)
                })
                .sum();
            if used > capacity {
                return Err(format!("{name} has {used} of {capacity} in use at {}", block.start));
            }
        }
    }
    Ok(())
}

fn locks(request: &ScheduleRequest<'_>, schedule: &Schedule) -> Result<(), String> {
    let kept = |lock: &ScheduledBlock| {
        schedule
            .blocks
            .iter()
            .any(|block| block.id == lock.id && (block.start, block.end) == (lock.start, lock.end))
    };
    match request.locked.iter().find(|lock| !kept(lock)) {
        Some(lock) => Err(format!("the locked {} moved", lock.id)),
        None => Ok(()),
    }
}

fn amounts(request: &ScheduleRequest<'_>, schedule: &Schedule, shared: bool) -> Result<(), String> {
    let least = request.context.user_prefs.min_block_minutes;
    for node in &request.roadmap.nodes {
        let blocks: Vec<_> = schedule.blocks_for_node(&node.id).collect();
        let free: Vec<_> = blocks.iter().filter(|block| !block.locked).collect();
        let sum: u32 = blocks.iter().map(|block| block.estimated_minutes).sum();
        let open: u32 = free.iter().map(|block| block.estimated_minutes).sum();
        if !free.is_empty() && sum != node.work_minutes() {
            return Err(format!("{} has {sum} of {} min", node.id, node.work_minutes()));
        }
        if !shared && free.iter().any(|block| block.estimated_minutes < least.min(open)) {
            return Err(format!("{} has a block that is too short", node.id));
        }
    }
    Ok(())
}

fn links(
    request: &ScheduleRequest<'_>,
    calendar: &WorkCalendar,
    schedule: &Schedule,
) -> Result<(), String> {
    let tree = request.roadmap.node_tree();
    for link in &request.roadmap.dependencies {
        let nested =
            tree.is_ancestor(&link.from, &link.to) || tree.is_ancestor(&link.to, &link.from);
        let (Some(from), Some(to)) = (
            span(&tree, calendar, schedule, &link.from),
            span(&tree, calendar, schedule, &link.to),
        ) else {
            continue;
        };
        let locked = tree
            .leaves(&link.to)
            .iter()
            .any(|leaf| request.locked.iter().any(|lock| lock.plan_node_id == leaf.id));
        let bound = calendar.link_bound(link.kind, link.lag_minutes, link.lag_basis, from);
        if !nested && !locked && link.from != link.to && !bound.is_met_by(to) {
            return Err(format!(
                "{} → {} ({:?} {}) does not hold: {from:?} {to:?}",
                link.from, link.to, link.kind, link.lag_minutes
            ));
        }
    }
    Ok(())
}

/// Returns the span of a node whose leaves all have blocks.
fn span(
    tree: &NodeTree<'_>,
    calendar: &WorkCalendar,
    schedule: &Schedule,
    id: &TaskId,
) -> Option<WorkSpan> {
    let leaves = tree.leaves(id);
    let with_work = leaves.iter().filter(|leaf| leaf.work_minutes() > 0);
    let all = with_work.clone().all(|leaf| {
        schedule.blocks_for_node(&leaf.id).map(|block| block.estimated_minutes).sum::<u32>()
            >= leaf.work_minutes()
    });
    // A point without blocks could be anywhere.
    if !all || leaves.iter().any(|leaf| leaf.work_minutes() == 0) {
        return None;
    }
    let blocks: Vec<_> = with_work.flat_map(|leaf| schedule.blocks_for_node(&leaf.id)).collect();
    let start = blocks.iter().map(|block| block.start).min()?;
    let finish = blocks.iter().map(|block| block.end).max()?;
    Some(calendar.work_span(start.at, finish.at))
}
