//! Bookmarks: events of a session marked by the user. They are not part of the journal.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::error::{SqliteResultExt, StoreError};
use super::reader::StoreReader;
use super::schema::in_write_transaction;
use super::session_table::{to_signed, to_unsigned};
use super::time::{from_micros, micros_now};
use planwright_model::{Seq, SessionId};

const MARKING: &str = "keeping a bookmark";
const READING: &str = "reading the bookmarks";

/// A bookmarked event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bookmark {
    pub seq: Seq,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    pub at: Timestamp,
}

/// Sets or changes a bookmark; removes it if there is no note.
pub(super) fn set_bookmark(
    connection: &Connection,
    database: &Path,
    session: &SessionId,
    seq: Seq,
    note: Option<&str>,
) -> Result<(), StoreError> {
    let key = super::lease::find_session_key(connection, database, session)?;
    in_write_transaction(connection, database, MARKING, |transaction| {
        match note {
            Some(note) => transaction.execute(
                "INSERT INTO bookmark (session, seq, note, at) VALUES (?, ?, ?, ?)
                 ON CONFLICT (session, seq) DO UPDATE SET note = excluded.note",
                params![key, to_signed(seq.0), note, micros_now()],
            ),
            None => transaction.execute(
                "DELETE FROM bookmark WHERE session = ? AND seq = ?",
                params![key, to_signed(seq.0)],
            ),
        }
        .during(MARKING, database)
        .map(drop)
    })
}

impl StoreReader {
    /// The bookmarks of a session, in order.
    pub fn bookmarks(&self, session: &SessionId) -> Result<Vec<Bookmark>, StoreError> {
        const SQL: &str = "SELECT seq, note, at FROM bookmark
            WHERE session = (SELECT key FROM session WHERE id = ?) ORDER BY seq";
        let mut statement = self.connection.prepare_cached(SQL).during(READING, &self.database)?;
        let rows = statement
            .query_map([session.as_str()], |row| {
                Ok((Seq(to_unsigned(row.get(0)?)), row.get(1)?, row.get(2)?))
            })
            .during(READING, &self.database)?;
        rows.map(|row| {
            let (seq, note, at) = row.during(READING, &self.database)?;
            Ok(Bookmark { seq, note, at: from_micros(at, &self.database)? })
        })
        .collect()
    }
}
