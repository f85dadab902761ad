//! Moving a block of the schedule by hand. The plan stays as it was approved; only its times change.

use std::sync::Arc;

use jiff::Timestamp;

use super::DecisionBuilder;
use crate::controller::{CommandDecision, DecisionResult};
use planwright_model::event::{CommandRefusal, PlanningEvent};
use planwright_model::{
    AdaptationAction, AdaptationLogEntry, LinkKind, NodeOrigin, OffsetDateTime, PlanDrafter,
    ScheduledBlock, TaskId,
};
use planwright_schedule::{self as schedule, BlockMoveRequest};
use planwright_state::{MOVED_BY_HAND, SessionState};

pub(in super::super) fn move_block(
    state: &SessionState,
    block: &str,
    to: Timestamp,
    now: Timestamp,
) -> DecisionResult {
    let refuse = |what: String| CommandRefusal::OutOfRange { what };
    let talk = &state.planning;
    let (Some(context), Some(roadmap), Some(schedule)) =
        (talk.context.as_deref(), talk.roadmap.as_deref(), talk.schedule.as_deref())
    else {
        return Err(refuse("this plan has no schedule; its tasks have no time to move".to_owned()));
    };
    let settled = |block: &ScheduledBlock| {
        let row = state.tasks.get(&block.plan_node_id);
        row.is_none_or(|row| {
            row.status.is_settled()
                || block.occurrence.is_some_and(|time| row.occurrences.contains_key(&time))
        })
    };
    let waits_for = |task: &TaskId| -> Vec<TaskId> {
        let position = state.tasks.position(task);
        let after = position.map(|task| state.tasks.descendants(task)).unwrap_or_default();
        after.into_iter().map(|task| state.tasks.id(task).clone()).collect()
    };
    let starts_after = |task: &TaskId| -> Vec<TaskId> {
        let plan = state.plan.current.as_ref().map(|current| &current.plan);
        let node = state.tasks.position(task).and_then(|task| plan?.tasks.get(task));
        let links = node.into_iter().flat_map(|node| &node.dependencies);
        links.filter(|link| link.kind == LinkKind::FS).map(|link| link.task.clone()).collect()
    };
    let request = BlockMoveRequest {
        schedule,
        roadmap,
        context,
        block,
        to,
        now,
        settled: &settled,
        waits_for: &waits_for,
        starts_after: &starts_after,
    };
    let moved = schedule::move_block(&request).map_err(refuse)?;
    let zone = planwright_schedule::calendar::find_zone(&schedule.tz)
        .map_err(|error| refuse(error.to_string()))?;
    let today = now.to_zoned(zone.clone()).date();
    let local = |at: OffsetDateTime| {
        let at = at.at.to_zoned(zone.clone()).datetime();
        planwright_text::dates::format_date_time(at, today)
    };
    let mut reason = format!(
        "\"{}\" moved from {} to {}",
        moved.before.title,
        local(moved.before.start),
        local(OffsetDateTime::in_zone(to, &zone)),
    );
    if moved.displaced > 0 {
        reason = format!("{reason}; {} more moved along", moved.displaced);
    }
    let version = talk.outline.as_deref().map_or(1, |outline| outline.version);
    let mut draft = DecisionBuilder::new(state, now);
    draft.record(PlanningEvent::Adapted {
        entry: AdaptationLogEntry {
            id: format!("a{}", talk.adaptation_log.len() + 1),
            timestamp: now,
            node_ids: vec![moved.before.plan_node_id.clone()],
            action: AdaptationAction::Reschedule,
            reason,
            origin: NodeOrigin::UserFeedback,
            strategy_applied: Some(MOVED_BY_HAND.to_owned()),
            portfolio_impact: None,
            from_version: version,
            to_version: version,
        },
    });
    draft.record(PlanningEvent::ScheduleDrafted {
        schedule: Arc::new(moved.schedule),
        by: PlanDrafter::Person,
    });
    Ok(CommandDecision { events: draft.events, effects: Vec::new() })
}
