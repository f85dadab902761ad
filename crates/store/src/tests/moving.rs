//! Version 5 moves live events into another table without changing them.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};

use super::*;
use crate::codec::PayloadEncoder;
use crate::{ForkPoint, schema};

/// The last version that keeps live events in a table of that name.
const BEFORE: i64 = 4;

const INSERT: &str =
    "INSERT INTO event (session, seq, at, kind, task, codec, payload) VALUES (?, ?, ?, ?, ?, ?, ?)";

/// Inserts rows the way a program of version 4 does.
fn insert_as_version_4(old: &Connection, key: i64, rows: &[JournalRow]) {
    let mut encoder = PayloadEncoder::new();
    for row in rows {
        let (codec, payload) = encoder.encode(&row.payload).unwrap();
        let (seq, at) = (row.seq.0.cast_signed(), row.at.as_microsecond());
        let values = params![key, seq, at, row.kind, row.task, codec, payload];
        old.prepare_cached(INSERT).unwrap().execute(values).unwrap();
    }
    let head = rows.last().unwrap().seq.0.cast_signed();
    old.execute("UPDATE session SET head_seq = ? WHERE key = ?", [head, key]).unwrap();
}

/// A database of version 4: two sessions, a fork of the first, and one whose events are sealed up to its last ten.
fn version_4_database(dir: &Path) -> Connection {
    let file = dir.join("planwright.db");
    let old = Connection::open(&file).unwrap();
    old.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL").unwrap();
    schema::migrate_to_version(&old, &file, BEFORE).unwrap();
    let sessions: [(&str, Option<(i64, i64)>); 4] =
        [("a1", None), ("b2", None), ("fork", Some((1, 150))), ("sealed", None)];
    for (name, parent) in sessions {
        let (parent, seq) = parent.unzip();
        let head = seq.unwrap_or(0);
        old.execute(
            "INSERT INTO session (id, created_at, updated_at, head_seq, parent, parent_seq, format)
             VALUES (?, 1, 1, ?, ?, ?, 1)",
            params![name, head, parent, seq],
        )
        .unwrap();
    }
    insert_as_version_4(&old, 1, &rows(1..=300));
    insert_as_version_4(&old, 2, &rows(1..=20));
    insert_as_version_4(&old, 3, &rows(151..=170));
    let packed = crate::segment::pack_run(&mut PayloadEncoder::new(), &rows(1..=100)).unwrap();
    old.execute(
        "INSERT INTO segment (session, first_seq, last_seq, contents, payloads) VALUES (4, 1, 100, ?, ?)",
        params![packed.contents, packed.payloads],
    )
    .unwrap();
    insert_as_version_4(&old, 4, &rows(101..=110));
    allow_owner(&file);
    old
}

fn allow_owner(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

fn all(store: &Store, name: &str) -> Vec<JournalRow> {
    store.reader().unwrap().read_rows(&id(name), Seq(1)..=Seq(u64::MAX)).unwrap()
}

fn is_whole(store: &Store) {
    for (name, head) in [("a1", 300), ("b2", 20), ("fork", 170), ("sealed", 110)] {
        assert_eq!(all(store, name), rows(1..=head), "{name}");
    }
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

#[test]
fn events_of_an_older_store_are_preserved_and_it_can_be_appended_to() {
    let dir = temporary();
    drop(version_4_database(dir.path()));
    let store = open(&dir);
    is_whole(&store);
    assert_eq!(store.storage_sizes().unwrap().live_events, 350);
    let reader = store.reader().unwrap();
    assert_eq!(reader.rows_before(&id("b2"), Seq(4), 10, None).unwrap(), rows(1..=3));
    assert_eq!(reader.rows_before(&id("fork"), Seq(160), 20, None).unwrap(), rows(140..=159));
    // An old session in the middle of the table can be appended to like the newest one.
    for (name, head) in [("a1", 300), ("fork", 170), ("sealed", 110), ("b2", 20)] {
        let journal = store.acquire_session(&id(name)).unwrap();
        assert_eq!(append(&journal, head + 1..=head + 40), Seq(head + 40), "{name}");
        assert_eq!(all(&store, name), rows(1..=head + 40), "{name}");
    }
    let parent = Some(ForkPoint { session: id("b2"), seq: Seq(30) });
    store.create_session(NewSession { parent, ..plain("late") }).unwrap();
    append(&store.acquire_session(&id("late")).unwrap(), 31..=33);
    assert_eq!(all(&store, "late"), rows(1..=33));
    store.seal_session(&id("a1")).unwrap();
    assert_eq!(all(&store, "a1"), rows(1..=340));
    assert_eq!(all(&store, "b2"), rows(1..=60), "sealing one session leaves the next alone");
    store.remove_session(&id("sealed")).unwrap();
    assert_eq!(all(&store, "fork"), rows(1..=210), "so does removing one");
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

/// The remainder of a process that was killed while it moved the events: pages in the log without a commit.
#[test]
fn an_interrupted_migration_is_repeated() {
    let dir = temporary();
    let moving = version_4_database(dir.path());
    moving.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
    let before = fs::metadata(dir.path().join("planwright.db-wal")).unwrap().len();
    moving.execute_batch(include_str!("../migrations/0005_live.sql")).unwrap();
    moving.pragma_update(None, "user_version", BEFORE + 1).unwrap();
    let other = temporary();
    for name in ["planwright.db", "planwright.db-wal"] {
        fs::copy(dir.path().join(name), other.path().join(name)).unwrap();
    }
    let log = fs::metadata(other.path().join("planwright.db-wal")).unwrap().len();
    assert!(log > before, "nothing of the move is in the log yet");
    drop(moving);
    allow_owner(&other.path().join("planwright.db"));
    let store = open(&other);
    is_whole(&store);
}

/// A program of version 4 that has the store open in the meantime does not know `live`.
#[test]
fn an_older_program_that_has_it_open_keeps_working() {
    let dir = temporary();
    let old = version_4_database(dir.path());
    let store = open(&dir);
    is_whole(&store);
    insert_as_version_4(&old, 1, &rows(301..=303));
    assert_eq!(all(&store, "a1"), rows(1..=303));
    let of_one = "SELECT count(*), min(seq), max(seq) FROM event WHERE session = ?";
    let counted = |key: i64| {
        old.query_row(of_one, [key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    };
    assert_eq!(counted(1), (303, 1, 303));
    assert_eq!(counted(3), (20, 151, 170));
    // It may seal as well.
    let packed = crate::segment::pack_run(&mut PayloadEncoder::new(), &rows(1..=128)).unwrap();
    old.execute(
        "INSERT INTO segment (session, first_seq, last_seq, contents, payloads) VALUES (1, 1, 128, ?, ?)",
        params![packed.contents, packed.payloads],
    )
    .unwrap();
    old.execute("DELETE FROM event WHERE session = ? AND seq BETWEEN ? AND ?", [1, 1, 128])
        .unwrap();
    assert_eq!(counted(1), (175, 129, 303));
    assert_eq!(all(&store, "a1"), rows(1..=303));
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

/// A log that is overwritten is synced in little more than half the time of one that grows.
#[test]
fn many_small_commits_do_not_grow_the_log() {
    const FRAME: u64 = 4096 + 24;
    let dir = temporary();
    let store = open(&dir);
    let journal = start(&store, "a1");
    for seq in 1..=1500 {
        append(&journal, seq..=seq);
    }
    let log = store.storage_sizes().unwrap().log;
    assert!(log < 400 * FRAME, "{} frames", log / FRAME);
}
