//! Reading a journal through a connection of its own that cannot write.
//!
//! Each call sees one consistent moment of the database. A journal only ever grows, so that calls one after another
//! agree as well.

use std::cell::RefCell;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::Decoder;
use super::database::{self, Place};
use super::error::{Doing, FindError, StoreError};
use super::lineage::{Lineage, Part};
use super::reading::{Recent, unreadable};
use super::record::{Row, SessionInfo};
use super::schema::number;
use super::sessions::{self, signed, unsigned};
use planwright_model::{Seq, SessionId};
use planwright_state::timeline::Outline;

const READING: &str = "reading the journal";

/// A reading connection. It may move to another thread; several threads take one each.
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) database: PathBuf,
    pub(super) decoder: RefCell<Decoder>,
    pub(super) recent: RefCell<Recent>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("database", &self.database).finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn open(place: &Place) -> Result<Self, StoreError> {
        Ok(Self::on(database::reading_connection(place)?, place))
    }

    pub(super) fn on(connection: Connection, place: &Place) -> Self {
        Self {
            connection,
            database: place.database.clone(),
            decoder: RefCell::default(),
            recent: RefCell::default(),
        }
    }

    /// Every session that is not hidden, most recently used first.
    pub fn list_sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        sessions::list(&self.connection, &self.database)
    }

    /// Every session that got an event since a moment by the clock of this machine, hidden ones included.
    pub fn sessions_written_since(
        &self,
        since: jiff::Timestamp,
    ) -> Result<Vec<SessionInfo>, StoreError> {
        sessions::written_since(&self.connection, &self.database, since.as_microsecond())
    }

    /// One session, a hidden one included.
    pub fn session(&self, session: &SessionId) -> Result<SessionInfo, StoreError> {
        sessions::one(&self.connection, &self.database, session)
    }

    /// Finds a session by its id, a prefix that only it has, or `last`: the one most recently opened for writing or
    /// written to.
    pub fn find_session(&self, name: &str) -> Result<SessionId, FindError> {
        sessions::find(&self.connection, &self.database, name)
    }

    /// The number of the newest event.
    pub fn head(&self, session: &SessionId) -> Result<Seq, StoreError> {
        let head = self
            .connection
            .prepare_cached("SELECT head_seq FROM session WHERE id = ? AND visibility < 2")
            .and_then(|mut statement| {
                statement.query_row([session.as_str()], |row| row.get(0)).optional()
            })
            .doing(READING, &self.database)?;
        match head {
            Some(head) => Ok(Seq(unsigned(head))),
            None => Err(StoreError::NoSession { session: session.clone() }),
        }
    }

    /// One event, if the session has it.
    pub fn row(&self, session: &SessionId, seq: Seq) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(session, seq..=seq)?.pop())
    }

    /// The events of a range, in order; what lies beyond the head is left out.
    pub fn rows(
        &self,
        session: &SessionId,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<Row>, StoreError> {
        let mut rows = Vec::new();
        self.scan(session, range, None, |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    /// Visits the events of a range in order, those of one task if asked, until the visitor has enough.
    pub fn scan(
        &self,
        session: &SessionId,
        range: RangeInclusive<Seq>,
        task: Option<&str>,
        mut visit: impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.at_one_moment(|| {
            let lineage = Lineage::read(&self.connection, &self.database, session)?;
            for part in lineage.within(*range.start(), *range.end()) {
                if self.forward(part, task, &mut visit)?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Visits what is known of the events of a range without their payloads: number, time, kind and task.
    pub fn outline(
        &self,
        session: &SessionId,
        range: RangeInclusive<Seq>,
        mut visit: impl FnMut(&Outline<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.at_one_moment(|| {
            let lineage = Lineage::read(&self.connection, &self.database, session)?;
            for part in lineage.within(*range.start(), *range.end()) {
                self.outline_part(part, &mut visit)?;
            }
            Ok(())
        })
    }

    /// The last `limit` events before `seq`, in order, those of one task if asked.
    pub fn rows_before(
        &self,
        session: &SessionId,
        seq: Seq,
        limit: usize,
        task: Option<&str>,
    ) -> Result<Vec<Row>, StoreError> {
        self.at_one_moment(|| {
            let lineage = Lineage::read(&self.connection, &self.database, session)?;
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
                for part in lineage.within(Seq(1), seq.previous()).rev() {
                    if self.backward(part, task, &mut take)?.is_break() {
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
        self.at_one_moment(|| {
            let lineage = Lineage::read(&self.connection, &self.database, session)?;
            for part in lineage.within(Seq(1), seq).rev() {
                if let Some(found) = self.checkpoint(part)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
    }

    /// Follows one session as another process writes it.
    pub fn watch(self, session: SessionId) -> Watch {
        Watch { reader: self, session, version: -1, head: None }
    }

    pub(super) fn connection(&self) -> (&Connection, &Path) {
        (&self.connection, &self.database)
    }

    /// Keeps one snapshot over several statements.
    fn at_one_moment<T>(
        &self,
        read: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !self.connection.is_autocommit() {
            // Called by a visitor: the moment is the one of the call around it.
            return read();
        }
        let transaction = self.connection.unchecked_transaction().doing(READING, &self.database)?;
        let value = read()?;
        transaction.commit().doing(READING, &self.database)?;
        Ok(value)
    }

    fn checkpoint(&self, part: Part) -> Result<Option<(Seq, Vec<u8>)>, StoreError> {
        const SQL: &str = "SELECT seq, codec, payload FROM checkpoint
            WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(SQL).doing(READING, &self.database)?;
        let (first, last) = (signed(part.first.0), signed(part.last.0));
        let mut rows =
            statement.query(params![part.key, first, last]).doing(READING, &self.database)?;
        let Some(row) = rows.next().doing(READING, &self.database)? else { return Ok(None) };
        let read = || -> rusqlite::Result<_> {
            Ok((Seq(unsigned(row.get(0)?)), row.get(1)?, row.get_ref(2)?.as_blob()?))
        };
        let (seq, codec, payload) = read().doing(READING, &self.database)?;
        let state = self.decoder.borrow_mut().decode(codec, payload);
        let state = state.map_err(|error| unreadable(&self.database, seq, &error))?;
        Ok(Some((seq, state)))
    }
}

/// Notices new events of a session. A poll that finds nothing costs one look at shared memory.
#[derive(Debug)]
pub struct Watch {
    reader: Reader,
    session: SessionId,
    version: i64,
    head: Option<Seq>,
}

impl Watch {
    /// The new head if it moved since the last call; the first call always tells it.
    pub fn poll(&mut self) -> Result<Option<Seq>, StoreError> {
        let (connection, database) = self.reader.connection();
        let version = number(connection, database, "PRAGMA data_version")?;
        if version == self.version {
            return Ok(None);
        }
        let head = self.reader.head(&self.session)?;
        self.version = version;
        let moved = self.head != Some(head);
        self.head = Some(head);
        Ok(moved.then_some(head))
    }

    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }
}
