//! The working time that a schedule may use, in clock minutes, with the caps of its days and weeks.
//!
//! Placement works on clock minutes, because blocks and breaks are real time; links work on working minutes. An axis
//! converts between both, and can be reversed for the backward pass.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use crate::calendar::{
    LinkBound, WorkCalendar, WorkSpan, hours_by_weekday, instant_of, minute_of, monday_of,
};
use planwright_model::{LagBasis, LinkKind, PreferredTime, WeeklyHours};

/// An uninterrupted piece of working time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkPiece {
    pub from: i64,
    pub to: i64,
    /// Working minutes before it.
    pub before: u64,
    pub day: usize,
    pub week: usize,
}

impl WorkPiece {
    fn minutes_at_end(&self) -> u64 {
        self.before + self.to.abs_diff(self.from)
    }
}

/// Working time from the start of the horizon to the end of placement.
#[derive(Clone, Debug)]
pub(super) struct WorkAxis {
    pub pieces: Vec<WorkPiece>,
    /// The parts inside preferred windows; empty if there are none.
    pub preferred: Vec<WorkPiece>,
    /// The parts inside the times that tasks prefer.
    pub by_time: BTreeMap<PreferredTime, Vec<WorkPiece>>,
    pub days: usize,
    pub weeks: usize,
    /// Working minutes of each week.
    pub week_minutes: Vec<u64>,
    start: i64,
    first_day: Date,
}

impl WorkAxis {
    /// Returns the working time of a calendar up to a minute.
    pub(super) fn new(
        calendar: &WorkCalendar,
        until: i64,
        windows: &WeeklyHours,
        times: &BTreeSet<PreferredTime>,
    ) -> Self {
        let start = minute_of(calendar.horizon_start());
        let first_day = calendar.local_date(calendar.horizon_start());
        let last_day = calendar.local_date(instant_of(until.max(start)));
        let mut axis = Self {
            pieces: Vec::new(),
            preferred: Vec::new(),
            by_time: BTreeMap::new(),
            days: day_index(first_day, last_day) + 1,
            weeks: week_index(first_day, last_day) + 1,
            week_minutes: Vec::new(),
            start,
            first_day,
        };
        axis.week_minutes = vec![0; axis.weeks];
        for (before, at, length) in
            calendar.work_pieces(0, calendar.working_minutes(instant_of(until)))
        {
            let (day, week) = axis.day_and_week(calendar.local_date(at));
            let from = minute_of(at);
            let to = from.saturating_add_unsigned(length);
            axis.pieces.push(WorkPiece { from, to, before, day, week });
            if let Some(minutes) = axis.week_minutes.get_mut(week) {
                *minutes += length;
            }
        }
        axis.preferred = axis.preferred_pieces(calendar, windows);
        let by_time =
            times.iter().map(|time| (*time, axis.preferred_pieces(calendar, &time.weekly_hours())));
        axis.by_time = by_time.collect();
        axis
    }

    fn preferred_pieces(&self, calendar: &WorkCalendar, windows: &WeeklyHours) -> Vec<WorkPiece> {
        let week = hours_by_weekday(windows);
        let mut inside = Vec::new();
        for piece in &self.pieces {
            let date = calendar.local_date(instant_of(piece.from));
            let weekday = usize::from(date.weekday().to_monday_zero_offset().unsigned_abs());
            for hours in week.get(weekday).into_iter().flatten() {
                let (from, to) = calendar.clock_minutes(date, *hours);
                let (from, to) = (from.max(piece.from), to.min(piece.to));
                if from < to {
                    let before = piece.before + from.abs_diff(piece.from);
                    inside.push(WorkPiece { from, to, before, ..*piece });
                }
            }
        }
        inside.sort_unstable_by_key(|piece| (piece.from, piece.to));
        // Overlapping windows would provide the same time twice.
        let mut covered = i64::MIN;
        inside.retain(|piece| {
            let fresh = piece.from >= covered;
            covered = covered.max(piece.to);
            fresh
        });
        inside
    }

    /// Returns the day and week of a local date; both past the end if the date is outside.
    pub(super) fn day_and_week(&self, date: Date) -> (usize, usize) {
        if date < self.first_day {
            return (usize::MAX, usize::MAX);
        }
        (day_index(self.first_day, date), week_index(self.first_day, date))
    }

    /// Returns the working minutes before a clock minute.
    pub(super) fn working_minutes(&self, minute: i64) -> u64 {
        let index = self.pieces.partition_point(|piece| piece.from <= minute);
        match index.checked_sub(1).and_then(|index| self.pieces.get(index)) {
            Some(piece) => piece.before + minute.min(piece.to).abs_diff(piece.from),
            None => self.pieces.first().map_or(0, |piece| piece.before),
        }
    }

    /// Returns the latest minute with this many working minutes before it.
    pub(super) fn start_minute(&self, working: u64) -> Option<i64> {
        let index = self.pieces.partition_point(|piece| piece.minutes_at_end() <= working);
        let piece = self.pieces.get(index)?;
        Some(piece.from.saturating_add_unsigned(working.saturating_sub(piece.before)))
    }

    /// Returns the earliest minute with this many working minutes before it.
    pub(super) fn finish_minute(&self, working: u64) -> Option<i64> {
        if working == 0 {
            return Some(self.start);
        }
        let index = self.pieces.partition_point(|piece| piece.minutes_at_end() < working);
        let piece = self.pieces.get(index)?;
        Some(piece.from.saturating_add_unsigned(working.saturating_sub(piece.before)))
    }

    /// Returns the bound of a link from `from`, as defined by [`WorkCalendar::link_bound`].
    pub(super) fn link_bound(
        &self,
        kind: LinkKind,
        lag: i32,
        basis: LagBasis,
        from: WorkSpan,
    ) -> LinkBound {
        let finish = matches!(kind, LinkKind::FS | LinkKind::FF);
        let base = if finish { from.finish } else { from.start };
        let at = match basis {
            LagBasis::Working => base.saturating_add_signed(i64::from(lag)),
            LagBasis::Elapsed => {
                let minute =
                    if finish { self.finish_minute(base) } else { self.start_minute(base) };
                let later =
                    |minute: i64| self.working_minutes(minute.saturating_add(i64::from(lag)));
                minute.map_or(u64::MAX, later)
            }
        };
        match kind {
            LinkKind::FS | LinkKind::SS => LinkBound::Start(at),
            LinkKind::FF | LinkKind::SF => LinkBound::Finish(at),
        }
    }

    /// Returns the same time from its end to its start: minutes are negated.
    pub(super) fn reversed(&self) -> Self {
        let total = self.pieces.last().map_or(0, WorkPiece::minutes_at_end);
        let turn = |pieces: &[WorkPiece]| {
            let turned = pieces.iter().rev().map(|piece| WorkPiece {
                from: -piece.to,
                to: -piece.from,
                before: total - piece.minutes_at_end(),
                ..*piece
            });
            turned.collect::<Vec<_>>()
        };
        let end = self.pieces.last().map_or(self.start, |piece| piece.to);
        Self {
            pieces: turn(&self.pieces),
            preferred: turn(&self.preferred),
            by_time: self.by_time.iter().map(|(time, pieces)| (*time, turn(pieces))).collect(),
            start: -end,
            ..self.clone()
        }
    }

    /// Returns the first piece of a different week than that of `index`, in the direction of the axis.
    pub(super) fn next_week_index(pieces: &[WorkPiece], index: usize) -> usize {
        let week = pieces.get(index).map(|piece| piece.week);
        pieces[index..]
            .iter()
            .position(|piece| Some(piece.week) != week)
            .map_or(pieces.len(), |by| index + by)
    }

    /// Returns the same time without some spans, which must be sorted and disjoint.
    pub(super) fn without_spans(&self, spans: &[(i64, i64)]) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len());
        let mut before = 0;
        for piece in &self.pieces {
            let mut from = piece.from;
            let first = spans.partition_point(|span| span.1 <= piece.from);
            let holes = spans[first..].iter().take_while(|span| span.0 < piece.to);
            for (low, high) in holes.copied().chain([(piece.to, piece.to)]) {
                if from < low {
                    pieces.push(WorkPiece { from, to: low, before, ..*piece });
                    before += low.abs_diff(from);
                }
                from = from.max(high);
            }
        }
        Self { pieces, preferred: Vec::new(), by_time: BTreeMap::new(), ..self.clone() }
    }

    /// Returns the clock spans of this range of working minutes.
    pub(super) fn clock_spans(&self, from: u64, to: u64) -> Vec<(i64, i64)> {
        let first = self.pieces.partition_point(|piece| piece.minutes_at_end() <= from);
        let inside = self.pieces[first..].iter().take_while(|piece| piece.before < to);
        let blocks = inside.map(|piece| {
            let low = piece.from.saturating_add_unsigned(from.saturating_sub(piece.before));
            let high = piece.to.saturating_sub_unsigned(piece.minutes_at_end().saturating_sub(to));
            (low, high)
        });
        blocks.filter(|block| block.0 < block.1).collect()
    }

    /// Returns the end of placement.
    pub(super) fn end(&self) -> i64 {
        self.pieces.last().map_or(self.start, |piece| piece.to)
    }

    pub(super) fn start(&self) -> i64 {
        self.start
    }
}

fn day_index(first: Date, date: Date) -> usize {
    let days = first.until(date).map_or(0, |span| span.get_days());
    usize::try_from(days).unwrap_or(0)
}

fn week_index(first: Date, date: Date) -> usize {
    day_index(monday_of(first), monday_of(date)) / 7
}
