//! A session's journal in the store, read as records.

use std::ops::RangeInclusive;

use super::{RecordSource, SourceError};
use crate::event::{Event, Record};
use crate::model::{Seq, SessionId};
use crate::store::{Reader, Row};

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
}

pub(super) fn record(row: &Row) -> Result<Record, SourceError> {
    let event = Event::decode(&row.payload).map_err(unreadable)?;
    Ok(Record { seq: row.seq, at: row.at, event })
}

pub(super) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> SourceError {
    SourceError(Box::new(error))
}
