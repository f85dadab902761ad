//! What a plan and the person's other plans take of the same time, and one way out: blocks that move one after the other.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{ConflictKind, PortfolioConflict, PortfolioProbe, ShiftSuggestion, SuggestedShift};
use crate::OtherBlock;
use crate::calendar::CalendarError;
use planwright_model::{
    FixedEvent, OffsetDateTime, OverlapReport, OverlapShift, PlanContext, PlanOverlap, Roadmap,
    Schedule, ScheduledBlock, SessionId,
};

/// The most blocks that are moved in one go.
const MOST_SHIFTS: usize = 64;
/// How long after its end a plan without a deadline still looks for free time, in minutes: four weeks.
const TIME_AFTER: i64 = 28 * 24 * 60;

/// A plan and what it is compared with.
#[derive(Clone, Copy, Debug)]
pub struct OverlapRequest<'a> {
    pub schedule: &'a Schedule,
    pub context: &'a PlanContext,
    pub roadmap: Option<&'a Roadmap>,
    pub others: &'a [OtherBlock],
    /// Blocks of other plans that move in the place of this plan's.
    pub freed: &'a BTreeSet<String>,
    pub events: &'a [FixedEvent],
    pub now: Timestamp,
}

impl OverlapRequest<'_> {
    /// Finds what overlaps, which blocks could move where, and how full the weeks are that plans share.
    pub fn find_overlaps(&self) -> Result<OverlapReport, CalendarError> {
        let mut schedule = self.own_schedule();
        let mut others: Vec<OtherBlock> =
            self.others.iter().map(|one| self.weighted(one)).collect();
        let first = self.probe(&schedule, &others).build_report()?;
        let overlaps = first.conflicts.iter().filter_map(|one| self.overlap(&schedule, one));
        let overlaps: Vec<PlanOverlap> = overlaps.collect();
        let shared = |week: &planwright_model::WeekCapacity| {
            week.other_minutes > 0 && week.planned_minutes > 0
        };
        let weeks = first.utilization.iter().filter(|week| shared(week)).cloned().collect();
        let mut shifts: Vec<OverlapShift> = Vec::new();
        let mut report = first;
        // Each move may take the time that another block would have gone to: they are found one after the other.
        while shifts.len() < MOST_SHIFTS {
            let next = report.shifts.iter().find_map(|shift| match shift {
                ShiftSuggestion::Suggested(shift) if self.is_other_plan(shift) => Some(shift),
                _ => None,
            });
            let Some(next) = next.cloned() else { break };
            let Some(shift) = move_one(&mut schedule, &mut others, &next) else { break };
            shifts.push(shift);
            report = self.probe(&schedule, &others).build_report()?;
        }
        let left = report.conflicts.iter().filter_map(|one| self.overlap(&schedule, one));
        let mut stuck: Vec<String> = Vec::new();
        for overlap in left {
            if !stuck.contains(&overlap.title) {
                stuck.push(overlap.title);
            }
        }
        Ok(OverlapReport { overlaps, shifts, stuck, weeks })
    }

    /// What is still to be done of this plan, without what somebody else does.
    fn own_schedule(&self) -> Schedule {
        let mut schedule = self.schedule.clone();
        let is_own = |block: &ScheduledBlock| {
            let node = self.roadmap.and_then(|roadmap| roadmap.find_node(&block.plan_node_id));
            node.is_none_or(|node| node.other_owner().is_none())
        };
        schedule.blocks.retain(|block| block.end.at > self.now && is_own(block));
        let now = OffsetDateTime { at: self.now, ..schedule.horizon_start };
        schedule.horizon_start = schedule.horizon_start.max(now);
        if self.context.constraints.deadline.is_none() {
            schedule.horizon_end = schedule.horizon_end.plus_minutes(TIME_AFTER);
        }
        schedule
    }

    /// Blocks of this plan move, unless those of the other plan were freed.
    fn weighted(&self, other: &OtherBlock) -> OtherBlock {
        let freed = self.freed.contains(&other.block.id);
        OtherBlock { priority_weight: if freed { -1.0 } else { 1.0 }, ..other.clone() }
    }

    fn probe<'s>(&'s self, schedule: &'s Schedule, others: &'s [OtherBlock]) -> PortfolioProbe<'s> {
        PortfolioProbe {
            schedule,
            context: self.context,
            roadmap: self.roadmap,
            priority_weight: 0.0,
            others,
            events: self.events,
        }
    }

    /// Whether a move resolves an overlap with another plan, and not only one with an appointment.
    fn is_other_plan(&self, shift: &SuggestedShift) -> bool {
        let of_others = |id: &String| self.others.iter().any(|other| other.block.id == *id);
        of_others(&shift.block_id) || shift.resolves.iter().any(of_others)
    }

    fn overlap(&self, schedule: &Schedule, conflict: &PortfolioConflict) -> Option<PlanOverlap> {
        if conflict.kind == ConflictKind::Overload {
            return None;
        }
        let own = conflict.block_id.as_deref()?;
        let own = schedule.blocks.iter().find(|block| block.id == own)?;
        let other = self.others.iter().find(|other| other.block.id == conflict.with)?;
        let (session, block) = other.block.id.split_once('/')?;
        Some(PlanOverlap {
            block: own.id.clone(),
            title: own.title.clone(),
            other_session: SessionId::new(session),
            other_plan: other.plan.clone(),
            other_block: block.to_owned(),
            other_title: other.block.title.clone(),
            start: conflict.start,
            end: conflict.end,
            minutes: conflict.severity_minutes,
        })
    }
}

/// Moves a block in the copies that the next move is found in.
fn move_one(
    schedule: &mut Schedule,
    others: &mut [OtherBlock],
    shift: &SuggestedShift,
) -> Option<OverlapShift> {
    let own = schedule.blocks.iter_mut().find(|block| block.id == shift.block_id);
    if let Some(block) = own {
        let made = moved_block(block, shift.to, None, String::new());
        schedule.sort_blocks();
        return Some(made);
    }
    let other = others.iter_mut().find(|other| other.block.id == shift.block_id)?;
    let session = other.block.id.split_once('/')?.0.to_owned();
    let plan = other.plan.clone();
    Some(moved_block(&mut other.block, shift.to, Some(SessionId::new(session)), plan))
}

fn moved_block(
    block: &mut ScheduledBlock,
    to: OffsetDateTime,
    session: Option<SessionId>,
    plan: String,
) -> OverlapShift {
    let (from, minutes) = (block.start, block.start.minutes_until(block.end));
    let own_id = match &session {
        Some(_) => block.id.split_once('/').map_or(block.id.as_str(), |(_, id)| id),
        None => &block.id,
    };
    let made = OverlapShift {
        session,
        plan,
        block: own_id.to_owned(),
        title: block.title.clone(),
        from,
        to,
    };
    (block.start, block.end) = (to, to.plus_minutes(minutes));
    made
}
