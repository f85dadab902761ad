//! Where the records of a session are read from.

use std::ops::RangeInclusive;

use crate::timeline::Timeline;
use planwright_model::event::{OutputStream, Record, SpoolRange};
use planwright_model::{CallId, Seq};

/// Why the past could not be read.
#[derive(Debug, thiserror::Error)]
#[error("could not read the journal")]
pub struct RecordSourceError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// A piece of what a call printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintedPiece {
    Text(OutputStream, String),
    /// So many bytes stood here that were not kept.
    Missing(u64),
}

/// A journal that can be read from anywhere.
pub trait RecordSource: Send {
    /// The number of the last record.
    fn head_seq(&mut self) -> Result<Seq, RecordSourceError>;
    /// The records in a range, in order.
    fn read_records(
        &mut self,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<Record>, RecordSourceError>;
    /// The newest stored fold at or before an event, as it was encoded.
    fn latest_checkpoint(&mut self, at: Seq) -> Result<Option<Vec<u8>>, RecordSourceError>;

    /// What a call printed in a stretch of its spool, in order. `None` if there is no spool.
    fn read_output(
        &mut self,
        _call: &CallId,
        _range: SpoolRange,
    ) -> Result<Option<Vec<PrintedPiece>>, RecordSourceError> {
        Ok(None)
    }

    /// The index over everything up to an event.
    fn build_timeline(&mut self, upto: Seq) -> Result<Timeline, RecordSourceError> {
        /// Records are fetched in runs of this many.
        const RUN: u64 = 1024;
        let mut timeline = Timeline::default();
        let mut next = Seq(1);
        while next <= upto {
            let last = Seq((next.0 + RUN - 1).min(upto.0));
            self.read_records(next..=last)?.iter().for_each(|record| timeline.apply(record));
            next = last.next();
        }
        Ok(timeline)
    }
}

/// Records held in memory: an exported file, or a journal made for a test.
#[derive(Debug, Default)]
pub struct MemorySource {
    records: Vec<Record>,
    checkpoints: Vec<(Seq, Vec<u8>)>,
}

impl MemorySource {
    /// Takes records numbered from 1 without gaps.
    pub fn new(records: Vec<Record>) -> Self {
        Self { records, checkpoints: Vec::new() }
    }

    /// Adds stored folds, in the order of their numbers.
    pub fn with_checkpoints(mut self, checkpoints: Vec<(Seq, Vec<u8>)>) -> Self {
        self.checkpoints = checkpoints;
        self
    }
}

impl RecordSource for MemorySource {
    fn head_seq(&mut self) -> Result<Seq, RecordSourceError> {
        Ok(self.records.last().map_or(Seq::START, |record| record.seq))
    }

    fn read_records(
        &mut self,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<Record>, RecordSourceError> {
        let from = self.records.partition_point(|record| record.seq < *range.start());
        let to = self.records.partition_point(|record| record.seq <= *range.end());
        Ok(self.records.get(from..to).unwrap_or_default().to_vec())
    }

    fn latest_checkpoint(&mut self, at: Seq) -> Result<Option<Vec<u8>>, RecordSourceError> {
        let newest = self.checkpoints.partition_point(|(seq, _)| *seq <= at).checked_sub(1);
        Ok(newest.map(|index| self.checkpoints[index].1.clone()))
    }
}
