//! When a task may start and end by the clock: lags of its links, dates that were set by hand, and its scheduled time.
//!
//! A task of the person's is theirs to time: it is handed over as soon as what it needs is done, and its dates stand
//! on it. A lag before it keeps it out of what is due until it is over.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{SessionState, TaskRow, TaskStatus};
use planwright_model::{
    LagBasis, LinkKind, PlanCalendar, RunKind, StartTimeCause, TaskLink, TaskNode,
};
use planwright_schedule::calendar::{WorkCalendar, find_zone, resolve_local};

/// What keeps a task whose work is done from ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseHold {
    /// Another task has to finish, or to start, first.
    Task(usize),
    /// So much time has to pass after that.
    Until { at: Timestamp, after: usize },
}

impl SessionState {
    /// The moment before which a task may not start, and why. `None` where only its dependencies decide.
    pub fn start_time(&self, task: usize) -> Option<(Timestamp, StartTimeCause)> {
        let node = self.task_node(task)?;
        if matches!(node.run, RunKind::Human {}) {
            return None;
        }
        let lags = node.dependencies.iter().filter_map(|link| self.lag_end(link));
        let dates = [
            (node.not_before, StartTimeCause::NotBefore),
            (node.fixed_start, StartTimeCause::FixedStart),
        ];
        let dates = dates.into_iter().filter_map(|(date, cause)| {
            Some((resolve_local(date?.first_minute(), &self.plan_zone()), cause))
        });
        let scheduled = self.scheduled_start(node).map(|at| (at, StartTimeCause::ScheduledTime));
        // Of several the last one decides; of equal ones the first that was named.
        lags.chain(dates)
            .chain(scheduled)
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
    }

    /// The zone in which the dates and hours of the plan are meant.
    pub fn plan_zone(&self) -> TimeZone {
        let facts = self.plan.current.as_ref().map(|current| current.facts.time_zone.as_str());
        let stated = self.plan_hours().map(|hours| hours.tz.as_str());
        let mut names = [stated, facts].into_iter().flatten().filter(|name| !name.is_empty());
        names.find_map(|name| find_zone(name).ok()).unwrap_or(TimeZone::UTC)
    }

    /// The working hours of the plan: those of its file, or of what it was drafted for.
    fn plan_hours(&self) -> Option<&PlanCalendar> {
        let stated = self.plan.current.as_ref().and_then(|current| current.plan.calendar.as_ref());
        let drafted = || self.planning.context.as_ref().map(|context| &context.calendar);
        stated.map(|calendar| &calendar.hours).or_else(drafted)
    }

    fn scheduled_start(&self, node: &TaskNode) -> Option<Timestamp> {
        if !node.at_scheduled_time {
            return None;
        }
        let current = self.plan.current.as_ref()?;
        let drafted = self.planning.schedule.as_deref().and_then(|schedule| {
            schedule.blocks_for_node(&node.id).map(|block| block.start.at).min()
        });
        current.facts.scheduled_starts.get(&node.id).copied().or(drafted)
    }

    /// When the last lag before a task is over, if it has any that has begun.
    pub(super) fn lags_end(&self, node: &TaskNode) -> Option<Timestamp> {
        node.dependencies.iter().filter_map(|link| self.lag_end(link)).map(|(at, _)| at).max()
    }

    /// When the lag of a link that holds a start is over.
    fn lag_end(&self, link: &TaskLink) -> Option<(Timestamp, StartTimeCause)> {
        if link.lag_minutes <= 0 || !link.blocks_execution() {
            return None;
        }
        let row = self.tasks.get(&link.task).filter(|row| has_happened(row))?;
        let task = link.task.clone();
        let (from, cause) = match link.kind {
            LinkKind::SS => (row.started_at?, StartTimeCause::LagAfterStart { task }),
            _ => (row.finished_at?, StartTimeCause::LagAfterEnd { task }),
        };
        Some((self.add_lag(from, link), cause))
    }

    /// A lag after a moment. A lag in working time counts the hours of the plan; a plan without any counts the clock.
    fn add_lag(&self, from: Timestamp, link: &TaskLink) -> Timestamp {
        let minutes = link.lag_minutes.max(0);
        let plain = from.saturating_add(SignedDuration::from_mins(minutes.into()));
        let plain = plain.unwrap_or(Timestamp::MAX);
        if link.lag_basis == LagBasis::Elapsed || minutes == 0 {
            return plain;
        }
        let Some(hours) = self.plan_hours() else { return plain };
        let mut hours = hours.clone();
        if hours.tz.is_empty() {
            self.plan_zone().iana_name().unwrap_or("UTC").clone_into(&mut hours.tz);
        }
        let calendar = WorkCalendar::new((&hours).into(), from).ok();
        calendar.and_then(|known| known.finish_at(minutes.unsigned_abs().into())).unwrap_or(plain)
    }

    /// What keeps a task whose work is done from ending, if anything does.
    pub fn close_hold(&self, task: usize, now: Timestamp) -> Option<CloseHold> {
        let node = self.task_node(task)?;
        let mut hold = None;
        for link in node.dependencies.iter().filter(|link| !link.blocks_execution()) {
            let Some(on) = self.tasks.position(&link.task) else { continue };
            let row = self.tasks.row(on);
            let (is_met, from) = match link.kind {
                LinkKind::SF => (row.status != TaskStatus::Pending, row.started_at),
                _ => (row.status.is_settled(), row.finished_at),
            };
            if !is_met {
                return Some(CloseHold::Task(on));
            }
            let at = from.filter(|_| has_happened(row)).map(|from| self.add_lag(from, link));
            let latest = match hold {
                Some(CloseHold::Until { at, .. }) => at,
                _ => now,
            };
            if let Some(at) = at.filter(|at| *at > latest) {
                hold = Some(CloseHold::Until { at, after: on });
            }
        }
        hold
    }
}

/// Whether a task really ran: no lag follows one that was skipped.
fn has_happened(row: &TaskRow) -> bool {
    !matches!(row.status, TaskStatus::Skipped(_))
}
