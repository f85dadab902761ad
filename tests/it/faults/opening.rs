//! A database that is newer, damaged or closed to us: never written, said in a sentence, exit 1.

use std::os::unix::fs::PermissionsExt;

use planwright::model::Seq;
use planwright::store::{OpenMode, Store};

use super::times;
use crate::program::{DIAMOND, Place};

fn filled() -> Place {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    place
}

/// Whoever wants to write to a damaged database is refused, and not a byte of it changes. Where the damage hits a page
/// that `SQLite` cannot tell from a whole one, the session's own hashes and decoding still may not make a panic.
#[test]
fn a_database_damaged_anywhere_is_never_written_to() {
    let place = filled();
    let database = place.data().join("planwright.db");
    let whole = std::fs::read(&database).unwrap();
    let offsets = times("PLANWRIGHT_DAMAGES", 12) as usize;
    let mut refused = 0;
    for number in 0..offsets {
        let at = whole.len() * number / offsets;
        let mut bytes = whole.clone();
        bytes[at..].iter_mut().take(24).for_each(|byte| *byte ^= 0xa5);
        std::fs::write(&database, &bytes).unwrap();
        let output = place.run(&["run", "../plan.toml", "--headless", "--yes"]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!words.contains("panicked"), "damage at {at}: {words}");
        match output.status.code() {
            Some(0) => assert!(sound(&place), "damage at {at}: written to"),
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

/// The new session is there and whole, which it can only be if the damage hit something unused.
fn sound(place: &Place) -> bool {
    let store = Store::open(&place.data(), OpenMode::ReadOnly).unwrap();
    let id = store.find_session("last").unwrap();
    let rows = store.reader().unwrap().rows(&id, Seq(1)..=Seq(u64::MAX)).unwrap();
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
