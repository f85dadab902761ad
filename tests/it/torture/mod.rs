//! Kills at random points of everything that writes: what was acknowledged is there, without a gap, in an intact
//! database; what was done is not done again; what is in doubt is asked; the session can be resumed.
//!
//! Each point has its own seed, which chooses the moment. The suite tries a few of each phase; `PLANWRIGHT_TORTURE=500`
//! sets the number, a fifth each, and as many again while agents work; the results are written to
//! `tests/torture.csv`, where phases that were not tried keep their lines.

mod agents;
mod approval;
mod exchange;
mod execution;
mod migration;
mod planning;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use planwright_model::Seq;
use planwright_store::{CheckDepth, JournalRow, OpenMode, Store};

use crate::program::Place;

const FIRST_SEED: u64 = 20_260_101;

/// Points tried at once: they mostly wait, for commands and for the disk.
const THREADS: u64 = 4;

/// Far longer than any run of a test takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills at a point that depends on the seed, and checks what is left.
type TryOut = fn(u64) -> Point;

/// What is tried, and how often in the suite.
const PHASES: [(&str, u64, TryOut); 6] = [
    ("planning", 6, planning::try_out),
    ("approval", 4, approval::try_out),
    ("execution", 12, execution::try_out),
    ("exchange", 8, exchange::try_out),
    ("migration", 8, migration::try_out),
    (AGENTS, 26, agents::try_out),
];
/// The phase that gets as many points as all others together.
const AGENTS: &str = "agents";

#[test]
fn a_kill_at_any_point_of_planning_loses_nothing() {
    try_phase(0);
}

#[test]
fn a_kill_at_any_point_of_an_approval_loses_nothing() {
    try_phase(1);
}

#[test]
fn a_kill_at_any_point_of_a_run_repeats_and_loses_no_effect() {
    try_phase(2);
}

#[test]
fn a_kill_at_any_point_of_an_export_or_import_leaves_all_or_nothing() {
    try_phase(3);
}

#[test]
fn a_kill_at_any_point_of_a_migration_leaves_a_database_of_one_version_or_the_other() {
    try_phase(4);
}

#[test]
fn a_kill_at_any_point_of_agents_at_work_repeats_and_loses_no_effect() {
    try_phase(5);
}

/// Lines of the table, by phase and seed. The last phase to end writes all results.
static FOUND: Mutex<BTreeMap<(usize, u64), String>> = Mutex::new(BTreeMap::new());

fn try_phase(phase: usize) {
    let (name, few, try_out) = PHASES[phase];
    let asked: Option<u64> =
        std::env::var("PLANWRIGHT_TORTURE").ok().and_then(|count| count.parse().ok());
    let others = PHASES.len() as u64 - 1;
    let count = asked.map_or(few, |all| if name == AGENTS { all } else { all / others });
    let results = try_all(name, count, try_out);
    let bad: Vec<String> =
        results.values().filter(|(_, ok)| !ok).map(|(line, _)| line.clone()).collect();
    if asked.is_some() {
        let mut found = FOUND.lock().unwrap();
        found.extend(results.into_iter().map(|(seed, (line, _))| ((phase, seed), line)));
        write_table(&found);
    }
    assert!(bad.is_empty(), "{} of {count} points: {bad:#?}", bad.len());
}

/// Writes the results to the table. Phases that were not tried keep their lines.
fn write_table(found: &BTreeMap<(usize, u64), String>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture.csv");
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    let mut table = vec![Point::HEADINGS];
    for (phase, (name, ..)) in PHASES.iter().enumerate() {
        let own = found.iter().filter(|((of, _), _)| *of == phase).map(|(_, line)| line.as_str());
        let own: Vec<&str> = own.collect();
        let is_own = |line: &&str| line.split(',').next() == Some(*name);
        let kept: Vec<&str> = before.lines().filter(is_own).collect();
        table.extend(if own.is_empty() { kept } else { own });
    }
    std::fs::write(file, table.join("\n") + "\n").unwrap();
}

/// Tries all points of a phase; returns a line of the table for each, and whether all checks passed.
fn try_all(name: &str, count: u64, try_out: fn(u64) -> Point) -> BTreeMap<u64, (String, bool)> {
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let results = &results;
            scope.spawn(move || {
                for number in (first..count).step_by(THREADS as usize) {
                    let seed = FIRST_SEED + number;
                    let result = match std::panic::catch_unwind(|| try_out(seed)) {
                        Ok(point) => (point.line(name, seed), true),
                        Err(_) => (format!("{name},{seed},,,,,,,failed"), false),
                    };
                    results.lock().unwrap().insert(seed, result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}

/// The results at one point. That nothing was lost or repeated is required, not counted.
#[derive(Default)]
struct Point {
    /// A description of the moment of the kill.
    moment: String,
    /// Events that someone outside had seen.
    acknowledged: usize,
    journaled: usize,
    /// Tasks whose effect was there before the resume.
    effects: usize,
    in_doubt: usize,
    /// How the session was resumed.
    then: &'static str,
}

impl Point {
    const HEADINGS: &str = "phase,seed,killed,events acknowledged,events journaled,effects before resume,\
         tasks in doubt,then,result";

    fn line(&self, phase: &str, seed: u64) -> String {
        let Self { moment, acknowledged, journaled, effects, in_doubt, then } = self;
        format!("{phase},{seed},{moment},{acknowledged},{journaled},{effects},{in_doubt},{then},ok")
    }
}

/// Starts the program without a screen.
fn start(place: &Place, args: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("planwright"))
        .args(args)
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .env("TZ", "UTC")
        .current_dir(place.work())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a process without a chance to clean up, as a power failure does.
fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The journal of the newest session, as another process sees it: everything it sees is acknowledged.
fn rows(place: &Place) -> Vec<JournalRow> {
    let Ok(store) = Store::open(&place.data(), OpenMode::ReadOnly) else { return Vec::new() };
    let Ok(id) = store.find_session("last") else { return Vec::new() };
    store.reader().unwrap().read_rows(&id, Seq(1)..=Seq(u64::MAX)).unwrap()
}

/// Watches from outside until the journal has this many events or the process ends, and returns what it saw.
fn watched(place: &Place, child: &mut Child, events: usize) -> Vec<JournalRow> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = rows(place);
        if seen.len() >= events || child.try_wait().unwrap().is_some() {
            return seen;
        }
        assert!(Instant::now() < deadline, "{events} events or the end come in time");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn require_kept(seed: u64, seen: &[JournalRow], kept: &[JournalRow]) {
    assert!(kept.starts_with(seen), "seed {seed}: what was seen is kept");
    assert!(
        kept.iter().zip(1..).all(|(row, number)| row.seq == Seq(number)),
        "seed {seed}: no gap"
    );
}

fn require_intact_store(seed: u64, place: &Place) {
    if !place.data().exists() {
        return;
    }
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let found = store.check_integrity(CheckDepth::Full).unwrap();
    assert!(found.problems.is_empty(), "seed {seed}: {:?}", found.problems);
}

/// The generator of Steele and others (`SplitMix64`).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}
