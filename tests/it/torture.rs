//! Kills at random points: every effect is there exactly once after the resume, or its task is reported in doubt.
//!
//! Each point has its own seed, which makes the plan and chooses the moment. The suite tries a few;
//! `PLANWRIGHT_TORTURE=500` tries as many as it says and writes what it found to `tests/torture.csv`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use planwright::store::{Depth, OpenMode, Store};
use serde_json::Value;

use crate::crash::{effects, in_doubt, journal, killed};
use crate::program::Place;

const POINTS: u64 = 20;
const FIRST_SEED: u64 = 20_260_101;
const TASKS: u64 = 8;
/// What a run of a plan prints: opening and end, and five events a task.
const MOST_LINES: u64 = 9 + TASKS * 5;

/// Points tried at once: they mostly wait, for commands and for the disk.
const THREADS: u64 = 4;

#[test]
fn a_kill_at_any_point_repeats_and_loses_no_effect() {
    let asked = std::env::var("PLANWRIGHT_TORTURE").ok().and_then(|count| count.parse().ok());
    let results = try_all(asked.unwrap_or(POINTS));
    if asked.is_some() {
        let lines: Vec<&str> = results.values().map(|(line, _)| line.as_str()).collect();
        let table = format!("{}\n{}\n", Point::HEADINGS, lines.join("\n"));
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture.csv");
        std::fs::write(file, table).unwrap();
    }
    let bad: Vec<&String> = results.values().filter(|(_, ok)| !ok).map(|(line, _)| line).collect();
    assert!(bad.is_empty(), "{} of {} points: {bad:#?}", bad.len(), results.len());
}

/// Tries all points: a line of the table for each, and whether everything held.
fn try_all(count: u64) -> BTreeMap<u64, (String, bool)> {
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let results = &results;
            scope.spawn(move || {
                for number in (first..count).step_by(THREADS as usize) {
                    let seed = FIRST_SEED + number;
                    let result = match std::panic::catch_unwind(|| Point::try_out(seed)) {
                        Ok(point) => (point.line(), true),
                        Err(_) => (format!("{seed},,,,,,,,,failed"), false),
                    };
                    results.lock().unwrap().insert(seed, result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}

/// What happened at one point.
struct Point {
    seed: u64,
    lines: u64,
    pause: Duration,
    /// After how many lines the resume was killed, if it was.
    again: Option<u64>,
    acknowledged: usize,
    journaled: usize,
    /// Tasks whose effect was there before the resume.
    effects: usize,
    in_doubt: usize,
    /// What the doubts were answered with, if there were any.
    answer: &'static str,
}

impl Point {
    const HEADINGS: &str = "seed,killed after lines,and microseconds,resume killed after lines,events acknowledged,events journaled,\
         effects before resume,tasks in doubt,answer,result";

    fn line(&self) -> String {
        format!(
            "{},{},{},{},{},{},{},{},{},ok",
            self.seed,
            self.lines,
            self.pause.as_micros(),
            self.again.map_or_else(String::new, |lines| lines.to_string()),
            self.acknowledged,
            self.journaled,
            self.effects,
            self.in_doubt,
            self.answer
        )
    }

    /// Kills a run at the seed's moment, resumes it, and checks what must hold.
    fn try_out(seed: u64) -> Self {
        let mut random = Random(seed);
        let place = Place::new();
        let plan = place.plan(&plan(&mut random));
        let lines = random.below(MOST_LINES);
        let pause = Duration::from_micros(random.below(15_000));
        let mut acknowledged = killed(&place, &["run", &plan], lines as usize, pause);
        // Whoever is unlucky is killed again while resuming.
        let again = (random.below(3) == 0).then(|| random.below(MOST_LINES / 2));
        if let Some(lines) = again {
            acknowledged.extend(killed(&place, &["resume", "last"], lines as usize, pause));
        }
        // The last line of a run that waits says what for; it is no event.
        acknowledged.retain(|line: &Value| line.get("seq").is_some());
        let kept = if acknowledged.is_empty() { unacknowledged(&place) } else { journal(&place) };
        let is_kept = |record: &Value| kept.get(seq(record) - 1) == Some(record);
        assert!(acknowledged.iter().all(is_kept), "seed {seed}: what was printed is kept");
        assert!(
            kept.iter().zip(1..).all(|(record, number)| seq(record) == number),
            "seed {seed}: no gap"
        );
        let effects = effects(&place.work()).len();
        let (doubtful, answer) = if kept.is_empty() {
            (BTreeSet::new(), "never began")
        } else {
            resumed(seed, &place, &kept)
        };
        require_sound(seed, &place);
        Self {
            seed,
            lines,
            pause,
            again,
            acknowledged: acknowledged.len(),
            journaled: kept.len(),
            effects,
            in_doubt: doubtful.len(),
            answer,
        }
    }
}

fn seq(record: &Value) -> usize {
    record["seq"].as_u64().unwrap() as usize
}

/// The journal of a run that printed nothing: there may be none at all.
fn unacknowledged(place: &Place) -> Vec<Value> {
    if place.data().exists() && !place.sessions().is_empty() { journal(place) } else { Vec::new() }
}

/// Resumes, answers the doubts as someone would who looked at the file, and gives the doubts and the answer.
fn resumed(seed: u64, place: &Place, kept: &[Value]) -> (BTreeSet<String>, &'static str) {
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
    require_once(seed, &before, |task, count| {
        count == 1 || (count == 0 && expected == 3) || doubtful.contains(task)
    });
    if doubtful.is_empty() {
        return (doubtful, "none needed");
    }
    let there = doubtful.iter().filter(|task| before.contains_key(*task)).count();
    let answer = match there {
        0 => "run",
        all if all == doubtful.len() => "done",
        _ => "skip",
    };
    let output = place.run(&["resume", "last", "--headless", "--yes", "--in-doubt", answer]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    // What the person chose to leave out is no failure.
    assert_eq!(output.status.code(), Some(0), "seed {seed}, {answer}: {words}");
    let after = effects(&place.work());
    require_once(seed, &after, |task, count| {
        count == 1 || (answer == "skip" && doubtful.contains(task) && count == 0)
    });
    (doubtful, answer)
}

fn require_once(seed: u64, effects: &BTreeMap<String, usize>, holds: impl Fn(&str, usize) -> bool) {
    for task in (0..TASKS).map(name) {
        let count = effects.get(&task).copied().unwrap_or(0);
        assert!(
            count <= 1 && holds(&task, count),
            "seed {seed}: {task} {count} times: {effects:?}"
        );
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

/// Commands of a killed run may outlive it for a moment; nobody may answer before they are gone.
fn wait_for_leftovers(work: &Path) {
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

fn require_sound(seed: u64, place: &Place) {
    if !place.data().exists() {
        return;
    }
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let found = store.integrity(Depth::Full).unwrap();
    assert!(found.problems.is_empty(), "seed {seed}: {:?}", found.problems);
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

/// The generator of Steele and others (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound
    }
}
