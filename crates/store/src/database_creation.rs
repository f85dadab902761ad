//! Creating the database: under a name of its own, moved into place when it is complete.
//!
//! Nobody ever sees a database that is half made, and an empty file under the final name can only be one that lost its
//! content. Several processes may create at once; the first to finish wins and the others use its file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::OpenFlags;

use super::database::{OPENING, StorePaths, is_missing_or_empty, open_connection};
use super::error::{SqliteResultExt, StoreError};
use super::schema;

/// Between the name of the database and the process that is creating it.
const UNFINISHED: &str = ".new-";

/// Creates the database if there is none, and says whether it did.
pub(super) fn create_missing_database(place: &StorePaths) -> Result<bool, StoreError> {
    if database_exists(&place.database)? {
        return Ok(false);
    }
    refuse_orphan_log(place)?;
    remove_unfinished(place);
    let unfinished = UnfinishedDatabase::new(place)?;
    unfinished.create_tables()?;
    unfinished.move_into_place(place)
}

/// A log without its database is what is left of a store. `SQLite` would apply it to whatever is created beside it.
pub(super) fn refuse_orphan_log(place: &StorePaths) -> Result<(), StoreError> {
    // Another process may have created both meanwhile: the database is always there before its log.
    if !is_missing_or_empty(&place.wal_path()) && !database_exists(&place.database)? {
        return Err(StoreError::LogAlone { path: place.database.clone() });
    }
    Ok(())
}

/// Whether a file has that name. A link that leads nowhere is an error: a database could neither be opened through it
/// nor be created beside it.
pub(super) fn database_exists(path: &Path) -> Result<bool, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => match path.try_exists() {
            Ok(true) => Ok(true),
            Ok(false) => Err(StoreError::DanglingLink { path: path.to_owned() }),
            Err(error) => Err(StoreError::from_io("looking at", path, error)),
        },
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::from_io("looking at", path, error)),
    }
}

/// A database that is being created. Dropping it removes what is left under its name.
struct UnfinishedDatabase {
    path: PathBuf,
}

impl UnfinishedDatabase {
    /// An empty file that only its owner can read, before `SQLite` would make one that anyone can.
    fn new(place: &StorePaths) -> Result<Self, StoreError> {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let path = with_suffix(&place.database, &format!("{UNFINISHED}{process}-{number}"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(_) => Ok(Self { path }),
            Err(source) => Err(cannot_create(&place.database, source)),
        }
    }

    /// Gives it all tables. It is synced once, at the end: before that nobody else knows it.
    fn create_tables(&self) -> Result<(), StoreError> {
        let connection = open_connection(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection
            .execute_batch(
                "PRAGMA auto_vacuum = INCREMENTAL;
                 PRAGMA synchronous = OFF;
                 PRAGMA journal_mode = MEMORY;",
            )
            .during(OPENING, &self.path)?;
        schema::migrate_database(&connection, &self.path)?;
        connection.execute_batch("PRAGMA journal_mode = WAL").during(OPENING, &self.path)?;
        connection.close().map_err(|(_, error)| error).during(OPENING, &self.path)?;
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        synced.map_err(|error| StoreError::from_io("writing", &self.path, error))
    }

    /// Gives it its final name, unless another process was first.
    fn move_into_place(self, place: &StorePaths) -> Result<bool, StoreError> {
        // A hard link never replaces a file, which renaming would.
        let moved = match fs::hard_link(&self.path, &place.database) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no hard links. The moment between looking and renaming is left to chance there.
            Err(_) if database_exists(&place.database)? => Ok(false),
            Err(_) => fs::rename(&self.path, &place.database).map(|()| true),
        };
        let moved = moved.map_err(|source| cannot_create(&place.database, source))?;
        // Without it a power cut may take the name away again, and with it everything that was committed since.
        let synced = File::open(&place.dir).and_then(|dir| dir.sync_all());
        synced.map_err(|error| StoreError::from_io("writing", &place.dir, error))?;
        Ok(moved)
    }
}

impl Drop for UnfinishedDatabase {
    fn drop(&mut self) {
        remove_with_companions(&self.path);
    }
}

/// Removes what processes left that ended while they created a database.
fn remove_unfinished(place: &StorePaths) {
    let Some(name) = place.database.file_name().and_then(|name| name.to_str()) else { return };
    let prefix = format!("{name}{UNFINISHED}");
    // What cannot be listed or removed is in nobody's way.
    let Ok(entries) = fs::read_dir(&place.dir) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let rest = file.to_str().and_then(|file| file.strip_prefix(prefix.as_str()));
        let process = rest.and_then(|rest| rest.split('-').next()?.parse().ok());
        if process.is_some_and(|process| !super::lease::is_process_running(process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn remove_with_companions(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        // Most of them are not there.
        let _ = fs::remove_file(with_suffix(path, suffix));
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    name.into()
}

fn cannot_create(path: &Path, source: io::Error) -> StoreError {
    StoreError::CannotCreate { path: path.to_owned(), source: Arc::new(source) }
}
