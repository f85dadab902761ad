//! Planning and living with a plan, in a real terminal and from the command line.

use crate::program::Place;
use crate::screen::Terminal;

const BOOK: &str = "write a book about sourdough";

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asking for ideas used to leave a card on which every key was dead.
#[test]
fn after_asking_for_ideas_the_question_can_still_be_answered() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &[BOOK], 40, 120);
    terminal.shows("assumed if you skip");
    terminal.press_until("b", "idea");
    // What is skipped leads to the next question or to the plan.
    terminal.press_until("S", "pprove");
    terminal.keys("q");
    let sessions = place.sessions();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
}

/// Discarding used to end planning at the first key, without a way back.
#[test]
fn discarding_a_plan_asks_first_and_is_undone() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &[BOOK], 40, 120);
    terminal.shows("assumed if you skip");
    terminal.press_until("x", "Discard this plan?");
    assert_ne!(place.sessions()[0]["status"], "discarded", "nothing is lost by the first key");
    terminal.keys("x");
    terminal.until("the plan is discarded", |_| place.sessions()[0]["status"] == "discarded");
    terminal.press_until("u", "assumed if you skip");
    assert_eq!(place.sessions()[0]["status"], "needs you");
    terminal.keys("q");
}

/// "full time" or "loads" used to put the same card again without a word.
#[test]
fn an_answer_that_is_not_read_says_why_and_keeps_the_question() {
    let place = Place::new();
    // The weeks are in the goal: only the hours are asked for.
    let goal = "learn Rust in 12 weeks";
    place.run(&["plan", goal, "--headless"]);
    let session = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let answered = place.answer_and_resume(&["answer", &session, "next", "loads of it"]);
    assert_ne!(answered.status.code(), Some(0));
    let told = String::from_utf8_lossy(&answered.stderr).into_owned() + &stdout(&answered);
    assert!(told.contains("Not a number of hours. Try \"6 h\""), "{told}");
    place.answer_and_resume(&["answer", &session, "next", "full time"]);
    let state = place.run(&["sessions", "show", &session, "--json"]);
    let state: serde_json::Value = serde_json::from_slice(&state.stdout).unwrap();
    assert_eq!(state["requests"][0]["request"]["kind"]["about"], "final_plan", "{state}");
}

/// The first task of a plan used to be tomorrow at the earliest, so that `today` was empty after the first approval.
#[test]
fn a_plan_that_starts_today_has_work_today_or_on_the_next_working_day() {
    let place = Place::new();
    let goal = [
        "plan",
        "learn Rust",
        "--headless",
        "--answer",
        "skip",
        "--answer",
        "skip",
        "--answer",
        "start today",
    ];
    let made = place.run(&goal);
    let told = String::from_utf8_lossy(&made.stderr).into_owned() + &stdout(&made);
    let state = place.run(&["sessions", "show", "last", "--json"]);
    let state: serde_json::Value = serde_json::from_slice(&state.stdout).unwrap();
    // Late in the day nothing can begin today, and then it is not offered.
    let choices = state["requests"][0]["request"]["choices"].to_string();
    let is_offered = choices.contains("approve_from_today");
    assert_eq!(state["approval"].is_object(), !choices.contains("approve_and_run"), "{told}");
    assert!(!is_offered, "it was offered and not taken: {told}");
}

#[test]
fn catching_up_says_when_nothing_is_late_and_which_ways_there_are() {
    let place = Place::new();
    let nothing = place.run(&["today", "catch-up"]);
    assert_eq!(stdout(&nothing).trim(), "No task is late.");
    let wrong = place.run(&["today", "catch-up", "--way", "hurry"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("write move, skip, push or replan"));
}
