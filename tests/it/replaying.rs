//! Replay in a real pseudo-terminal: scrub, search, bookmark, fork, compare.

use crate::program::{DIAMOND, Place};
use crate::screen::{Terminal, assert_restored};

fn scrub_search_bookmark_fork_and_compare(rows: u16, cols: u16) {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let ran = std::fs::read_to_string(place.work().join("done.txt")).unwrap();

    let mut terminal = Terminal::start(&place, &[], rows, cols);
    terminal.shows("done 1");
    terminal.shows("Enter open ");
    // Search over all sessions; a hit opens where it is.
    terminal.keys("/");
    terminal.until("the filter", |text| !text.contains("Enter open "));
    terminal.keys("echo\t");
    terminal.shows("steps with \"echo\"");
    terminal.keys("\r");
    terminal.shows("REPLAY");
    terminal.keys("q");
    terminal.shows("Enter open ");
    // A finished session opens in replay.
    terminal.keys("\r");
    terminal.shows("REPLAY");
    terminal.press_until("\x1b[H", "event 1 of");
    terminal.keys("]");
    terminal.shows("event 2 of");
    terminal.keys("m");
    terminal.shows("bookmark at event 2");
    terminal.keys("first look\r");
    let marked = |text: &str| text.contains("bookmark at event 2") && !text.contains("mark it");
    terminal.until("the mark", marked);
    terminal.keys("/");
    terminal.shows("steps");
    terminal.keys("echo\r");
    terminal.shows("echo");
    // No action applies to the past.
    terminal.press_until("P", "This is the past");
    // A fork lists what it repeats, and asks.
    terminal.press_until("\x1b[F", "no landmark after this");
    terminal.keys("g");
    terminal.shows("Enter go");
    terminal.keys("12\r");
    terminal.shows("event 12 of");
    terminal.keys("F");
    terminal.shows("Fork here?");
    terminal.shows("reruns");
    assert_eq!(place.sessions().len(), 1, "nothing is made before the yes");
    terminal.keys("a");
    terminal.shows("run this plan?");
    assert_eq!(place.sessions().len(), 2);
    terminal.keys("q");
    terminal.shows("Enter open ");
    // Both are marked and compared.
    terminal.keys("*");
    terminal.shows("*Diamond");
    terminal.keys("j*");
    terminal.keys("V");
    terminal.shows("compare ·");
    terminal.shows("time A");
    terminal.keys("\r");
    terminal.until("both traces", |text| text.contains("step") && !text.contains("time A"));
    terminal.keys("\x1b");
    terminal.shows("time A");
    terminal.keys("q");
    terminal.shows("Enter open ");
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
