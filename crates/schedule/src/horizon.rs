//! The period in which a plan may run, and how strict its end is.

use jiff::Timestamp;
use jiff::civil::{Date, Time};

use super::ScheduleRequest;
use crate::calendar::{
    CalendarError, WorkCalendar, find_zone, instant_of, minute_of, monday_of, plus_days,
    resolve_local,
};
use planwright_model::PlanContext;

/// How many weeks of a routine without an end are scheduled.
const ROLLING_WEEKS: i64 = 8;
/// How many days ahead anything can be placed.
const MAX_DAYS: i64 = 3_650;

/// The window of a schedule in minutes since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Horizon {
    pub start: i64,
    /// The intended end of the plan: the deadline, or the end of the stated weeks.
    pub end: Option<i64>,
    /// The minute that placement should not exceed.
    pub aim: i64,
    /// The minute that placement cannot exceed.
    pub limit: i64,
    /// Whether the end is a deadline.
    pub has_deadline: bool,
    /// The day after the last recurrence of anything without an end of its own.
    pub recur_until: Date,
}

impl Horizon {
    /// Returns the horizon of a request with its end moved later by a number of days, and its calendar.
    pub(super) fn new(
        request: &ScheduleRequest<'_>,
        more_days: u32,
    ) -> Result<(Self, WorkCalendar), CalendarError> {
        let context = request.context;
        let zone = find_zone(&context.calendar.tz)?;
        let midnight = |date: Date| resolve_local(date.to_datetime(Time::midnight()), &zone);
        let stated = midnight(context.constraints.start);
        let start = request.not_before.map_or(stated, |now| now.max(stated));
        let calendar = WorkCalendar::new((&*context.shared_calendar()).into(), start)?;
        let start = calendar.horizon_start();
        let last = midnight(plus_days(calendar.local_date(start), MAX_DAYS));
        let limit = minute_of(last);
        let end = horizon_end(context, &calendar, more_days);
        let has_deadline = context.constraints.deadline.is_some();
        // Without a deadline the weeks are soft: placement may continue to the end of the next ISO week.
        let soft = |end: i64| {
            let final_day = calendar.local_date(instant_of(end - 1));
            minute_of(calendar.day_start(plus_days(monday_of(final_day), 14)))
        };
        let aim = match end {
            Some(end) if has_deadline => end,
            Some(end) => soft(end).min(limit),
            None => limit,
        };
        let rolling = || plus_days(calendar.local_date(start), ROLLING_WEEKS * 7);
        let recur_until =
            end.map_or_else(rolling, |end| plus_days(calendar.local_date(instant_of(end - 1)), 1));
        let horizon = Self {
            start: minute_of(start),
            end,
            aim,
            limit: if has_deadline { limit } else { aim },
            has_deadline,
            recur_until,
        };
        Ok((horizon, calendar))
    }
}

fn horizon_end(context: &PlanContext, calendar: &WorkCalendar, more_days: u32) -> Option<i64> {
    let later = |at: Timestamp| {
        // Full days keep the local hour across a clock change.
        let local = calendar.zone().to_datetime(at);
        let date = plus_days(local.date(), i64::from(more_days));
        minute_of(resolve_local(date.to_datetime(local.time()), calendar.zone()))
    };
    if let Some(deadline) = context.constraints.deadline {
        return Some(later(deadline.at));
    }
    let weeks = i64::from(context.constraints.horizon_weeks?);
    let first = calendar.local_date(calendar.horizon_start()).max(context.constraints.start);
    Some(later(calendar.day_start(plus_days(first, weeks * 7))))
}
