//! Catching up with a plan that is late. The plan stays as it was approved; only its times change, and what the person
//! leaves out is skipped.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::DecisionBuilder;
use crate::controller::task_settlement::{TaskSettlement, settle_task};
use crate::controller::{CommandDecision, DecisionResult};
use planwright_model::catch_up::{CatchUpWay, TaskOccurrence};
use planwright_model::event::{CommandRefusal, PlanningEvent, TaskEvent};
use planwright_model::{
    Actor, AdaptationAction, AdaptationLogEntry, FixedEvent, NodeOrigin, PlanDrafter, TaskId,
};
use planwright_schedule::{CatchUpFate, CatchUpPreview, CatchUpRequest, preview_catch_up};
use planwright_state::{CatchUpUndo, RunPhase, SessionState};

fn refuse(what: impl Into<String>) -> CommandRefusal {
    CommandRefusal::OutOfRange { what: what.into() }
}

/// Plans late tasks again.
pub(in super::super) fn catch_up(
    state: &SessionState,
    way: CatchUpWay,
    (left_out, busy): (&[TaskOccurrence], &[FixedEvent]),
    by: Actor,
    jobs: u32,
    now: Timestamp,
) -> DecisionResult {
    let preview = preview_state(state, way, (left_out, busy), now)?;
    if preview.rows.is_empty() {
        return Err(refuse("everything is planned as well as it can be; nothing would move"));
    }
    if let Some(row) = preview.unplaced().next() {
        return Err(refuse(format!(
            "\"{}\" has no free time before the plan ends; push everything back, or skip it",
            row.title
        )));
    }
    let skipped: Vec<TaskOccurrence> = preview
        .skipped()
        .map(|row| TaskOccurrence::new(row.task.clone(), row.occurrence))
        .collect();
    let mut draft = DecisionBuilder::new(state, now);
    record_frozen_work(&mut draft);
    draft.record(PlanningEvent::CaughtUp { way, skipped: skipped.clone(), by });
    draft.record(PlanningEvent::Adapted { entry: log_entry(state, &preview, now) });
    if preview.days_late > 0 && !state.planning.accepted_late {
        draft.record(PlanningEvent::AcceptedLate { by });
    }
    let schedule = Arc::new(preview.schedule);
    draft.record(PlanningEvent::ScheduleDrafted { schedule, by: PlanDrafter::Person });
    for late in skipped {
        let what = TaskSettlement { occurrence: late.occurrence, done: false, by };
        let decided = settle_task(draft.state(), &late.task, what, None, jobs, now)?;
        for event in decided.events {
            draft.record(event);
        }
        draft.effects.extend(decided.effects);
    }
    Ok(draft.into_decision())
}

/// What a way of catching up would lead to now.
fn preview_state(
    state: &SessionState,
    way: CatchUpWay,
    (left_out, busy): (&[TaskOccurrence], &[FixedEvent]),
    now: Timestamp,
) -> Result<CatchUpPreview, CommandRefusal> {
    let talk = &state.planning;
    let (Some(context), Some(roadmap), Some(schedule)) =
        (talk.context.as_deref(), talk.roadmap.as_deref(), talk.schedule.as_deref())
    else {
        return Err(refuse("this plan has no schedule; its tasks have no time to move"));
    };
    if !state.is_runnable() {
        return Err(CommandRefusal::NotApproved);
    }
    if matches!(state.run.phase, RunPhase::Finished { .. }) {
        return Err(refuse("the plan is done; nothing is late"));
    }
    let zone = TimeZone::get(&schedule.tz).unwrap_or(TimeZone::UTC);
    let work = state.open_work(now, &zone);
    let left_out: BTreeSet<TaskOccurrence> = left_out.iter().cloned().collect();
    if way != CatchUpWay::Replan && work.late.iter().all(|late| left_out.contains(late)) {
        return Err(refuse("no task is late"));
    }
    let request =
        CatchUpRequest { roadmap, context, schedule, work: &work, left_out: &left_out, busy, now };
    preview_catch_up(&request, way).map_err(refuse)
}

fn log_entry(state: &SessionState, preview: &CatchUpPreview, now: Timestamp) -> AdaptationLogEntry {
    let talk = &state.planning;
    let version = talk.outline.as_deref().map_or(1, |outline| outline.version);
    let nodes: BTreeSet<TaskId> = preview.rows.iter().map(|row| row.task.clone()).collect();
    let moved = preview.rows.iter().filter(|row| matches!(row.fate, CatchUpFate::Moved { .. }));
    let reason = match (moved.count(), preview.skipped().count()) {
        (moved, 0) => format!("caught up: {moved} moved"),
        (0, skipped) => format!("caught up: {skipped} skipped"),
        (moved, skipped) => format!("caught up: {moved} moved, {skipped} skipped"),
    };
    AdaptationLogEntry {
        id: format!("a{}", talk.adaptation_log.len() + 1),
        timestamp: now,
        node_ids: nodes.into_iter().collect(),
        action: AdaptationAction::Reschedule,
        reason,
        origin: NodeOrigin::UserFeedback,
        strategy_applied: Some(format!("catch_up {}", preview.way.name())),
        portfolio_impact: None,
        from_version: version,
        to_version: version,
    }
}

/// Keeps with the conversation what is done, so that later drafts leave it alone.
pub(super) fn record_frozen_work(draft: &mut DecisionBuilder<'_>) {
    let work = draft.state().open_work(draft.now, &TimeZone::UTC);
    if work.settled_tasks.is_empty() && work.settled_times.is_empty() {
        return;
    }
    draft.record(PlanningEvent::WorkFrozen {
        tasks: work.settled_tasks.into_iter().collect(),
        times: work.settled_times.into_iter().collect(),
    });
}

/// Goes back to the schedule from before a catch-up, and opens again what it skipped.
pub(super) fn undo_catch_up(
    state: &SessionState,
    undo: &CatchUpUndo,
    now: Timestamp,
) -> CommandDecision {
    let mut draft = DecisionBuilder::new(state, now);
    draft.record(PlanningEvent::CatchUpUndone {});
    if let Some(schedule) = undo.schedule.clone() {
        draft.record(PlanningEvent::ScheduleDrafted { schedule, by: PlanDrafter::Person });
    }
    for late in &undo.skipped {
        let (task, occurrence) = (late.task.clone(), late.occurrence);
        draft.record(TaskEvent::Reopened { task, occurrence, by: Actor::Person });
    }
    CommandDecision { events: draft.events, effects: draft.effects }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::decide_command;
    use crate::controller::task_settlement::tests::{approved, settle_command, tell};
    use jiff::SignedDuration;
    use planwright_model::event::{ApprovalEvent, Command, Event};
    use planwright_model::{LinkKind, ScheduledBlock};
    use planwright_state::TaskStatus;
    use std::collections::BTreeMap;

    const UTC: TimeZone = TimeZone::UTC;

    /// A plan of a person with one task done, one moved by hand, and a week in which nothing happened.
    fn late_plan() -> (SessionState, Timestamp) {
        let (mut state, start) = approved("launch a newsletter in 6 weeks");
        let first = state.due_tasks(start, &UTC)[0].clone();
        let decision = decide_command(&state, &settle_command(&first, true), 3, start);
        tell(&mut state, decision.events, start);
        let blocks = &state.planning.schedule.as_ref().unwrap().blocks;
        let second = blocks.iter().find(|block| block.plan_node_id != first.task).unwrap();
        let to = start + SignedDuration::from_hours(25);
        let command = Command::MoveBlock { block: second.id.clone(), to };
        let decision = decide_command(&state, &command, 3, start);
        tell(&mut state, decision.events, start);
        (state, start + SignedDuration::from_hours(8 * 24 + 1))
    }

    fn apply(state: &mut SessionState, command: &Command, now: Timestamp) {
        let decision = decide_command(state, command, 3, now);
        let refused = decision.events.iter().find_map(|event| match event {
            Event::Approval(ApprovalEvent::Refused { why, .. }) => Some(why.to_string()),
            _ => None,
        });
        assert_eq!(refused, None, "{command:?}");
        tell(state, decision.events, now);
        assert_eq!(state.totals.anomalies, 0, "{command:?}");
    }

    fn catch_up_command(way: CatchUpWay) -> Command {
        let (left_out, busy) = (Vec::new(), Vec::new());
        Command::CatchUp { way, left_out, busy, by: Actor::Person }
    }

    fn open_blocks(state: &SessionState) -> Vec<ScheduledBlock> {
        let schedule = state.planning.schedule.as_ref().unwrap();
        let open = |block: &&ScheduledBlock| {
            !state.tasks.get(&block.plan_node_id).unwrap().status.is_settled()
        };
        schedule.blocks.iter().filter(open).cloned().collect()
    }

    fn assert_links_hold(state: &SessionState) {
        let roadmap = state.planning.roadmap.as_ref().unwrap();
        let blocks = open_blocks(state);
        for link in roadmap.dependencies.iter().filter(|link| link.kind == LinkKind::FS) {
            let tree = planwright_model::NodeTree::new(&roadmap.nodes);
            let own = |id: &TaskId| -> Vec<&ScheduledBlock> {
                let leaves = tree.leaves(id);
                let is_own = |block: &&ScheduledBlock| {
                    block.plan_node_id == *id
                        || leaves.iter().any(|leaf| leaf.id == block.plan_node_id)
                };
                blocks.iter().filter(is_own).collect()
            };
            let ends = own(&link.from).iter().map(|block| block.end).max();
            let starts = own(&link.to).iter().map(|block| block.start).min();
            if let (Some(end), Some(start)) = (ends, starts) {
                assert!(start >= end, "{link:?}: {start:?} before {end:?}");
            }
        }
    }

    #[test]
    fn late_work_moves_from_now_on_and_done_work_is_never_booked_again() {
        for way in [CatchUpWay::MoveLate, CatchUpWay::PushBack, CatchUpWay::Replan] {
            let (mut state, now) = late_plan();
            let done: Vec<TaskId> = state
                .tasks
                .iter()
                .filter(|(_, row)| row.status == TaskStatus::Done)
                .map(|(id, _)| id.clone())
                .collect();
            assert_eq!(done.len(), 1);
            assert!(!state.open_work(now, &UTC).late.is_empty());
            apply(&mut state, &catch_up_command(way), now);
            assert_eq!(state.open_work(now, &UTC).late, BTreeSet::new(), "{way:?}");
            let schedule = state.planning.schedule.clone().unwrap();
            let booked_again =
                |block: &&ScheduledBlock| done.contains(&block.plan_node_id) && block.end.at > now;
            assert_eq!(schedule.blocks.iter().find(booked_again), None, "{way:?}");
            assert_eq!(schedule.unplaced, [], "{way:?}");
            assert_links_hold(&state);
        }
    }

    fn weekly_minutes(blocks: &[ScheduledBlock]) -> BTreeMap<jiff::civil::Date, u32> {
        let mut weeks = BTreeMap::new();
        for block in blocks {
            let week = planwright_schedule::calendar::monday_of(block.start.local_date());
            *weeks.entry(week).or_default() += block.estimated_minutes;
        }
        weeks
    }

    #[test]
    fn moving_late_work_never_takes_more_hours_of_a_week_than_were_given() {
        let (mut state, now) = late_plan();
        let given = state.planning.context.as_ref().unwrap().constraints.weekly_minutes.unwrap();
        apply(&mut state, &catch_up_command(CatchUpWay::MoveLate), now);
        for (week, minutes) in weekly_minutes(&open_blocks(&state)) {
            assert!(minutes <= given, "{week}: {minutes} of {given}");
        }
    }

    #[test]
    fn pushing_back_moves_every_open_block_by_the_same_number_of_days() {
        let (mut state, now) = late_plan();
        let roadmap = state.planning.roadmap.clone().unwrap();
        let late = state.open_work(now, &UTC).late;
        // What has a fixed date keeps it, and so do repetitions and the first sessions of what is still going on.
        let can_move = |block: &ScheduledBlock| {
            let open =
                block.end.at > now || late.iter().any(|late| late.task == block.plan_node_id);
            let node = roadmap.nodes.iter().find(|node| node.id == block.plan_node_id).unwrap();
            let free = node.fixed_start.is_none() && node.fixed_end.is_none();
            open && free && node.recurrence.is_none()
        };
        let before: Vec<ScheduledBlock> =
            open_blocks(&state).into_iter().filter(can_move).collect();
        assert!(before.len() > 5, "{before:?}");
        let shown = preview_state(&state, CatchUpWay::PushBack, (&[], &[]), now).unwrap();
        apply(&mut state, &catch_up_command(CatchUpWay::PushBack), now);
        let after = open_blocks(&state);
        let days = |id: &str| {
            let day = |blocks: &[ScheduledBlock]| {
                blocks.iter().find(|block| block.id == id).unwrap().start.local_date()
            };
            day(&before).until(day(&after)).unwrap().get_days()
        };
        let shifts: BTreeSet<i32> = before.iter().map(|block| days(&block.id)).collect();
        let expected = i32::try_from(shown.shift_days.unwrap()).unwrap();
        assert_eq!(shifts, BTreeSet::from([expected]));
    }

    #[test]
    fn what_was_done_early_leaves_room_that_planning_again_uses() {
        let (mut state, now) = late_plan();
        apply(&mut state, &catch_up_command(CatchUpWay::MoveLate), now);
        let what = TaskSettlement { occurrence: None, done: true, by: Actor::Person };
        let blocks = open_blocks(&state);
        let can_be_done = |block: &ScheduledBlock| {
            settle_task(&state, &block.plan_node_id, what, None, 3, now).ok()
        };
        let decided = blocks.iter().find_map(can_be_done).unwrap();
        tell(&mut state, decided.events, now);
        let before = open_blocks(&state).iter().map(|block| block.end).max();
        apply(&mut state, &catch_up_command(CatchUpWay::Replan), now);
        let after = open_blocks(&state).iter().map(|block| block.end).max();
        assert!(after < before, "{after:?} {before:?}");
        assert_links_hold(&state);
    }

    #[test]
    fn skipping_leaves_the_rest_where_it_is_and_can_be_undone() {
        let (mut state, now) = late_plan();
        let before = state.planning.schedule.clone();
        let late = state.open_work(now, &UTC).late;
        apply(&mut state, &catch_up_command(CatchUpWay::SkipLate), now);
        for late in &late {
            let status = state.tasks.get(&late.task).unwrap().status;
            assert!(matches!(status, TaskStatus::Skipped(_)), "{}: {status:?}", late.task);
        }
        assert_eq!(state.planning.schedule, before);
        apply(&mut state, &Command::Undo, now);
        assert_eq!(state.open_work(now, &UTC).late, late);
    }

    #[test]
    fn moving_is_undone_as_well_and_nothing_late_is_refused() {
        let (mut state, now) = late_plan();
        let before = state.planning.schedule.clone();
        apply(&mut state, &catch_up_command(CatchUpWay::MoveLate), now);
        assert_ne!(state.planning.schedule, before);
        let again = decide_command(&state, &catch_up_command(CatchUpWay::MoveLate), 3, now);
        assert!(format!("{again:?}").contains("no task is late"), "{again:?}");
        apply(&mut state, &Command::Undo, now);
        assert_eq!(state.planning.schedule, before);
    }

    #[test]
    fn moves_by_hand_are_undone_one_after_the_other_with_all_that_moved_along() {
        let (mut state, now) = late_plan();
        apply(&mut state, &catch_up_command(CatchUpWay::MoveLate), now);
        let mut schedules = vec![state.planning.schedule.clone()];
        for days in [3, 9] {
            let block = open_blocks(&state).into_iter().find(|block| block.start.at > now).unwrap();
            let to = block.start.at + SignedDuration::from_hours(24 * days);
            apply(&mut state, &Command::MoveBlock { block: block.id, to }, now);
            schedules.push(state.planning.schedule.clone());
        }
        schedules.pop();
        for before in schedules.into_iter().rev() {
            assert_ne!(state.planning.schedule, before);
            apply(&mut state, &Command::Undo, now);
            assert_eq!(state.planning.schedule, before);
        }
    }

    #[test]
    fn every_way_can_be_seen_before_it_is_applied() {
        let (state, now) = late_plan();
        let late = state.open_work(now, &UTC).late.len();
        for way in CatchUpWay::ALL {
            let shown = preview_state(&state, way, (&[], &[]), now).unwrap();
            assert_eq!(shown.rows.iter().filter(|row| row.late).count(), late, "{way:?}");
            assert!(shown.next.is_some(), "{way:?}");
            assert!(shown.busiest_week_minutes > 0 && shown.end.is_some(), "{way:?}");
        }
    }
}
