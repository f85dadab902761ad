//! Whether recurring work occurs on every date and at the same local time (G408).

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::{Date, Time};

use planwright_model::{
    LinkKind, OffsetDateTime, PlanNode, Recurrence, Schedule, ScheduledBlock, TaskId, Violation,
};
use planwright_schedule::calendar::{RecurrenceRule, WorkCalendar, resolve_local};

use super::super::artifacts::{RuleScope, display_title};
use super::super::rule_table::rule_violation;
use super::timing::ScheduleTiming;

/// Returns the recurrence that a node follows: its own, or else that of its nearest ancestor.
pub(super) fn recurrence_of<'a>(scope: &RuleScope<'a>, id: &TaskId) -> Option<&'a Recurrence> {
    let own = scope.tree.get(id).into_iter();
    own.chain(scope.tree.ancestors(id)).find_map(|node| node.recurrence.as_ref())
}

/// Returns the leaves that follow a node's own recurrence, and not that of a node in between.
pub(crate) fn recurring_leaves<'a>(scope: &RuleScope<'a>, node: &TaskId) -> Vec<&'a PlanNode> {
    let follows = |leaf: &&'a PlanNode| {
        let own = scope.tree.get(&leaf.id).into_iter();
        let nearest =
            own.chain(scope.tree.ancestors(&leaf.id)).find(|node| node.recurrence.is_some());
        nearest.is_some_and(|nearest| nearest.id == *node)
    };
    scope.tree.leaves(node).into_iter().filter(follows).collect()
}

pub(super) fn is_recurring(scope: &RuleScope<'_>, node: &PlanNode) -> bool {
    recurrence_of(scope, &node.id).is_some()
}

/// A recurring node whose occurrences do not match its rule.
pub(crate) struct RecurrenceDrift<'a> {
    pub node: &'a PlanNode,
    /// Dates without an occurrence.
    pub missing: Vec<Date>,
    /// Occurrences at a different local time than the given one.
    pub drifting: Vec<u32>,
    pub at: Option<Time>,
}

/// Returns when each occurrence of a node starts.
fn occurrence_starts(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    node: &PlanNode,
) -> BTreeMap<u32, Timestamp> {
    let below: BTreeSet<&TaskId> =
        recurring_leaves(scope, &node.id).into_iter().map(|leaf| &leaf.id).collect();
    let mut starts = BTreeMap::new();
    for block in schedule.blocks.iter().filter(|block| below.contains(&block.plan_node_id)) {
        if let Some(occurrence) = block.occurrence {
            let first = starts.entry(occurrence).or_insert(block.start.at);
            *first = block.start.at.min(*first);
        }
    }
    starts
}

/// Returns when a node may begin to repeat: with the plan, or after what it waits for.
fn ready_time(scope: &RuleScope<'_>, schedule: &Schedule, id: &TaskId) -> Timestamp {
    let waits = scope.links().iter().filter(|link| link.kind == LinkKind::FS && link.to == *id);
    let before = waits.flat_map(|link| scope.tree.leaves(&link.from));
    let ends = before
        .filter(|leaf| recurrence_of(scope, &leaf.id).is_none())
        .flat_map(|leaf| schedule.blocks_for_node(&leaf.id))
        .map(|block| block.end.at);
    ends.fold(schedule.horizon_start.at, Timestamp::max)
}

/// Returns the dates of a rule within the plan's time, excluding days off, days without working time, and a time of
/// the first day that was over before the plan began.
fn expected_dates(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    calendar: &WorkCalendar,
    node: &PlanNode,
    rule: &Recurrence,
) -> Vec<Date> {
    let ready = ready_time(scope, schedule, &node.id);
    let limits = &scope.context().constraints;
    let first = calendar.local_date(schedule.horizon_start.at).max(limits.start);
    let mut last = calendar.local_date(schedule.horizon_end.plus_minutes(-1).at);
    if let Some(deadline) = limits.deadline {
        last = last.min(calendar.local_date(deadline.at));
    } else if let Some(weeks) = limits.horizon_weeks {
        let days = jiff::Span::new().days(i64::from(weeks) * 7 - 1);
        last = last.min(limits.start.saturating_add(days));
    }
    let works = |date: &Date| {
        let (from, to) =
            (calendar.day_start(*date), date.tomorrow().map(|next| calendar.day_start(next)));
        match rule.at_local {
            Some(at) => {
                let start = resolve_local(date.to_datetime(at), calendar.zone());
                !calendar.is_day_off(*date) && start >= ready
            }
            None => to.is_ok_and(|to| calendar.working_between(from.max(ready), to) > 0),
        }
    };
    let every = RecurrenceRule { count: None, ..RecurrenceRule::from(rule) };
    let most = rule.count.map_or(usize::MAX, |count| count as usize);
    every.dates_between(first, last).into_iter().filter(works).take(most).collect()
}

/// Returns the recurring nodes that violate G408.
pub(crate) fn find_drifts<'a>(
    scope: &RuleScope<'a>,
    schedule: &Schedule,
    timing: &ScheduleTiming<'_>,
) -> Vec<RecurrenceDrift<'a>> {
    let reachable = scope.reachable_ids();
    let nodes = scope.nodes.iter().filter(|node| reachable.contains(&node.id));
    let found = nodes.filter_map(|node| {
        node_drift(scope, schedule, &timing.calendar, node, node.recurrence.as_ref()?)
    });
    found.collect()
}

fn node_drift<'a>(
    scope: &RuleScope<'a>,
    schedule: &Schedule,
    calendar: &WorkCalendar,
    node: &'a PlanNode,
    rule: &Recurrence,
) -> Option<RecurrenceDrift<'a>> {
    if recurring_leaves(scope, &node.id).iter().all(|leaf| leaf.work_minutes() == 0) {
        return None;
    }
    let starts = occurrence_starts(scope, schedule, node);
    let dates: BTreeSet<Date> = starts.values().map(|at| calendar.local_date(*at)).collect();
    let expected = expected_dates(scope, schedule, calendar, node, rule);
    // Without a stated day any day of the period is acceptable, so only the number is checked.
    let any_day =
        rule.by_day.is_empty() && rule.freq != planwright_model::RecurrenceFrequency::Daily;
    let mut missing: Vec<Date> =
        expected.iter().copied().filter(|date| !dates.contains(date)).collect();
    if any_day {
        missing.truncate(expected.len().saturating_sub(starts.len()));
    }
    let local = |at: &Timestamp| calendar.zone().to_datetime(*at).time();
    let at = rule.at_local.or_else(|| intended_local_time(&starts, local));
    let off = |start: &Timestamp| {
        at.is_some_and(|at| {
            !keeps_local_time(calendar, *start, at)
                && !is_displaced(scope, schedule, calendar, node, *start, at)
        })
    };
    let drifting: Vec<u32> =
        starts.iter().filter(|(_, start)| off(start)).map(|(occurrence, _)| *occurrence).collect();
    let sound = missing.is_empty() && drifting.is_empty();
    (!sound).then_some(RecurrenceDrift { node, missing, drifting, at })
}

/// Returns whether an instant has the given local time on its date; a skipped time is shifted by the clock change.
fn keeps_local_time(calendar: &WorkCalendar, start: Timestamp, at: Time) -> bool {
    let date = calendar.local_date(start);
    resolve_local(date.to_datetime(at), calendar.zone()) == start
}

/// Returns whether an occurrence is later on its day because its time is occupied; only a clock change must not move
/// it.
fn is_displaced(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    calendar: &WorkCalendar,
    node: &PlanNode,
    start: Timestamp,
    at: Time,
) -> bool {
    let date = calendar.local_date(start);
    let wanted = resolve_local(date.to_datetime(at), calendar.zone());
    let own = recurring_leaves(scope, &node.id);
    let minutes =
        own.iter().map(|leaf| leaf.work_minutes()).find(|minutes| *minutes > 0).unwrap_or(0);
    let wanted = OffsetDateTime::in_zone(wanted, calendar.zone());
    let end = wanted.plus_minutes(i64::from(minutes)).at;
    let busy = |from: Timestamp, to: Timestamp| from < end && to > wanted.at;
    let is_own = |block: &ScheduledBlock| own.iter().any(|leaf| leaf.id == block.plan_node_id);
    let around = &scope.plan.surroundings;
    start > wanted.at
        && (around.fixed_events.iter().any(|event| busy(event.start.at, event.end.at))
            || around.other_blocks.iter().any(|block| busy(block.start.at, block.end.at))
            || schedule
                .blocks
                .iter()
                .any(|block| !is_own(block) && busy(block.start.at, block.end.at)))
}

/// Returns the local time of the first occurrence, if all keep the same UTC time of day although the clocks changed.
fn intended_local_time(
    starts: &BTreeMap<u32, Timestamp>,
    local: impl Fn(&Timestamp) -> Time,
) -> Option<Time> {
    let first = local(starts.values().next()?);
    let of_day = |at: &Timestamp| at.as_second().rem_euclid(86_400);
    let same_instant = starts.values().map(of_day).collect::<BTreeSet<_>>().len() == 1;
    (same_instant && starts.values().any(|at| local(at) != first)).then_some(first)
}

/// G408.
pub(super) fn check_recurrence(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    timing: &ScheduleTiming<'_>,
    found: &mut Vec<Violation>,
) {
    for drift in find_drifts(scope, schedule, timing) {
        let time = drift.at.filter(|_| !drift.drifting.is_empty() || drift.missing.is_empty());
        let when = time.map(|at| at.strftime("%H:%M").to_string());
        let date = || drift.missing.first().map_or_else(String::new, ToString::to_string);
        let t = when.unwrap_or_else(date);
        let values = [("title", &*display_title(drift.node)), ("t", &*t)];
        found.push(rule_violation("G408", [drift.node.id.clone()], &values));
    }
}
