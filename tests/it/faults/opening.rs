//! A database that is newer, damaged or inaccessible: never written, reported in a sentence, exit 1.

use std::os::unix::fs::PermissionsExt;

use planwright_model::Seq;
use planwright_store::{OpenMode, Store};

use super::times;
use crate::program::{DIAMOND, Place};

fn filled() -> Place {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    place
}

/// A process that wants to write to a damaged database is refused, and not a byte of it changes. Where the damage hits a page
/// that `SQLite` cannot tell from an intact one, the session's own hashes and decoding still must not panic.
#[test]
fn a_database_damaged_anywhere_is_never_written_to() {
    let place = filled();
    let database = place.data().join("planwright.db");
    let intact = std::fs::read(&database).unwrap();
    let offsets = times("PLANWRIGHT_DAMAGES", 12) as usize;
    let mut refused = 0;
    for number in 0..offsets {
        let at = intact.len() * number / offsets;
        let mut bytes = intact.clone();
        bytes[at..].iter_mut().take(24).for_each(|byte| *byte ^= 0xa5);
        std::fs::write(&database, &bytes).unwrap();
        let output = place.run(&["run", "../plan.toml", "--headless", "--yes"]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!words.contains("panicked"), "damage at {at}: {words}");
        match output.status.code() {
            Some(0) => assert!(is_intact(&place), "damage at {at}: written to"),
            Some(1) => {
                refused += 1;
                let named = ["damaged", "another program", "newer", "schema version"];
                assert!(named.iter().any(|word| words.contains(word)), "damage at {at}: {words}");
                let after = std::fs::read(&database).unwrap();
                assert!(after == bytes, "damage at {at}: the file was changed: {words}");
            }
            other => panic!("damage at {at}: exit {other:?}: {words}"),
        }
        for left in ["planwright.db-wal", "planwright.db-shm"] {
            let _ = std::fs::remove_file(place.data().join(left));
        }
    }
    println!("{offsets} places damaged, {refused} refused");
    assert!(refused > 0);
}

/// The new session exists and is complete, which is only possible if the damage hit something unused.
fn is_intact(place: &Place) -> bool {
    let store = Store::open(&place.data(), OpenMode::ReadOnly).unwrap();
    let id = store.find_session("last").unwrap();
    let rows = store.reader().unwrap().read_rows(&id, Seq(1)..=Seq(u64::MAX)).unwrap();
    rows.len() > 10
}

#[test]
fn a_database_without_permission_is_refused_by_every_command() {
    let place = filled();
    let database = place.data().join("planwright.db");
    let before = std::fs::read(&database).unwrap();
    let mode = std::fs::Permissions::from_mode;
    for (path, bits) in [(&database, 0o000), (&database, 0o200), (&place.data(), 0o000)] {
        let usual = std::fs::metadata(path).unwrap().permissions();
        std::fs::set_permissions(path, mode(bits)).unwrap();
        for args in [
            &["run", "../plan.toml", "--headless", "--yes"][..],
            &["resume", "last", "--headless"],
            &["sessions", "list"],
        ] {
            let output = place.run(args);
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!words.contains("panicked"), "{args:?}: {words}");
            if path == &database {
                assert_eq!(output.status.code(), Some(1), "{args:?} at {bits:o}: {words}");
                assert!(words.contains("may not be"), "{args:?}: {words}");
            }
        }
        std::fs::set_permissions(path, usual).unwrap();
    }
    assert_eq!(std::fs::read(&database).unwrap()[..100], before[..100]);
}

#[test]
fn an_empty_database_file_is_refused_by_every_command_and_left_alone() {
    let place = filled();
    let database = place.data().join("planwright.db");
    std::fs::write(&database, "").unwrap();
    for args in [
        &["run", "../plan.toml", "--headless", "--yes"][..],
        &["resume", "last", "--headless"],
        &["sessions", "list"],
        &["sessions", "verify"],
    ] {
        let output = place.run(args);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {words}");
        assert!(words.contains("is empty (0 bytes)") && words.contains("move"), "{words}");
        assert_eq!(std::fs::metadata(&database).unwrap().len(), 0, "{args:?} wrote to it");
    }
}

/// Every session of a store, with all of its events.
fn journals(data: &std::path::Path) -> Vec<(String, Vec<planwright_store::JournalRow>)> {
    let store = Store::open(data, OpenMode::ReadOnly).unwrap();
    let reader = store.reader().unwrap();
    let mut all: Vec<_> = store
        .list_sessions()
        .unwrap()
        .into_iter()
        .map(|info| {
            let rows = reader.read_rows(&info.id, Seq(1)..=Seq(u64::MAX)).unwrap();
            (info.id.to_string(), rows)
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// The bytes of a database with a sealed session and a copy of it that is still live.
fn sealed_and_live(place: &Place) -> Vec<u8> {
    let (_, rows) = journals(&place.data()).pop().unwrap();
    let store = Store::open(&place.data(), OpenMode::ReadWrite).unwrap();
    let id = planwright_model::SessionId::new("copy");
    let new = planwright_store::NewSession {
        id: id.clone(),
        created_at: rows[0].at,
        format: 1,
        parent: None,
        summary: planwright_store::SessionSummary::default(),
    };
    store.create_session(new).unwrap();
    let journal = store.acquire_session(&id).unwrap();
    journal
        .append_blocking(planwright_store::JournalBatch::from_rows(rows))
        .unwrap()
        .wait()
        .unwrap();
    let compact = place.dir.path().join("compact.db");
    let connection = rusqlite::Connection::open(place.data().join("planwright.db")).unwrap();
    connection.execute("VACUUM INTO ?", [compact.to_str().unwrap()]).unwrap();
    std::fs::read(compact).unwrap()
}

/// A bit flipped inside the payload of a live event, in the file itself: `sessions verify` fails and names it. Damage to
/// sealed runs and to the other columns is covered by the tests of the store.
#[test]
fn verify_names_a_bit_flipped_in_the_journal() {
    let place = filled();
    let intact = sealed_and_live(&place);
    let other = Place::new();
    std::fs::create_dir(other.data()).unwrap();
    std::fs::set_permissions(other.data(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let database = other.data().join("planwright.db");
    let put = |bytes: &[u8]| {
        std::fs::write(&database, bytes).unwrap();
        std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    put(&intact);
    let is_intact = other.run(&["sessions", "verify"]);
    assert!(is_intact.status.success(), "{}", String::from_utf8_lossy(&is_intact.stdout));
    let live: Vec<Vec<u8>> = journals(&other.data())
        .into_iter()
        .filter(|(id, _)| id == "copy")
        .flat_map(|(_, rows)| rows)
        .map(|row| row.payload)
        .filter(|payload| payload.len() < 1_000)
        .collect();
    let damages = times("PLANWRIGHT_DAMAGES", 12) as usize;
    for number in 0..damages {
        let payload = &live[number * 7 % live.len()];
        let at = intact.windows(payload.len()).rposition(|window| window == payload).unwrap();
        let mut bytes = intact.clone();
        bytes[at + number * 31 % payload.len()] ^= 1 << (number % 8);
        put(&bytes);
        let output = other.run(&["sessions", "verify"]);
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "damage {number} at {at}: {words}");
        assert!(words.contains("session copy: event "), "damage {number} at {at}: {words}");
        assert!(words.contains("one bit of its payload was flipped"), "{words}");
        let named = other.run(&["sessions", "verify", "copy"]);
        assert_eq!(named.status.code(), Some(1), "a session that is named is checked as closely");
    }
    println!("{damages} bits flipped, {damages} named");
}
