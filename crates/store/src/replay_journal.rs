//! A session's journal in the store, read as records.

use std::ops::RangeInclusive;

use crate::{Reader, Row};
use planwright_model::event::{Event, Record};
use planwright_model::{Seq, SessionId};
use planwright_state::replay::{RecordSource, SourceError};
use planwright_state::timeline::Timeline;

/// Reads one session from the store.
#[derive(Debug)]
pub struct JournalSource {
    reader: Reader,
    session: SessionId,
}

impl JournalSource {
    pub fn new(reader: Reader, session: SessionId) -> Self {
        Self { reader, session }
    }
}

impl RecordSource for JournalSource {
    fn head(&mut self) -> Result<Seq, SourceError> {
        self.reader.head(&self.session).map_err(unreadable)
    }

    fn records(&mut self, range: RangeInclusive<Seq>) -> Result<Vec<Record>, SourceError> {
        let rows = self.reader.rows(&self.session, range).map_err(unreadable)?;
        rows.iter().map(record).collect()
    }

    fn checkpoint(&mut self, at: Seq) -> Result<Option<Vec<u8>>, SourceError> {
        let nearest = self.reader.nearest_checkpoint(&self.session, at).map_err(unreadable)?;
        Ok(nearest.map(|(_, bytes)| bytes))
    }

    /// Stored stretches as far as there are any, then kinds, tasks and times; payloads hardly at all.
    fn timeline(&mut self, upto: Seq) -> Result<Timeline, SourceError> {
        let mut timeline = Timeline::default();
        let stored = self.reader.stretches(&self.session).map_err(unreadable)?;
        stored.into_iter().all(|stretch| timeline.take_over(stretch));
        self.reader
            .timeline_over(&self.session, timeline.head().next(), upto, &mut timeline)
            .map_err(unreadable)?;
        Ok(timeline)
    }
}

pub(super) fn record(row: &Row) -> Result<Record, SourceError> {
    let event = Event::decode(&row.payload).map_err(unreadable)?;
    Ok(Record { seq: row.seq, at: row.at, event })
}

pub(super) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> SourceError {
    SourceError(Box::new(error))
}
