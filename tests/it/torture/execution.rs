//! Kills of a run: every effect is there exactly once after the resume, or its task is reported in doubt.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Point, Random, require_intact_store};
use crate::crash::{effects, in_doubt, journal, killed};
use crate::program::Place;

const TASKS: u64 = 8;
/// The number of lines that a run prints: start and end, and five events per task.
const MOST_LINES: u64 = 9 + TASKS * 5;

/// Kills a run at the seed's moment, resumes it, and checks the requirements.
pub(super) fn try_out(seed: u64) -> Point {
    let mut random = Random(seed);
    let place = Place::new();
    let plan = place.plan(&plan(&mut random));
    let lines = random.below(MOST_LINES);
    let pause = Duration::from_micros(random.below(15_000));
    let mut acknowledged = killed(&place, &["run", &plan], lines as usize, pause);
    // Some seeds kill again during the resume.
    let again = (random.below(3) == 0).then(|| random.below(MOST_LINES / 2));
    if let Some(lines) = again {
        acknowledged.extend(killed(&place, &["resume", "last"], lines as usize, pause));
    }
    // The last line of a waiting run names what it waits for; it is not an event.
    acknowledged.retain(|line: &Value| line.get("seq").is_some());
    let kept = if acknowledged.is_empty() { unacknowledged(&place) } else { journal(&place) };
    let is_kept = |record: &Value| kept.get(seq(record) - 1) == Some(record);
    assert!(acknowledged.iter().all(is_kept), "seed {seed}: what was printed is kept");
    assert!(
        kept.iter().zip(1..).all(|(record, number)| seq(record) == number),
        "seed {seed}: no gap"
    );
    let effects = effects(&place.work()).len();
    let tasks: Vec<String> = (0..TASKS).map(name).collect();
    let (doubtful, then) = if kept.is_empty() {
        (BTreeSet::new(), "never began")
    } else {
        resumed(seed, &place, &kept, &tasks)
    };
    require_intact_store(seed, &place);
    let again = again.map_or_else(String::new, |lines| format!(" and the resume after {lines}"));
    Point {
        moment: format!("after {lines} lines and {} us{again}", pause.as_micros()),
        acknowledged: acknowledged.len(),
        journaled: kept.len(),
        effects,
        in_doubt: doubtful.len(),
        then,
    }
}

fn seq(record: &Value) -> usize {
    record["seq"].as_u64().unwrap() as usize
}

/// The journal of a run that printed nothing, if there is one at all.
fn unacknowledged(place: &Place) -> Vec<Value> {
    if place.data().exists() && !place.sessions().is_empty() { journal(place) } else { Vec::new() }
}

/// Resumes, answers the doubts as someone would who looked at the file, and returns the doubts and the answer.
pub(super) fn resumed(
    seed: u64,
    place: &Place,
    kept: &[Value],
    tasks: &[String],
) -> (BTreeSet<String>, &'static str) {
    let output = place.run(&["resume", "last", "--headless", "--yes"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    wait_for_leftovers(&place.work());
    let doubtful: BTreeSet<String> = in_doubt(&journal(place)).into_iter().collect();
    assert_eq!(doubtful, open_calls(kept), "seed {seed}: all doubts and none but those");
    for task in &doubtful {
        assert!(words.contains(task.as_str()), "seed {seed}: {task} is not named in: {words}");
    }
    let expected = if doubtful.is_empty() { 0 } else { 3 };
    assert_eq!(output.status.code(), Some(expected), "seed {seed}: {words}");

    let before = effects(&place.work());
    require_once(seed, tasks, &before, |task, count| {
        count == 1 || (count == 0 && expected == 3) || doubtful.contains(task)
    });
    if doubtful.is_empty() {
        return (doubtful, "went on");
    }
    let there = doubtful.iter().filter(|task| before.contains_key(*task)).count();
    let answer = match there {
        0 => "run",
        all if all == doubtful.len() => "done",
        _ => "skip",
    };
    let output = place.run(&["resume", "last", "--headless", "--yes", "--in-doubt", answer]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    // A task that the person chose to skip is not a failure.
    assert_eq!(output.status.code(), Some(0), "seed {seed}, {answer}: {words}");
    let after = effects(&place.work());
    require_once(seed, tasks, &after, |task, count| {
        count == 1 || (answer == "skip" && doubtful.contains(task) && count == 0)
    });
    (doubtful, answer)
}

fn require_once(
    seed: u64,
    tasks: &[String],
    effects: &BTreeMap<String, usize>,
    holds: impl Fn(&str, usize) -> bool,
) {
    for task in tasks {
        let count = effects.get(task).copied().unwrap_or(0);
        assert!(count <= 1 && holds(task, count), "seed {seed}: {task} {count} times: {effects:?}");
    }
}

/// Tasks with an intent in the journal and no outcome.
fn open_calls(records: &[Value]) -> BTreeSet<String> {
    let mut open = BTreeSet::new();
    for record in records.iter().filter(|record| record["event"]["topic"] == "call") {
        let body = &record["event"]["body"];
        let task = body["call"]["task"].as_str().unwrap().to_owned();
        match body["kind"].as_str() {
            Some("intended") => drop(open.insert(task)),
            Some("concluded") => drop(open.remove(&task)),
            _ => {}
        }
    }
    open
}

/// Commands of a killed run may outlive it for a moment; answers must wait until they are gone.
pub(super) fn wait_for_leftovers(work: &Path) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut quiet = 0;
    while quiet < 2 {
        assert!(Instant::now() < deadline, "commands of a killed run come to an end");
        quiet = if is_used(work) { 0 } else { quiet + 1 };
        std::thread::sleep(Duration::from_millis(4));
    }
}

fn is_used(work: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes
        .filter_map(Result::ok)
        .filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok())
        .any(|cwd| cwd == work)
}

/// Tasks that wait for up to two earlier ones and append their name, with pauses before and after it.
fn plan(random: &mut Random) -> String {
    let mut text = String::from("title = \"To be killed\"\n");
    for task in 0..TASKS {
        let on: BTreeSet<String> = (0..random.below(3).min(task))
            .map(|_| format!("\"{}\"", name(random.below(task))))
            .collect();
        let on: Vec<String> = on.into_iter().collect();
        let (id, on) = (name(task), on.join(", "));
        let (before, after) = (random.below(60), random.below(20));
        let _ = writeln!(
            text,
            "[[tasks]]\nid = \"{id}\"\ndescription = \"x\"\ndepends_on = [{on}]\n\
             run = {{ shell = \"sleep 0.{before:03}; echo {id} >> done.txt; sleep 0.{after:03}\" }}"
        );
    }
    text
}

fn name(task: u64) -> String {
    format!("t{task}")
}
