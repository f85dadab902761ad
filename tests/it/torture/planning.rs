//! Kills while a goal becomes a plan: planning resumes from what is kept and reaches a plan.

use std::time::Duration;

use super::{Point, Random, kill, require_intact_store, require_kept, rows, start, watched};
use crate::crash::journal;
use crate::program::Place;

const GOALS: [&str; 4] = [
    "launch a newsletter in 6 weeks",
    "learn Rust, 5 hours a week",
    "marathon training 16 weeks",
    "migrate service X from Python to Rust",
];
/// About as many events as the planning of one of these goals has.
const MOST_EVENTS: u64 = 60;

pub(super) fn try_out(seed: u64) -> Point {
    let mut random = Random(seed);
    let place = Place::new();
    let goal = *random.pick(&GOALS);
    let events = random.below(MOST_EVENTS) as usize;
    let pause = Duration::from_micros(random.below(8_000));
    let mut child = start(&place, &["plan", goal, "--headless", "--yes", "--gate", "force_full"]);
    let seen = watched(&place, &mut child, events);
    std::thread::sleep(pause);
    kill(&mut child);
    let kept = rows(&place);
    require_kept(seed, &seen, &kept);
    require_intact_store(seed, &place);
    if kept.is_empty() && place.data().exists() {
        assert!(place.sessions().is_empty(), "seed {seed}: no session without events");
    }
    let then = if kept.is_empty() { "never began" } else { resume_planning(seed, &place) };
    require_intact_store(seed, &place);
    Point {
        moment: format!("after {events} events and {} us", pause.as_micros()),
        acknowledged: seen.len(),
        journaled: kept.len(),
        then,
        ..Point::default()
    }
}

fn resume_planning(seed: u64, place: &Place) -> &'static str {
    let output = place.run(&["resume", "last", "--headless", "--yes"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    // The tasks of these plans are for the person: after the approval the run waits for them.
    assert_eq!(output.status.code(), Some(3), "seed {seed}: {words}");
    let approved = journal(place)
        .iter()
        .filter(|record| record["event"]["topic"] == "plan")
        .filter(|record| record["event"]["body"]["kind"] == "approved")
        .count();
    assert_eq!(approved, 1, "seed {seed}: the plan is approved once: {words}");
    "came to its plan"
}
