//! Kills while a database of the first version is migrated: it has one version or the other, and is complete.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use planwright_model::Seq;
use planwright_store::{JournalRow, OpenMode, Store};
use rusqlite::Connection;

use super::{Point, Random, kill, require_intact_store, rows, start};
use crate::program::{DIAMOND, Place};

const FIRST: &str = include_str!("../../../crates/store/src/migrations/0001_journal.sql");

/// A database of the first version with a plan that waits for its approval.
struct Base {
    place: Place,
    database: Vec<u8>,
    rows: Vec<JournalRow>,
    migrating: Duration,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let place = Place::new();
        let plan = place.plan(DIAMOND);
        assert_eq!(place.run(&["run", &plan, "--headless"]).status.code(), Some(3));
        let rows = rows(&place);
        let old = place.dir.path().join("old.db");
        of_the_first_version(&place.data().join("planwright.db"), &old);
        let database = std::fs::read(&old).unwrap();
        let other = with_database(&database);
        let began = Instant::now();
        assert!(other.run(&["sessions", "list"]).status.success());
        Base { place, database, rows, migrating: began.elapsed() }
    })
}

/// Copies the tables that the first version had into a database of that version.
fn of_the_first_version(newest: &Path, old: &Path) {
    let connection = Connection::open(old).unwrap();
    connection
        .execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        .unwrap();
    connection.execute_batch(FIRST).unwrap();
    connection.execute("ATTACH ? AS newest", [newest.to_string_lossy().as_ref()]).unwrap();
    for table in ["session", "event", "segment", "checkpoint", "lease"] {
        let columns: Vec<String> = connection
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let columns = columns.join(", ");
        let copy =
            format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newest.{table}");
        connection.execute(&copy, []).unwrap();
    }
    connection
        .execute_batch("DETACH newest; PRAGMA user_version = 1; PRAGMA application_id = 1349277554")
        .unwrap();
    connection.close().unwrap();
}

fn with_database(bytes: &[u8]) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    let file = place.data().join("planwright.db");
    std::fs::write(&file, bytes).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode;
    std::fs::set_permissions(place.data(), mode(0o700)).unwrap();
    std::fs::set_permissions(file, mode(0o600)).unwrap();
    place
}

fn version(place: &Place) -> i64 {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let file = place.data().join("planwright.db");
    let connection = Connection::open_with_flags(file, flags).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

pub(super) fn try_out(seed: u64) -> Point {
    let base = base();
    let mut random = Random(seed);
    let place = with_database(&base.database);
    let after = base.migrating.mul_f64(random.below(1_000) as f64 / 900.0);
    let mut child = start(&place, &["sessions", "list"]);
    std::thread::sleep(after);
    kill(&mut child);
    let then = match version(&place) {
        1 => "still of version 1",
        2 => "of version 2",
        _ => "of the newest version",
    };
    // Opening it once more completes the migration, with all of its data.
    assert!(place.run(&["sessions", "list"]).status.success(), "seed {seed}");
    assert!(version(&place) > 2, "seed {seed}");
    let store = Store::open(&place.data(), OpenMode::ReadOnly).unwrap();
    let id = store.find_session("last").unwrap();
    let kept = store.reader().unwrap().read_rows(&id, Seq(1)..=Seq(u64::MAX)).unwrap();
    drop(store);
    assert_eq!(kept, base.rows, "seed {seed}");
    require_intact_store(seed, &place);
    let work = base.place.work().join(seed.to_string());
    std::fs::create_dir(&work).unwrap();
    let work_name = work.to_string_lossy().into_owned();
    let args = ["resume", "last", "--headless", "--yes", "--workspace", &work_name];
    let output = place.run(&args);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "seed {seed}: {words}");
    let done = std::fs::read_to_string(work.join("done.txt")).unwrap();
    assert_eq!(done.lines().count(), 4, "seed {seed}");
    require_intact_store(seed, &place);
    Point {
        moment: format!("after {} us", after.as_micros()),
        acknowledged: base.rows.len(),
        journaled: kept.len(),
        then,
        ..Point::default()
    }
}
