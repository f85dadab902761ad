//! How a reader gets at the events of one session: sealed runs first, then the live tail.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::params;

use super::checksum::{CheckedFields, NO_CHECKSUM, live_texts};
use super::codec::Decoder;
use super::error::{Doing, StoreError};
use super::event_id;
use super::lineage::Part;
use super::reader::Reader;
use super::record::Row;
use super::segment::{Contents, Run};
use super::sessions::{signed, unsigned};
use super::time::from_micros;
use planwright_model::Seq;
use planwright_state::timeline::Outline;

const READING: &str = "reading the journal";

/// The run that was read last, by session and first event. Stepping through a session stays within one for a while.
pub(super) type Recent = Option<((i64, Seq), Run)>;

impl Reader {
    /// Visits the events of a part in order.
    pub(super) fn forward(
        &self,
        part: Part,
        task: Option<&str>,
        visit: &mut impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        for first in self.runs(part)? {
            if self.run(part, first, task, Order::OldestFirst, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
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
            if self.run(part, first, task, Order::NewestFirst, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Visits what is known of the events of a part without their payloads.
    pub(super) fn outline_part(
        &self,
        part: Part,
        visit: &mut impl FnMut(&Outline<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        const LIVE: &str =
            "SELECT id, at, kind, task FROM live WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
        for first in self.runs(part)? {
            let contents = self.contents((part.key, first))?;
            contents.outline(first, part.first, part.last, &mut *visit)?;
        }
        let mut statement = self.connection.prepare_cached(LIVE).doing(READING, &self.database)?;
        let mut rows = statement.query(live_ids(part)).doing(READING, &self.database)?;
        while let Some(row) = rows.next().doing(READING, &self.database)? {
            let read = || -> rusqlite::Result<_> {
                let task = row.get_ref(3)?.as_str_or_null()?;
                Ok((row.get(0)?, row.get(1)?, row.get_ref(2)?.as_str()?, task))
            };
            let (id, at, kind, task) = read().doing(READING, &self.database)?;
            let at = super::time::from_micros(at, &self.database)?;
            visit(&Outline { seq: event_id::seq(id), at, kind, task })?;
        }
        Ok(())
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

    /// Visits the wanted events of one sealed run.
    fn run(
        &self,
        part: Part,
        first: Seq,
        task: Option<&str>,
        order: Order,
        visit: &mut impl FnMut(Row) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        // Taken out while it is visited, for the visitor may read as well.
        let name = (part.key, first);
        let known = self.recent.take().filter(|(known, _)| *known == name).map(|(_, run)| run);
        let Some(run) = known.map_or_else(|| self.unpacked(name, task), |run| Ok(Some(run)))?
        else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut rows = run.rows(part.first, part.last, task);
        let mut flow = ControlFlow::Continue(());
        while let (true, Some(row)) = (flow.is_continue(), order.next(&mut rows)) {
            flow = visit(row.map_err(|error| unreadable(&self.database, first, &error))?);
        }
        drop(rows);
        self.recent.replace(Some((name, run)));
        Ok(flow)
    }

    /// Decompresses a sealed run. Its payloads are not touched if none is of the wanted task.
    fn unpacked(
        &self,
        (key, first): (i64, Seq),
        task: Option<&str>,
    ) -> Result<Option<Run>, StoreError> {
        const BOTH: &str =
            "SELECT contents, last_seq, payloads FROM segment WHERE session = ? AND first_seq = ?";
        let broken = |error: io::Error| unreadable(&self.database, first, &error);
        self.stored(BOTH, (key, first), |frame, row| {
            let contents = self.whole(first, frame, row)?;
            if task.is_some_and(|task| !contents.has_task(task)) {
                return Ok(None);
            }
            let payloads = row.get_ref(2).and_then(|value| Ok(value.as_blob()?));
            let payloads = payloads.doing(READING, &self.database)?;
            let run = contents.with(&mut self.decoder.borrow_mut(), first, payloads);
            run.map(Some).map_err(broken)
        })
    }

    /// What a sealed run says about its events.
    fn contents(&self, (key, first): (i64, Seq)) -> Result<Contents, StoreError> {
        const CONTENTS: &str =
            "SELECT contents, last_seq FROM segment WHERE session = ? AND first_seq = ?";
        self.stored(CONTENTS, (key, first), |frame, row| self.whole(first, frame, row))
    }

    /// The contents of a run, if they tell of all its events.
    fn whole(
        &self,
        first: Seq,
        frame: &[u8],
        row: &rusqlite::Row<'_>,
    ) -> Result<Contents, StoreError> {
        let contents = Contents::decode(&mut self.decoder.borrow_mut(), frame)
            .map_err(|error| unreadable(&self.database, first, &error))?;
        let last = unsigned(row.get(1).doing(READING, &self.database)?);
        let complete = first.0 + contents.len() as u64 == last + 1;
        if complete { Ok(contents) } else { Err(self.lost(first)) }
    }

    /// Looks at a compressed column where it lies, without a copy.
    fn stored<T>(
        &self,
        sql: &str,
        (key, first): (i64, Seq),
        look: impl FnOnce(&[u8], &rusqlite::Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).doing(READING, &self.database)?;
        let mut found = statement.query([key, signed(first.0)]).doing(READING, &self.database)?;
        let row = found.next().doing(READING, &self.database)?.ok_or_else(|| self.lost(first))?;
        let frame = row.get_ref(0).and_then(|value| Ok(value.as_blob()?));
        look(frame.doing(READING, &self.database)?, row)
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
        let [first, last] = live_ids(part);
        let mut statement =
            self.connection.prepare_cached(order.sql()).doing(READING, &self.database)?;
        let mut rows =
            statement.query(params![first, last, task]).doing(READING, &self.database)?;
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
    fn next<T>(self, items: &mut impl DoubleEndedIterator<Item = T>) -> Option<T> {
        match self {
            Self::OldestFirst => items.next(),
            Self::NewestFirst => items.next_back(),
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::OldestFirst => {
                "SELECT id, at, kind, task, codec, payload, sum FROM live
                 WHERE id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR task = ?3) ORDER BY id"
            }
            Self::NewestFirst => {
                "SELECT id, at, kind, task, codec, payload, sum FROM live
                 WHERE id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR task = ?3) ORDER BY id DESC"
            }
        }
    }
}

/// Between which numbers the live rows of a part lie.
fn live_ids(part: Part) -> [i64; 2] {
    [part.first, part.last].map(|seq| event_id::of(part.key, seq))
}

/// Reads a live row: `id, at, kind, task, codec, payload, sum`. One that differs from what was written is refused: nobody
/// may resume or seal it as if it were whole.
pub(super) fn event(
    row: &rusqlite::Row<'_>,
    decoder: &mut Decoder,
    database: &Path,
) -> Result<Row, StoreError> {
    let live = LiveRow::read(row).doing(READING, database)?;
    let seq = event_id::seq(live.id);
    if let Some(difference) = live.difference() {
        return Err(StoreError::damaged(database, format!("event {seq}: {difference}")));
    }
    let payload = decoder
        .decode(live.codec, live.payload)
        .map_err(|error| unreadable(database, seq, &error))?;
    let (kind, task) = (live.kind.to_owned().into(), live.task.map(str::to_owned));
    Ok(Row { seq, at: from_micros(live.at, database)?, kind, task, payload })
}

/// A live row where it lies in the database, its payload as it is stored.
pub(super) struct LiveRow<'a> {
    id: i64,
    at: i64,
    kind: &'a str,
    task: Option<&'a str>,
    codec: i64,
    payload: &'a [u8],
    sum: i64,
}

impl<'a> LiveRow<'a> {
    /// The columns `id, at, kind, task, codec, payload, sum`.
    pub(super) fn read(row: &'a rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            at: row.get(1)?,
            kind: row.get_ref(2)?.as_str()?,
            task: row.get_ref(3)?.as_str_or_null()?,
            codec: row.get(4)?,
            payload: row.get_ref(5)?.as_blob()?,
            sum: row.get(6)?,
        })
    }

    /// What differs from what was written. Rows of a version without checksums are believed.
    pub(super) fn difference(&self) -> Option<String> {
        if self.sum == NO_CHECKSUM {
            return None;
        }
        let numbers = [("number", self.id), ("time", self.at), ("codec", self.codec)];
        let task = self.task.map(str::as_bytes);
        let texts = live_texts(self.kind.as_bytes(), task, self.payload);
        CheckedFields { numbers: &numbers, texts: &texts }.difference(self.sum)
    }

    /// Why the payload cannot be decompressed, if it cannot.
    pub(super) fn undecodable(&self, decoder: &mut Decoder) -> Option<String> {
        decoder.decode(self.codec, self.payload).err().map(|error| error.to_string())
    }
}

pub(super) fn unreadable(database: &Path, seq: Seq, error: &io::Error) -> StoreError {
    StoreError::damaged(database, format!("event {seq} cannot be read: {error}"))
}
