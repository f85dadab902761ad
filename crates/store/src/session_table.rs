//! The table of sessions: creates, forks, lists and finds them.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::append;
use super::checksum::CheckedFields;
use super::error::{FindError, SqliteResultExt, StoreError};
use super::schema::{WriteTransaction, in_write_transaction};
use super::store_types::{ForkPoint, JournalBatch, NewSession, SessionInfo, SessionSummary};
use super::time::from_micros;
use planwright_model::{MicroDollars, Seq, SessionId};

const READING: &str = "reading the list of sessions";
const CREATING: &str = "creating a session";

/// The name of the session most recently opened for writing or written to.
const LAST: &str = "last";

/// The status of a session that has no event of its own.
const EMPTY: &str = "empty";

/// `SQLite` has no unsigned integers. A figure that does not fit is hostile and is clamped to the maximum.
pub(super) fn to_signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn to_unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Adds a session. A fork only stores its fork point.
pub(super) fn create_session(
    connection: &Connection,
    database: &Path,
    new: &NewSession,
) -> Result<(), StoreError> {
    in_write_transaction(connection, database, CREATING, |transaction| {
        add_session(transaction, database, new).map(drop)
    })
}

fn add_session(
    transaction: &Connection,
    database: &Path,
    new: &NewSession,
) -> Result<i64, StoreError> {
    let key = insert_session(transaction, database, new)?;
    // A session that begins empty gets its plan rows as they are journaled; a fork begins with those of its parent.
    if new.parent.is_none() {
        transaction
            .execute("INSERT INTO projected (session) VALUES (?)", [key])
            .during(CREATING, database)?;
    }
    Ok(key)
}

/// Adds a session together with its first events.
pub(super) fn create_session_with_events(
    transaction: &WriteTransaction<'_>,
    database: &Path,
    new: &NewSession,
    first: &JournalBatch,
) -> Result<(), StoreError> {
    let key = add_session(transaction, database, new)?;
    let head = new.parent.as_ref().map_or(Seq::START, |point| point.seq);
    append::write_first_batch(transaction, database, (&new.id, key, head), first)
}

/// Adds a session within a transaction and returns its key.
pub(super) fn insert_session(
    transaction: &Connection,
    database: &Path,
    new: &NewSession,
) -> Result<i64, StoreError> {
    if !is_valid_session_id(&new.id) {
        return Err(StoreError::BadSessionId { session: new.id.clone() });
    }
    let parent = match &new.parent {
        Some(point) => Some(resolve_fork_point(transaction, database, point)?),
        None => None,
    };
    let created = new.created_at.as_microsecond();
    let (parent, parent_seq) = parent.unzip();
    let head = parent_seq.unwrap_or(0);
    let (id, format, visibility) = (new.id.as_str().into(), new.format.into(), 0);
    let fixed = FixedColumns { id, created, parent, parent_seq, format, visibility };
    let added = transaction
        .execute(
            "INSERT INTO session (id, created_at, updated_at, head_seq, parent, parent_seq, format, sum)
                 VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING",
            params![new.id.as_str(), created, head, parent, parent_seq, new.format, fixed.checksum()],
        )
        .during(CREATING, database)?;
    if added == 0 {
        return Err(StoreError::SessionExists { session: new.id.clone() });
    }
    let key = transaction.last_insert_rowid();
    write_summary(transaction, key, &new.summary).during(CREATING, database)?;
    Ok(key)
}

/// What a session's checksum covers: everything except its head, which the events confirm, and its summary.
pub(super) struct FixedColumns {
    /// Bytes, because a damaged id may not be text.
    id: Vec<u8>,
    created: i64,
    parent: Option<i64>,
    parent_seq: Option<i64>,
    format: i64,
    pub(super) visibility: i64,
}

impl FixedColumns {
    pub(super) const COLUMNS: &str = "id, created_at, parent, parent_seq, format, visibility";

    /// Reads the columns above, starting with the first one.
    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get_ref(0)?.as_bytes()?.to_vec(),
            created: row.get(1)?,
            parent: row.get(2)?,
            parent_seq: row.get(3)?,
            format: row.get(4)?,
            visibility: row.get(5)?,
        })
    }

    fn checked_numbers(&self) -> [(&'static str, i64); 5] {
        [
            ("creation time", self.created),
            ("parent", self.parent.unwrap_or(-1)),
            ("fork point", self.parent_seq.unwrap_or(-1)),
            ("format", self.format),
            ("visibility", self.visibility),
        ]
    }

    /// The readable part of the id.
    pub(super) fn readable_id(&self) -> String {
        String::from_utf8_lossy(&self.id).into_owned()
    }

    pub(super) fn checksum(&self) -> i64 {
        let texts: [(_, Option<&[u8]>); 1] = [("id", Some(&self.id))];
        CheckedFields { numbers: &self.checked_numbers(), texts: &texts }.checksum()
    }

    pub(super) fn describe_difference(&self, kept: i64) -> Option<String> {
        let texts: [(_, Option<&[u8]>); 1] = [("id", Some(&self.id))];
        CheckedFields { numbers: &self.checked_numbers(), texts: &texts }.describe_difference(kept)
    }
}

/// Shows or hides a session, or marks it for deletion.
pub(super) fn set_visibility(
    connection: &Connection,
    key: i64,
    visibility: i64,
) -> rusqlite::Result<()> {
    let sql = format!("SELECT {} FROM session WHERE key = ?", FixedColumns::COLUMNS);
    let found = connection.query_row(&sql, [key], FixedColumns::read).optional()?;
    let Some(fixed) = found else { return Ok(()) };
    let fixed = FixedColumns { visibility, ..fixed };
    connection
        .execute(
            "UPDATE session SET visibility = ?, sum = ? WHERE key = ?",
            [visibility, fixed.checksum(), key],
        )
        .map(drop)
}

/// Ids become names of lock files, and an imported one may be hostile.
pub(super) fn is_valid_session_id(id: &SessionId) -> bool {
    let text = id.as_str();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(allowed) && text != LAST
}

fn resolve_fork_point(
    connection: &Connection,
    database: &Path,
    point: &ForkPoint,
) -> Result<(i64, i64), StoreError> {
    let found = connection
        .query_row(
            "SELECT key, head_seq FROM session WHERE id = ? AND visibility < 2",
            [point.session.as_str()],
            |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)),
        )
        .optional()
        .during(CREATING, database)?;
    let session = point.session.clone();
    let Some((key, head)) = found else { return Err(StoreError::NoSession { session }) };
    let (seq, head_seq) = (to_signed(point.seq.0), Seq(to_unsigned(head)));
    if seq > head {
        return Err(StoreError::BadForkPoint { session, seq: point.seq, head: head_seq });
    }
    Ok((key, seq))
}

/// Writes the summary of a session for session lists.
pub(super) fn write_summary(
    connection: &Connection,
    key: i64,
    summary: &SessionSummary,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE session SET title = ?2, goal = ?3, workspace = ?4, status = ?5, pattern = ?6,
             done = ?7, total = ?8, cost_micro = ?9, tokens = ?10, open_requests = ?11 WHERE key = ?1",
        )?
        .execute(params![
            key,
            summary.title,
            summary.goal,
            summary.workspace,
            summary.status,
            summary.pattern,
            summary.done,
            summary.total,
            to_signed(summary.cost.0),
            to_signed(summary.tokens),
            summary.open_requests,
        ])
        .map(drop)
}

/// Writes the head of a session's journal together with its summary.
pub(super) fn write_head(
    connection: &Connection,
    key: i64,
    head: Seq,
    now: i64,
    summary: Option<&SessionSummary>,
) -> rusqlite::Result<()> {
    let Some(summary) = summary else {
        return connection
            .prepare_cached("UPDATE session SET head_seq = ?2, updated_at = ?3 WHERE key = ?1")?
            .execute(params![key, to_signed(head.0), now])
            .map(drop);
    };
    connection
        .prepare_cached(
            "UPDATE session SET head_seq = ?2, updated_at = ?3, title = ?4, goal = ?5, workspace = ?6, status = ?7,
             pattern = ?8, done = ?9, total = ?10, cost_micro = ?11, tokens = ?12, open_requests = ?13 WHERE key = ?1",
        )?
        .execute(params![
            key,
            to_signed(head.0),
            now,
            summary.title,
            summary.goal,
            summary.workspace,
            summary.status,
            summary.pattern,
            summary.done,
            summary.total,
            to_signed(summary.cost.0),
            to_signed(summary.tokens),
            summary.open_requests,
        ])
        .map(drop)
}

const COLUMNS: &str = "SELECT s.id, s.created_at, s.updated_at, s.opened_at, s.title, s.goal, s.workspace, s.status,
    s.pattern, s.done, s.total, s.cost_micro, s.tokens, s.open_requests, s.head_seq, p.id, s.parent_seq,
    s.visibility, s.format, o.source FROM session s LEFT JOIN session p ON p.key = s.parent
    LEFT JOIN origin o ON o.session = s.key";

/// A row as stored, before its times are checked.
struct StoredSession {
    info: SessionInfo,
    created_at: i64,
    updated_at: i64,
    opened_at: Option<i64>,
}

fn read_stored_session(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredSession> {
    let parent = row.get::<_, Option<String>>(15)?.map(SessionId::new);
    let parent_seq = row.get::<_, Option<i64>>(16)?.map(|seq| Seq(to_unsigned(seq)));
    let zero = jiff::Timestamp::UNIX_EPOCH;
    let mut info = SessionInfo {
        id: SessionId::new(row.get::<_, String>(0)?),
        created_at: zero,
        updated_at: zero,
        opened_at: None,
        summary: read_summary(row)?,
        head: Seq(to_unsigned(row.get(14)?)),
        parent: parent.zip(parent_seq).map(|(session, seq)| ForkPoint { session, seq }),
        hidden: row.get::<_, i64>(17)? != 0,
        format: row.get(18)?,
        imported: row.get(19)?,
    };
    if info.is_empty() {
        EMPTY.clone_into(&mut info.summary.status);
    }
    let (created_at, updated_at, opened_at) = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(StoredSession { info, created_at, updated_at, opened_at })
}

fn read_summary(row: &rusqlite::Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        title: row.get(4)?,
        goal: row.get(5)?,
        workspace: row.get(6)?,
        status: row.get(7)?,
        pattern: row.get(8)?,
        done: row.get(9)?,
        total: row.get(10)?,
        cost: MicroDollars(to_unsigned(row.get(11)?)),
        tokens: to_unsigned(row.get(12)?),
        open_requests: row.get(13)?,
    })
}

impl StoredSession {
    fn into_session_info(self, database: &Path) -> Result<SessionInfo, StoreError> {
        let time = |micros| from_micros(micros, database);
        Ok(SessionInfo {
            created_at: time(self.created_at)?,
            updated_at: time(self.updated_at)?,
            opened_at: self.opened_at.map(time).transpose()?,
            ..self.info
        })
    }
}

/// Every session that is not hidden, most recently used first.
pub(super) fn list_sessions(
    connection: &Connection,
    database: &Path,
) -> Result<Vec<SessionInfo>, StoreError> {
    let sql = format!("{COLUMNS} WHERE s.visibility = 0 ORDER BY {RECENT_FIRST}");
    let mut statement = connection.prepare_cached(&sql).during(READING, database)?;
    let rows = statement.query_map([], read_stored_session).during(READING, database)?;
    rows.map(|row| row.during(READING, database)?.into_session_info(database)).collect()
}

/// How many sessions are not hidden.
pub(super) fn session_count(connection: &Connection, database: &Path) -> Result<u64, StoreError> {
    super::schema::query_number(
        connection,
        database,
        "SELECT count(*) FROM session WHERE visibility = 0",
    )
    .map(to_unsigned)
}

/// Every session that got an event since a given time, including hidden ones.
pub(super) fn sessions_written_since(
    connection: &Connection,
    database: &Path,
    micros: i64,
) -> Result<Vec<SessionInfo>, StoreError> {
    let sql = format!("{COLUMNS} WHERE s.visibility < 2 AND s.updated_at >= ? ORDER BY s.key");
    let mut statement = connection.prepare_cached(&sql).during(READING, database)?;
    let rows = statement.query_map([micros], read_stored_session).during(READING, database)?;
    rows.map(|row| row.during(READING, database)?.into_session_info(database)).collect()
}

/// One session, even if it is hidden.
pub(super) fn session_info(
    connection: &Connection,
    database: &Path,
    id: &SessionId,
) -> Result<SessionInfo, StoreError> {
    let sql = format!("{COLUMNS} WHERE s.id = ? AND s.visibility < 2");
    let mut statement = connection.prepare_cached(&sql).during(READING, database)?;
    let found = statement
        .query_row([id.as_str()], read_stored_session)
        .optional()
        .during(READING, database)?;
    match found {
        Some(stored) => stored.into_session_info(database),
        None => Err(StoreError::NoSession { session: id.clone() }),
    }
}

const RECENT_FIRST: &str = "max(s.updated_at, coalesce(s.opened_at, 0)) DESC, s.key DESC";

/// Finds a session by its id, a unique prefix of it, or `last`. Hidden sessions are not found, and one without events
/// is never the last: it was left by a process that was killed at its start, before a session and its first events were
/// one transaction.
pub(super) fn find_session(
    connection: &Connection,
    database: &Path,
    name: &str,
) -> Result<SessionId, FindError> {
    let condition = if name == LAST {
        "?1 = 'last' AND s.head_seq > coalesce(s.parent_seq, 0)"
    } else {
        "substr(s.id, 1, length(?1)) = ?1"
    };
    let sql = format!(
        "SELECT s.id FROM session s WHERE s.visibility = 0 AND {condition} ORDER BY {RECENT_FIRST}"
    );
    let mut matches = query_ids(connection, &sql, name).during(READING, database)?;
    if let Some(exact) = matches.iter().position(|id| name == LAST || id.as_str() == name) {
        return Ok(matches.swap_remove(exact));
    }
    match matches.len() {
        1 if !name.is_empty() => Ok(matches.swap_remove(0)),
        2.. if !name.is_empty() => Err(FindError::Several { name: name.into(), matches }),
        _ => Err(FindError::None { name: name.into() }),
    }
}

fn query_ids(
    connection: &Connection,
    sql: &str,
    parameter: &str,
) -> rusqlite::Result<Vec<SessionId>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([parameter], |row| row.get::<_, String>(0))?;
    rows.map(|id| id.map(SessionId::new)).collect()
}
