//! Sessions without events: no new ones are left behind, and those of earlier versions are recognized.

use jiff::Timestamp;
use planwright_model::SessionId;
use planwright_store::{NewSession, OpenMode, SessionSummary, Store};

use crate::program::{DIAMOND, Place};

/// A session without a single event, as a process killed at its start used to leave it.
fn leave_empty(place: &Place, name: &str) {
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let summary = SessionSummary { status: "planning".to_owned(), ..SessionSummary::default() };
    let (id, created_at) = (SessionId::new(name), Timestamp::now());
    store.create_session(NewSession { id, created_at, format: 1, parent: None, summary }).unwrap();
    store.close();
}

fn printed(output: &std::process::Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_missing_key_leaves_no_session() {
    let place = Place::new();
    let plan = place.plan(
        "title = \"Agents\"\n[[tasks]]\nid = \"t\"\ndescription = \"Say hello\"\nrun = { agent = {} }\n",
    );
    let goal = ["plan", "learn Rust, 5 hours a week", "--headless", "--provider", "openai"];
    let run = ["run", plan.as_str(), "--headless", "--yes", "--provider", "openai"];
    for args in [&goal[..], &run[..]] {
        let output = place.command(args).env_remove("OPENAI_API_KEY").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", printed(&output));
        assert!(place.sessions().is_empty(), "{args:?}: {:?}", place.sessions());
    }
    let output = place.run(&["resume", "last", "--headless"]);
    assert_eq!(output.status.code(), Some(2), "{}", printed(&output));
    assert!(printed(&output).contains("there is no saved session yet"), "{}", printed(&output));
}

#[test]
fn an_empty_session_is_listed_as_such_never_the_last_and_can_be_removed() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless"]).status.code(), Some(3));
    leave_empty(&place, "emptyemptyempty");
    let statuses: Vec<String> =
        place.sessions().iter().map(|it| it["status"].to_string()).collect();
    assert_eq!(statuses, ["\"empty\"", "\"needs you\""]);
    let output = place.run(&["resume", "last", "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    let removed = place.run(&["sessions", "rm", "emptyempty", "--yes"]);
    assert_eq!(removed.status.code(), Some(0), "{}", printed(&removed));
    assert_eq!(place.sessions().len(), 1);
}

#[test]
fn resuming_an_empty_session_reports_it_and_ends() {
    let place = Place::new();
    leave_empty(&place, "emptyemptyempty");
    let work = place.work().to_string_lossy().into_owned();
    let plain = ["resume", "emptyempty", "--headless"];
    let moved = ["resume", "emptyempty", "--headless", "--workspace", &work];
    let run = ["run", "emptyempty", "--headless", "--yes"];
    for args in [&plain[..], &moved[..], &run[..]] {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", printed(&output));
        let message = printed(&output);
        assert!(
            message.contains("is empty") && message.contains("sessions rm"),
            "{args:?}: {message}"
        );
    }
    let mut screen = crate::screen::Terminal::start(&place, &moved[..2], 24, 80);
    screen.shows("is empty");
    assert_eq!(screen.end().0, 1);
    let last = place.run(&["resume", "last", "--headless"]);
    assert_eq!(last.status.code(), Some(2), "{}", printed(&last));
}
