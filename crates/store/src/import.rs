//! Imports an entire session in one transaction: all of it or nothing.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::bookmarks::Bookmark;
use super::codec::{PayloadEncoder, ZSTD};
use super::error::{SqliteResultExt, StoreError};
use super::reader::StoreReader;
use super::schema::{WriteTransaction, begin_write};
use super::segment::{self, LEVEL, MAX_RUN_BYTES, MAX_RUN_EVENTS};
use super::session_table::{self, to_signed};
use super::store_types::{JournalRow, NewSession, SessionSummary};
use super::time::micros_now;
use planwright_model::SessionId;

const IMPORTING: &str = "importing a session";

/// Where a session came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionProvenance {
    /// The kind of file, such as `planwright` or `codex`.
    pub source: String,
    /// The header of an export, byte for byte, so that a new export gives the same file.
    pub header: String,
}

/// An imported event, and a state after it if a checkpoint is due.
#[derive(Clone, Debug)]
pub struct ImportedEvent {
    pub row: JournalRow,
    pub fold: Option<Vec<u8>>,
}

/// The events of a session that is being imported, checked by the source.
pub trait SessionEventSource {
    type Error;
    /// The next event.
    fn next_event(&mut self) -> Result<Option<ImportedEvent>, Self::Error>;
    /// The summary for session lists, available after the last event.
    fn summary(&self) -> SessionSummary;
}

/// Imports all events of a session, or none if one of them is rejected.
pub(super) fn import_session<I: SessionEventSource>(
    connection: &Connection,
    database: &Path,
    new: &NewSession,
    from: &SessionProvenance,
    bookmarks: &[Bookmark],
    mut incoming: I,
) -> Result<Result<(), I::Error>, StoreError> {
    let mut import = SessionImport::begin(connection, database, new, from, bookmarks)?;
    loop {
        match incoming.next_event() {
            Ok(Some(ImportedEvent { row, fold })) => {
                import.push(row)?;
                if let Some(fold) = fold {
                    import.insert_checkpoint(&fold)?;
                }
            }
            Ok(None) => break,
            // Dropping the transaction rolls everything back.
            Err(refused) => return Ok(Err(refused)),
        }
    }
    import.finish(&incoming.summary()).map(Ok)
}

/// A session that is imported row by row. Dropping it before `finish` leaves the store unchanged.
struct SessionImport<'a> {
    transaction: WriteTransaction<'a>,
    database: &'a Path,
    encoder: PayloadEncoder,
    key: i64,
    head: u64,
    last_at: i64,
    run: Vec<JournalRow>,
    bytes: usize,
}

impl<'a> SessionImport<'a> {
    fn begin(
        connection: &'a Connection,
        database: &'a Path,
        new: &NewSession,
        from: &SessionProvenance,
        bookmarks: &[Bookmark],
    ) -> Result<Self, StoreError> {
        let transaction = begin_write(connection, database, IMPORTING)?;
        let key = session_table::insert_session(&transaction, database, new)?;
        transaction
            .execute(
                "INSERT INTO origin (session, source, header, at) VALUES (?, ?, ?, ?)",
                params![key, from.source, from.header, micros_now()],
            )
            .during(IMPORTING, database)?;
        for mark in bookmarks {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO bookmark (session, seq, note, at) VALUES (?, ?, ?, ?)",
                    params![key, to_signed(mark.seq.0), mark.note, mark.at.as_microsecond()],
                )
                .during(IMPORTING, database)?;
        }
        let encoder = PayloadEncoder::with_level(LEVEL);
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

    /// Adds the next event. Its number must follow the previous one.
    fn push(&mut self, row: JournalRow) -> Result<(), StoreError> {
        self.head = row.seq.0;
        self.last_at = row.at.as_microsecond();
        if !self.run.is_empty()
            && (self.run.len() >= MAX_RUN_EVENTS || self.bytes + row.payload.len() > MAX_RUN_BYTES)
        {
            self.seal_run()?;
        }
        self.bytes += row.payload.len();
        self.run.push(row);
        Ok(())
    }

    fn seal_run(&mut self) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (self.run.first(), self.run.last()) else { return Ok(()) };
        let (first, last) = (to_signed(first.seq.0), to_signed(last.seq.0));
        let packed = segment::pack_run(&mut self.encoder, &self.run)
            .map_err(|error| StoreError::from_io(IMPORTING, self.database, error))?;
        packed
            .insert(&self.transaction, self.key, (first, last))
            .during(IMPORTING, self.database)?;
        self.run.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Stores a state of the session after the last added event.
    fn insert_checkpoint(&mut self, state: &[u8]) -> Result<(), StoreError> {
        let payload = self
            .encoder
            .compress_frame(state)
            .map_err(|error| StoreError::from_io(IMPORTING, self.database, error))?;
        self.transaction
            .prepare_cached(
                "INSERT INTO checkpoint (session, seq, codec, payload) VALUES (?, ?, ?, ?)",
            )
            .and_then(|mut statement| {
                statement.execute(params![self.key, to_signed(self.head), ZSTD, payload])
            })
            .during(IMPORTING, self.database)
            .map(drop)
    }

    fn finish(mut self, summary: &SessionSummary) -> Result<(), StoreError> {
        self.seal_run()?;
        self.transaction
            .execute(
                "UPDATE session SET head_seq = ?, updated_at = max(created_at, ?) WHERE key = ?",
                [to_signed(self.head), self.last_at, self.key],
            )
            .during(IMPORTING, self.database)?;
        session_table::write_summary(&self.transaction, self.key, summary)
            .during(IMPORTING, self.database)?;
        self.transaction.commit().during(IMPORTING, self.database)
    }
}

impl StoreReader {
    /// Where a session came from, if it was imported.
    pub(crate) fn provenance(
        &self,
        session: &SessionId,
    ) -> Result<Option<SessionProvenance>, StoreError> {
        self.connection
            .prepare_cached(
                "SELECT source, header FROM origin WHERE session = (SELECT key FROM session WHERE id = ?)",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([session.as_str()], |row| {
                        Ok(SessionProvenance { source: row.get(0)?, header: row.get(1)? })
                    })
                    .optional()
            })
            .during("reading where a session comes from", &self.database)
    }
}
