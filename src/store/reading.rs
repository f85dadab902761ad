//! How a reader gets at the events of one session: sealed runs first, then the live tail.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::params;

use super::codec::Decoder;
use super::error::{Doing, StoreError};
use super::lineage::Part;
use super::reader::Reader;
use super::record::Row;
use super::segment::Contents;
use super::sessions::{signed, unsigned};
use super::time::from_micros;
use crate::model::Seq;

const READING: &str = "reading the journal";

/// The run that was read last. Stepping through a session stays within one for a while.
#[derive(Debug, Default)]
pub(super) struct Recent {
    key: i64,
    first: Seq,
    rows: Vec<Row>,
}

/// A sealed run without its payloads.
struct Sealed {
    first: Seq,
    last: Seq,
    contents: Contents,
}

impl Reader {
    /// Visits the events of a part in order.
    pub(super) fn forward(
        &self,
        part: Part,
        task: Option<&str>,
        visit: &mut impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        for first in self.runs(part)? {
            for row in self.run(part, first, task)? {
                if visit(row).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        self.live(part, task, Order::OldestFirst, visit)
    }

    /// Visits the events of a part from the newest to the oldest.
    pub(super) fn backward(
        &self,
        part: Part,
        task: Option<&str>,
        visit: &mut impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        if self.live(part, task, Order::NewestFirst, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        for first in self.runs(part)?.into_iter().rev() {
            for row in self.run(part, first, task)?.into_iter().rev() {
                if visit(row).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Where the sealed runs begin that hold events of a part.
    fn runs(&self, part: Part) -> Result<Vec<Seq>, StoreError> {
        const SQL: &str = "SELECT first_seq FROM segment WHERE session = ?1 AND first_seq <= ?3 AND first_seq >= coalesce(
            (SELECT max(first_seq) FROM segment WHERE session = ?1 AND first_seq <= ?2), ?2) ORDER BY first_seq";
        let (first, last) = (signed(part.first.0), signed(part.last.0));
        let mut statement = self.connection.prepare_cached(SQL).doing(READING, &self.database)?;
        let found = statement
            .query_map([part.key, first, last], |row| row.get(0))
            .doing(READING, &self.database)?;
        found
            .map(|first| first.map(|first| Seq(unsigned(first))).doing(READING, &self.database))
            .collect()
    }

    /// The wanted events of one sealed run. Its payloads are touched only if it has any.
    fn run(&self, part: Part, first: Seq, task: Option<&str>) -> Result<Vec<Row>, StoreError> {
        let wanted = |row: &Row| {
            (part.first..=part.last).contains(&row.seq)
                && task.is_none_or(|task| row.task.as_deref() == Some(task))
        };
        let mut recent = self.recent.borrow_mut();
        if (recent.key, recent.first) == (part.key, first) {
            return Ok(recent.rows.iter().filter(|row| wanted(row)).cloned().collect());
        }
        let sealed = self.sealed(part.key, first)?;
        if sealed.last < part.first || task.is_some_and(|task| !sealed.contents.has_task(task)) {
            return Ok(Vec::new());
        }
        let mut rows = self.unpacked(part.key, &sealed)?;
        if task.is_none() && part.first <= sealed.first && sealed.last <= part.last {
            return Ok(rows);
        }
        let found = rows.iter().filter(|row| wanted(row)).cloned().collect();
        *recent = Recent { key: part.key, first, rows: std::mem::take(&mut rows) };
        Ok(found)
    }

    fn sealed(&self, key: i64, first: Seq) -> Result<Sealed, StoreError> {
        const SQL: &str =
            "SELECT last_seq, contents FROM segment WHERE session = ? AND first_seq = ?";
        let mut statement = self.connection.prepare_cached(SQL).doing(READING, &self.database)?;
        let mut found = statement.query([key, signed(first.0)]).doing(READING, &self.database)?;
        let row = found.next().doing(READING, &self.database)?.ok_or_else(|| self.lost(first))?;
        let last = Seq(unsigned(row.get(0).doing(READING, &self.database)?));
        let frame = row.get_ref(1).and_then(|value| Ok(value.as_blob()?));
        let frame = frame.doing(READING, &self.database)?;
        let contents = Contents::decode(&mut self.decoder.borrow_mut(), frame);
        let contents = contents.map_err(|error| unreadable(&self.database, first, &error))?;
        if contents.len() as u64 != last.0 - first.0 + 1 {
            return Err(self.lost(first));
        }
        Ok(Sealed { first, last, contents })
    }

    fn unpacked(&self, key: i64, sealed: &Sealed) -> Result<Vec<Row>, StoreError> {
        const SQL: &str = "SELECT payloads FROM segment WHERE session = ? AND first_seq = ?";
        let mut statement = self.connection.prepare_cached(SQL).doing(READING, &self.database)?;
        let mut found =
            statement.query([key, signed(sealed.first.0)]).doing(READING, &self.database)?;
        let row = found.next().doing(READING, &self.database)?;
        let row = row.ok_or_else(|| self.lost(sealed.first))?;
        let frame = row.get_ref(0).and_then(|value| Ok(value.as_blob()?));
        let frame = frame.doing(READING, &self.database)?;
        sealed
            .contents
            .rows(&mut self.decoder.borrow_mut(), sealed.first, frame)
            .map_err(|error| unreadable(&self.database, sealed.first, &error))
    }

    fn lost(&self, first: Seq) -> StoreError {
        StoreError::damaged(&self.database, format!("the events from {first} on are incomplete"))
    }

    fn live(
        &self,
        part: Part,
        task: Option<&str>,
        order: Order,
        visit: &mut impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let (first, last) = (signed(part.first.0), signed(part.last.0));
        let mut statement =
            self.connection.prepare_cached(order.sql()).doing(READING, &self.database)?;
        let mut rows =
            statement.query(params![part.key, first, last, task]).doing(READING, &self.database)?;
        while let Some(row) = rows.next().doing(READING, &self.database)? {
            let row = event(row, &mut self.decoder.borrow_mut(), &self.database)?;
            if visit(row).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[derive(Clone, Copy)]
enum Order {
    OldestFirst,
    NewestFirst,
}

impl Order {
    fn sql(self) -> &'static str {
        match self {
            Self::OldestFirst => {
                "SELECT seq, at, kind, task, codec, payload FROM event
                 WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 AND (?4 IS NULL OR task = ?4) ORDER BY seq"
            }
            Self::NewestFirst => {
                "SELECT seq, at, kind, task, codec, payload FROM event
                 WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 AND (?4 IS NULL OR task = ?4) ORDER BY seq DESC"
            }
        }
    }
}

/// Reads a live row: `seq, at, kind, task, codec, payload`.
pub(super) fn event(
    row: &rusqlite::Row<'_>,
    decoder: &mut Decoder,
    database: &Path,
) -> Result<Row, StoreError> {
    let read = || -> rusqlite::Result<_> {
        let seq = Seq(unsigned(row.get(0)?));
        let kind = row.get::<_, String>(2)?.into();
        Ok((seq, row.get(1)?, kind, row.get(3)?, row.get(4)?, row.get_ref(5)?.as_blob()?))
    };
    let (seq, at, kind, task, codec, payload) = read().doing(READING, database)?;
    let payload =
        decoder.decode(codec, payload).map_err(|error| unreadable(database, seq, &error))?;
    Ok(Row { seq, at: from_micros(at, database)?, kind, task, payload })
}

pub(super) fn unreadable(database: &Path, seq: Seq, error: &std::io::Error) -> StoreError {
    StoreError::damaged(database, format!("event {seq} cannot be read: {error}"))
}
