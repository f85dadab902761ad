//! Reads a journal through its own read-only connection.
//!
//! Each call sees one consistent snapshot of the database. A journal only grows, so consecutive calls are consistent as
//! well.

use std::cell::RefCell;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::PayloadDecoder;
use super::database::{self, StorePaths};
use super::error::{FindError, LeaseHolder, SqliteResultExt, StoreError};
use super::journal_scan::{RecentRun, unreadable_event};
use super::lease;
use super::lineage::{self, LineagePart, SessionLineage};
use super::schema::query_number;
use super::session_table::{self, to_signed, to_unsigned};
use super::store_types::{JournalRow, SessionInfo};
use planwright_model::{Seq, SessionId};
use planwright_spool::SpoolDirectory;
use planwright_state::timeline::EventOutline;

const READING: &str = "reading the journal";

/// A read-only connection. It may move to another thread; several threads use one each.
pub struct StoreReader {
    pub(super) connection: Connection,
    pub(super) database: PathBuf,
    pub(super) decoder: RefCell<PayloadDecoder>,
    pub(super) recent: RefCell<RecentRun>,
}

impl StoreReader {
    /// Where the output of attempts is kept.
    pub fn output_spools(&self) -> SpoolDirectory {
        SpoolDirectory::in_data_dir(self.database.parent().unwrap_or(Path::new("")))
    }
}

impl std::fmt::Debug for StoreReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreReader").field("database", &self.database).finish_non_exhaustive()
    }
}

impl StoreReader {
    pub(super) fn open(paths: &StorePaths) -> Result<Self, StoreError> {
        Ok(Self::from_connection(database::reading_connection(paths)?, paths))
    }

    pub(super) fn from_connection(connection: Connection, paths: &StorePaths) -> Self {
        Self {
            connection,
            database: paths.database.clone(),
            decoder: RefCell::default(),
            recent: RefCell::default(),
        }
    }

    /// Every session that is not hidden, most recently used first.
    pub fn list_sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        session_table::list_sessions(&self.connection, &self.database)
    }

    /// Every session that got an event since a given time by the clock of this machine, including hidden ones.
    pub fn sessions_written_since(
        &self,
        since: jiff::Timestamp,
    ) -> Result<Vec<SessionInfo>, StoreError> {
        session_table::sessions_written_since(
            &self.connection,
            &self.database,
            since.as_microsecond(),
        )
    }

    /// One session, even if it is hidden.
    pub fn session_info(&self, session: &SessionId) -> Result<SessionInfo, StoreError> {
        session_table::session_info(&self.connection, &self.database, session)
    }

    /// Finds a session by its id, a unique prefix of it, or `last`: the one most recently opened for writing or written
    /// to.
    pub fn find_session(&self, name: &str) -> Result<SessionId, FindError> {
        session_table::find_session(&self.connection, &self.database, name)
    }

    /// The number of the newest event.
    pub fn head(&self, session: &SessionId) -> Result<Seq, StoreError> {
        let head = self
            .connection
            .prepare_cached("SELECT head_seq FROM session WHERE id = ? AND visibility < 2")
            .and_then(|mut statement| {
                statement.query_row([session.as_str()], |row| row.get(0)).optional()
            })
            .during(READING, &self.database)?;
        match head {
            Some(head) => Ok(Seq(to_unsigned(head))),
            None => Err(StoreError::NoSession { session: session.clone() }),
        }
    }

    /// One event, if the session has it.
    pub fn read_row(
        &self,
        session: &SessionId,
        seq: Seq,
    ) -> Result<Option<JournalRow>, StoreError> {
        Ok(self.read_rows(session, seq..=seq)?.pop())
    }

    /// The events of a range, in order; events beyond the head are omitted.
    pub fn read_rows(
        &self,
        session: &SessionId,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<JournalRow>, StoreError> {
        let mut rows = Vec::new();
        self.scan_rows(session, range, None, |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    /// Visits the events of a range in order, optionally of one task, until the visitor stops.
    pub fn scan_rows(
        &self,
        session: &SessionId,
        range: RangeInclusive<Seq>,
        task: Option<&str>,
        mut visit: impl FnMut(JournalRow) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.in_snapshot(|| {
            let lineage = SessionLineage::read(&self.connection, &self.database, session)?;
            for part in lineage.parts_within(*range.start(), *range.end()) {
                if self.scan_part_forward(part, task, &mut visit)?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Visits the outlines of the events of a range: number, time, kind and task, without payloads.
    pub fn scan_outline(
        &self,
        session: &SessionId,
        range: RangeInclusive<Seq>,
        mut visit: impl FnMut(&EventOutline<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.in_snapshot(|| {
            let lineage = SessionLineage::read(&self.connection, &self.database, session)?;
            for part in lineage.parts_within(*range.start(), *range.end()) {
                self.scan_part_outline(part, &mut visit)?;
            }
            Ok(())
        })
    }

    /// The last `limit` events before `seq`, in order, optionally of one task.
    pub fn rows_before(
        &self,
        session: &SessionId,
        seq: Seq,
        limit: usize,
        task: Option<&str>,
    ) -> Result<Vec<JournalRow>, StoreError> {
        self.in_snapshot(|| {
            let lineage = SessionLineage::read(&self.connection, &self.database, session)?;
            let mut newest_first = Vec::with_capacity(limit.min(1024));
            let mut take = |row| {
                newest_first.push(row);
                if newest_first.len() < limit {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            if seq > Seq::START && limit > 0 {
                for part in lineage.parts_within(Seq(1), seq.previous()).rev() {
                    if self.scan_part_backward(part, task, &mut take)?.is_break() {
                        break;
                    }
                }
            }
            newest_first.reverse();
            Ok(newest_first)
        })
    }

    /// The newest checkpoint at or before an event, with the number of the last event it contains.
    pub fn nearest_checkpoint(
        &self,
        session: &SessionId,
        seq: Seq,
    ) -> Result<Option<(Seq, Vec<u8>)>, StoreError> {
        self.in_snapshot(|| {
            let lineage = SessionLineage::read(&self.connection, &self.database, session)?;
            for part in lineage.parts_within(Seq(1), seq).rev() {
                if let Some(found) = self.latest_checkpoint(part)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
    }

    /// Follows one session while another process writes it.
    pub fn watch_session(self, session: SessionId) -> SessionWatch {
        SessionWatch { reader: self, session, version: -1, head: None }
    }

    /// The sessions that a fork goes back to, the nearest first.
    pub fn ancestors(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        lineage::read_ancestors(&self.connection, &self.database, session)
    }

    pub(super) fn connection(&self) -> (&Connection, &Path) {
        (&self.connection, &self.database)
    }

    /// Uses one snapshot for several statements.
    fn in_snapshot<T>(
        &self,
        read: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !self.connection.is_autocommit() {
            // Called by a visitor: the snapshot of the outer call is used.
            return read();
        }
        let transaction =
            self.connection.unchecked_transaction().during(READING, &self.database)?;
        let value = read()?;
        transaction.commit().during(READING, &self.database)?;
        Ok(value)
    }

    fn latest_checkpoint(&self, part: LineagePart) -> Result<Option<(Seq, Vec<u8>)>, StoreError> {
        const SQL: &str = "SELECT seq, codec, payload FROM checkpoint
            WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(SQL).during(READING, &self.database)?;
        let (first, last) = (to_signed(part.first.0), to_signed(part.last.0));
        let mut rows =
            statement.query(params![part.key, first, last]).during(READING, &self.database)?;
        let Some(row) = rows.next().during(READING, &self.database)? else { return Ok(None) };
        let read = || -> rusqlite::Result<_> {
            Ok((Seq(to_unsigned(row.get(0)?)), row.get(1)?, row.get_ref(2)?.as_blob()?))
        };
        let (seq, codec, payload) = read().during(READING, &self.database)?;
        let state = self.decoder.borrow_mut().decode(codec, payload);
        let state = state.map_err(|error| unreadable_event(&self.database, seq, &error))?;
        Ok(Some((seq, state)))
    }
}

/// Notices new events of a session. A poll that finds nothing costs one read of shared memory.
#[derive(Debug)]
pub struct SessionWatch {
    reader: StoreReader,
    session: SessionId,
    version: i64,
    head: Option<Seq>,
}

impl SessionWatch {
    /// The new head if it moved since the last call; the first call always returns it.
    pub fn poll_head(&mut self) -> Result<Option<Seq>, StoreError> {
        let (connection, database) = self.reader.connection();
        let version = query_number(connection, database, "PRAGMA data_version")?;
        if version == self.version {
            return Ok(None);
        }
        let head = self.reader.head(&self.session)?;
        self.version = version;
        let moved = self.head != Some(head);
        self.head = Some(head);
        Ok(moved.then_some(head))
    }

    /// The live process that has the session open for writing.
    pub fn writer(&self) -> Result<Option<LeaseHolder>, StoreError> {
        let (connection, database) = self.reader.connection();
        lease::lease_holder(connection, database, &self.session)
    }
}
