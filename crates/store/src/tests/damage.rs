//! One flipped bit in the journal is found and named, wherever it is; an undetected one changed nothing.

use std::collections::BTreeMap;
use std::fs;

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::*;
use crate::{ForkPoint, StoreError};

/// How many positions are damaged.
fn damages() -> u64 {
    let requested = std::env::var("PLANWRIGHT_DAMAGES").ok().and_then(|text| text.parse().ok());
    requested.unwrap_or(240).max(240)
}

/// A small generator, so that a failing position can be reproduced.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A store with three sealed runs and forty live events, a fork with its own live events, and both journals held open
/// so that the live events stay live.
fn filled(dir: &TempDir) -> (Store, [Journal; 2]) {
    let store = open(dir);
    let journal = start(&store, "a1");
    append(&journal, 1..=300);
    store.seal_session(&id("a1")).unwrap();
    append(&journal, 301..=340);
    let parent = Some(ForkPoint { session: id("a1"), seq: Seq(320) });
    store.create_session(NewSession { parent, ..plain("fork") }).unwrap();
    let fork = store.acquire_session(&id("fork")).unwrap();
    append(&fork, 321..=335);
    (store, [journal, fork])
}

fn all(store: &Store) -> Result<BTreeMap<String, Vec<JournalRow>>, StoreError> {
    let reader = store.reader()?;
    let sessions = store.list_sessions()?.into_iter().map(|info| info.id);
    sessions
        .map(|id| Ok((id.to_string(), reader.read_rows(&id, Seq(1)..=Seq(u64::MAX))?)))
        .collect()
}

fn flipped(value: Value, bit: u64) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(number ^ (1 << (bit % 63))),
        Value::Text(text) => Value::Blob(flip_one(text.into_bytes(), bit)),
        Value::Blob(bytes) => Value::Blob(flip_one(bytes, bit)),
        other => other,
    }
}

fn flip_one(mut bytes: Vec<u8>, bit: u64) -> Vec<u8> {
    let position = (bit / 8) as usize % bytes.len().max(1);
    if let Some(byte) = bytes.get_mut(position) {
        *byte ^= 1 << (bit % 8);
    }
    bytes
}

/// The columns whose bits matter, with the type that a text is written back as.
const COLUMNS: [(&str, &str, bool); 16] = [
    ("live", "id", false),
    ("live", "at", false),
    ("live", "kind", true),
    ("live", "task", true),
    ("live", "payload", false),
    ("live", "codec", false),
    ("live", "sum", false),
    ("segment", "first_seq", false),
    ("segment", "last_seq", false),
    ("segment", "contents", false),
    ("segment", "payloads", false),
    ("segment_sum", "sum", false),
    ("session", "id", true),
    ("session", "head_seq", false),
    ("session", "parent_seq", false),
    ("session", "created_at", false),
];

#[test]
fn a_flipped_bit_in_any_column_is_named() {
    let dir = temporary();
    let (store, _journals) = filled(&dir);
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
    let file = Connection::open(dir.path().join("planwright.db")).unwrap();
    file.execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF").unwrap();
    let (mut state, mut tried) = (0x5eed_0024, 0);
    for number in 0.. {
        if tried >= damages() {
            break;
        }
        let (table, column, is_text) = COLUMNS[number % COLUMNS.len()];
        let chosen = random(&mut state);
        let primary =
            if ["segment", "segment_sum"].contains(&table) { "first_seq" } else { "rowid" };
        let (row, value): (i64, Value) = file
            .query_row(
                &format!(
                    "SELECT {primary}, {column} FROM {table} WHERE {column} IS NOT NULL LIMIT 1
                     OFFSET ? % (SELECT count(*) FROM {table} WHERE {column} IS NOT NULL)"
                ),
                [(chosen >> 33) as i64],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        let written = if is_text { "CAST(? AS TEXT)" } else { "?" };
        let change = format!(
            "UPDATE {table} SET {column} = {written} WHERE {column} = {written} AND {primary} = ?"
        );
        let blob = |value: Value| match value {
            Value::Text(text) => Value::Blob(text.into_bytes()),
            other => other,
        };
        let (damaged, original) = (flipped(value.clone(), random(&mut state)), blob(value));
        // SQLite itself rejects a number that another row already has.
        if file.execute(&change, params![damaged, original, row]).is_err() {
            continue;
        }
        tried += 1;
        let problems = match store.check_integrity(CheckDepth::Full) {
            Ok(found) => found.problems,
            Err(error) => vec![error.to_string()],
        };
        let description = format!("{table}.{column} of row {row}: {original:?} became {damaged:?}");
        assert!(!problems.is_empty(), "{description}: not found");
        let named = |problem: &String| problem.contains("session ") || problem.contains("event ");
        assert!(problems.iter().any(named), "{description}: {problems:?}");
        let row = if column == "id" && table == "live" || column == "first_seq" {
            match damaged {
                Value::Integer(number) => number,
                _ => row,
            }
        } else {
            row
        };
        assert_eq!(
            file.execute(&change, params![original, damaged, row]).unwrap(),
            1,
            "{description}"
        );
    }
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

#[test]
fn the_event_and_the_column_that_differ_are_named() {
    let dir = temporary();
    let (store, _journals) = filled(&dir);
    let file = Connection::open(dir.path().join("planwright.db")).unwrap();
    let found = |change: &str, undo: &str| {
        file.execute_batch(change).unwrap();
        let problems = store.check_session(&id("a1")).unwrap();
        file.execute_batch(undo).unwrap();
        problems
    };
    let of_event_305 = "WHERE id = (1 << 36) + 305";
    assert_eq!(
        found(
            &format!("UPDATE live SET at = at + 1 - 2 * (at & 1) {of_event_305}"),
            &format!("UPDATE live SET at = at + 1 - 2 * (at & 1) {of_event_305}"),
        ),
        ["event 305: one bit of its time was flipped"]
    );
    assert_eq!(
        found(
            "UPDATE segment SET last_seq = last_seq + 1 WHERE session = 1 AND first_seq = 257",
            "UPDATE segment SET last_seq = last_seq - 1 WHERE session = 1 AND first_seq = 257",
        )
        .last()
        .unwrap(),
        "sealed run of events 257 to 301: one bit of its last number was flipped"
    );
    // Two rows that were swapped are both wrong, even though each of them is intact.
    let swap = "UPDATE live SET id = -1 WHERE id = (1 << 36) + 310;
        UPDATE live SET id = (1 << 36) + 310 WHERE id = (1 << 36) + 311;
        UPDATE live SET id = (1 << 36) + 311 WHERE id = -1;";
    assert_eq!(found(swap, swap).len(), 2);
    assert_eq!(
        found(
            "CREATE TABLE aside AS SELECT * FROM live WHERE id = (1 << 36) + 312; DELETE FROM live WHERE id = (1 << 36) + 312",
            "INSERT INTO live SELECT * FROM aside; DROP TABLE aside",
        ),
        ["expected event 312, found 313"]
    );
    assert_eq!(store.check_session(&id("fork")).unwrap(), Vec::<String>::new());
}

#[test]
fn a_damaged_event_is_neither_read_nor_sealed() {
    let dir = temporary();
    let (store, _journals) = filled(&dir);
    let file = Connection::open(dir.path().join("planwright.db")).unwrap();
    file.execute("UPDATE live SET kind = 'task_progresses' WHERE id = (1 << 36) + 305", [])
        .unwrap();
    let read = store.reader().unwrap().read_row(&id("a1"), Seq(305)).unwrap_err();
    assert!(read.to_string().contains("event 305"), "{read}");
    assert!(store.seal_session(&id("a1")).is_err());
    assert_eq!(store.check_session(&id("a1")).unwrap().len(), 1, "it is still known to be damaged");
}

#[test]
fn a_session_that_a_flipped_bit_marks_for_removal_is_not_removed() {
    let dir = temporary();
    drop(filled(&dir));
    let file = Connection::open(dir.path().join("planwright.db")).unwrap();
    file.execute("UPDATE session SET visibility = 2, sum = sum WHERE id = 'a1'", []).unwrap();
    file.execute(
        "UPDATE session SET sum = (SELECT sum FROM session WHERE id = 'fork') WHERE id = 'a1'",
        [],
    )
    .unwrap();
    drop(file);
    let store = open(&dir);
    start(&store, "other");
    store.remove_session(&id("other")).unwrap();
    assert_eq!(store.storage_sizes().unwrap().segments, 5, "nothing of it is gone");
    assert!(!store.check_integrity(CheckDepth::Full).unwrap().problems.is_empty());
}

/// Where in the file rows of the journal are: each kind with the bytes before it, and every payload.
fn row_offsets(bytes: &[u8], rows: &[JournalRow]) -> Vec<usize> {
    const BEFORE_KIND: usize = 22;
    let mut offsets = Vec::new();
    for row in rows {
        let needle = &row.payload[..row.payload.len().min(60)];
        // The last one: the root page of a table keeps a copy of what was moved out of it.
        let found = bytes.windows(needle.len()).rposition(|window| window == needle);
        offsets.extend(found.into_iter().flat_map(|at| {
            let kind = row.kind.len() + row.task.as_ref().map_or(0, String::len) + BEFORE_KIND;
            at.saturating_sub(kind)..at + row.payload.len()
        }));
    }
    offsets
}

/// Bits flipped in the pages themselves: the cells of rows with their headers, and anywhere else. The store refuses to
/// open, the check names the damage, or every event of every session reads as it was written.
#[test]
fn a_bit_flipped_in_the_file_is_found_or_changes_nothing() {
    let dir = temporary();
    let (store, _journals) = filled(&dir);
    let expected = all(&store).unwrap();
    let file = dir.path().join("planwright.db");
    let connection = Connection::open(&file).unwrap();
    // A copy without free space: what looks like a row is one, not the remainder of a moved one.
    let compact = dir.path().join("compact.db");
    connection.execute("VACUUM INTO ?", [compact.to_str().unwrap()]).unwrap();
    let intact = fs::read(&compact).unwrap();
    let live: Vec<JournalRow> =
        rows(301..=340).into_iter().filter(|row| row.seq.0 % 17 != 0).collect();
    let cells = row_offsets(&intact, &live);
    assert!(cells.len() > 3_000, "{}", cells.len());
    let other = temporary();
    let copy = other.path().join("planwright.db");
    let (mut state, mut found, mut harmless_in_rows) = (0x5eed_1024, 0, 0);
    for number in 0..damages() {
        let chosen = random(&mut state) as usize;
        let in_a_row = number % 4 != 0;
        let at = if in_a_row { cells[chosen % cells.len()] } else { chosen % intact.len() };
        let mut bytes = intact.clone();
        bytes[at] ^= 1 << (random(&mut state) % 8);
        fs::write(&copy, &bytes).unwrap();
        fs::set_permissions(&copy, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let problems = Store::open(other.path(), OpenMode::ReadOnly)
            .and_then(|store| Ok((store.check_integrity(CheckDepth::Full)?.problems, all(&store))));
        match problems {
            Ok((problems, read)) if problems.is_empty() => {
                harmless_in_rows += u64::from(in_a_row);
                assert_eq!(read.unwrap(), expected, "byte {at}: changed and not found");
            }
            Ok(_) | Err(_) => found += 1,
        }
    }
    println!("{found} found, {harmless_in_rows} harmless inside of rows");
    assert_eq!(harmless_in_rows, 0);
}

#[test]
fn a_store_without_checksums_gets_them_in_background() {
    let dir = temporary();
    let (store, journals) = filled(&dir);
    drop(journals);
    store.seal_session(&id("a1")).unwrap();
    store.close();
    drop(store);
    let file = Connection::open(dir.path().join("planwright.db")).unwrap();
    // The state in which the migration leaves a store of the previous version.
    file.execute_batch(
        "INSERT OR IGNORE INTO unsummed SELECT key FROM session; DELETE FROM segment_sum; UPDATE session SET sum = -1",
    )
    .unwrap();
    let missing = |file: &Connection| -> i64 {
        file.query_row("SELECT count(*) FROM unsummed", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(missing(&file), 2);
    let store = open(&dir);
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while missing(&file) > 0 {
        assert!(std::time::Instant::now() < deadline, "the checksums were not added");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
    let flip = "UPDATE segment SET last_seq = last_seq + 1 WHERE first_seq = 1";
    file.execute(flip, []).unwrap();
    assert!(!store.check_integrity(CheckDepth::Full).unwrap().problems.is_empty());
}

#[test]
fn a_damaged_definition_of_a_table_is_found_before_anything_is_written() {
    let dir = temporary();
    drop(filled(&dir));
    let file = dir.path().join("planwright.db");
    let mut bytes = fs::read(&file).unwrap();
    let definition = b"created_at    INTEGER NOT NULL";
    // Moved copies are still in the file; which one is in use does not matter here.
    let offsets: Vec<usize> = (0..bytes.len() - definition.len())
        .filter(|at| bytes[*at..].starts_with(definition))
        .collect();
    assert!(!offsets.is_empty());
    for at in offsets {
        bytes[at] ^= 2;
    }
    fs::write(&file, &bytes).unwrap();
    let refused = Store::open(dir.path(), OpenMode::ReadWrite)
        .and_then(|store| store.create_session(plain("b2")))
        .unwrap_err();
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused:?}");
    assert!(fs::read(&file).unwrap() == bytes, "the file was changed");
}
