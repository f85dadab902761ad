//! How work is spread over the week: sessions of sensible length on different days, instead of one long Monday.
//!
//! A placement rule for a plan with hours of its own, not a change of the search: every level keeps links, caps and
//! calendar. The strictest level that keeps the plan's dates is used, so that spreading never makes a plan late.

use super::ScheduleRequest;
use super::placement::BlockLimits;
use planwright_model::LocalTimeInterval;

/// The length of a session that most people can keep up several times a week.
const SESSION_MINUTES: u64 = 75;
/// Sessions are planned in steps of this many minutes.
const STEP_MINUTES: u64 = 15;
/// The most days between two sessions. More would let a plan of two sessions a week wait from Monday to Friday.
const MAX_GAP_DAYS: usize = 3;

/// How work is spread, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkPacing {
    /// Sessions on different days, with free days in between where the week has room.
    Spaced,
    /// Sessions on different days, one after the other.
    Daily,
    /// As early as the caps allow.
    Packed,
}

impl WorkPacing {
    pub(super) const ALL: [Self; 3] = [Self::Spaced, Self::Daily, Self::Packed];
}

/// The sessions of an ordinary week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionRule {
    /// The minutes of one day.
    pub minutes: u64,
    /// By how much a day may be longer, so that a task is not cut for a few minutes.
    pub stretch: u64,
    /// The days from one session to the next; 1 means every day.
    pub gap_days: usize,
}

impl SessionRule {
    /// Returns the sessions of a request, or `None` if its work is not spread: routines have times of their own, and
    /// without weekly hours there is nothing to spread over.
    pub(super) fn new(
        request: &ScheduleRequest<'_>,
        limits: BlockLimits,
        pacing: WorkPacing,
    ) -> Option<Self> {
        let weekly = limits.weekly?;
        let weekly = limits.all_plans.map_or(weekly, |all| weekly.min(all));
        let minutes = |day: &Vec<LocalTimeInterval>| {
            let sum: u64 = day.iter().map(|span| u64::from(span.duration_minutes())).sum();
            sum.min(limits.daily)
        };
        let days = request.context.calendar.working.values().map(minutes);
        let days: Vec<u64> = days.filter(|minutes| *minutes > 0).collect();
        if pacing == WorkPacing::Packed || days.is_empty() || !request.roadmap.resources.is_empty()
        {
            return None;
        }
        let stretch = u64::from(limits.min_block);
        let minutes = session_minutes(&days, weekly).max(stretch);
        let sessions = weekly.div_ceil(minutes).clamp(1, days.len() as u64) as usize;
        let gap_days = match (pacing, sessions) {
            (WorkPacing::Spaced, 2..) => ((days.len() - 1) / (sessions - 1)).clamp(1, MAX_GAP_DAYS),
            _ => 1,
        };
        Some(Self { minutes, stretch, gap_days })
    }
}

/// Returns the shortest session with which the days of a week hold its minutes, in about as many sessions as are
/// sensible.
fn session_minutes(days: &[u64], weekly: u64) -> u64 {
    let weekly = weekly.min(days.iter().sum());
    let sessions = ((weekly + SESSION_MINUTES / 2) / SESSION_MINUTES).clamp(1, days.len() as u64);
    let mut minutes = weekly.div_ceil(sessions).next_multiple_of(STEP_MINUTES).max(STEP_MINUTES);
    while days.iter().map(|day| minutes.min(*day)).sum::<u64>() < weekly {
        minutes += STEP_MINUTES;
    }
    minutes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_have_a_sensible_length() {
        let weekdays = [240; 5];
        for (weekly, minutes) in
            [(60, 60), (120, 60), (300, 75), (360, 75), (600, 120), (1200, 240), (9999, 240)]
        {
            assert_eq!(session_minutes(&weekdays, weekly), minutes, "{weekly}");
        }
        // Two short evenings and a long morning.
        assert_eq!(session_minutes(&[90, 90, 180], 360), 180);
        assert_eq!(session_minutes(&[90, 90, 180], 240), 90);
    }
}
