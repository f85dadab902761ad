//! Removes sessions, checks the file before it is first written to, and measures it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::checksum::NO_CHECKSUM;
use super::database::StorePaths;
use super::error::{SqliteResultExt, StoreError};
use super::reader::StoreReader;
use super::schema::{in_write_transaction, query_number};
use super::session_table::{FixedColumns, set_visibility, to_unsigned};
use super::writer_queue::{WriterJob, WriterQueue};
use planwright_model::SessionId;

pub(super) const CHECKING: &str = "checking the database";
const REMOVING: &str = "removing a session";

/// How many rows one transaction deletes, so that others can write in between.
const CHUNK: i64 = 2_000;

/// The result of removing a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionRemoval {
    Deleted,
    /// Forks still read their history from it: it is hidden and removed with the last of them.
    Hidden {
        forks: u64,
    },
}

/// The sizes of the parts of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSizes {
    /// The size of the database, which its file reaches when the log is checkpointed.
    pub database: u64,
    pub log: u64,
    /// Space within the database that later rows will use.
    pub free: u64,
    pub live_events: u64,
    pub segments: u64,
    pub segment_bytes: u64,
    pub checkpoints: u64,
    pub checkpoint_bytes: u64,
    /// The full-text index and the stored stretches of timelines.
    pub index_bytes: u64,
}

pub(super) fn measure_store(
    connection: &Connection,
    paths: &StorePaths,
) -> Result<StoreSizes, StoreError> {
    let measure = |sql: &str| query_number(connection, &paths.database, sql).map(to_unsigned);
    let page = measure("PRAGMA page_size")?;
    Ok(StoreSizes {
        database: measure("PRAGMA page_count")? * page,
        log: fs::metadata(paths.wal_path()).map_or(0, |metadata| metadata.len()),
        free: measure("PRAGMA freelist_count")? * page,
        live_events: measure("SELECT count(*) FROM live")?,
        segments: measure("SELECT count(*) FROM segment")?,
        segment_bytes: measure(
            "SELECT coalesce(sum(length(contents) + length(payloads)), 0) FROM segment",
        )?,
        checkpoints: measure("SELECT count(*) FROM checkpoint")?,
        checkpoint_bytes: measure("SELECT coalesce(sum(length(payload)), 0) FROM checkpoint")?,
        index_bytes: measure(
            "SELECT coalesce((SELECT sum(length(block)) FROM words_data), 0)
                + coalesce((SELECT sum(length(sz)) + 8 * count(*) FROM words_docsize), 0)
                + coalesce((SELECT sum(length(head) + length(steps)) FROM stretch), 0)",
        )?,
    })
}

/// The bytes of each session: sealed runs, the live tail and checkpoints.
pub(super) fn session_bytes(reader: &StoreReader) -> Result<BTreeMap<SessionId, u64>, StoreError> {
    const SQL: &str = "SELECT id,
        coalesce((SELECT sum(length(contents) + length(payloads)) FROM segment WHERE session = key), 0)
        + coalesce((SELECT sum(length(payload)) FROM live WHERE id BETWEEN (key << 36) AND ((key + 1) << 36) - 1), 0)
        + coalesce((SELECT sum(length(payload)) FROM checkpoint WHERE session = key), 0)
        FROM session WHERE visibility = 0";
    let (connection, database) = reader.connection();
    let read = || -> rusqlite::Result<BTreeMap<SessionId, u64>> {
        let mut statement = connection.prepare_cached(SQL)?;
        let rows = statement.query_map([], |row| {
            let id: String = row.get(0)?;
            Ok((SessionId::new(id), to_unsigned(row.get(1)?)))
        })?;
        rows.collect()
    };
    read().during("measuring the sessions", database)
}

/// Checks the structure of the file before it is first written to, if that is fast enough.
pub(super) fn check_before_writing(
    connection: &Connection,
    database: &Path,
) -> Result<(), StoreError> {
    const A_MOMENT: u64 = 32 << 20;
    require_columns(connection, database)?;
    if fs::metadata(database).map_or(0, |metadata| metadata.len()) > A_MOMENT {
        return Ok(());
    }
    let found = query_texts(connection, "PRAGMA quick_check(1)").during(CHECKING, database)?;
    match found.into_iter().find(|problem| problem != "ok") {
        Some(problem) => Err(StoreError::damaged(database, problem)),
        None => Ok(()),
    }
}

/// The columns that are written. If the definition of a table is damaged, a write may fail after others have succeeded.
const COLUMNS: [&str; 20] = [
    "key, id, created_at, updated_at, opened_at, title, goal, workspace, status, pattern, done, total, cost_micro, tokens,
     open_requests, head_seq, parent, parent_seq, visibility, format, sum FROM session",
    "id, at, kind, task, codec, payload, sum FROM live",
    "session, first_seq, last_seq, contents, payloads FROM segment",
    "session, first_seq, sum FROM segment_sum",
    "session FROM unsummed",
    "session, seq, codec, payload FROM checkpoint",
    "session, epoch, pid, started, host, since FROM lease",
    "session, last_seq, head, codec, steps FROM stretch",
    "session, upto FROM worded",
    "session, seq, note, at FROM bookmark",
    "session, source, header, at FROM origin",
    "id, key, text, tags, created_at, updated_at FROM memory",
    "id, at, tool, affinity, ok, confidence, latency_ms, code FROM tool_call",
    "tool, hash, at FROM tool_pin",
    "scope, call, at, codec, payload FROM tool_output",
    "scope, list FROM todo_list",
    "session, version, goal_id, pattern_type, pattern_subtype, pattern_variant FROM plans",
    "session, version, node FROM plan_node",
    "session, version, block, node, start, finish FROM plan_block",
    "id, session, at, request, answer FROM inbox",
];

/// Queries every column by its name. No row is read.
fn require_columns(connection: &Connection, database: &Path) -> Result<(), StoreError> {
    for columns in COLUMNS {
        if let Err(rusqlite::Error::SqlInputError { msg, .. }) =
            connection.prepare(&format!("SELECT {columns}"))
        {
            return Err(StoreError::damaged(database, format!("its tables were changed: {msg}")));
        }
    }
    Ok(())
}

pub(super) fn query_texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Hides a session, and marks it for deletion unless forks need it. The caller holds its lease.
pub(super) fn mark_for_removal(
    connection: &Connection,
    database: &Path,
    key: i64,
) -> Result<SessionRemoval, StoreError> {
    in_write_transaction(connection, database, REMOVING, |transaction| {
        let forks = count_forks(transaction, key).during(REMOVING, database)?;
        let visibility = if forks > 0 { 1 } else { 2 };
        set_visibility(transaction, key, visibility).during(REMOVING, database)?;
        Ok(if forks > 0 {
            SessionRemoval::Hidden { forks: to_unsigned(forks) }
        } else {
            SessionRemoval::Deleted
        })
    })
}

fn count_forks(connection: &Connection, key: i64) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM session WHERE parent = ?", [key], |row| row.get(0))
}

/// Deletes one chunk of a session marked for deletion and returns whether more is left. After a crash, the next start
/// continues.
pub(super) fn delete_next_chunk(
    connection: &Connection,
    paths: &StorePaths,
) -> Result<bool, StoreError> {
    let database = &paths.database;
    in_write_transaction(connection, database, REMOVING, |transaction| {
        let removable = next_removable_session(transaction).during(REMOVING, database)?;
        let Some((key, id, parent)) = removable else { return Ok(false) };
        if delete_rows(transaction, key).during(REMOVING, database)? == 0 {
            delete_session(transaction, key, parent).during(REMOVING, database)?;
            let id = SessionId::new(id);
            if let Err(error) = paths.output_spools().remove_session(&id) {
                tracing::warn!(%error, "output of a removed session stays on the disk");
            }
            // A lock file that remains is only an empty file.
            let _ = fs::remove_file(super::lease::lock_path(paths, &id));
        }
        Ok(true)
    })
}

type RemovableSession = (i64, String, Option<i64>);

/// A session that is marked for deletion. One whose mark may be a flipped bit is not touched.
fn next_removable_session(connection: &Connection) -> rusqlite::Result<Option<RemovableSession>> {
    let sql = format!(
        "SELECT {}, key, sum FROM session WHERE visibility = 2 ORDER BY key",
        FixedColumns::COLUMNS
    );
    let mut statement = connection.prepare(&sql)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let (fixed, sum) = (FixedColumns::read(row)?, row.get(7)?);
        if sum == NO_CHECKSUM || fixed.describe_difference(sum).is_none() {
            return Ok(Some((row.get(6)?, fixed.readable_id(), row.get(2)?)));
        }
    }
    Ok(None)
}

fn delete_rows(connection: &Connection, key: i64) -> rusqlite::Result<usize> {
    const SEGMENTS: i64 = 64;
    let mut deleted = 0;
    for (sql, chunk) in [
        (
            "DELETE FROM live WHERE id IN (SELECT id FROM live WHERE id BETWEEN (?1 << 36) AND ((?1 + 1) << 36) - 1 LIMIT ?2)",
            CHUNK,
        ),
        (
            "DELETE FROM segment WHERE session = ?1 AND first_seq IN (SELECT first_seq FROM segment WHERE session = ?1 LIMIT ?2)",
            SEGMENTS,
        ),
        (
            "DELETE FROM segment_sum WHERE session = ?1 AND first_seq IN (SELECT first_seq FROM segment_sum WHERE session = ?1 LIMIT ?2)",
            CHUNK,
        ),
        (
            "DELETE FROM checkpoint WHERE session = ?1 AND seq IN (SELECT seq FROM checkpoint WHERE session = ?1 LIMIT ?2)",
            SEGMENTS,
        ),
        (
            "DELETE FROM stretch WHERE session = ?1 AND last_seq IN (SELECT last_seq FROM stretch WHERE session = ?1 LIMIT ?2)",
            SEGMENTS,
        ),
        (
            "DELETE FROM words WHERE rowid IN (SELECT id FROM words_docsize WHERE id BETWEEN (?1 << 36) AND ((?1 + 1) << 36) - 1 LIMIT ?2)",
            CHUNK,
        ),
        (
            "DELETE FROM bookmark WHERE session = ?1 AND seq IN (SELECT seq FROM bookmark WHERE session = ?1 LIMIT ?2)",
            CHUNK,
        ),
    ] {
        deleted += connection.prepare_cached(sql)?.execute(params![key, chunk])?;
    }
    Ok(deleted)
}

/// Deletes the session itself, and marks a hidden parent for deletion if this was its last fork.
fn delete_session(connection: &Connection, key: i64, parent: Option<i64>) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM worded WHERE session = ?",
        "DELETE FROM unsummed WHERE session = ?",
        "DELETE FROM projected WHERE session = ?",
        "DELETE FROM plans WHERE session = ?",
        "DELETE FROM inbox WHERE session = ?",
        "DELETE FROM origin WHERE session = ?",
        "DELETE FROM lease WHERE session = ?",
    ] {
        connection.execute(sql, [key])?;
    }
    connection.execute("DELETE FROM session WHERE key = ?", [key])?;
    let forsaken = connection
        .query_row(
            "SELECT key FROM session WHERE key = ?1 AND visibility = 1
             AND NOT EXISTS (SELECT 1 FROM session WHERE parent = ?1)",
            [parent],
            |row| row.get(0),
        )
        .optional()?;
    forsaken.map_or(Ok(()), |parent| set_visibility(connection, parent, 2))
}

/// Removes a session that nobody has open.
pub(super) fn remove_session(
    queue: &WriterQueue,
    paths: &StorePaths,
    session: &SessionId,
) -> Result<SessionRemoval, StoreError> {
    let (grant, _) = super::lease::acquire_lease(queue, paths, session)?;
    let (database, key) = (paths.database.clone(), grant.to.key);
    let removal = queue.run(move |connection| mark_for_removal(connection, &database, key))?;
    loop {
        let paths = paths.clone();
        if !queue.run(move |connection| delete_next_chunk(connection, &paths))? {
            break;
        }
    }
    super::lease::queue_release(queue, grant);
    queue.send(WriterJob::ReclaimSpace)?;
    Ok(removal)
}

/// Rewrites the entire database without its unused space.
pub(super) fn vacuum_database(connection: &Connection, database: &Path) -> Result<(), StoreError> {
    connection.execute_batch("VACUUM").during("giving space back", database)
}
