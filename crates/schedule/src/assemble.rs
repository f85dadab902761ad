//! Turns a layout into a [`Schedule`]: blocks with instants, weeks, and what does not fit.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::schedule_run::ScheduleOutcome;
use super::{OtherBlock, ScheduleRequest};
use crate::calendar::{WorkCalendar, instant_of, minute_of, monday_of, plus_days};
use planwright_model::{
    FixedEvent, IsoWeek, OffsetDateTime, PlanNode, Schedule, ScheduledBlock, UnplacedWork,
    WeekCapacity,
};

/// Builds the schedule of an outcome, without relaxations.
pub(super) fn assemble_schedule(
    request: &ScheduleRequest<'_>,
    outcome: &ScheduleOutcome,
) -> Schedule {
    let calendar = &outcome.calendar;
    let moment = |at: Timestamp| OffsetDateTime::in_zone(at, calendar.zone());
    let start = moment(calendar.horizon_start());
    let mut schedule = Schedule::new(calendar.tz(), start, start);
    schedule.blocks = assemble_blocks(request, outcome);
    schedule.sort_blocks();
    schedule.unplaced = unplaced_nodes(request, outcome);
    let last = schedule.finish_time().map_or(start.at, |finish| finish.at);
    let nominal = outcome.horizon.end.map(instant_of);
    let after =
        |at: Timestamp| calendar.day_start(plus_days(monday_of(calendar.local_date(at)), 7));
    let end = nominal.unwrap_or_else(|| after(last)).max(last).max(start.at);
    schedule.horizon_end = moment(end);
    if outcome.horizon.has_deadline {
        let late = outcome.axis.working_minutes(outcome.score.finish);
        let late = late.saturating_sub(outcome.axis.working_minutes(outcome.horizon.aim));
        schedule.lateness_minutes = u32::try_from(late).unwrap_or(u32::MAX);
    }
    let others: Vec<&OtherBlock> = request.others.iter().collect();
    // What somebody else does takes none of the person's time.
    let elsewhere = |block: &ScheduledBlock| {
        let node = request.roadmap.find_node(&block.plan_node_id);
        node.is_some_and(|node| node.other_owner().is_some())
    };
    // A day of its own outside the hours takes nothing of the hours of its week.
    let beside = |block: &ScheduledBlock| {
        let node = request.roadmap.find_node(&block.plan_node_id);
        node.is_some_and(PlanNode::has_own_day)
            && calendar.working_between(block.start.at, block.end.at) == 0
    };
    let takes = |block: &&ScheduledBlock| !elsewhere(block) && !beside(block);
    let own: Vec<ScheduledBlock> = schedule.blocks.iter().filter(takes).cloned().collect();
    schedule.capacity = week_capacities(calendar, start.at, end, &own, &others, request.events);
    schedule
}

fn assemble_blocks(
    request: &ScheduleRequest<'_>,
    outcome: &ScheduleOutcome,
) -> Vec<ScheduledBlock> {
    let mut found = Vec::new();
    for (item, spans) in outcome.network.items.iter().zip(&outcome.layout.blocks) {
        let Some(node) = request.roadmap.nodes.get(item.node) else { continue };
        for (index, &span) in spans.iter().enumerate() {
            let sequence = index as u32 + 1;
            let kept = request.locked.iter().find(|block| {
                block.plan_node_id == node.id
                    && block.occurrence == item.occurrence
                    && (minute_of(block.start.at), minute_of(block.end.at)) == span
            });
            found.push(match kept {
                Some(block) => ScheduledBlock { sequence, locked: true, ..block.clone() },
                None => assemble_block(request, outcome, node, item.occurrence, sequence, span),
            });
        }
    }
    found
}

fn assemble_block(
    request: &ScheduleRequest<'_>,
    outcome: &ScheduleOutcome,
    node: &PlanNode,
    occurrence: Option<u32>,
    sequence: u32,
    span: (i64, i64),
) -> ScheduledBlock {
    let moment = |minute| OffsetDateTime::in_zone(instant_of(minute), outcome.calendar.zone());
    let (id, title) = (node.id.clone(), node.title.clone());
    let mut block =
        ScheduledBlock::new(id, title, moment(span.0), moment(span.1), outcome.calendar.tz());
    block.id = block_id(node, occurrence, sequence);
    // A locked block keeps its original id, which may use different numbering.
    while request.locked.iter().any(|locked| locked.id == block.id) {
        block.id.push('+');
    }
    block.sequence = sequence;
    block.occurrence = occurrence;
    block.tags.clone_from(&node.tags);
    block
}

/// Returns the id of a block: its node, its occurrence and its sequence.
pub(super) fn block_id(node: &PlanNode, occurrence: Option<u32>, sequence: u32) -> String {
    match occurrence {
        Some(occurrence) => format!("{}@{occurrence}#{sequence}", node.id),
        None => format!("{}#{sequence}", node.id),
    }
}

fn unplaced_nodes(request: &ScheduleRequest<'_>, outcome: &ScheduleOutcome) -> Vec<UnplacedWork> {
    let mut found: BTreeMap<usize, u32> = BTreeMap::new();
    for (item, span) in outcome.network.items.iter().zip(&outcome.layout.spans) {
        if span.is_none() {
            let minutes = found.entry(item.node).or_default();
            *minutes = minutes.saturating_add(item.open_minutes());
        }
    }
    let named = found.into_iter().filter_map(|(node, minutes)| {
        let plan_node_id = request.roadmap.nodes.get(node)?.id.clone();
        Some(UnplacedWork { plan_node_id, minutes })
    });
    named.collect()
}

/// Returns how full each ISO week of a window is.
pub(crate) fn week_capacities(
    calendar: &WorkCalendar,
    start: Timestamp,
    end: Timestamp,
    own: &[ScheduledBlock],
    others: &[&OtherBlock],
    events: &[FixedEvent],
) -> Vec<WeekCapacity> {
    let busy = super::schedule_run::merge_spans(
        events.iter().map(|event| (minute_of(event.start.at), minute_of(event.end.at))),
    );
    let planned = minutes_by_week(calendar, own.iter());
    let other = minutes_by_week(calendar, others.iter().map(|other| &other.block));
    let mut rows = Vec::new();
    let mut monday = monday_of(calendar.local_date(start));
    while calendar.day_start(monday) < end {
        let next = plus_days(monday, 7);
        let (from, to) = (calendar.day_start(monday), calendar.day_start(next));
        let lost: u64 = busy
            .iter()
            .map(|span| {
                calendar.working_between(instant_of(span.0).max(from), instant_of(span.1).min(to))
            })
            .sum();
        let available = calendar.working_between(from, to).saturating_sub(lost);
        let week = IsoWeek::from_date(monday);
        let minutes = |of: &BTreeMap<IsoWeek, u32>| of.get(&week).copied().unwrap_or(0);
        let available = u32::try_from(available).unwrap_or(u32::MAX);
        rows.push(WeekCapacity::new(week, available, minutes(&planned), minutes(&other)));
        if next <= monday {
            break;
        }
        monday = next;
    }
    rows
}

fn minutes_by_week<'a>(
    calendar: &WorkCalendar,
    blocks: impl Iterator<Item = &'a ScheduledBlock>,
) -> BTreeMap<IsoWeek, u32> {
    let mut minutes: BTreeMap<IsoWeek, u32> = BTreeMap::new();
    for block in blocks {
        let sum =
            minutes.entry(IsoWeek::from_date(calendar.local_date(block.start.at))).or_default();
        *sum = sum.saturating_add(u32::try_from(block.start.minutes_until(block.end)).unwrap_or(0));
    }
    minutes
}
