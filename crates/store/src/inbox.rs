//! Answers from other processes: written by anyone, taken by whoever holds the session's lease.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::error::{Doing, StoreError};
use super::lease::key_of;
use super::reader::Reader;
use super::schema::immediate;
use super::time::micros_now;
use planwright_model::{RequestId, SessionId};

const POSTING: &str = "leaving an answer";
const TAKING: &str = "taking the answers that were left";

/// An answer that was left for the holder of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub request: RequestId,
    /// The answer as JSON; what it means is not for the store to know.
    pub answer: String,
}

/// Leaves an answer, and says under which number.
pub(super) fn post(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
    letter: &Letter,
) -> Result<i64, StoreError> {
    immediate(connection, database, POSTING, |transaction| {
        let key = key_of(transaction, database, session)?;
        transaction
            .execute(
                "INSERT INTO inbox (session, at, request, answer) VALUES (?, ?, ?, ?)",
                params![key, micros_now(), letter.request.0, letter.answer],
            )
            .doing(POSTING, database)?;
        Ok(transaction.last_insert_rowid())
    })
}

/// Takes everything that was left for a session, oldest first.
pub(super) fn take(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
) -> Result<Vec<Letter>, StoreError> {
    immediate(connection, database, TAKING, |transaction| {
        let key = key_of(transaction, database, session)?;
        let mut statement = transaction
            .prepare_cached("SELECT request, answer FROM inbox WHERE session = ? ORDER BY id")
            .doing(TAKING, database)?;
        let letters = statement
            .query_map([key], |row| {
                Ok(Letter { request: RequestId(row.get(0)?), answer: row.get(1)? })
            })
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
            .doing(TAKING, database)?;
        transaction
            .execute("DELETE FROM inbox WHERE session = ?", [key])
            .doing(TAKING, database)?;
        Ok(letters)
    })
}

/// Takes one's own answer back. False when the holder has it already.
pub(super) fn take_back(
    connection: &Connection,
    database: &Path,
    number: i64,
) -> Result<bool, StoreError> {
    immediate(connection, database, POSTING, |transaction| {
        let gone = transaction
            .execute("DELETE FROM inbox WHERE id = ?", [number])
            .doing(POSTING, database)?;
        Ok(gone > 0)
    })
}

impl Reader {
    /// Whether something was left for a session.
    pub fn has_letters(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.found(
            "SELECT 1 FROM inbox JOIN session ON key = session WHERE session.id = ? LIMIT 1",
            session.as_str(),
        )
    }

    /// Whether a letter still waits to be taken.
    pub fn letter_waits(&self, number: i64) -> Result<bool, StoreError> {
        self.found("SELECT 1 FROM inbox WHERE id = ?", number)
    }

    fn found(&self, sql: &str, parameter: impl rusqlite::ToSql) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([parameter], |row| row.get::<_, i64>(0)).optional()
            })
            .map(|found| found.is_some())
            .doing(TAKING, &self.database)
    }
}
