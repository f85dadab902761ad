//! Creates the database under a temporary name and moves it into place when it is complete.
//!
//! No process ever sees a half-created database, and an empty file under the final name can only be one that lost its
//! content. Several processes may create a database at once; the first to finish wins and the others use its file.

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

/// Separates the name of the database from the id of the process that is creating it.
const UNFINISHED: &str = ".new-";

/// Creates the database if there is none, and returns whether it did.
pub(super) fn create_missing_database(paths: &StorePaths) -> Result<bool, StoreError> {
    if database_exists(&paths.database)? {
        return Ok(false);
    }
    refuse_orphan_log(paths)?;
    remove_unfinished(paths);
    let unfinished = UnfinishedDatabase::new(paths)?;
    unfinished.create_tables()?;
    unfinished.move_into_place(paths)
}

/// A log without its database is the remainder of a store. `SQLite` would apply it to any database created next to it.
pub(super) fn refuse_orphan_log(paths: &StorePaths) -> Result<(), StoreError> {
    // Another process may have created both in the meantime: the database always exists before its log.
    if !is_missing_or_empty(&paths.wal_path()) && !database_exists(&paths.database)? {
        return Err(StoreError::LogAlone { path: paths.database.clone() });
    }
    Ok(())
}

/// Whether a file has that name. A dangling link is an error: a database could neither be opened through it nor be
/// created next to it.
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

/// A database that is being created. Dropping it removes what is left under its temporary name.
struct UnfinishedDatabase {
    path: PathBuf,
}

impl UnfinishedDatabase {
    /// Creates an empty file that only its owner can read, before `SQLite` would create one that anyone can read.
    fn new(paths: &StorePaths) -> Result<Self, StoreError> {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let path = with_suffix(&paths.database, &format!("{UNFINISHED}{process}-{number}"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(_) => Ok(Self { path }),
            Err(source) => Err(cannot_create(&paths.database, source)),
        }
    }

    /// Creates all tables. The file is synced once, at the end: until then no other process knows it.
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

    /// Gives the file its final name, unless another process was first.
    fn move_into_place(self, paths: &StorePaths) -> Result<bool, StoreError> {
        // A hard link never replaces a file; renaming would.
        let moved = match fs::hard_link(&self.path, &paths.database) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no hard links. The moment between looking and renaming is left to chance there.
            Err(_) if database_exists(&paths.database)? => Ok(false),
            Err(error) => {
                tracing::debug!(%error, "no hard link for the new database, renaming it instead");
                fs::rename(&self.path, &paths.database).map(|()| true)
            }
        };
        let moved = moved.map_err(|source| cannot_create(&paths.database, source))?;
        // Without this, a power failure could undo the rename, and with it everything committed since.
        let synced = File::open(&paths.dir).and_then(|dir| dir.sync_all());
        synced.map_err(|error| StoreError::from_io("writing", &paths.dir, error))?;
        Ok(moved)
    }
}

impl Drop for UnfinishedDatabase {
    fn drop(&mut self) {
        remove_with_companions(&self.path);
    }
}

/// Removes files left by processes that were killed while they created a database.
fn remove_unfinished(paths: &StorePaths) {
    let Some(name) = paths.database.file_name().and_then(|name| name.to_str()) else { return };
    let prefix = format!("{name}{UNFINISHED}");
    // Files that cannot be listed or removed do no harm.
    let Ok(entries) = fs::read_dir(&paths.dir) else { return };
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
        // Most of them do not exist.
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
