//! Taking in a whole session from elsewhere, in one transaction: all of it or nothing.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::bookmarks::Bookmark;
use super::codec::{Encoder, ZSTD};
use super::error::{Doing, StoreError};
use super::reader::Reader;
use super::record::{NewSession, Row, SessionSummary};
use super::schema::{Writing, begin};
use super::segment::{self, LEVEL, RUN, RUN_BYTES};
use super::sessions::{self, signed};
use super::time::micros_now;
use planwright_model::SessionId;

const IMPORTING: &str = "importing a session";

/// Where a session came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The kind of file, such as `planwright` or `codex`.
    pub source: String,
    /// The header of an export, byte for byte, so that exporting it again gives the same file.
    pub header: String,
}

/// An event that is taken in, and a fold after it where one is due.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub row: Row,
    pub fold: Option<Vec<u8>>,
}

/// The events of a session that is being taken in, checked by whoever reads them.
pub trait Incoming {
    type Error;
    /// The next event.
    fn next(&mut self) -> Result<Option<Arrival>, Self::Error>;
    /// What lists show of it, after the last event.
    fn summary(&self) -> SessionSummary;
}

/// Takes in all events of a session, or none if one of them is refused.
pub(super) fn import<I: Incoming>(
    connection: &Connection,
    database: &Path,
    new: &NewSession,
    from: &Provenance,
    bookmarks: &[Bookmark],
    mut incoming: I,
) -> Result<Result<(), I::Error>, StoreError> {
    let mut import = Import::begin(connection, database, new, from, bookmarks)?;
    loop {
        match incoming.next() {
            Ok(Some(Arrival { row, fold })) => {
                import.push(row)?;
                if let Some(fold) = fold {
                    import.checkpoint(&fold)?;
                }
            }
            Ok(None) => break,
            // Dropping the transaction takes everything back.
            Err(refused) => return Ok(Err(refused)),
        }
    }
    import.finish(&incoming.summary()).map(Ok)
}

/// A session that is taken in row by row. Dropping it before `finish` leaves the store as it was.
struct Import<'a> {
    transaction: Writing<'a>,
    database: &'a Path,
    encoder: Encoder,
    key: i64,
    head: u64,
    last_at: i64,
    run: Vec<Row>,
    bytes: usize,
}

impl<'a> Import<'a> {
    fn begin(
        connection: &'a Connection,
        database: &'a Path,
        new: &NewSession,
        from: &Provenance,
        bookmarks: &[Bookmark],
    ) -> Result<Self, StoreError> {
        let transaction = begin(connection, database, IMPORTING)?;
        let key = sessions::insert(&transaction, database, new)?;
        transaction
            .execute(
                "INSERT INTO origin (session, source, header, at) VALUES (?, ?, ?, ?)",
                params![key, from.source, from.header, micros_now()],
            )
            .doing(IMPORTING, database)?;
        for mark in bookmarks {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO bookmark (session, seq, note, at) VALUES (?, ?, ?, ?)",
                    params![key, signed(mark.seq.0), mark.note, mark.at.as_microsecond()],
                )
                .doing(IMPORTING, database)?;
        }
        let encoder = Encoder::with_level(LEVEL);
        Ok(Self {
            transaction,
            database,
            encoder,
            key,
            head: 0,
            last_at: 0,
            run: Vec::new(),
            bytes: 0,
        })
    }

    /// Adds the next event. Its number must follow the one before.
    fn push(&mut self, row: Row) -> Result<(), StoreError> {
        self.head = row.seq.0;
        self.last_at = row.at.as_microsecond();
        if !self.run.is_empty()
            && (self.run.len() >= RUN || self.bytes + row.payload.len() > RUN_BYTES)
        {
            self.seal()?;
        }
        self.bytes += row.payload.len();
        self.run.push(row);
        Ok(())
    }

    fn seal(&mut self) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (self.run.first(), self.run.last()) else { return Ok(()) };
        let (first, last) = (signed(first.seq.0), signed(last.seq.0));
        let packed = segment::pack(&mut self.encoder, &self.run)
            .map_err(|error| StoreError::io(IMPORTING, self.database, error))?;
        packed
            .insert(&self.transaction, self.key, (first, last))
            .doing(IMPORTING, self.database)?;
        self.run.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Keeps a fold of the session up to the event that was added last.
    fn checkpoint(&mut self, state: &[u8]) -> Result<(), StoreError> {
        let payload = self
            .encoder
            .frame(state)
            .map_err(|error| StoreError::io(IMPORTING, self.database, error))?;
        self.transaction
            .prepare_cached(
                "INSERT INTO checkpoint (session, seq, codec, payload) VALUES (?, ?, ?, ?)",
            )
            .and_then(|mut statement| {
                statement.execute(params![self.key, signed(self.head), ZSTD, payload])
            })
            .doing(IMPORTING, self.database)
            .map(drop)
    }

    fn finish(mut self, summary: &SessionSummary) -> Result<(), StoreError> {
        self.seal()?;
        self.transaction
            .execute(
                "UPDATE session SET head_seq = ?, updated_at = max(created_at, ?) WHERE key = ?",
                [signed(self.head), self.last_at, self.key],
            )
            .doing(IMPORTING, self.database)?;
        sessions::write_summary(&self.transaction, self.key, summary)
            .doing(IMPORTING, self.database)?;
        self.transaction.commit().doing(IMPORTING, self.database)
    }
}

impl Reader {
    /// Where a session came from, if it was imported.
    pub fn provenance(&self, session: &SessionId) -> Result<Option<Provenance>, StoreError> {
        self.connection
            .prepare_cached(
                "SELECT source, header FROM origin WHERE session = (SELECT key FROM session WHERE id = ?)",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([session.as_str()], |row| {
                        Ok(Provenance { source: row.get(0)?, header: row.get(1)? })
                    })
                    .optional()
            })
            .doing("reading where a session comes from", &self.database)
    }
}
