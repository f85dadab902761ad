//! Defects of version 0.3.0 that show only over time: a plan nobody worked on for a week, and a run that another process
//! works on. Like `screens_defects.rs`, each in a pseudo-terminal, with what 0.3.0 did above it.

use jiff::civil::Date;
use jiff::{SignedDuration, ToSpan};
use planwright_model::{Seq, SessionId};
use planwright_store::{JournalBatch, JournalRow, NewSession, OpenMode, Store};

use crate::program::Place;
use crate::screen::{Terminal, assert_restored};

const DAYS_AWAY: i64 = 9;

/// Moves every date of a text to the past.
fn shift_dates(text: &str) -> String {
    let mut shifted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let day = rest.get(..10).and_then(|found| found.parse::<Date>().ok());
        let (word, length) = match day.filter(|_| rest.starts_with("20")) {
            Some(day) => ((day - DAYS_AWAY.days()).to_string(), 10),
            None => (next.to_string(), next.len_utf8()),
        };
        shifted.push_str(&word);
        rest = &rest[length..];
    }
    shifted
}

/// A store with the newest session of another one as if all of it had happened some days earlier.
fn days_later(place: &Place) -> Place {
    let store = Store::open(&place.data(), OpenMode::ReadOnly).unwrap();
    let info = store.list_sessions().unwrap().remove(0);
    let reader = store.reader().unwrap();
    let rows = reader.read_rows(&info.id, Seq(1)..=Seq(u64::MAX)).unwrap();
    let earlier = SignedDuration::from_hours(24 * DAYS_AWAY);
    let shift = |row: JournalRow| JournalRow {
        at: row.at - earlier,
        payload: shift_dates(std::str::from_utf8(&row.payload).unwrap()).into_bytes(),
        ..row
    };
    let later = Place::new();
    let store = Store::open(&later.data(), OpenMode::ReadWrite).unwrap();
    let id = SessionId::new("late");
    store
        .create_session(NewSession {
            id: id.clone(),
            created_at: info.created_at - earlier,
            format: info.format,
            parent: None,
            summary: info.summary,
        })
        .unwrap();
    let journal = store.acquire_session(&id).unwrap();
    let rows = rows.into_iter().map(shift).collect();
    journal.append_blocking(JournalBatch::from_rows(rows)).unwrap().wait().unwrap();
    later
}

fn printed(place: &Place, args: &[&str]) -> String {
    let output = place.run(args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Task and day of every event of a calendar file.
fn booked_days(calendar: &str) -> Vec<(String, Date)> {
    let mut booked = Vec::new();
    let mut task = String::new();
    // The to-dos behind the events name the same days again.
    let events = calendar.split("BEGIN:VTODO").next().unwrap();
    for line in events.lines() {
        if let Some(uid) = line.strip_prefix("UID:") {
            let after = uid.split_once('/').unwrap().1;
            after.split_once('#').unwrap().0.clone_into(&mut task);
        }
        if let Some(start) = line.strip_prefix("DTSTART:") {
            booked.push((task.clone(), Date::strptime("%Y%m%d", &start[..8]).unwrap()));
        }
    }
    booked
}

/// 0.3.0: planning a late plan again booked tasks that were done, and a block moved by hand made it fail (G403).
#[test]
fn a_late_plan_is_planned_again_from_now_on_and_what_is_done_stays_done() {
    let place = Place::new();
    let goal = "write a blog post about our new API, starting today";
    let made = place.run(&["plan", goal, "--headless", "--yes"]);
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let place = days_later(&place);
    let shown: serde_json::Value =
        serde_json::from_str(&printed(&place, &["sessions", "show", "last", "--json"])).unwrap();
    let first = shown["tasks"][0]["id"].as_str().unwrap().to_owned();
    printed(&place, &["today", "done", &first]);
    let mut terminal = Terminal::start(&place, &[], 40, 120);
    terminal.until("late tasks", |text| text.contains("late") && text.contains("needs you"));
    terminal.press_until("C", "catch up ·");
    terminal.shows("move them to free time");
    terminal.press_while("a", |text| text.contains("catch up ·"));
    terminal.until("nothing late", |text| !text.contains("needs you"));
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
    assert_eq!(printed(&place, &["today", "catch-up"]).trim(), "No task is late.");
    let after: serde_json::Value =
        serde_json::from_str(&printed(&place, &["sessions", "show", "last", "--json"])).unwrap();
    assert_eq!(after["tasks"][0]["status"], "done", "{after}");
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let booked = booked_days(&printed(&place, &["export", "last", "--format", "ics"]));
    assert_eq!(booked.iter().filter(|(task, _)| *task != first).count(), 3, "{booked:?}");
    for (task, day) in &booked {
        assert_eq!(*day >= today, *task != first, "{task} on {day}: {booked:?}");
    }
}

/// One task that waits for a file which the test writes, then a last one.
const WAITING: &str = r#"
title = "Two steps"
[[tasks]]
id = "wait"
description = "Wait for the signal"
run = { shell = "while [ ! -e go ]; do sleep 0.05; done; echo seen" }
[[tasks]]
id = "last"
description = "Say goodbye"
depends_on = ["wait"]
run = { shell = "echo goodbye" }
"#;

/// 0.3.0: the screen of a run in another process said "saved run, nothing runs" and stayed where it was opened.
#[test]
fn a_run_of_another_process_is_followed_to_its_end() {
    let place = Place::new();
    let plan = place.plan(WAITING);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_planwright"));
    command
        .args(["run", &plan, "--headless", "--yes"])
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .current_dir(place.work())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut run = command.spawn().unwrap();
    let started = |place: &Place| {
        let sessions = if place.data().exists() { place.sessions() } else { Vec::new() };
        sessions.first().is_some_and(|session| session["status"] == "running")
    };
    while !started(&place) {
        assert_eq!(run.try_wait().unwrap(), None, "the run ended before it was watched");
        std::thread::yield_now();
    }
    let mut terminal = Terminal::start(&place, &["replay", "last"], 40, 120);
    terminal.shows("Wait for the signal");
    terminal.until("the run of the other process", |text| text.contains("running in process"));
    assert!(!terminal.text().contains("nothing is running"), "{}", terminal.text());
    std::fs::write(place.work().join("go"), "").unwrap();
    // No key is pressed: what is shown follows the other process.
    terminal.until("2 of 2 done", |text| text.contains("2/2") || text.contains("2 of 2 done"));
    assert_eq!(run.wait().unwrap().code(), Some(0));
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
}

/// 0.3.0: the collapsed question said "Tab opens", but Tab went to another pane, where `a` was refused.
#[test]
fn the_question_is_answered_from_every_pane_that_tab_goes_to() {
    for presses in 1..=3 {
        let place = Place::new();
        let plan = place.plan(crate::program::DIAMOND);
        let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
        let asked = |text: &str| text.to_lowercase().contains("run this plan?");
        terminal.until("the question", asked);
        assert!(!terminal.text().contains("draft ready"), "{}", terminal.text());
        terminal.shows("Tab opens");
        terminal.keys("\t");
        terminal.shows("draft ready");
        for _ in 1..presses {
            terminal.keys("\t");
        }
        terminal
            .until("the question and its key", |text| asked(text) && text.contains("a  approve"));
        terminal.press_while("a", asked);
        terminal.until("4 of 4 done", |text| text.contains("4/4") || text.contains("4 of 4 done"));
        terminal.keys("q");
        assert_eq!(terminal.end().0, 0);
    }
}
