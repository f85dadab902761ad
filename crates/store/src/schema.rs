//! The schema version and the migrations between versions: one SQL file each, applied in one transaction.
//!
//! A shipped file is never edited; a later version adds a file and a line here.

use std::ops::Deref;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::database::BUSY_TIMEOUT;
use super::error::{SqliteResultExt, StoreError};

/// Marks the file as ours: the letters `PlWr`.
pub(super) const APPLICATION_ID: i64 = 0x506c_5772;

/// Migration `n` (from 0) leads from version `n` to version `n + 1`.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_journal.sql"),
    include_str!("migrations/0002_index.sql"),
    include_str!("migrations/0003_tools.sql"),
    include_str!("migrations/0004_planning.sql"),
    include_str!("migrations/0005_live.sql"),
    include_str!("migrations/0006_checksums.sql"),
];

/// The newest schema version this program supports.
pub const VERSION: i64 = MIGRATIONS.len().cast_signed() as i64;

/// How long a write waits for other processes before it gives up.
pub(super) const LOCK_WAIT_LIMIT: Duration = Duration::from_secs(30);

/// Migrates the database to the newest version, or leaves it unchanged.
pub(super) fn migrate_database(connection: &Connection, database: &Path) -> Result<(), StoreError> {
    migrate_to_version(connection, database, VERSION)
}

pub(super) fn migrate_to_version(
    connection: &Connection,
    database: &Path,
    target: i64,
) -> Result<(), StoreError> {
    const DOING: &str = "preparing the database";
    while schema_version(connection, database)? < target {
        in_write_transaction(connection, database, DOING, |transaction| {
            // Another process may have applied this migration while we waited for the write lock.
            let from = schema_version(transaction, database)?;
            let Some(step) = usize::try_from(from).ok().and_then(|from| MIGRATIONS.get(from))
            else {
                return Ok(());
            };
            transaction.execute_batch(step).during(DOING, database)?;
            transaction
                .pragma_update(None, "application_id", APPLICATION_ID)
                .during(DOING, database)?;
            transaction.pragma_update(None, "user_version", from + 1).during(DOING, database)
        })?;
    }
    Ok(())
}

/// The schema version a connection sees.
pub(super) fn schema_version(connection: &Connection, database: &Path) -> Result<i64, StoreError> {
    query_number(connection, database, "PRAGMA user_version")
}

/// Runs a query that returns one integer.
pub(super) fn query_number(
    connection: &Connection,
    database: &Path,
    sql: &str,
) -> Result<i64, StoreError> {
    connection.query_row(sql, [], |row| row.get(0)).during("reading the database", database)
}

/// Runs `work` in a transaction that holds the write lock from its start, waiting for other processes to finish theirs.
pub(super) fn in_write_transaction<T>(
    connection: &Connection,
    database: &Path,
    doing: &'static str,
    work: impl FnOnce(&WriteTransaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = begin_write(connection, database, doing)?;
    let value = work(&transaction)?;
    transaction.commit().during(doing, database)?;
    Ok(value)
}

/// Acquires the write lock. Nothing has happened before it is granted, so waiting and trying again is always safe.
pub(super) fn begin_write<'a>(
    connection: &'a Connection,
    database: &Path,
    doing: &'static str,
) -> Result<WriteTransaction<'a>, StoreError> {
    retry_while_busy(LOCK_WAIT_LIMIT, || {
        WriteTransaction::begin(connection).during(doing, database)
    })
}

/// Acquires the write lock if nobody else has it. `None` after any failure; the caller gets the reason when it retries
/// with [`begin_write`].
pub(super) fn try_begin_write(connection: &Connection) -> Option<WriteTransaction<'_>> {
    connection.busy_timeout(Duration::ZERO).ok()?;
    let transaction = WriteTransaction::begin(connection).ok();
    connection.busy_timeout(BUSY_TIMEOUT).ok()?;
    transaction
}

/// A transaction that holds the write lock, and is rolled back unless it is committed. Its `BEGIN` and `COMMIT` stay
/// prepared: there is a transaction for every step of a run.
pub(super) struct WriteTransaction<'a>(&'a Connection);

impl<'a> WriteTransaction<'a> {
    fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(connection))
    }

    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // What cannot be rolled back is forgotten with the connection, which has no way to commit it.
            if let Err(error) = self.0.execute_batch("ROLLBACK") {
                tracing::warn!(%error, "a transaction cannot be rolled back");
            }
        }
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

/// Repeats `attempt` while another process holds the lock, at most for `patience`.
pub(super) fn retry_while_busy<T>(
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
