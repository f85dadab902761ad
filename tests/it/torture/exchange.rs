//! Kills of exports and imports: a file or a session is there completely, or not at all.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use planwright_model::Seq;
use planwright_store::{JournalBatch, OpenMode, Store};

use super::{Point, Random, kill, require_intact_store, rows, start};
use crate::program::{DIAMOND, Place};

/// Large enough that a kill hits the middle.
const EVENTS: u64 = 6_000;

/// A large session, its export, and how long it takes to write and to read it.
struct Base {
    place: Place,
    export: Vec<u8>,
    exporting: Duration,
    importing: Duration,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let place = Place::new();
        let plan = place.plan(DIAMOND);
        assert!(place.run(&["run", &plan, "--headless", "--yes"]).status.success());
        lengthen(&place);
        let file = place.dir.path().join("base.jsonl").to_string_lossy().into_owned();
        let began = Instant::now();
        let args = ["export", "last", "--format", "jsonl", "-o", file.as_str()];
        assert!(place.run(&args).status.success());
        let exporting = began.elapsed();
        let other = Place::new();
        let began = Instant::now();
        assert!(other.run(&["import", &file]).status.success());
        let importing = began.elapsed();
        Base { export: std::fs::read(&file).unwrap(), place, exporting, importing }
    })
}

/// Repeats the last record of the session very often.
fn lengthen(place: &Place) {
    let mut row = rows(place).pop().unwrap();
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let journal = store.acquire_session(&store.find_session("last").unwrap()).unwrap();
    let mut batch = Vec::new();
    while row.seq.0 < EVENTS {
        row.seq = Seq(row.seq.0 + 1);
        batch.push(row.clone());
    }
    journal.append_blocking(JournalBatch::from_rows(batch)).unwrap().wait().unwrap();
    drop(journal);
    store.close();
}

pub(super) fn try_out(seed: u64) -> Point {
    let mut random = Random(seed);
    if random.below(2) == 0 { export(seed, &mut random) } else { import(seed, &mut random) }
}

/// A moment within something that usually takes this long.
fn moment(random: &mut Random, duration: Duration) -> Duration {
    duration.mul_f64(random.below(1_000) as f64 / 900.0)
}

fn export(seed: u64, random: &mut Random) -> Point {
    let base = base();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.jsonl");
    let path = file.to_string_lossy().into_owned();
    // An existing file of that name stays unchanged until the new one is complete.
    let older = random.below(2) == 0;
    if older {
        std::fs::write(&file, "older").unwrap();
    }
    let after = moment(random, base.exporting);
    let args = ["export", "last", "--format", "jsonl", "-o", path.as_str()];
    let mut child = start(&base.place, &args);
    std::thread::sleep(after);
    kill(&mut child);
    let found = std::fs::read(&file).ok();
    let duration = found.as_deref() == Some(&base.export);
    let before = if older { Some(&b"older"[..]) } else { None };
    assert!(duration || found.as_deref() == before, "seed {seed}: half an export");
    assert!(base.place.run(&args).status.success(), "seed {seed}");
    assert!(std::fs::read(&file).unwrap() == base.export, "seed {seed}: exported anew");
    require_intact_store(seed, &base.place);
    Point {
        moment: format!("export after {} us", after.as_micros()),
        acknowledged: EVENTS as usize,
        journaled: rows(&base.place).len(),
        then: if duration { "was whole" } else { "written anew" },
        ..Point::default()
    }
}

fn import(seed: u64, random: &mut Random) -> Point {
    let base = base();
    let place = Place::new();
    let file = place.dir.path().join("in.jsonl");
    std::fs::write(&file, &base.export).unwrap();
    let path = file.to_string_lossy().into_owned();
    let after = moment(random, base.importing);
    let mut child = start(&place, &["import", &path]);
    std::thread::sleep(after);
    kill(&mut child);
    let arrived = rows(&place);
    assert!(
        arrived.is_empty() || arrived.len() as u64 == EVENTS,
        "seed {seed}: {} of {EVENTS} events",
        arrived.len()
    );
    require_intact_store(seed, &place);
    let output = place.run(&["import", &path]);
    // An existing session is not imported twice.
    let expected = i32::from(!arrived.is_empty());
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(expected), "seed {seed}: {words}");
    assert_eq!(place.sessions().len(), 1, "seed {seed}");
    assert_eq!(rows(&place), rows(&base.place), "seed {seed}");
    require_intact_store(seed, &place);
    Point {
        moment: format!("import after {} us", after.as_micros()),
        journaled: arrived.len(),
        then: if arrived.is_empty() { "taken in anew" } else { "was whole" },
        ..Point::default()
    }
}
