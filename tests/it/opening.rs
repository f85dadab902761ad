//! A saved session is on the screen before it is resumed.

use std::fs::File;

use crate::program::{DIAMOND, Place};
use crate::screen::{Terminal, assert_restored};

/// A saved session that waits for approval, and its id.
fn waiting() -> (Place, String) {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["run", &plan], 24, 80);
    terminal.shows("run this plan?");
    terminal.keys("q");
    assert_eq!(terminal.end().0, 3);
    let id = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    (place, id)
}

/// The number of events of a kind in the journal.
fn events(place: &Place, id: &str, kind: &str) -> usize {
    let export = place.run(&["export", id, "--format", "jsonl"]);
    let kind = format!("\"{kind}\"");
    String::from_utf8_lossy(&export.stdout).lines().filter(|line| line.contains(&kind)).count()
}

#[test]
fn a_locked_session_is_refused_without_opening_a_screen() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut holder = Terminal::start(&place, &["run", &plan], 24, 80);
    holder.shows("run this plan?");
    let (code, raw) = Terminal::start(&place, &["resume", "last"], 24, 80).end();
    assert_eq!(code, 1);
    assert!(raw.contains("follow and control it with: planwright attach"), "{raw}");
    assert!(!raw.contains("\x1b[?1049h"), "{raw:?}");
    holder.keys("q");
    assert_eq!(holder.end().0, 3);
}

#[test]
fn a_session_that_cannot_be_locked_closes_its_screen_and_reports_why() {
    let (place, id) = waiting();
    // Another process holds the lock and has not written its name yet.
    let lock = File::options()
        .write(true)
        .open(place.data().join("locks").join(format!("{id}.lock")))
        .unwrap();
    lock.lock().unwrap();
    let (code, raw) = Terminal::start(&place, &["resume", "last"], 24, 80).end();
    assert_eq!(code, 1);
    assert_restored(&raw);
    let (screen, after) = raw.rsplit_once("\x1b[?1049l").unwrap();
    assert!(screen.contains("run this plan?"), "{screen}");
    assert!(after.contains("follow and control it with: planwright attach"), "{after}");
    drop(lock);
    assert_eq!(events(&place, &id, "opened"), 1, "nothing was written without the lease");
    let mut terminal = Terminal::start(&place, &["resume", "last"], 24, 80);
    terminal.shows("run this plan?");
    terminal.keys("q");
    assert_eq!(terminal.end().0, 3);
}

#[test]
fn quitting_at_once_closes_the_session_cleanly() {
    let (place, id) = waiting();
    for _ in 0..5 {
        let mut terminal = Terminal::start(&place, &["resume", "last"], 24, 80);
        // Typed before anything is on the screen.
        terminal.keys("q");
        let (code, raw) = terminal.end();
        assert_eq!(code, 3);
        assert_restored(&raw);
    }
    let output = place.run(&["sessions", "verify"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!((events(&place, &id, "opened"), events(&place, &id, "closed")), (6, 6));
}

#[test]
fn a_missing_workspace_is_reported_without_a_screen() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let gone = place.dir.path().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let workspace = gone.to_string_lossy();
    let mut terminal = Terminal::start(&place, &["run", &plan, "--workspace", &workspace], 24, 80);
    terminal.shows("run this plan?");
    terminal.keys("q");
    assert_eq!(terminal.end().0, 3);
    std::fs::remove_dir(&gone).unwrap();
    let (code, raw) = Terminal::start(&place, &["resume", "last"], 24, 80).end();
    assert_eq!(code, 1);
    assert!(raw.contains("is not there"), "{raw}");
    assert!(!raw.contains("\x1b[?1049h"), "{raw:?}");
}

#[test]
fn quitting_at_once_starts_no_task_of_an_unfinished_run() {
    let place = Place::new();
    let task = |id: &str| {
        format!(
            "[[tasks]]\nid = \"{id}\"\ndescription = \"Wait\"\nrun = {{ shell = \"sleep 600\" }}\n"
        )
    };
    let tasks: String = ["a", "b", "c", "d", "e", "f"].map(task).concat();
    let plan = place.plan(&format!("title = \"Wait\"\n{tasks}"));
    let mut terminal = Terminal::start(&place, &["run", &plan, "--yes", "--jobs", "1"], 24, 80);
    terminal.shows("now 1 of 1");
    terminal.press_until("q", "leave while it runs?");
    terminal.keys("jj\r");
    assert_eq!(terminal.end().0, 130);
    let id = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let before = events(&place, &id, "intended");
    // Another process writes, so that the session cannot be resumed before the screen is closed.
    let other = rusqlite::Connection::open(place.data().join("planwright.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut terminal = Terminal::start(&place, &["resume", "last", "--jobs", "1"], 24, 80);
    terminal.keys("q");
    terminal.shows("waiting for another process");
    other.execute_batch("ROLLBACK").unwrap();
    assert_restored(&terminal.end().1);
    assert_eq!(events(&place, &id, "intended"), before, "nothing was started");
    // The user can quit instead of waiting.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut terminal = Terminal::start(&place, &["resume", "last"], 24, 80);
    terminal.keys("q");
    terminal.shows("Ctrl-C leaves");
    terminal.keys("\x03");
    assert_eq!(terminal.end().0, 130);
}
