//! Answers from other processes: posted by anyone, taken by the process that holds the session's lease.

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

/// Posts an answer and returns its number.
pub(super) fn post_answer(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
    answer: &InboxAnswer,
) -> Result<i64, StoreError> {
    in_write_transaction(connection, database, POSTING, |transaction| {
        let key = find_session_key(transaction, database, session)?;
        transaction
            .execute(
                "INSERT INTO inbox (session, at, request, answer) VALUES (?, ?, ?, ?)",
                params![key, micros_now(), answer.request.0, answer.answer],
            )
            .during(POSTING, database)?;
        Ok(transaction.last_insert_rowid())
    })
}

/// Takes all answers posted for a session, oldest first.
pub(super) fn take_answers(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
) -> Result<Vec<InboxAnswer>, StoreError> {
    in_write_transaction(connection, database, TAKING, |transaction| {
        let key = find_session_key(transaction, database, session)?;
        let mut statement = transaction
            .prepare_cached("SELECT request, answer FROM inbox WHERE session = ? ORDER BY id")
            .during(TAKING, database)?;
        let letters = statement
            .query_map([key], |row| {
                Ok(InboxAnswer { request: RequestId(row.get(0)?), answer: row.get(1)? })
            })
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
            .during(TAKING, database)?;
        transaction
            .execute("DELETE FROM inbox WHERE session = ?", [key])
            .during(TAKING, database)?;
        Ok(letters)
    })
}

/// Withdraws an answer of this process. Returns false if the holder has already taken it.
pub(super) fn withdraw_answer(
    connection: &Connection,
    database: &Path,
    number: i64,
) -> Result<bool, StoreError> {
    in_write_transaction(connection, database, POSTING, |transaction| {
        let removed = transaction
            .execute("DELETE FROM inbox WHERE id = ?", [number])
            .during(POSTING, database)?;
        Ok(removed > 0)
    })
}

impl StoreReader {
    /// Whether answers are waiting for a session.
    pub fn has_inbox_answers(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.row_exists(
            "SELECT 1 FROM inbox JOIN session ON key = session WHERE session.id = ? LIMIT 1",
            session.as_str(),
        )
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
    pub fn is_answer_waiting(&self, number: i64) -> Result<bool, StoreError> {
        self.row_exists("SELECT 1 FROM inbox WHERE id = ?", number)
    }

    fn row_exists(&self, sql: &str, parameter: impl rusqlite::ToSql) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([parameter], |row| row.get::<_, i64>(0)).optional()
            })
            .map(|found| found.is_some())
            .during(TAKING, &self.database)
    }
}
