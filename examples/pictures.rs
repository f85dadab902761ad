//! Draws the pictures of the README from the real screens: `cargo run --example pictures`.
//!
//! The run is the one that comes with the program, the plan is made by the built-in planner, and the clock is
//! fixed, so that the same program draws the same pictures. A directory may be named instead of `assets`.

use std::path::PathBuf;
use std::sync::Arc;

use planwright_drafting::goal_plan::{GoalRequest, plan_goal};
use planwright_drafting::offline::TemplateLibrary;
use planwright_model::event::{Event, PlanEvent, PlanningEvent, Record, SessionEvent, TaskEvent};
use planwright_model::{Actor, MicroDollars, Seq, SessionId};
use planwright_plan::graph::resolve_graph;
use planwright_plan::roadmap_to_plan::plan_from_roadmap;
use planwright_state::SessionState;
use planwright_state::replay::{History, MemorySource};
use planwright_store::exchange::demo_run;
use planwright_tui::{
    ColorDepth, HomePreview, HomeView, KeyOverrides, OpenSession, SessionListItem, SessionPreview,
    SessionView, Theme, UiSettings, frame_picture,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets"), PathBuf::from);
    std::fs::create_dir_all(&dir)?;
    for (name, picture) in pictures()? {
        std::fs::write(dir.join(name), picture)?;
    }
    Ok(())
}

/// All pictures by their file name.
fn pictures() -> Result<Vec<(&'static str, String)>, Box<dyn std::error::Error>> {
    let (_, records) = demo_run::load_demo_run()?;
    let failed = records
        .iter()
        .find(|record| record.event.kind() == "task.failed")
        .map_or(Seq(1), |record| record.seq);
    let counts =
        |seq: Seq| SessionState::from_records(&records[..seq.0 as usize]).tasks.status_counts();
    let busy = records
        .iter()
        .map(|record| record.seq)
        .find(|seq| counts(*seq).running > 1 && counts(*seq).failed > 0)
        .unwrap_or(failed);
    Ok(vec![
        ("home.svg", home(&first_start(), 80, 24)?),
        ("today.svg", home(&everyday()?, 120, 30)?),
        ("run.svg", run(busy, &[], 120, 34)?),
        ("failure.svg", run(failed, &[], 120, 34)?),
    ])
}

fn settings() -> UiSettings {
    UiSettings {
        theme: Theme::default(),
        keys: KeyOverrides::default(),
        ascii: false,
        reduced_motion: false,
        opened_from_home: false,
        color: ColorDepth::True,
        now: || "2026-06-08T14:24:00Z".parse().unwrap_or_default(),
        time_zone: jiff::tz::TimeZone::UTC,
        session_budget: MicroDollars::from_dollars(2.0),
        changes: None,
        store: None,
    }
}

fn run(
    at: Seq,
    keys: &[&str],
    width: u16,
    height: u16,
) -> Result<String, Box<dyn std::error::Error>> {
    let (id, records) = demo_run::load_demo_run()?;
    let head = records.last().map_or(Seq::START, |record| record.seq);
    let history = History::new(MemorySource::new(records));
    let view = SessionView {
        start_at: Some(at),
        ..SessionView::new(id, history, tokio::sync::watch::channel(head).1)
    };
    let mut screen = SessionPreview::open(view, &settings())?;
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(&mut buf)?;
    for key in keys {
        screen.press_key(key)?;
    }
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(&mut buf)?;
    Ok(frame_picture(&buf))
}

fn home(view: &HomeView, width: u16, height: u16) -> Result<String, Box<dyn std::error::Error>> {
    let mut screen = HomePreview::open(Arc::new(view.clone()), &settings())?;
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(&mut buf)?;
    Ok(frame_picture(&buf))
}

/// What a new user sees.
fn first_start() -> HomeView {
    HomeView {
        provider: "built-in planner · free, works offline".to_owned(),
        provider_help: planwright::OFFLINE_HELP.map(str::to_owned).to_vec(),
        ..HomeView::default()
    }
}

/// An approved plan of the built-in planner, made on a day of June 2026, with its first tasks done.
fn approved_plan(
    goal: &str,
    day: i8,
    done: usize,
) -> Result<SessionState, Box<dyn std::error::Error>> {
    let today = jiff::civil::date(2026, 6, day);
    let at = today.at(8, 0, 0, 0).in_tz("UTC")?.timestamp();
    let library = TemplateLibrary::built_in();
    let request =
        GoalRequest { goal, today, time_zone: "UTC", now: at, library: &library, events: &[] };
    let made = plan_goal(&request)?.artifacts;
    let roadmap = made.roadmap.clone().ok_or("the plan has a roadmap")?;
    let schedule = made.schedule.clone().ok_or("the plan has a schedule")?;
    let plan = plan_from_roadmap(made.context(), &roadmap, Some(&schedule));
    let facts = resolve_graph(&plan.tasks, |_| true)?.to_facts(&plan.tasks);
    let hash = plan.digest()?;
    let mut title = goal.to_owned();
    title[..1].make_ascii_uppercase();
    let by = planwright_model::PlanDrafter::from("offline");
    let mut events: Vec<Event> = vec![
        SessionEvent::Created {
            format: 1,
            program: "planwright".to_owned(),
            title,
            goal: Some(goal.to_owned()),
            workspace: "/home/ada".into(),
            plan_file: None,
        }
        .into(),
        PlanningEvent::OutlineDrafted {
            outline: Arc::new(made.outline.clone()),
            by: by.clone(),
            self_score: None,
        }
        .into(),
        PlanningEvent::ScheduleDrafted { schedule: Arc::new(schedule), by }.into(),
    ];
    let tasks: Vec<_> = plan.tasks.iter().take(done).map(|task| task.id.clone()).collect();
    events.push(
        PlanEvent::Proposed {
            revision: 1,
            hash: hash.clone(),
            plan: Arc::new(plan),
            facts: Arc::new(facts),
            normalization: Vec::new(),
        }
        .into(),
    );
    events.push(PlanEvent::Approved { hash, by: Actor::Person }.into());
    for task in tasks {
        events.push(TaskEvent::HandedOver { task: task.clone() }.into());
        let by = Some(Actor::Person);
        events
            .push(TaskEvent::Completed { task, attempt: 0, elapsed_ms: 1, by, note: None }.into());
    }
    let mut state = SessionState::default();
    for event in events {
        state.apply(&Record::new(state.seq.next(), at, event));
    }
    Ok(state)
}

/// The home screen of a daily user.
fn everyday() -> Result<HomeView, Box<dyn std::error::Error>> {
    let (_, records) = demo_run::load_demo_run()?;
    let done = SessionState::from_records(&records);
    let open = vec![
        ("91b0aa000002", approved_plan("launch a newsletter in 6 weeks", 1, 3)?),
        ("4c1d9e000001", approved_plan("learn Rust, 5 hours a week", 7, 0)?),
    ];
    let item = |id: &str, state: &SessionState| {
        let counts = state.tasks.status_counts();
        SessionListItem {
            id: SessionId::new(id),
            title: state.session.title.clone(),
            status: state.status(),
            done: counts.done,
            total: counts.total(),
            cost: state.totals.cost,
            updated_at: state.at.unwrap_or_default(),
            pattern: String::new(),
            fork_of: None,
        }
    };
    let mut items: Vec<SessionListItem> = open.iter().map(|(id, state)| item(id, state)).collect();
    let updated_at = (settings().now)() - jiff::SignedDuration::from_hours(49);
    items.push(SessionListItem { updated_at, ..item("7f3a9c000003", &done) });
    let open = open
        .into_iter()
        .map(|(id, state)| OpenSession {
            id: SessionId::new(id),
            state: Arc::new(state),
            failures: std::collections::BTreeMap::new(),
        })
        .collect();
    let provider = "built-in planner · free, works offline".to_owned();
    Ok(HomeView { items, open, provider, ..HomeView::default() })
}
