//! Two plans of one person that want the same time: the second approval says so, and blocks can move.

use std::process::Output;

use serde_json::Value;

use crate::program::{Place, json_lines};

fn words(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Drafts a goal up to its approval and returns the id of its session.
fn draft(place: &Place, goal: &str) -> String {
    let args = ["plan", goal, "--headless", "--policy", "probing_depth=0"];
    let single = ["--policy", "approval_policy=single_final"];
    let output = place.run(&[&args[..], &single[..]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", words(&output));
    place.sessions()[0]["id"].as_str().unwrap().to_owned()
}

/// Answers the open request and lets the session take it up.
fn answer(place: &Place, session: &str, reply: &str) -> Output {
    let answered = place.run(&["answer", session, "next", reply]);
    assert!(answered.status.success(), "{}", words(&answered));
    place.run(&["resume", session, "--headless"])
}

/// The bodies of all events of a kind.
fn bodies(place: &Place, session: &str, topic: &str, kind: &str) -> Vec<Value> {
    let records = json_lines(&place.run(&["replay", session, "--headless", "--json"]));
    let events = records.into_iter().map(|record| record["event"].clone());
    let of_kind = events.filter(|event| event["topic"] == topic && event["body"]["kind"] == kind);
    of_kind.map(|event| event["body"].clone()).collect()
}

/// Times of all blocks of a plan.
fn block_times(place: &Place, session: &str) -> Vec<(String, String)> {
    let drafted = bodies(place, session, "planning", "schedule_drafted");
    let blocks = drafted.last().expect("there is a schedule")["schedule"]["blocks"].clone();
    let text = |block: &Value, name: &str| block[name].as_str().unwrap().to_owned();
    let blocks = blocks.as_array().unwrap().iter();
    blocks.map(|block| (text(block, "id"), text(block, "start"))).collect()
}

/// Changes of a plan that name another plan.
fn impacts(place: &Place, session: &str) -> Vec<Value> {
    let adapted = bodies(place, session, "planning", "adapted").into_iter();
    let entries = adapted.map(|body| body["entry"].clone());
    entries.filter(|entry| !entry["portfolio_impact"].is_null()).collect()
}

#[test]
fn the_second_of_two_plans_shows_what_overlaps_and_its_blocks_move() {
    let place = Place::new();
    let first = draft(&place, "launch a newsletter in 6 weeks");
    let second = draft(&place, "learn Rust in 6 weeks, 5 hours a week");
    let approved = answer(&place, &first, "approve and start later");
    assert_eq!(approved.status.code(), Some(0), "{}", words(&approved));
    // The yes to the second does not count before the person has seen what overlaps.
    let refused = answer(&place, &second, "approve and start later");
    let printed = words(&refused);
    assert_eq!(refused.status.code(), Some(3), "{printed}");
    for said in ["overlaps with", "launch a newsletter in 6 weeks", "move what overlaps"] {
        assert!(printed.contains(said), "{said} is not in:\n{printed}");
    }
    assert_eq!(bodies(&place, &second, "plan", "approved").len(), 0);
    let (before, others) = (block_times(&place, &second), block_times(&place, &first));
    let moved = answer(&place, &second, "move what overlaps");
    assert_eq!(moved.status.code(), Some(3), "{}", words(&moved));
    let after = block_times(&place, &second);
    assert_ne!(before, after, "blocks of the second plan moved");
    assert_eq!(block_times(&place, &first), others, "those of the first stayed");
    // Both journals say so.
    let (own, noted) = (impacts(&place, &second), impacts(&place, &first));
    let goal = "launch a newsletter in 6 weeks";
    assert_eq!(own.len(), 1, "{own:?}");
    assert_eq!(own[0]["portfolio_impact"]["affected_plans"][0], goal);
    assert!(own[0]["reason"].as_str().unwrap().contains("moved out of the way of"), "{own:?}");
    assert_eq!(noted.len(), 1, "{noted:?}");
    let affected = &noted[0]["portfolio_impact"]["affected_plans"][0];
    assert!(affected.as_str().unwrap().starts_with("learn Rust"), "{noted:?}");
    let minutes = |entry: &Value| entry["portfolio_impact"]["minutes_shifted"].clone();
    assert_eq!(minutes(&own[0]), minutes(&noted[0]));
    // What is left has no free time elsewhere; the person saw it, so that the yes counts.
    let done = answer(&place, &second, "approve and start later");
    assert_eq!(done.status.code(), Some(0), "{}", words(&done));
    let shared = |own: &[(String, String)]| {
        own.iter().filter(|(_, start)| others.iter().any(|(_, other)| other == start)).count()
    };
    assert!(shared(&after) < shared(&before), "{} of {}", shared(&after), shared(&before));
}

#[test]
fn what_overlaps_can_be_kept_by_approving_again() {
    let place = Place::new();
    let first = draft(&place, "launch a newsletter in 6 weeks");
    let second = draft(&place, "learn Rust in 6 weeks, 5 hours a week");
    answer(&place, &first, "approve and start later");
    let refused = answer(&place, &second, "approve and start later");
    assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
    let kept = answer(&place, &second, "approve and start later");
    assert_eq!(kept.status.code(), Some(0), "{}", words(&kept));
    assert_eq!(bodies(&place, &second, "planning", "overlaps_found").len(), 1);
}
