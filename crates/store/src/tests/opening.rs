//! A database we cannot use is rejected with a clear message and left unchanged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;

use super::*;
use crate::schema::{APPLICATION_ID, VERSION};
use crate::{StoreError, database, schema};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Opening must fail in both modes and must not change a byte.
fn refused(dir: &Path) -> StoreError {
    let file = dir.join("planwright.db");
    let before = fs::read(&file).unwrap();
    Store::open(dir, OpenMode::ReadOnly).unwrap_err();
    let error = Store::open(dir, OpenMode::ReadWrite).unwrap_err();
    assert_eq!(fs::read(&file).unwrap(), before, "the file was changed");
    assert!(!error.hint().is_empty());
    error
}

/// A closed store with one session of 300 events, and its database file.
fn filled(dir: &TempDir) -> std::path::PathBuf {
    let store = open(dir);
    append(&start(&store, "a1"), 1..=300);
    store.close();
    dir.path().join("planwright.db")
}

#[test]
fn directory_and_files_are_for_their_owner_only() {
    let dir = temporary();
    let data_dir = dir.path().join("data/planwright");
    let store = Store::open(&data_dir, OpenMode::ReadWrite).unwrap();
    let _journal = start(&store, "a1");
    assert_eq!(mode(&data_dir), 0o700);
    assert_eq!(mode(&data_dir.join("locks")), 0o700);
    for file in ["planwright.db", "planwright.db-wal", "planwright.db-shm", "locks/a1.lock"] {
        assert_eq!(mode(&data_dir.join(file)), 0o600, "{file}");
    }
}

#[test]
fn a_newer_database_is_refused_even_if_only_its_log_shows_it() {
    let dir = temporary();
    let file = filled(&dir);
    let newer = Connection::open(&file).unwrap();
    newer.pragma_update(None, "user_version", VERSION + 1).unwrap();
    // The new version is still in the log: the file itself has the old one.
    let log = fs::read(dir.path().join("planwright.db-wal")).unwrap();
    assert!(!log.is_empty());
    assert!(matches!(refused(dir.path()), StoreError::Newer { found, .. } if found == VERSION + 1));
    assert_eq!(fs::read(dir.path().join("planwright.db-wal")).unwrap(), log);
    newer.close().unwrap();
    assert!(matches!(refused(dir.path()), StoreError::Newer { found, .. } if found == VERSION + 1));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "files were left beside it");
}

#[test]
fn a_database_of_another_program_is_refused() {
    let dir = temporary();
    let file = dir.path().join("planwright.db");
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    assert!(matches!(refused(dir.path()), StoreError::NotOurs { .. }));
}

#[test]
fn a_damaged_file_is_refused() {
    let dir = temporary();
    let file = filled(&dir);
    let intact = fs::read(&file).unwrap();
    let damages: [(&str, Vec<u8>); 4] = [
        ("not a database", b"no database at all, only words".repeat(100)),
        ("short", intact[..60].to_vec()),
        ("cut", intact[..intact.len() / 2].to_vec()),
        ("schema overwritten", [&intact[..100], &[0xff; 4000], &intact[4100..]].concat()),
    ];
    for (damage, bytes) in damages {
        fs::write(&file, bytes).unwrap();
        let error = refused(dir.path());
        assert!(matches!(error, StoreError::Damaged { .. }), "{damage}: {error:?}");
    }
}

#[test]
fn a_file_damaged_anywhere_never_makes_a_panic_and_is_not_written_to() {
    let dir = temporary();
    let file = filled(&dir);
    let intact = fs::read(&file).unwrap();
    for n in 0..60 {
        let mut bytes = intact.clone();
        let at = intact.len() * n / 60;
        bytes[at..].iter_mut().take(16).for_each(|byte| *byte ^= 0xa5);
        fs::write(&file, &bytes).unwrap();
        if let Ok(store) = Store::open(dir.path(), OpenMode::ReadWrite) {
            let _ = store.list_sessions();
            let _ =
                store.reader().and_then(|reader| reader.read_rows(&id("a1"), Seq(1)..=Seq(300)));
            if !store
                .check_integrity(CheckDepth::Quick)
                .is_ok_and(|found| found.problems.is_empty())
            {
                assert!(store.acquire_session(&id("a1")).is_err(), "written to, damage at {at}");
            }
        }
        assert!(fs::read(&file).unwrap() == bytes, "changed by reading, damage at {at}");
    }
}

#[test]
fn a_file_or_directory_without_permission_is_refused() {
    let dir = temporary();
    let file = filled(&dir);
    allow(&file, 0o000);
    let error = Store::open(dir.path(), OpenMode::ReadWrite).unwrap_err();
    assert!(matches!(error, StoreError::NotPermitted { mode: 0, .. }), "{error:?}");
    assert!(Store::open(dir.path(), OpenMode::ReadOnly).is_err());
    allow(&file, 0o600);
    allow(dir.path(), 0o500);
    let error = Store::open(dir.path(), OpenMode::ReadWrite).unwrap_err();
    assert!(matches!(error, StoreError::NotPermitted { mode: 0o500, .. }), "{error:?}");
    allow(dir.path(), 0o700);
}

#[test]
fn a_directory_that_is_missing_or_cannot_be_created_is_named() {
    let dir = temporary();
    fs::write(dir.path().join("file"), "in the way").unwrap();
    let error = Store::open(&dir.path().join("file/store"), OpenMode::ReadWrite).unwrap_err();
    assert!(matches!(error, StoreError::NotADirectory { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        format!("the data directory {} is a file", dir.path().join("file").display())
    );
    assert!(error.hint().contains("name a directory"), "{}", error.hint());
    let error = Store::open(&dir.path().join("file"), OpenMode::ReadOnly).unwrap_err();
    assert!(matches!(error, StoreError::NotADirectory { .. }), "{error:?}");
    // A directory that cannot be read may contain sessions.
    fs::create_dir(dir.path().join("closed")).unwrap();
    allow(&dir.path().join("closed"), 0o000);
    let error = Store::open(&dir.path().join("closed"), OpenMode::ReadOnly).unwrap_err();
    assert!(matches!(error, StoreError::NotPermitted { .. }), "{error:?}");
    allow(&dir.path().join("closed"), 0o700);
    let error = Store::open(&dir.path().join("nowhere"), OpenMode::ReadOnly).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!dir.path().join("nowhere").exists());
}

#[test]
fn a_database_of_every_earlier_version_is_migrated() {
    for version in 1..VERSION {
        let dir = temporary();
        let file = dir.path().join("planwright.db");
        let old = Connection::open(&file).unwrap();
        schema::migrate_to_version(&old, &file, version).unwrap();
        drop(old);
        let store = open(&dir);
        append(&start(&store, "a1"), 1..=3);
        assert_eq!(store.list_sessions().unwrap().len(), 1);
    }
}

#[test]
fn the_file_has_our_application_id_and_every_commit_is_synced() {
    let dir = temporary();
    filled(&dir);
    let paths = database::StorePaths::new(dir.path());
    let connection = database::open_for_writing(&paths).unwrap();
    let pragma = |name| schema::query_number(&connection, &paths.database, name).unwrap();
    assert_eq!(pragma("PRAGMA application_id"), APPLICATION_ID);
    assert_eq!(pragma("PRAGMA synchronous"), 2);
    assert_eq!(pragma("PRAGMA foreign_keys"), 1);
    assert_eq!(pragma("PRAGMA auto_vacuum"), 2);
}

#[test]
fn a_dangling_link_is_refused_and_kept() {
    let dir = temporary();
    let link = dir.path().join("planwright.db");
    std::os::unix::fs::symlink(dir.path().join("elsewhere.db"), &link).unwrap();
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        let error = Store::open(dir.path(), mode).unwrap_err();
        assert!(matches!(error, StoreError::DanglingLink { .. }), "{error:?}");
        assert!(error.hint().contains("remove the link"), "{}", error.hint());
    }
    assert!(link.is_symlink() && !dir.path().join("elsewhere.db").exists());
}

#[test]
fn an_empty_file_is_not_mistaken_for_a_new_store() {
    let dir = temporary();
    let file = filled(&dir);
    fs::write(&file, "").unwrap();
    let error = refused(dir.path());
    assert!(matches!(error, StoreError::Emptied { .. }), "{error:?}");
    assert!(error.hint().contains("move") && error.hint().contains("nothing was changed"));
    // A log alone is also the remainder of a store.
    fs::remove_file(&file).unwrap();
    let log = dir.path().join("planwright.db-wal");
    fs::write(&log, "what was committed last").unwrap();
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        let error = Store::open(dir.path(), mode).unwrap_err();
        assert!(matches!(error, StoreError::LogAlone { .. }), "{error:?}");
    }
    assert!(!file.exists());
    assert_eq!(fs::read(&log).unwrap(), b"what was committed last");
    // Once it is moved away, as the message suggests, a new store is created.
    fs::remove_file(&log).unwrap();
    append(&start(&open(&dir), "a1"), 1..=3);
}

#[test]
fn leftovers_of_an_interrupted_creation_are_removed_and_never_have_the_final_name() {
    let dir = temporary();
    allow(dir.path(), 0o700);
    // No process has this id.
    let leftover = dir.path().join("planwright.db.new-4194305-0");
    fs::write(&leftover, "").unwrap();
    fs::write(dir.path().join("planwright.db.new-4194305-0-wal"), "").unwrap();
    let store = open(&dir);
    append(&start(&store, "a1"), 1..=3);
    drop(store);
    let mut names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    assert_eq!(names, ["locks", "planwright.db"]);
}

/// The remainder of a process that ended while it created the file: a page and a journal that has to be rolled back.
#[test]
fn a_store_whose_creation_was_interrupted_is_created_again() {
    let dir = temporary();
    let file = dir.path().join("planwright.db");
    let making = Connection::open(&file).unwrap();
    making.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA cache_size = 1").unwrap();
    making.execute_batch("BEGIN IMMEDIATE; CREATE TABLE a (x)").unwrap();
    for _ in 0..40 {
        making.execute("INSERT INTO a VALUES (zeroblob(9000))", []).unwrap();
    }
    // The pages are in the file by now; the journal next to it contains how to roll them back.
    let copies: Vec<_> = ["planwright.db", "planwright.db-journal"]
        .map(|name| (name, fs::read(dir.path().join(name)).unwrap()))
        .into();
    drop(making);
    let other = temporary();
    for (name, bytes) in copies {
        fs::write(other.path().join(name), bytes).unwrap();
    }
    allow(&other.path().join("planwright.db"), 0o600);
    let store = open(&other);
    append(&start(&store, "a1"), 1..=3);
    assert_eq!(store.check_integrity(CheckDepth::Full).unwrap().problems, Vec::<String>::new());
}

/// The locks that this process has on a file, as reported by the kernel.
#[cfg(target_os = "linux")]
fn locks_on(file: &Path) -> usize {
    use std::os::unix::fs::MetadataExt;
    let (own, inode) = (std::process::id().to_string(), fs::metadata(file).unwrap().ino());
    let is_ours = |line: &&str| {
        let mut fields = line.split_whitespace().skip(4);
        fields.next() == Some(own.as_str())
            && fields.next().is_some_and(|inode_field| inode_field.ends_with(&format!(":{inode}")))
    };
    fs::read_to_string("/proc/locks").unwrap().lines().filter(is_ours).count()
}

#[cfg(target_os = "linux")]
#[test]
fn opening_a_store_again_releases_no_lock_of_its_other_users() {
    let dir = temporary();
    let file = filled(&dir);
    let store = open(&dir);
    assert!(locks_on(&file) > 0, "an open store is marked as in use");
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        drop(Store::open(dir.path(), mode).unwrap());
        // A file that is closed loses all locks of the process at once. Background maintenance holds a lock for short
        // times, so the exact number is meaningless.
        assert!(locks_on(&file) > 0);
    }
    drop(store);
}

#[test]
fn the_reader_of_a_store_outlives_it() {
    let dir = temporary();
    filled(&dir);
    let store = Store::open(dir.path(), OpenMode::ReadOnly).unwrap();
    let shared = store.clone();
    assert_eq!(store.into_reader().unwrap().head(&SessionId::new("a1")).unwrap(), Seq(300));
    assert_eq!(shared.into_reader().unwrap().head(&SessionId::new("a1")).unwrap(), Seq(300));
}
