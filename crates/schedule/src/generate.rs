//! Serial and parallel generation: items are placed one after another by rank, each as early as possible.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::axis::{WorkAxis, WorkPiece};
use super::network::ItemNetwork;
use super::pacing::SessionRule;
use super::placement::{BlockLimits, PlacementWindow, TimeAllocation};
use crate::calendar::{LinkBound, WorkSpan};

/// A problem of one person: what to place, where, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacementProblem<'a> {
    pub network: &'a ItemNetwork,
    pub axis: &'a WorkAxis,
    pub limits: BlockLimits,
    pub taken: &'a [(i64, i64)],
    /// The day and week of each locked block and fixed occurrence, by its start.
    pub locator: &'a dyn DayLocator,
    /// The minute that should not be exceeded: the deadline or the soft end.
    pub aim: i64,
    /// How work is spread over the week; `None` places it as early as possible.
    pub sessions: Option<SessionRule>,
    /// What other plans take of each week.
    pub week_others: &'a [u64],
}

/// Finds the day and week of the axis that contain a minute.
pub(super) trait DayLocator: std::fmt::Debug {
    fn day_and_week(&self, minute: i64) -> (usize, usize);
    /// Returns the end of the day that contains a minute.
    fn day_end(&self, minute: i64) -> i64;
}

/// How the next item is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GenerationScheme {
    /// By rank alone.
    Serial,
    /// By earliest possible start; then by rank.
    Parallel,
}

/// Which time is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowPreference {
    Any,
    Preferred,
}

/// How long an item waits at most for a time that it prefers: until the next such day.
const WAIT_MINUTES: i64 = 7 * 24 * 60;

/// A block and the piece that it lies in.
type PlacedBlock = ((i64, i64), WorkPiece);

/// The position of every item.
#[derive(Clone, Debug, Default)]
pub(super) struct ScheduleLayout {
    /// The span of each item in working minutes; `None` if it could not be placed.
    pub spans: Vec<Option<WorkSpan>>,
    pub blocks: Vec<Vec<(i64, i64)>>,
}

struct GenerationRun<'a, 'b> {
    problem: &'b PlacementProblem<'a>,
    windows: WindowPreference,
    /// The time of each owner; the first is the person's.
    rooms: Vec<TimeAllocation<'b>>,
    layout: ScheduleLayout,
    /// For each item, the number of its links whose predecessor is not placed yet.
    waiting: Vec<usize>,
    groups: Vec<GroupProgress>,
}

/// How many members of a predecessor group are placed.
#[derive(Clone, Copy, Debug)]
struct GroupProgress {
    missing: usize,
    span: Option<WorkSpan>,
}

/// Places every item that fits, in the order of the ranks.
pub(super) fn generate_layout(
    problem: &PlacementProblem<'_>,
    ranks: &[u32],
    scheme: GenerationScheme,
    windows: WindowPreference,
) -> ScheduleLayout {
    let count = problem.network.items.len();
    let groups: Vec<GroupProgress> = problem
        .network
        .groups
        .iter()
        .map(|group| GroupProgress { missing: group.members, span: None })
        .collect();
    let mut waiting = vec![0; count];
    for (link, &group) in problem.network.links.iter().zip(&problem.network.group_of) {
        waiting[link.to] += usize::from(groups[group].missing > 0);
    }
    let layout = ScheduleLayout { spans: vec![None; count], blocks: vec![Vec::new(); count] };
    let least = problem.network.items.iter().map(super::network::ScheduleItem::open_minutes);
    let least = least.filter(|&minutes| minutes > 0).min().unwrap_or(0);
    let own = (problem.limits, problem.taken, problem.week_others);
    let mut rooms = vec![TimeAllocation::new(problem.axis, own.0, own.1, own.2, least)];
    // Others work in the same hours, up to what each of them has in a week; the person's limits, events and other plans
    // are not theirs.
    let others = BlockLimits {
        daily: u64::MAX,
        weekly: None,
        all_plans: None,
        parallel_phases: usize::MAX,
        ..problem.limits
    };
    for other in 0..problem.network.owner_count() - 1 {
        let weekly = problem.network.other_weekly.get(other).copied().flatten();
        let limits = BlockLimits { weekly, ..others };
        let away = problem.network.other_away.get(other).map(Vec::as_slice).unwrap_or_default();
        rooms.push(TimeAllocation::new(problem.axis, limits, away, &[], least));
    }
    let mut run = GenerationRun { problem, windows, rooms, layout, waiting, groups };
    run.place_unmovable();
    run.place_in_order(ranks, scheme);
    run.layout
}

impl GenerationRun<'_, '_> {
    /// Reserves the time of everything that cannot be moved: locked blocks first, then occurrences with a fixed time.
    fn place_unmovable(&mut self) {
        let mut locked: Vec<(usize, i64, i64, usize)> = Vec::new();
        for (index, item) in self.problem.network.items.iter().enumerate() {
            locked.extend(item.locked.iter().map(|block| (item.owner, block.0, block.1, index)));
        }
        locked.sort_unstable();
        let mut covered = vec![i64::MIN; self.rooms.len()];
        for (owner, from, to, index) in locked {
            self.layout.blocks[index].push((from, to));
            // Locks that overlap each other are the person's choice; their time is reserved once.
            let free = from.max(covered[owner]);
            if free < to {
                let day = self.problem.locator.day_and_week(from);
                let item = &self.problem.network.items[index];
                self.rooms[owner].take_block((free, to), day, item);
                covered[owner] = to;
            }
        }
        let items = self.problem.network.items.iter().enumerate();
        let mut fixed: Vec<(i64, usize)> = items
            .filter_map(|(index, item)| item.fixed.map(|at| (at, index)))
            .filter(|(_, index)| self.problem.network.items[*index].locked.is_empty())
            .collect();
        fixed.sort_unstable();
        for (at, index) in fixed {
            self.place_fixed(index, at);
        }
    }

    fn place_fixed(&mut self, index: usize, at: i64) {
        let item = &self.problem.network.items[index];
        let minutes = i64::from(item.open_minutes());
        if minutes == 0 {
            return;
        }
        let end = self.problem.locator.day_end(at).max(at + minutes);
        let room = &mut self.rooms[item.owner];
        let keeps = item.keeps_time && room.is_free_of_own((at, at + minutes));
        let found = if keeps { Some(at) } else { room.next_free(at, minutes, end) };
        if let Some(from) = found {
            let block = (from, from + minutes);
            room.take_block(block, self.problem.locator.day_and_week(from), item);
            self.layout.blocks[index].push(block);
        }
    }

    fn place_in_order(&mut self, ranks: &[u32], scheme: GenerationScheme) {
        let mut queue = BinaryHeap::new();
        let mut parked: BTreeSet<(bool, u64, (i64, u32), usize)> = BTreeSet::new();
        let mut now = 0;
        let ready: Vec<usize> = (0..self.waiting.len())
            .filter(|&index| self.waiting[index] == 0 || self.is_settled(index))
            .collect();
        let mut entered = vec![false; self.waiting.len()];
        let enter = |run: &Self,
                     index: usize,
                     now: u64,
                     queue: &mut BinaryHeap<_>,
                     parked: &mut BTreeSet<_>| {
            let once = run.problem.network.items[index].occurrence.is_none();
            // A date set by hand comes before every other reason to go first.
            let urgency = run.problem.network.urgency.get(index).copied().unwrap_or(i64::MAX);
            let rank = (urgency, ranks.get(index).copied().unwrap_or(u32::MAX));
            if scheme == GenerationScheme::Serial {
                queue.push(Reverse((once, rank, index)));
            } else {
                parked.insert((once, run.start_bound(index).max(now), rank, index));
            }
        };
        for index in ready {
            entered[index] = true;
            enter(self, index, now, &mut queue, &mut parked);
        }
        loop {
            let next = match scheme {
                GenerationScheme::Serial => queue.pop().map(|Reverse((_, _, index))| index),
                GenerationScheme::Parallel => {
                    // All items that could have started by now compete by rank.
                    let first = parked.first().copied();
                    first.map(|(once, bound, _, _)| {
                        let last = (i64::MAX, u32::MAX);
                        let reach = parked.range(..=(once, bound.max(now), last, usize::MAX));
                        let best = reach.copied().min_by_key(|entry| (entry.0, entry.2, entry.3));
                        let best = best.unwrap_or((once, bound, (0, 0), 0));
                        parked.remove(&best);
                        best.3
                    })
                }
            };
            let Some(index) = next else { break };
            if !self.place_item(index) {
                continue;
            }
            now = now.max(self.layout.spans[index].map_or(0, |span| span.start));
            for to in self.release_successors(index) {
                if self.waiting[to] == 0 && !entered[to] {
                    entered[to] = true;
                    enter(self, to, now, &mut queue, &mut parked);
                }
            }
        }
    }

    /// Updates the groups of a placed item; returns the items that waited for groups that are now complete.
    fn release_successors(&mut self, index: usize) -> Vec<usize> {
        let network = self.problem.network;
        let Some(span) = self.layout.spans[index] else { return Vec::new() };
        let mut freed = Vec::new();
        for &group in &network.groups_of[index] {
            let placed = &mut self.groups[group];
            placed.missing = placed.missing.saturating_sub(1);
            placed.span = Some(placed.span.map_or(span, |all| all.union_with(span)));
            if placed.missing > 0 {
                continue;
            }
            for &link in &network.groups[group].links {
                let to = network.links[link].to;
                self.waiting[to] = self.waiting[to].saturating_sub(1);
                freed.push(to);
            }
        }
        freed
    }

    fn is_settled(&self, index: usize) -> bool {
        let item = &self.problem.network.items[index];
        item.is_settled() || item.fixed.is_some()
    }

    /// Assigns an item its blocks and its span; returns false if it does not fit.
    fn place_item(&mut self, index: usize) -> bool {
        let item = &self.problem.network.items[index];
        if self.is_settled(index) {
            let fits = item.done || item.minutes == 0 || !self.layout.blocks[index].is_empty();
            return fits && self.record_span(index, 0);
        }
        if item.open_minutes() == 0 {
            let first = self.problem.axis.working_minutes(item.release);
            let at = self.link_bounds(index).map(|(start, finish)| start.max(finish).max(first));
            let at = at.filter(|&at| self.problem.axis.finish_minute(at).is_some());
            return at.is_some_and(|at| self.record_span(index, at));
        }
        let Some(found) = self.choose_blocks(index) else { return false };
        for (block, piece) in found {
            self.rooms[item.owner].take_block(block, (piece.day, piece.week), item);
            self.layout.blocks[index].push(block);
        }
        self.layout.blocks[index].sort_unstable();
        self.record_span(index, 0)
    }

    /// Returns the blocks of an item: at its preferred times where they are near, else in time, else as early as
    /// possible. Spreading gives way before a date does.
    fn choose_blocks(&self, index: usize) -> Option<Vec<PlacedBlock>> {
        // Where no day holds it in one piece, several do. One time of something repeated is not two.
        let item = &self.problem.network.items[index];
        let once = item.occurrence.is_some() && item.minutes <= self.problem.limits.max_block;
        let whole = item.in_one_piece || once;
        let found = if whole { self.choose_sized_blocks(index, true) } else { None };
        found.or_else(|| self.choose_sized_blocks(index, false))
    }

    fn choose_sized_blocks(&self, index: usize, whole: bool) -> Option<Vec<PlacedBlock>> {
        let find = |pieces: &[WorkPiece], due: i64, sessions: Option<SessionRule>| {
            let earliest = i64::MIN;
            self.find_blocks(index, pieces, PlacementWindow { earliest, due, sessions, whole })
        };
        let item = &self.problem.network.items[index];
        let axis = self.problem.axis;
        let wanted = item.due.min(item.wanted_by).min(item.own_day_end);
        let sessions = self.problem.sessions.filter(|_| item.is_spread());
        let all = |due: i64| {
            let spread = find(&axis.pieces, due, sessions);
            spread.or_else(|| sessions.and_then(|_| find(&axis.pieces, due, None)))
        };
        let preferring = self.windows == WindowPreference::Preferred && item.owner == 0;
        let within = wanted.min(self.problem.aim);
        // Trades keep their own hours, whoever works for the person.
        let by_time = item.preferred_time.filter(|_| self.windows == WindowPreference::Preferred);
        let by_time = by_time.and_then(|time| axis.by_time.get(&time));
        let mut in_time = None;
        if let Some(pieces) = by_time {
            in_time = all(wanted);
            let end = in_time.as_ref().and_then(|found| Some(found.last()?.0.1));
            let near = end.map_or(within, |end| within.min(end.saturating_add(WAIT_MINUTES)));
            // A long task at its preferred time is better than one in pieces at others.
            let spread = find(pieces, near, sessions);
            let found = spread.or_else(|| find(pieces, near, None));
            if found.is_some() {
                return found;
            }
        }
        let preferred = preferring.then(|| find(&axis.preferred, within, sessions)).flatten();
        let found = preferred.or(in_time).or_else(|| all(wanted));
        found.or_else(|| (wanted < item.due).then(|| all(item.due)).flatten())
    }

    /// Records the span of an item: that of its blocks, or a point if it has none.
    fn record_span(&mut self, index: usize, at: u64) -> bool {
        let axis = self.problem.axis;
        let blocks = &self.layout.blocks[index];
        let span = match (blocks.first(), blocks.iter().map(|block| block.1).max()) {
            (Some(first), Some(last)) => WorkSpan {
                start: axis.working_minutes(first.0),
                finish: axis.working_minutes(last),
            },
            _ => WorkSpan { start: at, finish: at },
        };
        self.layout.spans[index] = Some(span);
        true
    }

    /// Returns the first blocks inside a window, from where the links allow.
    fn find_blocks(
        &self,
        index: usize,
        pieces: &[WorkPiece],
        window: PlacementWindow,
    ) -> Option<Vec<PlacedBlock>> {
        let item = &self.problem.network.items[index];
        let (axis, room) = (self.problem.axis, &self.rooms[item.owner]);
        let (start, finish) = self.link_bounds(index)?;
        let mut earliest = axis.start_minute(start)?.max(item.release);
        loop {
            let found = room.find_blocks(pieces, item, PlacementWindow { earliest, ..window })?;
            let last = found.last().map(|(block, _)| axis.working_minutes(block.1))?;
            let missing = finish.saturating_sub(last);
            if missing == 0 {
                return Some(found);
            }
            // A bound on the finish never stretches an item: all of it moves later.
            let first = found.first().map(|(block, _)| axis.working_minutes(block.0))?;
            earliest = axis.start_minute(first + missing)?;
        }
    }

    fn start_bound(&self, index: usize) -> u64 {
        self.link_bounds(index).map_or(u64::MAX, |(start, _)| start)
    }

    /// Returns the minimum start and finish that the links allow, or `None` if a predecessor could not be placed.
    fn link_bounds(&self, index: usize) -> Option<(u64, u64)> {
        let (network, axis) = (self.problem.network, self.problem.axis);
        let (mut start, mut finish) = (0, 0);
        for &at in &network.into[index] {
            let (link, placed) = (&network.links[at], self.groups[network.group_of[at]]);
            if placed.missing > 0 {
                return None;
            }
            let Some(from) = placed.span else { continue };
            match axis.link_bound(link.kind, link.lag, link.basis, from) {
                LinkBound::Start(at) => start = start.max(at),
                LinkBound::Finish(at) => finish = finish.max(at),
            }
        }
        Some((start, finish))
    }
}

/// Returns the minimum start and finish that the links to an item allow, or `None` if a predecessor could not be
/// placed.
pub(super) fn item_bounds(
    network: &ItemNetwork,
    axis: &WorkAxis,
    spans: &[Option<WorkSpan>],
    index: usize,
) -> Option<(u64, u64)> {
    let (mut start, mut finish) = (0, 0);
    for link in network.into[index].iter().map(|&link| &network.links[link]) {
        let mut from: Option<WorkSpan> = None;
        for &source in link.from.iter() {
            let span = spans.get(source).copied().flatten()?;
            from = Some(from.map_or(span, |all| all.union_with(span)));
        }
        let Some(from) = from else { continue };
        match axis.link_bound(link.kind, link.lag, link.basis, from) {
            LinkBound::Start(at) => start = start.max(at),
            LinkBound::Finish(at) => finish = finish.max(at),
        }
    }
    Some((start, finish))
}
