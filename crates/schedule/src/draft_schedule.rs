//! The schedule of a draft: what the planner puts on the card, and what a screen shows before a change is saved. Both call
//! this, so that the dates of a preview are those of the card.

use jiff::Timestamp;

use super::{
    OpenWorkRequest, OtherBlock, ScheduleError, ScheduleRequest, next_start, replan_open_work,
    schedule_roadmap,
};
use planwright_model::catch_up::{OpenWork, TaskOccurrence};
use planwright_model::{FixedEvent, PlanContext, Roadmap, Schedule, ScheduledBlock, TaskId};

/// A draft that is to be scheduled.
#[derive(Clone, Copy, Debug)]
pub struct DraftScheduleRequest<'a> {
    pub roadmap: &'a Roadmap,
    pub context: &'a PlanContext,
    /// The schedule that the draft had before.
    pub before: Option<&'a Schedule>,
    /// The schedule that the person saw before this draft: what has nothing to do with a change stays where it was. It is
    /// the same for every change of a draft, so that one that is put back and taken again has the same dates.
    pub shown: Option<&'a Schedule>,
    /// What is done and stays where it is. Its late work is not looked at.
    pub settled: &'a OpenWork,
    pub events: &'a [FixedEvent],
    pub others: &'a [OtherBlock],
    /// The goal, from which the search starts.
    pub goal: &'a str,
    pub now: Timestamp,
}

/// Schedules what is not done. Nothing is placed before `now`, what is done keeps its time, and a block that the person
/// put somewhere stays there unless that time has passed.
pub fn schedule_draft(request: &DraftScheduleRequest<'_>) -> Result<Schedule, ScheduleError> {
    let &DraftScheduleRequest { roadmap, context, before, settled, now, .. } = request;
    let placed = |block: &&ScheduledBlock| block.locked && block.start.at >= now;
    let locked: Vec<ScheduledBlock> =
        before.iter().flat_map(|before| &before.blocks).filter(placed).cloned().collect();
    let wanted = ScheduleRequest {
        events: request.events,
        others: request.others,
        locked: &locked,
        before: request.shown.map(|shown| shown.blocks.as_slice()).unwrap_or_default(),
        not_before: Some(next_start(now)),
        ..ScheduleRequest::new(roadmap, context)
    };
    // Every version of a plan is searched from the same seed: tasks that could swap places stay where they are when a
    // title is changed.
    let wanted = wanted.with_plan_seed(request.goal, 1);
    let none_settled = settled.settled_tasks.is_empty() && settled.settled_times.is_empty();
    let Some(before) = before.filter(|_| !none_settled) else {
        return schedule_roadmap(&wanted);
    };
    let repeats =
        |id: &TaskId| roadmap.nodes.iter().any(|node| node.id == *id && node.recurrence.is_some());
    let over = |block: &&ScheduledBlock| {
        block.end.at <= now
            && !settled.settled_tasks.contains(&block.plan_node_id)
            && !repeats(&block.plan_node_id)
    };
    let late = before.blocks.iter().filter(over);
    let work = OpenWork {
        late: late
            .map(|block| TaskOccurrence::new(block.plan_node_id.clone(), block.occurrence))
            .collect(),
        ..settled.clone()
    };
    let request = OpenWorkRequest {
        roadmap,
        context,
        schedule: before,
        work: &work,
        events: request.events,
        others: request.others,
        now,
        seed: wanted.seed,
    };
    replan_open_work(&request, &|block| block.locked)
}
