//! Looking back, in a real pseudo-terminal: scrub, search, bookmark, fork, compare.

use crate::program::{DIAMOND, Place};
use crate::screen::{Terminal, assert_restored};

fn scrub_search_bookmark_fork_and_compare(rows: u16, cols: u16) {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let ran = std::fs::read_to_string(place.work().join("done.txt")).unwrap();

    let mut terminal = Terminal::start(&place, &[], rows, cols);
    terminal.shows("finished 1");
    terminal.press_until("\x1b", "Enter open");
    // Search over all sessions; a hit opens where it is.
    terminal.keys("/");
    terminal.shows("/ ");
    terminal.keys("echo\t");
    terminal.shows("steps with \"echo\"");
    terminal.press_until("\r", "REPLAY");
    terminal.press_until("q", "Enter open");
    // A finished session opens in replay.
    terminal.press_until("\r", "REPLAY");
    terminal.press_until("\x1b[H", "event 1 of");
    terminal.press_until("]", "event 2 of");
    terminal.press_until("m", "bookmark at event 2");
    terminal.keys("first look\r");
    terminal.until("the mark", |text| {
        text.contains("bookmark at event 2") && !text.contains("Esc close")
    });
    terminal.keys("/");
    terminal.shows("Enter find");
    terminal.keys("echo\r");
    terminal.until("a hit", |text| text.contains("has \"echo\""));
    // Nothing of the past can be acted on.
    terminal.press_until("P", "this is the past");
    // A fork states what it does again, and asks.
    terminal.press_until("\x1b[F", "4/4");
    terminal.press_until("{", "event");
    terminal.press_until("F", "Fork here?");
    terminal.shows("re-runs");
    assert_eq!(place.sessions().len(), 1, "nothing is made before the yes");
    terminal.keys("y");
    terminal.shows("Run this plan?");
    assert_eq!(place.sessions().len(), 2);
    terminal.press_until("q", "Enter open");
    // Both are marked and compared.
    terminal.press_until("*", "*");
    terminal.press_until("j", "►");
    terminal.keys("*");
    terminal.press_until("v", "compare ·");
    terminal.shows("time A");
    terminal.press_until("s", "compare ·");
    terminal.press_until("\r", "step");
    terminal.press_until("\x1b", "time A");
    terminal.press_until("q", "Enter open");
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);

    let marks = place.run(&["sessions", "bookmark", place.sessions()[1]["id"].as_str().unwrap()]);
    let first = String::from_utf8_lossy(&marks.stdout).into_owned();
    let other = place.run(&["sessions", "bookmark", place.sessions()[0]["id"].as_str().unwrap()]);
    let other = String::from_utf8_lossy(&other.stdout).into_owned();
    assert!(first.contains("first look") || other.contains("first look"), "{first}{other}");
    let now = std::fs::read_to_string(place.work().join("done.txt")).unwrap();
    assert_eq!(now, ran, "looking, forking and comparing run nothing");
}

#[test]
fn a_run_is_scrubbed_searched_bookmarked_forked_and_compared_at_120x40() {
    scrub_search_bookmark_fork_and_compare(40, 120);
}

#[test]
fn a_run_is_scrubbed_searched_bookmarked_forked_and_compared_at_80x24() {
    scrub_search_bookmark_fork_and_compare(24, 80);
}
