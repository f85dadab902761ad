//! What a link requires of its successor, in working minutes.

use jiff::Timestamp;

use super::work_calendar::WorkCalendar;
use planwright_model::{LagBasis, LinkKind};

/// The position of a leaf, in working minutes from the horizon start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkSpan {
    pub start: u64,
    pub finish: u64,
}

impl WorkSpan {
    /// Returns the span from the earlier start to the later finish.
    pub fn union_with(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), finish: self.finish.max(other.finish) }
    }
}

/// The minimum that a link allows for one end of its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkBound {
    Start(u64),
    Finish(u64),
}

impl LinkBound {
    /// Returns the earliest start of an uninterrupted leaf of this many minutes. A bound on the finish pushes the leaf
    /// later and never stretches it.
    pub fn earliest_start(self, minutes: u64) -> u64 {
        match self {
            Self::Start(working) => working,
            Self::Finish(working) => working.saturating_sub(minutes),
        }
    }

    /// Returns whether a placed leaf satisfies the bound.
    pub fn is_met_by(self, span: WorkSpan) -> bool {
        match self {
            Self::Start(working) => span.start >= working,
            Self::Finish(working) => span.finish >= working,
        }
    }
}

impl WorkCalendar {
    /// Returns the working minutes of two instants.
    pub fn work_span(&self, start: Timestamp, finish: Timestamp) -> WorkSpan {
        WorkSpan { start: self.working_minutes(start), finish: self.working_minutes(finish) }
    }

    /// Returns the bound of a link from a leaf at `from`. A lead that reaches before the horizon start has no effect.
    pub fn link_bound(
        &self,
        kind: LinkKind,
        lag: i32,
        basis: LagBasis,
        from: WorkSpan,
    ) -> LinkBound {
        let lag = i64::from(lag);
        let at = match (kind, basis) {
            (LinkKind::FS | LinkKind::FF, LagBasis::Working) => {
                from.finish.saturating_add_signed(lag)
            }
            (LinkKind::SS | LinkKind::SF, LagBasis::Working) => {
                from.start.saturating_add_signed(lag)
            }
            (LinkKind::FS | LinkKind::FF, LagBasis::Elapsed) => {
                self.minutes_after_lag(self.finish_minute(from.finish), lag)
            }
            (LinkKind::SS | LinkKind::SF, LagBasis::Elapsed) => {
                self.minutes_after_lag(self.start_minute(from.start), lag)
            }
        };
        match kind {
            LinkKind::FS | LinkKind::SS => LinkBound::Start(at),
            LinkKind::FF | LinkKind::SF => LinkBound::Finish(at),
        }
    }

    fn minutes_after_lag(&self, minute: Option<i64>, lag: i64) -> u64 {
        minute.map_or(u64::MAX, |minute| self.minutes_before(minute.saturating_add(lag)))
    }
}
