//! One writer per session: a file lock that is released with its process, and a row that names the holder.
//!
//! The lock is authoritative. The row's epoch grows with every holder and is checked in each append, so that a writer
//! that lost its lock without noticing cannot add events after the next holder has started.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{process, thread};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::database::StorePaths;
use super::error::{LeaseHolder, SqliteResultExt, StoreError};
use super::schema::in_write_transaction;
use super::session_table;
use super::store_types::{JournalBatch, NewSession};
use super::time::{from_micros, micros_now};
use super::writer_queue::{WriterJob, WriterQueue};
use planwright_model::{Seq, SessionId};

const TAKING: &str = "taking the lease of a session";

/// Identifies a lease: batches carry it, and the append checks it.
#[derive(Debug)]
pub(super) struct LeaseKey {
    pub(super) id: SessionId,
    pub(super) key: i64,
    pub(super) epoch: i64,
}

/// A lease in force. The lock is released when the file is closed.
#[derive(Debug)]
pub(super) struct LeaseGrant {
    pub(super) to: Arc<LeaseKey>,
    _lock: File,
}

/// Acquires the lease of a session and returns its head.
pub(super) fn acquire_lease(
    queue: &WriterQueue,
    paths: &StorePaths,
    id: &SessionId,
) -> Result<(LeaseGrant, Seq), StoreError> {
    // A lease that this process has just dropped is released by the writer thread: let that happen first.
    let (database, session) = (paths.database.clone(), id.clone());
    queue.run(move |connection| find_session_key(connection, &database, &session).map(drop))?;
    let lock = lock_session(queue, paths, id)?;
    let (database, session) = (paths.database.clone(), id.clone());
    let (key, epoch, head) =
        queue.run(move |connection| register_holder(connection, &database, &session))?;
    let to = Arc::new(LeaseKey { id: id.clone(), key, epoch });
    Ok((LeaseGrant { to, _lock: lock }, head))
}

/// Creates a session with its first events and acquires its lease, all in one transaction: a process that is killed in
/// the meantime leaves either a session that can be resumed or none.
pub(super) fn create_leased_session(
    queue: &WriterQueue,
    paths: &StorePaths,
    new: NewSession,
    first: JournalBatch,
) -> Result<(LeaseGrant, Seq), StoreError> {
    if !session_table::is_valid_session_id(&new.id) {
        return Err(StoreError::BadSessionId { session: new.id });
    }
    let id = new.id.clone();
    let lock = lock_session(queue, paths, &id)?;
    let database = paths.database.clone();
    let created = queue.run(move |connection| {
        in_write_transaction(connection, &database, TAKING, |transaction| {
            session_table::create_session_with_events(transaction, &database, &new, &first)?;
            register_holder_in(transaction, &database, &new.id)
        })
    });
    let (key, epoch, head) = created.inspect_err(|error| {
        // The lock file of an existing session must not be removed.
        if !matches!(error, StoreError::SessionExists { .. }) {
            // A lock file that stays is only an empty file.
            let _ = fs::remove_file(lock_path(paths, &id));
        }
    })?;
    let to = Arc::new(LeaseKey { id, key, epoch });
    Ok((LeaseGrant { to, _lock: lock }, head))
}

fn lock_session(
    queue: &WriterQueue,
    paths: &StorePaths,
    id: &SessionId,
) -> Result<File, StoreError> {
    // Ten attempts with nine pauses, 180 ms: covers the time between another process locking the file and committing
    // its row. A lock released in that time is acquired; without a row, the error cannot name the holder.
    const ATTEMPTS: u32 = 10;
    const PAUSE: Duration = Duration::from_millis(20);
    let path = lock_path(paths, id);
    for attempt in 1.. {
        if let Some(file) = try_lock_file(&path)? {
            return Ok(file);
        }
        let (database, session) = (paths.database.clone(), id.clone());
        let holder = queue.run(move |connection| lease_holder(connection, &database, &session))?;
        // The process that has the lock writes its row shortly afterward.
        if holder.is_some() || attempt == ATTEMPTS {
            return Err(StoreError::Held { session: id.clone(), holder });
        }
        thread::sleep(PAUSE);
    }
    unreachable!("the loop ends by returning")
}

/// Locks the file, or returns `None` if another process has it. A lock on a file that was unlinked in the meantime is
/// not accepted.
fn try_lock_file(path: &Path) -> Result<Option<File>, StoreError> {
    let failed = |error: std::io::Error| match error.kind() {
        // Nothing can be written here at all, which is the more useful error.
        ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnlyFiles { path: path.to_owned() },
        _ => StoreError::from_io("locking", path, error),
    };
    loop {
        let options =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = options.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The lock belongs to the inode, not to the name. If the file was removed between opening and locking it,
        // another process may already hold a lock on a new file of that name: only a lock on the file that still has
        // the name is valid.
        let locked_inode = file.metadata().map_err(failed)?.ino();
        if fs::metadata(path).is_ok_and(|current| current.ino() == locked_inode) {
            return Ok(Some(file));
        }
    }
}

pub(super) fn lock_path(paths: &StorePaths, id: &SessionId) -> PathBuf {
    paths.locks.join(format!("{id}.lock"))
}

/// Shows that the holder of a lease is still at work: the time of its lock file is the last moment that it was.
pub(super) fn touch_lock(paths: &StorePaths, id: &SessionId) -> Result<(), StoreError> {
    let path = lock_path(paths, id);
    OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_modified(SystemTime::now()))
        .map_err(|error| StoreError::from_io("touching", &path, error))
}

/// When the holder of a lease was last at work. `None` for one that never tells, as programs before version 0.4 did.
pub(super) fn last_sign_of_life(
    paths: &StorePaths,
    id: &SessionId,
    holder: &LeaseHolder,
) -> Option<Timestamp> {
    let changed = fs::metadata(lock_path(paths, id)).and_then(|found| found.modified()).ok()?;
    let at = Timestamp::try_from(changed).ok()?;
    (at > holder.since).then_some(at)
}

pub(super) fn find_session_key(
    connection: &Connection,
    database: &Path,
    id: &SessionId,
) -> Result<i64, StoreError> {
    connection
        .query_row(
            "SELECT key FROM session WHERE id = ? AND visibility = 0",
            [id.as_str()],
            |row| row.get(0),
        )
        .optional()
        .during(TAKING, database)?
        .ok_or_else(|| StoreError::NoSession { session: id.clone() })
}

/// Writes this process into the row and fences off the previous holder.
fn register_holder(
    connection: &Connection,
    database: &Path,
    id: &SessionId,
) -> Result<(i64, i64, Seq), StoreError> {
    in_write_transaction(connection, database, TAKING, |transaction| {
        register_holder_in(transaction, database, id)
    })
}

fn register_holder_in(
    transaction: &Connection,
    database: &Path,
    id: &SessionId,
) -> Result<(i64, i64, Seq), StoreError> {
    let key = find_session_key(transaction, database, id)?;
    let now = micros_now();
    // The epoch grows even if the row was never cleared, so every acquisition invalidates all earlier leases. A writer
    // that was suspended, or whose lock file was deleted, fails at its next append.
    let epoch = transaction
        .query_row(
            "INSERT INTO lease (session, epoch, pid, started, host, since) VALUES (?1, 1, ?2, ?3, ?4, ?5)
             ON CONFLICT (session) DO UPDATE
             SET epoch = epoch + 1, pid = ?2, started = ?3, host = ?4, since = ?5
             RETURNING epoch",
            params![key, process::id(), start_ticks(process::id()).unwrap_or(0), host_name(), now],
            |row| row.get(0),
        )
        .during(TAKING, database)?;
    let head: i64 = transaction
        .query_row(
            "UPDATE session SET opened_at = ?2 WHERE key = ?1 RETURNING head_seq",
            params![key, now],
            |row| row.get(0),
        )
        .during(TAKING, database)?;
    Ok((key, epoch, Seq(head.cast_unsigned())))
}

/// Clears the holder in the row; the lock itself is released afterward, with the grant.
pub(super) fn release_lease(
    connection: &Connection,
    database: &Path,
    grant: &LeaseGrant,
) -> Result<(), StoreError> {
    let LeaseKey { key, epoch, .. } = *grant.to;
    in_write_transaction(
        connection,
        database,
        "giving back the lease of a session",
        |transaction| {
            // Matching the epoch keeps a late release from clearing the row of the next holder.
            transaction
                .execute(
                    "UPDATE lease SET pid = NULL WHERE session = ? AND epoch = ?",
                    [key, epoch],
                )
                .during(TAKING, database)
                .map(drop)
        },
    )
}

/// The live process that has the session open for writing, according to its row.
pub(super) fn lease_holder(
    connection: &Connection,
    database: &Path,
    id: &SessionId,
) -> Result<Option<LeaseHolder>, StoreError> {
    let found = connection
        .prepare_cached(
            "SELECT pid, started, host, since FROM lease JOIN session ON key = session
             WHERE id = ? AND pid IS NOT NULL",
        )
        .and_then(|mut statement| {
            statement
                .query_row([id.as_str()], |row| {
                    Ok((row.get::<_, u32>(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?))
                })
                .optional()
        })
        .during("reading the lease of a session", database)?;
    let Some((pid, started, host, since)) = found else { return Ok(None) };
    if !is_holder_alive(pid, started, &host) {
        return Ok(None);
    }
    Ok(Some(LeaseHolder { pid, host, since: from_micros(since, database)? }))
}

/// Whether a recorded holder is still running. This cannot be known about another machine, so it is assumed there.
pub(super) fn is_holder_alive(pid: u32, started: i64, recorded_host: &str) -> bool {
    if recorded_host != host_name() || !Path::new("/proc/self/stat").exists() {
        return true;
    }
    start_ticks(pid).is_some_and(|ticks| started == 0 || ticks == started)
}

/// Whether a process of this machine is running. Assumed where it cannot be determined.
pub(super) fn is_process_running(pid: u32) -> bool {
    is_holder_alive(pid, 0, &host_name())
}

/// When a process started, in clock ticks since boot: with its pid this names one process for good. `None` for one that
/// is gone, which is the usual answer and no error.
fn start_ticks(pid: u32) -> Option<i64> {
    const AFTER_NAME: usize = 19;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain spaces and parentheses, so fields are counted after the last one.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(AFTER_NAME)?.parse().ok()
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "this machine".into() } else { name.into() }
}

/// Passes a lease to the writer thread, which releases it after everything appended under it.
pub(super) fn queue_release(queue: &WriterQueue, grant: LeaseGrant) {
    // If the thread has ended, dropping the grant here frees the lock, which is authoritative.
    let _ = queue.send(WriterJob::Release(grant));
}
