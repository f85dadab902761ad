//! Whether blocks overlap: within the plan, with fixed events, with other plans (G404, G410).

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::plan_file::escape_for_message;
use planwright_model::{OffsetDateTime, Schedule, ScheduledBlock, Violation};

use super::super::artifacts::{RuleScope, display_title_of};
use super::super::rule_table::rule_violation;
use super::is_fixed_by_hand;

/// A block of the plan and what it overlaps with.
pub(crate) struct BlockCollision<'a> {
    /// The block that would have to move, by its index in the schedule.
    pub block: usize,
    /// The other block of the plan, if it is one.
    other: Option<usize>,
    title: &'a str,
    at: OffsetDateTime,
}

/// An occupied span: its owner, and whether it can move.
#[derive(Clone, Copy)]
struct BusySpan<'a> {
    start: OffsetDateTime,
    end: Timestamp,
    own: Option<usize>,
    fixed: bool,
    title: &'a str,
    /// Whose time it takes; `None` is the person's.
    owner: Option<&'a str>,
    /// A habit of minutes is done beside meetings and other plans.
    brief: bool,
}

fn busy_span_of_block(block: &ScheduledBlock, own: Option<usize>) -> BusySpan<'_> {
    let ScheduledBlock { start, end, title, locked, .. } = block;
    let fixed = *locked || own.is_none();
    let brief = block.is_brief_habit();
    BusySpan { start: *start, end: end.at, own, fixed, title, owner: None, brief }
}

/// Returns all spans that must not overlap, ordered by start. Leaves with shared resources may run in parallel.
fn busy_spans<'a>(scope: &RuleScope<'a>, schedule: &'a Schedule) -> Vec<BusySpan<'a>> {
    let shares = |block: &ScheduledBlock| {
        scope.tree.get(&block.plan_node_id).is_some_and(|node| !node.resources.is_empty())
    };
    let own = schedule.blocks.iter().enumerate().filter(|(_, block)| !shares(block));
    let mut taken: Vec<BusySpan<'_>> = own
        .map(|(index, block)| {
            let span = busy_span_of_block(block, Some(index));
            let node = scope.tree.get(&block.plan_node_id);
            let fixed = span.fixed || is_fixed_by_hand(scope, &block.plan_node_id);
            BusySpan {
                fixed,
                owner: node.and_then(planwright_model::PlanNode::other_owner),
                ..span
            }
        })
        .collect();
    let around = &scope.plan.surroundings;
    taken.extend(around.fixed_events.iter().map(|event| BusySpan {
        start: event.start,
        end: event.end.at,
        own: None,
        fixed: true,
        title: &event.title,
        owner: None,
        brief: false,
    }));
    let locked = around.other_blocks.iter().filter(|block| block.locked && !block.is_brief_habit());
    taken.extend(locked.map(|block| busy_span_of_block(block, None)));
    taken.retain(|one| one.end > one.start.at);
    taken.sort_by_key(|one| (one.start.at, !one.fixed));
    taken
}

/// Returns each span that starts before an earlier one has ended, with that one. Two calendar events may overlap.
pub(crate) fn find_collisions<'a>(
    scope: &RuleScope<'a>,
    schedule: &'a Schedule,
) -> Vec<BlockCollision<'a>> {
    let mut last_of: BTreeMap<Option<&str>, (Option<BusySpan<'_>>, Option<BusySpan<'_>>)> =
        BTreeMap::new();
    let mut found = Vec::new();
    for one in busy_spans(scope, schedule) {
        // Two people may work at the same time.
        let (own_last, fixed_last) = last_of.entry(one.owner).or_default();
        let running = |last: Option<BusySpan<'a>>| last.filter(|last| last.end > one.start.at);
        let outside = running(*fixed_last).filter(|_| one.own.is_some() && !one.brief);
        if let Some(other) = running(*own_last).or(outside) {
            found.extend(collision_between(one, other));
        }
        let last = if one.own.is_some() { own_last } else { fixed_last };
        *last = (*last).filter(|last| last.end >= one.end).or(Some(one));
    }
    found
}

/// The later of the two moves unless it cannot.
fn collision_between<'a>(later: BusySpan<'a>, earlier: BusySpan<'a>) -> Option<BlockCollision<'a>> {
    let moves_later = later.own.is_some() && (!later.fixed || earlier.fixed);
    let (moving, other) = if moves_later { (later, earlier) } else { (earlier, later) };
    let (block, at) = (moving.own?, later.start);
    Some(BlockCollision { block, other: other.own, title: other.title, at })
}

/// G404.
pub(super) fn check_collisions(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    found: &mut Vec<Violation>,
) {
    for one in find_collisions(scope, schedule) {
        let node = |index: usize| schedule.blocks[index].plan_node_id.clone();
        let a = display_title_of(scope, &node(one.block));
        let b = one.other.map_or_else(
            || escape_for_message(one.title),
            |other| display_title_of(scope, &node(other)),
        );
        let t = one.at.offset.to_datetime(one.at.at).strftime("%Y-%m-%d %H:%M").to_string();
        let ids = std::iter::once(node(one.block)).chain(one.other.map(node));
        found.push(rule_violation("G404", ids, &[("a", &a), ("b", &b), ("t", &t)]));
    }
}

/// G410.
pub(super) fn check_other_plans(
    scope: &RuleScope<'_>,
    schedule: &Schedule,
    found: &mut Vec<Violation>,
) {
    let mut others: Vec<&ScheduledBlock> =
        scope.plan.surroundings.other_blocks.iter().filter(|block| !block.locked).collect();
    others.sort_by_key(|block| block.start.at);
    others.retain(|block| !block.is_brief_habit());
    let own = |block: &&ScheduledBlock| {
        scope.tree.get(&block.plan_node_id).is_none_or(|node| node.other_owner().is_none())
    };
    for block in schedule.blocks.iter().filter(own).filter(|block| !block.is_brief_habit()) {
        let before = others.partition_point(|other| other.start.at < block.end.at);
        if let Some(other) = others[..before].iter().find(|other| other.overlaps(block)) {
            let ids = [block.plan_node_id.clone()];
            found.push(rule_violation(
                "G410",
                ids,
                &[("other", &escape_for_message(&other.title))],
            ));
        }
    }
}
