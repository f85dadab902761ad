//! What the person says about tasks of their own: done or left out, as a whole or one occurrence after the other.
//!
//! Nothing is started by it, so that a list of what is due today can be worked through without a run going on.

use jiff::Timestamp;

use super::{
    CommandDecision, DecisionResult, find_task, run_started_event, skip_decision, task_reset_event,
    task_state_refusal,
};
use planwright_model::event::{CommandRefusal, TaskEvent};
use planwright_model::{Actor, TaskId};
use planwright_state::{RunPhase, SessionState, TaskStatus};

/// What is said about a task.
#[derive(Clone, Copy, Debug)]
pub(in crate::controller) struct TaskSettlement {
    pub(in crate::controller) occurrence: Option<u32>,
    pub(in crate::controller) done: bool,
    pub(in crate::controller) by: Actor,
}

/// Says that a task is done; of one that repeats, the next occurrence.
pub(super) fn complete_task(
    state: &SessionState,
    id: &TaskId,
    note: Option<&String>,
    by: Actor,
    jobs: u32,
    now: Timestamp,
) -> DecisionResult {
    settle_task(state, id, TaskSettlement { occurrence: None, done: true, by }, note, jobs, now)
}

pub(in crate::controller) fn settle_task(
    state: &SessionState,
    id: &TaskId,
    what: TaskSettlement,
    note: Option<&String>,
    jobs: u32,
    now: Timestamp,
) -> DecisionResult {
    let task = find_task(state, id)?;
    let open = state.open_occurrences(id);
    let occurrence = match what.occurrence {
        Some(named) if open.contains(&named) => Some(named),
        Some(named) => {
            let what = format!("time {named} of {id} is settled, or there is none");
            return Err(CommandRefusal::OutOfRange { what });
        }
        None => open.first().copied(),
    };
    let mut decision = match (what.done, state.tasks.row(task).status) {
        (true, _) => require_handed_over(state, task, occurrence)?,
        (false, TaskStatus::Pending | TaskStatus::Failed | TaskStatus::Yours) => {
            CommandDecision::default()
        }
        (false, _) => return Err(task_state_refusal(state, task)),
    };
    let whole = match occurrence {
        Some(occurrence) => {
            decision = decision.with_event(TaskEvent::OccurrenceSettled {
                task: id.clone(),
                occurrence,
                done: what.done,
                by: what.by,
                note: note.cloned(),
            });
            // The task as a whole is done after its last occurrence, whichever way that went.
            (open.len() == 1).then_some(true)
        }
        None => Some(what.done),
    };
    match whole {
        None => return Ok(decision),
        Some(true) => {
            let row = state.tasks.row(task);
            decision = decision.with_event(TaskEvent::Completed {
                task: id.clone(),
                attempt: row.attempt,
                elapsed_ms: row.elapsed_ms(now).unwrap_or(0),
                by: Some(what.by),
                note: note.cloned(),
            });
        }
        Some(false) => decision.events.extend(skip_decision(state, task, false).events),
    }
    // A run that nobody attends to ends with its last task all the same.
    let others = (0..state.tasks.len()).filter(|other| *other != task);
    let last = others.into_iter().all(|other| state.tasks.row(other).status.is_settled());
    if last && matches!(state.run.phase, RunPhase::Idle | RunPhase::Interrupted) {
        decision = decision.with_event(run_started_event(state, jobs)?);
    }
    Ok(decision)
}

/// Opens what was marked done or skipped again. What has started because of it cannot be undone with it.
pub(super) fn reopen_task(
    state: &SessionState,
    id: &TaskId,
    occurrence: Option<u32>,
    by: Actor,
    jobs: u32,
) -> DecisionResult {
    let task = find_task(state, id)?;
    let row = state.tasks.row(task);
    let settled = match occurrence {
        Some(time) => row.occurrences.contains_key(&time),
        None => row.status.is_met() && row.occurrences.is_empty(),
    };
    let refuse =
        |state_words: String| CommandRefusal::TaskState { task: id.clone(), state: state_words };
    if !state.tasks.is_human(task) {
        return Err(refuse("not yours to open again".to_owned()));
    }
    if !settled {
        return Err(task_state_refusal(state, task));
    }
    let started = |other: &usize| {
        let row = state.tasks.row(*other);
        matches!(row.status, TaskStatus::Running | TaskStatus::Done | TaskStatus::Failed)
    };
    if row.status.is_met()
        && let Some(other) = state.tasks.dependents(task).find(started)
    {
        let title = state.task_title(other);
        return Err(refuse(format!("done, and \"{title}\", which needs it, has started")));
    }
    let event = TaskEvent::Reopened { task: id.clone(), occurrence, by };
    let mut decision = CommandDecision::from_event(event);
    if row.status.is_met() {
        // What the person could begin because of it waits for it again.
        let why = format!("\"{}\" is open again", state.task_title(task));
        let waits = |other: &usize| state.tasks.row(*other).status == TaskStatus::Yours;
        let waiting = state.tasks.dependents(task).filter(waits);
        decision.events.extend(waiting.map(|other| task_reset_event(state.tasks.id(other), &why)));
    }
    Ok(match state.run.phase {
        RunPhase::Finished { .. } => decision.with_event(run_started_event(state, jobs)?),
        _ => decision,
    })
}

/// Keeps a note with a task.
pub(super) fn note_task(
    state: &SessionState,
    id: &TaskId,
    text: &str,
    by: Actor,
) -> DecisionResult {
    find_task(state, id)?;
    if text.trim().is_empty() {
        return Err(CommandRefusal::OutOfRange { what: "the note is empty".to_owned() });
    }
    let text = text.trim().to_owned();
    Ok(CommandDecision::from_event(TaskEvent::Noted { task: id.clone(), text, by }))
}

/// Makes sure that the task is the person's to do now: it may be done before anybody handed it over.
fn require_handed_over(
    state: &SessionState,
    task: usize,
    occurrence: Option<u32>,
) -> DecisionResult {
    let row = state.tasks.row(task);
    match row.status {
        TaskStatus::Yours => Ok(CommandDecision::default()),
        TaskStatus::Pending if !state.tasks.is_human(task) => Err(CommandRefusal::TaskState {
            task: state.tasks.id(task).clone(),
            state: "not yours to do".to_owned(),
        }),
        TaskStatus::Pending if !state.is_runnable() => Err(CommandRefusal::NotApproved),
        TaskStatus::Pending if !state.unmet_dependencies(task, occurrence).is_empty() => {
            let unmet = state.unmet_dependencies(task, occurrence);
            let title = |on: &usize| format!("\"{}\"", state.title_by_id(state.tasks.id(*on)));
            let titles: Vec<String> = unmet.iter().map(title).collect();
            let state_words = format!("waiting for {}", titles.join(", "));
            Err(CommandRefusal::TaskState {
                task: state.tasks.id(task).clone(),
                state: state_words,
            })
        }
        TaskStatus::Pending => Ok(CommandDecision::from_event(TaskEvent::HandedOver {
            task: state.tasks.id(task).clone(),
        })),
        _ => Err(task_state_refusal(state, task)),
    }
}

#[cfg(test)]
pub(in crate::controller) mod tests {
    use std::sync::Arc;

    use jiff::tz::TimeZone;

    use super::*;
    use crate::controller::decide_command;
    use planwright_drafting::goal_plan::{GoalRequest, plan_goal};
    use planwright_drafting::offline::TemplateLibrary;
    use planwright_model::event::{Command, Event, PlanEvent, PlanningEvent, Record};
    use planwright_model::{
        GraphFacts, OffsetDateTime, Plan, PlanLimits, PolicyOverride, RunKind, Schedule,
        ScheduledBlock, TaskLink, TaskNode,
    };
    use planwright_plan::export::{self, CalendarEdition, PlanExport};
    use planwright_plan::roadmap_to_plan::plan_from_roadmap;
    use planwright_state::{AttentionCause, AttentionItem};

    pub(in crate::controller) fn tell(
        state: &mut SessionState,
        events: impl IntoIterator<Item = Event>,
        at: Timestamp,
    ) {
        for event in events {
            state.apply(&Record::new(state.seq.next(), at, event));
        }
    }

    /// An approved plan of the built-in planner, and the start of its first block.
    pub(in crate::controller) fn approved(goal: &str) -> (SessionState, Timestamp) {
        let request = GoalRequest {
            goal,
            today: jiff::civil::date(2026, 6, 8),
            time_zone: "UTC",
            now: Timestamp::UNIX_EPOCH,
            library: &TemplateLibrary::fixture(),
            events: &[],
        };
        let made = plan_goal(&request).unwrap().artifacts;
        let (roadmap, schedule) = (made.roadmap.clone().unwrap(), made.schedule.clone().unwrap());
        let plan = plan_from_roadmap(made.context(), &roadmap, Some(&schedule));
        let hash = plan.digest().unwrap();
        let start = schedule.blocks[0].start.at;
        let facts = GraphFacts { depth: vec![0; plan.tasks.len()], ..GraphFacts::default() };
        let mut state = SessionState::default();
        let events: Vec<Event> = vec![
            PlanningEvent::Began {
                goal: goal.into(),
                thread_id: "t".into(),
                policy: PolicyOverride::default(),
                limits: PlanLimits::default(),
                drafter: "offline".into(),
            }
            .into(),
            PlanningEvent::OutlineDrafted {
                outline: Arc::new(made.outline.clone()),
                by: "offline".into(),
                self_score: None,
            }
            .into(),
            PlanningEvent::RoadmapDrafted {
                roadmap: Arc::new(roadmap),
                by: "offline".into(),
                self_score: None,
            }
            .into(),
            PlanningEvent::ScheduleDrafted { schedule: Arc::new(schedule), by: "offline".into() }
                .into(),
            PlanEvent::Proposed {
                revision: 1,
                hash: hash.clone(),
                plan: Arc::new(plan),
                facts: Arc::new(facts),
                normalization: Vec::new(),
            }
            .into(),
            PlanEvent::Approved { hash, by: Actor::Person }.into(),
        ];
        tell(&mut state, events, Timestamp::UNIX_EPOCH);
        (state, start)
    }

    pub(in crate::controller) fn settle_command(
        due: &planwright_state::DueTask,
        done: bool,
    ) -> Command {
        Command::MarkTask {
            task: due.task.clone(),
            occurrence: due.occurrence,
            done,
            note: None,
            by: Actor::Person,
        }
    }

    #[test]
    fn what_is_due_is_settled_without_a_run_and_is_gone_from_the_list() {
        let (mut state, start) = approved("launch a newsletter in 6 weeks");
        let due = state.due_tasks(start, &TimeZone::UTC);
        let first = due.first().expect("the first day has work").clone();
        assert!(first.yours && first.ready && !first.late, "{first:?}");
        let tomorrow = start + jiff::SignedDuration::from_hours(24);
        assert!(state.due_tasks(tomorrow, &TimeZone::UTC).iter().any(|due| due.late), "left over");
        let next =
            state.next_due_task(start, &TimeZone::UTC).expect("there is work after the first day");
        let earliest = state.planning.schedule.iter().flat_map(|schedule| &schedule.blocks);
        let day = |at: jiff::Timestamp| at.to_zoned(TimeZone::UTC).date();
        let later = earliest.map(|block| block.start.at).filter(|at| day(*at) > day(start));
        assert_eq!(Some(next.start), later.min());
        let decision = decide_command(&state, &settle_command(&first, true), 3, start);
        assert!(decision.effects.is_empty());
        let started = |event: &Event| matches!(event, Event::Run(_));
        assert!(!decision.events.iter().any(started), "nothing is started: {decision:?}");
        tell(&mut state, decision.events, start);
        assert_eq!(state.tasks.get(&first.task).unwrap().status, TaskStatus::Done);
        assert_eq!(state.tasks.status_counts().done, 1);
        assert_eq!(state.totals.anomalies, 0);
        let again = decide_command(&state, &settle_command(&first, true), 3, start);
        assert!(matches!(&again.events[0], Event::Approval(_)), "refused: {again:?}");
    }

    #[test]
    fn what_waits_for_something_else_says_for_what() {
        let (state, start) = approved("launch a newsletter in 6 weeks");
        let waiting = (0..state.tasks.len()).find(|task| !state.tasks.is_ready(*task)).unwrap();
        let task = state.tasks.id(waiting).clone();
        let command = Command::CompleteTask { task, note: None, by: Actor::Person };
        let decision = decide_command(&state, &command, 3, start);
        let text = format!("{decision:?}");
        assert!(text.contains("waiting for "), "{text}");
    }

    /// Two steps, the second after the first, both twice: this week and the next.
    fn routine() -> (SessionState, Timestamp) {
        let start: OffsetDateTime = "2026-06-08T09:00:00Z".parse().unwrap();
        let mut schedule = Schedule::new("UTC", start, start.plus_minutes(15 * 24 * 60));
        for (step, minute) in [("collect", 0), ("review", 60)] {
            for week in 0..2u32 {
                let from = start.plus_minutes(minute + i64::from(week) * 7 * 24 * 60);
                let mut block = ScheduledBlock::new(step, step, from, from.plus_minutes(30), "UTC");
                block.id = format!("{step}@{}#1", week + 1);
                block.occurrence = Some(week + 1);
                schedule.blocks.push(block);
            }
        }
        let mut tasks: Vec<TaskNode> =
            ["collect", "review"].map(|step| TaskNode::new(step, step)).into();
        for task in &mut tasks {
            task.run = RunKind::Human {};
        }
        tasks[1].dependencies = vec![TaskLink::finish_to_start("collect")];
        let plan = Plan { title: "Review".into(), tasks, ..Plan::default() };
        let hash = plan.digest().unwrap();
        let facts = GraphFacts { depth: vec![0, 1], ..GraphFacts::default() };
        let mut state = SessionState::default();
        let events: Vec<Event> = vec![
            PlanningEvent::ScheduleDrafted { schedule: Arc::new(schedule), by: "you".into() }
                .into(),
            PlanEvent::Proposed {
                revision: 1,
                hash: hash.clone(),
                plan: Arc::new(plan),
                facts: Arc::new(facts),
                normalization: Vec::new(),
            }
            .into(),
            PlanEvent::Approved { hash, by: Actor::Person }.into(),
        ];
        tell(&mut state, events, start.at);
        (state, start.at)
    }

    fn say(state: &mut SessionState, task: &str, time: u32, done: bool, at: Timestamp) -> String {
        let command = Command::MarkTask {
            task: task.into(),
            occurrence: Some(time),
            done,
            note: None,
            by: Actor::Person,
        };
        let decision = decide_command(state, &command, 3, at);
        let text = format!("{:?}", decision.events);
        tell(state, decision.events, at);
        text
    }

    #[test]
    fn a_repeating_task_is_done_time_by_time_and_as_a_whole_after_the_last() {
        let (mut state, start) = routine();
        assert_eq!(state.due_tasks(start, &TimeZone::UTC).len(), 2);
        say(&mut state, "collect", 1, true, start);
        let collect = |state: &SessionState| state.tasks.get(&"collect".into()).unwrap().status;
        assert_eq!(collect(&state), TaskStatus::Yours);
        let due = state.due_tasks(start, &TimeZone::UTC);
        assert_eq!((due[0].status, due[1].ready), (TaskStatus::Done, true));
        say(&mut state, "collect", 2, false, start);
        assert_eq!(collect(&state), TaskStatus::Done);
        assert!(say(&mut state, "collect", 2, true, start).contains("Refused"));
        assert_eq!(state.totals.anomalies, 0);
    }

    #[test]
    fn a_step_of_a_routine_waits_for_the_step_before_it_of_the_same_time_only() {
        let (mut state, start) = routine();
        assert!(say(&mut state, "review", 1, true, start).contains("waiting for "));
        say(&mut state, "collect", 1, true, start);
        let done = say(&mut state, "review", 1, true, start);
        assert!(done.contains("OccurrenceSettled"), "{done}");
        assert!(say(&mut state, "review", 3, true, start).contains("there is none"));
    }

    #[test]
    fn what_was_marked_done_is_open_again_with_its_notes() {
        let (mut state, start) = approved("launch a newsletter in 6 weeks");
        let first = state.due_tasks(start, &TimeZone::UTC)[0].clone();
        let before = state.tasks.status_counts();
        let note = |text: &str| Command::NoteTask {
            task: first.task.clone(),
            text: text.into(),
            by: Actor::Person,
        };
        let reopen = Command::ReopenTask {
            task: first.task.clone(),
            occurrence: first.occurrence,
            by: Actor::Person,
        };
        let refused = decide_command(&state, &reopen, 3, start);
        assert!(matches!(&refused.events[0], Event::Approval(_)), "it is open: {refused:?}");
        for command in [note("half of it"), settle_command(&first, true), reopen] {
            let decision = decide_command(&state, &command, 3, start);
            tell(&mut state, decision.events, start);
        }
        let row = state.tasks.get(&first.task).unwrap();
        assert_eq!((row.status, row.finished_at), (TaskStatus::Yours, None));
        assert_eq!(row.notes.iter().map(|note| &*note.text).collect::<Vec<_>>(), ["half of it"]);
        assert_eq!(state.tasks.status_counts().done, before.done);
        assert_eq!(state.totals.anomalies, 0);
        let empty = decide_command(&state, &note("  "), 3, start);
        assert!(format!("{empty:?}").contains("the note is empty"));
    }

    #[test]
    fn what_waits_for_a_task_waits_again_when_it_is_opened() {
        let (mut state, start) = approved("launch a newsletter in 6 weeks");
        let first = state.due_tasks(start, &TimeZone::UTC)[0].clone();
        let decision = decide_command(&state, &settle_command(&first, true), 3, start);
        tell(&mut state, decision.events, start);
        let task = state.tasks.position(&first.task).unwrap();
        let next = state.tasks.dependents(task).find(|other| state.tasks.is_ready(*other));
        let next = state.tasks.id(next.unwrap()).clone();
        tell(&mut state, vec![TaskEvent::HandedOver { task: next.clone() }.into()], start);
        assert_eq!(state.tasks.get(&next).unwrap().status, TaskStatus::Yours);
        let reopen = Command::ReopenTask {
            task: first.task.clone(),
            occurrence: first.occurrence,
            by: Actor::Person,
        };
        let decision = decide_command(&state, &reopen, 3, start);
        tell(&mut state, decision.events, start);
        assert_eq!(state.tasks.get(&next).unwrap().status, TaskStatus::Pending);
        assert_eq!(state.totals.anomalies, 0);
    }

    #[test]
    fn one_time_of_a_repeating_task_is_opened_again_alone() {
        let (mut state, start) = routine();
        say(&mut state, "collect", 1, true, start);
        say(&mut state, "collect", 2, true, start);
        assert_eq!(state.tasks.get(&"collect".into()).unwrap().status, TaskStatus::Done);
        let command =
            Command::ReopenTask { task: "collect".into(), occurrence: Some(2), by: Actor::Person };
        let decision = decide_command(&state, &command, 3, start);
        tell(&mut state, decision.events, start);
        let row = state.tasks.get(&"collect".into()).unwrap();
        assert_eq!(row.occurrences.keys().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(row.status, TaskStatus::Yours);
        assert_eq!(state.totals.anomalies, 0);
    }

    #[test]
    fn late_tasks_of_a_plan_are_one_entry_of_what_needs_the_person() {
        let (state, start) = routine();
        assert_eq!(state.attention_items(start, &TimeZone::UTC), []);
        let later = start + jiff::SignedDuration::from_hours(3 * 24);
        let items = state.attention_items(later, &TimeZone::UTC);
        let [AttentionItem { cause: AttentionCause::Late(late), since }] = items.as_slice() else {
            panic!("{items:?}")
        };
        assert_eq!((late.len(), *since), (2, start));
    }

    #[test]
    fn a_moved_block_moves_in_the_schedule_and_in_the_calendar_and_needs_no_new_approval() {
        let (mut state, start) = approved("launch a newsletter in 6 weeks");
        let block = state.planning.schedule.as_ref().unwrap().blocks[0].clone();
        let to = start + jiff::SignedDuration::from_hours(24);
        let command = Command::MoveBlock { block: block.id.clone(), to };
        let decision = decide_command(&state, &command, 3, start);
        tell(&mut state, decision.events, start);
        let schedule = state.planning.schedule.clone().unwrap();
        let moved = schedule.blocks.iter().find(|found| found.id == block.id).unwrap();
        assert_eq!(moved.start.at, to);
        assert!(state.is_runnable());
        let (context, roadmap) =
            (state.planning.context.clone().unwrap(), state.planning.roadmap.clone().unwrap());
        let plan = PlanExport {
            context: &context,
            roadmap: &roadmap,
            schedule: Some(&schedule),
            run: None,
        };
        let edition = CalendarEdition { plan_id: "s", stamp: start, revision: 1 };
        let calendar = export::render_ical(&plan, &edition, &[]).unwrap();
        let stamp = to.strftime("%Y%m%dT%H%M%S").to_string();
        assert!(calendar.contains(&stamp), "{stamp} is not in the calendar");
        let due = state.due_tasks(start, &TimeZone::UTC);
        assert!(due.iter().all(|due| due.block.as_deref() != Some(block.id.as_str())));
    }
}
