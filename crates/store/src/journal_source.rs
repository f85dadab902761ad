//! A session's journal in the store, read as records.

use std::ops::RangeInclusive;

use crate::{JournalRow, StoreReader};
use planwright_model::event::{Event, Record, SpoolRange};
use planwright_model::{CallId, Seq, SessionId};
use planwright_spool::{SpoolContent, SpoolDirectory, SpoolPiece};
use planwright_state::replay::{PrintedPiece, RecordSource, RecordSourceError};
use planwright_state::timeline::Timeline;

/// Reads one session from the store.
#[derive(Debug)]
pub struct JournalSource {
    reader: StoreReader,
    spools: SpoolDirectory,
    session: SessionId,
    /// The sessions that it goes back to, once somebody had to know.
    ancestors: Option<Vec<SessionId>>,
}

impl JournalSource {
    pub fn new(reader: StoreReader, session: SessionId) -> Self {
        let spools = reader.output_spools();
        Self { reader, spools, session, ancestors: None }
    }

    /// The output of a call in a stretch of its spool. What a fork has of its past stands with the session that made it; a
    /// call never has the same number twice in one past.
    fn read_spool(
        &mut self,
        call: &CallId,
        range: SpoolRange,
    ) -> Result<Option<Vec<SpoolPiece>>, RecordSourceError> {
        let own = self.spools.read_range(&self.session, call, range).map_err(to_source_error)?;
        if own.is_some() {
            return Ok(own);
        }
        if self.ancestors.is_none() {
            self.ancestors = Some(self.reader.ancestors(&self.session).map_err(to_source_error)?);
        }
        for session in self.ancestors.iter().flatten() {
            let found = self.spools.read_range(session, call, range).map_err(to_source_error)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl RecordSource for JournalSource {
    fn head_seq(&mut self) -> Result<Seq, RecordSourceError> {
        self.reader.head(&self.session).map_err(to_source_error)
    }

    fn read_records(
        &mut self,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<Record>, RecordSourceError> {
        let rows = self.reader.read_rows(&self.session, range).map_err(to_source_error)?;
        rows.iter().map(decode_record).collect()
    }

    fn latest_checkpoint(&mut self, at: Seq) -> Result<Option<Vec<u8>>, RecordSourceError> {
        let nearest = self.reader.nearest_checkpoint(&self.session, at).map_err(to_source_error)?;
        Ok(nearest.map(|(_, bytes)| bytes))
    }

    fn read_output(
        &mut self,
        call: &CallId,
        range: SpoolRange,
    ) -> Result<Option<Vec<PrintedPiece>>, RecordSourceError> {
        let pieces = self.read_spool(call, range)?;
        Ok(pieces.map(|pieces| pieces.into_iter().map(to_printed_piece).collect()))
    }

    /// Uses stored stretches as far as they exist, then kinds, tasks and times; payloads are hardly read.
    fn build_timeline(&mut self, last: Seq) -> Result<Timeline, RecordSourceError> {
        let mut timeline = Timeline::default();
        let stored = self.reader.timeline_stretches(&self.session).map_err(to_source_error)?;
        stored.into_iter().all(|stretch| timeline.append_stored(stretch));
        self.reader
            .extend_timeline(&self.session, timeline.head_seq().next(), last, &mut timeline)
            .map_err(to_source_error)?;
        Ok(timeline)
    }
}

fn to_printed_piece(piece: SpoolPiece) -> PrintedPiece {
    match piece.content {
        SpoolContent::Text { stream, text } => PrintedPiece::Text(stream, text),
        SpoolContent::Gap { bytes } => PrintedPiece::Missing(bytes),
    }
}

/// The last records of one task up to an event, in order.
pub fn task_records(
    reader: &StoreReader,
    session: &SessionId,
    task: &str,
    head: Seq,
    limit: usize,
) -> Result<Vec<Record>, RecordSourceError> {
    let rows = reader.rows_before(session, head.next(), limit, Some(task));
    rows.map_err(to_source_error)?.iter().map(decode_record).collect()
}

pub(super) fn decode_record(row: &JournalRow) -> Result<Record, RecordSourceError> {
    let event = Event::decode(&row.payload).map_err(to_source_error)?;
    Ok(Record { seq: row.seq, at: row.at, event })
}

pub(super) fn to_source_error(
    error: impl std::error::Error + Send + Sync + 'static,
) -> RecordSourceError {
    RecordSourceError(Box::new(error))
}
