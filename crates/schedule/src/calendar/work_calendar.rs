//! Working time as a number: how many working minutes lie before an instant, and the reverse.
//!
//! Working intervals are computed in stretches of half a year, each on first use. A lookup is a binary search over
//! prefix sums.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::CalendarError;
use super::zone::{find_zone, instant_of, minute_of, plus_days, resolve_local};
use planwright_model::{LocalTimeInterval, PlanCalendar, Weekday, WeeklyHours};

/// The number of days in a stretch.
const STRETCH_DAYS: i64 = 182;
/// The number of stretches until the calendar ends, a little over ten years after its start.
const STRETCHES: usize = 21;
/// Minutes of a local day.
pub(super) const DAY: u16 = 24 * 60;

/// Local working hours of one day, in minutes from midnight and half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HourRange {
    pub from: u16,
    pub to: u16,
}

impl HourRange {
    /// Creates hours between two minutes of the day; anything past midnight is cut off, and an end before the start
    /// means an empty range.
    pub fn new(from: u16, to: u16) -> Self {
        Self { from: from.min(DAY), to: to.min(DAY) }
    }
}

impl From<LocalTimeInterval> for HourRange {
    fn from(interval: LocalTimeInterval) -> Self {
        let minute = |at: Time| {
            u16::from(at.hour().unsigned_abs()) * 60 + u16::from(at.minute().unsigned_abs())
        };
        let to = if interval.end == Time::midnight() { DAY } else { minute(interval.end) };
        Self::new(minute(interval.start), to)
    }
}

/// When work may be done, before it is mapped to instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkHours {
    /// IANA id.
    pub tz: String,
    /// Monday first.
    pub working: [Vec<HourRange>; 7],
    pub days_off: BTreeSet<Date>,
    /// Replaces the hours of single dates, including days off.
    pub extra_working: BTreeMap<Date, Vec<HourRange>>,
}

impl WorkHours {
    /// Monday to Friday, 09:00 to 17:00.
    pub(crate) fn office_hours(tz: impl Into<String>) -> Self {
        let nine_to_five = vec![HourRange::new(9 * 60, 17 * 60)];
        let mut working: [Vec<HourRange>; 7] = Default::default();
        working[..5].fill(nine_to_five);
        Self { tz: tz.into(), working, days_off: BTreeSet::new(), extra_working: BTreeMap::new() }
    }

    fn day_hours(&self, date: Date) -> impl Iterator<Item = HourRange> {
        let weekday = usize::from(date.weekday().to_monday_zero_offset().unsigned_abs());
        let hours = match self.extra_working.get(&date) {
            Some(extra) => extra,
            None if self.days_off.contains(&date) => &[][..],
            None => self.working.get(weekday).map_or(&[][..], Vec::as_slice),
        };
        hours.iter().copied()
    }
}

impl From<&PlanCalendar> for WorkHours {
    fn from(calendar: &PlanCalendar) -> Self {
        let extra = calendar.extra_working.iter();
        Self {
            tz: calendar.tz.clone(),
            working: hours_by_weekday(&calendar.working),
            days_off: calendar.days_off.clone(),
            extra_working: extra.map(|(date, day)| (*date, hour_ranges(day))).collect(),
        }
    }
}

/// Returns the hours of each day of the week, Monday first.
pub(crate) fn hours_by_weekday(week: &WeeklyHours) -> [Vec<HourRange>; 7] {
    Weekday::ALL.map(|day| week.get(&day).map_or_else(Vec::new, |day| hour_ranges(day)))
}

fn hour_ranges(intervals: &[LocalTimeInterval]) -> Vec<HourRange> {
    intervals.iter().copied().map(HourRange::from).collect()
}

/// An uninterrupted piece of working time in minutes since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WorkSegment {
    from: i64,
    to: i64,
    /// Working minutes before it.
    before: u64,
}

impl WorkSegment {
    fn minutes_at_end(&self) -> u64 {
        self.before + self.to.abs_diff(self.from)
    }
}

#[derive(Clone, Debug)]
struct CalendarStretch {
    segments: Vec<WorkSegment>,
    /// Where the next stretch starts.
    end: i64,
    /// Working minutes up to the end.
    after: u64,
}

/// The working time of one plan from its horizon start on.
///
/// Fixed events are not part of it: they occupy time in the schedule but do not extend a lag.
#[derive(Clone, Debug)]
pub struct WorkCalendar {
    hours: WorkHours,
    zone: TimeZone,
    start: i64,
    first_day: Date,
    stretches: Vec<OnceLock<CalendarStretch>>,
}

impl WorkCalendar {
    /// Creates a calendar of working hours from an instant on, which becomes the horizon start.
    pub fn new(hours: WorkHours, start: Timestamp) -> Result<Self, CalendarError> {
        let zone = find_zone(&hours.tz)?;
        let first_day = zone.to_datetime(start).date();
        let stretches = vec![OnceLock::new(); STRETCHES];
        // A start inside a minute is rounded up to the next full one.
        let start = minute_of(start) + i64::from(start.as_second().rem_euclid(60) != 0);
        Ok(Self { hours, zone, start, first_day, stretches })
    }

    /// Returns the calendar of a plan from the start of a local day on.
    pub fn from_plan(calendar: &PlanCalendar, first_day: Date) -> Result<Self, CalendarError> {
        let start =
            resolve_local(first_day.to_datetime(Time::midnight()), &find_zone(&calendar.tz)?);
        Self::new(calendar.into(), start)
    }

    /// Returns the same hours from another horizon start.
    pub fn with_start(&self, start: Timestamp) -> Result<Self, CalendarError> {
        Self::new(self.hours.clone(), start)
    }

    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    pub fn tz(&self) -> &str {
        &self.hours.tz
    }

    pub fn horizon_start(&self) -> Timestamp {
        instant_of(self.start)
    }

    /// Returns the local date of an instant.
    pub fn local_date(&self, at: Timestamp) -> Date {
        self.zone.to_datetime(at).date()
    }

    /// Returns whether a date is a day off that no hours of its own replace.
    pub fn is_day_off(&self, date: Date) -> bool {
        self.hours.days_off.contains(&date) && !self.hours.extra_working.contains_key(&date)
    }

    /// Returns the start of a local day.
    pub fn day_start(&self, date: Date) -> Timestamp {
        resolve_local(date.to_datetime(Time::midnight()), &self.zone)
    }

    /// w(t): returns the working minutes from the horizon start to an instant; 0 before it.
    pub fn working_minutes(&self, at: Timestamp) -> u64 {
        self.minutes_before(minute_of(at))
    }

    /// Returns the working minutes between two instants; 0 if they are in the wrong order.
    pub fn working_between(&self, from: Timestamp, to: Timestamp) -> u64 {
        self.working_minutes(to).saturating_sub(self.working_minutes(from))
    }

    /// Returns the latest instant with this many working minutes before it, which is where a start belongs. `None` past
    /// the end of the calendar.
    pub fn start_at(&self, working: u64) -> Option<Timestamp> {
        self.start_minute(working).map(instant_of)
    }

    /// Returns the earliest instant with this many working minutes before it, which is where a finish belongs.
    pub fn finish_at(&self, working: u64) -> Option<Timestamp> {
        self.finish_minute(working).map(instant_of)
    }

    /// Returns the working minutes of the entire calendar, ten years.
    pub fn total_minutes(&self) -> u64 {
        self.stretch_at(STRETCHES - 1).map_or(0, |stretch| stretch.after)
    }

    /// Returns the uninterrupted pieces of working time that touch a range of working minutes, as `(w, instant,
    /// length)` clipped to it.
    pub fn work_pieces(
        &self,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (u64, Timestamp, u64)> + '_ {
        let stretches = (0..STRETCHES).map_while(|index| self.stretch_at(index));
        stretches
            .skip_while(move |stretch| stretch.after <= from)
            .flat_map(|stretch| stretch.segments.iter())
            .skip_while(move |segment| segment.minutes_at_end() <= from)
            .take_while(move |segment| segment.before < to)
            .map(move |segment| {
                let low = segment.before.max(from);
                let high = segment.minutes_at_end().min(to);
                let minute = segment.from.saturating_add_unsigned(low - segment.before);
                (low, instant_of(minute), high - low)
            })
    }

    pub(crate) fn start_minute(&self, working: u64) -> Option<i64> {
        self.minute_where(|after| after > working, working)
    }

    pub(crate) fn finish_minute(&self, working: u64) -> Option<i64> {
        if working == 0 {
            return Some(self.start);
        }
        self.minute_where(|after| after >= working, working)
    }

    pub(crate) fn minutes_before(&self, minute: i64) -> u64 {
        if minute <= self.start {
            return 0;
        }
        // Never past the right stretch, because a clock change moves a boundary by hours only.
        let guess = (minute - self.start) / (STRETCH_DAYS * i64::from(DAY)) - 1;
        (usize::try_from(guess).unwrap_or(0)..STRETCHES)
            .map_while(|index| self.stretch_at(index))
            .find(|stretch| minute < stretch.end)
            .map_or_else(|| self.total_minutes(), |stretch| stretch.minutes_before(minute))
    }

    fn minute_where(&self, reached: impl Fn(u64) -> bool, working: u64) -> Option<i64> {
        let stretch = (0..STRETCHES)
            .map_while(|index| self.stretch_at(index))
            .find(|stretch| reached(stretch.after))?;
        let index = stretch.segments.partition_point(|segment| !reached(segment.minutes_at_end()));
        let segment = stretch.segments.get(index)?;
        Some(segment.from.saturating_add_unsigned(working.saturating_sub(segment.before)))
    }

    fn stretch_at(&self, index: usize) -> Option<&CalendarStretch> {
        if let Some(stretch) = self.stretches.get(index)?.get() {
            return Some(stretch);
        }
        // Built in order, because each starts with the sum of the previous one.
        let mut before = 0;
        for (at, cell) in self.stretches.iter().enumerate().take(index + 1) {
            before = cell.get_or_init(|| self.build_stretch(at, before)).after;
        }
        self.stretches.get(index)?.get()
    }

    fn build_stretch(&self, index: usize, before: u64) -> CalendarStretch {
        let first = plus_days(self.first_day, i64::try_from(index).unwrap_or(0) * STRETCH_DAYS);
        let begin = minute_of(self.day_start(first)).max(self.start);
        let end = minute_of(self.day_start(plus_days(first, STRETCH_DAYS))).max(begin);
        let mut spans: Vec<(i64, i64)> = Vec::new();
        for day in 0..STRETCH_DAYS {
            let date = plus_days(first, day);
            spans.extend(self.hours.day_hours(date).map(|hours| self.clock_minutes(date, hours)));
        }
        spans.sort_unstable();
        let mut after = before;
        let mut segments: Vec<WorkSegment> = Vec::with_capacity(spans.len());
        for (from, to) in spans {
            let covered = segments.last().map_or(begin, |last| last.to);
            let (from, to) = (from.max(covered), to.min(end));
            if from < to {
                segments.push(WorkSegment { from, to, before: after });
                after += to.abs_diff(from);
            }
        }
        CalendarStretch { segments, end, after }
    }

    /// Returns the minutes since the epoch of local hours on a date.
    pub(crate) fn clock_minutes(&self, date: Date, hours: HourRange) -> (i64, i64) {
        let at = |minute: u16| {
            let (day, minute) = (minute / DAY, minute % DAY);
            let date = plus_days(date, i64::from(day));
            let local = date.at((minute / 60) as i8, (minute % 60) as i8, 0, 0);
            minute_of(resolve_local(local, &self.zone))
        };
        (at(hours.from), at(hours.to))
    }
}

impl CalendarStretch {
    fn minutes_before(&self, minute: i64) -> u64 {
        let index = self.segments.partition_point(|segment| segment.from <= minute);
        match index.checked_sub(1).and_then(|index| self.segments.get(index)) {
            Some(segment) => segment.before + minute.min(segment.to).abs_diff(segment.from),
            None => self.segments.first().map_or(self.after, |segment| segment.before),
        }
    }
}
