//! Approving a plan, and when its work begins: as planned, today, later, or at one of its tasks.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::overlaps::move_freed_blocks;
use super::{DecisionBuilder, advance_draft};
use crate::controller::{DecisionResult, run_started_event, skip_decision};
use planwright_drafting::change_requests::{ContextChange, apply_context_change};
use planwright_drafting::controller::ControllerOutcome;
use planwright_model::catch_up::OpenWork;
use planwright_model::event::{CommandRefusal, Event, PlanEvent, PlanningEvent, TaskEvent};
use planwright_model::{
    Actor, AdaptationAction, AdaptationLogEntry, Answer, ChoiceAction, Digest, NodeOrigin,
    NodeStatus, PlanDrafter, TaskId,
};
use planwright_schedule::{OpenWorkRequest, replan_open_work};
use planwright_state::SessionState;

/// The final approval, by the hash that was shown, and what begins with it.
pub(super) fn approve_plan(
    mut draft: DecisionBuilder<'_>,
    hash: &Digest,
    answer: &Answer,
    by: Actor,
    jobs: u32,
) -> DecisionResult {
    let first = match answer.action {
        ChoiceAction::ApproveFromTask => Some(named_task(draft.state(), answer)?),
        _ => None,
    };
    // A flag approves what respects everything that was said; anything else is for the person to decide.
    if by == Actor::Flag
        && let Some(broken) = draft.planning().broken_facts().next()
    {
        let (rule, message) = (broken.rule.clone(), broken.message.clone());
        return Err(CommandRefusal::BreaksRule { rule, message });
    }
    draft.record(PlanEvent::Approved { hash: hash.clone(), by });
    move_freed_blocks(&mut draft, by);
    advance_draft(&mut draft, ControllerOutcome::Approved, None);
    if answer.action == ChoiceAction::ApproveFromToday {
        start_today(&mut draft)?;
    }
    if answer.action != ChoiceAction::ApproveAndStop {
        let begun = run_started_event(draft.state(), jobs)?;
        draft.record(begun);
    }
    for event in done_before(draft.state(), by) {
        draft.record(event);
    }
    if let Some(first) = first {
        let skipped = skipped_before(draft.state(), first);
        for event in skipped {
            draft.record(event);
        }
        replan_from_now(&mut draft, "the plan starts at a later task")?;
    }
    Ok(draft.into_decision())
}

/// Work that the draft marked as done counts as done from the start.
fn done_before(state: &SessionState, by: Actor) -> Vec<Event> {
    let roadmap = state.planning.roadmap.as_deref();
    let nodes = roadmap.map(|roadmap| roadmap.nodes.as_slice()).unwrap_or_default();
    let is_open = |id: &TaskId| {
        let task = state.tasks.position(id)?;
        let row = state.tasks.row(task);
        (!row.status.is_settled()).then_some(row.attempt)
    };
    nodes
        .iter()
        .filter(|node| node.status == NodeStatus::Done)
        .filter_map(|node| {
            let attempt = is_open(&node.id)?;
            let event = TaskEvent::Completed {
                task: node.id.clone(),
                attempt,
                elapsed_ms: 0,
                by: Some(by),
                note: Some("done before the plan started".to_owned()),
            };
            Some(event.into())
        })
        .collect()
}

/// What starting a plan of a file at a task leads to, after its approval: what comes before it is skipped.
pub(in super::super) fn start_at_task(
    state: &SessionState,
    answer: &Answer,
) -> Result<Vec<Event>, CommandRefusal> {
    let first = named_task(state, answer)?;
    Ok(skipped_before(state, first))
}

fn named_task(state: &SessionState, answer: &Answer) -> Result<usize, CommandRefusal> {
    let by_words = answer.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let named = answer.nodes.first().cloned().or_else(|| find_by_words(state, by_words?));
    let Some(id) = named else {
        let what = "name the task to start at".to_owned();
        return Err(CommandRefusal::OutOfRange { what });
    };
    state.tasks.position(&id).ok_or(CommandRefusal::UnknownTask { task: id })
}

/// The task with this id or title.
fn find_by_words(state: &SessionState, words: &str) -> Option<TaskId> {
    let plan = state.plan.current.as_ref()?;
    let tasks = &plan.plan.tasks;
    let exact = tasks.iter().find(|task| task.id.as_str() == words);
    let titled = || tasks.iter().find(|task| task.description.eq_ignore_ascii_case(words));
    exact.or_else(titled).map(|task| task.id.clone())
}

/// Skips everything that a task waits for, directly or not.
fn skipped_before(state: &SessionState, first: usize) -> Vec<Event> {
    let mut before: BTreeSet<usize> = BTreeSet::new();
    let mut open = vec![first];
    while let Some(task) = open.pop() {
        for dependency in state.tasks.dependencies(task) {
            if before.insert(dependency) {
                open.push(dependency);
            }
        }
    }
    before
        .into_iter()
        .filter(|task| !state.tasks.row(*task).status.is_settled())
        .flat_map(|task| skip_decision(state, task, false).events)
        .collect()
}

/// Lets the schedule begin today instead of on the planned day.
fn start_today(draft: &mut DecisionBuilder<'_>) -> Result<(), CommandRefusal> {
    let Some(context) = draft.planning().context.as_deref() else { return Ok(()) };
    let zone = jiff::tz::TimeZone::get(&context.calendar.tz).unwrap_or(jiff::tz::TimeZone::UTC);
    let today = draft.now.to_zoned(zone).date();
    let mut context = context.clone();
    apply_context_change(&mut context, &ContextChange::Start(today));
    draft.record(PlanningEvent::ContextSet { context: Arc::new(context) });
    replan_from_now(draft, "the plan starts today")
}

/// Plans what is open again from now on. The plan stays as it was approved; only its times change.
fn replan_from_now(draft: &mut DecisionBuilder<'_>, reason: &str) -> Result<(), CommandRefusal> {
    let now: Timestamp = draft.now;
    let talk = draft.planning();
    let (Some(context), Some(roadmap), Some(schedule)) =
        (talk.context.clone(), talk.roadmap.clone(), talk.schedule.clone())
    else {
        return Ok(());
    };
    let zone = jiff::tz::TimeZone::get(&schedule.tz).unwrap_or(jiff::tz::TimeZone::UTC);
    let OpenWork { settled_tasks, settled_times, .. } = draft.state().open_work(now, &zone);
    let work = OpenWork { settled_tasks, settled_times, late: BTreeSet::new() };
    let request = OpenWorkRequest {
        roadmap: &roadmap,
        context: &context,
        schedule: &schedule,
        work: &work,
        events: &[],
        others: &[],
        now,
        seed: 0,
    };
    let made = replan_open_work(&request, &|block| block.locked)
        .map_err(|error| CommandRefusal::OutOfRange { what: error.to_string() })?;
    let version = draft.planning().outline.as_deref().map_or(1, |outline| outline.version);
    let entry = AdaptationLogEntry {
        id: format!("a{}", draft.planning().adaptation_log.len() + 1),
        timestamp: now,
        node_ids: Vec::new(),
        action: AdaptationAction::Reschedule,
        reason: reason.to_owned(),
        origin: NodeOrigin::UserFeedback,
        strategy_applied: None,
        portfolio_impact: None,
        from_version: version,
        to_version: version,
    };
    draft.record(PlanningEvent::Adapted { entry });
    let schedule = Arc::new(made);
    draft.record(PlanningEvent::ScheduleDrafted { schedule, by: PlanDrafter::Person });
    Ok(())
}
