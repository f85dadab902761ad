//! What home shows, made from sessions as the engine folds them: plans of the built-in planner and recorded runs.

use std::sync::Arc;

use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};

use super::fixture::{Fixture, facts, now};
use super::journals::recorded_request;
use crate::{HomeView, OpenSession, SessionListItem};
use planwright_drafting::goal_plan::{GoalRequest, plan_goal};
use planwright_drafting::offline::TemplateLibrary;
use planwright_model::event::{Event, PlanEvent, PlanningEvent, Record, SessionEvent, TaskEvent};
use planwright_model::{Actor, MicroDollars, PlanLimits, PolicyOverride, SessionId};
use planwright_plan::roadmap_to_plan::plan_from_roadmap;
use planwright_state::{SessionState, SessionStatus};

/// An approved plan of the built-in planner, made on a day.
pub(crate) fn person_plan(goal: &str, made: Date) -> SessionState {
    let at = made.at(8, 0, 0, 0).in_tz("UTC").unwrap().timestamp();
    let request = GoalRequest {
        goal,
        today: made,
        time_zone: "UTC",
        now: at,
        library: &TemplateLibrary::fixture(),
        events: &[],
    };
    let made = plan_goal(&request).unwrap().artifacts;
    let (roadmap, schedule) = (made.roadmap.clone().unwrap(), made.schedule.clone().unwrap());
    let plan = plan_from_roadmap(made.context(), &roadmap, Some(&schedule));
    let (hash, facts) = (plan.digest().unwrap(), facts(&plan));
    let mut title = goal.to_owned();
    title[..1].make_ascii_uppercase();
    let events: Vec<Event> = vec![
        SessionEvent::Created {
            format: 1,
            program: "planwright 0.3.0".into(),
            title,
            goal: Some(goal.into()),
            workspace: "/home/ada".into(),
            plan_file: None,
        }
        .into(),
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
    let mut state = SessionState::default();
    for event in events {
        state.apply(&Record::new(state.seq.next(), at, event));
    }
    state
}

/// Finishes the first tasks of a plan, each on the day it was planned for.
pub(crate) fn with_done(mut state: SessionState, count: usize) -> SessionState {
    let blocks = state.planning.schedule.as_ref().unwrap().blocks.clone();
    for task in 0..count {
        let id = state.tasks.id(task).clone();
        let block =
            blocks.iter().filter(|block| block.plan_node_id == id).max_by_key(|block| block.end.at);
        let at = block.map_or_else(now, |block| block.end.at);
        for event in [
            TaskEvent::HandedOver { task: id.clone() },
            TaskEvent::Completed {
                task: id.clone(),
                attempt: 0,
                elapsed_ms: 1,
                by: Some(Actor::Person),
                note: None,
            },
        ] {
            state.apply(&Record::new(state.seq.next(), at, event));
        }
    }
    assert_eq!(state.totals.anomalies, 0);
    state
}

pub(crate) fn note(mut state: SessionState, task: &str, text: &str, at: Timestamp) -> SessionState {
    let event = TaskEvent::Noted { task: task.into(), text: text.into(), by: Actor::Person };
    state.apply(&Record::new(state.seq.next(), at, event));
    state
}

/// The newsletter: a week old, one task done, the rest late, due and to come.
pub(crate) fn newsletter() -> SessionState {
    with_done(person_plan("launch a newsletter in 6 weeks", date(2026, 6, 1)), 1)
}

/// Everything of a full day: late tasks, a plan in time, a draft that asks, a run with a failure, one that asks.
pub(crate) fn full_sessions() -> Vec<(&'static str, SessionState)> {
    let rust = person_plan("learn Rust, 5 hours a week", date(2026, 6, 7));
    vec![
        ("aaaaaa000000", newsletter()),
        ("bbbbbb000000", rust),
        ("cccccc000000", recorded_request("drafts", 5).state()),
        ("dddddd000000", Fixture::recorded_run("14:22:24").state()),
        ("eeeeee000000", recorded_request("command", 2).state()),
        ("ffffff000000", Fixture::release().kept().state()),
    ]
}

fn list_item(id: &str, title: &str, status: SessionStatus, minutes: i64) -> SessionListItem {
    SessionListItem {
        id: SessionId::new(id),
        title: title.into(),
        status,
        done: 3,
        total: 11,
        cost: MicroDollars::from_dollars(0.62),
        updated_at: now().checked_sub(SignedDuration::from_mins(minutes)).unwrap(),
        pattern: "milestone".into(),
        fork_of: None,
    }
}

/// The row of a session as the store has it.
pub(crate) fn item_of(id: &str, state: &SessionState) -> SessionListItem {
    let counts = state.tasks.status_counts();
    SessionListItem {
        done: counts.done,
        total: counts.total(),
        updated_at: state.at.unwrap_or_else(now),
        ..list_item(id, &state.session.title, state.status(), 0)
    }
}

/// Sessions that are over: they stand in the list and nothing else is known of them.
pub(crate) fn finished_items() -> Vec<SessionListItem> {
    vec![
        list_item("0a0000000000", "Compare three queue libraries", SessionStatus::Done, 3_000),
        list_item("0b0000000000", "Migrate CI to the new runners", SessionStatus::Failed, 45_000),
        list_item(
            "0c0000000000",
            "\u{1b}[31m東京オフィスの引っ越し and a title that is far too long to fit here",
            SessionStatus::Abandoned,
            60_000,
        ),
    ]
}

pub(crate) fn view_of(sessions: Vec<(&str, SessionState)>) -> HomeView {
    let items = sessions.iter().map(|(id, state)| item_of(id, state)).collect();
    let open = sessions
        .into_iter()
        .map(|(id, state)| OpenSession {
            id: SessionId::new(id),
            state: Arc::new(state),
            failures: std::collections::BTreeMap::new(),
        })
        .collect();
    HomeView {
        items,
        open,
        goals: vec!["learn Rust, 5 hours a week".into(), "launch a newsletter in 6 weeks".into()],
        provider: "built-in planner · free, works offline".into(),
        ..HomeView::default()
    }
}

/// The home screen of a full day.
pub(crate) fn full_view() -> HomeView {
    let mut view = view_of(full_sessions());
    view.items.extend(finished_items());
    view.provider = "Sonnet 4.5".into();
    view.spent = Some((MicroDollars::from_dollars(1.31), MicroDollars::from_dollars(5.0)));
    view
}

/// The home screen of somebody who was never here.
pub(crate) fn first_view() -> HomeView {
    HomeView {
        provider: "built-in planner · free, works offline".into(),
        provider_help: vec![
            "The built-in planner drafts. It needs no account and sends nothing anywhere.".into(),
            "Found: Claude Code, Codex, Ollama. None is used until you turn it on.".into(),
        ],
        plan_file: Some("plan.toml".into()),
        ..HomeView::default()
    }
}
