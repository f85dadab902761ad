//! How a reader accesses the events of one session: sealed runs first, then the live tail.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::params;

use super::checksum::{CheckedFields, NO_CHECKSUM, live_texts};
use super::codec::PayloadDecoder;
use super::error::{SqliteResultExt, StoreError};
use super::event_id;
use super::lineage::LineagePart;
use super::reader::StoreReader;
use super::segment::{RunContents, SealedRun};
use super::session_table::{to_signed, to_unsigned};
use super::store_types::JournalRow;
use super::time::from_micros;
use planwright_model::Seq;
use planwright_state::timeline::EventOutline;

const READING: &str = "reading the journal";

/// The run that was read last, by session and first event. Consecutive reads usually hit the same run.
pub(super) type RecentRun = Option<((i64, Seq), SealedRun)>;

impl StoreReader {
    /// Visits the events of a part in order.
    pub(super) fn scan_part_forward(
        &self,
        part: LineagePart,
        task: Option<&str>,
        visit: &mut impl FnMut(JournalRow) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        for first in self.run_starts(part)? {
            if self.scan_run(part, first, task, ScanOrder::OldestFirst, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.scan_live_rows(part, task, ScanOrder::OldestFirst, visit)
    }

    /// Visits the events of a part from the newest to the oldest.
    pub(super) fn scan_part_backward(
        &self,
        part: LineagePart,
        task: Option<&str>,
        visit: &mut impl FnMut(JournalRow) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        if self.scan_live_rows(part, task, ScanOrder::NewestFirst, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        for first in self.run_starts(part)?.into_iter().rev() {
            if self.scan_run(part, first, task, ScanOrder::NewestFirst, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Visits the outlines of the events of a part, without their payloads.
    pub(super) fn scan_part_outline(
        &self,
        part: LineagePart,
        visit: &mut impl FnMut(&EventOutline<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        const LIVE: &str =
            "SELECT id, at, kind, task FROM live WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
        for first in self.run_starts(part)? {
            let contents = self.run_contents((part.key, first))?;
            contents.scan_outline(first, part.first, part.last, &mut *visit)?;
        }
        let mut statement = self.connection.prepare_cached(LIVE).during(READING, &self.database)?;
        let mut rows = statement.query(live_id_range(part)).during(READING, &self.database)?;
        while let Some(row) = rows.next().during(READING, &self.database)? {
            let read = || -> rusqlite::Result<_> {
                let task = row.get_ref(3)?.as_str_or_null()?;
                Ok((row.get(0)?, row.get(1)?, row.get_ref(2)?.as_str()?, task))
            };
            let (id, at, kind, task) = read().during(READING, &self.database)?;
            let at = super::time::from_micros(at, &self.database)?;
            visit(&EventOutline { seq: event_id::event_seq(id), at, kind, task })?;
        }
        Ok(())
    }

    /// The first events of the sealed runs that contain events of a part.
    fn run_starts(&self, part: LineagePart) -> Result<Vec<Seq>, StoreError> {
        const SQL: &str = "SELECT first_seq FROM segment WHERE session = ?1 AND first_seq <= ?3 AND first_seq >= coalesce(
            (SELECT max(first_seq) FROM segment WHERE session = ?1 AND first_seq <= ?2), ?2) ORDER BY first_seq";
        let (first, last) = (to_signed(part.first.0), to_signed(part.last.0));
        let mut statement = self.connection.prepare_cached(SQL).during(READING, &self.database)?;
        let found = statement
            .query_map([part.key, first, last], |row| row.get(0))
            .during(READING, &self.database)?;
        found
            .map(|first| first.map(|first| Seq(to_unsigned(first))).during(READING, &self.database))
            .collect()
    }

    /// Visits the requested events of one sealed run.
    fn scan_run(
        &self,
        part: LineagePart,
        first: Seq,
        task: Option<&str>,
        order: ScanOrder,
        visit: &mut impl FnMut(JournalRow) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        // Taken out during the visit, because the visitor may read as well.
        let name = (part.key, first);
        let known = self.recent.take().filter(|(known, _)| *known == name).map(|(_, run)| run);
        let Some(run) = known.map_or_else(|| self.unpack_run(name, task), |run| Ok(Some(run)))?
        else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut rows = run.rows_in_range(part.first, part.last, task);
        let mut flow = ControlFlow::Continue(());
        while let (true, Some(row)) = (flow.is_continue(), order.next_from(&mut rows)) {
            flow = visit(row.map_err(|error| unreadable_event(&self.database, first, &error))?);
        }
        drop(rows);
        self.recent.replace(Some((name, run)));
        Ok(flow)
    }

    /// Decompresses a sealed run. Its payloads are not read if none belongs to the requested task.
    fn unpack_run(
        &self,
        (key, first): (i64, Seq),
        task: Option<&str>,
    ) -> Result<Option<SealedRun>, StoreError> {
        const BOTH: &str =
            "SELECT contents, last_seq, payloads FROM segment WHERE session = ? AND first_seq = ?";
        let broken = |error: io::Error| unreadable_event(&self.database, first, &error);
        self.with_stored_frame(BOTH, (key, first), |frame, row| {
            let contents = self.decode_contents(first, frame, row)?;
            if task.is_some_and(|task| !contents.has_task(task)) {
                return Ok(None);
            }
            let payloads = row.get_ref(2).and_then(|value| Ok(value.as_blob()?));
            let payloads = payloads.during(READING, &self.database)?;
            let run = contents.with_payloads(&mut self.decoder.borrow_mut(), first, payloads);
            run.map(Some).map_err(broken)
        })
    }

    /// The contents of a sealed run: everything about its events except the payloads.
    fn run_contents(&self, (key, first): (i64, Seq)) -> Result<RunContents, StoreError> {
        const CONTENTS: &str =
            "SELECT contents, last_seq FROM segment WHERE session = ? AND first_seq = ?";
        self.with_stored_frame(CONTENTS, (key, first), |frame, row| {
            self.decode_contents(first, frame, row)
        })
    }

    /// Decodes the contents of a run, and checks that they cover all its events.
    fn decode_contents(
        &self,
        first: Seq,
        frame: &[u8],
        row: &rusqlite::Row<'_>,
    ) -> Result<RunContents, StoreError> {
        let contents = RunContents::decode(&mut self.decoder.borrow_mut(), frame)
            .map_err(|error| unreadable_event(&self.database, first, &error))?;
        let last = to_unsigned(row.get(1).during(READING, &self.database)?);
        let complete = first.0 + contents.len() as u64 == last + 1;
        if complete { Ok(contents) } else { Err(self.incomplete_run_error(first)) }
    }

    /// Gives access to a compressed column in place, without a copy.
    fn with_stored_frame<T>(
        &self,
        sql: &str,
        (key, first): (i64, Seq),
        look: impl FnOnce(&[u8], &rusqlite::Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).during(READING, &self.database)?;
        let mut found =
            statement.query([key, to_signed(first.0)]).during(READING, &self.database)?;
        let row = found
            .next()
            .during(READING, &self.database)?
            .ok_or_else(|| self.incomplete_run_error(first))?;
        let frame = row.get_ref(0).and_then(|value| Ok(value.as_blob()?));
        look(frame.during(READING, &self.database)?, row)
    }

    fn incomplete_run_error(&self, first: Seq) -> StoreError {
        StoreError::damaged(&self.database, format!("the events from {first} on are incomplete"))
    }

    fn scan_live_rows(
        &self,
        part: LineagePart,
        task: Option<&str>,
        order: ScanOrder,
        visit: &mut impl FnMut(JournalRow) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let [first, last] = live_id_range(part);
        let mut statement = self
            .connection
            .prepare_cached(order.live_rows_sql())
            .during(READING, &self.database)?;
        let mut rows =
            statement.query(params![first, last, task]).during(READING, &self.database)?;
        while let Some(row) = rows.next().during(READING, &self.database)? {
            let row = decode_live_row(row, &mut self.decoder.borrow_mut(), &self.database)?;
            if visit(row).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[derive(Clone, Copy)]
enum ScanOrder {
    OldestFirst,
    NewestFirst,
}

impl ScanOrder {
    fn next_from<T>(self, items: &mut impl DoubleEndedIterator<Item = T>) -> Option<T> {
        match self {
            Self::OldestFirst => items.next(),
            Self::NewestFirst => items.next_back(),
        }
    }

    fn live_rows_sql(self) -> &'static str {
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

/// The range of ids of the live rows of a part.
fn live_id_range(part: LineagePart) -> [i64; 2] {
    [part.first, part.last].map(|seq| event_id::compose_id(part.key, seq))
}

/// Reads a live row: `id, at, kind, task, codec, payload, sum`. A row that differs from what was written is rejected,
/// so that nobody resumes or seals it as if it were intact.
pub(super) fn decode_live_row(
    row: &rusqlite::Row<'_>,
    decoder: &mut PayloadDecoder,
    database: &Path,
) -> Result<JournalRow, StoreError> {
    let live = LiveRow::read(row).during(READING, database)?;
    let seq = event_id::event_seq(live.id);
    if let Some(difference) = live.describe_difference() {
        return Err(StoreError::damaged(database, format!("event {seq}: {difference}")));
    }
    let payload = decoder
        .decode(live.codec, live.payload)
        .map_err(|error| unreadable_event(database, seq, &error))?;
    let (kind, task) = (live.kind.to_owned().into(), live.task.map(str::to_owned));
    Ok(JournalRow { seq, at: from_micros(live.at, database)?, kind, task, payload })
}

/// A live row borrowed from the database, its payload as stored.
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

    /// Describes how the row differs from what was written. Rows of a version without checksums are trusted.
    pub(super) fn describe_difference(&self) -> Option<String> {
        if self.sum == NO_CHECKSUM {
            return None;
        }
        let numbers = [("number", self.id), ("time", self.at), ("codec", self.codec)];
        let task = self.task.map(str::as_bytes);
        let texts = live_texts(self.kind.as_bytes(), task, self.payload);
        CheckedFields { numbers: &numbers, texts: &texts }.describe_difference(self.sum)
    }

    /// Why the payload cannot be decompressed, if so.
    pub(super) fn decode_problem(&self, decoder: &mut PayloadDecoder) -> Option<String> {
        decoder.decode(self.codec, self.payload).err().map(|error| error.to_string())
    }
}

pub(super) fn unreadable_event(database: &Path, seq: Seq, error: &io::Error) -> StoreError {
    StoreError::damaged(database, format!("event {seq} cannot be read: {error}"))
}
