//! Whether blocks get in each other's way: within the plan, with fixed events, with other plans (G404, G410).

use jiff::Timestamp;

use crate::plan_file::shown;
use planwright_model::{Moment, Schedule, ScheduledBlock, Violation};

use super::super::artifacts::{Scope, title_of};
use super::super::table::broken;

/// A block of the plan and what it collides with.
pub(crate) struct Collision<'a> {
    /// The block that would have to move, by its place in the schedule.
    pub block: usize,
    /// The other block of the plan, if it is one.
    other: Option<usize>,
    title: &'a str,
    at: Moment,
}

/// Something that takes time: who it is, and whether it can move.
#[derive(Clone, Copy)]
struct Taken<'a> {
    start: Moment,
    end: Timestamp,
    own: Option<usize>,
    fixed: bool,
    title: &'a str,
}

fn of_block(block: &ScheduledBlock, own: Option<usize>) -> Taken<'_> {
    let ScheduledBlock { start, end, title, locked, .. } = block;
    Taken { start: *start, end: end.at, own, fixed: *locked || own.is_none(), title }
}

/// All that takes time and must not overlap, in order of start. Leaves with shared resources may run side by side.
fn taken<'a>(scope: &Scope<'a>, schedule: &'a Schedule) -> Vec<Taken<'a>> {
    let shares = |block: &ScheduledBlock| {
        scope.tree.get(&block.plan_node_id).is_some_and(|node| !node.resources.is_empty())
    };
    let own = schedule.blocks.iter().enumerate().filter(|(_, block)| !shares(block));
    let mut taken: Vec<Taken<'_>> =
        own.map(|(index, block)| of_block(block, Some(index))).collect();
    let around = &scope.plan.surroundings;
    taken.extend(around.fixed_events.iter().map(|event| Taken {
        start: event.start,
        end: event.end.at,
        own: None,
        fixed: true,
        title: &event.title,
    }));
    let locked = around.other_blocks.iter().filter(|block| block.locked);
    taken.extend(locked.map(|block| of_block(block, None)));
    taken.retain(|one| one.end > one.start.at);
    taken.sort_by_key(|one| (one.start.at, !one.fixed));
    taken
}

/// Each thing that starts before an earlier one has ended, with that one. Two events of the calendar may overlap.
pub(crate) fn collisions<'a>(scope: &Scope<'a>, schedule: &'a Schedule) -> Vec<Collision<'a>> {
    let (mut own_last, mut fixed_last): (Option<Taken<'_>>, Option<Taken<'_>>) = (None, None);
    let mut found = Vec::new();
    for one in taken(scope, schedule) {
        let running = |last: Option<Taken<'a>>| last.filter(|last| last.end > one.start.at);
        let outside = running(fixed_last).filter(|_| one.own.is_some());
        if let Some(other) = running(own_last).or(outside) {
            found.extend(collision(one, other));
        }
        let last = if one.own.is_some() { &mut own_last } else { &mut fixed_last };
        *last = (*last).filter(|last| last.end >= one.end).or(Some(one));
    }
    found
}

/// The later of the two moves unless it cannot.
fn collision<'a>(later: Taken<'a>, earlier: Taken<'a>) -> Option<Collision<'a>> {
    let moves_later = later.own.is_some() && (!later.fixed || earlier.fixed);
    let (moving, other) = if moves_later { (later, earlier) } else { (earlier, later) };
    let (block, at) = (moving.own?, later.start);
    Some(Collision { block, other: other.own, title: other.title, at })
}

/// G404.
pub(super) fn check(scope: &Scope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    for one in collisions(scope, schedule) {
        let node = |index: usize| schedule.blocks[index].plan_node_id.clone();
        let a = title_of(scope, &node(one.block));
        let b = one.other.map_or_else(|| shown(one.title), |other| title_of(scope, &node(other)));
        let t = one.at.offset.to_datetime(one.at.at).strftime("%Y-%m-%d %H:%M").to_string();
        let ids = std::iter::once(node(one.block)).chain(one.other.map(node));
        found.push(broken("G404", ids, &[("a", &a), ("b", &b), ("t", &t)]));
    }
}

/// G410.
pub(super) fn clashes(scope: &Scope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    let mut others: Vec<&ScheduledBlock> =
        scope.plan.surroundings.other_blocks.iter().filter(|block| !block.locked).collect();
    others.sort_by_key(|block| block.start.at);
    for block in &schedule.blocks {
        let before = others.partition_point(|other| other.start.at < block.end.at);
        if let Some(other) = others[..before].iter().find(|other| other.overlaps(block)) {
            let ids = [block.plan_node_id.clone()];
            found.push(broken("G410", ids, &[("other", &shown(&other.title))]));
        }
    }
}
