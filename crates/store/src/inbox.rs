//! Answers from other processes: posted by anyone, read by the process that holds the session's lease. One is removed in the
//! commit that journals what became of it, so that none is lost and none acted on twice.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::error::{SqliteResultExt, StoreError};
use super::lease::find_session_key;
use super::reader::StoreReader;
use super::schema::in_write_transaction;
use super::time::micros_now;
use planwright_model::{RequestId, SessionId};

const POSTING: &str = "leaving an answer";
const TAKING: &str = "taking the answers that were left";

/// An answer posted for the holder of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxAnswer {
    pub request: RequestId,
    /// The answer as JSON; the store does not interpret it.
    pub answer: String,
}

/// Posts an answer and returns what names it.
pub(super) fn post_answer(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
    answer: &InboxAnswer,
) -> Result<InboxKey, StoreError> {
    in_write_transaction(connection, database, POSTING, |transaction| {
        let (key, at) = (find_session_key(transaction, database, session)?, micros_now());
        transaction
            .execute(
                "INSERT INTO inbox (session, at, request, answer) VALUES (?, ?, ?, ?)",
                params![key, at, answer.request.0, answer.answer],
            )
            .during(POSTING, database)?;
        Ok(InboxKey { number: transaction.last_insert_rowid(), at })
    })
}

/// A posted answer that nobody has acted on yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxLetter {
    pub key: InboxKey,
    pub answer: InboxAnswer,
}

/// Names one posted answer. Numbers are used again once they are free, so its time belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InboxKey {
    pub(super) number: i64,
    pub(super) at: i64,
}

/// Removes an answer within the transaction that journals what became of it.
pub(super) fn remove_letter(connection: &Connection, key: InboxKey) -> rusqlite::Result<usize> {
    connection.execute("DELETE FROM inbox WHERE id = ? AND at = ?", params![key.number, key.at])
}

/// Withdraws an answer of this process. Returns false if the holder has already taken it.
pub(super) fn withdraw_answer(
    connection: &Connection,
    database: &Path,
    key: InboxKey,
) -> Result<bool, StoreError> {
    in_write_transaction(connection, database, POSTING, |transaction| {
        Ok(remove_letter(transaction, key).during(POSTING, database)? > 0)
    })
}

impl StoreReader {
    /// Whether answers are waiting for a session.
    pub fn has_inbox_answers(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.row_exists(
            "SELECT 1 FROM inbox JOIN session ON key = session WHERE session.id = ? LIMIT 1",
            [session.as_str()],
        )
    }

    /// The answers that are waiting for a session, oldest first. They stay until what became of them is journaled.
    pub fn inbox_letters(&self, session: &SessionId) -> Result<Vec<InboxLetter>, StoreError> {
        let sql =
            "SELECT inbox.id, inbox.at, request, answer FROM inbox JOIN session ON key = session
                   WHERE session.id = ? ORDER BY inbox.id";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let rows = statement.query_map([session.as_str()], |row| {
                    let key = InboxKey { number: row.get(0)?, at: row.get(1)? };
                    let answer =
                        InboxAnswer { request: RequestId(row.get(2)?), answer: row.get(3)? };
                    Ok(InboxLetter { key, answer })
                })?;
                rows.collect()
            })
            .during(TAKING, &self.database)
    }

    /// The requests of a session whose answers are waiting to be taken.
    pub fn answered_requests(&self, session: &SessionId) -> Result<Vec<RequestId>, StoreError> {
        let sql = "SELECT request FROM inbox JOIN session ON key = session WHERE session.id = ?";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let rows =
                    statement.query_map([session.as_str()], |row| row.get(0).map(RequestId))?;
                rows.collect()
            })
            .during(TAKING, &self.database)
    }

    /// Whether an answer is still waiting to be taken.
    pub fn is_answer_waiting(&self, key: InboxKey) -> Result<bool, StoreError> {
        self.row_exists("SELECT 1 FROM inbox WHERE id = ? AND at = ?", params![key.number, key.at])
    }

    fn row_exists(&self, sql: &str, named: impl rusqlite::Params) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row(named, |row| row.get::<_, i64>(0)).optional()
            })
            .map(|found| found.is_some())
            .during(TAKING, &self.database)
    }
}
