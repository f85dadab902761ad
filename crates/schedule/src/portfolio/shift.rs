//! Where a block could move: the nearest gap that satisfies links, caps and deadline.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::{PortfolioConflict, PortfolioProbe, ShiftSuggestion, SuggestedShift, block_minutes};
use crate::calendar::{WorkCalendar, WorkSpan, instant_of, minute_of};
use planwright_model::{
    IsoWeek, LagBasis, LinkKind, NodeDependency, OffsetDateTime, ScheduledBlock, TaskId,
};

impl PortfolioProbe<'_> {
    /// Returns one suggestion for each block that should move.
    pub(super) fn suggest_shifts(
        &self,
        calendar: &WorkCalendar,
        conflicts: &[PortfolioConflict],
    ) -> Vec<ShiftSuggestion> {
        let mut by_block: BTreeMap<&str, Vec<&PortfolioConflict>> = BTreeMap::new();
        for conflict in conflicts {
            if let Some(mover) = self.moving_block(conflict) {
                by_block.entry(mover).or_default().push(conflict);
            }
        }
        let mut shifts = Vec::new();
        for (id, conflicts) in by_block {
            let Some(block) = self.all_blocks().find(|block| block.id == id) else { continue };
            let resolves = conflicts.iter().map(|conflict| {
                if conflict.with == id {
                    conflict.block_id.clone().unwrap_or_default()
                } else {
                    conflict.with.clone()
                }
            });
            let resolves: Vec<String> = resolves.collect();
            shifts.push(match self.nearest_gap(calendar, block) {
                Some((from, to)) => ShiftSuggestion::Suggested(SuggestedShift {
                    block_id: id.to_owned(),
                    from: block.start,
                    to: OffsetDateTime::in_zone(instant_of(to), calendar.zone()),
                    delta_minutes: to - from,
                    resolves,
                }),
                None => ShiftSuggestion::NoShift { block_id: id.to_owned(), conflicts: resolves },
            });
        }
        shifts
    }

    /// Returns the block that should move: the movable one of the plan with the lower weight.
    fn moving_block<'b>(&'b self, conflict: &'b PortfolioConflict) -> Option<&'b str> {
        let own = conflict.block_id.as_deref()?;
        let own_block = self.schedule.blocks.iter().find(|block| block.id == own)?;
        let other = self.others.iter().find(|other| other.block.id == conflict.with);
        match other {
            Some(other) if !other.block.locked => {
                let lighter = other.priority_weight < self.priority_weight;
                let moves = if lighter || own_block.locked { &other.block } else { own_block };
                Some(&moves.id)
            }
            _ => (!own_block.locked).then_some(own),
        }
    }

    /// Returns the start of the nearest gap for a block: the smallest distance, the later one on a tie.
    fn nearest_gap(&self, calendar: &WorkCalendar, block: &ScheduledBlock) -> Option<(i64, i64)> {
        let (from, length) = (minute_of(block.start.at), i64::from(block_minutes(block)));
        let gaps = self.free_gaps(calendar, block);
        let bounds = self.block_bounds(calendar, block);
        let mut starts: Vec<i64> = Vec::new();
        for (low, high) in gaps {
            let (low, high) = (low.max(bounds.0), high.min(bounds.1));
            if high - low >= length {
                starts.push(from.clamp(low, high - length));
            }
        }
        starts.retain(|&to| to != from && self.fits_caps(calendar, block, to));
        let best = starts.into_iter().min_by_key(|to| ((to - from).abs(), from - to))?;
        Some((from, best))
    }

    /// Returns the working time that is free of everything except the block itself, in the weeks around it.
    fn free_gaps(&self, calendar: &WorkCalendar, block: &ScheduledBlock) -> Vec<(i64, i64)> {
        let horizon = (self.schedule.horizon_start.at, self.schedule.horizon_end.at);
        let (low, high) =
            (calendar.working_minutes(horizon.0), calendar.working_minutes(horizon.1));
        let pause = i64::from(self.context.user_prefs.break_minutes);
        let mut busy: Vec<(i64, i64)> = Vec::new();
        let own = self.schedule.blocks.iter().any(|other| other.id == block.id);
        for other in self.schedule.blocks.iter().filter(|other| other.id != block.id) {
            // Breaks are required only between blocks of the same plan.
            let pause = if own { pause } else { 0 };
            busy.push((minute_of(other.start.at) - pause, minute_of(other.end.at) + pause));
        }
        for other in self.others.iter().filter(|other| other.block.id != block.id) {
            busy.push((minute_of(other.block.start.at), minute_of(other.block.end.at)));
        }
        busy.extend(
            self.events.iter().map(|event| (minute_of(event.start.at), minute_of(event.end.at))),
        );
        busy.sort_unstable();
        let mut gaps = Vec::new();
        for (_, at, length) in calendar.work_pieces(low, high) {
            let mut from = minute_of(at);
            let end = from.saturating_add_unsigned(length);
            let first = from;
            for &(start, stop) in busy.iter().filter(|span| span.1 > first && span.0 < end) {
                if start > from {
                    gaps.push((from, start));
                }
                from = from.max(stop);
            }
            if from < end {
                gaps.push((from, end));
            }
        }
        gaps
    }

    /// Returns the clock minutes that links and the deadline allow for a block.
    fn block_bounds(&self, calendar: &WorkCalendar, block: &ScheduledBlock) -> (i64, i64) {
        let deadline = self.context.constraints.deadline.map(|deadline| minute_of(deadline.at));
        let mut bounds = (i64::MIN, deadline.unwrap_or(i64::MAX));
        let Some(roadmap) = self.roadmap.filter(|_| self.is_own_block(block)) else {
            return bounds;
        };
        let tree = roadmap.node_tree();
        let leaves = |id: &TaskId| -> Vec<TaskId> {
            tree.leaves(id).iter().map(|leaf| leaf.id.clone()).collect()
        };
        let span = |ids: &[TaskId]| self.nodes_span(calendar, ids);
        for link in &roadmap.dependencies {
            let (from, to) = (leaves(&link.from), leaves(&link.to));
            if to.contains(&block.plan_node_id)
                && let Some(span) = span(&from)
            {
                bounds.0 = bounds.0.max(earliest_start(calendar, link, span, block_minutes(block)));
            }
            if from.contains(&block.plan_node_id)
                && let Some(span) = span(&to)
            {
                bounds.1 = bounds.1.min(latest_end(calendar, link, span, block_minutes(block)));
            }
        }
        self.bounds_between_parts(block, bounds)
    }

    /// Keeps the parts of one leaf in their order.
    fn bounds_between_parts(&self, block: &ScheduledBlock, bounds: (i64, i64)) -> (i64, i64) {
        let parts = self.schedule.blocks.iter().filter(|other| {
            other.plan_node_id == block.plan_node_id
                && other.occurrence == block.occurrence
                && other.id != block.id
        });
        parts.fold(bounds, |bounds, other| {
            if other.sequence < block.sequence {
                (bounds.0.max(minute_of(other.end.at)), bounds.1)
            } else {
                (bounds.0, bounds.1.min(minute_of(other.start.at)))
            }
        })
    }

    fn is_own_block(&self, block: &ScheduledBlock) -> bool {
        self.schedule.blocks.iter().any(|own| own.id == block.id)
    }

    fn nodes_span(&self, calendar: &WorkCalendar, ids: &[TaskId]) -> Option<WorkSpan> {
        let blocks =
            || self.schedule.blocks.iter().filter(|block| ids.contains(&block.plan_node_id));
        let start = blocks().map(|block| block.start.at).min()?;
        let finish = blocks().map(|block| block.end.at).max()?;
        Some(calendar.work_span(start, finish))
    }

    fn fits_caps(&self, calendar: &WorkCalendar, block: &ScheduledBlock, to: i64) -> bool {
        let date = calendar.local_date(instant_of(to));
        let own: Vec<_> = if self.is_own_block(block) {
            self.schedule.blocks.iter().collect()
        } else {
            self.others.iter().map(|other| &other.block).collect()
        };
        let sum = |same: &dyn Fn(Date) -> bool| -> u32 {
            let others = own.iter().filter(|other| other.id != block.id);
            others
                .filter(|other| same(calendar.local_date(other.start.at)))
                .map(|other| block_minutes(other))
                .sum()
        };
        let day = sum(&|other| other == date) + block_minutes(block);
        let week = sum(&|other| IsoWeek::from_date(other) == IsoWeek::from_date(date))
            + block_minutes(block);
        let weekly = self.context.constraints.weekly_minutes.filter(|_| self.is_own_block(block));
        let same_day = calendar.local_date(block.start.at) == date;
        // A move within its day or week adds nothing there, even if the cap is already exceeded.
        (same_day || day <= self.context.constraints.max_daily_minutes)
            && (IsoWeek::from_date(calendar.local_date(block.start.at)) == IsoWeek::from_date(date)
                || weekly.is_none_or(|weekly| week <= weekly))
    }
}

fn earliest_start(
    calendar: &WorkCalendar,
    link: &NodeDependency,
    from: WorkSpan,
    minutes: u32,
) -> i64 {
    let bound = calendar.link_bound(link.kind, link.lag_minutes, link.lag_basis, from);
    let working = bound.earliest_start(u64::from(minutes));
    calendar.start_minute(working).unwrap_or(i64::MAX)
}

/// Returns the latest end of a block that a link to a successor allows.
fn latest_end(calendar: &WorkCalendar, link: &NodeDependency, to: WorkSpan, minutes: u32) -> i64 {
    let at = match link.kind {
        LinkKind::FS | LinkKind::SS => to.start,
        LinkKind::FF | LinkKind::SF => to.finish,
    };
    let limit = at.saturating_add_signed(-i64::from(link.lag_minutes));
    let minutes = match link.kind {
        LinkKind::SS | LinkKind::SF => u64::from(minutes),
        LinkKind::FS | LinkKind::FF => 0,
    };
    let working = match link.lag_basis {
        LagBasis::Working => limit,
        LagBasis::Elapsed => {
            let minute = calendar.start_minute(at).unwrap_or(i64::MAX);
            calendar.minutes_before(minute.saturating_sub(i64::from(link.lag_minutes)))
        }
    };
    calendar.finish_minute(working + minutes).unwrap_or(i64::MAX)
}
