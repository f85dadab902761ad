//! Finds time for one item: blocks between the minimum and the maximum length, with breaks, within the caps.

use std::cell::Cell;

use super::axis::{WorkAxis, WorkPiece};
use super::network::ScheduleItem;
use super::pacing::SessionRule;

/// The limits for blocks and days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockLimits {
    pub min_block: u32,
    pub max_block: u32,
    pub break_minutes: u32,
    pub daily: u64,
    /// `None` for routines.
    pub weekly: Option<u64>,
    /// The minutes of a week for all of the person's plans together; `None` for routines.
    pub all_plans: Option<u64>,
    pub parallel_phases: usize,
}

/// The time reserved so far.
#[derive(Clone, Debug)]
pub(super) struct TimeAllocation<'a> {
    axis: &'a WorkAxis,
    limits: BlockLimits,
    /// Time reserved by others: sorted, never overlapping.
    taken: &'a [(i64, i64)],
    /// Our own blocks: sorted, never overlapping.
    own: Vec<(i64, i64)>,
    day_used: Vec<u64>,
    /// What sessions take of each day: work that is spread over the week.
    session_used: Vec<u64>,
    week_used: Vec<u64>,
    /// What other plans take of each week.
    week_others: &'a [u64],
    week_phases: Vec<Vec<usize>>,
    /// For each piece the piece itself or a later one: what lies between has no room for any item.
    skip: Vec<Cell<usize>>,
    /// The shortest block that any item could use.
    least: u64,
}

/// The position of a traversal of the pieces.
struct PieceWalk {
    index: usize,
    cursor: i64,
    day: (usize, u64),
    week: (usize, u64),
    /// The last day that a block was found on.
    last_day: Option<usize>,
}

/// Time that an item should not go beyond.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacementWindow {
    pub earliest: i64,
    pub due: i64,
    /// How the item is spread over the week.
    pub sessions: Option<SessionRule>,
    /// Whether it is placed in one block.
    pub whole: bool,
}

impl<'a> TimeAllocation<'a> {
    /// `least` is the length of the shortest item.
    pub(super) fn new(
        axis: &'a WorkAxis,
        limits: BlockLimits,
        taken: &'a [(i64, i64)],
        week_others: &'a [u64],
        least: u32,
    ) -> Self {
        Self {
            axis,
            limits,
            taken,
            own: Vec::new(),
            day_used: vec![0; axis.days],
            session_used: vec![0; axis.days],
            week_used: vec![0; axis.weeks],
            week_others,
            week_phases: vec![Vec::new(); axis.weeks],
            skip: (0..=axis.pieces.len()).map(Cell::new).collect(),
            least: u64::from(BlockSizes::new(least, limits).shortest_block(least)),
        }
    }

    /// Skips the pieces of a full day or week; it stays full.
    fn close_if_full(&mut self, at: i64, (day, week): (usize, usize)) {
        let used = |list: &[u64], index: usize| list.get(index).copied().unwrap_or(0);
        let day_full = self.limits.daily.saturating_sub(used(&self.day_used, day)) < self.least;
        let week_full = self.limits.weekly.is_some_and(|weekly| {
            let available = self.axis.week_minutes.get(week).copied().unwrap_or(0);
            weekly.min(available).saturating_sub(used(&self.week_used, week)) < self.least
        });
        if !day_full && !week_full {
            return;
        }
        let pieces = &self.axis.pieces;
        let inside = |piece: &WorkPiece| piece.week == week && (week_full || piece.day == day);
        let near = pieces.partition_point(|piece| piece.to <= at);
        let first = pieces[..near].iter().rposition(|piece| !inside(piece)).map_or(0, |at| at + 1);
        for (index, piece) in pieces.iter().enumerate().skip(first) {
            if index >= near && !inside(piece) {
                break;
            }
            if inside(piece) {
                self.skip[index].set(index + 1);
            }
        }
    }

    /// Returns the first piece from `index` on that is not full.
    fn first_open_piece(&self, index: usize) -> usize {
        let next = |index: usize| self.skip.get(index).map_or(index, Cell::get);
        let mut end = index;
        while next(end) != end {
            end = next(end);
        }
        let mut at = index;
        while at != end {
            let after = next(at);
            self.skip[at].set(end);
            at = after;
        }
        end
    }

    /// Reserves a block of an item, which must not overlap another of our own, on a day and week of the axis.
    pub(super) fn take_block(
        &mut self,
        block: (i64, i64),
        at: (usize, usize),
        item: &ScheduleItem,
    ) {
        let index = self.own.partition_point(|other| other.0 < block.0);
        self.own.insert(index, block);
        let minutes = block.1.abs_diff(block.0);
        if let Some(used) = self.day_used.get_mut(at.0) {
            *used += minutes;
        }
        if let Some(used) = self.session_used.get_mut(at.0).filter(|_| item.is_spread()) {
            *used += minutes;
        }
        // A day of its own, such as the event itself, is no part of the hours of a week.
        if !item.has_own_day {
            self.count_in_week(at.1, minutes, item);
        }
        self.close_if_full(block.0, at);
    }

    fn count_in_week(&mut self, week: usize, minutes: u64, item: &ScheduleItem) {
        if let Some(used) = self.week_used.get_mut(week) {
            *used += minutes;
        }
        if let (Some(phase), Some(phases)) = (item.phase, self.week_phases.get_mut(week))
            && !phases.contains(&phase)
        {
            phases.push(phase);
        }
    }

    /// Returns whether a span is free of others' time and of our own blocks.
    pub(super) fn is_free(&self, span: (i64, i64)) -> bool {
        is_clear(self.taken, span) && self.is_free_of_own(span)
    }

    /// Returns whether a span is free of our own blocks.
    pub(super) fn is_free_of_own(&self, span: (i64, i64)) -> bool {
        is_clear(&self.own, span)
    }

    /// Returns the earliest free span of a length from a minute to the end of its day.
    pub(super) fn next_free(&self, from: i64, minutes: i64, until: i64) -> Option<i64> {
        let mut at = from;
        while at + minutes <= until {
            if self.is_free((at, at + minutes)) {
                return Some(at);
            }
            let after = |spans: &[(i64, i64)]| {
                let next = spans.partition_point(|span| span.1 <= at);
                spans.get(next).filter(|span| span.0 < at + minutes).map(|span| span.1)
            };
            at = after(self.taken).into_iter().chain(after(&self.own)).min()?;
        }
        None
    }

    /// Returns the earliest blocks for the open minutes of an item, with the pieces they lie in, or `None` if they do
    /// not all fit.
    pub(super) fn find_blocks(
        &self,
        pieces: &[WorkPiece],
        item: &ScheduleItem,
        window: PlacementWindow,
    ) -> Option<Vec<((i64, i64), WorkPiece)>> {
        let PlacementWindow { earliest, due, sessions, whole } = window;
        let mut open = item.open_minutes();
        let sizes = if whole {
            BlockSizes { min: open, max: open }
        } else {
            BlockSizes::new(open, self.limits)
        };
        let mut found = Vec::new();
        let mut walk = PieceWalk {
            index: pieces.partition_point(|piece| piece.to <= earliest),
            cursor: earliest,
            day: (usize::MAX, 0),
            week: (usize::MAX, 0),
            last_day: None,
        };
        let all = std::ptr::eq(pieces, self.axis.pieces.as_slice());
        while open > 0 {
            if all {
                walk.index = self.first_open_piece(walk.index);
            }
            let piece = *pieces.get(walk.index)?;
            if piece.from >= due {
                return None;
            }
            walk.enter_piece(&piece);
            let least = u64::from(sizes.shortest_block(open));
            if self.week_room(&piece, item, &walk) < least {
                walk.index = WorkAxis::next_week_index(pieces, walk.index);
                continue;
            }
            let day_room = self.day_room(&piece, &walk, whole);
            if day_room < least {
                walk.index += 1;
                continue;
            }
            let session = self.session_room(sessions, &piece, &walk, open);
            if session < least {
                walk.index += 1;
                continue;
            }
            let room = day_room.min(self.week_room(&piece, item, &walk));
            let room = room.min(session);
            match self.next_block(&piece, &mut walk, sizes, open, room, due) {
                Some(block) => {
                    let minutes = block.1.abs_diff(block.0);
                    open = open.saturating_sub(minutes as u32);
                    walk.consume_minutes(minutes, block.1 + i64::from(self.limits.break_minutes));
                    walk.last_day = Some(piece.day);
                    found.push((block, piece));
                }
                None => walk.index += 1,
            }
        }
        Some(found)
    }

    /// Returns the first block of a piece from the cursor on.
    fn next_block(
        &self,
        piece: &WorkPiece,
        walk: &mut PieceWalk,
        sizes: BlockSizes,
        open: u32,
        room: u64,
        due: i64,
    ) -> Option<(i64, i64)> {
        let pause = i64::from(self.limits.break_minutes);
        let end = piece.to.min(due);
        while walk.cursor < end {
            let own = self.own.partition_point(|block| block.1 + pause <= walk.cursor);
            let own = self
                .own
                .get(own)
                .map_or((i64::MAX, i64::MAX), |block| (block.0 - pause, block.1 + pause));
            let other = self.taken.partition_point(|span| span.1 <= walk.cursor);
            let other = self.taken.get(other).copied().unwrap_or((i64::MAX, i64::MAX));
            let obstacle = own.min(other);
            let gap = u64::try_from(obstacle.0.min(end) - walk.cursor).unwrap_or(0);
            let length = if room >= u64::from(open) && self.fits_without_break(sizes, open, gap) {
                open
            } else {
                sizes.pick_length(open, room.min(gap))
            };
            if length > 0 {
                return Some((walk.cursor, walk.cursor + i64::from(length)));
            }
            if obstacle.0 >= end {
                return None;
            }
            walk.cursor = obstacle.1;
        }
        None
    }

    /// Whether a single break is all that would move the end of the work to another day: then it is done without. Work of
    /// 3 h fits into the evening that was given for it.
    fn fits_without_break(&self, sizes: BlockSizes, open: u32, gap: u64) -> bool {
        let (open, pause) = (u64::from(open), u64::from(self.limits.break_minutes));
        let one_break = u64::from(sizes.max) < open && open <= 2 * u64::from(sizes.max);
        one_break && (open..open + pause).contains(&gap)
    }

    /// What stays whole may exceed the limit of a day that holds nothing else.
    fn day_room(&self, piece: &WorkPiece, walk: &PieceWalk, whole: bool) -> u64 {
        let used = self.day_used.get(piece.day).copied().unwrap_or(0) + walk.day.1;
        let daily = if whole && used == 0 { u64::MAX } else { self.limits.daily };
        daily.saturating_sub(used)
    }

    fn week_room(&self, piece: &WorkPiece, item: &ScheduleItem, walk: &PieceWalk) -> u64 {
        if let (Some(phase), Some(open)) = (item.phase, self.week_phases.get(piece.week))
            && open.len() >= self.limits.parallel_phases
            && !open.contains(&phase)
        {
            return 0;
        }
        let used = self.week_used.get(piece.week).copied().unwrap_or(0) + walk.week.1;
        let all = self.limits.all_plans.map_or(u64::MAX, |all| {
            let others = self.week_others.get(piece.week).copied().unwrap_or(0);
            all.saturating_sub(others).saturating_sub(used)
        });
        let Some(weekly) = self.limits.weekly else { return all };
        let available = self.axis.week_minutes.get(piece.week).copied().unwrap_or(0);
        weekly.min(available).saturating_sub(used).min(all)
    }

    /// Returns what a session of this day may still take of an item with so many open minutes.
    fn session_room(
        &self,
        sessions: Option<SessionRule>,
        piece: &WorkPiece,
        walk: &PieceWalk,
        open: u32,
    ) -> u64 {
        let Some(rule) = sessions else { return u64::MAX };
        let own = self.session_used.get(piece.day).copied().unwrap_or(0);
        let used = own + walk.day.1;
        if used == 0 && self.has_session_near(piece.day, rule.gap_days, walk) {
            return 0;
        }
        let open = u64::from(open);
        if used + open <= rule.minutes + rule.stretch {
            return open;
        }
        let room = rule.minutes.saturating_sub(used);
        // The rest of a day is not worth starting a task in that fits into a session of its own.
        let whole_elsewhere = open <= rule.minutes + rule.stretch;
        let begins = own > 0 && walk.day.1 == 0;
        if begins && (whole_elsewhere || room * 2 < rule.minutes) { 0 } else { room }
    }

    /// Returns whether a session lies less than a gap away from a day.
    fn has_session_near(&self, day: usize, gap: usize, walk: &PieceWalk) -> bool {
        let first = day.saturating_sub(gap - 1);
        let days = self.session_used.get(first..(day + gap).min(self.session_used.len()));
        let near = |last: usize| last.abs_diff(day) < gap;
        gap > 1
            && (walk.last_day.is_some_and(near)
                || days.is_some_and(|days| days.iter().any(|used| *used > 0)))
    }
}

fn is_clear(spans: &[(i64, i64)], (from, to): (i64, i64)) -> bool {
    let next = spans.partition_point(|span| span.1 <= from);
    spans.get(next).is_none_or(|span| span.0 >= to)
}

impl PieceWalk {
    fn enter_piece(&mut self, piece: &WorkPiece) {
        self.cursor = self.cursor.max(piece.from);
        if self.day.0 != piece.day {
            self.day = (piece.day, 0);
        }
        if self.week.0 != piece.week {
            self.week = (piece.week, 0);
        }
    }

    fn consume_minutes(&mut self, minutes: u64, next: i64) {
        self.day.1 += minutes;
        self.week.1 += minutes;
        self.cursor = next;
    }
}

/// How a leaf may be split: no block below the minimum length unless the leaf itself is shorter.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSizes {
    min: u32,
    max: u32,
}

impl BlockSizes {
    pub(super) fn new(minutes: u32, limits: BlockLimits) -> Self {
        let weekly = limits.weekly.unwrap_or(u64::MAX);
        let cap = u32::try_from(limits.daily.min(weekly)).unwrap_or(u32::MAX);
        let min = limits.min_block.min(cap).clamp(1, minutes.max(1));
        // Some lengths cannot be split within both limits (45 into 30 to 40); then the maximum is exceeded.
        let blocks = (minutes / min).max(1);
        Self { min, max: limits.max_block.max(minutes.div_ceil(blocks)).max(min) }
    }

    /// Returns the shortest block that may come next.
    fn shortest_block(self, open: u32) -> u32 {
        self.min.min(open)
    }

    /// Returns the longest block that fits and leaves a remainder that can be placed, or 0 if there is none.
    fn pick_length(self, open: u32, room: u64) -> u32 {
        let room = u32::try_from(room).unwrap_or(u32::MAX).min(self.max);
        if open <= room {
            return open;
        }
        let length = room.min(open.saturating_sub(self.min));
        if length >= self.min { length } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: BlockLimits = BlockLimits {
        min_block: 30,
        max_block: 120,
        break_minutes: 10,
        daily: 240,
        weekly: None,
        all_plans: None,
        parallel_phases: 2,
    };

    #[test]
    fn no_remainder_is_too_short_to_place() {
        let sizes = BlockSizes::new(130, LIMITS);
        assert_eq!(
            (sizes.pick_length(130, 500), sizes.pick_length(130, 110), sizes.pick_length(130, 29)),
            (100, 100, 0)
        );
        assert_eq!((sizes.pick_length(30, 40), sizes.pick_length(20, 25)), (30, 20));
    }

    #[test]
    fn a_leaf_that_cannot_be_split_stays_in_one_block() {
        let limits = BlockLimits { max_block: 40, ..LIMITS };
        let sizes = BlockSizes::new(45, limits);
        assert_eq!((sizes.pick_length(45, 44), sizes.pick_length(45, 45)), (0, 45));
    }
}
