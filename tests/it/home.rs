//! Home in a real pseudo-terminal: letters, cards, undo, and what other terminals do.

use crate::program::Place;
use crate::screen::{Terminal, assert_restored};

const OWN: &str = r#"
title = "Renewal"
[[tasks]]
id = "keys"
description = "Renew the signing key"
run = { human = {} }
[[tasks]]
id = "tell"
description = "Tell the others"
run = { human = {} }
depends_on = ["keys"]
"#;

fn place_with_tasks() -> Place {
    let place = Place::new();
    let plan = place.plan(OWN);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(3));
    place
}

#[test]
fn a_letter_never_starts_anything_while_a_goal_is_typed_and_leaving_the_box_keeps_it() {
    let place = place_with_tasks();
    let mut terminal = Terminal::start(&place, &[], 30, 110);
    terminal.shows("Renew the signing key");
    terminal.keys("i");
    terminal.shows("Enter plan it");
    terminal.keys("dxq");
    terminal.shows("dxq");
    terminal.keys("\x1b");
    terminal.shows("Enter open");
    assert!(terminal.text().contains("dxq"), "{}", terminal.text());
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
    assert_eq!(place.sessions()[0]["done"], 0);
}

#[test]
fn enter_shows_a_task_done_is_another_key_and_undo_opens_it_again() {
    let place = place_with_tasks();
    let mut terminal = Terminal::start(&place, &[], 40, 120);
    terminal.shows("Renew the signing key");
    terminal.keys("t\r");
    terminal.shows("Unlocks     Tell the others");
    terminal.keys("d");
    terminal.shows("u undo");
    terminal.keys("\x1b");
    terminal.shows("1/2");
    terminal.keys("u");
    terminal.shows("0/2");
    assert_eq!(place.sessions()[0]["done"], 0);
    terminal.keys("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn home_follows_what_another_terminal_does() {
    let place = place_with_tasks();
    let mut terminal = Terminal::start(&place, &[], 40, 120);
    terminal.shows("0/2");
    assert_eq!(place.run(&["today", "done", "keys", "--note", "by hand"]).status.code(), Some(0));
    terminal.shows("1/2");
    terminal.keys("q");
    assert_eq!(terminal.end().0, 0);
    let report = place.run(&["export", "last", "--format", "markdown"]);
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(report.contains("**Renew the signing key**: by hand"), "{report}");
}
