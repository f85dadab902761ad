//! The schema version and the steps between versions: one SQL file each, applied in one transaction.
//!
//! A shipped file is never edited; a later version adds a file and a line here.

use std::ops::Deref;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::database::BUSY_TIMEOUT;
use super::error::{Doing, StoreError};

/// Marks the file as ours: the letters `PlWr`.
pub(super) const APPLICATION_ID: i64 = 0x506c_5772;

/// Step `n` (from 0) leads from version `n` to version `n + 1`.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_journal.sql"),
    include_str!("migrations/0002_index.sql"),
    include_str!("migrations/0003_tools.sql"),
    include_str!("migrations/0004_planning.sql"),
    include_str!("migrations/0005_live.sql"),
    include_str!("migrations/0006_checksums.sql"),
];

/// The newest schema version this program knows.
pub const VERSION: i64 = MIGRATIONS.len().cast_signed() as i64;

/// How long a write waits for other processes before it gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Brings the database to the newest version, or leaves it as it was.
pub(super) fn migrate(connection: &Connection, database: &Path) -> Result<(), StoreError> {
    migrate_to(connection, database, VERSION)
}

pub(super) fn migrate_to(
    connection: &Connection,
    database: &Path,
    target: i64,
) -> Result<(), StoreError> {
    const DOING: &str = "preparing the database";
    while version(connection, database)? < target {
        immediate(connection, database, DOING, |transaction| {
            // Another process may have done this step while we waited for the write lock.
            let from = version(transaction, database)?;
            let Some(step) = usize::try_from(from).ok().and_then(|from| MIGRATIONS.get(from))
            else {
                return Ok(());
            };
            transaction.execute_batch(step).doing(DOING, database)?;
            transaction
                .pragma_update(None, "application_id", APPLICATION_ID)
                .doing(DOING, database)?;
            transaction.pragma_update(None, "user_version", from + 1).doing(DOING, database)
        })?;
    }
    Ok(())
}

/// The schema version a connection sees.
pub(super) fn version(connection: &Connection, database: &Path) -> Result<i64, StoreError> {
    number(connection, database, "PRAGMA user_version")
}

/// Runs a query whose answer is one whole number.
pub(super) fn number(
    connection: &Connection,
    database: &Path,
    sql: &str,
) -> Result<i64, StoreError> {
    connection.query_row(sql, [], |row| row.get(0)).doing("reading the database", database)
}

/// Runs `work` in a transaction that has the write lock from its start, waiting for other processes to finish theirs.
pub(super) fn immediate<T>(
    connection: &Connection,
    database: &Path,
    doing: &'static str,
    work: impl FnOnce(&Writing<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = begin(connection, database, doing)?;
    let value = work(&transaction)?;
    transaction.commit().doing(doing, database)?;
    Ok(value)
}

/// Takes the write lock. Nothing has happened before it is granted, so that waiting and asking again is always safe.
pub(super) fn begin<'a>(
    connection: &'a Connection,
    database: &Path,
    doing: &'static str,
) -> Result<Writing<'a>, StoreError> {
    patiently(PATIENCE, || Writing::begin(connection).doing(doing, database))
}

/// Takes the write lock if nobody else has it. `None` after any failure: whoever tries again patiently learns which.
pub(super) fn begin_at_once(connection: &Connection) -> Option<Writing<'_>> {
    connection.busy_timeout(Duration::ZERO).ok()?;
    let transaction = Writing::begin(connection).ok();
    connection.busy_timeout(BUSY_TIMEOUT).ok()?;
    transaction
}

/// A transaction that has the write lock, and is rolled back unless it is committed. It begins and ends with statements
/// that stay prepared: there is one for every step of a run.
pub(super) struct Writing<'a>(&'a Connection);

impl<'a> Writing<'a> {
    fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(connection))
    }

    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // What cannot be rolled back is forgotten with the connection, which has no way to commit it.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

impl Deref for Writing<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

/// Repeats `attempt` while another process is in the way, at most for `patience`.
pub(super) fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    const FIRST_PAUSE: Duration = Duration::from_millis(1);
    const LONGEST_PAUSE: Duration = Duration::from_millis(50);
    let deadline = Instant::now() + patience;
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt() {
            Err(error) if error.is_busy() && Instant::now() < deadline => thread::sleep(pause),
            outcome => return outcome,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
