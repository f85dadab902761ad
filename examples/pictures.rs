//! Draws the pictures of the README from the real screens: `cargo run --example pictures`.
//!
//! The run is the one that comes with the program, the plan is made by the built-in planner, and the clock is
//! fixed, so that the same program draws the same pictures. A directory may be named instead of `assets`.

#[path = "pictures/svg.rs"]
mod svg;

use std::path::PathBuf;
use std::sync::Arc;

use planwright_model::{MicroDollars, Seq, SessionId};
use planwright_state::replay::{History, MemorySource};
use planwright_state::{DueTask, SessionState, SessionStatus, TaskStatus};
use planwright_store::exchange::demo_run;
use planwright_tui::{
    ColorDepth, HomePreview, HomeView, KeyOverrides, SessionListItem, SessionPreview, SessionView,
    Theme, TodayItem, UiSettings, WeekLoad,
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
        ("today.svg", home(&everyday(), 120, 30)?),
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
        color: ColorDepth::True,
        now: || "2026-06-08T14:24:00Z".parse().unwrap_or_default(),
        time_zone: jiff::tz::TimeZone::UTC,
        session_budget: MicroDollars::from_dollars(2.0),
        changes: None,
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
    let view = SessionView {
        id,
        history: History::new(MemorySource::new(records)),
        head: tokio::sync::watch::channel(head).1,
        commands: None,
        start_at: Some(at),
        bookmarks: Vec::new(),
        actions: None,
        asks_fork: false,
        note: None,
    };
    let mut screen = SessionPreview::open(view, &settings())?;
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(&mut buf)?;
    for key in keys {
        screen.press_key(key)?;
    }
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(&mut buf)?;
    Ok(svg::picture(&buf))
}

fn home(view: &HomeView, width: u16, height: u16) -> Result<String, Box<dyn std::error::Error>> {
    let mut screen = HomePreview::open(Arc::new(view.clone()), &settings())?;
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(&mut buf)?;
    Ok(svg::picture(&buf))
}

/// What a new user sees.
fn first_start() -> HomeView {
    HomeView {
        provider: "offline planner, no model in use".to_owned(),
        provider_help: planwright::OFFLINE_HELP.map(str::to_owned).to_vec(),
        ..HomeView::default()
    }
}

/// The home screen of a daily user.
fn everyday() -> HomeView {
    let item =
        |id: &str, title: &str, status, done, total, minutes: i64, pattern: &str| SessionListItem {
            id: SessionId::new(id),
            title: title.to_owned(),
            status,
            done,
            total,
            cost: MicroDollars::from_dollars(0.0),
            updated_at: (settings().now)() - jiff::SignedDuration::from_mins(minutes),
            pattern: pattern.to_owned(),
            detail: (status == SessionStatus::NeedsYou)
                .then(|| "Approve the outline?, waits 2 h".to_owned()),
            facts: vec!["r1 a41f9c2".to_owned(), format!("{} {done}/{total}", status.label())],
            bytes: Some(48_000),
            fork_of: None,
        };
    let due = |session: &str, plan: &str, title: &str, start: &str, minutes, status| TodayItem {
        session: SessionId::new(session),
        plan: plan.to_owned(),
        due: DueTask {
            task: "t".into(),
            title: title.to_owned(),
            block: None,
            occurrence: None,
            start: start.parse().unwrap_or_default(),
            minutes,
            status,
            late: start < "2026-06-08",
            yours: true,
            ready: true,
        },
    };
    let (yours, done) = (TaskStatus::Yours, TaskStatus::Done);
    let marathon = "Marathon training, 16 weeks";
    HomeView {
        items: vec![
            item(
                "4c1d9e000001",
                "Launch a newsletter in 6 weeks",
                SessionStatus::NeedsYou,
                0,
                14,
                120,
                "milestone",
            ),
            item("91b0aa000002", marathon, SessionStatus::Yours, 31, 64, 60, "arc"),
            item(
                "7f3a9c000003",
                "Release 2.0 of the parser crate",
                SessionStatus::Done,
                11,
                11,
                190,
                "",
            ),
            item(
                "2be410000004",
                "Compare three queue libraries",
                SessionStatus::Done,
                6,
                6,
                4_000,
                "milestone",
            ),
            item(
                "0d77e1000005",
                "Migrate CI to the new runners",
                SessionStatus::Failed,
                7,
                10,
                9_000,
                "milestone",
            ),
        ],
        today: vec![
            due(
                "2be410000004",
                "Weekly planning review",
                "Weekly review",
                "2026-06-08T09:00:00Z",
                15,
                done,
            ),
            due("91b0aa000002", marathon, "Tempo run", "2026-06-08T17:30:00Z", 60, yours),
            due("91b0aa000002", marathon, "Easy run", "2026-06-07T07:00:00Z", 45, yours),
        ],
        week: Some(WeekLoad { week: 24, planned_minutes: 610, available_minutes: 800 }),
        provider: "offline planner, no model in use".to_owned(),
        ..HomeView::default()
    }
}
