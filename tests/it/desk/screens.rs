//! Tickets on an open screen: they appear by themselves, and the person comments on rows and lines and decides.

use std::time::Instant;

use serde_json::json;

use super::client::DeskClient;
use super::{PLAN, answer, submit};
use crate::program::Place;
use crate::screen::Terminal;

#[test]
fn an_open_home_screen_shows_a_ticket_and_the_person_approves_it_there() {
    let place = Place::new();
    // The home screen of somebody who has been here before.
    place.run(&[
        "run",
        &place.plan("[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n"),
        "--headless",
        "--yes",
    ]);
    let mut terminal = Terminal::start(&place, &[], 40, 120);
    terminal.shows("Planwright");
    let mut client = DeskClient::start(&place);
    let (ticket, hash) = submit(&mut client, PLAN);
    terminal.shows("Faster search");
    client.leave();
    terminal.keys("\x03");
    drop(terminal);
    let mut terminal = Terminal::start(&place, &["resume", &ticket], 40, 120);
    terminal.shows("approve this plan?");
    for title in ["Measure the search", "Build an index", "Write tests", "Claude Code"] {
        terminal.shows(title);
    }
    terminal.press_while("a", |text| text.contains("approve this plan?"));
    let mut client = DeskClient::start(&place);
    let told = client.decision(&ticket);
    assert_eq!((&told["status"], &told["hash"]), (&json!("approved"), &json!(hash)));
    client.leave();
}

#[test]
fn comments_on_lines_and_rows_go_back_to_the_agent() {
    let place = Place::new();
    let mut client = DeskClient::start(&place);
    let report = client.call("submit_plan", &json!({"markdown": PLAN}));
    let ticket = report["ticket"].as_str().unwrap().to_owned();
    let row = report["nodes"][0]["id"].as_str().unwrap().to_owned();
    assert!(place.run(&["comment", &ticket, "7", "only at night"]).status.success());
    assert!(place.run(&["comment", &ticket, &row, "with real data"]).status.success());
    let beyond = place.run(&["comment", &ticket, "700", "nothing is there"]);
    assert_eq!(beyond.status.code(), Some(1));
    answer(&place, &ticket, "request changes");
    let told = client.decision(&ticket);
    let comments = told["comments"].as_array().unwrap();
    let texts: Vec<&str> =
        comments.iter().map(|comment| comment["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["only at night", "with real data"]);
    assert_eq!(comments[0]["quote"], "   - in the background");
    assert_eq!(comments[1]["title"], "Measure the search");
    client.leave();
}

/// The most looks at an open screen until a ticket is on it, each of a moment.
const MOST_LOOKS: usize = 2_000;

#[test]
fn an_open_screen_is_woken_by_a_ticket_without_a_key() {
    let place = Place::new();
    let plan = place.plan("[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n");
    place.run(&["run", &plan, "--headless", "--yes"]);
    let mut terminal = Terminal::start(&place, &[], 40, 120);
    terminal.shows("Planwright");
    let mut client = DeskClient::start(&place);
    // The desk is up; what is measured is the way from the store to the screen.
    client.call("list_plans", &json!({}));
    for round in 1..=3 {
        let title = format!("Round {round}");
        let begun = Instant::now();
        submit(&mut client, &format!("# {title}\n\n1. Measure\n"));
        let submitted = begun.elapsed();
        let looks = (1..=MOST_LOOKS).find(|_| {
            terminal.look();
            terminal.text().contains(&title)
        });
        let looks = looks.unwrap_or_else(|| panic!("{title} is not on:\n{}", terminal.text()));
        let shown = begun.elapsed();
        eprintln!(
            "{title}: submitted in {submitted:?}, on the screen after {shown:?}, {looks} looks"
        );
    }
    client.leave();
}

#[test]
fn a_line_is_commented_on_the_screen_and_the_agent_gets_it() {
    let place = Place::new();
    let mut client = DeskClient::start(&place);
    let (ticket, _) = submit(&mut client, PLAN);
    let mut terminal = Terminal::start(&place, &["resume", &ticket], 40, 120);
    terminal.shows("approve this plan?");
    // A row first, then from its box to the lines of the text.
    terminal.keys("c");
    terminal.shows("comment on Measure the search");
    terminal.shows("Claude Code gets it when you request changes.");
    terminal.keys("with real data\r");
    terminal.shows("you: \"with real data\"");
    terminal.keys("c");
    terminal.shows("a line of the text");
    terminal.keys("\t");
    terminal.shows("the plan as Claude Code submitted it");
    terminal.shows("Why: it is slow.");
    terminal.keys("background\r");
    terminal.shows("comment on line 7");
    terminal.keys("only at night\r");
    terminal.shows("you: \"only at night\"");
    terminal.shows("2 comments");
    terminal.keys("r");
    terminal.shows("request changes");
    terminal.keys("smaller steps\r");
    let told = client.decision(&ticket);
    assert_eq!((&told["status"], &told["text"]), (&json!("changes"), &json!("smaller steps")));
    let comments = told["comments"].as_array().unwrap();
    let said: Vec<(&str, u64)> = comments
        .iter()
        .map(|found| (found["text"].as_str().unwrap(), found["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(said, [("with real data", 5), ("only at night", 7)]);
    assert_eq!(comments[1]["quote"], "   - in the background");
    client.leave();
}

#[test]
fn without_a_screen_a_ticket_waits_until_it_is_answered() {
    let place = Place::new();
    let mut client = DeskClient::start(&place);
    let (ticket, hash) = submit(&mut client, PLAN);
    client.leave();
    let shown = place.run(&["sessions", "show", &ticket]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("--yes does not approve what an agent submitted"), "{shown}");
    answer(&place, &ticket, "approve");
    let mut client = DeskClient::start(&place);
    assert_eq!(client.decision(&ticket)["hash"], hash.as_str());
    client.leave();
}
