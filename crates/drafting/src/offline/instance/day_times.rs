//! Times of day of what happens on the plan's day: an evening event starts in the evening, its set-up ends when it starts.

use std::collections::BTreeSet;

use jiff::civil::{Date, Time};

use planwright_model::{PlanDate, PlanNode, PreferredTime, Role, StartSource};

use super::InstanceBuilder;
use super::dates::add_days;

/// When an evening event starts, and when a longer one ends, in minutes of the day.
const EVENING_START: i32 = 18 * 60;
const EVENING_END: i32 = 22 * 60 + 30;
/// When the main part of a day starts that is not in the evening.
const MORNING_START: i32 = 9 * 60;
/// Hours from this time on are those of an evening.
const EVENING_HOURS: Time = Time::constant(17, 0, 0, 0);
/// What takes longer than this on the plan's day is its main part.
const SHORT_PART: u32 = 60;
/// Nothing before an event starts earlier than this.
const EARLIEST: i32 = 7 * 60;
const MIDNIGHT: i32 = 24 * 60;
/// The break between two tasks of a day.
const BREAK: i32 = 10;

impl InstanceBuilder<'_> {
    /// Sets the times of the days that have a main part: what stands before it ends when it starts, what stands after it
    /// follows.
    pub(super) fn set_times_of_day(&mut self) {
        let own = self.plan.nodes.iter().filter(|node| node.has_own_day());
        let days: BTreeSet<Date> =
            own.filter_map(|node| node.fixed_start).map(|at| at.day).collect();
        for day in days {
            let here = |node: &PlanNode| {
                node.has_own_day() && node.fixed_start.is_some_and(|at| at.day == day)
            };
            let places: Vec<usize> =
                (0..self.plan.nodes.len()).filter(|&at| here(&self.plan.nodes[at])).collect();
            let timed = |place: &usize| start_minute(&self.plan.nodes[*place]).is_some();
            let main = places
                .iter()
                .position(timed)
                .or_else(|| self.evening_part(day, &places))
                .or_else(|| self.morning_part(day, &places));
            if let Some(main) = main {
                self.set_earlier_times(day, &places[..=main]);
                self.set_later_times(day, &places[main..]);
            } else {
                self.set_crowded_times(day, &places);
            }
        }
    }

    /// Returns the main part of an evening event, with its time set.
    fn evening_part(&mut self, day: Date, places: &[usize]) -> Option<usize> {
        let file = self.inputs.blueprint;
        let evening = |node: &PlanNode| {
            let prefer = node.preferred_time.or_else(|| file.prefer.to_preferred_time());
            matches!(prefer, Some(PreferredTime::Evenings | PreferredTime::EveningsAndWeekends))
        };
        if self.inputs.span.day != Some(day) || file.subtype.get_ref() != "event" {
            return None;
        }
        let node = |place: usize| &self.plan.nodes[places[place]];
        let main = (0..places.len()).max_by_key(|&place| {
            (node(place).role == Role::Deliverable, node(place).work_minutes())
        })?;
        if !evening(node(main)) {
            return None;
        }
        let minutes = i32::try_from(node(main).work_minutes()).unwrap_or(MIDNIGHT);
        let start = EVENING_START.min(EVENING_END - minutes).max(EARLIEST) / 30 * 30;
        self.set_start(places[main], day, start);
        Some(main)
    }

    /// Exams, moves and appointments of a plan with evening hours are during the day all the same. Returns the main part
    /// of the plan's day, with its time set.
    fn morning_part(&mut self, day: Date, places: &[usize]) -> Option<usize> {
        let hours = self.inputs.context.calendar.hours_on(day);
        let evening = hours.first().is_some_and(|span| span.start >= EVENING_HOURS);
        if !evening || self.inputs.span.day != Some(day) {
            return None;
        }
        let main = (0..places.len()).find(|&place| {
            let node = &self.plan.nodes[places[place]];
            node.role == Role::Deliverable || node.work_minutes() > SHORT_PART
        })?;
        self.set_start(places[main], day, MORNING_START);
        Some(main)
    }

    /// More than the hours of a day hold begins earlier: the evening before a trip begins in the afternoon.
    fn set_crowded_times(&mut self, day: Date, places: &[usize]) {
        let hours = self.inputs.context.calendar.hours_on(day);
        let (Some(first), Some(last)) = (hours.first(), hours.last()) else { return };
        let minutes = |place: &usize| {
            i32::try_from(self.plan.nodes[*place].work_minutes()).unwrap_or(MIDNIGHT)
        };
        let sum: i32 = places.iter().map(minutes).sum();
        let (from, until) = (minute_of(first.start), minute_of(last.end));
        let breaks = BREAK * i32::try_from(places.len().saturating_sub(1)).unwrap_or(0);
        if places.len() < 2 || sum + breaks <= until - from {
            return;
        }
        let mut start = from.min(until.max(EVENING_END) - sum).max(EARLIEST);
        let lengths: Vec<i32> = places.iter().map(minutes).collect();
        for (&place, length) in places.iter().zip(lengths) {
            if start + length > MIDNIGHT {
                return;
            }
            self.set_start(place, day, start);
            start += length;
        }
    }

    fn set_earlier_times(&mut self, day: Date, places: &[usize]) {
        let Some((main, before)) = places.split_last() else { return };
        let Some(mut until) = start_minute(&self.plan.nodes[*main]) else { return };
        for &place in before.iter().rev() {
            let minutes = i32::try_from(self.plan.nodes[place].work_minutes()).unwrap_or(MIDNIGHT);
            let start = start_minute(&self.plan.nodes[place]).unwrap_or(until - minutes);
            if start < EARLIEST {
                return;
            }
            self.set_start(place, day, start);
            until = start;
        }
    }

    /// What would go past midnight is for the next day.
    fn set_later_times(&mut self, day: Date, places: &[usize]) {
        let mut from = None;
        for &place in places {
            let node = &self.plan.nodes[place];
            let minutes = i32::try_from(node.work_minutes()).unwrap_or(MIDNIGHT);
            let Some(start) = start_minute(node).or(from) else { return };
            if start + minutes > MIDNIGHT && from.is_some() {
                let late = &mut self.plan.nodes[place];
                late.fixed_start = Some(PlanDate::on_day(add_days(day, 1)));
                late.start_source = StartSource::Proposed;
                continue;
            }
            self.set_start(place, day, start);
            from = Some(start + minutes);
        }
    }

    fn set_start(&mut self, place: usize, day: Date, minute: i32) {
        let hour = i8::try_from(minute / 60).unwrap_or(0);
        let time = Time::new(hour, i8::try_from(minute % 60).unwrap_or(0), 0, 0).ok();
        self.plan.nodes[place].fixed_start = Some(PlanDate { day, time });
    }
}

fn start_minute(node: &PlanNode) -> Option<i32> {
    Some(minute_of(node.fixed_start?.time?))
}

fn minute_of(time: Time) -> i32 {
    i32::from(time.hour()) * 60 + i32::from(time.minute())
}
