//! Dates that a person set on a task by hand, as minutes: when it may start, when it must end, and where it is fixed.

use jiff::civil::{Date, DateTime};

use crate::calendar::{WorkCalendar, minute_of, plus_days, resolve_local};
use planwright_model::{NodeDates, NodeTree, PlanDate, PlanNode, PreferredTime, Weekday};

/// When a fixed task starts or ends on a day without working hours: 09:00 and 17:00.
const DAY_OFF_START: i64 = 9 * 60;
const DAY_OFF_END: i64 = 17 * 60;
/// Nothing that stays whole starts before 07:00 or ends after 23:00 while there is another way.
const WAKING_START: i64 = 7 * 60;
const WAKING_END: i64 = 23 * 60;

/// The limits that dates set by hand put on a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandSetLimits {
    /// The first minute it may use.
    pub release: i64,
    /// The minute it should end by.
    pub wanted_by: i64,
    /// A block that is fixed: all of its work, or as much as the day holds.
    pub fixed: Option<(i64, i64)>,
}

/// What is fixed on a day, and how it may be cut.
pub(super) struct FixedWork<'a> {
    pub calendar: &'a WorkCalendar,
    pub minutes: i64,
    /// The shortest block.
    pub least: i64,
    /// What is fixed already for the same owner, sorted.
    pub taken: &'a [(i64, i64)],
    /// Whether it is never cut.
    pub whole: bool,
    /// When it is best done on a day whose hours do not hold it.
    pub preferred_time: Option<PreferredTime>,
}

/// Returns the dates of a leaf; a group's "not before" and "due" apply to everything in it.
pub(super) fn effective_dates(leaf: &PlanNode, tree: &NodeTree<'_>) -> NodeDates {
    let mut dates = leaf.dates();
    for above in tree.ancestors(&leaf.id) {
        dates.not_before = dates.not_before.max(above.not_before);
        dates.due = dates.due.into_iter().chain(above.due).min();
    }
    dates
}

impl FixedWork<'_> {
    /// Returns the limits of a leaf. A date before the horizon starts fixes nothing.
    pub(super) fn limits(&self, dates: NodeDates) -> HandSetLimits {
        let from = |date: Option<PlanDate>| {
            date.map_or(i64::MIN, |date| self.local_minute(date.first_minute()))
        };
        let until = |date: Option<PlanDate>| {
            date.map_or(i64::MAX, |date| self.local_minute(date.last_minute()))
        };
        let mut limits = HandSetLimits {
            release: from(dates.not_before).max(from(dates.fixed_start)),
            wanted_by: until(dates.due).min(until(dates.fixed_end)),
            fixed: None,
        };
        let ahead = |date: &PlanDate| {
            self.local_minute(date.last_minute()) > minute_of(self.calendar.horizon_start())
                || date.time.is_some()
                    && self.local_minute(date.first_minute())
                        >= minute_of(self.calendar.horizon_start())
        };
        if let Some(date) = dates.fixed_start.filter(ahead) {
            let span = self.span_from(date);
            limits.release = span.1;
            limits.fixed = Some(span);
        } else if let Some(date) = dates.fixed_end.filter(ahead) {
            let span = self.span_until(date);
            limits.wanted_by = span.0;
            limits.fixed = Some(span);
        }
        limits.fixed = limits.fixed.filter(|span| span.0 < span.1);
        limits
    }

    fn local_minute(&self, local: DateTime) -> i64 {
        minute_of(resolve_local(local, self.calendar.zone()))
    }

    /// Returns a block that starts on a date: all of the work, or what the working time from there on holds.
    fn span_from(&self, date: PlanDate) -> (i64, i64) {
        if self.whole {
            return self.whole_span(date);
        }
        let pieces = self.free_pieces(date.day);
        let (start, end) = if date.time.is_some() {
            let at = self.local_minute(date.first_minute());
            let piece = pieces.iter().find(|piece| piece.0 <= at && at < piece.1);
            (at, piece.map(|piece| piece.1))
        } else {
            let least = self.least.min(self.minutes);
            if let Some(piece) = pieces.iter().find(|piece| piece.1 - piece.0 >= least) {
                (piece.0, Some(piece.1))
            } else {
                // Several tasks of a day without hours follow each other.
                let first = self.day_minute(date.day, DAY_OFF_START);
                let end = self.day_minute(plus_days(date.day, 1), 0);
                let busy = self.taken.iter().filter(|held| held.1 > first && held.0 < end);
                (busy.map(|held| held.1).fold(first, i64::max), None)
            }
        };
        let whole = start + self.minutes;
        match end {
            Some(end) if self.can_cut(end - start) => (start, end.min(whole)),
            _ => (start, whole),
        }
    }

    /// Returns all of the work on one day: in its hours if they hold it, or else at a sensible time between morning
    /// and night, beside what else is fixed on the day.
    fn whole_span(&self, date: PlanDate) -> (i64, i64) {
        let span = |start: i64| (start, start + self.minutes);
        if date.time.is_some() {
            return span(self.local_minute(date.first_minute()));
        }
        let holds = |piece: &&(i64, i64)| piece.1 - piece.0 >= self.minutes;
        let pieces = self.free_pieces(date.day);
        let evening = self.day_minute(date.day, self.usual_start(date.day));
        let in_evening = pieces.iter().find_map(|piece| {
            let start = piece.0.max(evening);
            (start + self.minutes <= piece.1 && self.is_for_evenings(date.day)).then_some(start)
        });
        if let Some(start) = in_evening.or_else(|| pieces.iter().find(holds).map(|piece| piece.0)) {
            return span(start);
        }
        let usual = self.day_minute(date.day, self.usual_start(date.day));
        let [first, last] =
            [WAKING_START, WAKING_END].map(|minute| self.day_minute(date.day, minute));
        let latest = last - self.minutes;
        let is_free = |start: &i64| {
            let (from, to) = span(*start);
            self.taken.iter().all(|held| held.1 <= from || held.0 >= to)
        };
        let ends = self.taken.iter().map(|held| held.1);
        let starts = self.taken.iter().map(|held| held.0 - self.minutes);
        let near: Vec<i64> = [usual, latest].into_iter().chain(ends).chain(starts).collect();
        let inside = near.iter().filter(|start| (first..=latest).contains(*start));
        let best =
            inside.copied().filter(is_free).min_by_key(|start| (start.abs_diff(usual), *start));
        span(best.unwrap_or(usual.min(latest).max(first)))
    }

    /// Whether it is best done in the evening of a day, even if the day has earlier hours.
    fn is_for_evenings(&self, day: Date) -> bool {
        let weekend = matches!(Weekday::from_date(day), Weekday::Sat | Weekday::Sun);
        match self.preferred_time {
            Some(PreferredTime::Evenings) => true,
            Some(PreferredTime::EveningsAndWeekends) => !weekend,
            _ => false,
        }
    }

    /// Returns when something starts on a day whose hours do not hold it.
    fn usual_start(&self, day: Date) -> i64 {
        let weekend = matches!(Weekday::from_date(day), Weekday::Sat | Weekday::Sun);
        match self.preferred_time {
            Some(PreferredTime::Evenings) => 18 * 60,
            Some(PreferredTime::EveningsAndWeekends) if !weekend => 18 * 60,
            Some(PreferredTime::EveningsAndWeekends | PreferredTime::Weekends) => 10 * 60,
            Some(
                PreferredTime::Mornings | PreferredTime::OfficeHours | PreferredTime::ShopHours,
            )
            | None => DAY_OFF_START,
        }
    }

    /// Returns a block that ends on a date.
    fn span_until(&self, date: PlanDate) -> (i64, i64) {
        let pieces = self.free_pieces(date.day);
        let (start, end) = if date.time.is_some() {
            let at = self.local_minute(date.first_minute());
            let piece = pieces.iter().find(|piece| piece.0 < at && at <= piece.1);
            (piece.map(|piece| piece.0), at)
        } else {
            let room = |piece: &&(i64, i64)| piece.1 - piece.0 >= self.least.min(self.minutes);
            match pieces.iter().rev().find(room) {
                Some(piece) => (Some(piece.0), piece.1),
                None => (None, self.day_minute(date.day, DAY_OFF_END)),
            }
        };
        let whole = end - self.minutes;
        match start {
            Some(start) if self.can_cut(end - start) => (start.max(whole), end),
            _ => (whole, end),
        }
    }

    /// Whether the work can be cut after so many minutes without leaving a piece that is too short.
    fn can_cut(&self, room: i64) -> bool {
        room >= self.minutes || (room >= self.least && self.minutes - room >= self.least)
    }

    fn day_minute(&self, day: Date, minute: i64) -> i64 {
        minute_of(self.calendar.day_start(day)) + minute
    }

    /// Returns the working time of a day that nothing of the same owner is fixed in.
    fn free_pieces(&self, day: Date) -> Vec<(i64, i64)> {
        let bounds = [day, plus_days(day, 1)]
            .map(|day| self.calendar.working_minutes(self.calendar.day_start(day)));
        let pieces = self.calendar.work_pieces(bounds[0], bounds[1]);
        let mut free = Vec::new();
        for (_, at, length) in pieces.filter(|_| bounds[0] < bounds[1]) {
            let (mut from, to) = (minute_of(at), minute_of(at).saturating_add_unsigned(length));
            for busy in self.taken {
                if busy.1 <= from || busy.0 >= to {
                    continue;
                }
                if from < busy.0 {
                    free.push((from, busy.0));
                }
                from = from.max(busy.1);
            }
            if from < to {
                free.push((from, to));
            }
        }
        free
    }
}
